"""Trailing windows in chunks: what the definition says, however rows are divided among tasks."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.ordered import trailing_chunks
from tests.helpers.aggregates import EVERYTHING
from tests.helpers.dataframes import calls, collected, frame
from tests.helpers.events import DAY, MINUTE
from tests.helpers.refusals import refused
from tests.helpers.sparks import configured
from tests.law.data import minute
from tests.law.kinds.trailing import BY_CALENDAR, SPANS
from tests.oracle.trailing import features, seen_from

NAMES = ("rows", "n_v", "sum_n", "max_v", "min_s", "list_v", "median", "first")
REQUESTS = {name: EVERYTHING[name] for name in NAMES}
KEYS = ("case", "k")
LONG = fl.Trailing("3000 days")
SHORT = fl.Trailing("1 microsecond", closed="both")
SEVERAL = {str(at): spec for at, spec in enumerate((*SPANS, SHORT))}
MONTHS = {str(at): spec for at, spec in enumerate(BY_CALENDAR)}
YEAR_9999 = 253_370_764_800_000_000


def some(at, **more):
    """A row whose value is null or not a number now and then."""
    value = None if at % 9 == 4 else float("nan") if at % 13 == 5 else float(at // 4 % 4)
    return minute(0, n=at % 5, s=f"{at % 4}", v=value, seq=at, **more)


def rows_at(times):
    return [
        {**some(place), "k": k, "ts": at} for k in ("a", None) for place, at in enumerate(times)
    ]


# Rows of one time, gaps of any length, and times about 1970.
ROWS = [
    *rows_at([None, None, YEAR_9999, -(62 * DAY)]),
    *rows_at([(at // 3 * 2 + (at % 7 == 0) * 3) * MINUTE // 2 for at in range(-20, 30)]),
]
OF_MONTHS = rows_at([at * 11 * DAY + (at % 3) * 1_800_000_000 for at in range(-9, 9)])


def wanted(rows, specs, by, asking=None):
    """What the oracle says of each row that asks, by its number and key."""
    names = sorted({column for asked in REQUESTS.values() for column in asked[1:2]})
    how = {"time": "ts", "by": by, "tiebreak": ("seq",), "values": names}
    made = []
    for row in rows if asking is None else asking:
        answer = {"k": row["k"], "seq": row["seq"], "at": row["ts"]}
        for label, spec in specs.items():
            found = dict.fromkeys(REQUESTS)
            if row["ts"] is not None:
                found = features(seen_from(row, rows, spec, **how), REQUESTS, "ts", ("seq",))
            answer |= {f"{name}_{label}": value for name, value in found.items()}
        made.append(answer)
    return in_order(made)


def answered(found, specs):
    results = [f"{name}_{label}" for name in REQUESTS for label in specs]
    found = found.selectExpr("k", "seq", "unix_micros(ts) as at", *(f"`{n}`" for n in results))
    return in_order(collected(found))


def in_order(rows):
    return sorted(repr(sorted(row.items())) for row in rows)


def windows_of(df, specs, by, **more):
    windows = fl.over(df, specs, time="ts", by=list(by), tiebreak="seq", **more)
    return windows.using("chunks")


@pytest.fixture(params=[1, 7])
def tasks(classic, request):
    with (
        configured(classic, "spark.sql.shuffle.partitions", request.param),
        configured(classic, "spark.sql.adaptive.enabled", "false"),
    ):
        yield request.param


@pytest.mark.usefixtures("tasks")
@pytest.mark.parametrize("by", [KEYS, ()], ids=["by keys", "without keys"])
@pytest.mark.parametrize(("specs", "rows"), [
    (SEVERAL, ROWS),
    *(({"one": one}, ROWS) for one in (SPANS[0], SPANS[5], SHORT, LONG)),
    (MONTHS, OF_MONTHS),
], ids=["several", "a minute", "not itself", "an instant", "years", "months"])  # fmt: skip
def test_each_row_is_given_what_it_is_among_all_rows(classic, specs, rows, by):
    found = windows_of(frame(classic, rows), specs, by).attach(**calls(REQUESTS))
    assert answered(found, specs) == wanted(rows, specs, by)


@pytest.mark.parametrize("times", [[], [None, None], [0], [YEAR_9999, None]])
def test_few_rows_or_none(classic, times):
    rows = rows_at(times)
    found = windows_of(frame(classic, rows), SEVERAL, KEYS).attach(**calls(REQUESTS))
    assert answered(found, SEVERAL) == wanted(rows, SEVERAL, KEYS)


@pytest.mark.usefixtures("tasks")
@pytest.mark.parametrize("by", [KEYS, ()], ids=["by keys", "without keys"])
def test_rows_of_another_dataframe_ask(classic, by):
    asking = rows_at([None, *(at * 77_000_001 for at in range(-9, 30)), YEAR_9999 + MINUTE])
    for specs, rows in ((SEVERAL, ROWS), (MONTHS, OF_MONTHS)):
        windows = windows_of(frame(classic, rows), specs, by)
        found = windows.at(frame(classic, asking), time="ts").attach(**calls(REQUESTS))
        assert answered(found, specs) == wanted(rows, specs, by, asking)


def test_columns_may_have_any_name(classic):
    df = frame(classic, ROWS).selectExpr("k as `a.b`", "ts as end", "n as chunk", "n as copied")
    windows = fl.over(df, fl.Trailing("2 minutes"), time="end", by="a.b")
    asked = {"own": agg.sum("copied"), "asked": agg.max("end")}
    for asking in (windows, windows.at(df, time="end")):
        pairs = [asking.using(way).attach(**asked) for way in ("chunks", "arrow")]
        assert pairs[0].columns == [*df.columns, *asked]
        found, other = (sorted(map(repr, one.collect())) for one in pairs)
        assert found == other


def chunks_of(classic, times, reach):
    """How many rows are in each chunk, and how many of them are copies."""
    rows = classic.sql(f"select 1 as k, {times} as t, id as s from range(20000)")
    found = trailing_chunks.copy_into_chunks(rows, ["k"], reach, ["s"])
    assert found.columns == ["k", "chunk", "t", "s", "copied"]
    counts = found.groupBy("chunk").agg({"t": "count"}).collect()
    copies = found.where("copied").count()
    assert found.where("copied and s is not null").count() == 0
    return [count for _, count in counts], copies


@pytest.mark.parametrize("times", [
    "id * 1000L",
    "if(id % 100 = 0, 253370764800000000L, id * 1000L)",  # in the year 9999
    "if(id % 5 = 0, -9000000000000000L, id * 1000L)",
    "if(id % 3 = 0, 0L, id * 1000L)",
    "if(id < 10000, id * 1000L, 1700000000000000L + id * 1000L)",
    "if(id % 50 = 0, null, id * 1000L)",
])  # fmt: skip
def test_rows_are_divided_evenly_and_few_are_copied(classic, times):
    """Though some times are far from the others, or many rows are of one time."""
    with configured(classic, "spark.sql.shuffle.partitions", 20):
        counts, copies = chunks_of(classic, times, 100_000)
        assert max(counts) <= max(20_000 / 20 * 2, 7_800)
        assert len(counts) >= 12
        assert copies < 20_000 * 0.2


def test_no_more_than_about_half_of_the_rows_are_copied(classic):
    with configured(classic, "spark.sql.shuffle.partitions", 20):
        counts, copies = chunks_of(classic, "id * 1000L", 3_000_000)
        assert len(counts) == 4
        assert copies < 20_000 * 0.55


def test_of_few_rows_no_time_may_be_looked_at(classic):
    rows = classic.sql("select 1 as k, 10 * id as t from range(50)")
    found = trailing_chunks.copy_into_chunks(rows, ["k"], 20, [])
    assert found.select("chunk").distinct().count() == 500 // 40 + 1


@pytest.mark.parametrize("reach", [0, 2**62 - 1])
def test_times_at_the_ends_of_what_can_be_placed(classic, reach):
    ends = f"if(id % 2 = 0, {2**62 - 1}L, {1 - 2**62}L)"
    rows = classic.sql(f"select {ends} as t from range(4)")
    found = trailing_chunks.copy_into_chunks(rows, [], reach, [])
    assert found.where("not copied").count() == 4


def test_what_cannot_be_divided_is_told(classic):
    df = frame(classic, ROWS)

    def using(spec, **more):
        return fl.over(df, spec, time="ts", by="k", **more).using("chunks")

    for spec, words in [
        (fl.Trailing(), "reaches back to the first row of a key"),
        ({"a": fl.Trailing("1 hour"), "b": fl.Trailing(include_self=False)}, "the first row"),
        (fl.Trailing(fl.Rows(3)), "may be any time before it"),
    ]:
        for windows in (using(spec), using(spec).at(df, time="ts")):
            refused(
                lambda windows=windows: windows.attach(agg.count()),
                "using('chunks') cannot compute this", words, "use 'auto'",
            )  # fmt: skip
    hour = fl.Trailing("1 hour")
    refused(lambda: using(hour, forget_after="1 day").attach(agg.count()), "begins anew")
    told = using(hour).explain(agg.count(), verbose=True)
    assert "time is cut into chunks" in told
    assert "chunks, as requested; 'auto' would choose" in told
    assert "time is cut" not in using(hour).using("auto").explain(agg.count())
