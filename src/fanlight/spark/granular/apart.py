"""Each of several windows by itself: what a user would write without levels, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from fanlight.algebra.aggregate import Call
from fanlight.spark.granular.binding import Labelled, listed
from fanlight.spark.sql import quote


def apart(bound: Labelled, time: str | tuple[str, str], calls: Sequence[Call]) -> DataFrame:
    """The results of all queries, each read off the source by itself."""
    from fanlight.spark.over import over  # which knows this module

    keys = [quote(name) for name in bound.names]
    outputs = [quote(call.label) for call in calls]
    found = []
    for windows, label in zip(listed(bound.spec)[1], bound.labels, strict=True):
        one = over(bound.df, windows, time=time, by=list(bound.by), tiebreak=list(bound.tiebreak))
        texts = [*keys, "window", f"{label} as {bound.label}", *outputs]
        found.append(one.agg(*calls).selectExpr(*texts))
    return reduce(lambda a, b: a.unionAll(b), found)
