"""The demo on a week of flights: it agrees, and it says so only if it does."""

from __future__ import annotations

import contextlib
import copy
import io
from dataclasses import replace

import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from rich.console import Console

from fanlight.cli import arrivals, commands, demo, flights, job
from fanlight.cli.outcome import Agreement, Outcome
from fanlight.cli.page import page

LATE = 60


@pytest.fixture(scope="module")
def week():
    raw = flights.raw(flights.folder() / "flights.csv.zip")
    first = pc.and_(pc.equal(raw["month"], 1), pc.less_equal(raw["day"], 7))
    return flights.departures(raw.filter(first))


@pytest.fixture(scope="module")
def printed():
    return io.StringIO()


@pytest.fixture(scope="module")
def performed(classic, week, printed, tmp_path_factory):
    """What the demo finds out about one case, on Spark."""
    names = flights.carriers(flights.folder() / "airlines.csv")
    arriving = arrivals.arrange(week, files=4, late=LATE)
    found = Outcome(week, names, arriving, cases=job.CASES[:1])
    work = tmp_path_factory.mktemp("demo")
    rounds, demo.ROUNDS = demo.ROUNDS, 1
    with demo._progress(Console(file=printed, width=80)) as progress:
        demo.perform(classic, found, work, progress)
    demo.ROUNDS = rounds
    return found


@pytest.fixture
def found(performed):
    """A copy to spoil."""
    made = copy.copy(performed)
    for name in ("agreements", "streams", "timings"):
        setattr(made, name, dict(getattr(performed, name)))
    return made


def test_stream_batch_and_spark_agree(performed):
    (case,) = performed.cases
    assert performed.agrees
    assert performed.compared == performed.agreements[case].windows > 5_000
    assert performed.streams[case].dropped == performed.arrivals.late == LATE
    assert len(performed.streams[case].batches) >= 4
    assert sum(performed.results[case]["departures"].to_pylist()) == 3 * (
        performed.rows - performed.flights["departed"].null_count
    )  # each flight is in three windows
    assert performed.rejected == [("departed is null", performed.flights["departed"].null_count)]


def test_every_plan_names_its_technique(performed):
    known = {"panes", "pairs", "differential", "expand"}
    assert set(performed.plans) == set(performed.batch_cases)
    for plan in (*performed.plans.values(), *performed.stream_plans.values()):
        assert job.technique(plan) in known


def test_the_late_flights_make_a_difference(performed):
    """Were they not late, stream and batch would agree by doing nothing."""
    (case,) = performed.cases
    streamed = job.collected(performed.streams[case].result, case)
    assert job.different(streamed, performed.results[case]) >= LATE


@pytest.mark.usefixtures("performed")
def test_what_is_printed(printed):
    told = printed.getvalue()
    assert "strategy" in told
    assert "equal to the batch; 60 of 60 late flights dropped" in told
    assert "results of fanlight and of Spark's own window(): equal" in told
    assert "DIFFER" not in told


def spoil_agreement(found):
    (case,) = found.cases
    found.agreements[case] = replace(found.agreements[case], different=1)


def spoil_timing(found):
    found.timings[job.AIRPORTS] = replace(found.timings[job.AIRPORTS], different=1)


def spoil_count(found):
    (case,) = found.cases
    found.streams[case] = replace(found.streams[case], batches=found.streams[case].batches[:2])


def spoil_nothing_compared(found):
    (case,) = found.cases
    found.agreements[case] = Agreement(0, 0)


def spoil_case_left_out(found):
    found.agreements.clear()


SPOILERS = [
    spoil_agreement,
    spoil_timing,
    spoil_count,
    spoil_nothing_compared,
    spoil_case_left_out,
]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_a_disagreement_is_seen(found, spoil):
    spoil(found)
    assert not found.agrees


def test_the_page_shows_all_of_it(performed):
    text = page(performed).html()
    for heading in ("The year", "The stream gives", "How fast", "The plan", "The data"):
        assert heading in text
    assert performed.cases[0].name in text
    assert "The results differ" not in text
    assert len(text) < 8_000_000


@pytest.mark.parametrize(
    ("took", "rounds"), [((1.0, 1.0), 2), ((0.5, 3.0), 2), ((0.5, 4.0), 1), ((4.1, 0.5), 1)]
)
def test_a_long_round_is_the_last(took, rounds, monkeypatch):
    calls = []

    def seconds(which):
        calls.append(which)
        return took[which] - len(calls) / 1_000  # each is faster than the one before

    monkeypatch.setattr(job, "seconds", seconds)
    best = demo.timed(0, 1)
    assert calls == [0, 1] * rounds
    assert best == (took[0] - (2 * rounds - 1) / 1_000, took[1] - 2 * rounds / 1_000)


@pytest.mark.parametrize("spoil", [None, spoil_agreement])
def test_the_command_fails_if_anything_differs(found, spoil, monkeypatch, tmp_path):
    if spoil:
        spoil(found)

    def perform(_spark, outcome, _work, _progress):
        vars(outcome).update(vars(found))

    monkeypatch.setattr(demo, "perform", perform)
    monkeypatch.setattr(job, "session", lambda _log: contextlib.nullcontext())
    ran = CliRunner().invoke(commands.fanlight, ["demo", "--out", str(tmp_path / "out")])
    text = (tmp_path / "out" / "demo.html").read_text("utf-8")
    assert ran.exit_code == (1 if spoil else 0), ran.output
    assert ("The results differ" in text) is bool(spoil)
    assert ("the results differ" in ran.output) is bool(spoil)


def test_a_stream_that_is_wrong_is_caught(classic, week, monkeypatch, tmp_path):
    """The comparison itself: one window of the stream is changed before it is compared."""
    names = {}
    arriving = arrivals.arrange(week, files=4, late=LATE)
    outcome = Outcome(week, names, arriving, cases=job.CASES[3:])
    (case,) = outcome.cases

    def wrong(spark, _files, work, case, _tick):
        df = spark.read.parquet(str(work.parent / "on_time.parquet"))
        right = job.answer(df, case)
        return demo.streamed.Streamed(
            right.withColumn("departures", right.departures + (right.origin == "JFK").cast("int")),
            (demo.streamed.Batch(1, 1.0, 1, LATE),),
        )

    monkeypatch.setattr(demo.streamed, "run", wrong)
    with demo._progress(Console(file=io.StringIO())) as progress:
        demo.as_streams(classic, outcome, tmp_path, progress)
    assert outcome.agreements[case].different > 100
    assert not outcome.agrees
