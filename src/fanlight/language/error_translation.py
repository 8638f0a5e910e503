"""Translates errors of the API into the words of the clause, and finds the word to point at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from fanlight.engine.algebra.sql_text import split_path
from fanlight.engine.kinds import list_kinds
from fanlight.engine.kinds.kind import PLACED
from fanlight.engine.kinds.options import list_options
from fanlight.engine.spec.errors import FanlightError
from fanlight.engine.spec.trailing import LATER
from fanlight.engine.spec.units import write_duration
from fanlight.language.grammar import argument_words
from fanlight.language.tokens import error_at, has_position, quote_name, tokenize


@dataclass(frozen=True)
class ArgumentSpan:
    """Where an argument of the API stands in a text, and its value there, as text."""

    argument: str
    start: int
    end: int
    value: str = ""
    whole: bool = True  # False: an error may point at a single word inside


# Arguments of the API, each by its word in the clause.
_CLAUSE = {
    "offset": "OFFSET", "time": "WATTR", "by": "PARTITION BY",
    "tiebreak": "TIEBREAK", "late": "LATE", "forget_after": "FORGET AFTER",
    "rate": "RATE", "groups": "GROUPS",
    "partitions": "PARTITIONS", "duration": "DURATION", "height": "HEIGHT",
    "max_duration": "MAX", "max_rows": "MAX", "max_gap": "MAX GAP",
    "min_duration": "MIN", "min_rows": "MIN",
    "every": "SPLIT EVERY",
    "instant": "INSTANT", "ahead": "AHEAD", "threshold": "BURSTS THRESHOLD",
    "fit": "FIT", "recurring": "RECURRING",
    "length": "", "event": "EVENT", "result": "RESULT",
}  # fmt: skip
FLINK = {
    # By name or by position.
    "range": "", "slide": "", "offset": "", "gap": "", "length": "",
    "time": "DESCRIPTOR", "by": "PARTITION BY", "late": "LATE",
}  # fmt: skip
_LEVELS = {"ranges": "range", "slides": "slide", "horizons": "horizon", "weights": "weight"}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ROWS = ("max_rows", "min_rows")  # their values are numbers of rows
_DOUBLES = ("rate", "groups", "weights", "threshold")
_CONDITIONS = ("predicate", "open", "close")
_NAMES = ("time", "by", "tiebreak", "fit", "recurring", "event", "result", "cells", "deltas",
          "id")  # fmt: skip

_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_VALUE = rf"{_TEXT}|\[[^\]]*\]|\([^()]*\)|(?:fl\.)?Rows\(\w+\)|[\w.+-]*\w"
_GIVEN = re.compile(rf"(?<![\w.])(\w+)(?:\[(\d+)\])?=({_VALUE})")
_LENGTH = re.compile(r"'(-?[\d.]+ [a-z]+(?: -?[\d.]+ [a-z]+)*)'")
_COUNT = re.compile(r"(?:fl\.)?Rows\((?:count=)?(\w+)\)")
_HEAD = re.compile(rf"(?:fill\(other, …\): )?(\w+)(?:\[(\d+)\])?(?:[=(]\{{?({_VALUE}))?")
_SLIDING = re.compile(r"(?:fl\.)?Sliding\(([^(),]+)(?:, ([^()=,]+))?(?:, OFFSET ([^()]+))?\)")
_CALENDAR = re.compile(rf"fl\.Calendar\('([^']+)', zone=({_TEXT})\)")
_DELTA = re.compile(r"datetime\.timedelta\(([^()]*)\)")
_PYTHON = re.compile(r"\b(df|spark|F)\.\w")  # Python code, which is left as it is
_DECAY = re.compile(r"weights=(?:fl\.)?decay\(((?:[^()]|\(\w+\))*)\)")
_RENAMED = re.compile(rf"rename it first: df\.withColumnRenamed\((?:{_TEXT}), …\)")
_AT = re.compile(r"\(line 1, pos (\d+)\)")
_WORDS = re.compile(r"column '([^']+)'|with name ((?:`[^`]+`\.?)+)|\)='([^']+)'|own=….*='([^']+)'")
# Phrases of the API's errors, and what the clause says instead.
_PHRASES = (
    ("slope: column", "FIT: column"),
    ("write time=('start', 'stop'), or ask", "write SPAN start, stop for WATTR, or ask"),
    ("cells: column", "BOUNDARY: column"),
    ("deltas: column", "DELTA: column"),
    ("before fl.over", "before fl.sql"),
    ("pass may_fall=True", "write MAY FALL after it"),
    ("weights with report='continuous'", "WEIGHTS with REPORT CONTINUOUS"),
    ("report='continuous'", "REPORT CONTINUOUS"),
    ("use report='periodic'", "leave REPORT CONTINUOUS out"),
    ("late='open'", "LATE OPEN"),
    ("or write a PredicateFrame", "or write FRAME OPEN … CLOSE …"),
    ("use an fl.over for each", "write a query for each"),
    ("for example fl.Sliding", "for example RANGE"),
    ("write accumulate(…): each part", "write SO FAR after it: each part"),
    ("accumulate(…)", "SPLIT EVERY … SO FAR"),
    ("write split(…)", "leave SO FAR out"),
    ("rename it with .alias(…)", "write another name after AS"),
    ("of the other DataFrame", "of the other table"),
    ("of the DataFrame", "of the table"),
    ("or leave overlapping out", "or leave OVERLAPPING out"),
    ("leave offset out", "leave OFFSET out"),
    ("early(…).rows(…)", "EARLY without aggregates"),
    ("leave early(…) out, or write agg(…) or frames(…) after it",
     "write an aggregate or GROUP BY window, or leave EARLY out"),
    ("leave it out: as_of says", "leave it out: AS OF says"),
    ("write agg(…), or give the levels", "give the levels"),
    (
        "use collate(lower(…), 'UTF8_BINARY') as the key, or write agg(…)",
        "use collate(lower(…), 'UTF8_BINARY') as the key",
    ),
    ("for example agg.count()", "for example count(*)"),
    ("agg.count, agg.sum or agg.avg", "count, sum or avg"),
    ("levels compared by", "BURSTS by"),
    ("changes_only=True", "CHANGES ONLY"),
    ("add filled=True, or leave instant out", "write FILLED before it, or leave INSTANT out"),
    ("leave filled out", "leave FILLED out"),
    ("leave since out", "leave SINCE out"),
    ("leave side out", "leave START or END out"),
    ("leave changes_only out", "leave CHANGES ONLY out"),
    ("leave weights out", "leave WEIGHTS out"),
    ("leave weights and changes_only out", "leave WEIGHTS and CHANGES ONLY out"),
    ("leave min_rows and min_duration out, or leave_for", "leave MIN out, or LEAVE FOR"),
    ("leave forget_after out", "leave FORGET AFTER out"),
    ("with .postpone('2 hours') before the aggregates", "by POSTPONE 2 HOURS"),
    ("that the times are of a max_duration", "that the times are of MAX 8 HOURS"),
    ("leave enter_for out", "leave ENTER FOR out"),
    ("a longer max_duration", "more after MAX"),
    ("less for min_duration", "less after MIN"),
    ("less for min_rows", "less after MIN"),
    ("write range and slide as", "write RANGE and SLIDE as"),
    ("Episode(…, event=, result=)", "named by EVENT and RESULT"),
    ("write SQL over", "there are"),
    ("a shorter first", "a shorter one before TO"),
    ("zone=None is for", "no ZONE is for"),
    (LATER, ""),
    ("write zone=None", "leave ZONE out"),
    ("; None for local times", ", or leave ZONE out for local times"),
)  # fmt: skip


def clause_words() -> Mapping[str, str]:
    """The clause's words for arguments of the API."""
    return {**argument_words(), **_CLAUSE}


