"""Jobs as they run: in the tests' Spark for all that they print, and as programs of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.cli import display
from fanlight.cli.jobs.sink import Sink
from tests.cli.jobs import OWN, RIGHT, asking, call, job, loaded, without
from tests.helpers.sparks import DEFAULT, ROCKSDB, configured
from tests.helpers.unpacked import figure_of

SLIDING = fl.Sliding("4 minutes", "1 minute")


def expected(spark, folder):
    calls = spark.read.parquet(str(folder / "calls"))
    windows = fl.over(calls, SLIDING, time="ts", by="antenna")
    return windows.agg(calls=agg.count(), longest=agg.max("seconds"))


def rows_of(found):
    """The rows in one order, by the names of the columns."""
    return sorted(str(sorted(row.asDict(recursive=True).items())) for row in found.collect())


def records_in(output):
    return [json.loads(line) for line in output.splitlines()]


def test_a_batch_writes_what_the_api_gives(here, folder):
    ran = call("run", job(folder, without("stream")), "--json")
    assert ran.exit_code == 0, ran.output
    wanted = expected(here, folder)
    assert rows_of(here.read.parquet(str(folder / "busy"))) == rows_of(wanted)
    _, done = records_in(ran.stdout)
    assert (done["event"], done["job"], done["windows"]) == ("done", "busy", wanted.count())
    again = call("run", folder / "busy.toml")
    assert again.exit_code == 1
    assert "already exists" in again.stderr
    (folder / "busy.toml").write_text(
        without("stream").replace('path = "busy"', 'path = "busy"\nmode = "overwrite"'), "utf-8"
    )
    assert call("run", folder / "busy.toml", "--watch").exit_code == 0


def test_a_batch_gives_windows_without_rows_if_asked(here, folder):
    ends = "2023-11-14T22:00:00Z", "2023-11-14T23:00:00Z"
    between = " AND ".join(f"'{end}'" for end in ends)
    text = without("stream").replace("MINUTE]", f"MINUTE EMPTY LAST BETWEEN {between}]")
    assert call("run", job(folder, text)).exit_code == 0
    windows = fl.over(here.read.parquet(str(folder / "calls")), SLIDING, time="ts", by="antenna")
    filled = windows.with_empty("last", between=ends)
    wanted = filled.agg(calls=agg.count(), longest=agg.max("seconds"))
    assert rows_of(here.read.parquet(str(folder / "busy"))) == rows_of(wanted)
    assert wanted.count() % 57 == 0  # windows of four minutes within the hour, of each antenna


@pytest.mark.streaming
def test_a_stream_tells_each_micro_batch_and_writes_what_is_final(here, folder):
    text = RIGHT.replace('path = "calls"', 'path = "calls"\noptions = { maxFilesPerTrigger = 1 }')
    ran = call("run", job(folder, text), "--json")
    assert ran.exit_code == 0, ran.output
    started, *batches, done = records_in(ran.stdout)
    assert started == {"event": "started", "job": "busy", "spark": here.version}
    assert {one["event"] for one in batches} == {"progress"}
    assert sum(one["rows"] for one in batches) == done["rows"] == 720
    assert [one["batch"] for one in batches] == list(range(done["batches"]))
    assert done["event"] == "done"
    assert done["watermark"] == "2024-05-01T15:58:40.000Z"
    assert done["state_rows"] > 0 == done["late"]
    final = expected(here, folder).where("window.end <= timestamp'2024-05-01 15:58:40Z'")
    assert rows_of(here.read.parquet(str(folder / "busy"))) == rows_of(final)
    again = call("run", folder / "busy.toml")  # goes on from the checkpoint: nothing is new
    assert again.exit_code == 0
    assert "busy: done, 0 rows" in again.stderr


@pytest.fixture
def pages(monkeypatch):
    """The last state of each page that was served, and what its windows were read from."""
    found, watch = [], fl.watch

    def watched(query, windows, **how):
        page = watch(query, windows, every="10 milliseconds", **how)
        stop = page.stop

        def stopped(**_):
            end = time.monotonic() + 60
            state = {"ended": False}
            while not state["ended"] and time.monotonic() < end:
                state = page._report_state("")
                time.sleep(0.1)
            found.append((page.url, state, None if windows is None else rows_of(windows())))
            stop()

        page.stop = stopped
        return page

    monkeypatch.setattr(fl, "watch", watched)
    return found


@pytest.mark.streaming
@pytest.mark.parametrize("format", ["parquet", "csv", "memory", "console"])
def test_a_watched_stream_has_a_page_with_the_windows_of_its_sink(here, folder, pages, format):
    place = 'path = "busy"' if format in {"parquet", "csv"} else ""
    text = RIGHT.replace('format = "parquet"\npath = "busy"', f'format = "{format}"\n{place}')
    text = text.replace('"busy"\n\n[spark]', f'"seen_{format}"\n\n[spark]')
    ran = call("run", job(folder, text), "--watch", "--json")
    assert ran.exit_code == 0, ran.output
    ((url, state, rows),) = pages
    assert [one["url"] for one in records_in(ran.stdout) if one["event"] == "watching"] == [url]
    assert state["ended"]
    assert state["title"] == f"seen_{format}"
    assert state["words"].startswith("Ended. 720 rows so far")
    final = expected(here, folder).where("window.end <= timestamp'2024-05-01 15:58:40Z'")
    assert rows == (None if format == "console" else rows_of(final))
    assert ("windows-rows" in state["parts"]) is (format != "console")
    if rows:
        assert "could not be" not in state["parts"]["windows-rows"]
        assert f"of the {min(len(rows), 1_000)} windows" in state["parts"]["windows-rows"]


@pytest.mark.streaming
def test_a_run_goes_on_without_its_page(here, folder, monkeypatch):
    assert here is not None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = call("run", job(folder), "--watch", "--port", port)
    assert ran.exit_code == 0, ran.output
    assert f"no page of this run: port={port} cannot be had" in ran.stderr
    monkeypatch.setattr(display, "find_spec", lambda name: None if name == "uvicorn" else name)
    ran = call("run", job(folder), "--watch")
    assert ran.exit_code == 0, ran.output
    assert (
        "needs uvicorn, which is not installed; write: pip install 'fanlight[watch]'" in ran.stderr
    )


def test_the_jobs_of_a_batch_can_be_told_apart(here, folder, monkeypatch):
    seen, write = [], Sink.write

    def noted(sink, found):
        seen.append(here.getTags())
        write(sink, found)

    monkeypatch.setattr(Sink, "write", noted)
    assert call("run", job(folder, without("stream"))).exit_code == 0
    assert seen == [{"fanlight busy"}]
    assert here.getTags() == set()
    store = here.sparkContext._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    told = {str(jobs.apply(at).description()) for at in range(jobs.size())}
    assert any(
        one.startswith("Some(busy: SELECT antenna, window, count(*) AS calls") for one in told
    )
    assert here.sparkContext.getLocalProperty("spark.job.description") is None


def test_csv_has_the_ends_of_windows_as_columns(here, folder):
    sink = 'format = "csv"\npath = "busy"\noptions.header = true'
    text = without("stream").replace('format = "parquet"\npath = "busy"', sink)
    assert call("run", job(folder, text)).exit_code == 0
    found = here.read.csv(str(folder / "busy"), header=True)
    assert found.columns == ["antenna", "window_start", "window_end", "calls", "longest"]
    assert found.count() == expected(here, folder).count()


def test_memory_and_console(here, folder):
    sink = 'format = "parquet"\npath = "busy"'
    text = without("stream").replace(sink, 'format = "memory"')
    assert call("run", job(folder, text)).exit_code == 0
    assert rows_of(here.table("busy")) == rows_of(expected(here, folder))
    text = without("stream").replace(sink, 'format = "console"\noptions.numRows = 3')
    assert "only showing top 3 rows" in call("run", job(folder, text)).output


@pytest.mark.streaming
def test_memory_and_console_of_a_stream(here, folder):
    sink = 'format = "parquet"\npath = "busy"'
    text = RIGHT.replace('"busy"\n\n[spark]', '"held"\n\n[spark]')
    assert call("run", job(folder, text.replace(sink, 'format = "memory"'))).exit_code == 0
    final = expected(here, folder).where("window.end <= timestamp'2024-05-01 15:58:40Z'")
    assert rows_of(here.table("held")) == rows_of(final)
    text = text.replace(sink, 'format = "console"').replace('"checkpoint"', '"other"')
    ran = call("run", job(folder, text))
    assert ran.exit_code == 0, ran.output


def test_a_table_of_the_catalog(here, folder):
    here.read.parquet(str(folder / "calls")).createOrReplaceTempView("calls_there")
    text = without("stream").replace('format = "parquet"\npath = "calls"',
                                     'format = "table"\ntable = "calls_there"')  # fmt: skip
    assert call("run", job(folder, text)).exit_code == 0
    assert rows_of(here.read.parquet(str(folder / "busy"))) == rows_of(expected(here, folder))


def test_a_connector_that_is_not_there_is_named_with_what_to_install(here, folder):
    kafka = 'format = "kafka"\noptions = { kafka.bootstrap.servers = "h:1", topic = "t" }'
    text = without("stream").replace('format = "parquet"\npath = "busy"', kafka)
    ran = call("run", job(folder, text), "--json")
    assert ran.exit_code == 1
    assert f"spark-sql-kafka-0-10_2.13:{here.version}" in ran.stderr
    assert records_in(ran.stdout)[-1]["exit_code"] == 1


KAFKA = '"kafka"\noptions = { kafka.bootstrap.servers = "h:1", subscribe = "b" }'
NO_CONNECTOR = [
    ('format = "parquet"\npath = "calls"', 'format = "delta"\npath = "calls"', "io.delta"),
    ('format = "parquet"\npath = "busy"', 'format = "delta"\npath = "busy"', "io.delta"),
    ('format = "parquet"\npath = "calls"', f"format = {KAFKA}", "spark-sql-kafka"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "package"), NO_CONNECTOR)
@pytest.mark.parametrize("stream", [False, True])
def test_any_connector_that_is_not_there_is_named(here, folder, old, new, package, stream):
    text = (RIGHT if stream else without("stream")).replace(old, new)
    ran = call("run", job(folder, text))
    assert ran.exit_code == 1
    assert f'[spark] jars.packages = "{package}' in ran.stderr.replace("org.apache.spark:", "")
    assert here.version in ran.stderr


def test_what_needs_rocksdb_says_the_line_of_the_job_file(here, folder):
    text = RIGHT.replace("RANGE 4 MINUTES SLIDE 1 MINUTE", "SESSION 1 MINUTE")
    with configured(here, display.PROVIDER, DEFAULT):
        ran = call("run", job(folder, text))
    assert ran.exit_code == 1
    line = ran.stderr.rstrip().splitlines()[-1]
    assert line == f'In a job file: [spark] {display.PROVIDER[6:]} = "{ROCKSDB}"'


RANGES, SLIDES = ["5 minutes", "1 hour"], ["5 minutes", "5 minutes"]
LEVELS = fl.MultiGranular(RANGES, SLIDES)
AGED = fl.MultiGranular(RANGES, SLIDES, weights=fl.decay("10 minutes"))
LABELLED = {"4m": fl.Trailing("4 minutes"), "ever": fl.Trailing(include_self=False)}
LONG = fl.ThresholdFrame("seconds > 30", max_gap="10 minutes")
WIDENED = fl.ProgressiveWidening("5 minutes", max_duration="20 minutes", max_rows=9)
COUNT, LONGEST = agg.count().alias("calls"), agg.max("seconds").alias("longest")
BOTH = "count(*) AS calls, max(seconds) AS longest"
# Windows, what is asked of them, what is selected, and the aggregates that the page names.
EXPLAINED = {
    "plain": (SLIDING, "", BOTH, (COUNT, LONGEST)),
    "unnamed": (SLIDING, "", "count(*), 1 + max(seconds)", (agg.count(), agg.max("seconds"))),
    "repeated": (
        SLIDING,
        "",
        "count(1), count(*), min(seconds) AS antenna, max(seconds) AS window",
        (
            agg.count(),
            agg.count().alias("count(1)_"),
            agg.min("seconds").alias("antenna_"),
            agg.max("seconds").alias("window_"),
        ),
    ),
    "weights": (AGED, "", "count(*) AS calls", (COUNT,)),
    "labels": (LABELLED, "", BOTH, (COUNT, LONGEST)),
    "wide": (LEVELS, "WIDE", BOTH, (COUNT, LONGEST)),
    "bursts": (LEVELS, "BURSTS THRESHOLD 1.01", "*, count(*) AS calls", (COUNT,)),
    "fit": (LEVELS, "FIT seconds", "*", ()),
    "split": (LONG, "SPLIT EVERY 1 MINUTE SO FAR", BOTH, (COUNT, LONGEST)),
    "fill": (LONG, "FILL calls ON ts MAX 1 HOUR", BOTH, (COUNT, LONGEST)),
    "detect": (WIDENED, "DETECT 'one; two' EVENT antenna", "*", ()),
}


def page(calls, name, *, verbose):
    """The page of the API."""
    spec, words, _, asked = EXPLAINED[name]
    windows = fl.over(calls, spec, time="ts", by="antenna")
    if words.startswith("FILL"):
        windows = windows.fill(calls, time="ts", max_duration="1 hour")
    return windows.explain(*asked, verbose=verbose) + "\n"


@pytest.mark.parametrize("name", EXPLAINED)
@pytest.mark.parametrize("stream", [False, True])
def test_explain_prints_the_page_of_the_api_and_runs_nothing(here, folder, name, stream):
    spec, words, selected, _ = EXPLAINED[name]
    clause = f"{fl.clause(spec, time='ts', by='antenna')[:-1]} {words}]"
    text = asking(f"SELECT {selected} FROM calls {clause}", RIGHT if stream else without("stream"))
    calls = loaded(folder, text).sources["calls"].read(here, stream=stream)
    for verbose in (False, True):
        ran = call("explain", job(folder, text), *(["--verbose"] if verbose else []))
        assert ran.output == page(calls, name, verbose=verbose)
    assert not (folder / "busy").exists()


@pytest.mark.parametrize("text", [RIGHT, without("stream")], ids=["stream", "batch"])
def test_explain_has_a_page_for_each_select_over_windows_in_the_order_of_the_text(
    here, folder, text
):
    assert here is not None
    inner = "[WATTR ts RANGE 4 MINUTES]"
    asked = f"SELECT sum(n) FROM (\nSELECT window, count(*) AS n FROM calls {inner}\n)"
    ran = call("explain", job(folder, asking(f"{asked}\n[WATTR window.end RANGE 1 HOUR]", text)))
    heads = [line for line in ran.output.splitlines() if line.startswith("line ")]
    assert heads == ["line 4: [WATTR window.end RANGE 1 HOUR]", f"line 2: {inner}"]
    pages = [line for line in ran.output.splitlines() if line.startswith("Sliding(")]
    assert [one.partition(" over")[0] for one in pages] == [
        "Sliding('1 hour')", "Sliding('4 minutes')"
    ]  # fmt: skip
    ran = call("explain", job(folder, asking("SELECT seconds FROM calls", text)))
    assert ran.output.startswith("== Physical Plan ==")


@pytest.mark.usefixtures("here")
def test_plot_draws_lines_and_frames(folder):
    ran = call("plot", job(folder), "-o", folder / "made/out.html", "--value", "longest")
    assert ran.exit_code == 0, ran.output
    page = (folder / "made/out.html").read_text("utf-8")
    assert '"name":"antenna 0"' in figure_of(page)
    assert "longest" in page
    text = RIGHT.replace("RANGE 4 MINUTES SLIDE 1 MINUTE", "FRAME THRESHOLD seconds > 30")
    ran = call("plot", job(folder, text), "-o", folder / "frames.html")
    assert ran.exit_code == 0, ran.output
    assert call("plot", folder / "busy.toml").exit_code == 2  # no -o


def test_doctor_prints_and_its_exit_code_says_whether_something_is_missing(here):
    assert call("doctor").exit_code == 0
    found = json.loads(call("doctor", "--json").stdout)
    assert found["ok"] is True
    with configured(here, display.PROVIDER, DEFAULT):
        ran = call("doctor", "--conf", "spark.x=1")
    assert ran.exit_code == 1
    assert "needed for frames (streams)" in ran.output


PAGE = (Path(__file__).parents[2] / "docs/command_line.md").read_text("utf-8")
JOBS = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.streaming
@pytest.mark.parametrize("text", JOBS, ids=["batch", "stream"])
def test_the_job_files_of_the_page_run(here, folder, text):
    (folder / "busy.toml").write_text(text, "utf-8")
    ran = call("run", folder / "busy.toml")
    assert ran.exit_code == 0, ran.output
    out = folder / ("busy_stream" if "[stream]" in text else "busy")
    assert here.read.parquet(str(out)).take(1)


def program(*words):
    """The command as a program of its own, in a group of processes as a terminal makes one."""
    return subprocess.Popen(
        [sys.executable, "-m", "fanlight", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.thorough  # a stream as a program is below
def test_as_a_program_a_batch_gives_what_the_api_gives(classic, folder):
    path = job(folder, without("stream"), {**OWN, "spark.master": "local[2]"})
    done = program("run", path)
    _, said = done.communicate(timeout=300)
    assert done.returncode == 0, said
    wanted = expected(classic, folder)
    assert f"busy: done, {wanted.count()} windows" in said
    assert rows_of(classic.read.parquet(str(folder / "busy"))) == rows_of(wanted)


@pytest.mark.spark  # of its own
@pytest.mark.thorough  # a stream is stopped so, too
def test_ctrl_c_ends_a_batch(folder):
    """One of so many tasks that it would take very long."""
    text = without("stream").replace("partitions = 2", "partitions = 50000")
    text = text.replace("[spark]", "[spark]\nsql.adaptive.enabled = false")
    running = program("run", job(folder, text, {**OWN, "spark.master": "local[2]"}), "--json")
    assert json.loads(running.stdout.readline())["event"] == "started"
    time.sleep(5)
    os.killpg(running.pid, signal.SIGINT)
    said, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    assert records_in(said)[-1] == {"event": "error", "message": "interrupted", "exit_code": 130}
    assert "Traceback" not in errors
    assert not list((folder / "busy").glob("*.parquet"))


@pytest.mark.streaming
def test_ctrl_c_stops_after_the_micro_batch_and_says_where_it_stands(here, folder):
    text = RIGHT.replace('"available now"', '"1 second"')
    path = job(folder, text, {**OWN, "spark.master": "local[2]"})
    running = program("run", path, "--json")
    assert json.loads(running.stdout.readline())["event"] == "started"
    first = json.loads(running.stdout.readline())
    assert (first["event"], first["rows"]) == ("progress", 720)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: Spark's Java hears it, too
    said, errors = running.communicate(timeout=300)
    assert running.returncode == 130, errors
    last = records_in(said)[-1]
    assert (last["event"], last["rows"]) == ("stopped", 720)
    assert last["checkpoint"] == f"file://{folder}/checkpoint"
    # The same job goes on from there: no row is read twice, and none is lost.
    again = call("run", job(folder), "--json")
    assert again.exit_code == 0, again.output
    assert records_in(again.stdout)[-1]["rows"] == 0
    final = expected(here, folder).where("window.end <= timestamp'2024-05-01 15:58:40Z'")
    assert rows_of(here.read.parquet(str(folder / "busy"))) == rows_of(final)


def test_sql_on_the_command_line(here, folder):
    assert here is not None
    asked = "SELECT antenna, count(*) FROM calls [WATTR ts RANGE 4 MINUTES] GROUP BY antenna"
    ran = call("sql", asked, "-t", f"calls={folder}/calls", "-n", "3", "--json")
    assert ran.exit_code == 0, ran.output
    assert [sorted(one) for one in records_in(ran.stdout)] == [["antenna", "count(1)"]] * 3


@pytest.mark.streaming
def test_a_stream_with_a_heartbeat_ends_as_the_batch(here, folder):
    beating = RIGHT.replace('path = "calls"', 'path = "calls"\nheartbeat = { every = "1 second" }')
    rows = expected(here, folder)
    for _ in range(20):  # beats are those since the run before
        ran = call("run", job(folder, beating))
        assert ran.exit_code == 0, ran.output
        found = here.read.schema(rows.schema).parquet(str(folder / "busy"))
        if found.count() == rows.count():
            break
    assert rows_of(found) == rows_of(rows)


@pytest.mark.streaming
def test_a_replay_written_by_key_as_a_stream_and_as_a_batch(here, folder):
    """The stream ends with what the batch gives, but for the last windows; the batch adds those."""
    sink = 'format = "sqlite"\npath = "busy.db"\ntable = "busy"\nkey = ["antenna", "window"]'
    played = 'format = "replay"\nfiles = "parquet"\ntime = "ts"\ndisorder = "1 minute"'
    text = RIGHT.replace('format = "parquet"\npath = "busy"', sink)
    text = text.replace('format = "parquet"\npath = "calls"', f'{played}\npath = "calls"')
    ran = call("run", job(folder, text + "\n"))
    assert ran.exit_code == 0, ran.output
    rows = expected(here, folder)
    count = "SELECT count(*), sum(calls), max(longest) FROM busy"
    with closing(sqlite3.connect(folder / "busy.db")) as base:
        before = base.execute(count).fetchone()
        batch = text[: text.index("[stream]")]
        assert call("run", job(folder, batch)).exit_code == 0
        after = base.execute(count).fetchone()
    wanted = rows.selectExpr("count(*)", "sum(calls)", "max(longest)").collect()[0]
    assert after == tuple(wanted)
    assert 0 < before[0] < after[0]
