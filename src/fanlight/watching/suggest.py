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
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.spark.binding.source import (
    UNGROUPED,
    Source,
    advise_watermark,
    bind_source,
    column_of,
    refuse_rows,
    schema_of,
)
from fanlight.engine.spark.coordinates import exact
from fanlight.engine.spark.foreign_frames import open_frame
from fanlight.engine.spark.sql import quote_column, type_text
from fanlight.engine.spec import ProgressiveWidening
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import read_uncounted, write_duration
from fanlight.types import DataFrameLike, Duration, Keys
from fanlight.watching.measures import (
    BACKWARDS,
    WITHOUT_ARRIVAL,
    WITHOUT_TIME,
    WITHOUT_VALUE,
    Distribution,
    Measured,
    Wanted,
    end_of_range,
    measure,
)

_QUANTILES = tuple(map(Fraction, ("0.5", "0.9", "0.99", "0.999", "1")))
_PERCENTILES = [Fraction(i, 100) for i in range(50, 100)]  # half of all silences are short
_UPPER = tuple(map(Fraction, ("0.5", "0.75", "0.9", "0.95", "0.99")))  # of values
_CLEAR = 2  # how many times as long silences are after a jump that says something
_MOST_FRAMES = 2**31
_MOST_PATTERNS = 20


@explain_wrong_calls("fl.suggest(df, time='ts', by='key', arrived='ingested_at')")
def suggest(
    df: DataFrameLike,
    *,
    time: str | tuple[str, str],
    by: Keys = None,
    arrived: str | None = None,
    value: str | None = None,
    frames: int | None = None,
    patterns: Duration | Sequence[Duration] | None = None,
    share: float = 0.001,
) -> Suggestions:
    """Measure the rows of a batch, and suggest values for parameters.

    Each part of the result needs its arguments: with ``arrived`` the delay of a watermark, with a
    pair of times the time to postpone (TTP), with ``by`` the gap of sessions, with ``value`` and
    ``frames`` a delta and a threshold of frames, with ``patterns`` the ``max_rows`` and the levels
    of progressive widening. The rows are read once, by one Spark job, in Spark SQL alone.

    Parameters
    ----------
    df
        A batch, for example the output of a stream. Also one of narwhals or ibis over PySpark.
    time
        The time of a row, a timestamp with or without time zone; or a pair ``(start, stop)`` of
        events that last. Rows without a time, or that stop before they start, are left out, and
        counted.
    by
        The key: a column, several, or ``()`` for one key of all rows.
    arrived
        A column that gives the order in which the rows arrived: a timestamp, a number, a text. The
        lateness of a row is how far its time is behind the greatest time of the rows that arrived
        before it; rows with the same value here arrived together.
    value
        The column, a number, that decides the frames. Nulls, NaN and infinite values are skipped,
        and counted; rows of equal time are ordered by their values.
    frames
        About how many frames a key should have, on average.
    patterns
        The duration of the patterns that you look for, or several durations: the shortest is used
        for the first level, and the longest for the last.
    share
        The share of rows that may be late, or of patterns that may have more rows than
        ``max_rows``: at least 0, and below 1.

    Returns
    -------
    Suggestions
        A value that prints as tables with lines to write, also in a notebook. ``watermark``,
        ``ttp``, ``session``, ``delta``, ``threshold`` and ``widening`` each have ``value``,
        ``why``, ``write`` and the ``table`` of what was measured, or are None if not requested;
        ``rows`` is the number of rows read, ``left_out`` counts the rows that could not be used, by
        reason; ``to_dict()`` is for JSON.

    Raises
    ------
    FanlightError
        If ``df`` is a stream or has no rows with a time, a column is missing or has the wrong type,
        an argument is out of range, or nothing is requested.

    Examples
    --------
    >>> import fanlight as fl
    >>> clicks = spark.sql(
    ...     "SELECT timestamp_seconds(id * 10 + id div 20 * 1800) AS ts, "
    ...     "id + if(id % 50 = 0, 9, 0) AS place FROM range(1000)"
    ... )
    >>> found = fl.suggest(clicks, time="ts", by=(), arrived="place", share=0.01)
    >>> found.watermark.write
    "df.withWatermark('ts', '81 seconds')"
    >>> found.session.write
    "fl.Session('140 seconds')"

    """
    rows, _ = open_frame(df)
    _check_rows(rows)
    tolerated = _read_share(share)
    start, stop = _read_times(time)
    source = bind_source(rows, stop, () if by is None else by, (), own=())
    lasting = _read_patterns(patterns)
    _check_parts(start, by, arrived, value, frames, lasting)
    _check_arrived(rows, arrived)
    keys = tuple(column_of(rows, key) for key in source.by)
    wanted = Wanted(
        stop=_micros(rows, stop),
        start=None if start is None else _micros(rows, start),
        arrived=None if arrived is None else quote_column(rows, arrived),
        keys=None if by is None or start is not None else keys,
        value=None if value is None else _read_value(rows, value),
        frames=_read_frames(frames),
        patterns=lasting,
    )
    measured = measure(rows, wanted)
    lacking = measured.distribution("rows")
    used = sum(n for bits, n in lacking.counts.items() if not bits & (WITHOUT_TIME | BACKWARDS))
    if not used:
        raise refuse(
            f"suggest(df, time={time!r})",
            f"has no row that could be measured, of {lacking.total:,}",
            "pass a batch whose rows have times",
        )
    title = f"measured: {used:,} of {lacking.total:,} rows"
    if wanted.in_order:
        title += f", {measured.distribution('keys').total:,} keys"
    late = start is None and arrived is not None
    return Suggestions(
        title=title,
        rows=lacking.total,
        left_out=_count_left_out(lacking, time, arrived, value),
        cost=_describe_cost(wanted),
        watermark=_suggest_watermark(source, measured, tolerated) if late else None,
        ttp=None if start is None else _suggest_ttp(source, measured, tolerated),
        session=None if wanted.keys is None else _suggest_session(measured),
        delta=None if value is None else _suggest_delta(measured, value),
        threshold=None if value is None else _suggest_threshold(rows, measured, value),
        widening=_suggest_widening(measured, lasting, tolerated) if lasting else None,
    )


