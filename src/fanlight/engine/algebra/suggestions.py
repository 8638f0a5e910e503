"""What to write instead of an aggregate that does not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.spec.errors import MissingError, guess, list_some

_IN_ORDER = "the order of rows changes what Spark makes of it"
_TOP = (_IN_ORDER, "top_k({x}, 10)")
_DIGEST = ("Spark has no such sketch", "kll_sketch_agg_double({x})")
# Aggregates that fanlight has not, why that is, if it is not plain, and how to get the same or most
# of it. ``{x}`` is the column and ``{shares}`` are some shares.
OTHERWISE = {
    **dict.fromkeys(("sum_distinct", "sumdistinct"), ("", "sum({x}, distinct=True)")),
    "percentile_cont": ("", "percentile({x}, 0.5)"),
    "histogram_numeric": (_IN_ORDER, "approx_percentile({x}, {shares})"),
    **dict.fromkeys(
        ("listagg_distinct", "string_agg_distinct"), ("", "listagg({x}, distinct=True)")
    ),
    "concat": ("concat joins the texts of one row", "listagg({x}, ', ')"),
    "count_min_sketch": ("Spark cannot unite two of these sketches", "top_k({x}, 10)"),
    **dict.fromkeys(("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine"), _TOP),
    **dict.fromkeys(("tdigest", "t_digest", "tdigest_agg"), _DIGEST),
}
# What pandas, Polars, SQL and Spark call aggregates that have another name here, or none of their
# own, without underscores.
CALLED = {
    "all": "bool_and({x})",
    "approxnunique": "approx_count_distinct({x})",
    **dict.fromkeys(("argmax", "idxmax"), "max_by('id', {x})"),
    **dict.fromkeys(("argmin", "idxmin"), "min_by('id', {x})"),
    **dict.fromkeys(("total", "rollingsum"), "sum({x})"),
    **dict.fromkeys(("rollingmean", "movingaverage"), "avg({x})"),
    "groupconcat": "listagg({x})",
    **dict.fromkeys(("implode", "agglist", "tolist", "list", "groups"), "collect_list({x})"),
    **dict.fromkeys(("unique", "toset", "set"), "collect_set({x})"),
    "nthvalue": "nth_youngest({x}, 2)",
    **dict.fromkeys(("len", "length", "size", "rows", "rowcount", "countstar", "n"), "count()"),
    **dict.fromkeys(("nlargest", "topn", "valuecounts"), "top_k({x}, 10)"),
    **dict.fromkeys(("nullcount", "isnull", "countnull"), "count_if('x is null')"),
    **dict.fromkeys(("nunique", "uniquecount", "distinctcount", "distinct"), "count_distinct({x})"),
    **dict.fromkeys(("ptp", "range", "spread"), "max({x}) - agg.min({x})"),
    **dict.fromkeys(("quantile", "percentiles"), "percentile({x}, 0.5)"),
    "ohlc": "first({x}), agg.max({x}), agg.min({x}), agg.last({x})",
    "var": "var_samp({x})",
    "stdev": "stddev({x})",
}
_SO_FAR = "fl.over(df, fl.Trailing(), time='ts', by='key').attach"
_BEFORE = "fl.over(df, fl.Trailing(fl.Rows(1), include_self=False), time='ts', by='key').attach"
_ALONE = ", where no two rows of a key have one time"
_CHANGE = f"{_BEFORE}(before=agg.last('x')).withColumn"
_OF_SPARK = ".over(Window.partitionBy('key').orderBy('ts')), which Spark has for a batch"
# What others compute for each row, and what to write instead, without underscores.
OF_ROWS = {
    **dict.fromkeys(("cumsum", "cumulativesum", "runningsum"), f"{_SO_FAR}(agg.sum('x'))"),
    "cummax": f"{_SO_FAR}(agg.max('x'))",
    "cummin": f"{_SO_FAR}(agg.min('x'))",
    **dict.fromkeys(("rownumber", "cumcount"), f"{_SO_FAR}(agg.count()){_ALONE}"),
    **dict.fromkeys(("lag", "shift"), f"{_BEFORE}(agg.last('x')){_ALONE}"),
    "diff": f"{_CHANGE}('change', F.expr('x - before')){_ALONE}",
    "pctchange": f"{_CHANGE}('change', F.expr('x / before - 1')){_ALONE}",
    "lead": f"F.lead('x'){_OF_SPARK}",
    "ntile": f"F.ntile(4){_OF_SPARK}",
    **{name.replace("_", ""): f"F.{name}(){_OF_SPARK}"
       for name in ("rank", "dense_rank", "percent_rank", "cume_dist")},
    **dict.fromkeys(
        ("ewm", "ewma", "ewmmean", "ema"),
        "fl.over(df, fl.MultiGranular(['1 minute', '1 hour'], ['1 minute', '1 minute'], "
        "weights=fl.decay('10 minutes')), time='ts', by='key').agg(agg.avg('x'))",
    ),
}  # fmt: skip
# Aggregates that Spark alone has, and what to write instead.
_MERGED = (
    "bitmap_and_agg", "bitmap_construct_agg", "bitmap_or_agg", "collect_union", "hll_union_agg",
    "theta_intersection_agg", "theta_union_agg",
    *(f"kll_merge_agg_{kind}" for kind in ("bigint", "double", "float")),
    *(f"tuple_{what}_agg_{kind}" for what in ("intersection", "sketch", "union")
      for kind in ("double", "integer")),
)  # fmt: skip
OF_SPARK = {
    **{name: f"F.{name}(…), which Spark computes in windows over time" for name in _MERGED},
    **{name: f"df.cube('key').agg(F.{name}(…)), as windows have no subtotals"
       for name in ("grouping", "grouping_id")},
}  # fmt: skip
# Functions of Spark that mean something else than the aggregate here with a similar name.
UNLIKE = {
    "aggregate", "array_distinct", "array_insert", "array_intersect", "arrays_overlap", "bin",
    "bit_count", "bit_get", "bitmap_count", "broadcast", "cast",
    "coalesce", "collate", "column", "concat_ws", "contains", "conv", "cot",
    "counter_diff", "curdate", "current_time", "decode", "encode", "greatest", "instr",
    "last_day", "lcase", "least", "lit", "locate", "make_interval",
    "map_concat", "map_from_entries", "map_values", "minute", "month", "negate", "nth_value",
    "overlay", "overload", "pmod", "radians", "reduce", "regexp_count",
    "regexp_instr", "repeat", "round", "signum", "sin", "struct", "user",
    "tan", "transform_values", "translate", "try_add", "try_mod", "try_parse_url",
    "try_subtract", "try_to_number", "ucase", "vector_avg", "vector_sum",
}  # fmt: skip
# Spark's functions of sketches, whose names are all alike.
OF_SKETCHES = ("hll_", "kll_", "theta_", "tuple_")


def suggest_aggregate(name: str, known: Sequence[str]) -> str | None:
    """The aggregate among ``known`` that a name probably means; None if no name is like it."""
    plain = name.casefold()
    joined = {one.replace("_", ""): one for one in known if "_" in one}
    also = joined | AGGREGATES.names
    if plain in also or name in known:
        return also.get(plain, name)
    if plain in {*OTHERWISE, *OF_SPARK, *UNLIKE} or plain.replace("_", "") in OF_ROWS:
        return None
    near = 0.92 if plain.startswith(OF_SKETCHES) else 0.6
    usual = [one for one in known if one not in AGGREGATES.names]
    return guess(name, usual, near) or None


def advise_otherwise(name: str) -> tuple[str, str] | None:
    """Explain why an aggregate does not exist, if there is a reason, and what to write instead.

    >>> advise_otherwise("count_min_sketch")
    ('Spark cannot unite two of these sketches', 'agg.top_k(…, 10)')
    """
    if name.casefold() not in OTHERWISE:
        return None
    why, call = OTHERWISE[name.casefold()]
    return why, f"agg.{fill(call, x='…', shares='[0.25, 0.5, 0.75]')}"


def advise_called(name: str) -> str:
    """The Python for an aggregate that others call by a name, or an empty text.

    >>> advise_called("n_unique"), advise_called("range"), advise_called("price")
    ("agg.count_distinct('x')", "agg.max('x') - agg.min('x')", '')
    """
    call = CALLED.get(name.replace("_", "").casefold())
    return f"agg.{fill(call, x=repr('x'))}" if call else ""


def advise_of_rows(name: str) -> str:
    """The Python for what others compute for each row by a name, or an empty text.

    >>> advise_of_rows("row_number")
    "fl.over(df, fl.Trailing(), time='ts', by='key').attach(agg.count()), \
where no two rows of a key have one time"
    """
    return OF_ROWS.get(name.replace("_", "").casefold(), "")


def make_getattr(known: Sequence[str], parts: Sequence[str]) -> Callable[[str], NoReturn]:
    """The ``__getattr__`` of the module ``fanlight.agg``; ``parts``: names of ``algebra``."""

    def raise_missing(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in parts:
            raise MissingError(
                f"agg.{name} is not an aggregate but a part of your own; "
                f"write fanlight.algebra.{name}"
            )
        meant = suggest_aggregate(name, known)
        write = f"write agg.{meant}" if meant else f"choose one of {list_some(known)}"
        why, otherwise = advise_otherwise(name) or ("", advise_called(name))
        each = advise_of_rows(name) or OF_SPARK.get(name.casefold())
        raise MissingError(
            f"agg.{name} is not an aggregate of fanlight{why and f', as {why}'}; "
            + (f"write {each}" if each else
               f"{f'write {otherwise}' if otherwise else write}, or make your own of "
               "fanlight.algebra.Aggregate(…)")
        )  # fmt: skip

    return raise_missing
