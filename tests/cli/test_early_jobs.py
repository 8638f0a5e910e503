"""Job files whose windows are given while they are open."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import datetime

import pytest

import fanlight as fl
from fanlight import agg
from tests.cli.jobs import RIGHT, call, job, loaded, told, without

SQLITE = 'format = "sqlite"\npath = "busy.db"\ntable = "busy"\nkey = ["antenna", "window"]'
FILES = 'format = "parquet"\npath = "busy"'
ASKED = RIGHT.replace('by = ["antenna"]', 'by = ["antenna"]\nearly = true')
EARLY = ASKED.replace(FILES, SQLITE)
KEYED = RIGHT.replace(FILES, SQLITE)
FRAMED = EARLY.replace("Sliding", "Session").replace(
    'range = "4 minutes"\nslide = "1 minute"', 'gap = "4 minutes"'
)
QUERY = RIGHT[RIGHT.index("[query]") : RIGHT.index("[sink]")]
SQL = (
    '[query]\nsql = """\nSELECT antenna, window, final, count(*) AS calls\n'
    'FROM calls [WATTR ts RANGE 4 MINUTES EARLY]\nGROUP BY antenna\n"""\n\n'
)


@pytest.mark.parametrize(
    ("said", "early", "mode"),
    [
        ("true", {}, "update"),
        ('"5 minutes"', {"every": "5 minutes"}, "update"),
        ("5", {"every": 5}, "update"),
        ("false", None, "append"),
    ],
)
def test_it_decides_the_output_mode(tmp_path, said, early, mode):
    job = loaded(tmp_path, EARLY.replace("early = true", f"early = {said}"))
    assert (job.query.options.get("early"), job.output_mode) == (early, mode)
    assert ("final" in job.query.columns) is (mode == "update")
    assert loaded(tmp_path).output_mode == "append"


@pytest.mark.parametrize(
    "sink",
    [
        SQLITE,
        SQLITE.replace("sqlite", "delta").replace('table = "busy"', 'mode = "upsert"'),
        'format = "console"',
        'format = "memory"',
        'format = "kafka"\noptions = { "kafka.bootstrap.servers" = "a:1", topic = "windows" }',
    ],
)
def test_sinks_that_can_have_them(tmp_path, sink):
    assert loaded(tmp_path, ASKED.replace(FILES, sink)).output_mode == "update"


def test_sql_with_the_word_is_early_too(tmp_path):
    job = loaded(
        tmp_path, EARLY.replace(EARLY[EARLY.index("[query]") : EARLY.index("[sink]")], SQL)
    )
    assert job.output_mode == "update"
    plain = SQL.replace(" EARLY", "").replace("final, ", "")
    assert loaded(tmp_path, RIGHT.replace(QUERY, plain)).output_mode == "append"


UPSERT = 'only appends, .*write format = "delta" with mode = "upsert", or one of sqlite, postgresql'
WRONG = [
    (EARLY.replace("early = true", 'early = "5 minuts"'), "query.early", "unknown unit"),
    (EARLY.replace("early = true", "early = 0"), "query.early", "must be positive"),
    (EARLY.replace("early = true", "early = [1]"), "query.early", "is not true, or a duration"),
    (EARLY.replace("early = true", "erly = true"), "query.erly", "write early"),
    (ASKED, "sink.format", UPSERT),
    (ASKED.replace('"parquet"\npath = "busy"', '"delta"\npath = "busy"'), "sink.format", UPSERT),
    (ASKED.replace(FILES, 'format = "table"\ntable = "busy"'), "sink.format", UPSERT),
    (FRAMED, "sink.key", 'write "frame_id" instead'),
    (RIGHT.replace(QUERY, SQL), "sink.format", UPSERT),
    (
        RIGHT.replace(QUERY, SQL.replace("RANGE", "SESSION")).replace(FILES, SQLITE),
        "sink.key", "has window, which changes while a frame is open",
    ),
    (EARLY[: EARLY.index("[stream]")], "query.early", "is for a stream, and this is a batch"),
    (
        without("stream").replace(QUERY, SQL),
        "query.sql", "asks for windows EARLY, which is for a stream",
    ),
    (
        EARLY.replace("Sliding", "Trailing").replace('slide = "1 minute"\n', ""),
        "query.early", "does not apply to window = 'Trailing'; leave it out, or write .* Sliding",
    ),
    (KEYED.replace(QUERY, SQL.replace("[query]", "[query]\nearly = true")),
     "query.early", "does not go with sql"),
    (EARLY.replace('checkpoint = "checkpoint"', 'checkpoint = "c"\noutput_mode = "update"'),
     "stream.output_mode", "early = true under .query. gives windows while they are open"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "key", "said"), WRONG, ids=[f"{key}-{n}" for n, (_, key, _) in enumerate(WRONG)]
)
def test_what_cannot_be_is_told_with_what_to_write(tmp_path, text, key, said):
    lines = told(tmp_path, text)
    (own,) = (line for line in lines if f": {key}: " in line)
    assert re.search(said, own), own
    if key != "query.erly":
        assert len(lines) == 1, lines


def seconds(text):
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("text", "slide"), [(EARLY, "1 minute"), (KEYED.replace(QUERY, SQL), "4 minutes")]
)
def test_a_table_by_key_has_open_windows_as_they_stand(here, folder, text, slide):
    """Its rows are those of a batch over the same rows; final are those that append mode gives."""
    text = text.replace('path = "calls"', 'path = "calls"\noptions = { maxFilesPerTrigger = 1 }')
    ran = call("run", job(folder, text), "--json")
    assert ran.exit_code == 0, ran.output
    done = json.loads(ran.stdout.splitlines()[-1])
    assert done["watermark"] == "2024-05-01T15:58:40.000Z"
    with sqlite3.connect(folder / "busy.db") as base:
        found = base.execute("SELECT antenna, window_end, final, calls FROM busy").fetchall()
    spec = fl.Sliding("4 minutes", slide)
    calls = here.read.parquet(str(folder / "calls"))
    whole = fl.over(calls, spec, time="ts", by="antenna").agg(calls=agg.count())
    closed = "window.end <= timestamp'2024-05-01 15:58:40Z'"
    wanted = whole.selectExpr("antenna", "unix_seconds(window.end)", f"int({closed})", "calls")
    wanted = sorted(map(tuple, wanted.collect()))
    assert sorted((key, seconds(end), *rest) for key, end, *rest in found) == wanted
    assert {one[2] for one in found} == {0, 1}


@pytest.mark.spark
def test_a_job_that_reads_its_stream_as_a_batch_leaves_early_out(here, folder):
    assert here is not None
    for text in (EARLY, KEYED.replace(QUERY, SQL.replace("final, ", ""))):
        path = job(folder, text)
        drawn = call("plot", path, "--out", folder / "busy.html")
        assert drawn.exit_code == 0, drawn.output
        page = call("explain", path)
        assert page.exit_code == 0, page.output
    assert "update: each window when it has changed" in call("explain", job(folder, EARLY)).output
