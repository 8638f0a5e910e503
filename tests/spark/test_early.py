"""Windows given while they are open: what a table that keeps the latest of each has in the end.

That final results are those of append mode is one of the laws (tests/law/kinds/sliding.py).
"""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of, collected, frame
from tests.helpers.streams import finish, gather_batches, keep_latest, stream_of
from tests.law.data import minute

ROWS = [
    [
        minute(at + 3 * batch, k="xyz"[at % 3], n=at, s="ab"[at % 2],
               began=minute(at + 2 * batch)["ts"] - at % 3 * 1_000_000)
        for at in ages
    ]
    for batch, ages in enumerate([(0, 1, 4), (2, 0, 5, 7), (), (1, 6), (3, 3, 8, 9), (2,)])
]  # fmt: skip
QUIET = [minute(60, k="x", n=0, began=minute(60)["ts"])]  # all of ROWS is behind its watermark
ASKED = {"n": agg.count(), "m": agg.median("n"), "s": agg.collect_list("s")}
SPECS = {
    "sliding": fl.Sliding("4 minutes", "1 minute"),
    "gaps": fl.Sliding("1 minute", "2 minutes"),
    "list": [fl.Sliding("2 minutes"), fl.Sliding("9 minutes", "6 minutes")],
    "levels": fl.MultiGranular(["2 minutes", "6 minutes"], ["2 minutes", "2 minutes"]),
}
SPECS |= {f"{about}, events": spec for about, spec in SPECS.items()}
DELAY = "4 minutes"


def windows(df, spec, **more):
    return fl.over(df, spec, **{"time": "ts", "by": "k", **more})


def key_of(row):
    return (row["k"], row["window"]["start"], row["window"]["end"], row.get("query"),
            row.get("level"))  # fmt: skip


def values(row):
    return {name: row[name] for name in ASKED}


@pytest.mark.streaming
@pytest.mark.parametrize("about", SPECS)
def test_the_latest_results_are_those_of_the_rows_so_far(classic, tmp_path, about):
    """After each start of the query; final are those whose end the watermark has passed."""
    spec, seen, kept = SPECS[about], [], {}
    time = ("began", "ts") if about.endswith("events") else "ts"
    for part in (ROWS[:3], ROWS[3:], [QUIET]):
        seen += [row for rows in part for row in rows]
        rows = stream_of(classic, tmp_path, part, DELAY)
        found = windows(rows, spec, time=time).early().agg(**ASKED)
        for key, row in keep_latest(key_of, gather_batches(found, tmp_path)).items():
            assert not kept.get(key, {}).get("final")
            kept[key] = row
        whole = windows(frame(classic, seen), spec, time=time).agg(**ASKED)
        wanted = {key_of(row): row for row in collected(whole)}
        assert {key: values(row) for key, row in kept.items()} == {
            key: values(row) for key, row in wanted.items()
        }
    assert {key for key, row in kept.items() if row["final"]} == {
        key for key in kept if key[2] <= QUIET[0]["ts"] - 4 * 60_000_000
    }


@pytest.mark.streaming
def test_only_what_changed_is_given_and_no_more_than_asked(classic, tmp_path):
    """With each micro-batch; or once the watermark has passed a multiple of ``every``."""
    spec, counts = fl.Sliding("4 minutes"), {}
    for every in (None, "5 minutes"):
        folder = tmp_path / str(every)
        rows = stream_of(classic, folder, [*ROWS, QUIET], DELAY)
        batches = gather_batches(windows(rows, spec).early(every).agg(**ASKED), folder)
        counts[every] = sum(map(len, batches))
        table = keep_latest(key_of, batches)
        wanted = collected(windows(frame(classic, [r for b in ROWS for r in b]), spec).agg(**ASKED))
        final = {key: values(row) for key, row in table.items() if row["final"]}
        assert final == {key_of(row): values(row) for row in wanted}
        twice = [rows for rows in batches if len({row["final"] for row in rows}) > 1]
        assert every or twice  # open and final ones in one micro-batch
    assert counts["5 minutes"] < counts[None]


@pytest.mark.streaming
@pytest.mark.sampled(1)
def test_a_row_is_late_when_its_day_has_ended(classic, tmp_path):
    """By the calendar, as without early()."""
    spec, counts = fl.Calendar("1 day", zone="America/New_York"), []
    hours = ([0, 80], [79], [1, 79, 81], [200])
    rows = [[minute(60 * at, k="x", n=at) for at in batch] for batch in hours]
    for mode in ("update", "append"):
        found = windows(stream_of(classic, tmp_path / mode, rows, DELAY), spec)
        found = (found.early() if mode == "update" else found).agg(n=agg.count())
        batches = gather_batches(found, tmp_path / mode, mode)
        given = [row for batch in batches for row in batch if row.get("final", True)]
        counts.append({key_of(row): row["n"] for row in given})
    assert counts[0] == counts[1]
    assert sorted(counts[0].values()) == [1, 4]  # one is late, and the last day goes on