def locate(text: str, spans: Sequence[ArgumentSpan], message: str) -> tuple[int, int] | None:
    """The part of the text that an error of the API is about; None if no argument is known."""
    span = _find_span(spans, message)
    if span is None:
        return None
    if span.whole:
        return span.start, span.end
    at = _AT.search(message)
    if at is not None:  # Spark's position within an expression
        first = span.start + int(at[1])
        tokens = [
            one for one in tokenize(" " * span.start + text[span.start : span.end]) if one.text
        ]
        one = next((one for one in tokens if one.start <= first < one.end), None)
        return (one.start, one.end) if one else (span.start, span.end)
    word = _WORDS.search(message)
    name = next(filter(None, word.groups()), "") if word else span.value
    plain = split_path(name)[-1].casefold() if name else ""
    for match in re.finditer(r"`[^`]+`|\w+", text[span.start : span.end]):
        if plain and match[0].strip("`").casefold() == plain:
            return span.start + match.start(), span.start + match.end()
    return span.start, span.end


@contextmanager
def translate_errors(
    text: str,
    spans: Sequence[ArgumentSpan],
    start: int,
    end: int,
    words: Mapping[str, str] | None = None,
    phrases: Sequence[tuple[re.Pattern[str], Any]] = (),
    find: Callable[[str, Sequence[ArgumentSpan], str], tuple[int, int] | None] = locate,
) -> Iterator[None]:
    """An error raised inside is translated into the words of the clause, and points at its word.

    Where ``find`` finds no word, it points at ``text[start:end]``. ``phrases`` are patterns of
    messages, and what is written instead before words are translated.
    """
    try:
        yield
    except FanlightError as error:
        if has_position(error):
            raise
        message = str(error)
        place = find(text, spans, message) or (start, end)
        for phrase, other in phrases:
            message = phrase.sub(other, message)
        raise error_at(text, *place, translate(message, words)) from error


