"""DuckDB as a foreign oracle: it judges the oracle, and one run of the library."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest

import fanlight as fl
from fanlight.reference import sliding, windows
from tests import events
from tests.compare import same, tolerance
from tests.dataframes import collected, frame, over, table
from tests.events import MINUTE

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
    "text": (("concat", "s", "-"), "string_agg(s, '-' order by t, seq, s)"),
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
FINITE = [
    row for row in events.packed(SPEC, 20)
    if row["v"] is None or abs(row["v"]) < 1e12
]  # fmt: skip


def windows_by_range_join(rows, spec):
    """The windows as a range join of the rows with a series of starts."""
    con = duckdb.connect()
    con.register("given", table(rows))
    length, step, offset = (int(part.value) for part in (spec.range, spec.slide, spec.offset))
    con.execute(
        f"""
        create table joined as
        with e as (select *, ts as t from given where ts is not null),
        near as (
            select distinct "case", k, unnest(generate_series(
                cast(floor((t - {offset} - {length}) / {step}) as bigint),
                cast(floor((t - {offset}) / {step}) as bigint) + 1)) as m
            from e),
        w as (select "case", k, {offset} + m * {step} as start,
                     {offset} + m * {step} + {length} as stop from near)
        select e.*, w.start, w.stop, (e.t - w.start) / 1e6 as since
        from w join e on e."case" = w."case" and e.k is not distinct from w.k
                     and e.t >= w.start and e.t < w.stop
        """
    )
    return con


def duckdb_rows(rows, spec):
    con = windows_by_range_join(rows, spec)
    columns = ", ".join(f"{text} as {name}" for name, (_, text) in QUESTIONS.items())
    found = con.execute(
        f"""select "case", k, start, stop, {columns} from joined group by 1, 2, 3, 4"""
    )
    answers = {row[:4]: dict(zip(QUESTIONS, row[4:], strict=True)) for row in found.fetchall()}
    modes = con.execute(
        """select "case", k, start, stop, first(n order by c desc, n) from
           (select "case", k, start, stop, n, count(*) as c from joined
            where n is not null group by all) group by 1, 2, 3, 4"""
    )
    for row in modes.fetchall():
        answers[row[:4]]["mode"] = row[4]
    return answers


def differences(got, rows, spec):
    """Where DuckDB and a result are not of one mind."""
    expected = duckdb_rows(rows, spec)
    where = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
    values = [
        name for request in REQUESTS.values() for name in request[1:] if isinstance(name, str)
    ]
    members = {
        (*window.key, window.start, window.end): window
        for window in windows(rows, spec, values=[v for v in values if v in rows[0]], **where)
    }
    assert len(got) == len(expected)
    wrong = []
    for row in got:
        place = (row["case"], row["k"], row["window"]["start"], row["window"]["end"])
        answer = expected[place]
        for name, request in REQUESTS.items():
            theirs = answer.get(name)
            theirs = tuple(theirs) if name == "fit" and theirs is not None else theirs
            slack = tolerance(request, members[place], spec, "ts")
            times = [each["ts"] for each in members[place].rows if each["v"] is not None]
            if name == "fit" and times and max(times) - min(times) < 1_000_000:
                continue  # DuckDB's sums lose instants as close as that
            if not same(row[name], theirs, slack):
                wrong.append(f"{name} at {place}: {row[name]!r}, DuckDB says {theirs!r}")
    return wrong


def test_the_oracle_agrees_with_duckdb():
    got = sliding(FINITE, SPEC, time="ts", by=["case", "k"], tiebreak=["seq"], aggregates=REQUESTS)
    assert len(got) > 100
    assert differences(got, FINITE, SPEC) == []


def test_the_oracle_s_tolerance_can_be_missed():
    got = sliding(FINITE, SPEC, time="ts", by=["case", "k"], tiebreak=["seq"], aggregates=REQUESTS)
    broken = next(row for row in got if row["sum_v"])
    broken["sum_v"] *= 1 + 1e-6
    assert len(differences(got, FINITE, SPEC)) == 1


def test_the_library_agrees_with_duckdb(classic):
    got = collected(over(frame(classic, FINITE), SPEC, REQUESTS))
    assert differences(got, FINITE, SPEC) == []


@pytest.mark.parametrize("size", [1, 3])
def test_windows_over_rows_are_duckdb_s_row_frames(classic, size):
    """Slide one row: each window with all its rows is an OVER (ROWS BETWEEN …)."""
    spec = fl.Sliding(fl.rows(size), fl.rows(1))
    rows = [{**row, "seq": at} for at, row in enumerate(FINITE) if row["ts"] is not None]
    con = duckdb.connect()
    con.register("given", table(rows))
    expected = con.execute(
        f"""select "case", k, row_number() over here as stop, sum(n) over (here
            rows between {size - 1} preceding and current row)
            from given window here as (partition by "case", k order by ts, seq)"""
    ).fetchall()
    got = collected(over(frame(classic, rows), spec, {"s": ("sum", "n")}))
    lasts = {}
    for case, k, stop, _ in expected:
        lasts[case, k] = max(stop, lasts.get((case, k), 0))
    found = {
        (row["case"], row["k"], row["window"]["end"]): row["s"]
        for row in got
        if row["window"]["end"] <= lasts[row["case"], row["k"]]
    }
    assert found == {
        (case, k, stop): None if s is None else int(s) for case, k, stop, s in expected
    }


@pytest.mark.parametrize("length", [MINUTE, 4 * MINUTE])
def test_windows_at_every_row_are_duckdb_s_range_frames(classic, length):
    """Li et al., Query 2: the window operator of SQL-99, peers included."""
    spec = fl.Sliding(f"{length} microseconds", fl.rows(1))
    rows = [row for row in FINITE if row["ts"] is not None]
    con = duckdb.connect()
    con.register("given", table(rows))
    expected = con.execute(
        f"""select distinct "case", k, ts + 1, count(*) over here, max(n) over here from given
            window here as (partition by "case", k order by ts
            range between {length - 1} preceding and current row)"""
    ).fetchall()
    got = collected(over(frame(classic, rows), spec, {"c": ("count",), "m": ("max", "n")}))
    found = {(r["case"], r["k"], r["window"]["end"], r["c"], r["m"]) for r in got}
    assert len(found) == len(got)
    assert found == set(expected)


def test_fractions_are_duckdb_s_decimals():
    """The boundaries of decimal windows are the doubles nearest to the decimals."""
    con = duckdb.connect()
    for m in range(-40, 40):
        told = con.execute("select cast(cast(? as decimal(18, 2)) / 10 as double)", [m]).fetchone()
        assert told == (float(Fraction(m, 10)),)
