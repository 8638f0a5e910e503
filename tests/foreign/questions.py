"""What is asked of DuckDB, of our oracle, and through it of the library."""

from __future__ import annotations

import fanlight as fl
from tests.law.ask import asks
from tests.law.data import derived, points, where

# Our request, and DuckDB's words for the same. Its NaN and infinities follow other rules: left out.
QUESTIONS = {
    "rows": (("count",), "count(*)"),
    "n_v": (("count", "v"), "count(v)"),
    "sum_v": (("sum", "v"), "fsum(v)"),
    "sum_n": (("sum", "n"), "cast(sum(n) as bigint)"),
    "sum_d": (("sum", "d"), "sum(d)"),
    "avg_n": (("avg", "n"), "avg(n)"),
    "min_s": (("min", "s"), "min(s)"),
    "max_v": (("max", "v"), "max(v)"),
    "var_samp": (("var_samp", "v"), "var_samp(v)"),
    "stddev_pop": (("stddev_pop", "v"), "stddev_pop(v)"),
    "stddev_samp": (("stddev_samp", "n"), "stddev_samp(n)"),
    "min_by": (
        ("min_by", "s", "n"),
        "first(s order by n, t, seq, s nulls first) filter (n is not null)",
    ),
    "max_by": (
        ("max_by", "n", "v"),
        "first(n order by v desc, t desc, seq desc, n desc nulls last) filter (v is not null)",
    ),
    "first": (("first", "v"), "first(v order by t, seq, v nulls first)"),
    "last": (("last", "s"), "first(s order by t desc, seq desc, s desc nulls last)"),
    "distinct": (("count_distinct", "n"), "count(distinct n)"),
    "list": (
        ("collect_list", "n"),
        "coalesce(list(n order by t, seq, n) filter (n is not null), [])",
    ),
    "text": (("listagg", "s", "-"), "string_agg(s, '-' order by t, seq, s)"),
    "median": (("median", "n"), "quantile_cont(cast(n as double), 0.5)"),
    "p90": (("percentile", "v", 0.9), "quantile_cont(v, 0.9)"),
    "p25_disc": (("approx_percentile", "v", 0.25), "quantile_disc(v, 0.25)"),
    "mode": (("mode", "n"), "null"),  # asked apart: DuckDB's takes any of the most frequent
    "max_count": (("max_count", "v"), "len(list_filter(list(v), lambda x: x = list_max(list(v))))"),
    "third": (
        ("nth_smallest", "n", 3),
        "list_extract(list_sort(list(n) filter (n is not null)), 3)",
    ),
    "second": (
        ("nth_youngest", "n", 2),
        "list_extract(list(n order by t desc, seq desc, n desc) filter (n is not null), 2)",
    ),
    "fit": (
        ("linear_fit", "v"),
        """case when count(distinct t) filter (v is not null) > 1 then
           [regr_slope(v, since), regr_intercept(v, since),
            case when count(distinct v) = 1 then 1.0 else regr_r2(v, since) end] end""",
    ),
}  # fmt: skip
REQUESTS = {name: request for name, (request, _) in QUESTIONS.items()}
SPEC = fl.Sliding("9 minutes", "6 minutes", offset="1 minute")
FINITE = where(points(SPEC, 20), "finite", lambda row: row["v"] is None or abs(row["v"]) < 1e12)
TIMED = where(FINITE, "timed", lambda row: row["ts"] is not None)
NUMBERED = derived(
    TIMED, "numbered", lambda rows: [{**row, "seq": at} for at, row in enumerate(rows)]
)
BY_ROWS = {size: fl.Sliding(fl.Rows(size), fl.Rows(1)) for size in (1, 3)}
AT_ROWS = {length: fl.Sliding(f"{length} minutes", fl.Rows(1)) for length in (1, 4)}
SUM = {"s": ("sum", "n")}
COUNT = {"c": ("count",), "m": ("max", "n")}

ASKED = (
    *asks("sliding", "as DuckDB", [SPEC], FINITE, REQUESTS),
    *asks("sliding", "as DuckDB", BY_ROWS.values(), NUMBERED, SUM),
    *asks("sliding", "as DuckDB", AT_ROWS.values(), TIMED, COUNT),
)
