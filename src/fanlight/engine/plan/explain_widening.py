"""What ``explain()`` says about progressive widening: the levels, and their bounds."""

from __future__ import annotations

from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.explain import Explained, forgetting_facts, write_page
from fanlight.engine.plan.late_rows import BEHIND, Lateness, late_fact
from fanlight.engine.plan.widening import (
    Level,
    bound_on_work,
    density_warning,
    most_kept_rows,
    most_window_rows,
    units_as_text,
)
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.units import Extent
from fanlight.engine.spec.widening import ProgressiveWidening


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
        ("", "level  batch             window            rows a window, at most"),
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
    facts.append(("searches", f"at most {per_second:,.2f} rows a {unit} and key (Theorem 2)"))
    waiting = ", and those that the watermark has not passed" if streaming else ""
    facts += [
        ("keeps", f"at most {most_kept_rows(levels, limit):,} rows a key{waiting}"),
        ("assumes", f"a batch of level 0 has at most {limit:,} rows of a key (Theorem 2)"),
    ]
    warning = density_warning(spec, rate, groups)
    return [*facts, ("warning", warning)] if warning else facts
