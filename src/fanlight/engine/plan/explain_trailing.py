"""What ``explain()`` says about trailing windows."""

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
from fanlight.engine.plan.late_rows import BEHIND, Lateness, late_fact
from fanlight.engine.plan.trailing import EVER, Horizon
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.trailing import Labelled
from fanlight.engine.spec.units import Extent

_ASKING = "at(…) keeps those that ask until the watermark, one for both streams, passes them"


def explain_trailing(
    spec: Labelled,
    plan: Plan[tuple[Horizon, ...]],
    time: str,
    by: Sequence[str],
    aggregates: Sequence[str],
    *,
    state: str,
    silence: Extent | None = None,
    late: Lateness | None = None,
    options: str = "",
    verbose: bool = False,
) -> Explained:
    """The page of trailing windows; ``state`` is empty for a batch.

    ``late`` says what becomes of late rows, and ``options`` what is asked of the windows.
    """
    streaming = bool(state)
    how = "Spark adds up the rows of each window anew (RANGE BETWEEN)"
    if plan.chosen.way is not ways.FOLDED:
        how = (
            "the rows of a key are gone through once, in order of time; each enters and leaves a "
            "window once, however long it is (two stacks; exact sums by difference)"
        )
    if streaming:
        how += ", in one stateful operator, once the watermark has passed them"
    facts = [
        ("computes", ", ".join(aggregates) or "nothing yet"),
        ("how", how),
        *([("options", options)] if options else []),
        *strategy_facts(plan, verbose=verbose),
    ]
    horizons = plan.chosen.pieces
    if streaming:
        facts.append(("keeps", f"{_describe_kept(spec, horizons)}; {state}"))
        facts.append(("other rows", _ASKING))
    grows = streaming and any(horizon.first == EVER for horizon in horizons)
    facts += forgetting_facts(silence, grows=grows)
    if streaming:
        facts.append(late_fact(BEHIND, late or Lateness()))
    text = write_page(
        spec, repr(time), by, facts, plan, streaming=streaming, per="a row", verbose=verbose
    )
    return Explained(text, Picture(spec))


def _describe_kept(spec: Labelled, horizons: Sequence[Horizon]) -> str:
    """What a stream keeps of each key."""
    pairs = list(zip(spec.windows, horizons, strict=True))
    kept = []
    if any(horizon.first < EVER for _, horizon in pairs):
        longest, _ = max(
            ((w, h) for w, h in pairs if h.first < EVER), key=lambda pair: pair[1].first
        )
        kept.append(f"the rows of {longest.range}" + (" and the delay" if longest.delay else ""))
    if any(horizon.rows for horizon in horizons):
        kept.append(f"the last {max(horizon.rows for horizon in horizons)} rows")
    if any(horizon.whole for horizon in horizons):
        kept.append("one partial of all rows before")
    return f"of each key, as partials of one row: {', '.join(kept)}"
