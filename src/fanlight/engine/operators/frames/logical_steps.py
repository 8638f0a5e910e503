"""Schemes that mark rows one by one in Python, by a user's predicates.

A step takes the values of a row, whether a frame is open, and the state of the key: a dict for
JSON, updated in place. It returns the row's mark and whether a frame is open after it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from fanlight.engine.plan.frames import Scheme
from fanlight.engine.spec.errors import refuse

Step = Callable[[Sequence[Any], bool, dict[str, Any]], tuple[int, bool]]


def logical_step(scheme: Scheme) -> Step:
    """The step of logical frames: PROCESSTUPLE of Grossniklaus et al., 5.1."""
    opens, closes, update = scheme.functions
    row_of = _row_type(scheme.names)
    if opens is None or closes is None:
        msg = "a logical scheme without functions"
        raise AssertionError(msg)

    def step(values: Sequence[Any], inside: bool, key_state: dict[str, Any]) -> tuple[int, bool]:
        row = row_of(*values)
        mark = 1
        if inside and closes(row, key_state.get("state", {})):
            key_state.pop("state", None)
            inside = False
        if not inside:
            if not opens(row, {}):
                return 0, False
            mark = 2
        if update is not None:
            key_state["state"] = _check_state(update(row, key_state.get("state", {})))
        return mark, True

    return step


def _row_type(names: Sequence[str]) -> Callable[..., Any]:
    """A row type with columns as attributes, and as items, as not every name is an identifier."""
    places = {name: at for at, name in enumerate(names)}
    base: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - names are data

    class Row(base):
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            return super().__getitem__(places[key] if isinstance(key, str) else key)

    return Row


def _check_state(state: Any) -> dict[str, Any]:
    """Check that a checkpoint restores a user's state unchanged; return it."""
    if isinstance(state, dict) and _survives_json(state):
        return state
    raise refuse(
        f"the state {state!r} that update returned",
        "would not be the same after a restart from a checkpoint",
        "return a dict with strings as keys; as values None, booleans, numbers, strings, lists and "
        "such dicts",
    )


def _survives_json(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return all(type(name) is str and _survives_json(part) for name, part in value.items())
    if kind is list:
        return all(map(_survives_json, value))
    return value is None or kind in (bool, int, float, str)
