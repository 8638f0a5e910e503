"""The demo on a week of flights: it agrees, and it says so only if it does."""

from __future__ import annotations

import contextlib
import copy
import io
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest
from click.testing import CliRunner
from rich.console import Console

import demo
import fanlight as fl
from demo import arrivals, compare, flights, running
from demo.__main__ import main
from demo.outcome import Comparison, Outcome
from demo.page import build_page
from demo.questions import QUESTIONS, sliding, storms
from tests.plots.browser import MISSING, answer_of_page, chromium

LATE = 60
QUESTION = sliding.QUESTION


@pytest.fixture(scope="module")
def week():
    """That of the worst evening of the year."""
    raw = flights.read_zipped_csv(flights.data_folder() / "flights.csv.zip")
    day = raw["day"]
    days = pc.and_(pc.greater_equal(day, 5), pc.less_equal(day, 11))
    return flights.convert_flights(raw.filter(pc.and_(pc.equal(raw["month"], 3), days)))


@pytest.fixture(scope="module")
def weather():
    return flights.convert_weather(pa.csv.read_csv(flights.data_folder() / "weather.csv"))


@pytest.fixture(scope="module")
def printed():
    return io.StringIO()


def perform(spark, found, printed, work):
    """What the demo finds out, in one round."""
    rounds, demo.ROUNDS = demo.ROUNDS, 1
    with demo._progress(Console(file=printed, width=120)) as progress:
        demo.ask_questions(spark, found, work, progress)
    demo.ROUNDS = rounds
    return found


@pytest.fixture(scope="module")
def performed(classic, week, weather, printed, tmp_path_factory):
    """One question; the others are asked when all are."""
    arriving = arrivals.arrange(week, files=4, late=LATE)
    found = Outcome(week, weather, arriving, questions=(QUESTION,))
    return perform(classic, found, printed, tmp_path_factory.mktemp("demo"))


@pytest.fixture
def found(performed):
    """A copy to spoil."""
    made = copy.copy(performed)
    for name in ("answers", "against_spark", "streams", "streamed", "timings"):
        setattr(made, name, dict(getattr(performed, name)))
    return made


@pytest.mark.thorough
def test_stream_batch_and_spark_agree(performed):
    assert performed.agrees
    assert performed.against_spark[QUESTION].rows == performed.answers[QUESTION].num_rows > 1_000
    assert performed.streamed[QUESTION].rows > 1_000
    assert performed.streams[QUESTION].late == performed.arrivals.late == LATE
    assert performed.streams[QUESTION].batches >= 4
    assert performed.rejected == [("departed is null", performed.flights["departed"].null_count)]


@pytest.mark.thorough
def test_the_late_flights_make_a_difference(performed):
    """Were they not late, stream and batch would agree by doing nothing."""
    stream = running.collect(performed.streams[QUESTION].result, QUESTION.keys)
    assert compare.count_differences(stream, performed.answers[QUESTION], QUESTION.keys) >= LATE


@pytest.mark.thorough
@pytest.mark.usefixtures("performed")
def test_what_is_printed(printed):
    told = printed.getvalue()
    assert "of them are in no window, because departed is null: cancelled" in told
    assert "sliding windows" in told
    assert "DIFFER" not in told


@pytest.mark.thorough
def test_the_page_shows_all_of_it(performed):
    text = build_page(performed).html()
    for heading in ("Sliding windows", "The stream gives", "While windows are open", "How fast",
                    "The data"):  # fmt: skip
        assert heading in text
    assert "The results differ" not in text
    assert len(text) < 2_500_000


def test_what_is_shown_is_what_runs():
    for question in QUESTIONS:
        assert "fl.over(" in question.code
        assert "return" in question.spark_code
        assert '"""' not in question.code + question.spark_code


def spoil_spark(found):
    found.against_spark[QUESTION] = replace(found.against_spark[QUESTION], different=1)


def spoil_stream(found):
    found.streamed[QUESTION] = replace(found.streamed[QUESTION], different=1)


def spoil_count(found):
    found.streams[QUESTION] = replace(found.streams[QUESTION], late=LATE - 1)


def spoil_nothing_compared(found):
    found.streamed[QUESTION] = Comparison(0, 0)


def spoil_question_left_out(found):
    found.questions = (QUESTION, storms.QUESTION)


def spoil_so_far(found):
    found.so_far = replace(found.so_far, compared=replace(found.so_far.compared, different=1))


def spoil_no_so_far(found):
    found.so_far = None


