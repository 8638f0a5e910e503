"""``fl.suggest``: what to set parameters to, by what the rows of a batch are like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from html import escape
from itertools import accumulate, pairwise
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import INTEGRAL, base_type, contains_type
from fanlight.engine.algebra.sql_text import literal, struct
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.spark.binding import source as sources
from fanlight.engine.spark.coordinates import exact
from fanlight.engine.spark.foreign_frames import open_frame
from fanlight.engine.spark.sql import group_rows, over_clause, project, quote_column, type_text
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import write_duration
from fanlight.types import DataFrameLike, Keys

_QUANTILES = tuple(map(Fraction, ("0.5", "0.9", "0.99", "0.999", "1")))
# Microseconds, each a multiple of the one before. Durations are counted up to a multiple of one.
_UNITS = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 5_000_000, 15_000_000, 60_000_000, 300_000_000,
    900_000_000, 3_600_000_000, 21_600_000_000, 86_400_000_000, 604_800_000_000,
]  # fmt: skip
_FINE = 20  # a unit is at most such a part of what is counted in it
_PARTS = ("rows", "keys", "level", "piece", "late", "silence")  # what is counted
# What a row may lack, by the bit that says so; with the first two it is not measured.
_LACKS = {1: "without a time", 2: "that stop before they start", 4: "without an arrival",
          8: "without a finite value"}  # fmt: skip


@explain_wrong_calls("fl.suggest(df, time='ts', by='key', arrived='ingested_at')")
def suggest(
    df: DataFrameLike,
    *,
    time: str | tuple[str, str],
    by: Keys = None,
    arrived: str | None = None,
    value: str | None = None,
    frames: int | None = None,
    share: float = 0.001,
) -> Suggestions:
    """Measure the rows of a batch, and suggest values for parameters.

    ``arrived`` asks for the delay of a watermark, a pair of times for the time to postpone (TTP),
    ``by`` for the gap of sessions, ``value`` and ``frames`` for a delta and a threshold of frames.
    The rows are read once, by one Spark job, in Spark SQL alone.

    Parameters
    ----------
    df
        A batch, for example the output of a stream. Also one of narwhals or ibis over PySpark.
    time
        The time of a row, a timestamp with or without time zone; or a pair ``(start, stop)`` of
        events that last. Rows without a time, or that stop before they start, are left out.
    by
        The key: a column, several, or ``()`` for one key of all rows.
    arrived
        A column that orders the rows as they arrived: a timestamp, a number, a text.
    value
        The number that decides the frames; nulls, NaN and infinite values are skipped.
    frames
        About how many frames a key should have, on average.
    share
        The share of rows that may be late: at least 0, and below 1.

    Returns
    -------
    Suggestions
        It prints as tables with lines to write. ``watermark``, ``ttp``, ``session``, ``delta`` and
        ``threshold`` each have ``value``, ``why``, ``write`` and a ``table``, or are None if not
        requested; ``left_out`` counts the rows that could not be used; ``to_dict()`` is for JSON.

    Raises
    ------
    FanlightError
        If ``df`` is a stream or has no rows with a time, a column is missing or has the wrong type,
        an argument is out of range, or nothing is requested.

    Examples
    --------
    >>> import fanlight as fl
    >>> clicks = spark.range(90).selectExpr("timestamp_seconds(id * 10 + id div 20 * 1800) AS ts")
    >>> fl.suggest(clicks, time="ts", by=()).session.write
    "fl.Session('140 seconds')"

    """
    rows, _ = open_frame(df)
    _check(rows, time, by, arrived, value, frames, share)
    start, stop = time if isinstance(time, (tuple, list)) else (None, time)
    source = sources.bind_source(rows, stop, () if by is None else by, (), own=())
    keys = [(sources.column_of(rows, key), f"k{i}") for i, key in enumerate(source.by)]
    silences = by is not None and start is None
    read = zip((stop, start, arrived, value), "tsav", strict=True)
    columns = [(_sql_of(rows, name, one), name) for one, name in read if one is not None]
    found = _measure(project(rows, [*columns, *keys]), [k for _, k in keys], frames, silences)
    lacking = _Counts(found["rows"])
    used = sum(n for bits, n in lacking.counts.items() if not bits & 3)
    if not used:
        why = f"has no row that could be measured, of {lacking.total:,}"
        raise refuse(f"suggest(df, time={time!r})", why, "pass a batch whose rows have times")
    left_out = {  # a row that is not measured lacks no more
        why: sum(n for bits, n in lacking.counts.items() if (bits & 3 or bits) & bit)
        for bit, why in _LACKS.items()
    }
    ordered = silences or value is not None
    of_keys = f", of {_Counts(found['keys']).total:,} keys" if ordered else ""
    cost = ["the source is read once"]
    cost += [] if arrived is None else ["one task sorts all rows in the order of arrival"]
    cost += [f"rows are sorted by {'key and ' if keys else ''}time"] if ordered else []
    late = _suggest_delay(source, found["late"], Fraction(str(share)), start is not None)
    return Suggestions(
        title=f"Measured {used:,} of {lacking.total:,} rows{of_keys}.",
        rows=lacking.total,
        left_out={why: count for why, count in left_out.items() if count},
        cost=f"Cost: {'; '.join(cost)}.",
        watermark=None if start is not None or arrived is None else late,
        ttp=None if start is None else late,
        session=_suggest_session(found) if silences else None,
        delta=None if value is None else _suggest_delta(found, value),
        threshold=None if value is None else _suggest_threshold(rows, found, value),
    )


def _check(df: Any, time: Any, by: Any, arrived: Any, value: Any, frames: Any, share: Any) -> None:
    """Refuse a DataFrame or arguments that say nothing, or go with others that are not there."""
    if not is_of_spark(df):
        raise sources.refuse_rows("suggest", df)
    pair = isinstance(time, (tuple, list))
    whole = isinstance(frames, int) and not isinstance(frames, bool)
    number = isinstance(share, (int, float)) and not isinstance(share, bool)
    for wrong, asked, why, instead in (
        (df.isStreaming, "suggest(df)", "is given a stream, whose rows have not come yet",
         "pass a batch: what the stream has written so far, or a part of its source"),
        (not number or not 0 <= share < 1, f"share={share!r}", "is not a number from 0 to below 1",
         "write for example share=0.001"),
        (pair and (len(time) != 2 or not all(isinstance(one, str) for one in time)),
         f"time={time!r}", "is not a pair of column names", "write time=('start', 'stop')"),
        ((value is None) != (frames is None), f"value={value!r}, frames={frames!r}",
         "is half of what frames need", "write for example value='price', frames=100"),
        (pair and value is not None, "value= with a pair of times",
         "asks for frames of points, and events last",
         "write time='stop', or leave out value= and frames="),
        (not pair and by is arrived is value is None, "suggest(df, time=…)", "asks for nothing",
         "add arrived= for a delay, by= for sessions, value= and frames=, or a pair of times"),
        (frames is not None and (not whole or not 0 < frames < 2**31), f"frames={frames!r}",
         "is not a positive number of frames", "write for example 100"),
    ):  # fmt: skip
        if wrong:
            raise refuse(asked, why, instead)


def _sql_of(df: DataFrame, letter: str, name: Any) -> str:
    """SQL of a column, whose type is checked: a time as microseconds, a value as a double."""
    argument = {"a": "arrived", "v": "value"}.get(letter, "time")
    if not isinstance(name, str):
        instead = "write the name of one, for example 'ingested_at'"
        raise refuse(f"{argument}={name!r}", "is not the name of a column", instead)
    (found,) = sources.schema_of(df, [(argument, name)], argument)
    kind, sql = type_text(found.dataType), quote_column(df, name)
    make = f"df.withColumn({name!r}, F.to_timestamp({name!r}))"
    double = f"cast({sql} as double)"
    finite = f"not isnan({double}) and abs({double}) < double({literal('Infinity')})"
    right, why, instead = {
        "time": (kind in ("timestamp", "timestamp_ntz"),
                 "and delays and gaps are durations between timestamps",
                 f"make it one: {make}, or of numbers F.timestamp_seconds"),
        "arrived": (not contains_type(kind, (*sources.UNGROUPED, "interval")), "which has no order",
                    "pass a timestamp, a number or a text that orders the rows as they came"),
        "value": (base_type(kind) in (*INTEGRAL, "float", "double", "decimal"),
                  "and a delta is a difference of numbers", "pass a column of numbers"),
    }[argument]  # fmt: skip
    if not right:
        raise refuse(f"{argument}={name!r}", f"is of type {kind}, {why}", instead)
    if argument == "time":
        return exact(Coordinate("timestamp" if kind == "timestamp" else "timestamp_ntz"), sql)
    return f"if({finite}, {double}, null)" if argument == "value" else sql


def _measure(rows: DataFrame, keys: Sequence[str], frames: Any, silences: bool) -> dict[str, Any]:
    """Count all that is wanted of a batch, in one job: for each part, how many of which numbers."""
    # Columns: t, s where events start, a as rows arrived, v, and the keys.
    events, arrives, valued = (name in rows.columns for name in "sav")
    lacks = {1: "t is null or s is null", 2: "t < s"} if events else {1: "t is null"}
    lacks |= {4: "a is null"} if arrives else {}
    lacks |= {8: "v is null"} if valued else {}
    bits = " + ".join(f"if({condition}, {bit}L, 0L)" for bit, condition in lacks.items())
    rows = rows.selectExpr("*", f"{bits} as lacks").selectExpr("*", "lacks & 3L = 0L as used")
    so_far = "rows between unbounded preceding and current row"
    last, arrived = "t", "used"
    if arrives:
        last, arrived = "m", "used and a is not null"
        known = f"max(if({arrived}, t, null)) {over_clause((), 'a, t', so_far)} as m"
        rows = rows.selectExpr("*", known)
    entries = [_entry("rows", "true", "lacks")]
    late = _entry("late", arrived, f"{last} - {'s' if events else 't'}")
    entries += [late] if events or arrives else []
    if silences or valued:
        within = over_clause([*keys, "used"], "t, v" if valued else "t")
        looks = [f"lag(t) {within} as before"]
        entries.append(_entry("keys", "used and before is null", "0L"))
        entries += [_entry("silence", "used and before is not null", "t - before")] * silences
        if valued:
            looks += [f"lag(v) {within} as p", f"lag(v) ignore nulls {within} as pv"]
            looks += [f"count(v) {within[:-1]} {so_far}) as place"]
            looks += [f"count(v) over (partition by {', '.join([*keys, 'used'])}) as places"]
            is_known, level, earlier = "used and v is not null", _level("v"), _level("p")
            rises = f"p is null or {level} > {earlier}"
            # Pieces as equal as can be, each with the value before it, so that none is between two.
            piece = f"((place - 1L) * least({frames}L, places)) div places"
            entries += [
                _entry("level", is_known, level, c=f"if({rises}, -1L, 0L)", of="v, v"),
                _entry("level", f"{is_known} and ({rises})", earlier, n=0, c="1L"),
                _entry("piece", is_known, piece, of="v, pv"),
            ]
        rows = rows.selectExpr("*", *looks)
    keys = keys if valued else []
    rows = rows.selectExpr(*keys, f"explode(array({', '.join(entries)})) as e")
    rows = rows.where("e is not null").selectExpr(*keys, "e.*")
    units = " ".join(f"when number >= {_FINE * unit}L then {unit}L" for unit in _UNITS[:0:-1])
    rows = rows.selectExpr("*", f"case {units} else 1L end as unit")
    # A delay is longer than what is counted up to it, and Spark's have whole milliseconds.
    above = "(number div greatest(unit, 1000L) + 1L) * greatest(unit, 1000L)"
    end = (
        f"case when part < {_PARTS.index('late')} then number when part = {_PARTS.index('late')} "
        f"then {above} else ((number + unit - 1L) div unit) * unit end as number"
    )
    rows = rows.selectExpr(*keys, "part", end, "n", "c", "hi", "lo")
    sums = [("n", "sum(n)"), ("c", "sum(c)"), ("hi", "max(hi)"), ("lo", "min(lo)")]
    counted = group_rows(rows, ["part", "number", *keys], sums)
    one = f"if(part = {_PARTS.index('piece')}, null, number) as one"  # of pieces, one sum
    total = [*sums, ("spread", "sum(hi - lo)"), ("pieces", "count(*)")]
    parts: dict[str, Any] = {part: [] for part in _PARTS}
    for row in group_rows(counted.selectExpr("*", one), ["part", "one"], total).collect():
        parts[_PARTS[row["part"]]].append(row)
    return parts


def _entry(part: str, condition: str, number: str, n: int = 1, c: str = "0L", of: str = "") -> str:
    """SQL: a struct of what is counted under a number, or null where the condition fails."""
    high, low = (f"{one}({of})" if of else "double(null)" for one in ("greatest", "least"))
    fields = [
        ("part", f"{_PARTS.index(part)}"),
        ("number", f"cast({number} as bigint)"),
        ("n", f"{n}L"),
    ]
    return f"if({condition}, {struct([*fields, ('c', c), ('hi', high), ('lo', low)])}, null)"


def _level(v: str) -> str:
    """SQL: the number of the range of a double, a thousandth of it; greater ones have no lower."""
    # No double has a million ranges on one side of 0.
    size = f"(floor(ln(abs({v})) * 1000) * signum({v}) + if({v} < 0, -1, 1) * 1000000)"
    return f"if({v} = 0, 0L, cast({size} as bigint))"


class _Counts:
    """How many values there are up to each of some ends of ranges, and above the one before."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.counts: dict[int, int] = {row["one"]: row["n"] for row in rows}
        self.total = sum(self.counts.values())

    def at_quantile(self, share: Fraction) -> int:
        """The lowest end of a range up to which at least this share of the values is."""
        ends = sorted(self.counts)
        reached = accumulate(self.counts[end] for end in ends)
        return next(end for end, n in zip(ends, reached, strict=True) if n >= share * self.total)

    def above(self, end: int) -> int:
        """How many values are above the end of a range."""
        return sum(count for other, count in self.counts.items() if other > end)

    def tabulate(self, length: str, longer: str) -> list[dict[str, Any]]:
        """A table of quantiles, of durations: how many are above each."""
        ends = [(float(q), self.at_quantile(q)) for q in _QUANTILES if self.total]
        names = ("quantile", length, longer, "share")
        rows = ((q, write_duration(e), self.above(e), self.above(e) / self.total) for q, e in ends)
        return [dict(zip(names, row, strict=True)) for row in rows]


