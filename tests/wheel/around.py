"""What is around the windows, by a Python that has the wheel and the extras for it, and no more.

python around.py [FILE]

Streams that are watched, late rows, Spark's windows as Columns, pictures, the doctor and the
command line, in a classic session. FILE gets what was found. A warning of a command is wrong, too.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import spark_windows
from check import PROVIDER, ROCKSDB
from pyspark.sql import SparkSession

import fanlight as fl
from fanlight import agg, plots

BEGIN = datetime(2024, 5, 1, 12)
SCHEMA = "ts timestamp, k long"
JAVA = "select java_method('java.lang.System', 'getProperty', 'java.version')"
JOB = """\
name = "busy"

[spark]
sql.shuffle.partitions = 1
"spark.master" = "local[2]"

[source.rows]
format = "parquet"
path = "rows"
schema = "ts timestamp, k long"
watermark = { column = "ts", delay = "1 minute" }

[query]
sql = "SELECT k, window, count(*) AS calls FROM rows [WATTR ts SESSION 1 MINUTE] GROUP BY k"

[sink]
format = "parquet"
"""
STREAM = """
[stream]
trigger = "available now"
checkpoint = "checkpoint"
"""
SQL = "SELECT k, count(*) AS n FROM rows [WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE] GROUP BY k"


def write(folder):
    """Files that a stream takes one after the other; the last has three rows that are late."""
    folder.mkdir()
    for number, minutes in enumerate(([0, 1, 30], [31, 32], [0, 0, 0, 33])):
        at = pa.array(
            [BEGIN + timedelta(minutes=one) for one in minutes], pa.timestamp("us", "UTC")
        )
        path = folder / f"{number}.parquet"
        pq.write_table(pa.table({"ts": at, "k": pa.array([1] * len(minutes))}), path)
        os.utime(path, (1_700_000_000 + number,) * 2)


def sessions(spark, folder, name):
    """A stream of sessions, to its end."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = rows.parquet(str(folder / "rows")).withWatermark("ts", "1 minute")
    found = fl.over(rows, fl.Session("1 minute"), time="ts", by="k").agg(calls=agg.count())
    writer = found.writeStream.format("memory").queryName(name).outputMode("append")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def progress(spark, folder):
    query = sessions(spark, folder, "told")
    found = fl.progress(query)
    assert (found.name, found.rows, found.late) == ("told", 9, 3), found
    assert found.state_rows > 0 < found.seconds, found
    assert fl.progress(query.lastProgress).batch == found.batch


def late_rows(spark, folder):
    query = sessions(spark, folder, "late")
    assert (
        fl.progress(query).late == sum(fl.progress(one).late for one in query.recentProgress) == 3
    )


def watch(spark, folder):
    query = sessions(spark, folder, "watched")
    with fl.watch(query, spark.table("watched")) as served, urlopen(served.url) as answer:  # noqa: S310
        page = answer.read().decode()
    assert "<h1>watched</h1>" in page, page[:2_000]
    assert "has no attribute" not in page


def windows_of_spark(spark, _):
    for form, at in spark_windows.forms_and_times():
        theirs, ours = spark_windows.answers(spark, form, at)
        assert theirs == ours != [], (form, at)


def pictures(spark, folder):
    rows = spark.read.parquet(str(folder / "rows"))
    figure = plots.draw(fl.over(rows, fl.Sliding("4 minutes"), time="ts").agg(n=agg.count()))
    assert "<div" in figure.to_html(full_html=False, include_plotlyjs=False)


def doctor(spark, _):
    found = fl.doctor(spark)
    states = {one.what: one.state for one in found.findings}
    assert "unknown" not in states.values(), found
    assert states["fanlight on the workers"] == states["Spark"] == "ok", found


