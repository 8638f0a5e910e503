"""What ``explain()`` says about frames, snapshots, trailing windows and progressive widening."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.explain import (
    Explained,
    forgetting_facts,
    rejected_fact,
    strategy_facts,
    write_facts,
    write_page,
)
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.late_rows import BEHIND, OUTPUT, OUTPUT_EARLY, Lateness, late_fact
from fanlight.engine.plan.ordered import BY_PYTHON
from fanlight.engine.plan.trailing import EVER, Horizon
from fanlight.engine.plan.widening import (
    Level,
    bound_on_work,
    density_warning,
    most_kept_rows,
    most_window_rows,
    units_as_text,
)
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.snapshot import Snapshot
from fanlight.engine.spec.trailing import Labelled
from fanlight.engine.spec.units import Extent
from fanlight.engine.spec.widening import ProgressiveWidening


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
        spec, repr(time), by, facts, plan, streaming=streaming, per="per row", verbose=verbose,
        output=OUTPUT_EARLY if early else OUTPUT,
    )  # fmt: skip
    return Explained(text, Picture(spec))


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


def explain_snapshot(
    native: str,
    spec: Snapshot,
    time: tuple[str, str],
    by: tuple[str, ...],
    *,
    state: str,
    late: Lateness,
) -> Explained:
    """The page; ``native`` says why a batch is left to Spark, and is empty if it is not.

    ``state`` says where a stream keeps its state, and is empty for a batch.
    """
    how = f"{_NATIVE}: {native}" if native else _STREAM if state else _IN_PYTHON
    facts = [("windows", _WINDOWS), ("computed", how)]
    facts.append(rejected_fact(*time))
    if state:
        facts += [("state", state), late_fact(_LATE, late), ("output mode", OUTPUT)]
    return Explained(write_facts(spec, repr(time), by, facts, streaming=bool(state)), Picture(spec))


_ASKING = "at(…) keeps them until the watermark, one for both streams, passes them"


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
    how = "Spark aggregates each window from scratch (RANGE BETWEEN)"
    if plan.chosen.way is not ways.FOLDED:
        how = (
            "the rows of a key are read once, in order of time; each enters and leaves a "
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
        spec, repr(time), by, facts, plan, streaming=streaming, per="per row", verbose=verbose
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
        kept.append("one partial of all earlier rows")
    return f"for each key, as partials of one row: {', '.join(kept)}"


def explain_widening(
    spec: ProgressiveWidening,
    plan: Plan[tuple[Level, ...]],
    time: str,
    by: tuple[str, ...],
    *,
    state: str,
    rate: float | None,
    groups: float | None,
    silence: Extent | None = None,
    late: Lateness | None = None,
    verbose: bool = False,
) -> Explained:
    """The page: the levels, what each may hold, and what the search may cost.

    ``state`` says where a stream keeps its state, and is empty for a batch; ``silence`` after how
    long a silence a key is forgotten; ``late`` what becomes of late rows.
    """
    streaming = bool(state)
    facts = _facts(spec, plan.chosen.pieces, streaming=streaming, rate=rate, groups=groups)
    if streaming:
        facts.append(("state", state))
    facts += forgetting_facts(silence, grows=False)
    if streaming:
        facts.append(late_fact(BEHIND, late or Lateness()))
    text = write_page(spec, repr(time), by, facts, plan, streaming=streaming, verbose=verbose)
    return Explained(text, Picture(spec))


def _facts(
    spec: ProgressiveWidening,
    levels: tuple[Level, ...],
    *,
    streaming: bool,
    rate: float | None,
    groups: float | None,
) -> list[tuple[str, str]]:
    """(Label, text): a line for each level, then what holds for all of them."""
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
    waiting = ", and those that the watermark has not passed" if streaming else ""
    facts += [
        ("keeps", f"at most {most_kept_rows(levels, limit):,} rows per key{waiting}"),
        ("assumes", f"a batch of level 0 has at most {limit:,} rows of a key (Theorem 2)"),
    ]
    warning = density_warning(spec, rate, groups)
    return [*facts, ("warning", warning)] if warning else facts
