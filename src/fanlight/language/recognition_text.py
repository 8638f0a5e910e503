"""The text of a ``MATCH_RECOGNIZE``: where its parts stand, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from fanlight.engine.spec.errors import guess
from fanlight.language.calls import CallReader, parse_string
from fanlight.language.error_translation import FLINK, ArgumentSpan, locate, translate_errors
from fanlight.language.tokens import (
    Place,
    Token,
    refusal_at,
    split_at_commas,
)

WORD = "MATCH_RECOGNIZE"
FORM = (
    "write MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(b.x) AS x "
    "ONE ROW PER MATCH PATTERN (a b+) DEFINE b AS x > PREV(x))"
)
# What errors call the arguments of the API.
WORDS = {**FLINK, "time": "ORDER BY", "tiebreak": "ORDER BY", "within": "WITHIN",
         "pattern": "PATTERN", "define": "DEFINE", "after_match": "AFTER MATCH SKIP",
         "max_rows": "MAX ROWS", "forget_after": "FORGET AFTER"}  # fmt: skip
SECTIONS = (
    "PARTITION BY", "ORDER BY", "MEASURES", "ONE ROW PER MATCH", "ALL ROWS PER MATCH",
    "AFTER MATCH SKIP", "PATTERN", "WITHIN", "MAX", "FORGET AFTER", "SUBSET", "DEFINE",
)  # fmt: skip
_NEEDED = ("ORDER BY", "PATTERN")
_AFTER_MEASURES = ("ONE", "ALL", "AFTER", "PATTERN")
# Messages of the API in the words of SQL.
_PHRASES: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"pattern=(['\"])((?:(?!\1).)*)\1"), r"PATTERN (\2)"),
    (re.compile(r"define=\{'([^']+)': .*?\}(?= )", re.DOTALL), r"the definition of \1"),
    (re.compile(r"\bmax_rows=(\d+)"), r"MAX \1 ROWS"),
    (
        re.compile(r"over\(…, forget_after='([^ ']+) (\w+?)s?'\)"),
        lambda of: f"FORGET AFTER INTERVAL '{of[1]}' {of[2].upper()} after PATTERN (…)",
    ),
    (re.compile(r"in the DataFrame"), "in the table"),
    (re.compile(r"^([\w`]+\.[\w`.]+)='([^']+)' is"), r"\2 in \1 is"),
    (
        re.compile(r"\bwithin='([^ ']+) (\w+?)s?'"),
        lambda of: f"WITHIN INTERVAL '{of[1]}' {of[2].upper()} after PATTERN (…)",
    ),
)


def opens_recognition(tokens: Sequence[Token], at: int) -> bool:
    """Whether a ``MATCH_RECOGNIZE (…)`` begins at a token."""
    return tokens[at].is_word(WORD) and tokens[at + 1].text == "("


def looks_like_recognition(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is meant to begin a ``MATCH_RECOGNIZE (…)``."""
    one = tokens[at]
    return (
        one.kind == "word"
        and one.text.upper().startswith("MATCH_RECOG")
        and tokens[at + 1].text == "("
        and tokens[at + 2].is_word("PARTITION", "ORDER", "MEASURES", "PATTERN", "ONE", "ALL")
    )


def name_quoted(text: str, tokens: Sequence[Token]) -> str:
    """A text with ``"name"`` in backticks where a ``MATCH_RECOGNIZE`` gives a column that name.

    Spark takes ``"name"`` for a text; where a query calls a column so, all of it means the column.
    """
    inside = [
        (tokens[n + 1].start, tokens[tokens[n + 1].partner].end)
        for n in range(len(tokens) - 1)
        if opens_recognition(tokens, n)
    ]
    names = {
        one.text
        for before, one, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if one.text.startswith('"') and before.is_word("AS")
        and (after.text in (",", ")") or after.is_word(*_AFTER_MEASURES))
        and any(first < one.start < last for first, last in inside)
        and not re.search(r"[`\\]", one.text)
    }  # fmt: skip
    letters, at = list(text), 0
    while at < len(tokens):
        one = tokens[at]
        if one.text in names:
            letters[one.start] = letters[one.end - 1] = "`"
        pattern = one.is_word("PATTERN") and tokens[at + 1].text == "("
        at = tokens[at + 1].partner if pattern else at + 1
    return "".join(letters)


def name_of(one: Token) -> str:
    """A name as it is, or in quotes of either kind; an empty text of any other token."""
    if one.kind == "string" and one.text.startswith('"'):
        return parse_string(one.text)
    return one.name if one.is_name else ""


