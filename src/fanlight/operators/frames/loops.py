"""Schemes that Python decides row by row: a user's predicates, and limits on distinct values.

A step takes a row's values, whether a frame is open, and what is kept of the key (a dict that JSON
can hold, changed in place). It gives the row's mark and whether a frame is open after it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from fanlight.algebra.ordering import spark_key
from fanlight.plan.frames import Scheme
from fanlight.spec.errors import refuse

Step = Callable[[list[Any], bool, dict[str, Any]], tuple[int, bool]]


def logical(scheme: Scheme) -> Step:
    """PROCESSTUPLE of Grossniklaus et al., 5.1: close, update, open."""
    opens, closes, update = scheme.functions
    row_of = namedtuple("Row", scheme.names)  # type: ignore[misc]  # noqa: PYI024 - names are data
    if opens is None or closes is None:
        msg = "a logical scheme without functions"
        raise AssertionError(msg)

    def step(values: list[Any], inside: bool, kept: dict[str, Any]) -> tuple[int, bool]:
        row = row_of(*values)
        mark = 1
        if inside and closes(row, kept.get("state", {})):
            kept.pop("state", None)
            inside = False
        if not inside:
            if not opens(row, {}):
                return 0, False
            mark = 2
        if update is not None:
            kept["state"] = _kept(update(row, kept.get("state", {})))
        return mark, True

    return step


def _kept(state: Any) -> dict[str, Any]:
    """A user's state, refused if it would not come back from a checkpoint as it is."""
    if isinstance(state, dict) and _lasts(state):
        return state
    raise refuse(
        f"the state {state!r} that update returned",
        "would not come back from a checkpoint as it is",
        "return a dict of None, booleans, numbers, texts, lists, and dicts by text",
    )


def _lasts(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return all(type(name) is str and _lasts(part) for name, part in value.items())
    if kind is list:
        return all(map(_lasts, value))
    return value is None or kind in (bool, int, float, str)


def distinct(scheme: Scheme) -> Step:
    """Aggregate frames where a limit watches distinct values."""
    watchers: list[tuple[slice, str, Any]] = []
    at = 0
    for watched, limit in zip(scheme.watched, scheme.numbers, strict=True):
        width = int(watched.split()[1]) if watched.startswith("distinct") else 1
        watchers.append((slice(at, at + width), watched.split()[0], limit))
        at += width

    def grown(kept: list[Any], values: list[Any]) -> tuple[list[Any], bool]:
        """What each watcher holds with this row, and whether a limit is reached."""
        found, reached = [], False
        for (where, watched, limit), held in zip(watchers, kept, strict=True):
            value = values[where]
            if None not in value:
                held = _with(watched, held, value)  # noqa: PLW2901 - with this row
            found.append(held)
            reached = reached or (held is not None and _value(watched, held) >= limit)
        return found, reached

    def step(values: list[Any], inside: bool, kept: dict[str, Any]) -> tuple[int, bool]:
        full = inside and kept.get("full", False)
        if all(None in values[where] for where, _, _ in watchers):
            inside = inside and not full
            return int(inside), inside
        nothing = [None] * len(watchers)
        if inside and not full:
            held, reached = grown(kept["held"], values)
            if scheme.crossing or not reached:
                kept.update(held=held, full=reached)
                return 1, True
        held, reached = grown(nothing, values)
        inside = scheme.crossing or not reached
        kept.clear()
        if inside:
            kept.update(held=held, full=reached)
        return (2 if inside else 0), inside

    return step


def _with(watched: str, held: Any, value: list[Any]) -> Any:
    if watched == "distinct":
        seen = {} if held is None else held
        # In place: where the row would be too much, what was held is given up anyway.
        seen[repr(spark_key(tuple(_one_zero(part) for part in value)))] = 1
        return seen
    (x,) = value
    if watched in ("sum", "count"):
        return (held or 0) + x
    if watched == "max":
        return x if held is None else max(held, x)
    n, mean, moment = held or (0, 0.0, 0.0)
    apart = x - mean
    mean += apart / (n + 1)
    return [n + 1, mean, moment + apart * (x - mean)]


def _value(watched: str, held: Any) -> Any:
    if watched == "distinct":
        return len(held)
    if watched in ("sum", "count", "max"):
        return held
    n, mean, moment = held
    if watched == "avg":
        return mean
    free = n - 1 if watched.endswith("samp") else n
    variance = moment / free if free else float("-inf")
    return variance**0.5 if watched.startswith("stddev") and variance >= 0 else variance


def _one_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value
