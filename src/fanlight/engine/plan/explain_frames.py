"""What ``explain()`` says about frames: what ends them, their guarantees, how they are found."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.explain import Explained, page
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.late import BEHIND
from fanlight.engine.plan.ordered import BY_PYTHON
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictured import Picture


def explain_frames(
    spec: Frame,
    plan: Plan[Scheme],
    time: str,
    by: Sequence[str],
    *,
    state: str,
    by_spark: bool,
) -> Explained:
    """The framing in words, and its candidates; ``state`` says where a stream keeps its state."""
    streaming = bool(state)
    scheme = plan.chosen.pieces
    how = "row by row in Python" if scheme.kind in BY_PYTHON else "a compiled loop, O(1) a row"
    aggregates = "combined in the same pass"
    if streaming:
        run = (
            "one stateful operator; rows wait for the watermark, then are put in order; of an open "
            "frame it keeps one partial for each field"
        )
    elif plan.chosen.way is ways.FRAMES_COMPARED:
        how = "each row compared with those before it, and a running count, in Spark SQL"
        run = "one shuffle by key, one sort by key and time; no row goes through Python"
        aggregates = "grouped by Spark"
    else:
        run = "one shuffle by key, one sort by time, one pass"
        if by_spark:
            aggregates = "grouped by Spark over rows that have the number of their frame"
    facts = [
        ("a frame ends", spec.ends),
        ("guaranteed", ", ".join(sorted(spec.guarantees))),
        ("framing", how + (" (asked for)" if plan.forced else "")),
        ("run", run),
        ("aggregates", aggregates),
    ]
    if streaming:
        facts += [("state", state), ("late rows", BEHIND)]
    text = page(spec, repr(time), by, facts, plan, streaming=streaming, per="a row")
    return Explained(text, Picture(spec))
