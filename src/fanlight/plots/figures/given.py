"""What pictures are given: tables as Arrow, and arguments, checked before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from fanlight.engine.arrow import is_of_spark, to_arrow
from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import describe_type, is_column, refuse


def check_title(given: Any) -> str | None:
    """The title, which must be text, or None."""
    if given is not None and not isinstance(given, str):
        raise refuse(f"title={given!r}", "is not a text", "write for example title='Calls'")
    return given


def check_count(argument: str, given: Any, least: int, what: str) -> int:
    """How many things to draw: a whole number of at least ``least``."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise refuse(f"{argument}={given!r}", "is not a whole number", f"write {argument}=1000")
    if given < least:
        raise refuse(
            f"{argument}={given}", f"is too few {what}", f"write {argument}={least} or more"
        )
    return min(given, 10**9)


def check_number(argument: str, given: Any) -> float | None:
    """A finite number as a double, or None."""
    if given is None:
        return None
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if (
        not is_number
        or (isinstance(given, float) and not math.isfinite(given))
        or abs(given) > 1e300
    ):
        raise refuse(f"{argument}={given!r}", "is not a finite number", f"write {argument}=0")
    return float(given)


def check_names(argument: str, given: Any) -> list[str]:
    """The names of columns as a list; one may be given as text."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise refuse(f"{argument}={given!r}", "names no columns", f"write {argument}=['key']")
    return list(given)


def check_pair(argument: str, given: Any) -> tuple[str, str]:
    """The names of two columns."""
    is_pair = isinstance(given, (tuple, list)) and len(given) == 2
    if not is_pair or not all(isinstance(name, str) for name in given):
        raise refuse(
            f"{argument}={given!r}", "is not a pair of columns", f"write {argument}=('from', 'to')"
        )
    return given[0], given[1]


def table_of(result: Any) -> pa.Table:
    """The table of a DataFrame of Spark, pandas or Polars, of Arrow data, or of rows."""
    if isinstance(result, pa.Table):
        return result
    if getattr(result, "isStreaming", False) is True:
        raise FanlightError(
            "a stream has no end, so it cannot be drawn: write it to a table, and draw that"
        )
    if isinstance(result, type) or is_column(result):
        raise _cannot_be_drawn(result)
    if is_of_spark(result):
        return to_arrow(result)
    if hasattr(result, "iloc"):  # pandas, which need not be installed
        return _table_of_rows(_rows_of_pandas(result))
    if hasattr(result, "collect_schema") and not hasattr(result, "to_arrow"):
        raise FanlightError("a lazy DataFrame has no rows yet: write plots.draw(frame.collect())")
    if hasattr(result, "__arrow_c_stream__"):
        return pa.table(result)
    if hasattr(result, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(result)])
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes, Mapping)):
        raise _cannot_be_drawn(result)
    return _table_of_rows([_to_dict(row) for row in result])


def _cannot_be_drawn(given: Any) -> FanlightError:
    return FanlightError(
        f"{describe_type(given)} cannot be drawn: give the DataFrame that agg() returned, "
        "its Arrow table, its pandas or Polars DataFrame, or its rows"
    )


def _table_of_rows(rows: list[dict[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        columns = {str(name): pa.array([row.get(name) for row in rows]) for name in names}
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
        raise FanlightError(
            f"these rows make no table, since the values of a column differ in type ({error}): "
            "give the Arrow table or the DataFrame that they come from"
        ) from error
    return pa.table(columns)


def _rows_of_pandas(given: Any) -> list[dict[str, Any]]:
    """The rows of a pandas DataFrame; missing values are None."""
    columns = [
        given[name].astype(object).where(given[name].notna(), None).tolist()
        for name in given.columns
    ]
    names = [str(name) for name in given.columns]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return [_to_dict(row) for row in rows]


def _to_dict(row: Any) -> dict[str, Any]:
    if hasattr(row, "asDict") and not is_column(row):
        row = row.asDict(recursive=True)
    if not isinstance(row, Mapping):
        raise FanlightError(f"a row is {describe_type(row)}: give Rows or dicts")
    return {
        str(name): value.asDict() if hasattr(value, "asDict") else value
        for name, value in row.items()
    }
