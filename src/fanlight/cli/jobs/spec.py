"""The window of a job, with its arguments: those of its class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import fanlight as fl
from fanlight.cli.jobs.table import Table
from fanlight.engine.kinds import Kind, kinds
from fanlight.language.written import aggregate

_HOUR, _ROWS = "1 hour", fl.rows(1)


def windows() -> dict[str, Kind]:
    """The kinds of windows that a job can have, by name."""
    return {kind.name: kind for kind in kinds() if kind.right}


def arguments() -> set[str]:
    """The arguments of all windows."""
    return {name for kind in windows().values() for name in inspect.signature(kind.spec).parameters}


def spec(table: Table, name: str) -> Any:
    """The window; nothing where an argument is missing or wrong, each of which is told."""
    kind, given, right = windows()[name].spec, {}, True
    for argument, parameter in inspect.signature(kind).parameters.items():
        table.known.add(argument)
        if argument in table.values:
            try:
                given[argument] = _argument(argument, table.values[argument])
            except fl.FanlightError as error:
                table.wrong(argument, str(error))
                right = False
        elif parameter.default is parameter.empty:
            table.lacks(f"has no {argument}, which window = {name!r} needs")
            right = False
    try:
        if right:
            return kind(**given)
    except fl.FanlightError as error:
        if not _note_each(table, name, given):  # each is right, but they do not go together
            table.wrong(_told(error, given) or "window", f"{name}: {error}")
        return None
    _note_each(table, name, given)
    return None


def _note_each(table: Table, name: str, given: Mapping[str, Any]) -> bool:
    """Note the arguments that are wrong whatever the others are; whether there are any."""
    found = False
    for argument, value in given.items():
        for error in _errors(name, argument, value):
            table.wrong(argument, str(error))
            found = True
    return found


def _errors(name: str, argument: str, value: Any) -> Iterator[fl.FanlightError]:
    """What is said against an argument, whichever right ones are beside it; of levels, each."""
    if name == "MultiGranular" and argument in ("ranges", "slides") and isinstance(value, list):
        for place, one in enumerate(value):
            yield from _of_level(argument, place, one)
        return
    trials = [_error(name, {**others, argument: value}) for others in windows()[name].right]
    errors = [error for error in trials if error is not None]
    told = [error for error in errors if _told(error, {argument: value})]
    if told and len(errors) == len(trials):
        yield told[0]


def _of_level(argument: str, place: int, value: Any) -> Iterator[fl.FanlightError]:
    """What is said against the length of one level, if it is wrong in itself."""
    told = []
    for right in (_HOUR, 1, _ROWS):
        lengths = [right] * (place + 2)
        mine = [*lengths[:place], value, right]
        error = _error("MultiGranular", {"ranges": lengths, "slides": lengths, argument: mine})
        if error is None or not str(error).startswith(f"{argument}[{place}]="):
            return
        told.append(error)
    if len(set(map(str, told))) == 1:  # which says nothing of its neighbours
        yield told[0]


def _error(name: str, given: Mapping[str, Any]) -> fl.FanlightError | None:
    try:
        windows()[name].spec(**given)
    except fl.FanlightError as error:
        return error
    return None


def _told(error: fl.FanlightError, given: Mapping[str, Any]) -> str | None:
    """The argument that an error begins with."""
    found = re.match(r"\w+", str(error))
    return found[0] if found and found[0] in given else None


def _argument(name: str, value: Any) -> Any:
    """A value of TOML as the API takes it: ``{ rows = 10 }`` are rows, an aggregate is a call."""
    if isinstance(value, dict) and set(value) == {"rows"} and name not in {"cells", "deltas"}:
        return fl.rows(value["rows"])
    if isinstance(value, list):
        return [_argument(name, one) for one in value]
    if name == "aggregate" and isinstance(value, str):
        return aggregate(value)
    return value
