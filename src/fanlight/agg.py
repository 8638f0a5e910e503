"""The aggregates: ``from fanlight import agg``.

Names and null rules are those of ``pyspark.sql.functions``; columns are given by name or as Column.
A new aggregate is an :class:`Aggregate` of named monoids.
"""

# Written by `python -m scripts.aggregates` from the registry, so that type checkers see each name.

from fanlight.algebra.aggregate import Aggregate, Call
from fanlight.algebra.collections import Collect, Extremes, Values
from fanlight.algebra.library.distinct import (
    approx_count_distinct,
    count_distinct,
    heavy_hitters,
    mode,
)
from fanlight.algebra.library.extremes import (
    max,
    max_by,
    max_count,
    min,
    min_by,
    min_count,
    nth_smallest,
)
from fanlight.algebra.library.in_order import collect_list, concat, first, last, nth_youngest
from fanlight.algebra.library.lines import linear_fit
from fanlight.algebra.library.quantiles import approx_percentile, median, percentile
from fanlight.algebra.library.spread import stddev_pop, stddev_samp, var_pop, var_samp
from fanlight.algebra.library.totals import avg, count, mean, sum
from fanlight.algebra.monoids import Count, ExtremeCount, Max, Min, Moments, Monoid, Sum
from fanlight.algebra.unknown import refusing as _refusing

__all__ = [
    "Aggregate",
    "Call",
    "Collect",
    "Count",
    "ExtremeCount",
    "Extremes",
    "Max",
    "Min",
    "Moments",
    "Monoid",
    "Sum",
    "Values",
    "approx_count_distinct",
    "approx_percentile",
    "avg",
    "collect_list",
    "concat",
    "count",
    "count_distinct",
    "first",
    "heavy_hitters",
    "last",
    "linear_fit",
    "max",
    "max_by",
    "max_count",
    "mean",
    "median",
    "min",
    "min_by",
    "min_count",
    "mode",
    "nth_smallest",
    "nth_youngest",
    "percentile",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
]

# Out of the sight of type checkers, which know what there is.
globals()["__getattr__"] = _refusing(__all__)
