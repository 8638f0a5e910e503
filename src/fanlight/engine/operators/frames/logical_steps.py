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

Function = Callable[..., Any]
Step = Callable[[Sequence[Any], bool, dict[str, Any]], tuple[int, bool]]
State = dict[str, Any]
SeveralStep = Callable[
    [Sequence[Any], Sequence[State | None]], tuple[list[State | None], State | None]
]


def logical_step(scheme: Scheme) -> Step:
    """The step of logical frames: PROCESSTUPLE of Grossniklaus et al., 5.1."""
    opens, closes, update = _functions_of(scheme)
    row_of = _row_type(scheme.names)

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


def several_step(scheme: Scheme) -> SeveralStep:
    """The step of logical frames of which several may be open.

    It takes the values of a row and the state of each open frame, None for one that ends before the
    row. It returns these states after the row, None for all that it ends, and the state of the
    frame that the row begins, None if it begins none.
    """
    opens, closes, update = _functions_of(scheme)
    row_of = _row_type(scheme.names)

    def join(row: Any, state: State) -> State:
        return state if update is None else _check_state(update(row, state))

    def step(
        values: Sequence[Any], states: Sequence[State | None]
    ) -> tuple[list[State | None], State | None]:
        row = row_of(*values)
        after = [
            None if state is None or closes(row, state) else join(row, state) for state in states
        ]
        begins = opens(row, [state for state in after if state is not None])
        return after, join(row, {}) if begins else None

    return step


def _functions_of(scheme: Scheme) -> tuple[Function, Function, Function | None]:
    opens, closes, update = scheme.functions
    if opens is None or closes is None:
        msg = "a logical scheme without functions"
        raise AssertionError(msg)
    return opens, closes, update


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