def _check_rows(df: Any) -> None:
    if not is_of_spark(df):
        raise refuse_rows("suggest", df)
    if df.isStreaming:
        raise refuse(
            "suggest(df)",
            "is given a stream, whose rows have not come yet",
            "pass a batch: what the stream has written so far, or a part of its source",
        )


def _read_share(share: object) -> Fraction:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
        raise refuse(
            f"share={share!r}", "is not a number from 0 to below 1", "write for example share=0.001"
        )
    return Fraction(str(share))


def _read_times(time: Any) -> tuple[str | None, Any]:
    """The start, if there is one, and the stop or the time."""
    if not isinstance(time, (tuple, list)):
        return None, time
    if len(time) != 2 or not all(isinstance(one, str) for one in time):
        raise refuse(
            f"time={time!r}", "is not a pair of column names", "write time=('start', 'stop')"
        )
    return time[0], time[1]


def _micros(df: DataFrame, time: str) -> str:
    """SQL: a time as microseconds, whatever the zone of the session."""
    (found,) = schema_of(df, [("time", time)], "time")
    kind = type_text(found.dataType)
    if kind not in ("timestamp", "timestamp_ntz"):
        raise refuse(
            f"time={time!r}",
            f"is of type {kind}, and delays and gaps are durations between timestamps",
            f"make it one: df.withColumn({time!r}, F.to_timestamp({time!r})), or of numbers "
            "F.timestamp_seconds",
        )
    return exact(Coordinate("timestamp" if kind == "timestamp" else "timestamp_ntz"),
                 quote_column(df, time))  # fmt: skip


def _check_parts(
    start: str | None, by: Any, arrived: Any, value: Any, frames: Any, patterns: tuple[int, ...]
) -> None:
    """Refuse arguments that go with others that are not there, and no part at all."""
    if (value is None) != (frames is None):
        there, lacks = ("frames", "value") if value is None else ("value", "frames")
        raise refuse(
            f"{there}= without {lacks}=",
            "is half of what a delta and a threshold are found by",
            "write for example value='price', frames=100",
        )
    if start is not None and (value is not None or patterns):
        raise refuse(
            f"{'value' if value is not None else 'patterns'}= with a pair of times",
            "asks for windows over points, and events last",
            "write time='stop', or leave it out",
        )
    if start is None and by is None and arrived is None and value is None and not patterns:
        raise refuse(
            "suggest(df, time=…)",
            "asks for nothing",
            "add arrived= for a watermark's delay, by= for the gap of sessions, value= and frames= "
            "for frames, patterns= for progressive widening, or a pair of times for the TTP",
        )


def _check_arrived(df: DataFrame, arrived: Any) -> None:
    if arrived is None:
        return
    if not isinstance(arrived, str):
        raise refuse(
            f"arrived={arrived!r}", "is not the name of a column", "write arrived='ingested_at'"
        )
    (found,) = schema_of(df, [("arrived", arrived)], "arrived")
    kind = type_text(found.dataType)
    if contains_type(kind, (*UNGROUPED, "interval")):
        raise refuse(
            f"arrived={arrived!r}",
            f"is of type {kind}, which has no order",
            "pass a timestamp, a number or a text that orders the rows as they came",
        )


