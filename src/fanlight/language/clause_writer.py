"""Specs, and what is asked of windows, as text of the query language that reads back the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import in_backticks, in_quotes
from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import Writer
from fanlight.engine.kinds.options import list_options
from fanlight.engine.kinds.placed import write_calendar_length, write_zone
from fanlight.engine.spec.arguments import check_choice, check_flag, check_text, read_names
from fanlight.engine.spec.calendar import check_zone, has_months, read_units
from fanlight.engine.spec.episode import Episode
from fanlight.engine.spec.errors import FanlightError, explain_wrong_calls, refuse
from fanlight.engine.spec.frames.base import Frame, Least, Most, read_length
from fanlight.engine.spec.units import MICROSECONDS, Extent, write_duration
from fanlight.language.clause_reader import read_clause
from fanlight.language.tokens import quote_name
from fanlight.types import Duration, How, LateInSql, Method, Spec

_HOUR = MICROSECONDS["hour"]


@explain_wrong_calls("fl.clause(fl.Sliding('1 hour'), time='ts')")
def clause(
    spec: Spec,
    *,
    time: str | tuple[str, str],
    by: str | Sequence[str] | None = (),
    tiebreak: str | Sequence[str] | None = (),
    late: LateInSql = "drop",
    forget_after: Duration | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    method: Method | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> str:
    """Write windows as a clause in brackets for :func:`fanlight.sql`.

    Parameters
    ----------
    spec
        The windows, as for :func:`fanlight.over`. Conditions must be SQL text: a Column or a Python
        function cannot be written as text.
    time, by, tiebreak
        As for :func:`fanlight.over`; columns by name.
    late, forget_after
        As for :func:`fanlight.over`.
    options
        Methods that change the windows, each with its arguments:
        ``{"early": {"every": "1 minute"}, "with_empty": {"values": "zero", "most": 60}}``.
    method
        The method to call on the windows, if SQL has words for it: ``"fit"``, ``"recurring"``,
        ``"wide"``, ``"bursts"``, ``"fill"``, ``"split"``, ``"accumulate"`` or ``"detect"``. Write
        aggregates in the SELECT, not here.
    arguments
        The arguments of the method, by their names in Python:
        ``{"column": "price", "ahead": "1 minute"}``. Columns, and the ``other`` table of ``fill``,
        by name.

    Returns
    -------
    str
        The clause, to write after the name of a table. It stands for the same windows and method.

    Raises
    ------
    FanlightError
        If the windows have a part that the language cannot express, or do not have the method, or
        the method has an argument that cannot be expressed.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.clause(fl.Sliding("4 minutes", "1 minute"), time="ts")
    '[WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE]'
    >>> fl.clause(fl.ThresholdFrame("flsp > 0.2", min_rows=20), time="ts", by="probe")
    '[WATTR ts PARTITION BY probe FRAME THRESHOLD (flsp > 0.2) MIN 20 ROWS]'
    >>> levels = fl.MultiGranular(["1 minute", "1 hour"], ["1 minute", "1 minute"])
    >>> fl.clause(levels, time="ts", method="bursts", arguments={"threshold": 3})
    '[WATTR ts RANGES 1 MINUTE, 1 HOUR SLIDES 1 MINUTE, 1 MINUTE BURSTS THRESHOLD 3]'

    """
    place = _write_time(time)
    keys, breaks = (
        read_names("by", () if by is None else by, "by='key'"),
        read_names("tiebreak", () if tiebreak is None else tiebreak, "tiebreak='id'"),
    )
    if keys:
        place += f" PARTITION BY {_write_names(keys)}"
    windows = written = _write_windows(spec)
    if breaks:
        written += f" TIEBREAK {_write_names(breaks)}"
    if check_choice("late", late, get_args(LateInSql), "a rule for late rows") != "drop":
        written += " LATE OPEN"
    silence = read_length("forget_after", forget_after)
    if silence is not None:
        written += f" FORGET AFTER {_Writer().length(silence)}"
    written += write_options(_Writer(), options)
    written += write_verb(_Writer(), method, arguments)
    text = f"[{place} {written}]"
    try:
        found = read_clause(text, 0, len(text))
        asked = None if found.verb is None else found.verb.name
        same = (_write_windows(found.spec), asked) == (windows, method)
    except FanlightError as error:
        raise refuse(
            f"{spec!r}", f"cannot be written as a clause ({error})", "use fl.over(…)"
        ) from error
    if not same:
        raise refuse(
            f"{spec!r}", "has SQL text whose brackets do not match", "use fl.over(…) for it"
        )
    return text


def _write_time(time: Any) -> str:
    if isinstance(time, str):
        return f"WATTR {quote_name(time)}"
    if isinstance(time, (tuple, list)) and len(time) == 2 and all(isinstance(t, str) for t in time):
        return f"SPAN {_write_names(time)}"
    raise refuse(
        f"time={time!r}", "is neither a column's name nor a pair of them", "write time='ts'"
    )


def _write_names(columns: Sequence[str]) -> str:
    return ", ".join(map(quote_name, columns))


def _write_windows(spec: Any) -> str:
    kind = kind_of(spec)
    if kind is not None:
        return kind.words.write(_Writer(), spec)
    if isinstance(spec, Frame):
        raise refuse(f"{spec!r}", "is a frame of your own", "use fl.over(…) for it")
    if isinstance(spec, (list, tuple)) and spec and all(map(kind_of, spec)):
        raise refuse(
            f"clause({spec!r})",
            "lists several kinds of windows, and a list in SQL is of one kind",
            "use fl.over(…) for it, or a clause for each",
        )
    raise refuse(f"clause({spec!r})", "is not a window that fanlight knows", "pass a spec, for "
                 "example fl.Sliding('1 hour', '1 minute')")  # fmt: skip


class _Writer:
    """Writes the parts of a clause for the entries of the kinds of windows."""

    def length(self, length: Extent, *, calendar: bool = False) -> str:
        """A length; with ``calendar``, no unit above hours, as days may differ in length."""
        if length.measure == "rows":
            return f"{int(length.value)} ROW" + "S" * (length.value != 1)
        if length.measure == "number":
            return self.number(length.value)
        if calendar and length.value % _HOUR == 0:
            return f"{length.value // _HOUR} HOURS"
        return write_duration(int(length.value)).upper()

    def number(self, value: Any) -> str:
        """A number, exactly: reading it gives the same value."""
        exact = Fraction(repr(value) if isinstance(value, float) else value)
        if exact.denominator == 1:
            return str(int(exact))
        text = repr(float(exact))
        return text.upper() if Fraction(text) == exact else f"{exact.numerator}/{exact.denominator}"

    def name(self, column: str) -> str:
        """A column's name, in quotes where it needs them."""
        return quote_name(column)

    def sql(self, given: Any, spec: Any) -> str:
        """SQL text as it is; an error about the spec if it is not text."""
        if not isinstance(given, str):
            raise refuse(
                f"{spec!r}",
                "has a part that is not SQL text, and only text can be written down",
                "write the condition as SQL text",
            )
        return given

    def sizes(self, spec: Any) -> str:
        """MIN, MAX and MAX GAP of a frame."""
        least, most = spec.least or Least(), spec.most or Most()
        rows = {"MIN": least.rows if least.rows > 1 else None, "MAX": most.rows}
        lengths = {"MIN": least.duration, "MAX": most.duration, "MAX GAP": most.gap}
        parts = [f" {word} {count} ROW{'S' * (count > 1)}" for word, count in rows.items() if count]
        parts += [f" {word} {self.length(length)}" for word, length in lengths.items() if length]
        return "".join(parts)

    def aggregate(self, call: Call, spec: Any) -> str:
        """An aggregate call; an error about the spec if it cannot be written."""
        name, columns = call.aggregate.name, [self.sql(one, spec) for one in call.columns]
        if name not in AGGREGATES:
            raise refuse(f"{spec!r}", "has an aggregate of your own", "use fl.over(…) for it")
        usual = AGGREGATES[name].function(*columns)
        if replace(call, output=None, synonym="") != replace(usual, output=None):
            why = f"has a {name} with options, which a clause cannot write"
            raise refuse(f"{spec!r}", why, "write it without them, or use fl.over(…)")
        return f"{name}({', '.join(map(quote_name, columns)) or '*'})"


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


def _length(word: str = "") -> _Write:
    def write(writer: Writer, argument: str, given: Any) -> str:
        length = read_length(argument, given)
        return "" if length is None else f" {word}{writer.length(length)}"

    return write


def _steps(writer: Writer, argument: str, given: Any) -> str:
    if has_months(argument, given):
        return f" {write_calendar_length(read_units(argument, given))}"
    return _length()(writer, argument, given)


def _zone(writer: Writer, argument: str, given: Any) -> str:  # noqa: ARG001 - as of every argument
    return write_zone(check_zone(given))


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
    "split": ("SPLIT EVERY", ("every",), {"every": _steps, "zone": _zone}),
    "accumulate": ("SPLIT EVERY … SO FAR", ("every",), {"every": _steps, "zone": _zone}),
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
    begin, _, end = words.partition(" …")
    return f" {begin}{_write_arguments(writer, begin, writers, given)}{end}"


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
