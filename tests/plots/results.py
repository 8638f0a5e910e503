"""Results of each kind, made by hand."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa

NOON = datetime(2024, 5, 1, 12)
MINUTE = timedelta(minutes=1)
UTC = pa.timestamp("us", "UTC")


def table(rows, zone="UTC"):
    """Rows as an Arrow table whose times have a zone, as Spark's have."""
    made = pa.Table.from_pylist(rows)
    for place, field in enumerate(made.schema):
        made = made.set_column(place, field.name, _zoned(made[field.name].combine_chunks(), zone))
    return made


def _zoned(column, zone):
    if pa.types.is_struct(column.type):
        parts = [_zoned(column.field(place), zone) for place in range(column.type.num_fields)]
        return pa.StructArray.from_arrays(parts, [one.name for one in column.type])
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64()).cast(pa.timestamp("us", zone))
    return column


def window(first, last):
    """A window from one minute to another."""
    return {"window": {"start": NOON + first * MINUTE, "end": NOON + last * MINUTE}}


def sliding(values=(3, 5, 4), key=None):
    own = {} if key is None else {"k": key}
    return [{**own, **window(k, k + 4), "n": value} for k, value in enumerate(values)]


def levels():
    return [
        {**window(end - length, end), "level": level, "avg(v)": float(end)}
        for level, length in enumerate((1, 5)) for end in range(0, 31, length)
    ]  # fmt: skip


def fit():
    """A line of slope 1/60 a second through (minute, minute)."""
    return [
        {**window(end - length, end), "level": level, "slope": 1 / 60,
         "intercept": float(end - length), "r2": 1.0}
        for level, length in enumerate((1, 5)) for end in range(0, 31, length)
    ]  # fmt: skip


def signal():
    return [{"ts": NOON + k * MINUTE, "v": float(k)} for k in range(-5, 31)]


def frames():
    return [
        {**window(10 * k, 10 * k + 4), "frame_id": k, "rows": 4, "closed": True}
        for k in range(3)
    ]  # fmt: skip


def events():
    return [{"a": NOON + k * MINUTE, "b": NOON + (k + 3) * MINUTE} for k in range(8)]


def features():
    """Rows of two keys with a feature, that of one row null; the last row is long after."""
    counts = {**{k: float(k) for k in (*range(10), 90)}, 4: None}
    return [
        {"ts": NOON + k * MINUTE, "k": "ab"[k % 2], "v": k, "n_1h": count}
        for k, count in counts.items()
    ]


def matches():
    return [
        {**window(0, 2 * 2**level), "level": level, "found_at": NOON + 2 * 2**level * MINUTE,
         "started": NOON, "ended": NOON + 2**level * MINUTE}
        for level in range(3)
    ]  # fmt: skip


# Of each kind: the rows of a result, how they are drawn, and what the picture says of itself.
KINDS = {
    "sliding": (sliding(), {}, "Lines over time: 3 windows"),
    "levels": (levels(), {}, "2 layers, level 0: 1 minute, level 1: 5 minutes"),
    "fitted": (levels(), {"fit": table(fit())}, "2 layers"),
    "trends": (fit(), {}, "Trend lines up to one instant: level 0, 1 minute, slope 0.01"),
    "events": (
        sliding(), {"events": table(events()), "time": ("a", "b")},
        "Lines over 6 events as bars",
    ),
    "frames": (frames(), {}, "Frames: 3 windows"),
    "matches": (matches(), {}, "3 matches"),
    "features": (
        features(), {"value": "n_1h", "time": "ts", "by": "k"},
        "Lines over time: 11 rows from 2024-05-01 12:00:00 to 2024-05-01 13:30:00 UTC, of a, b",
    ),
}  # fmt: skip
