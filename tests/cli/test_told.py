"""What a command says of an error: one sentence of ours, with nothing of Spark's around it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fanlight as fl
from fanlight import agg
from fanlight.cli.display import report_outcome
from fanlight.engine.spark.quiet import LOGGERS
from fanlight.engine.spec.errors import CallError, FanlightError
from tests.cli.jobs import RIGHT, asking, call, job

UPSERT = 'format = "sqlite"\npath = "busy.db"\ntable = "busy"\nkey = ["antenna"]'
TRACE = """[STREAM_FAILED] Query [id = 1] terminated with exception: An exception was raised by
Return Message: Traceback (most recent call last):
  File "clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
ValueError: no

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "rows.py", line 48, in flat_key
    raise refuse()
{home}.{kind}: {said}{end}
"""
HOMES = {kind.__name__: kind.__module__ for kind in (FanlightError, CallError)}
ENDS = [
    "\n SQLSTATE: 39000\n\tat org.apache.Foreach.call(ForeachBatchSink.scala:60)\n\tat java.run()",
    " SQLSTATE: 39000\n=== Streaming Query ===\nIdentifier: busy",
    "\n\n\tat py4j.Protocol.getReturnValue(Protocol.java:476)",
    "\n\nJVM stacktrace:\norg.apache.spark.api.python.PythonException",
    "",
]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", HOMES)
@pytest.mark.parametrize(
    "said", ["key='a' is none; at (x) write b", "line 1: a; b\n    x y\n    ^"]
)
def test_an_error_of_ours_within_spark_s_is_told_alone(end, kind, said, capsys):
    kinds = type("StreamingQueryException", (Exception,), {"__module__": "pyspark.errors"})
    with pytest.raises(SystemExit) as ended, report_outcome(as_json=True):
        raise kinds(TRACE.format(home=HOMES[kind], kind=kind, said=said, end=end))
    assert ended.value.code == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["message"] == said
    assert told.err == f"Error: {said}\n"


@pytest.mark.streaming
def test_what_a_micro_batch_refuses_is_told_as_it_was_raised(here, folder):
    """The key does not tell windows apart, which only the rows can say."""
    assert here is not None
    text = RIGHT.replace('format = "parquet"\npath = "busy"', UPSERT)
    ran = call("run", job(folder, text), "--json")
    assert ran.exit_code == 1
    message = json.loads(ran.stdout.splitlines()[-1])["message"]
    assert message.startswith("upsert by 'antenna' finds ")
    assert message.endswith("apart in key=; the rows also have window, calls, longest")
    assert ran.stderr == f"Error: {message}\n"


def test_a_key_that_only_spark_can_miss_is_missed_before_the_stream_starts(here, folder):
    assert here is not None
    sql = "SELECT * FROM (SELECT window, count(*) AS n FROM calls [WATTR ts RANGE 4 MINUTES])"
    text = asking(sql).replace('format = "parquet"\npath = "busy"', UPSERT)
    path = job(folder, text)
    assert call("run", path, "--check").exit_code == 0
    ran = call("run", path)
    assert ran.exit_code == 1
    assert "sink.key: 'antenna' is not a column of the query's result, which has window, n" in (
        ran.stderr
    )
    assert not (folder / "checkpoint").exists()


def program(*words):
    return subprocess.run(
        [sys.executable, "-m", "fanlight", *map(str, words)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.spark  # of its own
def test_a_command_prints_no_record_of_pyspark_s(tmp_path):
    path = tmp_path / "calls.parquet"
    pq.write_table(pa.table({"ts": pa.array([0], pa.timestamp("us", "UTC")), "v": [1]}), path)
    text = "SELECT max(nope) FROM calls [WATTR ts RANGE 1 HOUR]"
    done = program("sql", text, "-t", f"calls={path}")
    assert done.returncode == 1
    said = done.stderr[done.stderr.index("Error: ") :].splitlines()
    assert said[0].startswith("Error: line 1, column 12: ")
    assert len(said) == 3
    assert "QueryContextLogger" not in done.stderr
    assert "at org.apache" not in done.stderr


class Heard(logging.Handler):
    """A handler that keeps what it is given."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture
def heard():
    handler = Heard()
    for name in LOGGERS:
        logging.getLogger(name).addHandler(handler)
    yield handler.records
    for name in LOGGERS:
        logging.getLogger(name).removeHandler(handler)


def test_what_is_refused_in_our_words_leaves_no_record_of_pyspark_s(classic, heard):
    """The user's own errors go on to leave theirs."""
    df = classic.sql("SELECT timestamp_seconds(id) AS ts, id FROM range(9)")
    asks = [
        lambda: fl.over(df, fl.Sliding("1 hour"), time="nope").agg(agg.count()),
        lambda: fl.over(df, fl.Sliding("1 hour"), time="ts", by="nope").agg(agg.count()),
        lambda: fl.over(df, fl.Sliding("1 hour"), time="ts").agg(agg.max("nope")),
        lambda: fl.over(df, fl.ThresholdFrame("nope > 1"), time="ts").frames(),
        lambda: fl.sql("SELECT max(nope) FROM df [WATTR ts RANGE 1 HOUR]", df=df),
        lambda: fl.sql("SELECT max(id) AS m FROM df [WATTR ts RANGE 1 HOUR] HAVING x > 1", df=df),
        lambda: fl.sql("SELECT x FROM (SELECT 1 FROM df [WATTR ts RANGE 1 HOUR] GROUP BY 1)",
                       df=df),
        lambda: fl.sql("SELECT count(*) FROM nobody [WATTR ts RANGE 1 HOUR]", df=df),
        lambda: fl.sql("SELECT max(id) FROM df [WATTR ts RANGE 1 HOUR] WHERE nope > 1", df=df),
    ]  # fmt: skip
    for ask in asks:
        with pytest.raises(fl.FanlightError):
            ask()
    assert not heard
    with pytest.raises(Exception, match="nope"):
        df.selectExpr("nope + 1").schema  # noqa: B018
    assert heard
