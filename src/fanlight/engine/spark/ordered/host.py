"""The host of operators: in a stream one stateful processor for groups of keys, in a batch a pass.

In a stream rows go to it packed, a value for all rows of a group that a task has, and results come
back packed: Spark takes each row through a stateful Python operator by itself. Which rows are late
is for the operator to say. In a batch sorted rows, a key's in one partition, pass through it.

Rows are in plain types: times are whole numbers of microseconds in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, LongType

from fanlight.engine.operators.buckets import HASH
from fanlight.engine.operators.clock import MICROSECONDS, Clock
from fanlight.engine.operators.protocol import BatchOperator, Query
from fanlight.engine.plan.coordinate import CalendarUnit, Coordinate
from fanlight.engine.plan.late_rows import METRIC
from fanlight.engine.spark.calendars import beginning
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import (
    PROVIDER,
    USE_ROCKSDB,
    Windows,
    fingerprint,
    is_rocksdb,
)
from fanlight.engine.spark.ordered.encoding import (
    PACKED,
    Out,
    Pack,
    Unpack,
    arrow_schema,
    encode_sql,
    from_plain,
    plain_schema,
    to_plain,
)
from fanlight.engine.spark.ordered.versions import NEEDS_ROCKSDB, check_place, run_groups
from fanlight.engine.spark.ordered.workers import Function, run_in_workers
from fanlight.engine.spark.sql import expr
from fanlight.engine.spec.errors import FanlightError
from fanlight.engine.spec.units import HOURS
from fanlight.engine.spec.units import MICROSECONDS as LENGTHS

_NUMBERS = count(1)  # operators of one query, and their metrics, are told apart
Given = dict[str, str | DataType]  # columns of a result: of a type, or that of a column of rows
MakeQuery = Callable[[pa.Schema, int], Query]  # of the schema of rows, and the number of keys


@dataclass(frozen=True)
class Hosted:
    """What the host is told of an operator.

    ``columns`` is SQL for what it gets of rows, if that is not all as it is. Of a stream: ``what``
    names its windows, for errors and metrics; ``kind`` is their name in checkpoints, where that is
    another, and ``told`` what else tells its state from others; ``aggregated``: Spark aggregates
    the rows, in the same query. Of a batch: rows are in this ``order``, and come part by part if
    they are in the order of ``by``, an instant; those of a key are in one partition, unless rows
    are divided by ``ranges`` of columns, or ``parts`` are columns after the keys that make keys of
    their own. The ``function`` over a partition is made of the query,
    the schema of results, and ``by``.
    """

    what: str
    told: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    aggregated: bool = False
    order: Sequence[str] = ()
    by: str = ""
    columns: Sequence[str] = ()
    ranges: Sequence[str] = ()
    parts: Sequence[str] = ()
    function: Callable[[Any, pa.Schema, str], Function] = BatchOperator


def alike(*names: str) -> Given:
    """Columns of a result that have the types of the rows' columns of these names."""
    return {name: name for name in names}


def numbers(*names: str) -> Given:
    """Columns of a result that are whole numbers."""
    return {name: LongType() for name in names}


def run_operator(
    bound: Windows,
    fields: Fields,
    rows: DataFrame,
    query: MakeQuery,
    given: Given,
    hosted: Hosted,
    more: Sequence[str] = (),
) -> DataFrame:
    """Run an operator over rows (keys, ``t``, more); return what is ``given``, and ``more`` of it.

    ``fields`` says what the columns of rows hold, besides keys and tiebreaks; ``more`` is SQL.
    """
    fields.check_comparable()
    bound.source.check_comparable()
    keys = (*bound.keys, *hosted.parts)
    if not bound.df.isStreaming:  # computed columns are not sorted
        if hosted.ranges:
            arrow_schema(rows.schema)  # or an error that says which column cannot go there
            rows = rows.repartitionByRange(*hosted.ranges)
        else:
            rows = rows.repartition(*keys) if keys else rows.repartition(1)
        rows = rows.sortWithinPartitions(*hosted.order) if hosted.order else rows
    rows = rows.selectExpr(*hosted.columns) if hosted.columns else rows
    types = {f.name: f.dataType for f in rows.schema.fields}
    out = [(name, types[of] if isinstance(of, str) else of) for name, of in given.items()]
    if bound.df.isStreaming:
        return _run_in_stream(bound, fields, rows, types, query, out, hosted, more)
    made = query(arrow_schema(plain_schema(list(types.items()))), len(keys))
    own = made if callable(made) else None  # it has a way of its own over a batch
    function = own or hosted.function(made, arrow_schema(plain_schema(out)), hosted.by)
    return run_over_partitions(rows, types, function, out, more)


def run_over_partitions(
    rows: DataFrame,
    types: Mapping[str, DataType],
    function: Function,
    out: Out,
    more: Sequence[str] = (),
) -> DataFrame:
    """Send these columns of rows through a function, partition by partition."""
    results = run_in_workers(to_plain(rows, types), function, plain_schema(out))
    return from_plain(results, out, more)


