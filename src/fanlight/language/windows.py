"""Builds specs, lengths, numbers and names from the syntax tree of a clause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from fractions import Fraction
from typing import Any

from lark import Token, Tree

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.kinds import kinds
from fanlight.engine.spec.units import Rows, extent, rows
from fanlight.language.calls import Reader, number, string
from fanlight.language.clause import Spec
from fanlight.language.mistake import wrong
from fanlight.language.names import bare, given
from fanlight.language.spoken import Mark, speaking
from fanlight.language.tokens import tokens

Node = Tree[Token]


class Windows:
    """Builds specs and their parts from nodes of one text's syntax tree.

    It is the ``Reader`` that the entries of the kinds of windows are given.
    """

    def __init__(self, text: str, own: Mapping[str, Aggregate]) -> None:
        self.text, self.own = text, own
        self.marks: list[Mark] = []

    def mark(
        self, argument: str, node: Node | Token, value: str = "", *, whole: bool = True
    ) -> None:
        """Record where an argument of the API stands in the text."""
        if isinstance(node, Tree):
            start, end = node.meta.start_pos, node.meta.end_pos
        else:
            start, end = int(node.start_pos or 0), int(node.end_pos or 0)
        self.marks.append(Mark(argument, start, end, value or self.text[start:end], whole))

    def speaking(self, node: Node) -> AbstractContextManager[None]:
        """An error raised inside is translated into the words of the clause."""
        return speaking(self.text, self.marks, node.meta.start_pos, node.meta.end_pos)

    def named(self, argument: str, node: Node) -> tuple[str, ...]:
        """The parts of a column's name; where it stands is recorded."""
        found = self.name(node)
        self.mark(argument, node, given(found))
        return found

    def column(self, argument: str, node: Node) -> str:
        """The name of a column as the API takes it; where it stands is recorded."""
        return given(self.named(argument, node))

    def spec(self, node: Node) -> Spec:
        """The spec of the windows that a node describes."""
        if node.data == "frame":
            (node,) = self.parts(node)
        words = next(kind.words for kind in kinds() if kind.words.rule == node.data)
        made: Spec = words.read(self, node)
        return made

    def parts(self, node: Node) -> list[Node]:
        """The nodes directly below a node."""
        return [one for one in node.children if isinstance(one, Tree)]

    def words(self, node: Node) -> dict[str, str]:
        """The words directly below a node, in capitals, by their terminals in the grammar."""
        return {one.type: str(one).upper() for one in _tokens(node)}

    def rule(self, node: Node) -> str:
        """The grammar rule of a node."""
        return str(node.data)

    def mark_word(self, argument: str, node: Node, word: str) -> None:
        """Record that an argument of the API stands at a word below a node."""
        self.mark(argument, self._word(node, word))

    def mark_within(self, argument: str, node: Node) -> None:
        """Record where a condition stands, without the brackets around it."""
        start, end = self._bare(node)
        self.marks.append(Mark(argument, start, end, whole=False))

    @staticmethod
    def _word(node: Node, word: str) -> Token:
        return next(one for one in _tokens(node) if one.type == word)

    def name(self, node: Node) -> tuple[str, ...]:
        """The parts of a column's name."""
        return tuple(bare(str(token)) for token in _tokens(node))

    def number(self, node: Node) -> int | float | Fraction:
        """The value of a number; 1/3 is a ``Fraction``."""
        *sign, upper, lower = [*map(str, _tokens(node)), ""]
        if upper != "" and sign and sign[-1] not in ("-", ""):
            *sign, upper, lower = *sign[:-1], sign[-1], upper
        found: int | float | Fraction = number(upper)
        if lower:
            over = number(lower)
            if not over or not (isinstance(found, int) and isinstance(over, int)):
                raise self._refused(
                    node, "is not a fraction of whole numbers", "write for example 1/3"
                )
            found = Fraction(found, over)
        return -found if sign else found

    def whole(self, node: Node) -> int:
        """The integer directly below a node."""
        return self.whole_number(self._word(node, "NUMBER"))

    def whole_number(self, token: Token) -> int:
        """The value of an integer; any other number is refused."""
        found = number(str(token))
        if not isinstance(found, int):
            start = int(token.start_pos or 0)
            raise wrong(
                self.text, start, start + len(token), str(token), "is not a whole number",
                "write for example 100",
            )  # fmt: skip
        return found

    def length(self, node: Node, *, calendar: bool = False) -> Any:
        """A duration as text, a number, or rows; with ``calendar``, days may be calendar days."""
        if calendar:
            return self._length(node)
        with self.speaking(node):
            value = self._length(node)
            extent("length", value, positive=False)
        return value

    def _length(self, node: Node) -> Any:
        if node.data == "number":
            return self.number(node)
        found = [str(token) for token in _tokens(node)]
        sign = "-" if "-" in found[:2] else ""
        if node.data == "rows":
            count = self.whole_number(_tokens(node)[-2])
            return rows(-count if sign else count)
        if node.data == "duration_string":
            return string(found[0])
        found = [one for one in found if one != "-"]
        if node.data == "interval":
            unit = " ".join(found[2:])
            return interval(f"INTERVAL {sign}'{string(found[1])}' {unit}".rstrip())
        parts = found[node.data == "interval_units" :]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        text = " ".join(f"{sign}{count} {unit.lower()}" for count, unit in pairs)
        return interval(text) if node.data == "interval_units" else text

    def _refused(self, node: Node, why: str, instead: str) -> Exception:
        start, end = node.meta.start_pos, node.meta.end_pos
        return wrong(self.text, start, end, self.text[start:end], why, instead)

    def once(self, node: Node, seen: Iterable[str]) -> None:
        """Refuse a node whose rule has been seen before."""
        if str(node.data) in seen:
            raise self._refused(node, "repeats what was given before", "keep one of them")

    def mark_levels(self, name: str, node: Node, *, backwards: bool = False) -> None:
        """Record where the lengths of the levels stand: all together, and each."""
        nodes = self.parts(node)
        first, last = nodes[0].meta.start_pos, nodes[-1].meta.end_pos
        self.marks.append(Mark(f"{name}s", first, last))
        for place, part in enumerate(nodes[::-1] if backwards else nodes):
            self.mark(f"{name}s[{place}]", part)
            self.mark(name, part)

    def lengths(self, node: Node) -> list[Any]:
        """The lengths below a node."""
        return [self.length(one) for one in self.parts(node)]

    def limits(self, nodes: Iterable[Node], *, most: bool = False) -> dict[str, Any]:
        """MIN and MAX of a frame: ``min_rows``, ``min_duration``, ``max_duration``."""
        found: dict[str, Any] = {}
        for node in nodes:
            (length,) = self.parts(node)
            value = self.length(length)
            counted = isinstance(value, Rows)
            if node.data == "at_most":
                name = "max_duration"
            elif counted or most:
                name = "min_rows"
            else:
                name = "min_duration"
            if name in found:
                raise self._refused(node, "repeats what was given before", "keep one of them")
            if name == "min_rows" and not counted:
                raise self._refused(node, "is not a number of rows", "write for example MIN 3 ROWS")
            self.mark(name, length)
            found[name] = value.count if name == "min_rows" else value
        return found

    def crossing(self, node: Node) -> dict[str, Any]:
        """``include_crossing``, if given: whether the row that ends a frame is in it."""
        said = self.words(node).get("CROSSING")
        return {} if said is None else {"include_crossing": said.startswith("INCLUDE")}

    def by_column(
        self, argument: str, nodes: Iterable[Node], value: Callable[[Node], Any]
    ) -> dict[str, Any]:
        """Columns with a value each, by name."""
        found: dict[str, Any] = {}
        for node in nodes:
            column, *numbers = self.parts(node)
            name = given(self.named(argument, column))
            if name in found:
                raise self._refused(node, "names a column twice", "name each column once")
            for one in numbers:
                self.mark(f"{argument} of {name}", one)
            found[name] = value(node)
        return found

    def aggregate(self, node: Node) -> Call:
        """The aggregate that a node calls; its arguments must be columns."""
        start, end = node.meta.start_pos, node.meta.end_pos
        found = tokens(" " * start + self.text[start:end])
        reader = Reader(self.text, found, self.own)
        asked = next(reader.aggregates(0, len(found) - 1), None)
        if asked is None:
            raise self._refused(
                node, "is not an aggregate of fanlight", "write for example sum(bytes)"
            )

        def column(text: str, parts: tuple[str, ...]) -> str:
            if not parts:
                raise self._refused(
                    node, f"is computed from {text}, which is not a column",
                    "compute that in a sub-query, as a column, and name it",
                )  # fmt: skip
            return given(parts)

        return reader.made(asked, column)

    def sql(self, node: Node) -> str:
        """The Spark SQL of a node, without brackets around all of it."""
        start, end = self._bare(node)
        return self.text[start:end]

    def _bare(self, node: Node) -> tuple[int, int]:
        """Where a node stands, without brackets around all of it."""
        start, end = node.meta.start_pos, node.meta.end_pos
        found = tokens(" " * start + self.text[start:end])
        if found[0].text == "(" and found[0].partner == len(found) - 2:
            return start + 1, end - 1
        return start, end


def interval(text: str) -> timedelta:
    """The duration of an INTERVAL literal, always of the same length; days as text may vary."""
    length = extent("length", text, positive=False)
    return timedelta(microseconds=int(length.value))


def _tokens(node: Node) -> list[Token]:
    return [one for one in node.children if isinstance(one, Token)]
