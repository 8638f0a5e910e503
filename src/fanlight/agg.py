"""The aggregates: ``from fanlight import agg``.

Names and null rules are those of ``pyspark.sql.functions``; columns are given by name or as Column.
A new aggregate is an :class:`Aggregate` of named monoids.
"""

# Written by `python -m scripts.aggregates` from the registry, so that type checkers see each name.

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.collections import Collect, Extremes, Values
from fanlight.engine.algebra.library.distinct import (
    approx_count_distinct,
    count_distinct,
    heavy_hitters,
    mode,
)
from fanlight.engine.algebra.library.extremes import (
    max,
    max_by,
    max_count,
    min,
    min_by,
    min_count,
    nth_smallest,
)
from fanlight.engine.algebra.library.in_order import collect_list, concat, first, last, nth_youngest
from fanlight.engine.algebra.library.lines import linear_fit
from fanlight.engine.algebra.library.quantiles import approx_percentile, median, percentile
from fanlight.engine.algebra.library.spread import stddev_pop, stddev_samp, var_pop, var_samp
from fanlight.engine.algebra.library.totals import avg, count, mean, sum
from fanlight.engine.algebra.monoids import Count, ExtremeCount, Max, Min, Moments, Monoid, Sum
from fanlight.engine.algebra.suggestions import make_getattr as _make_getattr

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
globals()["__getattr__"] = _make_getattr(__all__)
