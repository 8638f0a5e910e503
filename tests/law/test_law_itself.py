"""The law can be broken: its comparison sees each way in which an answer may be wrong."""

from __future__ import annotations

from itertools import product

import pytest

from tests.law.ask import microseconds
from tests.law.comparison import agree, differences
from tests.law.kinds.spanning import SPECS
from tests.law.oracle import Wanted, several, wanted
from tests.law.registry import KINDS, SETTINGS, everything
from tests.law.run import micro_batches

NAN = float("nan")
WINDOW = {"start": 0, "end": 4}
SLACK = {"n": 0.0, "s": 1e-9, "list": 0.0, "x": 0.0}
RIGHT = [
    {"k": "a", "window": WINDOW, "n": 2, "s": 1.0, "list": [1, 2], "x": NAN},
    {"k": None, "window": WINDOW, "n": 1, "s": None, "list": [], "x": -0.0},
]
WANTED = [Wanted(row, SLACK) for row in RIGHT]


def changed(at, **more):
    return [{**row, **more} if number == at else row for number, row in enumerate(RIGHT)]


def test_a_right_answer_is_right():
    agree(RIGHT, WANTED)
    agree(changed(0, s=1.0 + 1e-10), WANTED)
    agree(changed(1, x=0.0), WANTED)
    agree(RIGHT[::-1], WANTED)
    agree([], [])


@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT[:1],
        [],
        [*RIGHT, RIGHT[0]],
        changed(0, k="b"),
        changed(0, window={"start": 0, "end": 5}),
        changed(0, n=3),
        changed(0, n=2.0),
        changed(0, n=None),
        changed(0, s=1.0 + 1e-6),
        changed(1, s=0.0),
        changed(0, list=[2, 1]),
        changed(0, list=[1]),
        changed(0, x=1.0),
        changed(0, more=1),
        [dict(reversed(row.items())) for row in RIGHT],
    ],
    ids=repr,
)
def test_a_wrong_answer_is_wrong(wrong):
    assert differences(wrong, WANTED)


def test_rows_without_numbers_are_counted():
    match = {"k": "a", "what": 1}
    wanted = [Wanted(match), Wanted(match), Wanted({"k": "b", "what": 2}, optional=True)]
    agree([match, match], wanted)
    agree([match, match, {"k": "b", "what": 2}], wanted)
    assert differences([match], wanted)
    assert differences([match] * 3, wanted)
    assert differences([match, match, {"k": "b", "what": 3}], wanted)


def test_every_kind_runs_everywhere():
    """Each kind in a batch and a stream, on Connect, by every strategy; settings by each engine."""
    every = [ask for ask in everything() if not ask.thorough]
    without = {KINDS[ask.kind].in_python(ask) for ask in every if ask.streamed and not ask.by}
    assert without == {False, True}
    batches = [(KINDS[ask.kind].in_python(ask), ask.setting) for ask in every if not ask.streamed]
    assert {*batches} >= {*product((False, True), SETTINGS)}
    for kind in KINDS.values():
        asked = [ask for ask in every if ask.kind == kind.name]
        assert {ask.strategy for ask in asked} == set(kind.strategies)
        assert {ask.action for ask in asked} == set(kind.oracles)
        for session in ("classic", "connect"):
            assert any(not ask.streamed for ask in asked if ask.session == session)
        assert any(ask.streamed and ask.session == "classic" for ask in asked)


def named(about):
    asked = [ask for ask in KINDS["levels"].batch if ask.about == about]
    return [(ask, [one.row for one in wanted(ask, several)]) for ask in asked]


def test_one_row_is_reported_once_a_level_if_only_changes_are():
    """It is in four windows of one level and in three of the other."""
    assert [len(rows) for _, rows in named("one row, changes only")] == [2, 7]


def test_finer_levels_are_consistent_with_coarser_ones():
    """A level's count is the sum of the finest level's counts where windows tumble."""
    ((ask, rows),) = named("tumbling")
    timed = sum(row["ts"] is not None for row in ask.data.rows)
    for level in (0, 1):
        assert sum(row["n"] for row in rows if row["level"] == level) == timed


def test_names_tell_asks_apart():
    names = [(ask.name, ask.data.name, repr(ask.options)) for ask in everything()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.parametrize("ask", [ask for ask in KINDS["spanning"].stream if ask.spec in SPECS],
                         ids=lambda ask: ask.name)  # fmt: skip
def test_events_that_last_are_not_late(ask):
    """The law's own watermark must let every event in: what is late is asked apart."""
    if ask.arrivals.pieces is not None:
        return
    known = [r for r in ask.data.rows if r["ts"] is not None and r["began"] is not None]
    most = max(row["ts"] - row["began"] for row in known)
    assert most + microseconds(ask.arrivals.late) <= microseconds(ask.arrivals.delay)
    assert len(micro_batches(ask)) > 1
