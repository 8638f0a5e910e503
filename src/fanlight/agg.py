"""The aggregates: ``from fanlight import agg``.

Names and null rules are those of ``pyspark.sql.functions``; columns are given by name or as Column.
Parts of your own aggregates are in :mod:`fanlight.algebra`.
"""

# Written by `python -m scripts.aggregates` from the registry, so that type checkers see each name.

from fanlight.algebra import __all__ as _PARTS
from fanlight.engine.algebra.library.conditions import (
    bit_and,
    bit_or,
    bit_xor,
    bool_and,
    bool_or,
    count_if,
    product,
)
from fanlight.engine.algebra.library.distinct import (
    approx_count_distinct,
    collect_set,
    count_distinct,
    heavy_hitters,
    mode,
    top_k,
)
from fanlight.engine.algebra.library.endings import cause
from fanlight.engine.algebra.library.extremes import (
    max,
    max_by,
    max_count,
    min,
    min_by,
    min_count,
    nth_smallest,
)
from fanlight.engine.algebra.library.held import (
    duration,
    increase,
    integral,
    rate,
    time_weighted_avg,
)
from fanlight.engine.algebra.library.in_order import (
    any_value,
    collect_list,
    first,
    last,
    listagg,
    nth_youngest,
)
from fanlight.engine.algebra.library.lines import (
    corr,
    covar_pop,
    covar_samp,
    linear_fit,
    regr_avgx,
    regr_avgy,
    regr_count,
    regr_intercept,
    regr_r2,
    regr_slope,
    regr_sxx,
    regr_sxy,
    regr_syy,
)
from fanlight.engine.algebra.library.overlaps import covered, mean_running, overlap, peak
from fanlight.engine.algebra.library.quantiles import (
    approx_percentile,
    median,
    percentile,
    percentile_disc,
)
from fanlight.engine.algebra.library.sketches import (
    hll_sketch_agg,
    kll_sketch_agg_bigint,
    kll_sketch_agg_double,
    kll_sketch_agg_float,
    theta_sketch_agg,
)
from fanlight.engine.algebra.library.spread import (
    kurtosis,
    skewness,
    stddev_pop,
    stddev_samp,
    var_pop,
    var_samp,
)
from fanlight.engine.algebra.library.totals import avg, count, sum, try_avg, try_sum
from fanlight.engine.algebra.registry import AGGREGATES as _AGGREGATES
from fanlight.engine.algebra.registry import name_anew as _name_anew
from fanlight.engine.algebra.suggestions import make_getattr as _make_getattr

# Their other names in ``pyspark.sql.functions``.
array_agg = _name_anew(collect_list, "array_agg")
every = _name_anew(bool_and, "every")
first_value = _name_anew(first, "first_value")
last_value = _name_anew(last, "last_value")
mean = _name_anew(avg, "mean")
percentile_approx = _name_anew(approx_percentile, "percentile_approx")
some = _name_anew(bool_or, "some")
std = _name_anew(stddev_samp, "std")
stddev = _name_anew(stddev_samp, "stddev")
string_agg = _name_anew(listagg, "string_agg")
variance = _name_anew(var_samp, "variance")

__all__ = [
    "any_value",
    "approx_count_distinct",
    "approx_percentile",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "cause",
    "collect_list",
    "collect_set",
    "corr",
    "count",
    "count_distinct",
    "count_if",
    "covar_pop",
    "covar_samp",
    "covered",
    "duration",
    "every",
    "first",
    "first_value",
    "heavy_hitters",
    "hll_sketch_agg",
    "increase",
    "integral",
    "kll_sketch_agg_bigint",
    "kll_sketch_agg_double",
    "kll_sketch_agg_float",
    "kurtosis",
    "last",
    "last_value",
    "linear_fit",
    "listagg",
    "max",
    "max_by",
    "max_count",
    "mean",
    "mean_running",
    "median",
    "min",
    "min_by",
    "min_count",
    "mode",
    "nth_smallest",
    "nth_youngest",
    "overlap",
    "peak",
    "percentile",
    "percentile_approx",
    "percentile_disc",
    "product",
    "rate",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "skewness",
    "some",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "theta_sketch_agg",
    "time_weighted_avg",
    "top_k",
    "try_avg",
    "try_sum",
    "var_pop",
    "var_samp",
    "variance",
]

# Out of the sight of type checkers, which know what there is.
globals()["__getattr__"] = _make_getattr(__all__, _PARTS)
_AGGREGATES.complete_docstrings()
