"""Late rows that are collected: in the result of every kind of windows, with all their columns.

Which rows they are, and which windows they missed, is one of the laws (tests/law/late.py).
"""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of, collected, frame
from tests.helpers.streams import finish, gather, gather_batches, source, stream_of
from tests.law.data import minute

SEEN = [minute(0, k="x", n=0), minute(1, k="y", n=1), minute(2, k=None, n=2)]
PASSED = [minute(30, k="x", n=3)]
LATE = [minute(3, k="x", n=4), minute(4, k=None, n=5), {**minute(0, n=6), "ts": None}]
END = [minute(90, k="x", n=7)]
ARRIVING, DELAY = [SEEN, PASSED, [], LATE, END], "5 minutes"
HOUR, LEVELS = (
    fl.Sliding("1 hour"),
    fl.MultiGranular(["5 minutes", "10 minutes"], ["5 minutes"] * 2),
)
SESSION = fl.Session("2 minutes")
FIVE = fl.Sliding("5 minutes")
WIDENING = fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=9)


def counted(windows):
    return windows.agg(found=agg.count())


def searched(windows):
    def detect(rows):
        del rows
        return []

    return windows.detect(detect, "what bigint")


KINDS = {  # besides those of the law
    "every row": (fl.Sliding("5 minutes", fl.Rows(1)), counted),
    "lines": (LEVELS, lambda windows: windows.fit("n", filled=True)),
    "lines by rows": (LEVELS, lambda windows: windows.fit("n")),
    "items": (LEVELS, lambda windows: windows.recurring("s", counts=True)),
    "pieces": (FIVE, lambda windows: windows.pieces(found=agg.count())),
    "bounds": (SESSION, lambda windows: windows.frames()),
    "numbered": (fl.DeltaFrame({"n": 2}), lambda windows: windows.rows()),
    "features": (fl.Trailing("5 minutes"), lambda windows: windows.attach(found=agg.count())),
    "matches": (WIDENING, searched),
}


def collecting(df, spec, **more):
    return fl.over(df, spec, **{"time": "ts", "by": "k", "late": "collect", **more})


@pytest.mark.streaming
@pytest.mark.parametrize("about", KINDS)
def test_every_kind_gives_its_late_rows(classic, tmp_path, about):
    """With their keys; and a batch has the same columns."""
    spec, ask = KINDS[about]
    df = stream_of(classic, tmp_path, ARRIVING, DELAY)
    found = ask(collecting(df, spec))
    batch = ask(collecting(frame(classic, [*SEEN, *PASSED]), spec))
    assert [f.simpleString() for f in batch.schema] == [f.simpleString() for f in found.schema]
    assert batch.filter("late is not null").count() == 0
    assert found.columns == [*ask(collecting(df, spec, late="drop")).columns, "late"]
    key = "k" if "k" in found.columns else "late.row.k"
    told = found.selectExpr(f"{key} as k", "late.row.n as n", "late.row as late")
    missed = [row for row in gather(told, tmp_path) if row["late"] is not None]
    assert sorted((row["n"], row["k"]) for row in missed) == [(4, "x"), (5, None)]


@pytest.mark.streaming
def test_what_else_is_there_of_a_late_row(classic, tmp_path):
    """All of its columns and the windows that it missed; nothing of what is asked of windows."""
    df = stream_of(classic, tmp_path, ARRIVING, DELAY)
    found = collecting(df, [FIVE, fl.Sliding("2 minutes")]).agg(found=agg.count())
    told = found.filter("late is not null").selectExpr(
        "k", "window", "query", "found", "late.row.n as n", "unix_micros(late.row.ts) as ts",
        "transform(late.windows, w -> struct(w.query, unix_micros(w.start), unix_micros(w.end)))"
        " as missed",
    )  # fmt: skip
    assert sorted(gather(told, tmp_path), key=lambda row: row["n"]) == [
        {
            "k": row["k"], "window": {"start": None, "end": None}, "query": None, "found": None,
            "n": row["n"], "ts": row["ts"], "missed": [within(row, 0, 5), within(row, 1, 2)],
        }
        for row in LATE[:2]
    ]  # fmt: skip


def within(row, query, minutes):
    """The one window of so many minutes that a row is in."""
    start = row["ts"] - row["ts"] % (minutes * 60_000_000)
    return query, start, start + minutes * 60_000_000