def _read_value(df: DataFrame, value: Any) -> str:
    """SQL: the column of values."""
    if not isinstance(value, str):
        raise refuse(f"value={value!r}", "is not the name of a column", "write value='price'")
    (found,) = schema_of(df, [("value", value)], "value")
    kind = type_text(found.dataType)
    if base_type(kind) not in (*INTEGRAL, "float", "double", "decimal"):
        raise refuse(
            f"value={value!r}",
            f"is of type {kind}, and a delta is a difference of numbers",
            "pass a column of numbers",
        )
    return quote_column(df, value)


def _read_frames(frames: Any) -> int:
    if frames is None:
        return 0
    whole = isinstance(frames, int) and not isinstance(frames, bool)
    if not whole or not 0 < frames < _MOST_FRAMES:
        raise refuse(
            f"frames={frames!r}", "is not a positive number of frames", "write for example 100"
        )
    return int(frames)


def _read_patterns(patterns: Any) -> tuple[int, ...]:
    """The durations of patterns in microseconds, the shortest first."""
    if patterns is None:
        return ()
    several = patterns if isinstance(patterns, (list, tuple)) else [patterns]
    if not 0 < len(several) <= _MOST_PATTERNS:
        raise refuse(
            f"patterns={patterns!r}",
            f"has {len(several)} durations, not 1 to {_MOST_PATTERNS}",
            "write for example patterns=['1 minute', '1 day']",
        )
    found = set()
    for one in several:
        instead = "write a duration, for example patterns='1 day'"
        length = read_uncounted("patterns", one, "is no duration", instead)
        if length.measure != "time":
            raise refuse(f"patterns={one!r}", "is a number, and times are timestamps", instead)
        found.add(int(length.value))
    return tuple(sorted(found))


def _count_left_out(lacking: Distribution, time: Any, arrived: Any, value: Any) -> dict[str, int]:
    """How many rows lack what, in words; a row that cannot be used counts once."""
    reasons = [
        (WITHOUT_TIME, f"without a time in {time!r}"),
        (BACKWARDS, "that stop before they start"),
        (WITHOUT_ARRIVAL, f"without {arrived!r}, from the delay"),
        (WITHOUT_VALUE, f"without a finite {value!r}, from the frames"),
    ]
    left_out: dict[str, int] = {}
    for bits, count in lacking.counts.items():
        unusable = bits & (WITHOUT_TIME | BACKWARDS)
        for bit, why in reasons:
            if (unusable or bits) & bit:
                left_out[why] = left_out.get(why, 0) + count
    return left_out


def _describe_cost(wanted: Wanted) -> str:
    steps = []
    if wanted.arrived is not None:
        steps.append("all rows sorted in the order of arrival by one task")
    if wanted.patterns:
        steps.append(f"each row {len(wanted.patterns) + 1} times")
    if wanted.in_order:
        steps.append("rows sorted by key and time" if wanted.keys else "rows sorted by time")
    return f"cost: the source read once; {', '.join([*steps, 'one aggregation'])}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _list_late(delays: Distribution, name: str) -> list[dict[str, Any]]:
    """For quantiles of what rows need, the delay, and how many would be late with it."""
    table = []
    for quantile in _QUANTILES:
        end = delays.at_quantile(quantile)
        late = delays.count_above(end)
        table.append({
            "quantile": float(quantile), name: write_duration(end), "late rows": late,
            "share": _share(late, delays.total),
        })  # fmt: skip
    return table


def _tell_late(delays: Distribution, end: int, tolerated: Fraction, rows: str) -> str:
    late = delays.count_above(end)
    return (
        f"the shortest that leaves at most {float(tolerated):g} of the {rows} late: {late:,} of "
        f"{delays.total:,}, if the watermark moved with each row; a stream moves it with each "
        "micro-batch, so fewer are late"
    )


def _suggest_watermark(source: Source, measured: Measured, tolerated: Fraction) -> Suggestion:
    what, delays = "watermark delay", measured.distribution("late")
    if not delays.total:
        return Suggestion(what, None, "no row says when it arrived", None, ())
    end = delays.at_quantile(1 - tolerated)
    delay = write_duration(end)
    return Suggestion(
        what,
        delay,
        _tell_late(delays, end, tolerated, "rows"),
        advise_watermark(source.df, source.time, delay),
        tuple(_list_late(delays, "delay")),
    )