def _find_span(spans: Sequence[ArgumentSpan], message: str) -> ArgumentSpan | None:
    """The span of the argument that an error begins with; of several the one with its value."""
    missing = re.match(r"Episode\(.*names a column '([^']+)'", message)
    columns = [span for span in spans if span.argument in ("event", "result")]
    for span in columns if missing else ():
        if missing and span.value == missing[1]:
            return span
    for span in reversed(spans):  # aggregates and queries, which errors call by their text
        if not span.argument.isidentifier() and message.startswith(span.argument):
            return span
    head = _HEAD.match(message)
    if head is None:
        return None
    mixed = re.search(r"with (slides?)=", message)
    name, index = (mixed[1], None) if mixed else (head[1], head[2])
    name = "range" if name == "Sliding" else name
    if index is not None:
        name = f"{name}[{index}]"
    of = [span for span in spans if span.argument == name]
    value = _normalize(head[3] or "")
    column = re.search(r"column '([^']+)'", message)
    for wanted in (column[1] if column else "", value):
        same = [span for span in of if wanted and _normalize(span.value) == wanted]
        if same:
            return _narrow_to_number(spans, same[-1], message)
    return of[-1] if of else None


def _narrow_to_number(
    spans: Sequence[ArgumentSpan], span: ArgumentSpan, message: str
) -> ArgumentSpan:
    """The span of the wrong number, if the error is about a number of that column."""
    if "={" not in message:
        return span
    numbers = [one for one in spans if one.argument == f"{span.argument} of {span.value}"]
    repeated = re.search(r"repeats (\S+) ", message)
    same = [one for one in numbers if repeated and one.value == repeated[1]]
    return (same or numbers or [span])[-1]


def _normalize(value: str) -> str:
    """A value for comparison: without quotes, in lower case, all forms of rows as ``n rows``."""
    value = _COUNT.sub(r"\1 rows", value).strip("'\"").casefold()
    value = re.sub(r"\b(rows?|tuples?)$", "rows", value)
    return " ".join(value.split())


