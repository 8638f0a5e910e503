"""Row patterns by their definition: every way to map rows to a pattern, in order of preference.

A pattern is made of tuples: ``("row", name)``, ``("seq", *parts)``, ``("or", *parts)``,
``("many", part, least, most, reluctant)``, ``("permute", *parts)``, ``("first",)``, ``("last",)``,
``("out", part)``, and of absent variables ``("not", *names)`` between rows and
``("never", *names)`` at the end. What was mapped is a tuple of ``(row, name or None, shown)``.
Exponential, and meant to be: it tries all that there is.

Of rows that may go on, a match is closed if no further row can change it: no way that is preferred
to it asks for a row that is still to come. It stays open, and so do those after it, otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

Mapped = tuple[tuple[int, str | None, bool], ...]
Way = tuple[int, Mapped, bool]  # the next row, what is mapped, and whether time ends the match
Pattern = tuple[Any, ...]
IsA = Callable[[str, int, Mapped], bool]


class StillToComeError(Exception):
    """Raised by a way that asks for a row that may be still to come."""


@dataclass(frozen=True)
class Rows:
    """The rows of a key that one match may have.

    They end before ``end`` (the key has ``size``), and absent variables are looked for before
    ``until``; of both it is known whether further rows may come. ``is_a`` says whether a row is a
    variable after what was mapped before it.
    """

    is_a: IsA
    size: int
    end: int
    until: int
    goes_on: bool = False
    end_goes_on: bool = False
    until_goes_on: bool = False

    def has(self, at: int) -> bool:
        """Whether a match may have a row."""
        if at >= self.end and self.end_goes_on:
            raise StillToComeError
        return at < self.end


def ways(part: Pattern, at: int, mapped: Mapped, rows: Rows) -> Iterator[Way]:
    """Each way in which a part matches from a row on, the preferred one first."""
    kind, *rest = part
    if kind == "row":
        if rows.has(at) and rows.is_a(rest[0], at, mapped):
            yield at + 1, (*mapped, (at, rest[0], True)), False
    elif kind == "seq":
        yield from _sequence(rest, at, mapped, rows)
    elif kind == "or":
        for one in rest:
            yield from ways(one, at, mapped, rows)
    elif kind == "permute":
        for order in permutations(rest):
            yield from _sequence(order, at, mapped, rows)
    elif kind == "many":
        yield from _many(*rest, at, mapped, rows)
    elif kind == "first":
        if at == 0:
            yield at, mapped, False
    elif kind == "last":
        if at == rows.size:
            if rows.goes_on:
                raise StillToComeError
            yield at, mapped, False
    elif kind == "out":
        before = len(mapped)
        for end, found, timed in ways(rest[0], at, mapped, rows):
            hidden = tuple((row, name, False) for row, name, _ in found[before:])
            yield end, mapped + hidden, timed
    elif kind == "not":
        while True:
            yield at, mapped, False
            if not rows.has(at) or any(rows.is_a(name, at, mapped) for name in rest):
                return
            mapped = (*mapped, (at, None, True))
            at += 1
    elif kind == "never":
        ahead = range(at, rows.until)
        if not any(rows.is_a(name, row, mapped) for row in ahead for name in rest):
            if rows.until_goes_on:
                raise StillToComeError
            yield at, mapped, True
    else:
        raise AssertionError(part)


def _sequence(parts: Sequence[Pattern], at: int, mapped: Mapped, rows: Rows) -> Iterator[Way]:
    if not parts:
        yield at, mapped, False
        return
    for middle, first, timed in ways(parts[0], at, mapped, rows):
        for end, rest, later in _sequence(parts[1:], middle, first, rows):
            yield end, rest, timed or later


def _many(
    part: Pattern, least: int, most: int | None, reluctant: bool,
    at: int, mapped: Mapped, rows: Rows,
) -> Iterator[Way]:  # fmt: skip
    def more() -> Iterator[Way]:
        if most is None or most > 0:
            for middle, first, _ in ways(part, at, mapped, rows):
                if middle == at and least <= 1:  # a round without rows is the last one
                    yield middle, first, False
                    continue
                left = None if most is None else most - 1
                yield from _many(part, least - 1, left, reluctant, middle, first, rows)

    def enough() -> Iterator[Way]:
        if least <= 0:
            yield at, mapped, False

    for source in (enough, more) if reluctant else (more, enough):
        yield from source()


@dataclass(frozen=True)
class Match:
    """A match: what is mapped, row by row, whether time ends it, and whether it is closed."""

    mapped: Mapped
    timed: bool
    closed: bool

    @property
    def begin(self) -> int:
        """Its first row."""
        return self.mapped[0][0]

    @property
    def end(self) -> int:
        """The row after its last one."""
        return self.mapped[-1][0] + 1

    def rows_of(self, *names: str) -> list[int]:
        """Its rows that are some variables, or all of them."""
        return [row for row, name, _ in self.mapped if not names or name in names]


def matches(
    pattern: Pattern,
    times: Sequence[int],
    is_a: IsA,
    *,
    within: int | None = None,
    max_rows: int | None = None,
    after: str = "past last row",
    only_first: bool = False,
    now: float = -math.inf,
) -> list[Match]:
    """The matches of a key's rows, whose times are given in order.

    All rows up to ``now`` are there, which decides what is closed.
    """
    found: list[Match] = []
    at, size, closed = 0, len(times), True
    while at < size and not (found and only_first):
        until, waits = size, True
        if within is not None:
            until = sum(t < times[at] + within for t in times)
            waits = until == size and times[at] + within > now
        end = until if max_rows is None else min(until, at + max_rows)
        more = waits and (max_rows is None or at + max_rows > until)
        rows = Rows(is_a, size, end, until, goes_on=True, end_goes_on=more, until_goes_on=waits)
        over = Rows(is_a, size, end, until)
        try:
            way = next(ways(pattern, at, (), rows if closed else over), None)
        except StillToComeError:
            closed = False
            way = next(ways(pattern, at, (), over), None)
        if way is None:
            at += 1
            continue
        _, mapped, timed = way
        found.append(Match(mapped, timed, closed))
        at = _next_begin(found[-1], after)
    return found


def _next_begin(match: Match, after: str) -> int:
    if after == "past last row":
        return match.end
    place, _, name = after.partition(" ")
    rows = [] if after == "next row" else match.rows_of(name)
    if not rows:
        return match.begin + 1
    return max(rows[0] if place == "first" else rows[-1], match.begin + 1)
