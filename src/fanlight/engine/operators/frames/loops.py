"""Schemes that Python decides row by row: a user's predicates.

A step takes a row's values, whether a frame is open, and the state of the key (a dict for JSON,
changed in place). It returns the row's mark and whether a frame is open after it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

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
            kept["state"] = _check_state(update(row, kept.get("state", {})))
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


def _check_state(state: Any) -> dict[str, Any]:
    """A user's state, refused if it would not come back from a checkpoint as it is."""
    if isinstance(state, dict) and _survives_json(state):
        return state
    raise refuse(
        f"the state {state!r} that update returned",
        "would not come back from a checkpoint as it is",
        "return a dict of None, booleans, numbers, texts, lists, and dicts by text",
    )


def _survives_json(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return all(type(name) is str and _survives_json(part) for name, part in value.items())
    if kind is list:
        return all(map(_survives_json, value))
    return value is None or kind in (bool, int, float, str)
