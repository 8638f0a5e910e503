"""A query: the SELECTs over windows in a text, and what they select, before anything is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.kinds.options import EARLY, WITH_EMPTY
from fanlight.engine.spec.frames import Frame
from fanlight.language.clause import Clause
from fanlight.language.match_recognize import Recognition, parse_recognition
from fanlight.language.recognition_text import name_quoted
from fanlight.language.select import BEGINS, Item, Select, SelectReader, WithQueries
from fanlight.language.tokens import Place, read_path, refusal_at, tokenize, unquote

_SETS = ("UNION", "EXCEPT", "INTERSECT", "MINUS")


class Query:
    """A text in the query language: its tokens and its SELECTs over windows."""

    def __init__(self, text: str, own: Mapping[str, Aggregate] | None = None) -> None:
        text = name_quoted(text, tokenize(text))
        self.text = text
        self.tokens = tokenize(text)
        self.select_reader = SelectReader(text, self.tokens, own or {})
        self.call_reader = self.select_reader.call_reader
        self.end = len(self.tokens) - 1
        while self.end and self.tokens[self.end - 1].is_symbol(";"):
            self.end -= 1
        first = self.tokens[0]
        self.select_reader.refuse_misspelt(0, 1)
        if not (first.is_word("SELECT", "WITH") or first.text == "("):
            raise refusal_at(
                text, first.start, first.end, first.text or "an empty text",
                "does not begin a query", "write SELECT …, or WITH … SELECT …",
            )  # fmt: skip
        self.selects: list[Select] = []
        self.recognitions: list[Recognition] = []
        self._find_selects(0, self.end, ())
        self._check_clauses()

    def _check_clauses(self) -> None:
        """Refuse a clause where none can stand, such as after a join."""
        known = [(one.clause.start, one.clause.end) for one in self.selects]
        for at, one in enumerate(self.tokens):
            inside = any(start <= one.start < end for start, end in known)
            bare = one.is_word("WATTR") and not (inside or self.tokens[at - 1].is_symbol("["))
            if bare and self.tokens[at + 1].is_name and self.tokens[at + 2].is_word(*BEGINS):
                raise self.select_reader.refusal(
                    (at, at + 1), "is not in square brackets",
                    f"write [WATTR {self.tokens[at + 1].text} {self.tokens[at + 2].text} …]",
                )  # fmt: skip
            begins = one.text == "[" and self.tokens[at + 1].is_word("WATTR", "SPAN")
            if not begins or not self.tokens[at + 2].is_name:
                continue
            if not inside:
                self.select_reader.refuse_misspelt(0, at)
                raise self.select_reader.refusal(
                    (at, one.partner + 1), "does not follow the only table of a SELECT",
                    "join in a sub-query: FROM (SELECT … JOIN …) [WATTR …]",
                )  # fmt: skip

    def _find_selects(self, at: int, end: int, visible: WithQueries) -> None:
        """Find the SELECTs over windows in a query and its sub-queries."""
        if self.tokens[at].is_word("WITH"):
            at, visible = self._read_with(at + 1, end, visible)
        for first, last in self._split_set_operands(at, end):
            select = self.select_reader.read_select(first, last, visible)
            if select is None:
                self._find_subqueries(first, last, visible)
                continue
            self.selects.append(select)
            for place in (select.relation, select.where, select.having, select.tail):
                if place is not None:
                    self._find_subqueries(*place, visible)

    def _find_subqueries(self, at: int, end: int, visible: WithQueries) -> None:
        """Find the SELECTs over windows in the sub-queries of a range of tokens.

        And tables with ``MATCH_RECOGNIZE``, which may stand wherever a table may.
        """
        while at < end:
            recognition = parse_recognition(self.text, self.tokens, at, visible)
            if recognition is not None:
                self.recognitions.append(recognition)
                at = recognition.end
                continue
            if self.call_reader.opens_subquery(at):
                self._find_selects(at + 1, self.tokens[at].partner, visible)
                at = self.tokens[at].partner
            at += 1

    def _read_with(self, at: int, end: int, visible: WithQueries) -> tuple[int, WithQueries]:
        """Where the queries of WITH end; and their names and places, after those visible before."""
        tokens = self.tokens
        at += tokens[at].is_word("RECURSIVE")
        while at < end and tokens[at].is_name:
            body = next(
                (
                    n
                    for n in self.select_reader.outside_brackets(at, end)
                    if tokens[n].is_word("AS")
                ),
                end,
            )
            body += 1
            if body >= end or tokens[body].text != "(":
                break
            self._find_selects(body + 1, tokens[body].partner, visible)
            visible = (*visible, (tokens[at].folded, (at, tokens[body].partner + 1)))
            at = tokens[body].partner + 1
            if not tokens[at].is_symbol(","):
                break
            at += 1
        return at, visible

    def _split_set_operands(self, at: int, end: int) -> Iterator[Place]:
        """The operands of UNION, EXCEPT and the like; the whole range if there are none."""
        first = at
        for place in self.select_reader.outside_brackets(at, end):
            if self.tokens[place].is_word(*_SETS) and not self.tokens[place - 1].is_symbol("."):
                yield first, place
                first = place + 1 + self.tokens[place + 1].is_word("ALL", "DISTINCT")
        yield first, end

    def selects_in_order(self) -> list[Select]:
        """The SELECTs over windows as they begin in the text, an outer one before those in it."""
        return sorted(self.selects, key=lambda select: (select.at, -select.end))

    def outermost_recognitions(self, at: int, end: int) -> list[Recognition]:
        """The tables with ``MATCH_RECOGNIZE`` in a range of tokens that are in no other such part.

        A SELECT over windows is such a part, too.
        """
        selects = [(one.at, one.end) for one in self.outermost_selects(at, end)]
        return [
            one
            for one in self.recognitions
            if at <= one.at and one.end <= end
            and not any(first <= one.at < last for first, last in selects)
            and not any(
                at <= other.at <= one.at and one.end < other.end <= end
                for other in self.recognitions
            )
        ]  # fmt: skip

    def outermost_selects(self, at: int, end: int) -> list[Select]:
        """The SELECTs over windows in a range of tokens that are in no other one."""
        selects: list[Select] = []
        for one in self.selects_in_order():
            if at <= one.at and one.end <= end and not (selects and one.at < selects[-1].end):
                selects.append(one)
        return selects

    def replace_parts(self, at: int, end: int, replacements: Mapping[int, tuple[int, str]]) -> str:
        """The text of a range of tokens with some parts replaced: {from: (to, by what)}.

        Braces of the text itself are doubled, as in format strings.
        """
        if at >= end:
            return ""
        parts, place = [], self.tokens[at].start
        stop = self.tokens[end - 1].end
        for first in sorted(one for one in replacements if at <= one < end):
            last, text = replacements[first]
            if self.tokens[first].start < place:
                continue
            parts += [escape_braces(self.text[place : self.tokens[first].start]), text]
            place = self.tokens[last - 1].end
        return "".join([*parts, escape_braces(self.text[place:stop])])


def unescape_braces(text: str) -> str:
    """The inverse of :func:`escape_braces`, for text into which nothing was formatted."""
    return re.sub(r"([{}])\1", r"\1", text)


def escape_braces(text: str) -> str:
    """Text for a format string: braces doubled."""
    return re.sub(r"[{}]", r"\g<0>\g<0>", text)


_PLAIN = re.compile(r"\w+")
# Generator functions: the columns that they return have names of their own.
_GENERATORS = (
    "EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK",
    "JSON_TUPLE", "TRANSFORM", "VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER",
)  # fmt: skip


@dataclass(frozen=True)
class AskedWindows:
    """What a SELECT over windows asks: ``time`` is the column of times, of a pair the stop.

    ``table`` is the name in lower case, or empty if the rows are those of a query; then, or of a
    field, ``time`` is empty. The text asks for windows while they are open at ``early``.
    """

    table: str
    time: str
    early: tuple[int, int] | None
    empty: Mapping[str, Any] | None  # the arguments of ``with_empty``
    are_frames: bool


def selected_columns(text: str) -> tuple[str, ...] | None:
    """The selected columns whose names are plain words; None if only Spark can tell the names.

    The text is read as :func:`fanlight.sql` reads it, with the same errors.

    >>> text = "SELECT shop, max(v) AS most FROM t [WATTR ts RANGE 1 HOUR] GROUP BY shop"
    >>> selected_columns(text)
    ('shop', 'most')
    >>> selected_columns("SELECT * FROM t") is None
    True
    """
    query = Query(text)
    place = _first_select(query, 0, query.end)
    items = query.select_reader.read_items(*place) if place else []
    select = next((one for one in query.selects if place and one.at == place[0]), None)
    if select is not None and _is_widened(select.clause):
        return None  # an aggregate is a column for each window
    names = []
    for item in items:
        name = item.name or _column_name(query, item)
        if name is None:
            return None
        if _PLAIN.fullmatch(name):
            names.append(name)
    return tuple(names) if items else None


def _is_widened(clause: Clause) -> bool:
    """Whether an aggregate is a column for each of several windows."""
    wide = clause.verb is not None and clause.verb.name == "wide"
    return wide or isinstance(clause.spec, Mapping)


def asked_windows(text: str) -> list[AskedWindows]:
    """The windows that a text asks for, in the order of the text.

    >>> text = "SELECT count(*) FROM Calls c [SPAN c.start, c.stop RANGE 1 HOUR EARLY]"
    >>> [(one.table, one.time, text[slice(*one.early)]) for one in asked_windows(text)]
    [('calls', 'stop', 'EARLY')]
    """
    query = Query(text)
    return [_read_windows(query, one) for one in query.selects_in_order()]


def _read_windows(query: Query, select: Select) -> AskedWindows:
    clause, (parts, after) = select.clause, read_path(query.tokens, *select.relation)
    plain = len(parts) == 1 and after == select.relation[1]
    table = parts[0].casefold() if plain else ""
    table = "" if table in [name for name, _ in select.visible] else table
    *before, time = clause.time[-1]
    own = table and [one.casefold() for one in before] in ([], [unquote(select.alias).casefold()])
    early = (one for one in clause.spans if one.argument == EARLY)
    return AskedWindows(
        table,
        time if own else "",
        next(((one.start, one.end) for one in early), None),
        clause.options.get(WITH_EMPTY),
        isinstance(clause.spec, Frame),
    )


def _first_select(query: Query, at: int, end: int) -> Place | None:
    """The first SELECT after WITH; in a UNION it is the one that names the columns."""
    tokens = query.tokens
    if tokens[at].text == "(":
        return _first_select(query, at + 1, tokens[at].partner)
    places = query.select_reader.outside_brackets(at, end)
    first = next((n for n in places if tokens[n].is_word("SELECT")), None)
    return None if first is None else (first, end)


def _column_name(query: Query, item: Item) -> str | None:
    """The name that Spark gives an item without an alias; None if the text does not tell."""
    tokens = query.tokens[item.at : item.end]
    parts, after = read_path(query.tokens, *item.place)
    if parts and after == item.end:
        return parts[-1]
    computed = any(one.text == "(" or one.kind == "symbol" for one in tokens)
    star = tokens[-1].is_symbol("*") and (len(tokens) == 1 or tokens[-2].is_symbol("."))
    if star or not computed or tokens[0].is_word(*_GENERATORS):
        return None
    return query.call_reader.one_line(*item.place)
