"""Races: the same data, one process, competitors in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.queries import agree

WARM = 6.0  # seconds that a competitor runs before it is timed: the JVM compiles what runs often


@dataclass(frozen=True)
class Entry:
    """A competitor: how it makes its query over a table."""

    name: str
    make: Callable[[Any], Any]
    slow: bool = False  # takes so long that one run says enough
    alone: bool = False  # answers another question than the others, so it is not compared


@dataclass(frozen=True)
class Row:
    """One ratio of the report."""

    case: str
    ours: str
    seconds: float
    theirs: str
    their_seconds: float
    at_least: float | None = None  # times faster
    at_most: float | None = None  # times their time
    why: str = ""  # where the goal is not reached: the reason, and what would be needed

    @property
    def faster(self):
        """Theirs / ours."""
        return self.their_seconds / self.seconds

    @property
    def slower(self):
        """Ours / theirs."""
        return self.seconds / self.their_seconds

    @property
    def ratio(self):
        if self.at_most is not None:
            return f"{self.slower:.2f} x the time"
        if self.faster >= 1:
            return f"{self.faster:.1f} x faster"
        return f"{self.slower:.1f} x slower"

    @property
    def target(self):
        if self.at_least is not None:
            return f"at least {self.at_least:g} x faster"
        if self.at_most is not None:
            return f"at most {self.at_most:g} x the time"
        return ""

    @property
    def met(self):
        if self.at_least is not None:
            return self.faster >= self.at_least
        if self.at_most is not None:
            return self.slower <= self.at_most
        return None


@dataclass(frozen=True)
class Page:
    """A page of a case's own, beside that of the others: a text before its tables, and pictures."""

    name: str
    title: str
    text: str
    pictures: dict[str, str]  # by the name of the file


@dataclass
class Result:
    """What a case has found."""

    rows: list[Row] = field(default_factory=list)
    tables: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)  # goals of tables: what, and how far
    page: Page | None = None  # the tables are on it


class DisagreementError(AssertionError):
    """Competitors give different answers: a ratio of their times would say nothing."""


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def race(entries, bench, *, rounds=None):
    """The best time of each entry, by name.

    First every entry answers on the small table, and answers must agree. Then every entry runs
    unmeasured on the large table until it is warm, then they take turns. Slow ones run once, after
    the warm-up on the small table. In a smoke run the first answers are all there is.
    """
    best, answers = {}, {}
    for entry in entries:
        query = entry.make(bench.small)
        best[entry.name] = seconds(lambda e=entry, q=query: answers.update({e.name: q.answer()}))
        bench.say(f"  {entry.name}: {best[entry.name]:.2f} s, {len(answers)} answered")
    check(entries, answers)
    if bench.smoke:
        return best
    queries = {entry.name: entry.make(bench.table) for entry in entries}
    quick = [entry.name for entry in entries if not entry.slow]
    for name in quick:
        warmed = 0.0
        while warmed < bench.warm:
            warmed += seconds(queries[name].run)
    times = {name: [] for name in queries}
    for turn in range(rounds or bench.rounds):
        for name, query in queries.items():
            if turn == 0 or name in quick:
                times[name].append(seconds(query.run))
                bench.say(f"  {name}: {times[name][-1]:.2f} s")
    return {name: min(taken) for name, taken in times.items()}


def check(entries, answers):
    """Raise if entries that answer the same question disagree."""
    compared = [entry for entry in entries if not entry.alone]
    for entry in compared[1:]:
        one, other = answers[compared[0].name], answers[entry.name]
        if not agree(one, other):
            raise DisagreementError(f"{compared[0].name}: {one}\n{entry.name}: {other}")
    for entry in entries:
        if not answers[entry.name][0]:
            raise DisagreementError(f"{entry.name} gives no rows at all")
