"""A SELECT over windows, taken apart: table, clause, items, WHERE, GROUP BY and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.kinds import list_kinds
from fanlight.engine.spec.errors import guess
from fanlight.language.calls import CallReader
from fanlight.language.clause import Clause
from fanlight.language.clause_reader import read_clause
from fanlight.language.flink import parse_windowing
from fanlight.language.recognition_text import opens_recognition
from fanlight.language.tokens import Place, Token, read_path, refusal_at, split_at_commas

WithQueries = tuple[tuple[str, Place], ...]  # the queries of WITH: their names and places

# What may follow the table of a SELECT; any other word is the table's alias.
_SECTIONS = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET")
_REFUSED = {
    "WINDOW": "write OVER (…) in full", "QUALIFY": "use it in a query around this one",
    "SORT": "write ORDER BY", "CLUSTER": "write ORDER BY", "DISTRIBUTE": "write ORDER BY",
}  # fmt: skip
_JOINED = (
    "JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "NATURAL", "SEMI", "ANTI", "LATERAL",
    "PIVOT", "UNPIVOT", "TABLESAMPLE", "ON", "USING",
)  # fmt: skip
_KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")
_PAIRED = ("GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE")  # followed by BY
# How a clause begins: with its time, or its windows.
BEGINS = ("WATTR", "SPAN", "PARTITION", *(one.words.begins.split()[0] for one in list_kinds()))
# After one of these comes an operand, not an alias for what is before.
_OPEN = (
    "AND", "OR", "NOT", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IN", "DIV", "ESCAPE",
    "CASE", "WHEN", "THEN", "ELSE", "DISTINCT", "INTERVAL", "FROM", "OVER", "ALL", "DATE",
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """An item of the SELECT list: an expression, and its alias if it has one."""

    at: int
    end: int
    name: str = ""

    @property
    def place(self) -> Place:
        """The tokens of the expression, without the alias."""
        return self.at, self.end


@dataclass(frozen=True)
class Select:
    """A SELECT over windows of one table; places are ranges of tokens."""

    at: int
    end: int
    clause: Clause
    items: tuple[Item, ...]
    quantifier: str  # DISTINCT or ALL as written, or empty
    relation: Place
    alias: str  # as it is written, perhaps in backticks
    where: Place | None
    keys: tuple[Place, ...] | None  # None: there is no GROUP BY
    having: Place | None
    tail: Place  # ORDER BY, LIMIT and the like
    visible: WithQueries  # the queries of WITH that it may name


class SelectReader:
    """Reads the SELECTs of a text."""

    def __init__(self, text: str, tokens: Sequence[Token], own: Mapping[str, Aggregate]) -> None:
        self.text, self.tokens, self.own = text, tokens, own
        self.call_reader = CallReader(text, tokens, own)

    def refusal(self, place: Place, why: str, instead: str) -> Exception:
        """An error that points at a range of tokens."""
        at, end = place
        start, stop = self.tokens[at].start, self.tokens[max(end - 1, at)].end
        return refusal_at(self.text, start, stop, self.call_reader.one_line(at, end), why, instead)

    def outside_brackets(self, at: int, end: int) -> Iterator[int]:
        """The tokens of a range that are not inside brackets; closing ones are left out, too."""
        while at < end:
            yield at
            at = max(self.tokens[at].partner, at) + 1

    def read_select(self, at: int, end: int, visible: WithQueries) -> Select | None:
        """The SELECT in a range of tokens; None if it is not over windows."""
        tokens = self.tokens
        if at >= end or not tokens[at].is_word("SELECT"):
            return None
        source = next((n for n in self.outside_brackets(at, end) if self._is_from(n)), end)
        if source + 1 >= end:
            return None
        relation, alias, clause, after = self._read_relation(source + 1, end)
        after_group = clause is None and self._windows_follow_group_by(after, end)
        if clause is None and not after_group:
            return None
        sections = self._find_sections(after, end)
        keys = None
        if "GROUP" in sections:
            first, last = sections["GROUP"]
            if after_group:
                last = tokens[last - 1].partner
                clause = self._read_clause(last)
            keys = tuple(split_at_commas(tokens, first + 2, last))
        if clause is None:
            return None
        tail = min((sections[w][0] for w in _SECTIONS[3:] if w in sections), default=end)
        quantifier = tokens[at + 1].text if tokens[at + 1].is_word("ALL", "DISTINCT") else ""
        items = tuple(self.read_items(at, end))
        if not items:
            raise self.refusal((at, at + 1), "selects nothing", "write SELECT *, or columns")
        return Select(
            at, end, clause, items, quantifier, relation, alias,
            _without_keyword(sections.get("WHERE")), keys,
            _without_keyword(sections.get("HAVING")), (tail, end), visible,
        )  # fmt: skip

    def find_misspelt(self, at: int, end: int) -> tuple[int, str] | None:
        """The first misspelt keyword, where a keyword may stand, and its right spelling."""
        for place in range(at, end):
            one, before = self.tokens[place], self.tokens[place - 1]
            free = one.kind == "word" and not one.is_word(*_KEYWORDS)
            if free and (place == 0 or self._can_end_expression(before)):
                near = guess(one.text, _KEYWORDS, 0.75)
                if near and abs(len(near) - len(one.text)) <= 1:
                    return place, near
        return None

    def refuse_misspelt(self, at: int, end: int) -> None:
        """Refuse a range of tokens in which a keyword is misspelt."""
        misspelt = self.find_misspelt(at, end)
        if misspelt is not None:
            place, near = misspelt
            raise self.refusal((place, place + 1), "is not expected here", f"write {near}")

    def read_items(self, at: int, end: int) -> list[Item]:
        """The items that the SELECT in a range of tokens selects."""
        source = next((n for n in self.outside_brackets(at, end) if self._is_from(n)), end)
        first = at + 1 + self.tokens[at + 1].is_word("ALL", "DISTINCT")
        return [self._read_item(*one) for one in split_at_commas(self.tokens, first, source)]

    def _is_from(self, at: int) -> bool:
        before = self.tokens[at - 1]
        return self.tokens[at].is_word("FROM") and not (
            before.is_word("DISTINCT") and self.tokens[at - 2].is_word("IS", "NOT")
        )

    def _read_relation(self, at: int, end: int) -> tuple[Place, str, Clause | None, int]:
        """The table, its alias, its clause, and where all of these end."""
        tokens, flink = self.tokens, parse_windowing(self.text, self.tokens, at)
        clause: Clause | None = None
        if flink is not None:
            relation, after, clause = flink.relation, flink.after, flink.clause
        else:
            after = (
                tokens[at].partner + 1 if tokens[at].text == "(" else read_path(tokens, at, end)[1]
            )
            if after < end and tokens[after].text == "(" and after > at:
                after = tokens[after].partner + 1  # a function that gives a table
            relation = (at, after)
        alias, after = self._read_alias(after, end)
        if alias and after < end and tokens[after].text == "(":  # names of columns
            after = tokens[after].partner + 1
            relation = (at, after)
        if clause is None and after < end and opens_recognition(tokens, after):
            after = tokens[after + 1].partner + 1
            relation = (at, after)
            alias, after = self._read_alias(after, end)
        if clause is None and after < end and tokens[after].text == "[":
            clause, after = self._read_clause(after), tokens[after].partner + 1
            outer_alias, after = self._read_alias(after, end)
            alias = outer_alias or alias
        if not alias and relation[1] - relation[0] == 1:
            alias = tokens[relation[0]].text
        if clause is not None and after < end:
            self._check_after_table(after)
        return relation, alias, clause, after

    def _check_after_table(self, at: int) -> None:
        one = self.tokens[at]
        if not one.is_word(*_SECTIONS, *_REFUSED, *_JOINED):
            self.refuse_misspelt(at - 1, at + 1)
        if one.is_symbol(",") or one.is_word(*_JOINED):
            raise self.refusal(
                (at, at + 1), "joins windows with something else",
                "join in a sub-query, FROM (SELECT …) [WATTR …], or around this query",
            )  # fmt: skip
        if not one.is_word(*_SECTIONS, *_REFUSED):
            raise self.refusal(
                (at, at + 1), "is not expected here",
                "expected WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, or an alias for the table",
            )  # fmt: skip

    def _read_alias(self, at: int, end: int) -> tuple[str, int]:
        """The alias of what is before, or an empty text; and where it ends."""
        tokens = self.tokens
        if at + 1 < end and tokens[at].is_word("AS") and tokens[at + 1].is_name:
            return tokens[at + 1].text, at + 2
        words = (*_SECTIONS, *_REFUSED, *_JOINED)
        plain = at < end and tokens[at].is_name and not opens_recognition(tokens, at)
        if plain and not tokens[at].is_word(*words):
            return tokens[at].text, at + 1
        return "", at

    def _windows_follow_group_by(self, at: int, end: int) -> bool:
        """Whether the clause stands after GROUP BY, as in a query of the paper on panes."""
        for place in self.outside_brackets(at, end):
            if self.tokens[place].text == "[":
                first, second = self.tokens[place + 1], self.tokens[place + 2]
                if first.is_word(*BEGINS) and second.kind in ("word", "quoted", "number"):
                    sections = self._find_sections(at, end)
                    if "GROUP" in sections:
                        last = sections["GROUP"][1] - 1
                        return self.tokens[last].partner == place
        return False

    def _read_clause(self, at: int) -> Clause:
        """The clause whose opening bracket is at a token."""
        first, last = self.tokens[at], self.tokens[self.tokens[at].partner]
        return read_clause(self.text, first.start, last.end, self.own)

    def _find_sections(self, at: int, end: int) -> dict[str, Place]:
        """WHERE, GROUP BY and so on by their first words, each up to where the next begins."""
        tokens, begins = self.tokens, []
        for place in self.outside_brackets(at, end):
            one, before = tokens[place], tokens[place - 1]
            if not one.is_word(*_SECTIONS, *_REFUSED) or not self._can_end_expression(before):
                continue
            if one.is_word(*_PAIRED) and not tokens[place + 1].is_word("BY"):
                continue
            if one.is_word("WINDOW") and not tokens[place + 2].is_word("AS"):
                continue
            if one.is_word(*_REFUSED):
                keyword = one.text.upper()
                raise self.refusal(
                    (place, place + 1), "cannot be used over windows", _REFUSED[keyword]
                )
            begins.append(place)
        pairs = zip(begins, [*begins[1:], end], strict=False)
        return {tokens[first].text.upper(): (first, last) for first, last in pairs}

    @staticmethod
    def _can_end_expression(one: Token) -> bool:
        """Whether an expression may end with this token, so that a keyword may follow."""
        return one.kind not in ("symbol", "open") and not one.is_word("BY", *_OPEN)

    def _read_item(self, at: int, end: int) -> Item:
        """The item in a range of tokens: its expression, and its alias if it has one."""
        tokens, last = self.tokens, self.tokens[end - 1]
        if end - at < 2 or not last.is_name:
            return Item(at, end)
        before = tokens[end - 2]
        if before.is_word("AS"):
            return Item(at, end - 2, last.name)
        nulls = last.is_word("NULLS") and before.is_word("IGNORE", "RESPECT")
        if not self._can_end_expression(before) or (
            nulls and end - at > 3 and tokens[end - 3].text == ")"
        ):
            return Item(at, end)
        interval = end - at > 2 and tokens[end - 3].is_word("INTERVAL")
        words = [one for one in tokens[at : end - 1] if one.is_word("CASE", "END")]
        opened = sum(1 if one.is_word("CASE") else -1 for one in words)
        if interval or (last.is_word("END") and opened > 0):
            return Item(at, end)
        return Item(at, end - 1, last.name)


def _without_keyword(place: Place | None) -> Place | None:
    return None if place is None else (place[0] + 1, place[1])
