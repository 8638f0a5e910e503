"""What a clause asks of windows besides aggregates, written by the method's name and arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, get_args

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.sql_text import in_backticks, in_quotes
from fanlight.engine.kinds.kind import Writer
from fanlight.engine.kinds.options import list_options
from fanlight.engine.spec.arguments import check_choice, check_flag, check_text, read_names
from fanlight.engine.spec.episode import Episode
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import read_length
from fanlight.types import How, Method

_Write = Callable[[Writer, str, Any], str]
_MOST = sys.float_info.max


def _name(word: str = "") -> _Write:
    def write(writer: Writer, argument: str, given: Any) -> str:
        name = check_text(argument, given, f"{argument}='x'")
        return f" {word}{writer.name(name)}"

    return write


def _names(word: str) -> _Write:
    def write(writer: Writer, argument: str, given: Any) -> str:
        if given is None:
            return ""
        names = read_names(argument, given, f"{argument}='key'")
        return f" {word}{', '.join(map(writer.name, names)) or '()'}"

    return write


def _length(word: str = "", after: str = "") -> _Write:
    def write(writer: Writer, argument: str, given: Any) -> str:
        length = read_length(argument, given)
        return "" if length is None else f" {word}{writer.length(length)}{after}"

    return write


def _flag(words: str) -> _Write:
    return lambda _, argument, given: f" {words}" if check_flag(argument, given) else ""


def _how(writer: Writer, argument: str, given: Any) -> str:  # noqa: ARG001 - as of every argument
    chosen = check_choice(argument, given, get_args(How), "a way to join")
    return f" HOW {chosen.upper()}"


def _thresholds(writer: Writer, argument: str, given: Any) -> str:
    several = given if isinstance(given, (list, tuple)) else [given]
    numbers = [one for one in several if isinstance(one, (int, float)) and one is not True]
    if not several or len(numbers) < len(several) or not all(1 < one <= _MOST for one in numbers):
        raise refuse(
            f"{argument}={given!r}", "is neither a number above 1 nor a list of them",
            f"write for example {argument}=2",
        )  # fmt: skip
    return f" {', '.join(map(writer.number, numbers))}"


def _own(writer: Writer, argument: str, given: Any) -> str:
    named = {} if given is None else given
    if not isinstance(named, Mapping) or not all(
        isinstance(name, str) and isinstance(call, Call) for name, call in named.items()
    ):
        raise refuse(
            f"{argument}={given!r}", "is not a mapping from names to aggregates",
            f"write for example {argument}={{'highest': agg.max('dye')}}",
        )  # fmt: skip
    calls = [
        f"{writer.aggregate(call, call)} AS {in_backticks(one)}" for one, call in named.items()
    ]
    return f" OWN {', '.join(calls)}" if calls else ""


def _episode(writer: Writer, argument: str, given: Any) -> str:
    if not isinstance(given, Episode):
        raise refuse(
            f"{argument}={given!r}", "is not an Episode, and only one can be written down",
            f"write for example {argument}=fl.Episode('login; logout', event='what')",
        )  # fmt: skip
    event, result = writer.name(given.event), writer.name(given.result)
    return f" {in_quotes(given.text)} EVENT {event} RESULT {result}"


# By method: its words, the arguments that it needs, and what writes each, in order.
_METHODS: Mapping[Method, tuple[str, tuple[str, ...], Mapping[str, _Write]]] = {
    "fit": ("FIT", ("column",), {
        "column": _name(), "filled": _flag("FILLED"), "instant": _length("INSTANT "),
        "ahead": _length("AHEAD "),
    }),
    "recurring": ("RECURRING", ("column",), {"column": _name(), "counts": _flag("COUNTS")}),
    "wide": ("WIDE", (), {}),
    "bursts": ("BURSTS THRESHOLD", ("threshold",), {"threshold": _thresholds}),
    "fill": ("FILL", ("other", "time"), {
        "other": _name(), "time": _name("ON "), "by": _names("BY "),
        "max_duration": _length("MAX "), "how": _how, "own": _own,
    }),
    "split": ("SPLIT EVERY", ("every",), {"every": _length()}),
    "accumulate": ("SPLIT EVERY", ("every",), {"every": _length(after=" SO FAR")}),
    "detect": ("DETECT", ("function",), {"function": _episode}),
}  # fmt: skip


def write_verb(writer: Writer, method: Any, arguments: Any) -> str:
    """The words for a method of windows, called with these arguments; none without a method."""
    if method is None:
        if arguments is not None:
            raise refuse(f"arguments={arguments!r}", "are of no method", "add method='fit'")
        return ""
    chosen: Method = check_choice(
        "method", method, get_args(Method), "a method that has words in SQL"
    )
    words, needed, writers = _METHODS[chosen]
    given = {} if arguments is None else arguments
    _check_mapping("arguments", given, "{'column': 'price'}")
    missing = next((name for name in needed if given.get(name) is None), None)
    if missing is not None:
        raise refuse(f"method={chosen!r}", f"needs {missing!r}", f"add {missing!r} to arguments")
    return f" {words}{_write_arguments(writer, words, writers, given)}"


def write_options(writer: Writer, options: Any) -> str:
    """The words of a clause for options of windows."""
    if options is None:
        return ""
    _check_mapping("options", options, "{'early': {}}")
    written = ""
    for option in list_options():
        if option.words is not None and option.verb in options:
            given = options[option.verb]
            _check_mapping(f"options[{option.verb!r}]", given, "{}")
            unknown = next((one for one in given if one not in option.arguments), None)
            if unknown is not None:
                raise refuse(
                    f"{unknown}={given[unknown]!r}",
                    f"has no words after {option.words.begins}",
                    f"choose from {', '.join(option.arguments)}",
                )
            words = option.words.write(writer, given)
            written += words and f" {words}"
    known = [option.verb for option in list_options() if option.words is not None]
    for verb in options:
        check_choice("options", verb, known, "an option that has words in SQL")
    return written


def _check_mapping(argument: str, given: Any, example: str) -> None:
    if not isinstance(given, Mapping):
        raise refuse(
            f"{argument}={given!r}", "is not a mapping", f"write for example {argument}={example}"
        )


def _write_arguments(
    writer: Writer, words: str, writers: Mapping[str, _Write], given: Mapping[str, Any]
) -> str:
    unknown = next((name for name in given if name not in writers), None)
    if unknown is not None:
        known = f"choose from {', '.join(writers)}" if writers else "leave it out"
        raise refuse(f"{unknown}={given[unknown]!r}", f"has no words after {words}", known)
    return "".join(
        write(writer, name, given[name]) for name, write in writers.items() if name in given
    )