def _suggest_ttp(source: Source, measured: Measured, tolerated: Fraction) -> Suggestion:
    what = "time to postpone (TTP)"
    needed, lasts = measured.distribution("ttp"), measured.distribution("lasts")
    if not needed.total:
        return Suggestion(what, None, "no event says when it arrived", None, ())
    end = needed.at_quantile(1 - tolerated)
    table = [
        {"quantile": row["quantile"], "duration": write_duration(lasts.at_quantile(quantile)),
         **{name: cell for name, cell in row.items() if name != "quantile"}}
        for quantile, row in zip(_QUANTILES, _list_late(needed, "TTP"), strict=True)
    ]  # fmt: skip
    return Suggestion(
        what,
        write_duration(end),
        _tell_late(needed, end, tolerated, "events"),
        advise_watermark(source.df, source.time, write_duration(end)),
        tuple(table),
    )


def _suggest_session(measured: Measured) -> Suggestion:
    what = "gap of sessions"
    silences, keys = measured.distribution("silence"), measured.distribution("keys").total
    lengths = {silences.at_quantile(q) for q in _PERCENTILES} if silences.total else set()
    pairs = [pair for pair in pairwise(sorted(lengths)) if pair[0] > 0]
    table = [
        {
            "quantile": float(quantile),
            **_count_sessions(silences, silences.at_quantile(quantile), keys),
        }
        for quantile in _QUANTILES
        if silences.total
    ]
    if not pairs:
        why = "the percentiles 50 to 99 of the silences between rows of a key are all of one length"
        return Suggestion(what, None, why, None, tuple(table))
    shorter, longer = max(pairs, key=lambda pair: Fraction(pair[1], pair[0]))
    between = end_of_range(math.isqrt(shorter * longer))
    gap = between if between < longer else shorter
    sessions = keys + silences.count_above(gap)
    why = (
        f"of the percentiles 50 to 99 of the silences, the largest jump is from "
        f"{write_duration(shorter)} to {write_duration(longer)}, and this is their geometric mean: "
        f"{sessions:,} sessions of {keys:,} keys"
    )
    if longer < _CLEAR * shorter:
        why += "; a small jump: nothing in the rows says where a session ends"
    written = write_duration(gap)
    return Suggestion(what, written, why, f"fl.Session({written!r})", tuple(table))


def _count_sessions(silences: Distribution, gap: int, keys: int) -> dict[str, Any]:
    longer = silences.count_above(gap)
    return {
        "gap": write_duration(gap), "longer": longer, "share": _share(longer, silences.total),
        "sessions": keys + longer,
    }  # fmt: skip


def _suggest_delta(measured: Measured, value: str) -> Suggestion:
    what = f"delta of {value!r}"
    pieces = measured.rows_of("piece")
    count = sum(row["pieces"] for row in pieces)
    delta = float(f"{sum(row['spread'] for row in pieces) / count:.3g}") if count else 0.0
    if not 0 < delta < math.inf:
        return Suggestion(what, None, "its values do not change", None, ())
    rows = sum(row["n"] for row in pieces)
    why = (
        f"each key's rows in as many pieces as frames are asked for, as equal as can be: a value "
        f"moves by so much in a piece, on average; so about {count:,} frames in all"
    )
    table = ({"delta": delta, "frames, about": count, "rows a frame": rows / count},)
    return Suggestion(what, delta, why, f"fl.DeltaFrame({{{value!r}: {delta!r}}})", table)


def _suggest_threshold(df: DataFrame, measured: Measured, value: str) -> Suggestion:
    what = f"threshold of {value!r}"
    asked = sum(row["pieces"] for row in measured.rows_of("piece"))
    levels = measured.rows_of("level")
    first = sum(row["c"] for row in levels if row["number"] is None)
    known = sorted((row for row in levels if row["number"] is not None), key=lambda r: r["number"])
    if len(known) < 2:
        return Suggestion(what, None, "its values do not change", None, ())
    above = list(accumulate((row["c"] for row in known), initial=first))[1:]
    thresholds = [_shorten(row["hi"], after["lo"]) for row, after in pairwise(known)]
    best = _choose_level(above[: len(thresholds)], asked)
    counts = Distribution({i: row["n"] for i, row in enumerate(known)})
    places = {q: min(counts.at_quantile(q), len(thresholds) - 1) for q in _UPPER}
    table = tuple(
        {"quantile": float(q), "threshold": thresholds[i], "frames": above[i],
         "share of rows": _share(counts.count_above(i), counts.total)}
        for q, i in places.items()
    )  # fmt: skip
    why = (
        f"of {len(thresholds):,} thresholds between the values the highest with about {asked:,} "
        f"frames, or with most: {above[best]:,}, of "
        f"{_share(counts.count_above(best), counts.total):.3g} of the rows"
    )
    text = f"{quote_column(df, value) if _needs_quotes(value) else value} > {thresholds[best]!r}"
    return Suggestion(what, thresholds[best], why, f"fl.ThresholdFrame({text!r})", table)