def translate(message: str, words: Mapping[str, str] | None = None) -> str:
    """A message of the API, with arguments, lengths and names as the query language writes them.

    >>> translate("slide='0 minutes' must be positive; write for example slide='1 minute'")
    'SLIDE 0 MINUTES must be positive; write for example SLIDE 1 MINUTE'
    >>> translate("range=10 is a number, but time='ts' is a timestamp; write fl.Rows(n)")
    'RANGE 10 is a number, but WATTR ts is a timestamp; write n ROWS'
    """
    words = clause_words() if words is None else words
    message = re.sub(r"^fill\(own=…\): (.*)='([^']+)' is", r"\2 in \1 is", message)
    message = message.removeprefix("fill(other, …): ").removeprefix("fill(own=…): ")
    message = re.sub(r"Episode\(('[^']*')\)", r"DETECT \1", message)
    verb = r"^(?:wide|bursts) (?:(?:with )(?:horizons|weights)|(?=with|of|by))"
    message = re.sub(verb, lambda of: of[0].upper().replace(" WITH ", " with "), message)
    message = re.sub("write another name: .*?=…", "write another name after AS", message)
    message = _RENAMED.sub("rename it in a sub-query", message)
    message = _DECAY.sub(r"half_life=\1", message)
    for phrase, other in _PHRASES:
        message = other.join(message.split(phrase))
    what, semicolon, advice = message.partition("; ")
    what = _translate_part(what, words, advised=False)
    if not _PYTHON.search(advice):
        advice = _translate_part(advice, words, advised=True)
    return f"{what.rstrip(',')}{semicolon}{advice}"


def _translate_part(message: str, words: Mapping[str, str], *, advised: bool) -> str:
    """Translates one half of a message: the complaint, or the advice after the semicolon."""

    def translate_argument(match: re.Match[str]) -> str:
        name, index, value = match.groups()
        if name not in words:
            return match[0]
        value = _translate_lengths(_translate_argument(name, value), words)
        if index is None or name not in _LEVELS:
            return f"{words[name]} {value}".strip()
        place = _ORDINALS[int(index)] if int(index) < len(_ORDINALS) else f"{index}."
        return value if advised else f"the {place} {_LEVELS[name]}, {value},"

    message = _CALENDAR.sub(lambda of: f"CALENDAR {of[1].upper()} ZONE {of[2]}", message)
    message = _GIVEN.sub(translate_argument, _DELTA.sub(_timedelta_text, message))
    message = re.sub(r"using\('([^']*)'\)", r"USING \1", message)
    for option in list_options():
        if option.words is not None:
            message = re.sub(rf"\b{option.verb}\(…\)", option.words.begins, message)
    message = re.sub(r"\bearly\((.*?)\)", _translate_early, message)
    message = re.sub(
        r"\brunning\((?:AS OF None, )?(.*?)(?:, ID None)?\)", _translate_running, message
    )
    message = re.sub(r"\.?\bwith_empty\('(\w+)'(?:, )?(.*?)\)", _translate_empty, message)
    message = re.sub(r"\bcomplete_only\((.*?)\)", lambda of: of[1] or "COMPLETE", message)
    message = re.sub(r"\bbursts\(\[?([\d., ]+)\]?, …\)", _translate_bursts, message)
    if re.search(r"use one of '|use 'auto'", message):
        message = re.sub(r"'(\w+(?:-\w+)*)'", r"\1", message)
    message = re.sub(r"(cells|deltas)=\{'([^']+)': \[?([^\]}]*)\]?\}", _translate_boundary, message)
    message = re.sub(r"write for example \{'[^']+': ([\d.]+)\}", r"write for example \1", message)
    message = re.sub(r"write for example \[([\d., ]+)\]", r"write for example WEIGHTS \1", message)
    message = re.sub(r"AggregateFrame\(([^{}]*?), ([\d.]+)\)", r"\1 REACHES \2", message)
    message = re.sub(r"^limit=(\S+) of (.*?) (?=is not|has a)", r"\2 REACHES \1 ", message)
    message = re.sub(r"write for example limit=", "write for example ", message)
    message = re.sub(r"BoundaryFrame\(\{.*?\}, overlapping=True\)", "OVERLAPPING", message)
    message = re.sub(r"^fill\((.*?)\)", r"FILL … \1", message)
    message = re.sub(r"^(.*\))='([^']+)' is", r"\2 in \1 is", message)
    begins = {kind.name: kind.words.begins for kind in list_kinds() if kind.family is not PLACED}
    message = re.sub(rf"\b({'|'.join(begins)})\b", lambda match: begins[match[1]], message)
    message = _SLIDING.sub(_translate_sliding, _translate_lengths(message, words))
    return re.sub(r"fl\.TRAILING\(([^(),]+), ([^()]+)\)", r"TRAILING \1 \2", message)