SPOILERS = [
    spoil_spark, spoil_stream, spoil_count, spoil_nothing_compared, spoil_question_left_out,
    spoil_so_far, spoil_no_so_far,
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("spoil", SPOILERS)
def test_a_disagreement_is_seen(found, spoil):
    spoil(found)
    assert not found.agrees


@pytest.mark.thorough
@pytest.mark.parametrize("spoil", [None, spoil_spark, spoil_so_far])
def test_the_command_fails_if_anything_differs(found, spoil, monkeypatch, tmp_path):
    if spoil:
        spoil(found)

    def perform(_spark, outcome, _work, _progress):
        vars(outcome).update(vars(found))

    monkeypatch.setattr(demo, "ask_questions", perform)
    monkeypatch.setattr(running, "session", lambda _log: contextlib.nullcontext())
    ran = CliRunner().invoke(main, ["--out", str(tmp_path / "out")])
    text = (tmp_path / "out" / "demo.html").read_text("utf-8")
    assert ran.exit_code == (1 if spoil else 0), ran.output
    assert ("The results differ" in text) is bool(spoil)
    assert ("the results differ" in ran.output) is bool(spoil)


def test_a_stream_that_is_wrong_is_caught(classic, week, weather, monkeypatch, tmp_path):
    """The comparison itself: one airport of the stream is changed before it is compared."""
    arriving = arrivals.arrange(week, files=4, late=LATE)
    outcome = Outcome(week, weather, arriving, questions=(QUESTION,))

    class Done:
        isActive = False  # noqa: N815 - Spark's name
        recentProgress = ()  # noqa: N815 - Spark's name

    def wrong(spark, work, _query):
        right = QUESTION.ask(spark.read.parquet(str(work.parent / "on_time.parquet")))
        more = right.departures + (right.origin == "JFK").cast("int")
        return demo.streamed.Streamed(right.withColumn("departures", more), 1, LATE, 1)

    monkeypatch.setattr(demo.streamed, "start", lambda *_: Done())
    monkeypatch.setattr(demo.streamed, "finish", wrong)
    with demo._progress(Console(file=io.StringIO())) as progress:
        demo.ask_as_streams(classic, outcome, tmp_path, progress)
    assert outcome.streamed[QUESTION].different > 100
    assert not outcome.agrees


@pytest.mark.parametrize(
    ("took", "rounds"), [((1.0, 1.0), 2), ((0.5, 3.0), 2), ((0.5, 4.0), 1), ((3.1, 1.0), 1)]
)
def test_a_long_round_is_the_last(took, rounds, week, weather, monkeypatch):
    calls = []

    def timed(which, _df, _keys):
        calls.append(which)
        seconds = took[which == "plain"] - len(calls) / 1_000  # faster than the one before
        return pa.table({"window": [{"start": 1}]}), seconds

    question = replace(QUESTION, ask="ours", ask_spark="plain", keys=())
    outcome = Outcome(week, weather, None, questions=(question,))
    monkeypatch.setattr(running, "time_answer", timed)
    with demo._progress(Console(file=io.StringIO())) as progress:
        demo.ask_as_batch(None, outcome, progress)
    assert calls == ["ours", "plain"] * rounds
    timing = outcome.timings[question]
    assert timing.fanlight == took[0] - (2 * rounds - 1) / 1_000
    assert timing.spark == took[1] - 2 * rounds / 1_000


def test_the_reader_is_told_if_spark_does_not_start(monkeypatch, tmp_path):
    from pyspark.errors import PySparkRuntimeError

    class Builder:
        def __getattr__(self, name):
            return lambda *_: self

        def getOrCreate(self):  # noqa: N802 - Spark's name
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    class Session:
        builder = Builder()

    monkeypatch.setattr(running, "SparkSession", Session)
    with (
        pytest.raises(fl.FanlightError, match="Java 17 or newer"),
        running.session(tmp_path / "spark.log"),
    ):
        pass


@pytest.mark.thorough  # `make demo` does so with all flights
@pytest.mark.skipif(chromium() is None, reason=MISSING)
def test_all_questions(classic, week, weather, printed, tmp_path):
    found = Outcome(week, weather, arrivals.arrange(week, files=4, late=LATE))
    (tmp_path / "work").mkdir()
    perform(classic, found, printed, tmp_path / "work")
    assert found.agrees
    drawn = "return figures().map(one => one.querySelectorAll('.main-svg').length > 0)"
    (tmp_path / "page").mkdir()
    assert answer_of_page(tmp_path / "page", build_page(found).html(), drawn) == [True] * 7
