"""Tables of results as they are stored: whether they have the columns of a repair."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from fanlight.engine.arrow import is_of_spark
from fanlight.engine.plan.stored_pieces import end_of
from fanlight.engine.spark.sql import type_text, types_in
from fanlight.engine.spec.errors import refuse

WINDOW = "window"
START = f"{WINDOW}_start"
ENDS = {START: "start", end_of(START): "end"}  # as fl.upsert writes a window


def check_results(results: Any, found: DataFrame, write: str) -> None:
    """Refuse a table of results with other columns or types than those of the repair.

    ``write`` says how the table is made.
    """
    if not is_of_spark(results):
        raise refuse(
            f"results={results!r}",
            "is not a DataFrame",
            "pass the table as it is stored, such as spark.read.parquet(…)",
        )
    wanted, stored = types_in(found), types_in(results)
    window = found.schema[WINDOW].dataType
    if WINDOW not in stored and isinstance(window, StructType):
        del wanted[WINDOW]
        wanted |= {name: type_text(window[end].dataType) for name, end in ENDS.items()}
    for name, kind in wanted.items():
        if name not in stored:
            raise refuse("results", f"lacks the column {name!r} of the repaired windows", write)
        if stored[name] != kind:
            why = f"has {name!r} of type {stored[name]}, the repaired windows of {kind}"
            raise refuse("results", why, write)
    others = [name for name in stored if name not in wanted]
    if others:
        why = f"has the column {others[0]!r}, which the repair would leave as it was"
        raise refuse(
            "results", why, f"{write}; drop a column that is not a result: results.drop(…)"
        )
