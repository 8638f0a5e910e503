"""The rows that the law is asked over, drawn once by Hypothesis or written out."""

from __future__ import annotations

from decimal import Decimal

from tests.helpers import events, spans
from tests.helpers.aggregates import EVERYTHING, FEW
from tests.helpers.dataframes import BLANK
from tests.helpers.events import MINUTE
from tests.law.ask import Data

# Aggregates whose SQL says the most: texts, counted values, structs, lines.
NAMES = ("listagg", "median", "min_by", "heavy_hitters", "fit")
SPREAD = FEW | {name: EVERYTHING[name] for name in NAMES}
TODAY = 1_700_000_000_000_000
SOME_MINUTE = TODAY - TODAY % MINUTE
MIDNIGHT = TODAY - TODAY % (1440 * MINUTE)


def points(spec, count=12, origins=events.ORIGINS):
    name = f"{count} cases of {spec!r} at {origins}"
    return Data(name, lambda: events.packed(spec, count, origins=origins))


def recent(spec, count=6):
    """Rows of today: a stream's watermark must not pass the time of any of them."""
    return points(spec, count, (TODAY,))


def lasting(spec, count=10, origins=events.ORIGINS, **how):
    name = f"{count} cases of events under {spec!r} at {origins} {how}"
    return Data(name, lambda: spans.packed(spec, count, origins=origins, **how))


_WRITTEN = {}


def written(name, rows):
    """Rows as they stand; each is a case of its own unless it says so."""
    assert _WRITTEN.setdefault(name, rows) == rows, f"two data are called {name!r}"
    return Data(name, lambda: [{**BLANK, "case": at, **row} for at, row in enumerate(rows)])


def derived(data, name, change):
    return Data(f"{data.name}, {name}", lambda: change(data.rows))


def where(data, name, keep):
    return derived(data, name, lambda rows: [row for row in rows if keep(row)])


def finite(data, below=1e6):
    """Without NaN and infinities, nor numbers so large that a line through them says nothing."""
    return where(data, f"below {below}", lambda row: row["v"] is None or abs(row["v"]) < below)


def keyless(data, most=40):
    """The first rows, all of one key."""
    return derived(
        data, "without keys", lambda rows: [{**row, "case": 0, "k": None} for row in rows[:most]]
    )


def minute(at, **more):
    """A row of one key at a minute of today."""
    return {**BLANK, "case": 0, "k": "a", "ts": SOME_MINUTE + at * MINUTE, "seq": 0, **more}


def event(start, stop, n):
    """An event of one key between two minutes of today."""
    return {**minute(stop, n=n), "began": SOME_MINUTE + start * MINUTE}


def given(name, batches):
    """The rows of micro-batches that are written out."""
    return written(name, [row for batch in batches for row in batch])


# 1e15 beside 1e-3: a running difference would lose the small ones.
SIZES = written(
    "sizes",
    [
        {"case": 0, "k": "a", "seq": 0, "ts": at * MINUTE + step,
         "v": 1e15 if at % 10 == 0 else 1e-3 * (1 + at % 7)}
        for at in range(60)
        for step in (0, 20_000_000)
    ],
)  # fmt: skip
# 7 of 100 is a share of 0.07, though not in doubles; and of numbers so wide no two are one double.
SHARES = written(
    "shares and wide numbers",
    [
        {**minute(0, n=2**53 + 1 + at), "ts": SOME_MINUTE + at, "began": SOME_MINUTE + at,
         "s": "a" if at < 7 else f"b{at}", "d": Decimal(10**12 - 1 - at).scaleb(-2)}
        for at in range(100)
    ],
)  # fmt: skip
EXACT_SHARES = {
    "at": ("heavy_hitters", "s", 0.07),
    "above": ("heavy_hitters", "s", 0.070001),
    "of_n": ("approx_percentile", "n", [0.0, 0.07, 0.5, 1.0], 1000),
    "of_d": ("approx_percentile", "d", 0.07),
}
NO_ROW = written("no row", [])


def today(at, n):
    """A row of one key, so many minutes after a midnight of today."""
    return {**minute(0, n=n, v=float(n), s="ab"[n % 2]), "ts": MIDNIGHT + int(at * MINUTE)}


def old(at, n, **more):
    """A row of another key, at a minute of 1970: Spark's watermark begins there."""
    return {**minute(0, n=n, v=float(n), s="o"), "case": 1, "ts": at * MINUTE, **more}


# So that some partition of keys sees its first row when that is late.
DIVIDED = {"partitions": 7}
# With a watermark of 1 minute. It is asked of a row by that of the batch before or of one earlier,
# so what moves it comes in two batches.
LATE_POINTS = (
    (old(-30, 1), old(0, 2), old(-2, 3)),
    (old(-31, 4), old(-2, 5)),
    (today(0, 1), today(3, 2), today(4.5, 3), today(5.5, 4), today(7.5, 5)),
    (today(7.5, 6),),  # minute 6.5
    (today(5.5, 7), today(4.5, 8), today(3, 9), today(1, 10), today(6.8, 11), today(13, 12)),
    (today(13, 13),),  # minute 12
    (today(11, 14), today(12, 15), today(12.5, 16), today(14, 17),
     *(dict(today(2, 18), k=f"new {at}") for at in range(12))),
)  # fmt: skip
# With a watermark of 20 minutes, which stands at minute 80 after the third batch.
LATE_EVENTS = (
    (old(-30, 1, began=-40 * MINUTE), old(0, 2, began=-3 * MINUTE)),
    (old(-29, 8, began=-41 * MINUTE), old(-1, 9, began=-1 * MINUTE)),
    (event(0, 2, 1), event(1, 12, 2), event(99, 100, 3)),
    (event(98, 100, 4),),
    (event(60, 101, 100), event(0, 90, 100), event(79, 101, 5), event(82, 83, 6),
     event(3, 4, 100), event(100, 102, 7)),
)  # fmt: skip