def command(folder, *words):
    """What a command prints; it ends well, and says nothing of warnings or of Spark's plans."""
    ran = subprocess.run(
        [sys.executable, "-m", "fanlight", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    for text in ("Warning", "Logical Plan", "Traceback", "has no attribute"):
        assert text not in ran.stdout + ran.stderr, (text, ran.stdout, ran.stderr)
    return ran.stdout


def in_sql(_, folder):
    lines = command(folder, "sql", SQL, "-t", "rows=rows", "--json").splitlines()
    assert sum(json.loads(line)["n"] for line in lines) == 36, lines


def job_file(folder, name, text, more=""):
    store = "" if metadata.version("pyspark") < "4" else f'"{PROVIDER}" = "{ROCKSDB}"\n'
    text = text.replace("[spark]\n", f"[spark]\n{store}")
    path = folder / f"{name}.toml"
    path.write_text(f'{text}path = "{name}"\n{more}', "utf-8")
    return path


def job(folder, name, more=""):
    command(folder, "run", job_file(folder, name, JOB, more).name)
    return pq.read_table(folder / name)["calls"].to_pylist()


def run_of_a_batch(_, folder):
    found = job(folder, "batch")
    assert sum(found) == 9, found


def run_of_a_stream(_, folder):
    found = job(folder, "stream", STREAM)
    assert found, found
    assert sum(found) < 9, found  # the late rows are left out


def ctrl_c_of_a_batch(_spark, folder):
    """A batch of so many tasks that it would take very long ends when it is told to."""
    long = JOB.replace("shuffle.partitions = 1", "shuffle.partitions = 50000")
    long = long.replace("[spark]\n", "[spark]\nsql.adaptive.enabled = false\n")
    path = job_file(folder, "long", long)
    running = subprocess.Popen(
        [sys.executable, "-m", "fanlight", "run", path.name, "--json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        started = json.loads(running.stdout.readline())
        assert started["event"] == "started", started
        for _ in range(120):  # until the write begins; its job would take minutes
            if (folder / "long").exists():
                break
            time.sleep(1)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        said, errors = running.communicate(timeout=60)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    last = json.loads(said.splitlines()[-1])
    assert last == {"event": "error", "message": "interrupted", "exit_code": 130}, last
    assert running.returncode == 130, errors
    assert "Traceback" not in errors, errors
    assert not list((folder / "long").glob("*.parquet"))


def doctor_as_a_command(_, folder):
    told = subprocess.run(
        [sys.executable, "-m", "fanlight", "doctor", "--json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode in (0, 1), told.stderr
    assert "Traceback" not in told.stderr, told.stderr
    assert json.loads(told.stdout)["findings"], told.stdout


CASES = {
    "`fl.progress`": progress,
    "`fl.progress(query).late`": late_rows,
    "`fl.watch`": watch,
    "`F.window`, `F.session_window`": windows_of_spark,
    "`fanlight.plots`": pictures,
    "`fl.doctor`": doctor,
    "`fanlight sql`": in_sql,
    "`fanlight run`, batch": run_of_a_batch,
    "`fanlight run`, stream": run_of_a_stream,
    "Ctrl-C of a batch": ctrl_c_of_a_batch,
    "`fanlight doctor`": doctor_as_a_command,
}


def main(file=None):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    if spark.version >= "4":  # Spark 3.5 keeps state in any store
        spark.conf.set(PROVIDER, ROCKSDB)
    right, wrong = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "rows")
        for what, act in CASES.items():
            began = time.perf_counter()
            try:
                act(spark, folder)
            except Exception as error:  # noqa: BLE001 - the others are asked all the same
                wrong.append(f"{what}: {type(error).__name__}: {str(error)[:3_000]}")
            else:
                right.append(what)
            print(f"{what}: {time.perf_counter() - began:.0f} s", flush=True)
        found = {"spark": spark.version, "java": spark.sql(JAVA).first()[0]}
        spark.stop()
    for line in wrong:
        print("wrong:", line)
    if file:
        found |= {"kind": "around", "python": platform.python_version()}
        found |= {"pandas": metadata.version("pandas"), "right": right, "wrong": wrong}
        Path(file).write_text(json.dumps(found), "utf-8")
    print(f"Spark {found['spark']}: {len(right)} around the windows, {len(wrong)} wrong")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