def _choose_level(above: Sequence[int], asked: int) -> int:
    """The highest level with so many frames above it, or the next, if that comes nearer."""
    enough = [i for i, frames in enumerate(above) if frames >= asked]
    if not enough:
        return max(range(len(above)), key=lambda i: (above[i], i))
    return min(
        range(enough[-1], min(enough[-1] + 2, len(above))), key=lambda i: abs(above[i] - asked)
    )


def _needs_quotes(name: str) -> bool:
    return not (name.isascii() and name.isidentifier())


def _shorten(low: float, high: float) -> float:
    """The number with the fewest digits that is at least ``low`` and below ``high``."""
    for digits in range(1, 17):
        for number in (float(f"{low:.{digits}g}"), float(f"{(low + high) / 2:.{digits}g}")):
            if low <= number < high:
                return number
    return low


def _suggest_widening(
    measured: Measured, patterns: tuple[int, ...], tolerated: Fraction
) -> Suggestion:
    table = []
    for number, duration in enumerate(patterns):
        rows = measured.distribution("pattern", number)
        table.append({
            "duration": write_duration(duration),
            **{f"{float(100 * q):g} %": rows.at_quantile(q) for q in _QUANTILES},
        })  # fmt: skip
    rows = measured.distribution("pattern", len(patterns) - 1)
    most = rows.at_quantile(1 - tolerated)
    first, longest = write_duration(patterns[0]), write_duration(patterns[-1])
    levels = len(ProgressiveWidening(first, max_duration=longest, max_rows=most).durations)
    why = (
        f"at {rows.total - rows.count_above(most):,} of {rows.total:,} rows a key has had at most "
        f"so many in the last {longest}; {levels} levels, each twice as long as the one below, "
        f"keep at most {2 * most * levels:,} rows a key"
    )
    line = f"fl.ProgressiveWidening({first!r}, max_duration={longest!r}, max_rows={most})"
    return Suggestion("max_rows of progressive widening", most, why, line, tuple(table))


@dataclass(frozen=True)
class Suggestion:
    """What to set one parameter to.

    ``what`` names it, ``value`` is what it should be (a duration as text, or a number; None if the
    rows do not say), ``why`` says in words how it was found, ``write`` is the line to write, and
    ``table`` has what was measured: a dict for each row, all with the same names.
    """

    what: str
    value: Any
    why: str
    write: str | None
    table: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        """What it is, its value and why, the table, and the line to write."""
        head = self.what if self.value is None else f"{self.what}: {self.value}"
        lines = [head, f"    {self.why}", *(f"    {line}" for line in _align(self.table))]
        if self.write:
            lines.append(f"    write: {self.write}")
        return "\n".join(lines)


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
    widening: Suggestion | None = None

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """The findings that were requested."""
        found = (
            self.watermark, self.ttp, self.session, self.delta, self.threshold, self.widening,
        )  # fmt: skip
        return tuple(one for one in found if one is not None)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, numbers and texts, for JSON."""
        return asdict(self)

    def _head(self) -> list[str]:
        lines = [self.title]
        lines += [f"left out: {count:,} rows {why}" for why, count in self.left_out.items()]
        return [*lines, self.cost]

    def __str__(self) -> str:
        """What was read, and each suggestion with its table."""
        return "\n".join([*self._head(), *(f"\n{one}" for one in self.suggestions)])

    def _repr_html_(self) -> str:
        """The tables, for a notebook."""
        parts = [f"<p>{'<br>'.join(map(escape, self._head()))}</p>"]
        for one in self.suggestions:
            value = "" if one.value is None else f": {one.value}"
            parts.append(f"<p><b>{escape(one.what + value)}</b><br>{escape(one.why)}</p>")
            parts.append(_html_table(one.table))
            if one.write:
                parts.append(f"<p><code>{escape(one.write)}</code></p>")
        return "".join(parts)


def _write(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _align(table: tuple[dict[str, Any], ...]) -> list[str]:
    """A table as lines, its columns aligned."""
    if not table:
        return []
    lines = [list(table[0]), *([_write(value) for value in row.values()] for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]


def _html_table(table: tuple[dict[str, Any], ...]) -> str:
    if not table:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in table[0])
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_write(cell))}</td>' for cell in row.values())}</tr>"
        for row in table
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
