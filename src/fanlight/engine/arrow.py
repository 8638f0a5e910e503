"""DataFrames of Spark as Arrow tables, whatever the version of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa


def is_of_spark(value: Any) -> bool:
    """Whether a value is a DataFrame of Spark, of a classic session or of Connect."""
    return hasattr(type(value), "mapInArrow")  # a Column has any attribute, its class has not


def to_arrow(df: Any) -> pa.Table:
    """The rows of a batch DataFrame, in its order: by ``toArrow``, which Spark has since 4.0."""
    found: pa.Table = df.toArrow() if hasattr(df, "toArrow") else _collect_packed(df)
    return found


def _collect_packed(df: Any) -> pa.Table:
    """The rows, packed by Spark's Python workers: none becomes a Python object here."""
    tables = _unpack(df)
    if not tables:  # nothing says the types of columns: a row of nulls does
        kinds = [(field.name, field.dataType) for field in df.schema.fields]
        schema = type(df.schema)()
        for name, kind in kinds:
            schema = schema.add(name, kind)
        nulls = df.sparkSession.createDataFrame([(None,) * len(kinds)], schema)
        tables = [table.schema.empty_table() for table in _unpack(nulls)]
    table = pa.concat_tables(tables).rename_columns(df.columns)
    return table.cast(pa.schema([_in_utc(field) for field in table.schema]))


def _in_utc(field: pa.Field) -> pa.Field:
    """The field with times in UTC, as ``toArrow`` gives them: workers have the session's zone."""
    kind = field.type
    if pa.types.is_timestamp(kind) and kind.tz:
        return field.with_type(pa.timestamp(kind.unit, "UTC"))
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct([_in_utc(part) for part in kind]))
    if pa.types.is_list(kind):
        return field.with_type(pa.list_(_in_utc(kind.value_field)))
    if pa.types.is_map(kind):
        return field.with_type(pa.map_(_in_utc(kind.key_field), _in_utc(kind.item_field)))
    return field


def _unpack(df: Any) -> list[pa.Table]:
    plain = df.toDF(
        *(f"c{number}" for number in range(len(df.columns)))
    )  # Spark reads a.b as a path
    packed = plain.mapInArrow(_make_packer(), "rows binary").collect()
    return [pa.ipc.open_stream(bytes(row[0])).read_all() for row in packed]


def _make_packer() -> Any:
    """A function for ``mapInArrow``; pickle sends its code, so that a worker needs no fanlight."""

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa  # a worker does not have this module's imports

        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_pydict({"rows": [sink.getvalue().to_pybytes()]})

    return pack
