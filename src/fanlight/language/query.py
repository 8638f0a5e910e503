"""A query: the SELECTs over windows that a text has, in the Spark SQL around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.language.select import BEGINS, Select, SelectReader, WithQueries
from fanlight.language.tokens import Place, refusal_at, tokenize

_SETS = ("UNION", "EXCEPT", "INTERSECT", "MINUS")


class Query:
    """A text in the query language: its tokens and its SELECTs over windows."""

    def __init__(self, text: str, own: Mapping[str, Aggregate] | None = None) -> None:
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
        """Find the SELECTs over windows in the sub-queries of a range of tokens."""
        while at < end:
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
