"""The PLQ: rows to one partial a key and slice, each row touched once."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.spark.columns import grouped
from fanlight.spark.fields import Field


def lifted(
    rows: DataFrame, group: Sequence[str], fields: Sequence[Field], origin: str = ""
) -> DataFrame:
    """Partials of ``rows`` by the columns ``group``: ``f0``, ``f1``, … beside them."""
    if any(field.monoid.by_value for field in fields):
        return _counted(rows, group, fields, origin)
    texts = [(field.name, field.monoid.lift(field.value, origin=origin)) for field in fields]
    return grouped(rows, group, texts)


def _counted(
    rows: DataFrame, group: Sequence[str], fields: Sequence[Field], origin: str
) -> DataFrame:
    """Rows are first counted by value (the paper's hash table a pane), then lifted as pairs.

    With several counted columns each row is tagged once for each, as Spark does for several
    distinct aggregates; the other fields are lifted from the rows of tag 0 and merged.
    """
    counted = list(dict.fromkeys(f.value for f in fields if f.monoid.by_value))
    plain = [f for f in fields if not f.monoid.by_value]
    lifting = list(dict.fromkeys(f.value for f in plain))
    if len(counted) > 1:
        tags = ", ".join(str(tag) for tag in range(len(counted)))
        rows = rows.selectExpr("*", f"explode(array({tags})) as tag")
        values = [f"if(tag = {tag}, {v}, null) as c{tag}" for tag, v in enumerate(counted)]
        values += [f"if(tag = 0, {v}, null) as {v}" for v in lifting]
    else:
        rows = rows.selectExpr("*", "0 as tag")
        values = [f"{counted[0]} as c0", *lifting]
    rows = rows.selectExpr(*group, "tag", *values)
    pairs = [f"c{tag}" for tag in range(len(counted))]
    first = [("n", "count(1)")]
    first += [(f.name, f.monoid.lift(f.value, origin=origin)) for f in plain]
    by_value = grouped(rows, [*group, "tag", *pairs], first)
    second = []
    for field in fields:
        if field.monoid.by_value:
            tag = counted.index(field.value)
            own = f"if(tag = {tag}, c{tag}, null)"
            second.append((field.name, field.monoid.lift(own, n="n")))
        else:
            second.append((field.name, field.monoid.merge(field.name)))
    return grouped(by_value, group, second)
