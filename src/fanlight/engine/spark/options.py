"""What is asked of windows before their results, by a verb: an entry for each option.

And what is done to a request before it is planned, and to its results afterwards: the steps of a
terminal method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.template import fill
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import Placed, know_calendar
from fanlight.engine.spark.binding.trailing import AT, read_at
from fanlight.engine.spark.lives import divide_into_lives, drop_lives, has_lives
from fanlight.engine.spark.ordered.frame_fill import FILL, read_fill
from fanlight.engine.spark.placed.complete_windows import (
    COMPLETE_ONLY,
    calls_of_complete,
    keep_complete,
    read_complete,
)
from fanlight.engine.spark.placed.empty_windows import WITH_EMPTY, read_empty
from fanlight.engine.spark.placed.running import RUNNING, read_running
from fanlight.engine.spec.errors import refuse, shorten

NOT_AGGREGATES = (str, int, float, tuple, list, type(None), DataFrame)
EARLY, POSTPONE = "early", "postpone"
B = TypeVar("B", bound=Bound)

# What is asked when windows are made, by how it is written: whether it is.
ASKED: Mapping[str, Callable[[Any], bool]] = {
    "late='open'": lambda bound: getattr(bound, "late", "") == "open",
    "late='collect'": lambda bound: bound.collects,
    "forget_after": lambda bound: bound.source.forget_after is not None,
    "changes_only": lambda bound: getattr(bound, "changes_only", False),
    "weights": lambda bound: getattr(bound, "weights", None) is not None,
}


@dataclass(frozen=True)
class Option:
    """An option of windows: its verb, its arguments in the windows, and what it goes with.

    ``read`` checks the arguments against the windows, and gives None if they ask for nothing.
    ``apply`` makes the request that they ask for; without it the steps below, or a terminal
    method, read them again. It goes with the ``terminals`` (None: with all); with others it is
    refused: ``why``. It ``excludes`` other options, each for a reason, some in a stream alone.
    ``formerly``: how it was written among the aggregates, or is elsewhere.
    """

    verb: str
    read: Callable[[Any], Any]
    terminals: tuple[str, ...] | None
    why: str
    apply: Callable[[Any, Any], Any] = lambda bound, _: bound
    excludes: Mapping[str, str] = field(default_factory=dict)
    excludes_in_stream: Mapping[str, str] = field(default_factory=dict)
    formerly: Mapping[str, str] = field(default_factory=dict)


PLACED_BY_TIME = ("agg", "wide", "fit", "reversals", "recurring", "bursts")

OPTIONS = (
    Option(
        WITH_EMPTY,
        read_empty,
        ("agg", "wide"),
        "adds windows without rows, and it is about the rows of windows",
        excludes={
            "early": "goes with windows that are given once, at their end",
            "changes_only": "gives windows of which changes_only leaves out some",
            "forget_after": "would end the silence after which keys are forgotten",
        },
        formerly={
            "empty": ".with_empty({given})", "fill_value": ".with_empty('zero')",
            "max_empty": ".with_empty('zero', most={given})",
            "between": ".with_empty('zero', between={given})",
            "keys": ".with_empty('zero', between=…, keys=df)",
        },
    ),
    Option(
        COMPLETE_ONLY,
        read_complete,
        PLACED_BY_TIME,
        "leaves out windows, and pieces are not windows yet",
        excludes={"changes_only": "would leave out reports that others are compared with"},
        formerly={"complete": ".complete_only()", "min_periods": ".complete_only()"},
    ),
    Option(
        EARLY,
        lambda bound: bound.read_early(**bound.options[EARLY]),
        ("agg", "frames", "pieces"),
        "gives windows while they are open, and this is about those that are complete",
        lambda bound, every: replace(bound, early=every),
        excludes={
            "changes_only": "gives each level as it is",
            "weights": "gives each level as it is",
            "late='open'": "counts a late row in all of its windows or in none",
        },
    ),
    Option(
        RUNNING,
        read_running,
        ("agg", "wide"),
        "is about events, and it is about the rows of windows",
        lambda _, running: running,
        excludes_in_stream={
            "late='open'": "counts a late row in all of its windows or in none",
            "late='collect'": "knows by itself which rows are late",
            "forget_after": "forgets events, not keys",
            "changes_only": "gives each level as it is",
        },
    ),
    Option(
        POSTPONE,
        lambda bound: bound.read_wait(**bound.options[POSTPONE]),
        None,
        "",
        lambda bound, wait: replace(bound, postponed=wait),
    ),
    Option(
        FILL,
        read_fill,
        ("agg", "rows"),
        "is about the rows of another DataFrame in frames that are closed",
        excludes={"early": "is about frames that are closed"},
    ),
    Option(
        AT,
        read_at,
        ("attach",),
        "is about the rows of another DataFrame",
        excludes={
            "late='collect'": "would mix the late rows of two streams, those that ask and those "
            "that are asked"
        },
    ),
)  # fmt: skip
_BY_VERB = {option.verb: option for option in OPTIONS}


def ask(bound: B, verb: str, arguments: Mapping[str, Any]) -> B:
    """The request with an option, once its arguments are checked."""
    option = _BY_VERB[verb]
    if verb in bound.options:
        raise refuse(f"{verb}(…) twice", "is asked for already", "keep one of them")
    _check_others(bound, option)
    asked = replace(bound, options={**bound.options, verb: dict(arguments)})
    applied: B = option.apply(asked, option.read(asked))
    return applied


def _check_others(bound: Bound, option: Option) -> None:
    """Refuse an option that does not go with one that is asked already."""
    excluded = dict(option.excludes)
    if bound.df.isStreaming:
        excluded |= option.excludes_in_stream
    for other, why in excluded.items():
        if other in bound.options or (other in ASKED and ASKED[other](bound)):
            call = f"{other}(…)" if other in _BY_VERB else other
            raise refuse(f"{option.verb}(…) with {call}", why, f"leave {call} out")
    for verb in bound.options:
        reason = _BY_VERB[verb].excludes.get(option.verb)
        if reason:
            raise refuse(f"{verb}(…) with {option.verb}(…)", reason, f"leave {option.verb}(…) out")


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
    for option in OPTIONS:
        for name in given.keys() & option.formerly.keys():
            if isinstance(given[name], NOT_AGGREGATES):
                raise refuse(
                    f"{terminal}({name}={shorten(repr(given[name]))})",
                    "is not an aggregate: options of windows are methods, before this one",
                    f"write windows{fill(option.formerly[name], given=repr(given[name]))}"
                    f".{terminal}(…)",
                )
        if option.verb in bound.options and terminal not in (option.terminals or (terminal,)):
            goes = " or ".join(f"{one}(…)" for one in sorted(option.terminals or ()))
            raise refuse(
                f"{option.verb}(…).{terminal}(…)",
                option.why,
                f"leave {option.verb}(…) out, or write {goes} after it",
            )


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
