"""What the commands say and how they end, where no Spark is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from pyspark.errors import AnalysisException

import fanlight as fl
from fanlight.cli import commands, display, running, sessions
from fanlight.cli.jobs.document import InvalidJobError
from tests.cli.jobs import RIGHT, call, written


@pytest.fixture
def no_spark(monkeypatch):
    """Whoever starts a session fails."""

    def session(*_):
        pytest.fail("Spark was started")

    monkeypatch.setattr("fanlight.cli.sessions.session", session)
    monkeypatch.setattr("fanlight.cli.display.session", session)


def test_every_command_has_help_that_begins_with_a_sentence():
    for name in commands.fanlight.commands:
        told = call(name, "--help")
        assert told.exit_code == 0
        assert name in call("-h").output
        assert told.output.splitlines()[2].strip()


@pytest.mark.usefixtures("no_spark")
def test_check_starts_no_spark_and_says_whether_the_file_is_right(tmp_path):
    told = call("run", written(tmp_path), "--check")
    assert (told.exit_code, told.stdout) == (0, f"{tmp_path}/busy.toml is valid\n")
    told = call("run", tmp_path / "busy.toml", "--check", "--json")
    assert json.loads(told.stdout)["event"] == "checked"


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(
    "words", [["run"], ["run", "--check"], ["explain"], ["plot", "-o", "out.html"]]
)
def test_an_invalid_file_ends_with_2_before_spark_starts(words, tmp_path):
    path = written(tmp_path, RIGHT.replace("RANGE", "RNAGE"))
    told = call(*words, path)
    assert told.exit_code == 2
    assert told.stderr.startswith(f"Error: {path}:14: query.sql: line 2, column 22: RNAGE")


@pytest.mark.usefixtures("no_spark")
def test_an_error_is_json_too_if_asked_for(tmp_path):
    told = call("run", written(tmp_path, "a = 1"), "--json")
    found = json.loads(told.stdout)
    assert (found["event"], found["exit_code"], told.exit_code) == ("error", 2, 2)


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "no such file"],
        ["run", __file__, "--fast"],
        ["run", __file__, "--port", "8000"],
        ["run", __file__, "--watch", "--port", "65536"],
        ["doctor", "--conf", "spark.x"],
        ["sql", "SELECT 1", "-t", "bids"],
        ["sql"],
        ["completion", "cmd"],
        ["plot", __file__],
    ],
)
def test_wrong_usage_ends_with_2(words):
    assert call(*words).exit_code == 2


@pytest.mark.parametrize(
    ("package", "words", "extra"),
    [
        ("pyspark", ["doctor"], "spark"),
        ("rich", ["sql", "SELECT 1"], "cli"),
        ("plotly", ["plot", __file__, "-o", "x.html"], "plot"),
    ],
)
@pytest.mark.usefixtures("no_spark")
def test_a_missing_package_is_named_with_its_extra(package, words, extra, monkeypatch):
    monkeypatch.setattr(
        sessions, "find_spec", lambda name: None if name == package else find_spec(name)
    )
    told = call(*words)
    assert told.exit_code == 1
    assert f"needs {package}" in told.output
    assert f"pip install 'fanlight[{extra}]'" in told.output


@pytest.mark.usefixtures("no_spark")
def test_the_doctor_says_that_there_is_no_java(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setenv("PATH", "")
    told = call("doctor", "--json")
    assert told.exit_code == 1
    assert "install one, and set JAVA_HOME" in json.loads(told.stdout)["message"]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InvalidJobError("a.toml:1: x"), 2, "a.toml:1: x"),
        (fl.FanlightError("no"), 1, "no"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (AnalysisException("[TABLE_NOT_FOUND] x\n\na\nb\nc"), 1, "[TABLE_NOT_FOUND] x\na\nb"),
    ],
)
def test_exit_codes(error, code, said, capsys):
    with pytest.raises(SystemExit) as ended, display.report_outcome():
        raise error
    assert (ended.value.code, capsys.readouterr().err) == (code, f"Error: {said}\n")


def test_a_mistake_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError), display.report_outcome():
        raise ZeroDivisionError


@pytest.mark.parametrize("shell", commands.SHELLS)
def test_completion_prints_a_script(shell):
    told = call("completion", shell)
    assert told.exit_code == 0
    assert f"_FANLIGHT_COMPLETE={shell}_complete" in told.output


def test_a_shell_completes_commands_and_options():
    def completed(words, at):
        told = {"_FANLIGHT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at}
        command = [sys.executable, "-c", "from fanlight.cli import main; main()"]
        return subprocess.run(
            command, env={**os.environ, **told}, capture_output=True, text=True, check=True
        ).stdout.split()

    assert completed("fanlight do", "1") == ["plain,doctor"]
    assert "plain,--check" in completed("fanlight run --", "2")
    assert completed("fanlight run ", "2") == ["file,"]


class Progress:
    """What Spark tells of a micro-batch."""

    def __init__(self, batch, rows, *, executed=True):
        self.name, self.batchId, self.numInputRows = "busy", batch, rows
        self.timestamp = f"2024-05-01T12:00:{len(Query.told):02}.000Z"
        self.durationMs = {"addBatch": 1} if executed else {}
        self.observedMetrics, self.stateOperators, self.eventTime = {}, [], {}
        self.batchDuration, self.processedRowsPerSecond = 10, rows * 100
        Query.told.append(self)


class Query:
    """A query that tells of micro-batches."""

    told: list = []  # noqa: RUF012 - emptied by each test
    recentProgress = property(lambda _: Query.told[-3:])  # noqa: N815
    lastProgress = property(lambda _: Query.told[-1] if Query.told else None)  # noqa: N815


def test_each_micro_batch_is_heard_of_once_whatever_spark_repeats():
    Query.told.clear()
    told, query = running.StreamTotals(), Query()
    assert list(told.take_new(query)) == []
    Progress(0, 5)
    Progress(1, 7)
    assert [one.rows for one in told.take_new(query)] == [5, 7]
    assert list(told.take_new(query)) == []
    Progress(2, 0, executed=False)  # nothing has come: not yet this micro-batch
    assert list(told.take_new(query)) == []
    Progress(2, 3)
    assert [one.batch for one in told.take_new(query)] == [2]
    assert (told.rows, told.batches, told.last.rows) == (15, 3, 3)
