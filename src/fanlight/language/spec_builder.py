"""Builds specs, lengths, numbers and names from the syntax tree of a clause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from fractions import Fraction
from typing import Any

from lark import Token, Tree

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.kinds import list_kinds
from fanlight.engine.kinds.kind import Words
from fanlight.engine.spec.units import Rows, read_extent
from fanlight.language.calls import CallReader, parse_number, parse_string
from fanlight.language.clause import Spec
from fanlight.language.error_translation import ArgumentSpan, clause_words, translate_errors
from fanlight.language.tokens import join_name, refusal_at, tokenize, unquote

Node = Tree[Token]
# The arguments that MIN, MAX and MAX GAP stand for: of a length of time, and of a number of rows.
_SIZES = {
    "at_least": ("min_duration", "min_rows"),
    "at_most": ("max_duration", "max_rows"),
    "gap_at_most": ("max_gap", "max_gap"),
}


class SpecBuilder:
    """Builds specs and their parts from nodes of one text's syntax tree.

    It is the ``Reader`` that the entries of the kinds of windows are given.
    """

    def __init__(self, text: str, own: Mapping[str, Aggregate]) -> None:
        self.text, self.own = text, own
        self.spans: list[ArgumentSpan] = []
        self.coarsest_first = False  # whether the text lists levels so
        self.argument_words = clause_words()  # with those of the kind of windows, once it is known

    def add_span(
        self,
        argument: str,
        node: Node | Token,
        value: str = "",
        *,
        until: Node | None = None,
        whole: bool = True,
    ) -> None:
        """Record where an argument of the API stands in the text."""
        if isinstance(node, Tree):
            start, end = node.meta.start_pos, node.meta.end_pos
        else:
            start, end = int(node.start_pos or 0), int(node.end_pos or 0)
        if until is not None:
            end = until.meta.end_pos
        self.spans.append(ArgumentSpan(argument, start, end, value or self.text[start:end], whole))

    def translate_errors(self, node: Node) -> AbstractContextManager[None]:
        """An error raised inside is translated into the words of the clause."""
        start, end = node.meta.start_pos, node.meta.end_pos
        return translate_errors(self.text, self.spans, start, end, self.argument_words)

    def read_name(self, argument: str, node: Node) -> tuple[str, ...]:
        """Return the parts of a column's name, and record where it stands."""
        name = self.name_parts(node)
        self.add_span(argument, node, join_name(name))
        return name

    def column(self, argument: str, node: Node) -> str:
        """Return a column's name as the API takes it, and record where it stands."""
        return join_name(self.read_name(argument, node))

    def add_words(self, words: Words) -> None:
        """Have later errors call arguments by these words."""
        self.argument_words = {**self.argument_words, **words.arguments}

    def build_spec(self, node: Node) -> Spec:
        """The spec of the windows that a node describes."""
        if node.data == "frame":
            (node,) = self.parts(node)
        words = next(kind.words for kind in list_kinds() if kind.words.rule == node.data)
        self.add_words(words)
        with self.translate_errors(node):
            spec: Spec = words.read(self, node)
        return spec

    def parts(self, node: Node) -> list[Node]:
        """The nodes directly below a node."""
        return [one for one in node.children if isinstance(one, Tree)]

    def words(self, node: Node) -> dict[str, str]:
        """The words directly below a node, in capitals, by their terminals in the grammar."""
        return {one.type: str(one).upper() for one in _own_tokens(node)}

    def rule(self, node: Node) -> str:
        """The grammar rule of a node."""
        return str(node.data)

    def add_word_span(self, argument: str, node: Node, word: str) -> None:
        """Record that an argument of the API stands at a word below a node."""
        self.add_span(argument, self._word(node, word))

    def add_inner_span(self, argument: str, node: Node) -> None:
        """Record where a condition stands, without the brackets around it."""
        start, end = self._without_brackets(node)
        self.spans.append(ArgumentSpan(argument, start, end, whole=False))

    @staticmethod
    def _word(node: Node, word: str) -> Token:
        return next(one for one in _own_tokens(node) if one.type == word)

    def name_parts(self, node: Node) -> tuple[str, ...]:
        """The parts of a column's name."""
        return tuple(unquote(str(token)) for token in _own_tokens(node))

    def number(self, node: Node) -> int | float | Fraction:
        """The value of a number; 1/3 is a ``Fraction``."""
        *sign, upper, lower = [*map(str, _own_tokens(node)), ""]
        if upper != "" and sign and sign[-1] not in ("-", ""):
            *sign, upper, lower = *sign[:-1], sign[-1], upper
        value: int | float | Fraction = parse_number(upper)
        if lower:
            over = parse_number(lower)
            if not over or not (isinstance(value, int) and isinstance(over, int)):
                raise self._refusal(
                    node, "is not a fraction of whole numbers", "write for example 1/3"
                )
            value = Fraction(value, over)
        return -value if sign else value

    def string(self, node: Node) -> str:
        """The string directly below a node."""
        return parse_string(str(self._word(node, "STRING")))

    def only_integer(self, node: Node) -> int:
        """The integer directly below a node."""
        return self.parse_integer(self._word(node, "NUMBER"))

    def parse_integer(self, token: Token) -> int:
        """The value of an integer; any other number is refused."""
        value = parse_number(str(token))
        if not isinstance(value, int):
            start = int(token.start_pos or 0)
            raise refusal_at(
                self.text, start, start + len(token), str(token), "is not a whole number",
                "write for example 100",
            )  # fmt: skip
        return value

    def length(self, node: Node, *, calendar: bool = False) -> Any:
        """A duration as text, a number, or rows; with ``calendar``, days may be calendar days."""
        if calendar:
            return self._parse_length(node)
        with self.translate_errors(node):
            value = self._parse_length(node)
            read_extent("length", value, positive=False)
        return value

    def _parse_length(self, node: Node) -> Any:
        if node.data == "number":
            return self.number(node)
        words = [str(token) for token in _own_tokens(node)]
        sign = "-" if "-" in words[:2] else ""
        if node.data == "rows":
            count = self.parse_integer(_own_tokens(node)[-2])
            return Rows(-count if sign else count)
        if node.data == "duration_string":
            return parse_string(words[0])
        words = [one for one in words if one != "-"]
        if node.data == "interval":
            unit = " ".join(words[2:])
            return parse_interval(f"INTERVAL {sign}'{parse_string(words[1])}' {unit}".rstrip())
        parts = words[node.data == "interval_units" :]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        text = " ".join(f"{sign}{count} {unit.lower()}" for count, unit in pairs)
        return parse_interval(text) if node.data == "interval_units" else text

    def _refusal(self, node: Node, why: str, instead: str) -> Exception:
        start, end = node.meta.start_pos, node.meta.end_pos
        return refusal_at(self.text, start, end, self.text[start:end], why, instead)

    def refuse_repeated(self, node: Node, seen: Iterable[str]) -> None:
        """Refuse a node whose rule has been seen before."""
        if str(node.data) in seen:
            raise self._refusal(node, "repeats what was given before", "keep one of them")

    def add_level_spans(self, name: str, node: Node, *, backwards: bool = False) -> None:
        """Record where the lengths of the levels stand: all together, and each."""
        self.coarsest_first = backwards
        nodes = self.parts(node)
        first, last = nodes[0].meta.start_pos, nodes[-1].meta.end_pos
        self.spans.append(ArgumentSpan(f"{name}s", first, last))
        for place, part in enumerate(nodes[::-1] if backwards else nodes):
            self.add_span(f"{name}s[{place}]", part)
            self.add_span(name, part)

    def lengths(self, node: Node, *, calendar: bool = False) -> list[Any]:
        """The lengths below a node; with ``calendar``, days may be calendar days."""
        return [self.length(one, calendar=calendar) for one in self.parts(node)]

    def sizes(self, node: Node) -> tuple[list[Node], dict[str, Any]]:
        """The other parts of a node, and MIN, MAX and MAX GAP of a frame as arguments."""
        others: list[Node] = []
        sizes: dict[str, Any] = {}
        for part in self.parts(node):
            if part.data not in _SIZES:
                others.append(part)
                continue
            (length,) = self.parts(part)
            value = self.length(length)
            counted = isinstance(value, Rows) and part.data != "gap_at_most"
            name = _SIZES[part.data][counted]
            if name in sizes:
                raise self._refusal(part, "repeats what was given before", "keep one of them")
            self.add_span(name, length)
            sizes[name] = value.count if counted else value
        return others, sizes

    def crossing(self, node: Node) -> dict[str, Any]:
        """``include_crossing``, if given: whether the row that ends a frame is in it."""
        words = self.words(node).get("CROSSING")
        return {} if words is None else {"include_crossing": words.startswith("INCLUDE")}

    def by_column(
        self, argument: str, nodes: Iterable[Node], value: Callable[[Node], Any]
    ) -> dict[str, Any]:
        """Columns with a value each, by name."""
        values: dict[str, Any] = {}
        for node in nodes:
            column, *numbers = self.parts(node)
            name = join_name(self.read_name(argument, column))
            if name in values:
                raise self._refusal(node, "names a column twice", "name each column once")
            for one in numbers:
                self.add_span(f"{argument} of {name}", one)
            values[name] = value(node)
        return values

    def aggregate(self, node: Node) -> Call:
        """The aggregate that a node calls; its arguments must be columns."""
        start, end = node.meta.start_pos, node.meta.end_pos
        tokens = tokenize(" " * start + self.text[start:end])
        reader = CallReader(self.text, tokens, self.own)
        parsed = next(reader.find_calls(0, len(tokens) - 1), None)
        if parsed is None:
            raise self._refusal(
                node, "is not an aggregate of fanlight", "write for example sum(bytes)"
            )

        def column(text: str, parts: tuple[str, ...]) -> str:
            if not parts:
                raise self._refusal(
                    node, f"is computed from {text}, which is not a column",
                    "compute that in a sub-query, as a column, and name it",
                )  # fmt: skip
            return join_name(parts)

        return reader.build(parsed, column)

    def sql(self, node: Node) -> str:
        """The Spark SQL of a node, without brackets around all of it."""
        start, end = self._without_brackets(node)
        return self.text[start:end]

    def _without_brackets(self, node: Node) -> tuple[int, int]:
        """Where a node stands, without brackets around all of it."""
        start, end = node.meta.start_pos, node.meta.end_pos
        tokens = tokenize(" " * start + self.text[start:end])
        if tokens[0].text == "(" and tokens[0].partner == len(tokens) - 2:
            return start + 1, end - 1
        return start, end


def parse_interval(text: str) -> timedelta:
    """The duration of an INTERVAL literal, always of the same length; days as text may vary."""
    length = read_extent("length", text, positive=False)
    return timedelta(microseconds=int(length.value))


def _own_tokens(node: Node) -> list[Token]:
    return [one for one in node.children if isinstance(one, Token)]
