"""The streams that are killed: of every kind in the law's registry, and what else has a sink.

That is frames that are filled, windows without rows, windows given early, which a table keeps
the latest of, and events that have not ended.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import fanlight as fl
from tests.helpers.aggregates import EVERYTHING, OF_PARTS
from tests.helpers.dataframes import SENTINEL, readable
from tests.helpers.streams import source, write_files
from tests.law import run
from tests.law.ask import microseconds
from tests.law.data import derived
from tests.law.oracle import wanted
from tests.law.registry import KINDS
from tests.soak import filled, running, silent, upserted

HELD = {name: EVERYTHING[name] for name in ("integral_v", "time_weighted_avg_v", "rate")}
PARTS = {name for name, *_ in OF_PARTS.values()}


@dataclass(frozen=True)
class Feed:
    """Rows that arrive in a folder of their own, late by less than ``late`` microseconds.

    One without a time comes at any place, or when its event begins.
    """

    rows: list[dict[str, Any]]
    late: int
    begins: bool = False


@dataclass(frozen=True, eq=False)
class Stream:
    """A query over feeds, and the answer that it must give; ``query`` takes their DataFrames."""

    name: str
    kind: str
    in_python: bool
    delay: str
    feeds: Mapping[str, Feed]
    query: Callable[[Mapping[str, Any]], Any]
    wanted: Callable[[], list[Any]]
    last: tuple[dict[str, Any], ...] = (SENTINEL,)  # rows that come after all others
    key: tuple[str, ...] = ()  # of the table that keeps the latest results; none: they are appended

    def result(self, spark, folder, files=1):
        """The query's result, over the files that have arrived, some a micro-batch."""
        there = folder / self.name
        dfs = {one: source(spark, there / one, self.delay, files=files) for one in self.feeds}
        return readable(self.query(dfs))

    def write(self, folder, pieces, dice):
        """All that will arrive: as many files a feed, in ``later``; the last closes all."""
        for one, feed in self.feeds.items():
            (folder / self.name / one).mkdir(parents=True)
            rows = arriving(feed, dice)
            ends = [len(rows) * at // pieces for at in range(pieces + 1)]
            files = [rows[low:high] for low, high in pairwise(ends)]
            write_files(folder / self.name / "later" / one, *files, self.last)


def arriving(feed, dice):
    """The rows as they come in."""
    times = [row["ts"] for row in feed.rows if row["ts"] is not None]

    def at(row):
        time = row["began"] if feed.begins and row["ts"] is None else row["ts"]
        return dice.choice(times) if time is None else time + dice.randrange(feed.late)

    return [row for _, _, row in sorted((at(row), n, row) for n, row in enumerate(feed.rows))]


def many(data, least):
    """The same rows as further cases, until there are enough."""
    if not data.rows or len(data.rows) >= least:
        return data
    cases = 1 + max(row["case"] for row in data.rows)
    times = -(-least // len(data.rows))

    def change(rows):
        return [{**row, "case": row["case"] + n * cases} for n in range(times) for row in rows]

    return derived(data, f"{times} times", change)


def stream_of_ask(ask, least):
    """An ask of the law, over so many rows at least."""
    kind = KINDS[ask.kind]
    ask = ask.again(data=many(ask.data, least))
    how = ask.arrivals
    parts = (*mechanism(ask), *shape(ask), *("open" for _ in range(ask.late == "open")))
    return Stream(
        name="-".join(str(part) for part in parts),
        kind=ask.kind,
        in_python=kind.in_python(ask),
        delay=how.delay,
        feeds={"in": Feed(ask.data.rows, microseconds(how.late or how.delay))},
        query=lambda dfs: run.query(ask, dfs["in"]),
        wanted=lambda: wanted(ask, kind.oracles[ask.action]),
    )


def mechanism(ask):
    """What keeps the state."""
    where = "python" if KINDS[ask.kind].in_python(ask) else "native"
    asked = {request[0] for request in ask.requests.values()}
    parts = ("parts",) if ask.kind in ("spanning", "several") and asked & PARTS else ()
    held = ("held",) if asked == {name for name, *_ in HELD.values()} else ()
    searched = ("searched",) if isinstance(ask.spec, fl.PatternFrame) else ()
    return ask.kind, ask.action, where, *parts, *held, *searched


def shape(ask):
    """What else differs: the strategy, the class of windows, and what they are counted in."""
    measure = ""
    if isinstance(ask.spec, fl.Sliding):
        measure = "every-row" if ask.spec.slide_by_tuple else ask.spec.slide.measure
    overlapping = "overlapping" if getattr(ask.spec, "overlapping", False) is True else ""
    keys = "" if ask.by else "keyless"
    said = (ask.strategy, type(ask.spec).__name__, measure, overlapping, keys)
    return tuple(part for part in said if part)


def streams(least, *, all_shapes):
    """A stream of each mechanism, or of each shape of it, and what the law has no entry for."""
    asks = [ask for kind in KINDS.values() for ask in kind.stream if ask.arrivals.pieces is None]
    first = {}
    for ask in [*asks, asks[0].again(requests=HELD)]:
        first.setdefault((*mechanism(ask), *(shape(ask) if all_shapes else ())), ask)
    found = [stream_of_ask(ask, least) for ask in first.values()]
    filling = (of_fill(least, aggregated=one) for one in (False, True))
    upserts = (of_upsert(least, name) for name in upserted.SPECS)
    unended = (of_running(least, name) for name in running.LAST)
    return [*found, *filling, of_empty(least), *upserts, *unended]


def of_fill(least, *, aggregated):
    """Frames that rows of a second stream fill, or aggregates of them."""
    rows = many(filled.DATA, least).rows
    frames, others = filled.halves(rows)
    late = microseconds(filled.DELAY)
    return Stream(
        name=f"frames-fill-python-{'aggregates' if aggregated else 'rows'}",
        kind="fill",
        in_python=True,
        delay=filled.DELAY,
        feeds={"in": Feed(frames, late), "other": Feed(others, late)},
        query=lambda dfs: filled.query(dfs["in"], dfs["other"], aggregated=aggregated),
        wanted=lambda: filled.wanted(frames, others, aggregated=aggregated),
    )


def of_empty(least):
    """Sliding windows, also those without rows."""
    data = many(silent.DATA, least)
    return Stream(
        name="windows-empty-python",
        kind="empty",
        in_python=True,
        delay=silent.DELAY,
        feeds={"in": Feed(data.rows, microseconds(silent.DELAY))},
        query=lambda dfs: silent.query(dfs["in"]),
        wanted=lambda: silent.wanted(data.rows),
    )


def of_upsert(least, name):
    """Windows that are given early, into a table by their key."""
    data = many(upserted.DATA, least)
    return Stream(
        name=f"{name}-upsert-python",
        kind="upsert",
        in_python=True,
        delay=upserted.DELAY,
        feeds={"in": Feed(data.rows, microseconds(upserted.DELAY))},
        query=lambda dfs: upserted.query(dfs["in"], name),
        wanted=lambda: upserted.wanted(data.rows, name),
        last=upserted.LAST[name],
        key=upserted.KEYS[name],
    )


def of_running(least, name):
    """Windows of events that have not ended; early into a table by their key."""
    data = many(running.DATA, least)
    return Stream(
        name=f"running-{name}-python",
        kind="running",
        in_python=True,
        delay=running.DELAY,
        feeds={"in": Feed(data.rows, microseconds(running.LATE), begins=True)},
        query=lambda dfs: running.query(dfs["in"], name),
        wanted=lambda: running.wanted(data.rows, name),
        last=running.LAST[name],
        key=running.KEY if name == "early" else (),
    )


def prepared(folder, found, pieces, seed):
    """The files of all that will arrive, below a folder."""
    dice = random.Random(seed)
    for stream in found:
        stream.write(Path(folder), pieces, dice)
