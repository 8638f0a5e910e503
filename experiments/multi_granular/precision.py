"""Whether trend lines stay right: against NumPy on the raw rows, in extended precision.

``python -m experiments.multi_granular.precision [--rows N]`` checks this alone, over a hundred
million rows unless told otherwise, and writes ``precision.md``.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np

import fanlight as fl
from experiments import commands, sessions
from experiments.multi_granular import chain, chain_states
from experiments.multi_granular.tables import table

BEGIN = 1_700_006_400_000_000  # microseconds: a midnight, and times near 1.7e15
DAY = 86_400_000_000
CHUNK = 5_000_000
LIMIT = 1e-9
ROWS = 100_000_000
TEXT = """\
# Trend lines against NumPy

{count:,} readings of a day, times near 1.7e15 microseconds, {cores} cores. Relative differences of
`fit` from least squares in two passes in extended precision over the raw rows. *rows*:
each row a point; *instants*: a mean a second; *kernel*: the chain alone, a value each second.
Written by `python -m experiments.multi_granular.precision`, which fails beyond 1e-9.
"""
LEVELS = fl.MultiGranular(["1 hour", "1 day"], ["1 hour", "1 day"])


def rows(spark, count):
    """A day of readings: a level, a small slope, and what looks like noise."""
    t = f"(id * {DAY} div {count})"
    return spark.range(0, count, 1, 8).selectExpr(
        f"timestamp_micros({BEGIN} + {t}) as ts",
        f"1.0e3D + 1.0e-3D * {t} / 1.0e6D + pmod(id * 7919, 1000) / 100.0D as v",
    )


def chunks(count, *, low, high):
    """The same values in NumPy: seconds since ``BEGIN``, value."""
    for begin in range(low, high, CHUNK):
        n = np.arange(begin, min(begin + CHUNK, high), dtype=np.int64)
        t = n * DAY // count
        yield t, 1.0e3 + 1.0e-3 * t / 1.0e6 + n * 7919 % 1000 / 100.0


def line(pieces):
    """Least squares in two passes: means first, then what is centred."""
    big = np.longdouble
    total = x_sum = y_sum = big(0)
    for x, y in pieces():
        total += len(x)
        x_sum += x.astype(big).sum()
        y_sum += y.astype(big).sum()
    x_mean, y_mean = x_sum / total, y_sum / total
    sxx = sxy = syy = big(0)
    for x, y in pieces():
        dx, dy = x.astype(big) - x_mean, y.astype(big) - y_mean
        sxx += (dx * dx).sum()
        sxy += (dx * dy).sum()
        syy += (dy * dy).sum()
    slope = sxy / sxx
    return slope, y_mean - slope * x_mean, sxy * sxy / (sxx * syy)


def differences(got, expected):
    """How far a line is off, beside its size."""
    names = ("slope", "intercept", "r2")
    pairs = zip(names, got, expected, strict=True)
    return {name: float(abs(np.longdouble(mine) / value - 1)) for name, mine, value in pairs}


def of_the_kernel(count):
    """The chain over so many instants, a value each: the last window of each level."""
    n = np.arange(count, dtype=np.int64)
    values = 1.0e3 + 1.0e-3 * n + n * 7919 % 1000 / 100.0
    days = count // 86_400
    levels = chain.stairs([3_600, 86_400, 86_400 * days], [60, 3_600, 86_400])
    found = []
    lines = chain_states.fitted(values, levels)
    for ours, span, pace in zip(lines, levels.spans, levels.paces, strict=True):
        high = count // pace * pace
        y = values[high - span : high]

        def pieces(y=y):
            for low in range(0, len(y), CHUNK):
                part = y[low : low + CHUNK]
                yield np.arange(low, low + len(part)), part

        name = f"{span:,} of {count:,} instants"
        found.append({"points": "kernel", "level": name, "rows": int(span)})
        found[-1] |= differences(ours[-1], line(pieces))
    return found


def on_spark(spark, count):
    """Relative differences of slope, intercept and r2, for the day and for its last hour."""
    windows = fl.over(rows(spark, count), LEVELS, time="ts")
    found = []
    for filled in (False, True):
        lines = windows.fit("v", filled=filled).orderBy("window.end", "level").collect()
        for level, (low, high) in enumerate(((count - count // 24, count), (0, count))):
            got = next(one for one in reversed(lines) if one.level == level)
            shift = DAY - DAY // 24 if level == 0 else 0
            expected = _expected(count, low, high, shift, filled=filled)
            found.append(
                {
                    "points": "instants" if filled else "rows",
                    "level": LEVELS.ranges[level].text.strip("'"),
                    "rows": high - low,
                }
                | differences([got.slope, got.intercept, got.r2], expected)
            )
    return found


def _expected(count, low, high, shift, *, filled):
    if not filled:
        return line(lambda: (((t - shift) / 1e6, y) for t, y in chunks(count, low=low, high=high)))
    seconds = np.zeros(86_400, np.longdouble), np.zeros(86_400, np.int64)
    for t, y in chunks(count, low=low, high=high):
        second = t // 1_000_000
        seconds[0][:] += np.bincount(second, y - 1.0e3, 86_400)
        seconds[1][:] += np.bincount(second, minlength=86_400)
    kept = np.flatnonzero(seconds[1])
    mean = seconds[0][kept] / seconds[1][kept] + np.longdouble(1.0e3)
    return line(lambda: [((kept - shift // 1_000_000).astype(np.float64), mean)])


def worst(rows):
    return max(row[name] for row in rows for name in ("slope", "intercept", "r2"))


@commands.command()
@click.option("--rows", type=click.IntRange(min=1), default=ROWS,
              help="How many readings; for fewer, no precision.md is written.")  # fmt: skip
def main(rows):
    """Whether trend lines stay right: against NumPy on the raw rows, in extended precision.

    Fails if one is off by more than 1e-9.
    """
    found = of_the_kernel(rows)
    print(table(found), flush=True)
    spark = sessions.start("multi_granular")
    found += on_spark(spark, rows)
    spark.stop()
    print(table(found))
    if rows >= ROWS:
        text = TEXT.format(count=rows, cores=os.cpu_count())
        Path(__file__).with_suffix(".md").write_text(f"{text}\n{table(found)}\n", "utf-8")
    if worst(found) > LIMIT:
        raise SystemExit(f"a trend line is off by {worst(found):.1e}")


if __name__ == "__main__":
    main()
