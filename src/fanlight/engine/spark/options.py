"""What is done about the options of windows, whose entries stand beside the kinds.

Some change the request when they are asked; others are steps of a terminal method, taken before a
request is planned, and with its results afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.kinds.options import (
    AT,
    COMPLETE_ONLY,
    EARLY,
    FILL,
    POSTPONE,
    RUNNING,
    WITH_EMPTY,
    Option,
    check_terminal,
    find_option,
    list_options,
)
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import Placed, know_calendar
from fanlight.engine.spark.binding.trailing import read_at
from fanlight.engine.spark.lives import divide_into_lives, drop_lives, has_lives
from fanlight.engine.spark.ordered.frame_fill import read_fill
from fanlight.engine.spark.placed.events import read_running
from fanlight.engine.spark.placed.window_sets import (
    calls_of_complete,
    keep_complete,
    read_complete,
    read_empty,
)
from fanlight.engine.spark.rejected import count_rejected
from fanlight.engine.spec.errors import refuse, shorten

NOT_AGGREGATES = (str, int, float, tuple, list, type(None), DataFrame)
B = TypeVar("B", bound=Bound)

# What is asked when windows are made, by how it is written: whether it is.
ASKED: Mapping[str, Callable[[Any], bool]] = {
    "late='open'": lambda bound: getattr(bound, "late", "") == "open",
    "late='collect'": lambda bound: bound.collects,
    "forget_after": lambda bound: bound.source.forget_after is not None,
    "changes_only": lambda bound: getattr(bound, "changes_only", False),
    "weights": lambda bound: getattr(bound, "weights", None) is not None,
}


# What is done about each option, by its verb. The first checks its arguments against the windows,
# and gives None if they ask for nothing; the second makes the request that they ask for. Without
# it the steps below, or a terminal method, read them again.
Action = tuple[Callable[[Any], Any], Callable[[Any, Any], Any] | None]
ACTIONS: dict[str, Action] = {
    WITH_EMPTY: (read_empty, None),
    COMPLETE_ONLY: (read_complete, None),
    EARLY: (
        lambda bound: bound.read_early(**bound.options[EARLY]),
        lambda bound, every: replace(bound, early=every),
    ),
    RUNNING: (read_running, lambda _, running: count_rejected(running)),
    POSTPONE: (
        lambda bound: bound.read_wait(**bound.options[POSTPONE]),
        lambda bound, wait: replace(bound, postponed=wait),
    ),
    FILL: (read_fill, None),
    AT: (read_at, None),
}


def ask(bound: B, verb: str, arguments: Mapping[str, Any]) -> B:
    """The request with an option, once its arguments are checked."""
    if verb in bound.options:
        raise refuse(f"{verb}(…)", "is asked for twice", "keep one of them")
    option = find_option(verb)
    _check_others(bound, option)
    given = {**option.arguments, **arguments}
    asked = replace(bound, options={**bound.options, verb: given})
    read, apply = ACTIONS[verb]
    found = read(asked)
    applied: B = asked if apply is None else apply(asked, found)
    return applied


def _check_others(bound: Bound, option: Option) -> None:
    """Refuse an option that does not go with one that is asked already."""
    verb, excluded = option.verb, dict(option.excludes)
    if bound.df.isStreaming:
        excluded |= option.excludes_in_stream
    for other, why in excluded.items():
        if other in bound.options or (other in ASKED and ASKED[other](bound)):
            call = f"{other}(…)" if other in ACTIONS else other
            raise refuse(f"{verb}(…) with {call}", why, f"leave {call} out")
    for other in bound.options:
        reason = find_option(other).excludes.get(verb)
        if reason is not None:
            raise refuse(f"{other}(…) with {verb}(…)", reason, f"leave {verb}(…) out")


def name_options(bound: Bound) -> str:
    """The options of windows, as they are written."""
    calls = []
    for verb, arguments in bound.options.items():
        given = {name: one for name, one in arguments.items() if one not in (None, "both")}
        parts = [f"{name}={shorten(repr(one))}" for name, one in given.items()]
        calls.append(f"{verb}({', '.join(parts)})")
    return ", ".join(calls)


def check_options(bound: Bound, terminal: str, named: Mapping[str, Any] | None = None) -> None:
    """Refuse options that do not go with a terminal method, and those among its aggregates."""
    given = named or {}
    for option in list_options():
        for name in given.keys() & option.formerly.keys():
            if isinstance(given[name], NOT_AGGREGATES):
                raise refuse(
                    f"{terminal}({name}={shorten(repr(given[name]))})",
                    "is not an aggregate: options of windows are methods, before this one",
                    f"write windows{fill(option.formerly[name], given=repr(given[name]))}"
                    f".{terminal}(…)",
                )
        if option.verb in bound.options:
            check_terminal(option, terminal)


@dataclass(frozen=True)
class Step:
    """What is done to a request ``before`` it is planned, and to its results ``after``.

    The latter gets the request as it was before. ``calls`` are aggregates that it needs.
    """

    applies: Callable[[Placed], bool]
    before: Callable[[Placed], Placed]
    after: Callable[[Placed, DataFrame], DataFrame] = lambda _, found: found
    calls: Callable[[Placed], Mapping[str, Call]] = lambda _: {}


STEPS = (
    Step(
        lambda bound: COMPLETE_ONLY in bound.options,
        lambda bound: bound.without(COMPLETE_ONLY),
        keep_complete,
        calls_of_complete,
    ),
    Step(has_lives, divide_into_lives, lambda _, found: drop_lives(found)),
    Step(lambda bound: know_calendar(bound) is not bound, know_calendar),
)


def run_steps(
    bound: Placed, compute: Callable[[Placed, Mapping[str, Call]], DataFrame]
) -> DataFrame:
    """The results of a request, after all steps that apply to it."""
    done: list[tuple[Step, Placed]] = []
    calls: dict[str, Call] = {}
    for step in STEPS:
        if step.applies(bound):
            done.append((step, bound))
            calls.update(step.calls(bound))
            bound = step.before(bound)
    found = compute(bound, calls)
    for step, was in reversed(done):
        found = step.after(was, found)
    return found
