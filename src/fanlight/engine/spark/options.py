"""What is asked of windows before their results, by a verb: an entry for each option.

And what is done to a request before it is planned, and to its results afterwards: the steps of a
terminal method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.template import fill
from fanlight.engine.spark.binding.placed import Placed, know_calendar
from fanlight.engine.spark.lives import divide_into_lives, drop_lives, has_lives
from fanlight.engine.spark.placed.complete_windows import (
    COMPLETE_ONLY,
    calls_of_complete,
    keep_complete,
    read_complete,
)
from fanlight.engine.spark.placed.empty_windows import WITH_EMPTY, read_empty
from fanlight.engine.spec.errors import refuse, shorten

NOT_AGGREGATES = (str, int, float, tuple, list, type(None), DataFrame)


@dataclass(frozen=True)
class Option:
    """An option of windows: its verb, its arguments in the windows, and what it goes with.

    ``read`` checks the arguments against the windows, and gives None if they ask for nothing. Of
    the ``terminals`` it goes with; of all others it is refused, since it ``why`` not.
    ``formerly``: how it was written among the aggregates, or is elsewhere.
    """

    verb: str
    read: Callable[[Placed], Any]
    terminals: frozenset[str]
    why: str
    formerly: Mapping[str, str]


OPTIONS = (
    Option(
        WITH_EMPTY,
        read_empty,
        frozenset({"agg", "wide"}),
        "adds windows without rows, and it is about the rows of windows",
        {
            "empty": ".with_empty({given})", "fill_value": ".with_empty('zero')",
            "max_empty": ".with_empty('zero', most={given})",
            "between": ".with_empty('zero', between={given})",
            "keys": ".with_empty('zero', between=…, keys=df)",
        },
    ),
    Option(
        COMPLETE_ONLY,
        read_complete,
        frozenset({"agg", "wide", "fit", "reversals", "recurring", "bursts"}),
        "leaves out windows, and pieces are not windows yet",
        {"complete": ".complete_only()", "min_periods": ".complete_only()"},
    ),
)  # fmt: skip


def ask(bound: Placed, verb: str, arguments: Mapping[str, Any]) -> Placed:
    """The request with an option, once its arguments are checked."""
    option = next(one for one in OPTIONS if one.verb == verb)
    if verb in bound.options:
        raise refuse(f"{verb}(…) twice", "is asked for already", "keep one of them")
    asked = replace(bound, options={**bound.options, verb: dict(arguments)})
    option.read(asked)
    return asked


def name_options(bound: Placed) -> str:
    """The options of windows, as they are written."""
    calls = []
    for verb, arguments in bound.options.items():
        given = {name: one for name, one in arguments.items() if one not in (None, "both")}
        parts = [f"{name}={shorten(repr(one))}" for name, one in given.items()]
        calls.append(f"{verb}({', '.join(parts)})")
    return ", ".join(calls)


def check_options(bound: Placed, terminal: str, named: Mapping[str, Any]) -> None:
    """Refuse options that do not go with a terminal method, and those among its aggregates."""
    for option in OPTIONS:
        for name in named.keys() & option.formerly.keys():
            if isinstance(named[name], NOT_AGGREGATES):
                raise refuse(
                    f"{terminal}({name}={shorten(repr(named[name]))})",
                    "is not an aggregate: options of windows are methods, before this one",
                    f"write windows{fill(option.formerly[name], given=repr(named[name]))}"
                    f".{terminal}(…)",
                )
        if option.verb in bound.options and terminal not in option.terminals:
            raise refuse(f"{option.verb}(…) with {terminal}(…)", option.why, "leave it out")


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
