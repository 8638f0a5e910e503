"""Schemes that Python decides row by row: a user's predicates, and limits on distinct values.

A step takes a row's values, whether a frame is open, and the state of the key (a dict for JSON,
changed in place). It returns the row's mark and whether a frame is open after it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.spec.errors import refuse

Step = Callable[[Sequence[Any], bool, dict[str, Any]], tuple[int, bool]]


def logical(scheme: Scheme) -> Step:
    """PROCESSTUPLE of Grossniklaus et al., 5.1: close, update, open."""
    opens, closes, update = scheme.functions
    row_of = _row_type(scheme.names)
    if opens is None or closes is None:
        msg = "a logical scheme without functions"
        raise AssertionError(msg)

    def step(values: Sequence[Any], inside: bool, kept: dict[str, Any]) -> tuple[int, bool]:
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


def _row_type(names: Sequence[str]) -> Callable[..., Any]:
    """Rows with columns as attributes, and by name, since a name may be no attribute of Python."""
    places = {name: at for at, name in enumerate(names)}
    base: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - names are data

    class Row(base):
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            return super().__getitem__(places[key] if isinstance(key, str) else key)

    return Row


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


def as_texts(columns: list[list[Any]]) -> list[str | None]:
    """Each row's values as a text that a checkpoint can hold; None where one of them is null."""
    texts: dict[Any, str] = {}
    found: list[str | None] = []
    for value in zip(*columns, strict=True):
        if None in value:
            found.append(None)
            continue
        try:
            text = texts.get(value)
            if text is None:
                text = texts[value] = _text(value)
        except TypeError:  # a list has no hash
            text = _text(value)
        found.append(text)
    return found


def _text(value: tuple[Any, ...]) -> str:
    return repr(spark_key(tuple(_one_zero(part) for part in value)))


def _one_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value


def distinct(scheme: Scheme) -> Step:
    """Aggregate frames with a limit on distinct values; a row has a value for each limit."""
    names = [watched.split()[0] for watched in scheme.watched]
    if names == ["distinct"]:
        return _of_one(int(scheme.numbers[0]), crossing=scheme.crossing)
    watchers = list(zip(names, scheme.numbers, strict=True))

    def grown(kept: list[Any], values: Sequence[Any]) -> tuple[list[Any], bool]:
        """What each limit watches, with this row, and whether one is reached."""
        found, reached = [], False
        for (watched, limit), held, value in zip(watchers, kept, values, strict=True):
            now = held if value is None else _with(watched, held, value)
            found.append(now)
            reached = reached or (now is not None and _value(watched, now) >= limit)
        return found, reached

    def step(values: Sequence[Any], inside: bool, kept: dict[str, Any]) -> tuple[int, bool]:
        full = inside and kept.get("full", False)
        if all(value is None for value in values):
            inside = inside and not full
            return int(inside), inside
        if inside and not full:
            held, reached = grown(kept["held"], values)
            if scheme.crossing or not reached:
                kept.update(held=held, full=reached)
                return 1, True
        held, reached = grown([None] * len(watchers), values)
        inside = scheme.crossing or not reached
        kept.clear()
        if inside:
            kept.update(held=held, full=reached)
        return (2 if inside else 0), inside

    return step


def _of_one(limit: int, *, crossing: bool) -> Step:
    """The usual case, with a shorter loop: one limit on distinct values, and no other."""

    def step(values: Sequence[Any], inside: bool, kept: dict[str, Any]) -> tuple[int, bool]:
        value, held = values[0], kept["held"] if inside else {}
        inside = inside and len(held) < limit
        if value is None:
            if not inside:
                kept.clear()
            return int(inside), inside
        if inside and (crossing or value in held or len(held) + 1 < limit):
            held[value] = 1
            return 1, True
        kept.clear()
        if crossing or limit > 1:
            kept["held"] = {value: 1}
            return 2, True
        return 0, False

    return step


def _with(watched: str, held: Any, value: Any) -> Any:
    if watched == "distinct":
        seen = {} if held is None else held
        seen[value] = 1  # in place: if the limit is reached, what was held is dropped anyway
        return seen
    if watched in ("sum", "count"):
        return (held or 0) + value
    if watched == "max":
        return value if held is None else max(held, value)
    n, mean, moment = held or (0, 0.0, 0.0)
    apart = value - mean
    mean += apart / (n + 1)
    return [n + 1, mean, moment + apart * (value - mean)]


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
