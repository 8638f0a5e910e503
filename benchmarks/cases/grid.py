"""Whether ``auto`` chooses well: it beside every strategy that can be forced, cell by cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

import fanlight as fl
from benchmarks.data import DAY, table
from benchmarks.queries import Batch, agree
from benchmarks.timing import DisagreementError, Result, Row, seconds
from fanlight import agg

LIMIT = 1.15
WINDOWS = 1_000_000  # results a cell; fewer rows and keys where there would be more
COPIES = 8_000_000  # row copies that "expand" is still let run with
CLOSE = 1.5  # times the best after the first turn, and 0.2 s: the rest run once

# how many rows a key has in a pane, keys, slides a day, rows
REGIMES = (
    ("many", 100, 1_000, 1_000_000),
    ("few", 100, 5_000, 250_000),
    ("many", 100_000, 2, 1_000_000),
    ("few", 100_000, 20, 500_000),
    ("few", 1_000_000, 20, 500_000),
)
# RANGE/SLIDE as a fraction: 3/2 is RANGE 9 SLIDE 6; 73/10 leaves 10 panes a SLIDE, or one pair
OVERLAPS = {
    "count, sum": ((2, 1), (4, 1), (3, 2), (73, 10), (60, 1), (1000, 1)),  # can be taken back
    "max": ((2, 1), (73, 10), (60, 1), (1000, 1)),  # cannot
    "median": ((4, 1), (3, 2)),  # keeps all values: holistic
}
AGGREGATES = {
    "count, sum": lambda: {"n": agg.count(), "s": agg.sum("n")},
    "max": lambda: {"m": agg.max("n")},
    "median": lambda: {"m": agg.median("n")},
}
FORCED = ("panes", "pairs", "differential", "expand")


@dataclass(frozen=True)
class Cell:
    """One query: a regime, an overlap and an aggregate."""

    regime: str
    keys: int
    slides: int
    rows: int
    overlap: tuple[int, int]
    aggregates: str

    @property
    def spec(self):
        slide = DAY // self.slides // 20 * 20
        length = slide * self.overlap[0] // self.overlap[1]
        return fl.Sliding(timedelta(microseconds=length), timedelta(microseconds=slide))

    @property
    def ratio(self):
        return self.overlap[0] / self.overlap[1]


def cells(*, smoke):
    """All cells that can be run."""
    found = []
    for regime, keys, slides, rows in REGIMES:
        for name, overlap in ((n, o) for n, overlaps in OVERLAPS.items() for o in overlaps):
            ratio = overlap[0] / overlap[1]
            windows = keys * min(min(slides, rows / keys) * ratio, slides + ratio)
            share = min(1.0, WINDOWS / windows) if keys > 100 else 1.0
            share *= 0.01 if smoke else 1.0 if name != "median" else 0.25  # medians are slow
            fewer = (max(int(keys * share), 10), slides, max(int(rows * share), 100))
            found.append(Cell(regime, *fewer, overlap, name))
    if smoke:
        return [c for c in found if (c.overlap, c.slides) in {((3, 2), 1_000), ((73, 10), 20)}]
    return found


def grid(bench):
    """The time of ``auto`` over that of the best strategy, in each cell."""
    lines, worst = [], None
    for number, cell in enumerate(cells(smoke=bench.smoke)):
        chosen, times = measured(bench, cell)
        best = min(times, key=times.get)
        ratio = times["auto"] / times[best]
        if worst is None or ratio > worst[0]:
            worst = (ratio, cell, times["auto"], times[best], best)
        shown = [_shown(times, name, chosen) for name in ("auto", *FORCED)]
        lines.append(
            [
                f"{cell.keys:,}",
                cell.regime,
                f"{cell.rows:,}",
                f"{cell.ratio:g}",
                cell.aggregates,
                chosen,
                *shown,
                f"{ratio:.2f}",
            ]
        )
        bench.say(f"  {number + 1}. {' | '.join(lines[-1])}")
    _, cell, ours, theirs, best = worst
    case = f"worst cell: {cell.keys:,} keys, {cell.regime} rows a pane, RANGE/SLIDE {cell.ratio:g}"
    row = Row("grid", f"auto ({case}, {cell.aggregates})", ours, best, theirs, at_most=LIMIT)
    header = ["keys", "rows a pane", "rows", "RANGE/SLIDE", "aggregates", "auto is"]
    header += ["auto", *FORCED, "auto / best"]
    good = sum(float(line[-1]) <= LIMIT for line in lines)
    title = (
        "Auto beside each strategy, s (empty: does not fit, or far too many copies); "
        f"at most {LIMIT} times the best in {good} of {len(lines)} cells"
    )
    return Result([row], [(title, header, lines)])


def _shown(times, name, chosen):
    if name == chosen:
        return "auto"
    return f"{times[name]:.2f}" if name in times else ""


def measured(bench, cell):
    """What ``auto`` has chosen, and the best time of it and of each strategy."""
    data = table(bench.spark, cell.rows, keys=cell.keys, files=2)
    windows = fl.over(data.read(bench.spark), cell.spec, time="ts", by="k")
    windows = windows.using(rate=cell.rows / 86_400, groups=cell.keys)
    aggregates = AGGREGATES[cell.aggregates]()
    chosen = re.search(r"strategy +(\w+)", windows.explain(**aggregates))[1]
    queries = {}
    for name in ("auto", *FORCED):
        # In whole slides pairs are panes, and what auto has chosen is run as auto.
        same = name == chosen or (name == "pairs" and cell.overlap[1] == 1)
        if same or (name == "expand" and cell.rows * cell.ratio > COPIES):
            continue
        try:
            found = windows.using(name).agg(**aggregates)
        except fl.FanlightError:
            continue
        columns = [column for column in found.columns if column not in ("k", "window")]
        queries[name] = Batch(found.selectExpr("k", "window.start as start", *columns))
    if bench.smoke:
        return chosen, _answers(queries)
    queries["auto"].run()
    times = {name: [seconds(query.run)] for name, query in queries.items()}
    for turn in range(2):
        limit = CLOSE * min(min(taken) for taken in times.values()) + 0.2
        if turn and min(times["auto"]) <= min(min(taken) for taken in times.values()):
            break  # auto is the best already
        for name, query in queries.items():
            if min(times[name]) <= limit or name == "auto":
                times[name].append(seconds(query.run))
    return chosen, {name: min(taken) for name, taken in times.items()}


def _answers(queries):
    """Every strategy gives the same answer."""
    times, answers = {}, {}
    for name, query in queries.items():
        times[name] = seconds(lambda n=name, q=query: answers.update({n: q.answer()}))
        if not agree(answers["auto"], answers[name]):
            raise DisagreementError(f"auto: {answers['auto']}\n{name}: {answers[name]}")
    return times
