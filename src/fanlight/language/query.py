"""A query: the SELECTs over windows that a text has, in the Spark SQL around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.language.mistake import wrong
from fanlight.language.select import Named, Select, Selects
from fanlight.language.tokens import Place, tokens

_SETS = ("UNION", "EXCEPT", "INTERSECT", "MINUS")


class Query:
    """A text in the query language: its tokens and its SELECTs over windows."""

    def __init__(self, text: str, own: Mapping[str, Aggregate] | None = None) -> None:
        self.text = text
        self.found = tokens(text)
        self.reading = Selects(text, self.found, own or {})
        self.reader = self.reading.reader
        self.end = len(self.found) - 1
        while self.end and self.found[self.end - 1].is_mark(";"):
            self.end -= 1
        first = self.found[0]
        if not (first.is_word("SELECT", "WITH") or first.text == "("):
            raise wrong(
                text, first.start, first.end, first.text or "an empty text",
                "does not begin a query", "write SELECT …, or WITH … SELECT …",
            )  # fmt: skip
        self.selects: list[Select] = []
        self._scope(0, self.end, ())
        self._check_clauses()

    def _check_clauses(self) -> None:
        """Refuse a clause where none can stand, such as after a join."""
        known = [(one.clause.start, one.clause.end) for one in self.selects]
        for at, one in enumerate(self.found):
            begins = one.text == "[" and self.found[at + 1].is_word("WATTR", "SPAN")
            if not begins or not self.found[at + 2].named:
                continue
            if not any(start <= one.start < end for start, end in known):
                raise self.reading.refused(
                    (at, one.partner + 1), "does not follow the only table of a SELECT",
                    "join in a sub-query: FROM (SELECT … JOIN …) [WATTR …]",
                )  # fmt: skip

    def _scope(self, at: int, end: int, visible: Named) -> None:
        """Find the SELECTs over windows in a query and its sub-queries."""
        if self.found[at].is_word("WITH"):
            at, visible = self._named(at + 1, end, visible)
        for first, last in self._cores(at, end):
            select = self.reading.select(first, last, visible)
            if select is None:
                self._within(first, last, visible)
                continue
            self.selects.append(select)
            for place in (select.relation, select.where, select.having, select.tail):
                if place is not None:
                    self._within(*place, visible)

    def _within(self, at: int, end: int, visible: Named) -> None:
        """Find the SELECTs over windows in the sub-queries of a range of tokens."""
        while at < end:
            if self.reader.opens_query(at):
                self._scope(at + 1, self.found[at].partner, visible)
                at = self.found[at].partner
            at += 1

    def _named(self, at: int, end: int, visible: Named) -> tuple[int, Named]:
        """Where the queries of WITH end; and their names and places, after those visible before."""
        found = self.found
        at += found[at].is_word("RECURSIVE")
        while at < end and found[at].named:
            body = next((n for n in self.reading.outside(at, end) if found[n].is_word("AS")), end)
            body += 1
            if body >= end or found[body].text != "(":
                break
            self._scope(body + 1, found[body].partner, visible)
            visible = (*visible, (found[at].plain, (at, found[body].partner + 1)))
            at = found[body].partner + 1
            if not found[at].is_mark(","):
                break
            at += 1
        return at, visible

    def _cores(self, at: int, end: int) -> Iterator[Place]:
        """The operands of UNION, EXCEPT and the like; the whole range if there are none."""
        first = at
        for place in self.reading.outside(at, end):
            if self.found[place].is_word(*_SETS) and not self.found[place - 1].is_mark("."):
                yield first, place
                first = place + 1 + self.found[place + 1].is_word("ALL", "DISTINCT")
        yield first, end

    def within(self, at: int, end: int) -> list[Select]:
        """The SELECTs over windows in a range of tokens that are in no other one."""
        found: list[Select] = []
        for one in sorted(self.selects, key=lambda select: (select.at, -select.end)):
            if at <= one.at and one.end <= end and not (found and one.at < found[-1].end):
                found.append(one)
        return found

    def composed(self, at: int, end: int, put: Mapping[int, tuple[int, str]]) -> str:
        """The text of a range of tokens, with parts replaced: ``put`` is {from: (to, by what)}.

        Braces of the text itself are doubled, as in format strings.
        """
        if at >= end:
            return ""
        parts, place = [], self.found[at].start
        stop = self.found[end - 1].end
        for first in sorted(one for one in put if at <= one < end):
            last, text = put[first]
            if self.found[first].start < place:
                continue
            parts += [escaped(self.text[place : self.found[first].start]), text]
            place = self.found[last - 1].end
        return "".join([*parts, escaped(self.text[place:stop])])


def unescaped(text: str) -> str:
    """The inverse of :func:`escaped`, for text into which nothing was formatted."""
    return re.sub(r"([{}])\1", r"\1", text)


def escaped(text: str) -> str:
    """Text for a format string: braces doubled."""
    return re.sub(r"[{}]", r"\g<0>\g<0>", text)
