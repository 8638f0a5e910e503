"""The cost model's constants, measured: small regressions over strategies that are forced.

Each constant is nanoseconds of one core; times are wall-clock seconds on all of them. Only the
ratios of the constants matter, so what is off is what differs from the factor that most share.
What is measured here is not all of the table (:mod:`benchmarks.constants`): the rest stays as it
is there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

import fanlight as fl
from benchmarks.cases import spans
from benchmarks.constants import HEADER, compared, in_use
from benchmarks.data import DAY, Table, table
from benchmarks.frames import ABOVE
from benchmarks.queries import Batch, Stream
from benchmarks.sessions import CORES
from benchmarks.timing import Result, seconds
from fanlight import agg

MINUTES = 1440  # slices of a day
LASTS = 50  # slides that an event lasts, on average
UNIT = 1e9 * CORES


def three():
    return {"n": agg.count(), "s": agg.sum("v"), "m": agg.max("v")}


def exact():
    return {"n": agg.count(), "s": agg.sum("n")}


def folded():
    return {"x": agg.stddev_samp("v")}


@dataclass(frozen=True)
class Run:
    """One measurement: seconds, and how many results there were."""

    seconds: float
    results: int
    how: str  # the roll-up that was chosen


@dataclass
class Lab:
    """Makes the tables and times the queries."""

    bench: object

    def tables(self):
        rows = 50_000 if self.bench.smoke else self.bench.table.rows
        small, large = max(rows // 10, 1), max(rows // 2, 1)
        return {
            "rows": [table(self.bench.spark, n, files=2) for n in (small, large)],
            "keys": [
                table(self.bench.spark, small, keys=max(keys, 10), files=2)
                for keys in (1000, small // 10, small)
            ],
            "slices": [
                table(self.bench.spark, n, keys=max(n // 10_000, 5), files=2)
                for n in (small, large)
            ],
            "stream": table(self.bench.spark, small // 2, files=4),
            "lasting": [spans.table(self.bench.spark, n, LASTS, files=2) for n in (small, large)],
        }

    def run(self, data: Table, panes, slices, aggregates, strategy):
        """Windows of so many panes, as many panes a day as ``slices``."""
        slide = timedelta(microseconds=DAY // slices)
        windows = fl.over(data.read(self.bench.spark), fl.Sliding(slide * panes, slide), **PLACE)
        windows = windows.using(strategy, rate=data.rows / 86_400, groups=data.keys)
        how = re.search(r"  strategy +\w+: (.*) \(", windows.explain(**aggregates()))[1]
        query = Batch(windows.agg(**aggregates()))
        results = int(query.df.count())
        best = min(seconds(query.run) for _ in range(self.bench.rounds))
        self.bench.say(f"  {strategy} {panes} panes, {data.rows:,} rows: {best:.2f} s, {how}")
        return Run(best, results, how)

    def best(self, query, told):
        """The least time of a query, after a run that is not timed."""
        query.run()
        best = min(seconds(query.run) for _ in range(self.bench.rounds))
        self.bench.say(f"  {told}: {best:.2f} s")
        return best

    def slope(self, tables, took):
        """Ns of one core that a further row takes, over tables that differ in their rows."""
        return fitted([(one.rows,) for one in tables], [took(one) for one in tables])[0]

    def lasting(self, data, strategy):
        """Windows over events that last."""
        query = Batch(spans.ours(data.read(self.bench.spark), strategy))
        return self.best(query, f"events that last, {strategy}, {data.rows:,} rows")

    def ordered(self, data: Table):
        """Rows shuffled by key and sorted, and no more."""
        df = data.read(self.bench.spark).selectExpr("unix_micros(ts) as t", "k", "v")
        query = Batch(df.repartition("k").sortWithinPartitions("k", "t"))
        return self.best(query, f"in order, {data.rows:,} rows")

    def frames(self, data: Table, spec, aggregates, strategy):
        """Frames with these aggregates."""
        df = data.read(self.bench.spark)
        windows = fl.over(df, spec, time="ts", by="k", tiebreak="n").using(strategy)
        told = f"{type(spec).__name__}, {', '.join(aggregates)}, {strategy}, {data.rows:,} rows"
        return self.best(Batch(windows.agg(**aggregates)), told)

    def streamed(self, data: Table, panes):
        slide = timedelta(microseconds=DAY // MINUTES)
        windows = fl.over(data.stream(self.bench.spark), fl.Sliding(slide * panes, slide), **PLACE)
        query = Stream(windows.using("panes").agg(**three()))
        best = min(seconds(query.run) for _ in range(self.bench.rounds))
        self.bench.say(f"  stream, {panes} panes: {best:.2f} s")
        return best


PLACE = {"time": "ts", "by": "k"}


def fitted(terms, times):
    """Least squares: nanoseconds of one core for each term, after a constant for the query."""
    matrix = np.column_stack([np.ones(len(times)), np.array(terms, dtype=float)])
    return (np.linalg.lstsq(matrix, np.array(times) * UNIT, rcond=None)[0])[1:]


def measured(bench):
    """Every constant that can be measured, by its name; sums and further figures, too."""
    lab = Lab(bench)
    data = lab.tables()
    lab.run(data["rows"][0], 60, MINUTES, three, "panes")  # warm-up
    found = _rows(lab, data) | _rollups(lab, data["slices"]) | _copies(lab, data)
    used = in_use()
    row = found["READ + ROW"] * used["READ"] / used["READ + ROW"]
    return found | _lasting(lab, data, row) | _framed(lab, data["rows"])


def shown(found):
    """What was measured, beside the constants in use."""
    return Result([], [("Cost constants, ns of one core", HEADER, compared(found, in_use()))])


def _rows(lab, data):
    """READ + ROW and PARTIAL from windows of one slice; EXPANDED_ROW from copies."""
    terms, times = [], []
    for one in data["rows"] + data["keys"]:
        got = lab.run(one, 1, MINUTES, three, "panes")
        terms.append((one.rows, got.results))
        times.append(got.seconds)
    row, partial = fitted(terms, times)
    few = _expanded(lab, data["rows"][0], MINUTES, partial)
    many = _expanded(lab, data["keys"][1], 4, partial)
    return {
        "READ + ROW": row,
        "PARTIAL": partial,
        "EXPANDED_ROW": few,
        f"EXPANDED_ROW and SPREAD, {data['keys'][1].keys:,} keys": many,
    }


def _expanded(lab, one, slices, partial):
    """Ns a copy, less what the results cost on their way through the shuffle."""
    panes = (2, 8, 16)
    found = [lab.run(one, number, slices, three, "expand") for number in panes]
    times = [got.seconds - partial * got.results / UNIT for got in found]
    return fitted([(one.rows * number,) for number in panes], times)[0]


def _rollups(lab, tables):
    """What the roll-ups cost a window, less the slices they start from."""
    whole = {
        (one, which): lab.run(one, 1, MINUTES, which, "panes").seconds
        for one in tables
        for which in (three, exact, folded)
    }

    def fit(aggregates, strategy, word, panes, *, entering):
        """Ns a window, and if ``entering`` ns a slice of each window, of the roll-up so called."""
        terms, times = [], []
        for one in tables:
            for number in panes:
                got = lab.run(one, number, MINUTES, aggregates, strategy)
                if word in got.how:
                    terms.append((got.results, got.results * number)[: 1 + entering])
                    times.append(got.seconds - whole[one, aggregates])
        enough = len(times) > 1 + entering
        return fitted(terms, times) if enough else [float("nan")] * (1 + entering)

    fill, enter = fit(three, "panes", "scans", (2, 20, 60, 120), entering=True)
    (stacks,) = fit(three, "panes", "suffix", (400, 700, 1000), entering=False)
    (difference,) = fit(exact, "differential", "running", (20, 60, 400), entering=False)
    _, fold = fit(folded, "panes", "scans", (2, 20, 60), entering=True)
    return {
        "FILL": fill,
        "ENTER": enter,
        "TWO_STACKS": stacks - fill,
        "DIFFERENCE": difference - fill,
        "COLLECTED": fold - enter,
    }


def _copies(lab, data):
    """COPY from a stream: partials times the windows that each joins."""
    one = data["stream"]
    lab.streamed(one, 2)  # warm-up
    partials = min(one.rows, one.keys * MINUTES)
    panes = (2, 15, 30, 60)
    times = [lab.streamed(one, number) for number in panes]
    return {"COPY": fitted([(number * partials,) for number in panes], times)[0]}


def _lasting(lab, data, row):
    """ENTRY and CELL from events that last, by what one more of them takes; ``row``: READ."""
    entered, celled = (
        lab.slope(data["lasting"], lambda one, name=name: lab.lasting(one, name))
        for name in ("levels", "cells")
    )
    return {"ENTRY": (entered - row) / 2, "CELL": celled - row}


def _above(row, _):
    return row.v > 500


def _below(row, _):
    return not row.v > 500


def _framed(lab, tables):
    """What a row takes that is put in order, then passed through a loop or compared."""
    from pyspark.sql import functions

    spec, called = fl.ThresholdFrame(ABOVE), fl.PredicateFrame(_above, _below, columns=["v"])
    text = functions.col("n").cast("string")  # which no kernel combines, so Spark groups rows
    sums, grouped = {"s": agg.sum("v")}, {"s": agg.sum("v"), "t": agg.max(text)}
    ordered = lab.slope(tables, lab.ordered)

    def further(spec, aggregates, strategy):
        return lab.slope(tables, lambda one: lab.frames(one, spec, aggregates, strategy)) - ordered

    passed = further(spec, sums, "arrow")
    return {
        "SORTED": ordered,
        "PASSED": passed,
        "CALLED": further(called, sums, "arrow"),
        "RETURNED": further(spec, grouped, "arrow") - passed,
        "COMPARED": further(spec, sums, "native"),
    }
