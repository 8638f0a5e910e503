"""The aggregates: ``from fanlight import agg``.

Names and null rules are those of ``pyspark.sql.functions``; columns are given by name or as Column.
A new aggregate is an :class:`Aggregate` of named monoids.
"""

from fanlight.algebra.aggregate import Aggregate, Call
from fanlight.algebra.collections import Collect, Extremes, Values
from fanlight.algebra.holistic import (
    approx_count_distinct,
    approx_percentile,
    collect_list,
    concat,
    count_distinct,
    heavy_hitters,
    median,
    mode,
    percentile,
)
from fanlight.algebra.library import (
    avg,
    count,
    first,
    last,
    linear_fit,
    max,
    max_by,
    max_count,
    mean,
    min,
    min_by,
    min_count,
    nth_smallest,
    nth_youngest,
    stddev_pop,
    stddev_samp,
    sum,
    var_pop,
    var_samp,
)
from fanlight.algebra.monoids import Count, ExtremeCount, Max, Min, Moments, Monoid, Sum

__all__ = [
    "Aggregate", "Call", "Collect", "Count", "ExtremeCount", "Extremes", "Max", "Min", "Moments",
    "Monoid", "Sum", "Values",
    "approx_count_distinct", "approx_percentile", "avg", "collect_list", "concat", "count",
    "count_distinct", "first", "heavy_hitters", "last", "linear_fit", "max", "max_by", "max_count",
    "mean", "median", "min", "min_by", "min_count", "mode", "nth_smallest", "nth_youngest",
    "percentile", "stddev_pop", "stddev_samp", "sum", "var_pop", "var_samp",
]  # fmt: skip
