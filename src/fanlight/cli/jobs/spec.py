"""The windows of a job: a kind by name, with the arguments of its class as keys."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import fanlight as fl
from fanlight.cli.jobs.table import Table
from fanlight.engine.kinds import Kind, list_kinds
from fanlight.language.aggregate_text import parse_aggregate

_HOUR, _ROWS = "1 hour", fl.Rows(1)
LABELS = "labels"  # the key of a table with a table of arguments for each of several windows


def window_kinds() -> dict[str, Kind]:
    """The kinds of windows that a job file can name."""
    return {kind.name: kind for kind in list_kinds() if kind.right}


def argument_names(window: Any = None) -> set[str]:
    """The names of the arguments of windows, of all kinds if this is none, and of their labels."""
    kinds = window_kinds()
    asked = [window] if isinstance(window, str) and window in kinds else kinds
    return {LABELS, *(name for kind in asked for name in _parameters(kind))}


def _parameters(name: str) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(window_kinds()[name].spec).parameters


def read_windows(table: Table, name: str) -> Any:
    """Read the spec of a kind, or several by their labels; None if something is wrong in it."""
    if not window_kinds()[name].family.labelled or LABELS not in table.values:
        return read_spec(table, name)
    for argument in _parameters(name):
        table.known.add(argument)
        if argument in table.values:
            table.note_wrong(argument, f"stands beside {LABELS}; write it after each of them")
    several, windows = table.table(LABELS), {}
    if several and (not several.values or "" in several.values):
        table.note_wrong(LABELS, 'lacks a label; write for example 1h = { range = "1 hour" }')
    for label in several.values if several else ():
        one = several.table(label, _parameters(name)) if several else None
        windows[label] = read_spec(one, name) if one else None
        if one:
            one.note_unknown()
    return None if None in windows.values() else windows or None


def read_spec(table: Table, name: str) -> Any:
    """Read the spec of a kind; None if an argument is missing or wrong. Problems are recorded."""
    kind, arguments, valid = window_kinds()[name].spec, {}, True
    for argument, parameter in _parameters(name).items():
        table.known.add(argument)
        if argument in table.values:
            try:
                arguments[argument] = _convert(argument, table.values[argument])
            except fl.FanlightError as error:
                table.note_wrong(argument, str(error))
                valid = False
        elif parameter.default is parameter.empty:
            table.note_missing(f"has no {argument}, which window = {name!r} needs")
            valid = False
    try:
        if valid:
            return kind(**arguments)
    except fl.FanlightError as error:
        if not _note_wrong_arguments(
            table, name, arguments
        ):  # each is right alone, but not together
            table.note_wrong(_argument_named_by(error, arguments) or "window", f"{name}: {error}")
        return None
    _note_wrong_arguments(table, name, arguments)
    return None


def _note_wrong_arguments(table: Table, name: str, arguments: Mapping[str, Any]) -> bool:
    """Record the arguments that are wrong whatever the others are; whether there are any."""
    any_wrong = False
    for argument, value in arguments.items():
        for error in _errors_of_argument(name, argument, value):
            table.note_wrong(argument, str(error))
            any_wrong = True
    return any_wrong


def _errors_of_argument(name: str, argument: str, value: Any) -> Iterator[fl.FanlightError]:
    """The error of an argument that is wrong beside any right ones; of levels, one for each."""
    if name == "MultiGranular" and argument in ("ranges", "slides") and isinstance(value, list):
        for place, one in enumerate(value):
            yield from _errors_of_level(argument, place, one)
        return
    trials = [_try_spec(name, {**others, argument: value}) for others in window_kinds()[name].right]
    errors = [error for error in trials if error is not None]
    named = [error for error in errors if _argument_named_by(error, {argument: value})]
    if named and len(errors) == len(trials):
        yield named[0]


def _errors_of_level(argument: str, place: int, value: Any) -> Iterator[fl.FanlightError]:
    """The error of one level's length, if it is wrong whatever the other levels are."""
    errors = []
    for right in (_HOUR, 1, _ROWS):
        lengths = [right] * (place + 2)
        mine = [*lengths[:place], value, right]
        error = _try_spec("MultiGranular", {"ranges": lengths, "slides": lengths, argument: mine})
        if error is None or not str(error).startswith(f"{argument}[{place}]="):
            return
        errors.append(error)
    if len(set(map(str, errors))) == 1:  # the same message beside any neighbours
        yield errors[0]


def _try_spec(name: str, arguments: Mapping[str, Any]) -> fl.FanlightError | None:
    try:
        window_kinds()[name].spec(**arguments)
    except fl.FanlightError as error:
        return error
    return None


def _argument_named_by(error: fl.FanlightError, arguments: Mapping[str, Any]) -> str | None:
    """The argument that an error's message begins with; None if it is none of these."""
    word = re.match(r"\w+", str(error))
    return word[0] if word and word[0] in arguments else None


def _convert(name: str, value: Any) -> Any:
    """A TOML value as the API takes it: ``{ rows = 10 }`` as ``fl.Rows(10)``, and so on."""
    if isinstance(value, dict) and set(value) == {"rows"} and name not in {"cells", "deltas"}:
        return fl.Rows(value["rows"])
    if isinstance(value, dict) and set(value) == {"half_life"} and name == "weights":
        return fl.decay(_convert("half_life", value["half_life"]))
    if isinstance(value, list):
        return [_convert(name, one) for one in value]
    if name == "aggregate" and isinstance(value, str):
        return parse_aggregate(value)
    return value
