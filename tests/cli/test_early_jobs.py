"""Job files whose windows are given while they are open."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import datetime

import pytest

import fanlight as fl
from fanlight import agg
from tests.cli.jobs import asking, call, errors_of, job, loaded

SQLITE = 'format = "sqlite"\npath = "busy.db"\ntable = "busy"\nkey = ["antenna", "window"]'
FILES = 'format = "parquet"\npath = "busy"'
CLAUSE = "[WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE EARLY]"
SQL = f"""
SELECT antenna, window, final, count(*) AS calls
FROM calls {CLAUSE}
GROUP BY antenna
"""
ASKED = asking(SQL)
EARLY = ASKED.replace(FILES, SQLITE)


@pytest.mark.parametrize(
    ("clause", "mode"),
    [
        (CLAUSE, "update"),
        (CLAUSE.replace("EARLY", "EARLY EVERY 5 MINUTES"), "update"),
        (CLAUSE.replace(" EARLY", ""), "append"),
    ],
)
def test_it_decides_the_output_mode(tmp_path, clause, mode):
    assert loaded(tmp_path, EARLY.replace(CLAUSE, clause)).output_mode == mode


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


UPSERT = 'only appends, .*write format = "delta" with mode = "upsert", or one of sqlite, postgresql'
WRONG = [
    (ASKED, "sink.format", UPSERT),
    (ASKED.replace('"parquet"\npath = "busy"', '"delta"\npath = "busy"'), "sink.format", UPSERT),
    (ASKED.replace(FILES, 'format = "table"\ntable = "busy"'), "sink.format", UPSERT),
    (
        EARLY.replace("RANGE 4 MINUTES SLIDE 1 MINUTE", "SESSION 4 MINUTES"),
        "sink.key", 'has window, which changes while a frame is open.* write "frame_id" instead',
    ),
    (EARLY[: EARLY.index("[stream]")], "query.sql", "EARLY, which is for a stream"),
    (EARLY.replace('checkpoint = "checkpoint"', 'checkpoint = "c"\noutput_mode = "update"'),
     "stream.output_mode", "EARLY in the brackets of the query gives windows while they are open"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "key", "said"), WRONG, ids=[f"{key}-{n}" for n, (_, key, _) in enumerate(WRONG)]
)
def test_what_cannot_be_is_told_with_what_to_write(tmp_path, text, key, said):
    (line,) = errors_of(tmp_path, text)
    assert f": {key}: " in line
    assert re.search(said, line), line


def seconds(text):
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.streaming
def test_a_table_by_key_has_open_windows_as_they_stand(here, folder):
    """Its rows are those of a batch over the same rows; final are those that append mode gives."""
    text = EARLY.replace('path = "calls"', 'path = "calls"\noptions = { maxFilesPerTrigger = 1 }')
    ran = call("run", job(folder, text), "--json")
    assert ran.exit_code == 0, ran.output
    done = json.loads(ran.stdout.splitlines()[-1])
    assert done["watermark"] == "2024-05-01T15:58:40.000Z"
    with sqlite3.connect(folder / "busy.db") as base:
        found = base.execute("SELECT antenna, window_end, final, calls FROM busy").fetchall()
    spec = fl.Sliding("4 minutes", "1 minute")
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
    path = job(folder, EARLY.replace("final, ", ""))
    drawn = call("plot", path, "--out", folder / "busy.html")
    assert drawn.exit_code == 0, drawn.output
    assert "update: each window when it has changed" in call("explain", path).output
