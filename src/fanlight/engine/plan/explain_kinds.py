"""What ``explain()`` says about frames, snapshots, trailing windows and progressive widening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.explain import (
    About,
    Explained,
    strategy_facts,
)
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.ordered import BY_PYTHON
from fanlight.engine.plan.trailing import EVER, Horizon
from fanlight.engine.plan.widening import (
    Level,
    bound_on_work,
    most_kept_rows,
    most_window_rows,
    units_as_text,
)
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.trailing import Labelled
from fanlight.engine.spec.widening import ProgressiveWidening


def explain_frames(
    spec: Frame, plan: Plan[Scheme], about: About, aggregates: Sequence[str], *, by_spark: bool
) -> Explained:
    """The page of frames: when one ends, and how frames are found.

    ``by_spark`` says whether Spark groups rows by their frame.
    """
    scheme = plan.chosen.pieces
    search = _describe_search(plan)
    if about.streaming:
        search += ", in one stateful operator, once the watermark has passed them"
    elif by_spark or plan.chosen.way is ways.FRAMES_COMPARED:
        search += "; then Spark groups the rows of each frame"
    facts = [
        ("computes", ", ".join(aggregates) or "the bounds of frames"),
        ("a frame ends", spec.ends),
        ("how", search),
        *about.option_facts,
        *strategy_facts(plan, verbose=about.verbose),
    ]
    if about.verbose:
        facts.append(("guaranteed", ", ".join(sorted(spec.guarantees))))
    kept = f"{_KEPT} for {_count_open(scheme)}{_describe_means(scheme)}; {about.state}"
    return about.page(facts, plan, keeps=[("keeps", kept)], grows=True, per="per row")


_KEPT = (
    "for each key, the rows that the watermark has not passed, and one partial of each aggregate"
)


def _count_open(scheme: Scheme) -> str:
    several = scheme.overlapping and scheme.kind == "logical"
    return "each open frame, of which there may be any number" if several else "the open frame"


def _describe_means(scheme: Scheme) -> str:
    """The state of means in limits, in words. Empty if limits have no means."""
    numbers = sum(mean.last for limit in scheme.limits if limit for mean in limit.means)
    return f", and up to {numbers:,} numbers for the means in its limits" if numbers else ""


def _describe_search(plan: Plan[Scheme]) -> str:
    if plan.chosen.way is ways.FRAMES_COMPARED:
        return "each row of a key is compared with those before it, in Spark SQL"
    how = "row by row in Python" if plan.chosen.pieces.kind in BY_PYTHON else "by a compiled loop"
    return f"the rows of a key are read once, in order of time, {how}"


_WINDOWS = "from each start or stop of a key to its next one, where an event is running"
_NATIVE = "by Spark, which numbers starts and stops by a sort, and enters an event twice"
_IN_PYTHON = "in one pass in Python over events in the order of their starts"
_STREAM = "by one operator, which keeps the events that the watermark has not passed"
_LATE = "dropped once the watermark has passed their start"


def explain_snapshot(native: str, about: About) -> Explained:
    """The page; ``native`` says why a batch is left to Spark, and is empty if it is not."""
    how = f"{_NATIVE}: {native}" if native else _STREAM if about.streaming else _IN_PYTHON
    facts = [("windows", _WINDOWS), ("computed", how), *about.rejected_facts]
    about = replace(about, silence=None)  # keys are kept
    return about.page(facts, keeps=[("state", about.state)], rule=_LATE, over=repr(about.time))


_ASKING = "at(…) keeps them until the watermark, one for both streams, passes them"


def explain_trailing(
    spec: Labelled, plan: Plan[tuple[Horizon, ...]], about: About, aggregates: Sequence[str]
) -> Explained:
    """The page of trailing windows."""
    how = "Spark aggregates each window from scratch (RANGE BETWEEN)"
    if plan.chosen.way is not ways.FOLDED:
        how = (
            "the rows of a key are read once, in order of time; each enters and leaves a "
            "window once, however long it is (two stacks; exact sums by difference)"
        )
    if about.streaming:
        how += ", in one stateful operator, once the watermark has passed them"
    facts = [
        ("computes", ", ".join(aggregates) or "nothing yet"),
        ("how", how),
        *about.option_facts,
        *strategy_facts(plan, verbose=about.verbose),
    ]
    horizons = plan.chosen.pieces
    kept = f"{_describe_kept(spec, horizons)}; {about.state}"
    return about.page(
        facts, plan, keeps=[("keeps", kept), ("other rows", _ASKING)],
        grows=any(horizon.first == EVER for horizon in horizons), per="per row",
    )  # fmt: skip


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
        kept.append("one partial of all earlier rows")
    return f"for each key, as partials of one row: {', '.join(kept)}"


def explain_widening(
    spec: ProgressiveWidening, plan: Plan[tuple[Level, ...]], about: About, warning: str | None
) -> Explained:
    """The page: a line for each level, then what each may hold, and what the search may cost."""
    levels = plan.chosen.pieces
    limit = spec.max_rows
    facts = [
        ("levels", f"{len(levels)}; a window is two batches long, one every batch"),
        ("", "level  batch             window            rows per window, at most"),
    ]
    for level in levels:
        batch, window = (units_as_text(spec, n * level.duration) for n in (1, 2))
        most = f"{most_window_rows(level, limit):,}"
        facts.append(("", f"{level.number:5}  {batch:16}  {window:16}  {most}"))
    window = units_as_text(spec, 2 * levels[-1].duration)
    facts += [
        (
            "covers",
            f"every pattern of at most {limit} rows of a key and at most {spec.max_duration}",
        ),
        ("longest", f"{spec.max_duration} for an Episode; a function sees windows of {window}"),
        ("reports", "each match once, from the first window that ends with the whole match in it"),
    ]
    per_second = bound_on_work(levels, limit) * (1_000_000 if spec.measure == "time" else 1)
    unit = "second" if spec.measure == "time" else "unit of time"
    facts.append(("searches", f"at most {per_second:,.2f} rows per {unit} and key (Theorem 2)"))
    waiting = ", and those that the watermark has not passed" if about.streaming else ""
    facts += [
        ("keeps", f"at most {most_kept_rows(levels, limit):,} rows per key{waiting}"),
        ("assumes", f"a batch of level 0 has at most {limit:,} rows of a key (Theorem 2)"),
    ]
    facts += [("warning", warning)] if warning else []
    return about.page(facts, plan, keeps=[("state", about.state)])
