"""What ``suggest`` measures of rows: distributions, counted by Spark in one job.

Values are counted in small ranges: a duration up to the next multiple of a readable unit, which is
at most a twentieth of it. Such counts can be added up, so one aggregation makes them all, and what
they say at the end of a range is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import literal, quote, struct
from fanlight.engine.spark.sql import group_rows, over_clause, project

# Microseconds, each a multiple of the one before; so are the ends of ranges.
_UNITS = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 5_000_000, 15_000_000, 60_000_000, 300_000_000,
    900_000_000, 3_600_000_000, 21_600_000_000, 86_400_000_000, 604_800_000_000,
]  # fmt: skip
_MILLISECOND = 1_000  # Spark's watermarks have no finer unit
_FINE = 20  # a unit is at most such a part of what is counted in it
_PER_E = 1_000  # values of frames: ranges of a thousandth
_BELOW = 1_000_000  # more than any double has ranges on one side of 0
# What is counted, by numbers: Spark groups by these. Ranges end above lengths of time, so that a
# delay is longer than what is counted up to it; silences and numbers of rows may be the end.
_PARTS = {
    "rows": 0, "keys": 1, "level": 2, "piece": 3, "late": 4, "ttp": 5, "lasts": 6, "silence": 7,
    "pattern": 8,
}  # fmt: skip
_SO_FAR = "rows between unbounded preceding and current row"
_BEFORE = "rows between unbounded preceding and 1 preceding"

# What a row may lack, by the bit that says so.
WITHOUT_TIME, WITHOUT_ARRIVAL, WITHOUT_VALUE, BACKWARDS = 1, 2, 4, 8


@dataclass(frozen=True)
class Wanted:
    """What is measured: SQL by which it is read, and how much of it."""

    stop: str
    start: str | None = None
    arrived: str | None = None
    keys: tuple[Any, ...] | None = None  # None: nothing by key
    value: str | None = None
    frames: int = 0
    patterns: tuple[int, ...] = ()  # microseconds

    @property
    def in_order(self) -> bool:
        """Whether rows are sorted by key and time."""
        return self.keys is not None or self.value is not None or bool(self.patterns)

    @property
    def names(self) -> list[str]:
        """The internal names of the keys."""
        return [f"k{i}" for i in range(len(self.keys or ()))]


@dataclass(frozen=True)
class Distribution:
    """How many values there are up to each of some ends of ranges, and above the one before."""

    counts: dict[int, int]
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.counts.values()))

    def at_quantile(self, share: Fraction) -> int:
        """The lowest end of a range up to which at least this share of the values is."""
        ends = sorted(self.counts)
        reached = accumulate(self.counts[end] for end in ends)
        return next(end for end, n in zip(ends, reached, strict=True) if n >= share * self.total)

    def count_above(self, end: int) -> int:
        """How many values are above the end of a range."""
        return sum(count for other, count in self.counts.items() if other > end)


@dataclass(frozen=True)
class Measured:
    """What Spark has counted: for each part its rows, as dicts."""

    parts: dict[int, list[Any]]

    def rows_of(self, part: str) -> list[Any]:
        """The rows of a part."""
        return self.parts.get(_PARTS[part], [])

    def distribution(self, part: str, place: int = 0) -> Distribution:
        """The distribution of a part; of patterns, of that at a place."""
        rows = self.parts.get(_PARTS[part] + place, [])
        return Distribution({row["number"]: row["n"] for row in rows})


def measure(df: DataFrame, wanted: Wanted) -> Measured:
    """Count all that is wanted of a batch, in one job."""
    rows = _read_rows(df, wanted)
    if wanted.arrived is not None:
        known = "if(a is null or kind < 0, null, t)"
        rows = rows.selectExpr("*", f"max({known}) {over_clause((), 'a, t', _SO_FAR)} as m")
    if wanted.patterns:
        rows = _add_ends_of_patterns(rows, wanted)
    if wanted.in_order:
        rows = _look_back(rows, wanted)
    keys = wanted.names if wanted.value is not None else []
    entries = rows.selectExpr(f"explode(array({', '.join(_entries(wanted))})) as e")
    entries = entries.where("e is not null").selectExpr("e.*")
    entries = _count_in_ranges(entries, keys)
    sums = [("n", "sum(n)"), ("c", "sum(c)"), ("hi", "max(hi)"), ("lo", "min(lo)")]
    counted = group_rows(entries, ["part", "number", *keys], sums)
    if wanted.value is not None:  # pieces of keys to their mean
        counted = counted.selectExpr("*", f"if(part = {_PARTS['piece']}, null, number) as one")
        total = [*sums, ("spread", "sum(hi - lo)"), ("pieces", "count(*)")]
        counted = group_rows(counted, ["part", "one"], total).withColumnRenamed("one", "number")
    parts: dict[int, list[Any]] = {}
    for row in counted.collect():
        parts.setdefault(row["part"], []).append(row)
    return Measured(parts)


def _read_rows(df: DataFrame, wanted: Wanted) -> DataFrame:
    """Times as microseconds, `kind` 0, or -1 for a row that cannot be used, and what it lacks."""
    columns: list[tuple[Any, str]] = [(wanted.stop, "t")]
    columns += [(wanted.start, "s")] if wanted.start is not None else []
    columns += [(wanted.arrived, "a")] if wanted.arrived is not None else []
    if wanted.value is not None:
        number = f"cast({wanted.value} as double)"
        endless = f"isnan({number}) or abs({number}) = double({literal('Infinity')})"
        columns.append((f"if({endless}, null, {number})", "v"))
    columns += [*zip(wanted.keys or (), wanted.names, strict=True)]
    rows = project(df, columns)
    unusable = f"t is null{' or s is null' if wanted.start else ''}"
    lacks = [(unusable, WITHOUT_TIME)]
    lacks += [("t < s", BACKWARDS)] if wanted.start else []
    lacks += [("a is null", WITHOUT_ARRIVAL)] if wanted.arrived else []
    lacks += [("v is null", WITHOUT_VALUE)] if wanted.value is not None else []
    bits = " + ".join(f"if({condition}, {bit}L, 0L)" for condition, bit in lacks)
    rows = rows.selectExpr("*", f"{bits} as lacks")
    return rows.selectExpr("*", f"if(lacks & {WITHOUT_TIME | BACKWARDS}L = 0L, 0, -1) as kind")


def _add_ends_of_patterns(rows: DataFrame, wanted: Wanted) -> DataFrame:
    """After each row, of kind i, one where it is too long ago for a pattern of duration i."""
    numbers = ", ".join(map(str, range(len(wanted.patterns) + 1)))
    later = ", ".join(f"{duration}L" for duration in (0, *wanted.patterns))
    others = [name for name in rows.columns if name not in ("t", "kind")]
    split = rows.selectExpr(
        *map(quote, others),
        "t as first",
        f"explode(if(kind < 0, array(-1), array({numbers}))) as kind",
    )
    ago = f"element_at(array({later}), greatest(kind, 0) + 1)"
    return split.selectExpr(*map(quote, others), "kind", f"first + {ago} as t")


def _look_back(rows: DataFrame, wanted: Wanted) -> DataFrame:
    """Beside each row the one before of its key, and how many there were."""
    keys, has_value = wanted.names, wanted.value is not None
    order = f"t, kind{', v' if has_value else ''}"
    before, so_far = (over_clause(keys, order, frame) for frame in (_BEFORE, _SO_FAR))
    own = struct([("t", "t"), *([("v", "v")] if has_value else [])])
    columns = [f"last(if(kind = 0, {own}, null), true) {before} as p"]
    if has_value:
        known = "if(kind = 0, v, null)"
        whole = f"over (partition by {', '.join(keys)})" if keys else "over ()"
        columns += [
            f"last({known}, true) {before} as pv",
            f"count({known}) {so_far} as place",
            f"count({known}) {whole} as places",
        ]
    columns += [
        f"count(if(kind = {i}, 1, null)) {so_far} as c{i}"
        for i in range(len(wanted.patterns) + 1)
        if wanted.patterns
    ]
    return rows.selectExpr("*", *columns)


def _entries(wanted: Wanted) -> Iterable[str]:
    """SQL: what a row adds to each part. Null where it adds nothing."""
    keys = wanted.names if wanted.value is not None else []
    yield _entry("rows", "kind <= 0", "lacks", keys)
    if wanted.start is not None:
        yield _entry("lasts", "kind = 0", "t - s", keys)
        last = "t" if wanted.arrived is None else "m"
        arrived = "kind = 0" if wanted.arrived is None else "kind = 0 and a is not null"
        yield _entry("ttp", arrived, f"{last} - s", keys)
    elif wanted.arrived is not None:
        yield _entry("late", "kind = 0 and a is not null", "m - t", keys)
    if wanted.in_order:
        yield _entry("keys", "kind = 0 and p is null", "0L", keys)
    if wanted.keys is not None:
        yield _entry("silence", "kind = 0 and p is not null", "t - p.t", keys)
    for i in range(1, len(wanted.patterns) + 1):
        yield _entry("pattern", "kind = 0", f"c0 - c{i}", keys, place=i - 1)
    if wanted.value is not None:
        yield from _entries_of_values(wanted, keys)


def _entries_of_values(wanted: Wanted, keys: Sequence[str]) -> Iterable[str]:
    """SQL: a row's value among all values, and its way up from the one before; its piece."""
    level, before = _level("v"), _level("p.v")
    rises = f"kind = 0 and v is not null and (p is null or p.v is null or {level} > {before})"
    yield _entry("level", "kind = 0 and v is not null", level, keys,
                 c=f"if({rises}, -1L, 0L)", hi="v", lo="v")  # fmt: skip
    yield _entry("level", rises, before, keys, n="0L", c="1L")
    # The rows of a key with a value in so many pieces, as equal as can be; each with the row before
    # it, so that no change is between two pieces.
    piece = f"((place - 1L) * least({wanted.frames}L, places)) div places"
    yield _entry("piece", "kind = 0 and v is not null", piece, keys, keyed=True,
                 hi="greatest(v, pv)", lo="least(v, pv)")  # fmt: skip


