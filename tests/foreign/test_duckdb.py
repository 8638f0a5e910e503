"""DuckDB as a foreign oracle: it judges ours, which judges the library over the same rows.

The law asks the library what is asked here: see ``tests.foreign.questions``.
"""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest

from tests.foreign.questions import (
    AT_ROWS,
    BY_ROWS,
    COUNT,
    FINITE,
    NUMBERED,
    QUESTIONS,
    REQUESTS,
    SPEC,
    SUM,
    TIMED,
)
from tests.helpers.compare import same, tolerance
from tests.helpers.dataframes import table
from tests.oracle import sliding, windows

PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}


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
    values = [
        name for request in REQUESTS.values() for name in request[1:] if isinstance(name, str)
    ]
    members = {
        (*window.key, window.start, window.end): window
        for window in windows(rows, spec, values=[v for v in values if v in rows[0]], **PLACE)
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
    got = sliding(FINITE.rows, SPEC, aggregates=REQUESTS, **PLACE)
    assert len(got) > 100
    assert differences(got, FINITE.rows, SPEC) == []


def test_the_oracle_s_tolerance_can_be_missed():
    got = sliding(FINITE.rows, SPEC, aggregates=REQUESTS, **PLACE)
    broken = next(row for row in got if row["sum_v"])
    broken["sum_v"] *= 1 + 1e-6
    assert len(differences(got, FINITE.rows, SPEC)) == 1


@pytest.mark.parametrize("size", BY_ROWS)
def test_windows_over_rows_are_duckdb_s_row_frames(size):
    """Slide one row: each window with all its rows is an OVER (ROWS BETWEEN …)."""
    rows = NUMBERED.rows
    con = duckdb.connect()
    con.register("given", table(rows))
    expected = con.execute(
        f"""select "case", k, row_number() over here as stop, sum(n) over (here
            rows between {size - 1} preceding and current row)
            from given window here as (partition by "case", k order by ts, seq)"""
    ).fetchall()
    got = sliding(rows, BY_ROWS[size], aggregates=SUM, **PLACE)
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


@pytest.mark.parametrize("minutes", AT_ROWS)
def test_windows_at_every_row_are_duckdb_s_range_frames(minutes):
    """Li et al., Query 2: the window operator of SQL-99, peers included."""
    rows = TIMED.rows
    con = duckdb.connect()
    con.register("given", table(rows))
    expected = con.execute(
        f"""select distinct "case", k, ts + 1, count(*) over here, max(n) over here from given
            window here as (partition by "case", k order by ts
            range between {minutes * 60_000_000 - 1} preceding and current row)"""
    ).fetchall()
    got = sliding(rows, AT_ROWS[minutes], aggregates=COUNT, **PLACE)
    found = {(r["case"], r["k"], r["window"]["end"], r["c"], r["m"]) for r in got}
    assert len(found) == len(got)
    assert found == set(expected)


def test_fractions_are_duckdb_s_decimals():
    """The boundaries of decimal windows are the doubles nearest to the decimals."""
    con = duckdb.connect()
    for m in range(-40, 40):
        told = con.execute("select cast(cast(? as decimal(18, 2)) / 10 as double)", [m]).fetchone()
        assert told == (float(Fraction(m, 10)),)