@pytest.mark.streaming
@pytest.mark.parametrize("early", [False, True])
def test_no_row_is_lost_or_told_twice_over_restarts(classic, tmp_path, early):
    """Each is counted in its windows, or late: over starts of the query, and by late_rows, too."""
    counts, told = {}, []
    for part in ([SEEN, PASSED], [LATE[:1]], [LATE[1:], END, [minute(200, k="x", n=8)]]):
        windows = collecting(stream_of(classic, tmp_path, part, DELAY), FIVE)
        found = (windows.early() if early else windows).agg(found=agg.count())
        mode = "update" if early else "append"
        for rows in gather_batches(found, tmp_path, mode):
            told += [row for row in rows if row["late"] is not None]
            counts |= {
                (row["k"], row["window"]["start"]): row["found"]
                for row in rows
                if row["late"] is None and row.get("final", True)
            }
    assert sum(counts.values()) == len([*SEEN, *PASSED, *END])
    assert len(told) == 2


@pytest.mark.streaming
@pytest.mark.parametrize("spec", [FIVE, SESSION])
def test_late_rows_are_counted_once(classic, tmp_path, spec):
    """Where they are given, whoever leaves them out."""
    df = stream_of(classic, tmp_path, ARRIVING, DELAY)
    found = collecting(df, spec).agg(found=agg.count())
    assert fl.progress(finish(found, tmp_path)).late == 2


@pytest.mark.streaming
def test_strange_columns_come_back_as_they_were(classic, tmp_path):
    """Of every type and name that the windows themselves take."""
    odd = {
        "a.b": "named_struct('x y', n, 'at', array(ts))",
        "Lane No": "map('k', ts)",
        "end": "cast(n as decimal(38, 10))",
        "window": "cast(null as interval day to second)",
        "row": "to_date(ts)",
    }
    df = stream_of(classic, tmp_path, ARRIVING, DELAY).selectExpr(
        "ts", "n", "k as `by`", *(f"{text} as `{name}`" for name, text in odd.items())
    )
    windows = fl.over(df, FIVE, time="ts", by="by", late="collect")
    told = windows.agg(found=agg.count()).filter("late is not null").select("late.row.*")
    assert told.columns == df.columns
    wanted = frame(classic, LATE[:2]).selectExpr(
        "ts", "n", "k as `by`", *(f"{text} as `{name}`" for name, text in odd.items())
    )
    assert all_of(gather(told, tmp_path)) == all_of(collected(wanted))


def test_without_keys_and_of_events_that_last(classic):
    """What a batch says of the column: its type."""
    df = frame(classic, SEEN)
    alone = fl.over(df, FIVE, time="ts", late="collect").agg(agg.count())
    assert alone.select("late.windows").schema["windows"].dataType.simpleString() == (
        "array<struct<start:timestamp,end:timestamp>>"
    )
    numbers = fl.over(df, fl.Sliding(10), time=("i0", "i"), late="collect").agg(agg.count())
    assert numbers.select("late.windows").schema["windows"].dataType.simpleString() == (
        "array<struct<start:bigint,end:bigint>>"
    )
    assert "windows" not in collecting(df, SESSION).agg(agg.count()).schema["late"].dataType.names


def test_a_column_of_that_name_is_told(classic):
    df = frame(classic, SEEN).withColumn("late", F.lit(1))
    collecting(df, FIVE).agg(agg.count())
    for ask in (
        lambda: collecting(df, FIVE, by="late").agg(agg.count()),
        lambda: collecting(df, FIVE).agg(late=agg.count()),
        lambda: collecting(df, FIVE).agg(Late=agg.count()),
        lambda: collecting(df, fl.Trailing("1 minute")).attach(agg.count()),
    ):
        with pytest.raises(fl.FanlightError, match=r"late='collect' adds a column 'late'"):
            ask()


def test_explain_says_where_they_go(classic, tmp_path):
    df = stream_of(classic, tmp_path, [SEEN], DELAY)
    for spec in (FIVE, SESSION, fl.Trailing("1 minute"), WIDENING):
        assert "in the column late" in str(collecting(df, spec).explain())
        assert "in the column late" not in str(collecting(df, spec, late="drop").explain())


def test_what_cannot_collect_says_so(classic, tmp_path):
    df = stream_of(classic, tmp_path, [SEEN], DELAY)
    windows = collecting(df, fl.Trailing("1 minute"))
    with pytest.raises(fl.FanlightError, match=r"at\(…\) with late='collect' would mix"):
        windows.at(df, time="ts").attach(agg.count())
    plain = classic.newSession()
    plain.conf.unset("spark.sql.streaming.stateStore.providerClass")
    df = source(plain, tmp_path / "in", DELAY)
    with pytest.raises(fl.FanlightError, match=r"windows that collect late rows .* RocksDB"):
        collecting(df, FIVE).agg(agg.count())
