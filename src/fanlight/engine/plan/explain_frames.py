"""What ``explain()`` says about frames: what ends them, and how they are found."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.explain import (
    Explained,
    forgetting_facts,
    strategy_facts,
    write_page,
)
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.late_rows import BEHIND, OUTPUT, OUTPUT_EARLY, Lateness, late_fact
from fanlight.engine.plan.ordered import BY_PYTHON
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.units import Extent


def explain_frames(
    spec: Frame,
    plan: Plan[Scheme],
    time: str,
    by: Sequence[str],
    aggregates: Sequence[str],
    *,
    state: str,
    by_spark: bool,
    silence: Extent | None = None,
    early: bool = False,
    late: Lateness | None = None,
    options: str = "",
    verbose: bool = False,
) -> Explained:
    """The page of frames: when one ends, and how frames are found.

    ``state`` says where a stream keeps its state, and is empty for a batch; ``by_spark`` whether
    Spark groups rows by their frame; ``silence`` after how long a silence a key is forgotten;
    ``early`` whether frames are given also while they are open; ``late`` what becomes of late
    rows; ``options`` what is asked of the frames.
    """
    streaming = bool(state)
    search = _describe_search(plan)
    if streaming:
        search += ", in one stateful operator, once the watermark has passed them"
    elif by_spark or plan.chosen.way is ways.FRAMES_COMPARED:
        search += "; then Spark groups the rows of each frame"
    facts = [
        ("computes", ", ".join(aggregates) or "the bounds of frames"),
        ("a frame ends", spec.ends),
        ("how", search),
        *([("options", options)] if options else []),
        *strategy_facts(plan, verbose=verbose),
    ]
    if verbose:
        facts.append(("guaranteed", ", ".join(sorted(spec.guarantees))))
    if streaming:
        kept = f"{_KEPT} for {_count_open(plan.chosen.pieces)}{_describe_means(plan.chosen.pieces)}"
        facts += [("keeps", f"{kept}; {state}")]
    facts += forgetting_facts(silence, grows=streaming)
    if streaming:
        facts.append(late_fact(BEHIND, late or Lateness()))
    text = write_page(
        spec, repr(time), by, facts, plan, streaming=streaming, per="a row", verbose=verbose,
        output=OUTPUT_EARLY if early else OUTPUT,
    )  # fmt: skip
    return Explained(text, Picture(spec))


_KEPT = "of each key, the rows that the watermark has not passed, and one partial of each aggregate"


def _count_open(scheme: Scheme) -> str:
    several = scheme.overlapping and scheme.kind == "logical"
    return "each open frame, of which there may be any number" if several else "the open frame"


def _describe_means(scheme: Scheme) -> str:
    """The state of means in limits, in words. Empty if limits have no means."""
    numbers = sum(mean.last for limit in scheme.limits if limit for mean in limit.means)
    return f", and up to {numbers:,} numbers that its limits are means of" if numbers else ""


def _describe_search(plan: Plan[Scheme]) -> str:
    if plan.chosen.way is ways.FRAMES_COMPARED:
        return "each row of a key is compared with those before it, in Spark SQL"
    how = "row by row in Python" if plan.chosen.pieces.kind in BY_PYTHON else "by a compiled loop"
    return f"the rows of a key are gone through once, in order of time, {how}"