class RecognitionText:
    """A ``MATCH_RECOGNIZE`` as tokens, the first of which is number ``at``."""

    def __init__(self, text: str, tokens: Sequence[Token], at: int) -> None:
        self.text, self.tokens, self.at = text, tokens, at
        self.whole = (at, tokens[at + 1].partner + 1)
        self.spans: list[ArgumentSpan] = []
        self.one_line = CallReader(text, tokens, {}).one_line

    def refuse(self, place: Place, why: str, instead: str) -> NoReturn:
        """Raise an error that points at a range of tokens."""
        at, end = place
        start, stop = self.tokens[at].start, self.tokens[max(end - 1, at)].end
        raise refusal_at(self.text, start, stop, self.one_line(at, end), why, instead)

    def add_span(self, argument: str, place: Place, value: str = "", *, whole: bool = True) -> None:
        """Record where an argument of the API stands in the text."""
        start, end = self.tokens[place[0]].start, self.tokens[place[1] - 1].end
        value = value or self.text[start:end]
        self.spans.append(ArgumentSpan(argument, start, end, value, whole))

    def find_sections(self) -> dict[str, Place]:
        """The parts by the words with which they begin, without these."""
        at, end = self.at + 2, self.whole[1] - 1
        begins: list[tuple[str, int, int]] = []
        while at < end:
            found = self._section_at(at, end)
            if found is not None:
                if found[0] in [one[0] for one in begins]:
                    self.refuse((at, found[1]), "is written twice", "write it once")
                begins.append((found[0], at, found[1]))
                at = found[1]
                continue
            self._refuse_between(at, first=not begins)
            at = max(self.tokens[at].partner, at) + 1
        stops = [one[1] for one in begins[1:]] + [end]
        sections = {
            name: (first, stop) for (name, _, first), stop in zip(begins, stops, strict=True)
        }
        for name in _NEEDED:
            if name not in sections:
                self.refuse_misspelt(self.at + 2, end)
                self.refuse((self.at, self.at + 1), f"has no {name}", FORM)
        for (name, first, begin), stop in zip(begins, stops, strict=True):
            if begin == stop and not name.endswith("PER MATCH"):
                self.refuse((first, begin), "has nothing after it", FORM)
        both = [name for name in sections if name.endswith("PER MATCH")]
        if len(both) > 1:
            self.refuse(self.with_word(sections, both[1]), f"contradicts {both[0]}", "write one")
        return sections

    def _refuse_between(self, at: int, *, first: bool) -> None:
        """Refuse what stands before all parts, and what others than these begin with."""
        one, after = self.tokens[at], self.tokens[at + 1]
        if one.is_word("LIMIT") and after.is_word("DURATION"):
            self.refuse(
                (at, max(self.tokens[at + 2].partner, at + 1) + 1), "stands after the pattern here",
                "write PATTERN (…) WITHIN INTERVAL '1' MINUTE, and ORDER BY the time",
            )  # fmt: skip
        if one.is_word("AFTER") and after.is_word("MATCH"):
            self.refuse((at, at + 3), "is not where the next match may begin",
                        "write AFTER MATCH SKIP PAST LAST ROW")  # fmt: skip
        if first:
            near = guess(one.text.upper(), [name.split()[0] for name in SECTIONS], 0.7)
            self.refuse((at, at + 1), "is not expected here", f"write {near}" if near else FORM)

    def refuse_misspelt(self, at: int, end: int) -> None:
        """Refuse a misspelt word with which a part should begin, the first of several."""
        firsts = [name.split()[0] for name in SECTIONS if name != "MAX"]
        for n in range(at, end):
            near = guess(self.tokens[n].text.upper(), firsts, 0.75)
            if near and self.tokens[n].kind == "word" and not self.tokens[n].is_word(near):
                self.refuse((n, n + 1), "is not expected here", f"write {near}")

    def _section_at(self, at: int, end: int) -> tuple[str, int] | None:
        """The part that begins at a token, and where its words end."""
        tokens, before = self.tokens, self.tokens[at - 1]
        first = at == self.at + 2
        inside = before.kind in ("symbol", "open") and not before.is_symbol(",")
        if not first and (inside or before.is_word("AS")):
            return None
        for name in SECTIONS:
            words = name.split()
            last = at + len(words)
            if last > end or not all(tokens[at + n].is_word(word) for n, word in enumerate(words)):
                continue
            after = tokens[last]
            follows = {
                "MEASURES": not (before.is_symbol(",") or after.is_symbol(".", ",", ")")),
                "PATTERN": after.text == "(",
                "WITHIN": after.is_word("INTERVAL") or after.kind in ("string", "number"),
                "MAX": after.kind == "number" and tokens[last + 1].is_word("ROWS"),
                "SUBSET": tokens[last + 1].is_symbol("="),
                "DEFINE": tokens[last + 1].is_word("AS"),
            }
            if follows.get(name, True):
                return name, last
        return None

    def with_word(self, sections: Mapping[str, Place], name: str) -> Place:
        """A part with the words with which it begins."""
        at, end = sections[name]
        return at - len(name.split()), end

    def split(self, place: Place, what: str) -> list[Place]:
        """The ranges between commas; an empty one is refused."""
        parts = split_at_commas(self.tokens, *place)
        for begin, last in parts:
            if begin == last:
                comma = begin if begin < place[1] else begin - 1
                self.refuse((comma, comma + 1), "has nothing on one side", f"write {what}")
        return parts

    def translated(self, place: Place) -> AbstractContextManager[None]:
        """An error raised inside is translated, and points at its word, or at a range of tokens."""
        start, end = self.tokens[place[0]].start, self.tokens[place[1] - 1].end
        return translate_recognition_errors(self.text, self.spans, start, end)


def translate_recognition_errors(
    text: str, spans: Sequence[ArgumentSpan], start: int, end: int
) -> AbstractContextManager[None]:
    """Context manager: errors raised inside are told in the words of ``MATCH_RECOGNIZE``."""
    return translate_errors(text, spans, start, end, WORDS, _PHRASES, _find_place)


def _find_place(text: str, spans: Sequence[ArgumentSpan], message: str) -> tuple[int, int] | None:
    """Where the part of a definition stands that Spark does not understand, or another argument."""
    said = re.match(r"define=(['\"])(.*?)\1 is ", message, re.DOTALL)
    span = next((one for one in spans if one.argument == "define"), None)
    if said is None or span is None or text.count(said[2], span.start, span.end) != 1:
        return locate(text, spans, message)
    first = text.index(said[2], span.start, span.end)
    return first, first + len(said[2])
