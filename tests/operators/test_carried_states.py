"""What is kept of a key whose state is carried over nulls, and for how long."""

from __future__ import annotations

import fanlight as fl
from tests.helpers.events import MINUTE
from tests.helpers.frames import query
from tests.operators.framed import got, streamed

BOTH = fl.StateFrame(["s", "n >= 1"], nulls="carry", max_gap="1 minute")


def row(at, **values):
    return {"k": "a", "ts": at * MINUTE, "v": None, "n": None, "s": None} | values


def frames_of(rows, spec, **more):
    """The first minute of each frame, and how many rows it has; each row by itself, restarted."""
    asked, made = query(rows, spec, **more)
    plan = [([one], one[1]) for one in made]
    operator, found = streamed(asked, [*plan, ([], 100 * MINUTE)])
    return sorted((one[2] // MINUTE, one[4]) for one in got(found)), operator


def test_a_state_is_known_before_there_is_a_frame():
    """Its columns may become known one after the other, at any time."""
    rows = [row(0, s="x"), row(30), row(31, n=2), row(60), row(61, s="y")]
    assert frames_of(rows, BOTH)[0] == [(31, 1), (60, 1), (61, 1)]


def test_a_key_without_a_value_is_not_kept():
    rows = [row(0), row(1), row(2, s=None)]
    found, operator = frames_of(rows, BOTH)
    assert found == []
    assert operator.opened().assembly.slots == 0


def test_what_is_known_of_a_key_is_forgotten_with_it():
    rows = [row(0, s="x", n=1), row(4), row(14), row(15, s="x", n=1), row(17)]
    assert frames_of(rows, BOTH, forget_after=5 * MINUTE)[0] == [(0, 1), (4, 1), (15, 1), (17, 1)]


def test_only_states_that_are_carried_are_kept():
    for nulls in ("state", "skip", "end"):
        asked, _ = query([], fl.StateFrame("s", nulls=nulls))
        names = asked.start().snapshot().tables[0].column_names
        assert not any(name.startswith("known") for name in names)
