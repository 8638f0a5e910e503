"""A new kind is a spec, its entry, the oracle and a loop, as CONTRIBUTING.md says; no more."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import fanlight as fl
from fanlight.engine.kinds import forget, list_kinds, register, scheme_of
from fanlight.engine.operators import protocol
from fanlight.engine.operators.frames.running import MARKERS
from fanlight.engine.operators.protocol import BatchOperator
from fanlight.plots.sketches.svg import sketch_spec
from fanlight.watching.doctor import list_features, list_needing
from tests.algebra import signs
from tests.algebra.signs import SignFrame, Signs
from tests.helpers.dataframes import all_of, frame
from tests.helpers.events import examples
from tests.helpers.frames import query
from tests.law import run
from tests.law.ask import Arrivals, Ask
from tests.law.comparison import agree
from tests.law.kinds.frames import ARRIVING, ROWS
from tests.law.oracle import framing, numbered
from tests.operators import framed as operators
from tests.oracle import frames as oracle

REQUESTS = {
    "every": ("count",), "n_v": ("count", "v"), "max_v": ("max", "v"), "list": ("collect_list", "n")
}  # fmt: skip


class Forgetful(Signs):
    def initial_state(self, slots):
        return {"negative": np.ones(slots, np.bool_)}

    def write_marks(self, rows, out):
        forgotten = {**rows.state, **self.empty_state(len(rows.starts) - 1)}
        super().write_marks(rows._replace(state=forgotten), out)


def runner(classic, folder):
    return run.Runner({"classic": partial(run.beside, classic)}, folder)


SPECS = [SignFrame("v"), SignFrame("n")]  # doubles, whole numbers
CASES = operators.cases(count=60)


@pytest.fixture
def registered(monkeypatch):
    """What there is to register, for the time of a test."""
    monkeypatch.setitem(oracle.FRAMINGS, SignFrame, signs.framed)
    monkeypatch.setitem(MARKERS, "signs", Signs)
    register(signs.KIND)
    yield
    forget(signs.KIND)


def in_a_batch(rows, spec):
    asked, made = query(rows, spec, batch=True)
    made = operators.in_order(asked, made)
    return operators.got(
        BatchOperator(asked, None).results([operators.arrow(asked, [row]) for row in made])
    )


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_batch_is_framed_as_defined(monkeypatch, spec):
    monkeypatch.setattr(protocol, "PART", 1)  # the state is carried from row to row
    seen = 0
    for rows in CASES:
        found = in_a_batch(rows, spec)
        assert found == operators.expected(rows, spec)
        seen += len(found)
    assert seen > len(CASES)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_stream_gives_the_closed_frames_and_goes_on_from_a_checkpoint(spec):
    seen = 0
    for rows in CASES:
        asked, made = query(rows, spec)
        (plan,) = examples(operators.releases(made), 1)
        _, found = operators.streamed(asked, plan)
        assert operators.got(found) == operators.expected(rows, spec, unfinished=False)
        seen += sum(map(len, found))
    assert seen > len(CASES) // 4


@pytest.mark.usefixtures("registered")
def test_a_wrong_loop_is_seen(monkeypatch):
    monkeypatch.setattr(protocol, "PART", 1)
    monkeypatch.setitem(MARKERS, "signs", Forgetful)
    spec = SPECS[0]
    assert any(in_a_batch(rows, spec) != operators.expected(rows, spec) for rows in CASES)


@pytest.mark.usefixtures("registered")
def test_mistakes_are_refused():
    with pytest.raises(fl.FanlightError, match="does not name a column"):
        SignFrame(3)
    with pytest.raises(fl.FanlightError, match=r"column 's' is of type string.*cut by numbers"):
        scheme_of(SignFrame("s"), ["string"], "timestamp")


def test_nothing_is_left_behind():
    assert not {SignFrame} & {*(kind.spec for kind in list_kinds()), *oracle.FRAMINGS}
    assert "signs" not in MARKERS


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("spec", "action", "judge"),
    [(SPECS[0], "agg", framing), (SPECS[1], "agg", framing), (SPECS[0], "rows", numbered)],
)
def test_it_agrees_in_a_batch(classic, tmp_path, spec, action, judge):
    ask = Ask("frames", "mine", spec, ROWS, REQUESTS if action == "agg" else {}, action=action)
    agree(runner(classic, tmp_path).run(ask), judge(ask, ask.data.rows))


@pytest.mark.usefixtures("registered")
@pytest.mark.streaming
@pytest.mark.slow
def test_it_agrees_in_a_stream(classic, tmp_path):
    ask = Ask("frames", "mine", SPECS[0], ARRIVING, REQUESTS, arrivals=Arrivals(1))
    agree(runner(classic, tmp_path).run(ask), framing(ask, ask.data.rows))


@pytest.mark.usefixtures("registered")
def test_it_is_explained(classic):
    windows = fl.over(frame(classic, []), SPECS[0], time="ts", by="k", tiebreak="seq")
    page = windows.explain()
    assert SPECS[0].ends in page
    assert "a compiled loop" in page
    with pytest.raises(fl.FanlightError, match=r"using\('native'\)"):
        windows.using("native").agg(fl.agg.count())


@pytest.mark.usefixtures("registered")
def test_it_is_written_and_read_in_sql(classic):
    spec, text = SPECS[0], "[WATTR ts PARTITION BY k FRAME SIGNS OF v]"
    assert fl.clause(spec, time="ts", by="k") == text
    signed = frame(classic, ROWS.rows)
    query = f"SELECT k, window, count(*) AS n FROM signed {text} GROUP BY k"
    found = fl.sql(query, signed=signed).collect()
    windows = fl.over(signed, spec, time="ts", by="k")
    wanted = windows.agg(n=fl.agg.count()).select("k", "window", "n").collect()
    assert all_of(found) == all_of(wanted)
    with pytest.raises(fl.FanlightError, match="v is not expected here; expected OF"):
        fl.sql("SELECT count(*) FROM signed [WATTR ts FRAME SIGNS v]", signed=signed)
    with pytest.raises(fl.FanlightError, match="SIGNS OF 'nope' is not a column"):
        fl.sql("SELECT count(*) FROM signed [WATTR ts FRAME SIGNS OF nope]", signed=signed)


@pytest.mark.usefixtures("registered")
def test_the_doctor_knows_what_it_needs():
    assert signs.KIND.features[0] in list_features()
    assert "frames of one sign (streams)" in list_needing("RocksDB")


@pytest.mark.usefixtures("registered")
def test_it_is_drawn():
    (values, found) = sketch_spec(SPECS[0]).lanes
    assert (values.rules, found.name) == ((0.5,), "signs")
    assert [(mark.start, mark.end) for mark in found.marks] == [(0, 8), (8, 17), (17, 23)]
    assert "<svg" in SPECS[0]._repr_html_()


@pytest.mark.usefixtures("registered")
def test_what_others_call_it_is_known():
    with pytest.raises(AttributeError, match=r"write fl\.over\(df, SignFrame\('v'\)"):
        fl.SignWindow  # noqa: B018


@pytest.mark.usefixtures("registered")
def test_the_site_has_a_place_for_it():
    assert "SignFrame" in {kind.name for kind in list_kinds()}