def _entry(
    part: str, condition: str, number: str, keys: Sequence[str], *, n: str = "1L", c: str = "0L",
    hi: str = "cast(null as double)", lo: str = "cast(null as double)", keyed: bool = False,
    place: int = 0,
) -> str:  # fmt: skip
    """SQL: a struct of what is counted under a number, or null where the condition fails."""
    numbers = [("part", f"{_PARTS[part] + place}"), ("number", f"cast({number} as bigint)")]
    fields = [*numbers, ("n", n), ("c", c), ("hi", hi), ("lo", lo)]
    fields += [(key, key if keyed else f"if(true, null, {key})") for key in keys]
    return f"if({condition}, {struct(fields)}, null)"


def _count_in_ranges(entries: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Each length of time and each number of rows as the end of its range."""
    tens = [10**i for i in range(12)]
    units = f"if(part < {_PARTS['pattern']}, {_unit_of(_UNITS)}, {_unit_of(tens)})"
    above = f"greatest(unit, {_MILLISECOND}L)"
    ends = (
        f"case when part < {_PARTS['late']} then number when part < {_PARTS['silence']} "
        f"then (number div {above} + 1L) * {above} "
        "else ((number + unit - 1L) div unit) * unit end"
    )
    entries = entries.selectExpr("*", f"{units} as unit")
    return entries.selectExpr("part", f"{ends} as number", "n", "c", "hi", "lo", *keys)


def _unit_of(units: Sequence[int]) -> str:
    """SQL: the greatest unit of which a number has enough."""
    cases = (f"when number >= {_FINE * unit}L then {unit}L" for unit in reversed(units[1:]))
    return f"case {' '.join(cases)} else {units[0]}L end"


def end_of_range(micros: int) -> int:
    """The end of the range of a duration, as Spark is asked for it."""
    unit = next((unit for unit in reversed(_UNITS) if micros >= _FINE * unit), 1)
    return -(-micros // unit) * unit


def _level(value: str) -> str:
    """SQL: the number of the range of a double; a greater value has no lower number."""
    up = f"cast(floor(ln({value}) * {_PER_E}) as bigint) + {_BELOW}L"
    down = f"-cast(floor(ln(-{value}) * {_PER_E}) as bigint) - {_BELOW}L"
    return (
        f"case when {value} > 0 then {up} when {value} < 0 then {down} when {value} = 0 then 0L end"
    )
