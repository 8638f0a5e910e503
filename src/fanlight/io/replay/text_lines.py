"""Parses lines of CSV and JSON into Arrow columns.

Times are ISO 8601, and in UTC unless they have an offset: neither the session's time zone nor the
machine's plays a part.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from fanlight.engine.spec.errors import FanlightError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FLOATS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


def parse_time(text: str) -> int:
    """Parse a time to microseconds since 1970, in UTC unless it has an offset.

    >>> parse_time("1970-01-01T00:00:00.000001"), parse_time("1970-01-01 01:00:00+01:00")
    (1, 0)
    """
    time = datetime.fromisoformat(text)
    return (time.replace(tzinfo=time.tzinfo or UTC) - _EPOCH) // _MICROSECOND


def _parse_local_time(text: str) -> int:
    """Parse a time without time zone; refuses an offset."""
    if datetime.fromisoformat(text).tzinfo is not None:
        msg = f"{text!r} has a time zone"
        raise ValueError(msg)
    return parse_time(text)


def read_header(line: bytes, sep: str) -> list[str]:
    """The column names in the first line of a CSV file."""
    return next(csv.reader([line.decode("utf-8")], delimiter=sep))


def parse_csv(lines: Sequence[bytes], names: Sequence[str], kinds: pa.Schema, sep: str) -> pa.Table:
    """Parse lines of CSV with the columns ``names`` into the columns of ``kinds``.

    An empty field is null; an empty field in quotes is an empty text.
    """
    times = {field.name for field in kinds if pa.types.is_timestamp(field.type)}
    read_as = {f.name: pa.string() if f.name in times else f.type for f in kinds}
    whole = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
    if not whole:
        return kinds.empty_table()
    table = pa_csv.read_csv(
        io.BytesIO(whole),
        read_options=pa_csv.ReadOptions(column_names=list(names), block_size=len(whole) + 1),
        parse_options=pa_csv.ParseOptions(delimiter=sep),
        convert_options=pa_csv.ConvertOptions(
            column_types=read_as,
            include_columns=kinds.names,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    columns = [
        _parse_times(table.column(f.name), f.type) if f.name in times else table.column(f.name)
        for f in kinds
    ]
    return pa.Table.from_arrays(columns, schema=kinds)


def _parse_times(texts: Any, kind: pa.DataType) -> Any:
    read = _make_reader(kind)
    return pa.array([None if text is None else read(text) for text in texts.to_pylist()], kind)


def parse_json(lines: Sequence[bytes], kinds: pa.Schema) -> pa.Table:
    """Parse lines of JSON, an object each, into the columns of ``kinds``; missing names are null.

    Numbers with a point or an exponent are parsed as decimals, so that no digit is lost.
    """
    rows = [json.loads(line, parse_float=Decimal) for line in lines]
    for row in rows:
        if not isinstance(row, dict):
            msg = f"{json.dumps(row, default=str)} is not an object"
            raise TypeError(msg)
    columns = []
    for field in kinds:
        read = _make_reader(field.type)
        columns.append(
            pa.array([_apply_unless_null(read, row.get(field.name)) for row in rows], field.type)
        )
    return pa.Table.from_arrays(columns, schema=kinds)


def _apply_unless_null(read: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else read(value)


def _make_reader(kind: pa.DataType) -> Callable[[Any], Any]:
    """A function that turns a JSON value into a Python value that Arrow takes for this type."""
    if pa.types.is_list(kind):
        inner = _make_reader(kind.value_type)
        return lambda values: [_apply_unless_null(inner, one) for one in _check_type(list, values)]
    if pa.types.is_map(kind):
        key, item = _make_reader(kind.key_type), _make_reader(kind.item_type)
        return lambda values: [
            (key(name), _apply_unless_null(item, one))
            for name, one in _check_type(dict, values).items()
        ]
    if pa.types.is_struct(kind):
        inners = {field.name: _make_reader(field.type) for field in kind}
        return lambda values: {
            name: _apply_unless_null(inner, _check_type(dict, values).get(name))
            for name, inner in inners.items()
        }
    for is_kind, read in _PLAIN:
        if is_kind(kind):
            return lambda value: read(value, kind)
    msg = f"a column of type {kind} cannot be read from text"
    raise FanlightError(msg)


def _check_type(kind: type, value: Any) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        what = {bool: "true or false", int: "a whole number", str: "text"}
        what |= {list: "a list", dict: "an object"}
        msg = f"{json.dumps(value, default=str)} is not {what[kind]}"
        raise TypeError(msg)
    return value


def _to_float(value: Any, _: Any) -> float:
    if isinstance(value, str) and value in _FLOATS:
        return float(_FLOATS[value])
    return float(value if isinstance(value, Decimal) else _check_type(int, value))


def _to_decimal(value: Any, _: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(_check_type(int, value))


def _to_micros(value: Any, kind: Any) -> int:
    return (parse_time if kind.tz else _parse_local_time)(_check_type(str, value))


_PLAIN: tuple[tuple[Callable[[Any], bool], Callable[[Any, Any], Any]], ...] = (
    (pa.types.is_boolean, lambda value, _: _check_type(bool, value)),
    (pa.types.is_integer, lambda value, _: _check_type(int, value)),
    (pa.types.is_floating, _to_float),
    (pa.types.is_decimal, _to_decimal),
    (pa.types.is_string, lambda value, _: _check_type(str, value)),
    (pa.types.is_binary, lambda value, _: base64.b64decode(_check_type(str, value), validate=True)),
    (pa.types.is_date, lambda value, _: date.fromisoformat(_check_type(str, value))),
    (pa.types.is_timestamp, _to_micros),
)
