"""Options of windows: one entry with all that the library needs to know of each.

An option is asked by a verb before the last method of windows, such as ``windows.early()``, and in
the query language by words. What is done about it stands beside the windows of Spark
(``engine/spark/options.py``), which read the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fanlight.engine.algebra.sql_text import in_quotes
from fanlight.engine.kinds.kind import (
    EMPTY,
    FRAMED,
    LEVELLED,
    PLACED,
    SIDES,
    SNAPPED,
    TRAILED,
    WIDENED,
    Family,
    Node,
    Reader,
    Words,
    Writer,
)
from fanlight.engine.spec.arguments import check_choice, check_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import read_length
from fanlight.engine.spec.units import read_extent

WITH_EMPTY, COMPLETE_ONLY, EARLY, RUNNING, POSTPONE, FILL, AT = (
    "with_empty", "complete_only", "early", "running", "postpone", "fill", "at",
)  # fmt: skip
BY_TIME = ("agg", "wide", "fit", "reversals", "recurring", "bursts")  # methods of placed windows
OF_FRAMES = ("frames", "rows", "split", "accumulate", "repair")
METHODS = (
    *BY_TIME, *OF_FRAMES, "pieces", "attach", "detect", "explain", "rejected", "using",
)  # fmt: skip


@dataclass(frozen=True)
class Option:
    """An option of windows: its verb, and what it goes with.

    It is of some ``families``, and of these ``lasting`` ones alone: those over events that last. It
    goes with the ``terminals`` (None: with all); with others it is refused: ``why``. It
    ``excludes`` other options, each for a reason, some in a stream alone. ``arguments`` are those
    of its verb with their defaults, of which ``columns`` name columns, and ``words`` are those of
    the query language. ``formerly``: how it was written among the aggregates, or is elsewhere.
    """

    verb: str
    families: tuple[Family, ...]
    terminals: tuple[str, ...] | None
    why: str = ""
    lasting: bool = False
    excludes: Mapping[str, str] = field(default_factory=dict)
    excludes_in_stream: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    words: Words | None = None
    formerly: Mapping[str, str] = field(default_factory=dict)


_OPTIONS: dict[str, Option] = {}


def register_option(option: Option) -> None:
    """Make an option known everywhere."""
    _OPTIONS[option.verb] = option


def forget_option(option: Option) -> None:
    """Make an option unknown again."""
    del _OPTIONS[option.verb]


def list_options() -> tuple[Option, ...]:
    """All options, in the order in which they are asked."""
    return tuple(_OPTIONS.values())


def find_option(verb: str) -> Option:
    """The option that a verb asks for."""
    return _OPTIONS[verb]


def check_terminal(option: Option, terminal: str) -> None:
    """Refuse an option that does not go with a terminal method."""
    if option.terminals is not None and terminal not in option.terminals:
        framed = terminal in OF_FRAMES
        these = [one for one in option.terminals if one == "agg" or (one in OF_FRAMES) == framed]
        goes = " or ".join(f"{one}(…)" for one in these)
        raise refuse(
            f"{option.verb}(…).{terminal}(…)",
            option.why,
            f"leave {option.verb}(…) out, or write {goes} after it",
        )


# What the query language says.

_ID = "id='x'"


def _read_edge(reader: Reader, node: Node) -> Any:
    """A time as text, or a number."""
    return reader.string(node) if reader.rule(node) == "edge" else reader.number(node)


def _write_edge(writer: Writer, argument: str, given: Any) -> str:
    if isinstance(given, datetime):
        given = given.isoformat()
    if isinstance(given, str):
        return in_quotes(given)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        example = f"{argument}='2025-03-01T00:00:00Z'"
        raise refuse(f"{argument}={given!r}", "is not a time", f"write for example {example}")
    return writer.number(given)


def _write_length(writer: Writer, argument: str, given: Any) -> str:
    length = read_extent(argument, given, positive=argument != "wait", counted=False)
    return writer.length(length)


def _read_running(reader: Reader, node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in reader.parts(node):
        argument, (given,) = reader.rule(part), reader.parts(part)
        reader.refuse_repeated(part, found)
        reader.add_span(argument, given)
        if argument == "id":
            found[argument] = reader.name_parts(given)
        elif argument == "as_of":
            found[argument] = _read_edge(reader, given)
        else:
            found[argument] = reader.length(given)
    return found


def _write_running(writer: Writer, given: Mapping[str, Any]) -> str:
    written = ""
    if given.get("as_of") is not None:
        written += f" AS OF {_write_edge(writer, 'as_of', given['as_of'])}"
    if given.get("id") is not None:
        name = check_text("id", given["id"], _ID)
        written += f" ID {writer.name(name)}"
    length = read_length("max_duration", given.get("max_duration"))
    if length is not None:
        written += f" MAX {writer.length(length)}"
    return written and f"RUNNING{written}"


def _read_empty(reader: Reader, node: Node) -> dict[str, Any]:
    given: dict[str, Any] = {"values": reader.words(node)["EMPTY"].split()[-1].lower()}
    if "NUMBER" in reader.words(node):
        reader.add_word_span("most", node, "NUMBER")
        given["most"] = reader.only_integer(node)
    if edges := reader.parts(node):
        reader.add_span("between", edges[0], until=edges[-1])
        given["between"] = tuple(_read_edge(reader, one) for one in edges)
    return given


def _write_empty(writer: Writer, given: Mapping[str, Any]) -> str:
    rule = check_choice("values", given.get("values"), EMPTY, "what windows without rows can have")
    if given.get("keys") is not None:
        raise refuse("keys=…", "is a DataFrame, which has no words", "use fl.over(…)")
    written = f"EMPTY {rule.upper()}"
    if given.get("most") is not None:
        written += f" MAX {writer.number(given['most'])}"
    if given.get("between") is not None:
        edges = [_write_edge(writer, "between", one) for one in given["between"]]
        written += f" BETWEEN {' AND '.join(edges)}"
    return written


def _read_complete(reader: Reader, node: Node) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if "SIDE" in reader.words(node):
        reader.add_word_span("side", node, "SIDE")
        given["side"] = reader.words(node)["SIDE"].lower()
    for edge in reader.parts(node):
        reader.add_span("since", edge)
        given["since"] = _read_edge(reader, edge)
    return given


def _write_complete(writer: Writer, given: Mapping[str, Any]) -> str:
    side = check_choice("side", given.get("side", "both"), SIDES, "a side of windows")
    written = "COMPLETE" if side == "both" else f"COMPLETE {side.upper()}"
    if given.get("since") is not None:
        written += f" SINCE {_write_edge(writer, 'since', given['since'])}"
    return written


def _read_one(argument: str) -> Any:
    """Reads an option that has one length, or none."""

    def read(reader: Reader, node: Node) -> dict[str, Any]:
        found = {}
        for length in reader.parts(node):
            reader.add_span(argument, length)
            found[argument] = reader.length(length)
        return found

    return read


def _write_early(writer: Writer, given: Mapping[str, Any]) -> str:
    every = given.get("every")
    return "EARLY" if every is None else f"EARLY EVERY {_write_length(writer, 'every', every)}"


def _write_postpone(writer: Writer, given: Mapping[str, Any]) -> str:
    return f"POSTPONE {_write_length(writer, 'wait', given.get('wait'))}"


_BEFORE_LENGTH = "(?=\\s*['\"\\d]|\\s+interval\\b)/i\n"

for _option in (
    Option(
        RUNNING,
        (PLACED, LEVELLED, SNAPPED),
        ("agg", "wide"),
        "is about events, and it is about the rows of windows",
        lasting=True,
        excludes_in_stream={
            "late='open'": "counts a late row in all of its windows or in none",
            "late='collect'": "knows by itself which rows are late",
            "forget_after": "forgets events, not keys",
            "changes_only": "gives each level as it is",
        },
        arguments=dict.fromkeys(("as_of", "id", "max_duration")),
        columns=("id",),
        words=Words(
            "running",
            "RUNNING",
            "RUNNING of_event+",
            _read_running,
            _write_running,
            rules=(
                "of_event: ID name -> id\n"
                "        | AS_OF edge -> as_of\n"
                "        | MAX length -> max_duration\n"
            ),
            terminals=(
                "RUNNING.3: /running\\b(?=\\s+(id|as\\s+of|max)\\b)/i\n"
                "ID.3: /id\\b(?=\\s+[\\w`])/i\n"
                "AS_OF.3: /as\\s+of\\b/i\n"
            ),
            terminal_names={"AS_OF": "AS OF"},
            examples={"RUNNING": "RUNNING ID call_id"},
            arguments={"as_of": "AS OF", "id": "ID", "max_duration": "MAX"},
        ),
    ),
    Option(
        POSTPONE,
        (PLACED, LEVELLED, FRAMED, SNAPPED, TRAILED, WIDENED),
        None,
        arguments={"wait": None},
        words=Words(
            "postpone",
            "POSTPONE",
            "POSTPONE length",
            _read_one("wait"),
            _write_postpone,
            terminals=f"POSTPONE.3: /postpone\\b{_BEFORE_LENGTH}",
            examples={"POSTPONE": "POSTPONE 2 HOURS"},
            arguments={"wait": "POSTPONE", "postpone": "POSTPONE"},
        ),
    ),
    Option(
        EARLY,
        (PLACED, LEVELLED, FRAMED),
        ("agg", "frames", "pieces"),
        "gives windows while they are open, and this is about those that are complete",
        excludes={
            "changes_only": "gives each level as it is",
            "weights": "gives each level as it is",
            "late='open'": "counts a late row in all of its windows or in none",
        },
        arguments={"every": None},
        words=Words(
            "early",
            "EARLY",
            "EARLY (EVERY length)?",
            _read_one("every"),
            _write_early,
            terminals="EARLY.3: /early\\b/i\nEVERY.3: /every\\b/i\n",
            arguments={"every": "EARLY EVERY"},
        ),
    ),
    Option(
        WITH_EMPTY,
        (PLACED, LEVELLED),
        ("agg", "wide"),
        "adds windows without rows, and it is about the rows of windows",
        excludes={
            EARLY: "goes with windows that are given once, at their end",
            "changes_only": "gives windows of which changes_only leaves out some",
            "forget_after": "would end the silence after which keys are forgotten",
        },
        arguments=dict.fromkeys(("values", "most", "between", "keys")),
        words=Words(
            "empty",
            "EMPTY",
            "EMPTY (MAX NUMBER)? (BETWEEN edge AND edge)?",
            _read_empty,
            _write_empty,
            terminals=(
                "EMPTY.3: /empty\\s+(null|zero|last|linear)\\b/i\n"
                "BETWEEN.3: /between\\b/i\n"
                "AND.3: /and\\b/i\n"
            ),
            examples={"EMPTY": "EMPTY ZERO"},
            arguments={"most": "MAX", "between": "BETWEEN"},
        ),
        formerly={
            "empty": ".with_empty({given})", "fill_value": ".with_empty('zero')",
            "max_empty": ".with_empty('zero', most={given})",
            "between": ".with_empty('zero', between={given})",
            "keys": ".with_empty('zero', between=…, keys=df)",
        },
    ),
    Option(
        COMPLETE_ONLY,
        (PLACED, LEVELLED),
        BY_TIME,
        "leaves out windows, and pieces are not windows yet",
        excludes={"changes_only": "would leave out reports that others are compared with"},
        arguments={"since": None, "side": "both"},
        words=Words(
            "complete",
            "COMPLETE",
            "COMPLETE SIDE? (SINCE edge)?",
            _read_complete,
            _write_complete,
            terminals=(
                "COMPLETE.3: /complete\\b/i\nSIDE.3: /(start|end)\\b/i\nSINCE.3: /since\\b/i\n"
            ),
            terminal_names={"SIDE": "START or END"},
            arguments={"since": "COMPLETE SINCE", "side": "COMPLETE"},
        ),
        formerly={"complete": ".complete_only()", "min_periods": ".complete_only()"},
    ),
    Option(
        FILL,
        (FRAMED,),
        ("agg", "rows"),
        "is about the rows of another DataFrame in frames that are closed",
        excludes={EARLY: "is about frames that are closed"},
    ),
    Option(
        AT,
        (TRAILED,),
        ("attach",),
        "is about the rows of another DataFrame",
        excludes={
            "late='collect'": "would mix the late rows of two streams, those that ask and those "
            "that are asked"
        },
    ),
):  # fmt: skip
    register_option(_option)