def _run_in_stream(
    bound: Windows,
    fields: Fields,
    rows: DataFrame,
    types: Mapping[str, DataType],
    query: MakeQuery,
    out: Out,
    hosted: Hosted,
    more: Sequence[str],
) -> DataFrame:
    what, number, collects = hosted.what, next(_NUMBERS), bound.collects
    check_place(what, aggregated=hosted.aggregated, collects=collects)
    check_provider(rows, what)
    # The hash of a key is the first of its columns: it says where the key's state is.
    hashed = [f"hash({', '.join(bound.keys)}) as {HASH}"] if bound.keys else []
    texts = [*hashed, *(f"{encode_sql(name, kind)} as {name}" for name, kind in types.items())]
    columns = arrow_schema(plain_schema(list(types.items())))
    schema = pa.schema([*(pa.field(HASH, pa.int32()) for _ in hashed), *columns])
    asked = fingerprint(hosted.kind or what, bound, types, fields, **hosted.told)
    made, kinds = query(schema, len(hashed) + len(bound.keys)), plain_schema(out)
    results, mode = arrow_schema(kinds), "append" if bound.early is None else "update"
    packed = run_in_workers(rows.selectExpr(*texts), Pack(schema, bound.partitions, number), PACKED)
    found = run_groups(packed, made, asked, results, mode, bound.postponement)
    if not collects:  # late rows that an operator besides collects are counted there
        late = expr(found, "sum(late)").alias("rows")
        found = found.observe(f"{METRIC} {number}: {what}", late)
    return from_plain(run_in_workers(found, Unpack(results), kinds), out, more)


def check_provider(df: DataFrame, what: str) -> None:
    """Refuse a state store other than RocksDB, which arbitrary state needs."""
    provider = df.sparkSession.conf.get(PROVIDER, "")
    if NEEDS_ROCKSDB and not is_rocksdb(provider):
        raise FanlightError(
            f"{what} in a stream keep their state in RocksDB, but this Spark session uses "
            f"{provider or 'the default provider'}; before the query starts, write: {USE_ROCKSDB}"
        )


_FROM, _TO = 1969, 2200  # the years that are asked for; a watermark is not before 1970
_known: WeakKeyDictionary[Any, dict[CalendarUnit, Clock]] = WeakKeyDictionary()


def clock_of(spark: Any, of: Coordinate) -> Clock:
    """The clock by which the watermark is compared with coordinates of a stream."""
    if of.calendar is None:
        return MICROSECONDS
    known = _known.setdefault(spark, {})
    if of.calendar not in known:
        known[of.calendar] = _ask(spark, of.calendar)
    return known[of.calendar]


def _ask(spark: Any, unit: CalendarUnit) -> Clock:
    """Spark says it in one row, without a job."""
    runs = _ask_months(unit) if unit.in_months else _ask_hours(unit)
    until = f"{beginning(unit, str(_number_in(unit, _TO)))} as until"
    (row,) = spark.sql(f"select {runs} as runs, {until} from values (1)").collect()
    step = 0 if unit.in_months else unit.count * LENGTHS["hour"]
    firsts, bases = zip(*((run.n, run.base) for run in row.runs), strict=True)
    return Clock(firsts, bases, step, row.until)


def _number_in(unit: CalendarUnit, year: int) -> int:
    """The number of a unit with which, or soon after which, a year begins."""
    units = (year - 1970) * 12 if unit.in_months else (year - 1970) * 1461 * 6
    return units // unit.count


def _ask_months(unit: CalendarUnit) -> str:
    """SQL: each unit is a run, since each has a length of its own."""
    first, last = (_number_in(unit, year) for year in (_FROM, _TO))
    each = f"named_struct('n', n, 'base', {beginning(unit, 'n')})"
    return f"transform(sequence({first}L, {last}L), n -> {each})"


def _ask_hours(unit: CalendarUnit) -> str:
    """SQL: runs begin where the clock is set; in which days that is, is asked first.

    No clock has been set twice in less than a week (see ``calendars.py``).
    """
    first, last = (_number_in(unit, year) for year in (_FROM, _TO))
    a_day = max(1, HOURS["day"] // unit.count)

    def ahead(n: str) -> str:
        return f"({beginning(unit, n)} - ({n}) * {unit.count * LENGTHS['hour']}L)"

    def changed(numbers: str, step: int) -> str:
        return f"filter({numbers}, n -> {ahead('n')} <> {ahead(f'n - {step}L')})"

    wide = 5 * a_day
    found = changed(f"sequence({first + wide}L, {last}L, {wide}L)", wide)
    for step in sorted({a_day, 1}, reverse=True):
        within = f"flatten(transform({found}, d -> sequence(d - {wide - step}L, d, {step}L)))"
        found, wide = changed(within, step), step
    numbers = f"concat(array({first}L), {found})"
    return f"transform({numbers}, n -> named_struct('n', n, 'base', {ahead('n')}))"