@pytest.mark.streaming
def test_append_mode_has_all_changes_as_they_came(classic, tmp_path):
    spec = fl.Sliding("4 minutes", "2 minutes")
    logs = []
    for mode in ("update", "append"):
        rows = stream_of(classic, tmp_path / mode, [*ROWS, QUIET], DELAY)
        found = windows(rows, spec).early().agg(**ASKED)
        batches = gather_batches(found, tmp_path / mode, mode)
        logs.append([all_of(batch) for batch in batches if batch])
    assert logs[0] == logs[1]


@pytest.mark.streaming
def test_a_table_by_key_and_window_is_the_batch(classic, tmp_path):
    """Rows marked final alone are those of append mode."""
    spec, seen = fl.Sliding("4 minutes", "2 minutes"), [r for b in ROWS for r in b]
    rows = stream_of(classic, tmp_path, [*ROWS, [minute(22, k="x", n=1)]], DELAY)
    found = windows(rows, spec).early().agg(n=agg.count(), most=agg.max("n"))
    base = tmp_path / "windows.db"
    for name, only in (("all", False), ("final", True)):
        write = fl.upsert(f"sqlite:///{base}", table=name, key=["k", "window"], final_only=only)
        finish(found, tmp_path / name, write, "update")
    with sqlite3.connect(base) as read:
        have = sorted(read.execute('SELECT k, n, most FROM "all"').fetchall(), key=repr)
        closed = read.execute("SELECT count(*), min(final) FROM final").fetchone()
        marked = read.execute('SELECT count(*) FROM "all" WHERE final').fetchone()
    seen.append(minute(22, k="x", n=1))
    wanted = windows(frame(classic, seen), spec).agg(n=agg.count(), most=agg.max("n"))
    assert have == sorted(
        ((row["k"], row["n"], row["most"]) for row in collected(wanted)), key=repr
    )
    assert closed == (marked[0], 1)
    assert 0 < marked[0] < len(have)


def test_early_is_refused_where_it_cannot_be(classic, tmp_path):
    rows = stream_of(classic, tmp_path, ROWS[:1], DELAY)
    weighted = fl.MultiGranular(
        ["2 minutes", "6 minutes"], ["2 minutes", "2 minutes"], weights=[1, 2]
    )
    for made, why in (
        (lambda: windows(rows, fl.Sliding(fl.Rows(3))).early(), "not for those that rows end"),
        (lambda: windows(rows, fl.Sliding("1 minute", fl.Rows(1))).early(), "that rows end"),
        (lambda: windows(rows, weighted).early(), "gives each level as it is"),
        (lambda: windows(rows, SPECS["sliding"]).early("0 seconds"), "must be positive"),
        (lambda: windows(rows, SPECS["sliding"]).early(5), "is a number, but"),
        (lambda: windows(rows, SPECS["sliding"]).early(fl.Rows(5)), "early|every"),
        (lambda: windows(rows, SPECS["sliding"]).using("panes").early().agg(agg.count()),
         "are kept by one stateful operator"),
        (lambda: windows(rows, SPECS["sliding"]).early().agg(final=agg.count()),
         "clashes with the output column 'final'"),
    ):  # fmt: skip
        with pytest.raises(fl.FanlightError, match=why):
            made()
    page = windows(rows, SPECS["sliding"]).early("1 minute").explain(agg.count())
    assert "update: each window when it has changed" in page
    assert "update: each window" not in windows(rows, SPECS["sliding"]).explain(agg.count())


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("words", "every"), [("EARLY", None), ("EARLY EVERY 3 MINUTES", "3 minutes")]
)
@pytest.mark.parametrize(
    ("clause", "spec"),
    [
        ("RANGE 4 MINUTES SLIDE 2 MINUTES", fl.Sliding("4 minutes", "2 minutes")),
        ("SESSION 2 MINUTES", fl.Session("2 minutes")),
    ],
)
def test_a_stream_asked_in_sql_is_given_early_too(classic, tmp_path, clause, spec, words, every):
    rows, given = stream_of(classic, tmp_path, [*ROWS, QUIET], DELAY), []
    api = windows(rows, spec).early(every).agg(**{"count(*)": agg.count()})
    asked = f"SELECT *, count(*) FROM t [WATTR ts {clause} {words}] GROUP BY k"
    finals = f"SELECT final, k FROM t [WATTR ts {clause} {words}] GROUP BY k, window, final"
    assert fl.sql(finals, t=rows).columns == ["final", "k"]
    sql = fl.sql(asked, t=rows)
    assert sorted(sql.columns) == sorted(name.replace("(*)", "(1)") for name in api.columns)
    for about, found in (("api", api), ("sql", sql.withColumnRenamed("count(1)", "count(*)"))):
        batches = gather_batches(found, tmp_path / about)
        given.append([sorted(repr(sorted(row.items())) for row in batch) for batch in batches])
    assert given[0] == given[1]
    assert any("('final', False)" in row for batch in given[1] for row in batch)