def _suggest_delay(source: sources.Source, rows: Any, share: Fraction, events: bool) -> Suggestion:
    """The delay of a watermark, which for events is their time to postpone."""
    what, name = ("time to postpone (TTP)", "TTP") if events else ("watermark delay", "delay")
    kind = "events" if events else "rows"
    needed = _Counts(rows)
    if not needed.total:
        return Suggestion(what, None, f"None of the {kind} says when it arrived.", None, [])
    end = needed.at_quantile(1 - share)
    why = (
        f"This is the shortest {name} that leaves at most {float(share):g} of the {kind} late: "
        f"{needed.above(end):,} of {needed.total:,}, if the watermark moves with each row. A "
        "stream moves it after each micro-batch, so fewer are late."
    )
    line = sources.advise_watermark(source.df, source.time, write_duration(end))
    return Suggestion(what, write_duration(end), why, line, needed.tabulate(name, "late rows"))


def _suggest_session(found: dict[str, Any]) -> Suggestion:
    """The gap of sessions: where the silences between rows of a key jump."""
    what, keys = "gap of sessions", _Counts(found["keys"]).total
    silences = _Counts(found["silence"])
    table = silences.tabulate("gap", "longer")
    table = [{**row, "sessions": keys + row["longer"]} for row in table]
    half = range(50, 100) if table else ()  # half of all silences are short
    lengths = sorted({silences.at_quantile(Fraction(i, 100)) for i in half} - {0})
    if not table:
        why = "No key has two rows, so there is no silence to measure."
        return Suggestion(what, None, why, None, table)
    if len(lengths) < 2:
        why = "The percentiles 50 to 99 of the silences between rows of a key are all equally long."
        return Suggestion(what, None, why, None, table)
    shorter, longer = max(pairwise(lengths), key=lambda pair: Fraction(pair[1], pair[0]))
    between = math.isqrt(shorter * longer)
    unit = next((unit for unit in reversed(_UNITS) if between >= _FINE * unit), 1)
    gap = -(-between // unit) * unit  # the end of its range, so that counts are exact
    gap = gap if gap < longer else shorter
    why = (
        "The percentiles 50 to 99 of the silences between rows of a key jump most from "
        f"{write_duration(shorter)} to {write_duration(longer)}, and this is the geometric mean of "
        f"these two. It makes {keys + silences.above(gap):,} sessions of {keys:,} keys."
    )
    if longer < 2 * shorter:
        why += " The jump is small: nothing in the rows shows where a session ends."
    return Suggestion(what, write_duration(gap), why, f"fl.Session({write_duration(gap)!r})", table)


def _suggest_delta(found: dict[str, Any], value: str) -> Suggestion:
    """The delta that gives about so many frames."""
    what, pieces = f"delta of {value!r}", found["piece"]
    count = sum(row["pieces"] for row in pieces)
    delta = float(f"{sum(row['spread'] for row in pieces) / count:.3g}") if count else 0.0
    if not 0 < delta < math.inf:
        return Suggestion(what, None, "The values do not change.", None, [])
    why = (
        "The rows of each key are cut into as many pieces as you ask for frames. The value moves "
        f"by this much within a piece, on average, so there are about {count:,} frames in all."
    )
    size = sum(row["n"] for row in pieces) / count
    table = [{"delta": delta, "frames, about": count, "rows a frame": size}]
    return Suggestion(what, delta, why, f"fl.DeltaFrame({{{value!r}: {delta!r}}})", table)


def _suggest_threshold(df: DataFrame, found: dict[str, Any], value: str) -> Suggestion:
    """The highest of the thresholds whose frames come nearest to so many."""
    what, asked = f"threshold of {value!r}", sum(row["pieces"] for row in found["piece"])
    levels = sorted(found["level"], key=lambda row: -math.inf if row["one"] is None else row["one"])
    changes = list(accumulate(row["c"] for row in levels))  # frames above each level
    known = [i for i, row in enumerate(levels) if row["one"] is not None]
    if len(known) < 2:
        return Suggestion(what, None, "The values do not change.", None, [])
    best = min(known[:-1], key=lambda i: (abs(changes[i] - asked), -i))
    low, high = levels[best]["hi"], levels[best + 1]["lo"]
    tried = (float(f"{one:.{n}g}") for n in range(1, 17) for one in (low, (low + high) / 2))
    threshold = next((number for number in tried if low <= number < high), low)
    share = sum(row["n"] for row in levels[best + 1 :]) / sum(row["n"] for row in levels)
    why = (
        f"You ask for {asked:,} frames in all. Of {len(known) - 1:,} thresholds between the values "
        f"this is the highest of those that come nearest: {changes[best]:,} frames."
    )
    name = value if value.isascii() and value.isidentifier() else quote_column(df, value)
    line = f"fl.ThresholdFrame({f'{name} > {threshold!r}'!r})"
    table = [{"threshold": threshold, "frames": changes[best], "share of rows": share}]
    return Suggestion(what, threshold, why, line, table)


@dataclass(frozen=True)
class Suggestion:
    """What to set one parameter to, why, the line to write, and what was measured."""

    what: str
    value: Any
    why: str
    write: str | None
    table: list[dict[str, Any]]

    def __str__(self) -> str:
        """What it is, its value and why, the table, and the line to write."""
        head = self.what if self.value is None else f"{self.what}: {self.value}"
        cells = [[*self.table[0]]] if self.table else []
        write_as = {float: ".6g", int: ",", str: ""}
        cells += [[format(v, write_as[type(v)]) for v in row.values()] for row in self.table]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = ["  ".join(map(str.rjust, row, widths)) for row in cells]
        write = [f"write: {self.write}"] if self.write else []
        return "\n    ".join([head, self.why, *table, *write])


@dataclass(frozen=True)
class Suggestions:
    """The findings of :func:`fanlight.suggest`. A field that was not requested is None."""

    title: str
    rows: int
    left_out: dict[str, int]
    cost: str
    watermark: Suggestion | None = None
    ttp: Suggestion | None = None
    session: Suggestion | None = None
    delta: Suggestion | None = None
    threshold: Suggestion | None = None

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """The findings that were requested."""
        found = (self.watermark, self.ttp, self.session, self.delta, self.threshold)
        return tuple(one for one in found if one)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, numbers and texts, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """What was read, and each suggestion with its table."""
        left_out = [f"Left out: {count:,} rows {why}." for why, count in self.left_out.items()]
        return "\n".join([self.title, *left_out, self.cost, *map("\n{}".format, self.suggestions)])

    def _repr_html_(self) -> str:
        """The same in a notebook, its columns aligned."""
        return f"<pre>{escape(str(self))}</pre>"
