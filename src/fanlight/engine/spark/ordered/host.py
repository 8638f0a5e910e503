"""The host of operators in a stream: one stateful processor for groups of keys.

Rows go to it packed, a value for all rows of a group that a task has, and results come back packed:
Spark takes each row through a stateful Python operator by itself. They are in plain types: times
are whole numbers of microseconds in Python. Which rows are late is for the operator to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.operators.buckets import HASH
from fanlight.engine.operators.protocol import Query
from fanlight.engine.operators.stored_state import Fingerprint
from fanlight.engine.plan.late_rows import METRIC
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import Windows, fingerprint
from fanlight.engine.spark.ordered.arrow_pass import BatchOperator, Passing
from fanlight.engine.spark.ordered.arrow_types import arrow_schema
from fanlight.engine.spark.ordered.encoding import (
    Out,
    encode_sql,
    from_plain,
    plain_schema,
)
from fanlight.engine.spark.ordered.row_packing import PACKED, Pack, Unpack
from fanlight.engine.spark.ordered.versions import NEEDS_ROCKSDB, check_place, run_groups
from fanlight.engine.spark.ordered.workers import run_in_workers
from fanlight.engine.spark.sql import expr
from fanlight.engine.spark.state import PROVIDER, USE_ROCKSDB, is_rocksdb
from fanlight.engine.spec.errors import FanlightError

_NUMBERS = count(1)  # operators of one query, and their metrics, are told apart


class Hosting:
    """Sends rows (keys, ``t``, more columns) to operators, and brings their results back."""

    def __init__(
        self, rows: DataFrame, bound: Bound, columns: Sequence[str], *, aggregated: bool = False
    ) -> None:
        self._aggregated = aggregated  # by Spark, in the same query
        self._collects = bound.collects  # late rows, by an operator besides
        self._rows, self._given, self.columns = rows, bound.keys, list(columns)
        self._partitions, self._postponement = bound.partitions, bound.postponement
        self.types = {f.name: f.dataType for f in rows.schema.fields}
        # The hash of a key is the first of its columns: it says where the key's state is.
        self.keys = [HASH, *bound.keys] if bound.keys else []
        plain = arrow_schema(plain_schema([(name, self.types[name]) for name in columns]))
        hashed = [pa.field(HASH, pa.int32())] if self.keys else []
        self.schema: pa.Schema = pa.schema([*hashed, *plain])

    def run(
        self,
        query: Query,
        out: Out,
        asked: Fingerprint,
        *,
        what: str,
        more: Sequence[str] = (),
        mode: str = "append",
    ) -> DataFrame:
        """Run the operators; return their columns ``out`` in their own types, and ``more``.

        ``asked`` is kept with the state; ``what`` names the windows in the error that a missing
        state store raises; ``mode`` is the output mode.
        """
        check_place(what, aggregated=self._aggregated, collects=self._collects)
        check_provider(self._rows, what)
        texts = [f"hash({', '.join(self._given)}) as {HASH}"] if self._given else []
        texts += [f"{encode_sql(name, self.types[name])} as {name}" for name in self.columns]
        number = next(_NUMBERS)
        kinds = plain_schema(out)
        results = arrow_schema(kinds)
        packed = run_in_workers(
            self._rows.selectExpr(*texts), Pack(self.schema, self._partitions, number), PACKED
        )
        results_packed = run_groups(packed, query, asked, results, mode, self._postponement)
        if not self._collects:  # those that are collected are counted where they are
            late = expr(results_packed, "sum(late)").alias("rows")
            results_packed = results_packed.observe(f"{METRIC} {number}: {what}", late)
        return from_plain(run_in_workers(results_packed, Unpack(results), kinds), out, more)


def run_operator(
    bound: Windows,
    fields: Fields,
    rows: DataFrame,
    query: Callable[[pa.Schema, int], Query],
    *,
    what: str,
    numbers: Sequence[str],
    values: Sequence[str],
    which: Sequence[str] = (),
    order: Sequence[str] = (),
    by: str = "",
    mode: str = "append",
    aggregated: bool = False,
    **asked: Any,
) -> DataFrame:
    """Run an operator over rows (keys, ``which``, ``t``, more), and return what it gives.

    That is the keys and ``which``, then whole ``numbers``, and ``values`` of the types that rows
    have. ``query`` makes the operator's query, of the schema of rows and the number of keys. In a
    stream it is one stateful operator: ``what`` names its windows, and ``asked`` is what else
    tells its state from others. In a batch it is a pass over rows in this ``order``, part by part
    if they are in the order of ``by``, an instant.
    """
    fields.check_comparable()
    bound.source.check_comparable()
    types = {f.name: f.dataType for f in rows.schema.fields}
    keys = [*bound.keys, *which]
    out = [(key, types[key]) for key in keys]
    out += [(name, LongType()) for name in numbers]
    out += [(name, types[name]) for name in values]
    if not bound.df.isStreaming:
        passing, results = Passing(rows, keys, order, rows.columns), arrow_schema(plain_schema(out))
        return passing.run(BatchOperator(query(passing.schema, len(keys)), results, by), out)
    hosting = Hosting(rows, bound, rows.columns, aggregated=aggregated)
    told = fingerprint(what, bound, hosting, fields, **asked)
    made = query(hosting.schema, len(hosting.keys) + len(which))
    return hosting.run(made, out, told, what=what, mode=mode)


def check_provider(df: DataFrame, what: str) -> None:
    """Refuse a state store other than RocksDB, which arbitrary state needs."""
    provider = df.sparkSession.conf.get(PROVIDER, "")
    if NEEDS_ROCKSDB and not is_rocksdb(provider):
        raise FanlightError(
            f"{what} in a stream keep their state in RocksDB, but this Spark session uses "
            f"{provider or 'the default provider'}; before the query starts, write: {USE_ROCKSDB}"
        )