ON_STREAMS = [
    ("RANGE 3 ROWS ^EARLY^", "^EARLY is for windows that time places"),
    ("RANGE 1 MINUTE LATE OPEN ^EARLY^", "; leave LATE OPEN out"),
    ("RANGES 2 MINUTES, 6 MINUTES SLIDES 2 MINUTES, 2 MINUTES CHANGES ONLY ^EARLY EVERY 1 MINUTE^",
     "; leave CHANGES ONLY out"),
    ("RANGE 1 HOUR FORGET AFTER 2 DAYS ^EARLY^", "; leave FORGET AFTER out"),
    ("RANGE 1 HOUR EARLY EVERY ^0 SECONDS^", "EARLY EVERY 0 SECONDS must be positive; .* EARLY"),
    ("RANGE 1 HOUR EARLY EVERY ^5^", "^EARLY EVERY 5 is a number, but WATTR ts is"),
    ("RANGE 1 HOUR EARLY EVERY ^5 ROWS^", "^EARLY EVERY 5 ROWS is a number of rows, but WATTR ts"),
    ("FRAME THRESHOLD n > 1 LEAVE FOR 5 MINUTES MIN 2 ROWS ^EARLY^", "leave MIN out, or LEAVE FOR"),
]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(("marked", "why"), ON_STREAMS, ids=[one for one, _ in ON_STREAMS])
def test_early_is_refused_in_sql_at_the_word(classic, tmp_path, marked, why):
    rows = stream_of(classic, tmp_path, ROWS[:1], DELAY)
    before, part, after = f"SELECT count(*) FROM t [WATTR ts {marked}]".split("^")
    with pytest.raises(fl.FanlightError) as raised:
        fl.sql(before + part + after, t=rows)
    message, line, carets = str(raised.value).split("\n")
    assert line[carets.index("^") :][: carets.count("^")] == part
    assert re.search(why, message.partition(": ")[2]), message
    assert "early(" not in message


@pytest.mark.spark
def test_rows_of_frames_have_no_early_form_in_sql_either(classic, tmp_path):
    rows = stream_of(classic, tmp_path, ROWS[:1], DELAY)
    with pytest.raises(fl.FanlightError, match="write an aggregate or GROUP BY window"):
        fl.sql("SELECT k FROM t [WATTR ts SESSION 2 MINUTES EARLY]", t=rows)
    assert "final" in fl.sql(
        "SELECT * FROM t [WATTR ts SESSION 2 MINUTES EARLY] GROUP BY window", t=rows
    ).columns  # fmt: skip


@pytest.mark.streaming
def test_pieces_are_a_table_that_lives(classic, tmp_path):
    """Served while the stream runs, its open pieces too, and rolled up to any windows."""
    rows = stream_of(classic, tmp_path, ROWS, DELAY)
    pieces = windows(rows, fl.Sliding("1 minute")).early().pieces(**ASKED)
    lake = tmp_path / "lake"
    finish(pieces, tmp_path, fl.upsert(f"delta:{lake}", key=["k", "window"]), "update")
    past = {"4m": fl.Trailing("4 minutes"), "ever": fl.Trailing()}
    server = fl.serve(lake, past)
    seen = frame(classic, [row for batch in ROWS for row in batch])
    whole = windows(seen, fl.Sliding("1 minute")).pieces(**ASKED)
    wanted = fl.serve(whole, past)
    assert server.until == wanted.until
    for key in "xyz":
        for back in range(12):
            at = wanted.until - timedelta(minutes=back)
            assert server.ask(key, at=at) == wanted.ask(key, at=at)
    spec = fl.Sliding("6 minutes", "2 minutes")
    rolled = collected(fl.roll_up(_with_notes(classic, lake), spec))
    assert all_of(rolled) == all_of(collected(windows(seen, spec).agg(**ASKED)))


def _with_notes(spark, lake):
    """The table as Spark's Delta connector has it, which is not there: with its metadata."""
    table = DeltaTable(lake).to_pyarrow_table()
    df = spark.createDataFrame(table.replace_schema_metadata({}))
    return df.select(*[
        F.col(f"`{field.name}`").alias(
            field.name,
            metadata={n.decode(): note.decode() for n, note in (field.metadata or {}).items()},
        )
        for field in table.schema
    ])  # fmt: skip


def test_sketches_are_no_pieces_that_live(classic, tmp_path):
    rows = stream_of(classic, tmp_path, ROWS[:1], DELAY)
    opened = windows(rows, fl.Sliding("1 minute")).early()
    with pytest.raises(fl.FanlightError, match="keeps a sketch"):
        opened.pieces(agg.approx_count_distinct("s"))
