"""Whether frames are the oracle's: bounds, numbers, rows and aggregates."""

from __future__ import annotations

import fanlight as fl
from fanlight.reference import aggregates
from fanlight.reference.frames import framed, frames
from fanlight.reference.values import rank
from tests.compare import EVERYTHING, same, tolerance
from tests.dataframes import calls, collected
from tests.frames import HOLDS

COARSE, EXACT = fl.Sliding("1 minute"), fl.Sliding(fl.rows(1))  # sketches in a batch, none later
PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
# Frames have a column ``rows`` of their own.
EVERY = {"every" if name == "rows" else name: asked for name, asked in EVERYTHING.items()}
BOUNDS = ("frame_id", "rows", "closed")


def over(df, spec, requests, *, by=("case", "k"), tiebreak=("seq",), strategy="auto"):
    """The library's answer, as a DataFrame."""
    windowed = fl.over(df, spec, time="ts", by=list(by), tiebreak=list(tiebreak)).using(strategy)
    return windowed.agg(**calls(requests)) if requests else windowed.frames()


def check(got, rows, spec, requests, *, unfinished=True, by=("case", "k"), exact=False):
    """Compare a result with the oracle's; one message names the first few differences."""
    where = {**PLACE, "by": list(by), "holds": HOLDS}
    expected = frames(rows, spec, aggregates=requests, unfinished=unfinished, **where)
    columns = [column for request in requests.values() for column in _columns(request)]
    members = [f for f in framed(rows, spec, values=columns, **where) if unfinished or f.closed]
    found = {}
    for row in got:
        at = _place(row, by)
        assert at not in found, f"frame {at} is reported twice"
        found[at] = row
    wanted = {_place(row, by): row for row in expected}
    assert wanted, "nothing to compare"
    missing, extra = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    assert found.keys() == wanted.keys(), f"missing {missing[:5]}, not expected {extra[:5]}"
    wrong = []
    for row, frame in zip(expected, members, strict=True):
        result = found[_place(row, by)]
        assert list(result) == list(row)
        wrong += [
            f"{name} of {frame.key} {row['frame_id']}: {result[name]}, not {row[name]}"
            for name in ("window", *BOUNDS)
            if result[name] != row[name]
        ]
        for name, request in requests.items():
            slack = tolerance(request, frame, EXACT if exact else COARSE, "ts")
            if not same(result[name], row[name], slack):
                wrong.append(
                    f"{request} of {frame.key} {row['frame_id']}: "
                    f"got {result[name]!r}, expected {row[name]!r}"
                )
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:12])


def _columns(request):
    return aggregates.split(request)[1]


def _place(row, by):
    return tuple(rank(row[name]) for name in by), row["frame_id"]


def agree(session_frame, rows, spec, requests, *, strategy="auto", **how):
    by = how.get("by", ("case", "k"))
    got = collected(over(session_frame, spec, requests, by=by, strategy=strategy))
    check(got, rows, spec, requests, **how)