def _translate_argument(name: str, value: str) -> str:
    """The value of an argument, as far as its translation depends on the argument."""
    if name in _NAMES:
        return _quote_names(value)
    if name in _CONDITIONS or (name == "gap" and value[0] == "'" and not _LENGTH.match(value)):
        return value[1:-1]
    if name in ("closed", "side"):
        return value[1:-1].upper()
    if name == "between":
        return " AND ".join(part.strip() for part in value[1:-1].split(","))
    if name in _ROWS and value.isdigit():
        return f"{value} ROWS"
    return re.sub(r"\.0\b", "", value) if name in _DOUBLES else value


def _translate_running(match: re.Match[str]) -> str:
    return f"RUNNING {' '.join(match[1].split(', '))}".rstrip()


def _translate_early(match: re.Match[str]) -> str:
    return f"EARLY EVERY {match[1]}" if match[1] else "EARLY"


def _translate_empty(match: re.Match[str]) -> str:
    return f"EMPTY {match[1].upper()} {match[2]}".rstrip()


def _translate_bursts(match: re.Match[str]) -> str:
    numbers = re.sub(r"\.0\b", "", match[1])
    return f"BURSTS THRESHOLD {numbers}"


def _timedelta_text(match: re.Match[str]) -> str:
    """A ``timedelta(…)`` in a message as a duration in quotes."""
    units = {unit: int(count) for unit, count in re.findall(r"(\w+)=(-?\d+)", match[1])}
    micros = timedelta(**units) // timedelta(microseconds=1)
    return f"'{write_duration(micros)}'"


def _translate_lengths(text: str, words: Mapping[str, str]) -> str:
    """Translates the lengths and numbers of rows in a text."""
    if words["range"] == FLINK["range"]:
        text = re.sub(r"'(-?[\d.]+) ([a-z]+?)s?'", lambda m: f"INTERVAL '{m[1]}' {m[2].upper()}",
                      text)  # fmt: skip
    else:
        text = _LENGTH.sub(lambda match: match[1].upper(), text)
    text = _COUNT.sub(lambda match: f"{match[1]} ROW{'' if match[1] == '1' else 'S'}", text)
    listed = re.fullmatch(r"\[(.*)\]", text)
    return listed[1] if listed else text


def _quote_names(value: str) -> str:
    """Names of columns as the query language writes them."""
    names = re.findall(r"'((?:[^'\\]|\\.)*)'", value)
    return ", ".join(map(quote_name, names)) if names else value


def _translate_sliding(match: re.Match[str]) -> str:
    slide = f" SLIDE {match[2]}" if match[2] else ""
    offset = f" OFFSET {match[3]}" if match[3] else ""
    return f"RANGE {match[1]}{slide}{offset}"


def _translate_boundary(match: re.Match[str]) -> str:
    word = "BY" if match[1] == "deltas" else "AT" if "," in match[3] else "EVERY"
    number = f"({match[3]})" if word == "AT" else match[3]
    return f"{quote_name(match[2])} {word} {number}"
