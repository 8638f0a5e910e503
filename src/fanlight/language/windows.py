"""The specs of windows, made of the trees of their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

from lark import Token, Tree

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.spec.frames import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    Frame,
    PredicateFrame,
    Session,
    ThresholdFrame,
)
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import Rows, extent, rows
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.language.calls import Reader, number, string
from fanlight.language.clause import Spec
from fanlight.language.mistake import wrong
from fanlight.language.names import bare, given
from fanlight.language.spoken import Mark, speaking
from fanlight.language.tokens import tokens

Node = Tree[Token]


class Windows:
    """Makes specs, lengths, numbers and names of the trees of one text."""

    def __init__(self, text: str, own: Mapping[str, Aggregate]) -> None:
        self.text, self.own = text, own
        self.marks: list[Mark] = []

    def mark(
        self, argument: str, node: Node | Token, value: str = "", *, whole: bool = True
    ) -> None:
        """Note where an argument of the API stands."""
        if isinstance(node, Tree):
            start, end = node.meta.start_pos, node.meta.end_pos
        else:
            start, end = int(node.start_pos or 0), int(node.end_pos or 0)
        self.marks.append(Mark(argument, start, end, value or self.text[start:end], whole))

    def speaking(self, node: Node) -> AbstractContextManager[None]:
        """Tell what is refused in the words of the text."""
        return speaking(self.text, self.marks, node.meta.start_pos, node.meta.end_pos)

    def named(self, argument: str, node: Node) -> tuple[str, ...]:
        """The name of a column, and where it is."""
        found = self.name(node)
        self.mark(argument, node, given(found))
        return found

    def spec(self, node: Node) -> Spec:
        """The windows that a tree describes."""
        made: dict[str, Callable[[Node], Spec]] = {
            "sliding": self._sliding,
            "granular": self._granular,
            "frame": self._frame,
            "session": self._session,
            "widening": self._widening,
        }
        return made[str(node.data)](node)

    def name(self, node: Node) -> tuple[str, ...]:
        """A column's name, in its parts."""
        return tuple(bare(str(token)) for token in _tokens(node))

    def number(self, node: Node) -> int | float | Fraction:
        """A number; 1/3 as it is."""
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

    def whole(self, token: Token) -> int:
        """A whole number."""
        found = number(str(token))
        if not isinstance(found, int):
            start = int(token.start_pos or 0)
            raise wrong(
                self.text, start, start + len(token), str(token), "is not a whole number",
                "write for example 100",
            )  # fmt: skip
        return found

    def length(self, node: Node) -> Any:
        """A duration as text, a number, or a number of rows."""
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
            count = self.whole(_tokens(node)[-2])
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

    def _sliding(self, node: Node) -> Spec:
        found: list[Sliding] = []
        for one in _trees(node):
            length, *rest = _trees(one)
            self.mark(f"query {len(found)},", one)
            self.mark("range", length)
            for part in rest:
                self.mark(str(part.data), _trees(part)[0])
            more = {str(part.data): self.length(_trees(part)[0]) for part in rest}
            with self.speaking(one):
                found.append(Sliding(self.length(length), more.pop("slide", None), **more))
        return found[0] if len(found) == 1 else tuple(found)

    def _granular(self, node: Node) -> Spec:
        ranges, slides, *rest = _trees(node)
        lengths, steps = self._lengths(ranges), self._lengths(slides)
        more: dict[str, Any] = {}
        for one in rest:
            kind = str(one.data)
            if kind in more:
                raise self._refused(one, "says again what has been said", "keep one of them")
            self.mark(kind, next(iter(_trees(one)), one))
            if kind == "offset":
                more[kind] = self.length(_trees(one)[0])
            elif kind == "horizons":
                more[kind] = self._lengths(_trees(one)[0])
            elif kind == "weights":
                more[kind] = [float(self.number(part)) for part in _trees(one)]
            else:
                more[kind] = kind == "changes_only" or str(one.children[1]).lower()
        reverse = self._coarsest_first(lengths)  # as the paper lists them
        listed = [("range", ranges), ("slide", slides)]
        listed += [("weight", one) for one in rest if one.data == "weights"]
        for name, one in listed:
            self._mark_levels(name, one, reverse=reverse)
        if reverse:
            lengths, steps = lengths[::-1], steps[::-1]
            if "weights" in more:
                more["weights"] = more["weights"][::-1]
        return MultiGranular(lengths, steps, **more)

    def _mark_levels(self, name: str, node: Node, *, reverse: bool) -> None:
        """Note where all levels have their lengths, and each."""
        nodes = _trees(node)
        first, last = nodes[0].meta.start_pos, nodes[-1].meta.end_pos
        self.marks.append(Mark(f"{name}s", first, last))
        for place, part in enumerate(nodes[::-1] if reverse else nodes):
            self.mark(f"{name}s[{place}]", part)
            self.mark(name, part)

    def _coarsest_first(self, lengths: list[Any]) -> bool:
        sizes = [extent("length", one, positive=False) for one in lengths]
        alike = len({one.measure for one in sizes}) == 1 < len(sizes)
        return alike and all(a.value > b.value for a, b in pairwise(sizes))

    def _lengths(self, node: Node) -> list[Any]:
        return [self.length(one) for one in _trees(node)]

    def _session(self, node: Node) -> Spec:
        first, *rest = _trees(node)
        own = first.data in ("gap_sql", "gap_column")
        self.mark("gap", first, whole=not own)
        # Days and months may be those of the calendar.
        gap = self._sql(first) if own else self._length(first)
        return Session(gap, **self._limits(rest, most=True))

    def _limits(self, nodes: Iterable[Node], *, most: bool = False) -> dict[str, Any]:
        """The least rows and duration, and the greatest duration."""
        found: dict[str, Any] = {}
        for node in nodes:
            (length,) = _trees(node)
            value = self.length(length)
            counted = isinstance(value, Rows)
            if node.data == "at_most":
                name = "max_duration"
            elif counted or most:
                name = "min_rows"
            else:
                name = "min_duration"
            if name in found:
                raise self._refused(node, "says again what has been said", "keep one of them")
            if name == "min_rows" and not counted:
                raise self._refused(node, "is not a number of rows", "write for example MIN 3 ROWS")
            self.mark(name, length)
            found[name] = value.count if name == "min_rows" else value
        return found

    def _widening(self, node: Node) -> Spec:
        lengths, longest, *rest = _trees(node)
        found = self._lengths(lengths)
        count = next(one for one in _tokens(node) if one.type == "NUMBER")
        self.mark("first", lengths)
        self.mark("longest", longest)
        self.mark("max_rows", count)
        self.mark("WIDENING", _tokens(node)[0])
        for one in rest:
            self.mark("factor", _tokens(one)[1])
        more = {str(one.data): self.whole(_tokens(one)[1]) for one in rest}
        return ProgressiveWidening(
            found if len(found) > 1 else found[0],
            longest=self.length(longest),
            max_rows=self.whole(count),
            **more,
        )

    def _frame(self, node: Node) -> Frame:
        (scheme,) = _trees(node)
        parts = _trees(scheme)
        flags = {one.type: str(one).upper() for one in _tokens(scheme)}
        crossing = {}
        if "CROSSING" in flags:
            crossing = {"include_crossing": flags["CROSSING"].startswith("INCLUDE")}
        if scheme.data == "threshold":
            self._condition("predicate", parts[0])
            return ThresholdFrame(self._sql(parts[0]), **self._limits(parts[1:]))
        if scheme.data == "predicate":
            self._condition("open", parts[0])
            self._condition("close", parts[1])
            limits = self._limits(parts[2:])
            return PredicateFrame(self._sql(parts[0]), self._sql(parts[1]), **limits)
        if scheme.data == "boundary":
            cells = self._by_column("cells", parts, self._cells)
            for flag in _tokens(scheme):
                self.mark("BoundaryFrame(", flag)
            return BoundaryFrame(cells, overlapping="OVERLAPPING" in flags)
        if scheme.data == "delta":
            against = {}
            if parts[-1].data == "against":
                against = {"against": str(parts.pop().children[1]).lower()}
            deltas = self._by_column("deltas", parts, lambda one: self.number(_trees(one)[1]))
            return DeltaFrame(deltas, **against, **crossing)  # type: ignore[arg-type]
        calls = [self._call(_trees(one)[0]) for one in parts]
        reached = [self.number(_trees(one)[1]) for one in parts]
        for call, limit, one in zip(calls, reached, parts, strict=True):
            place, number = _trees(one)
            self.mark(call.label, place, whole=False)
            self.mark(f"AggregateFrame({call.label}, {limit!r})", place)
            self.mark(f"limit={limit!r} of {call.label}", number)
        return AggregateFrame(calls, reached, **crossing, may_fall="MAY_FALL" in flags)

    def _cells(self, node: Node) -> Any:
        numbers = [self.number(one) for one in _trees(node)[1:]]
        return numbers if node.data == "at" else numbers[0]

    def _condition(self, argument: str, node: Node) -> None:
        """Note where a condition stands, without the brackets around it."""
        start, end = self._bare(node)
        self.marks.append(Mark(argument, start, end, whole=False))

    def _by_column(
        self, argument: str, nodes: list[Node], value: Callable[[Node], Any]
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for node in nodes:
            column, *numbers = _trees(node)
            name = given(self.named(argument, column))
            if name in found:
                raise self._refused(node, "names a column again", "name each column once")
            for one in numbers:
                self.mark(f"{argument} of {name}", one)
            found[name] = value(node)
        return found

    def _call(self, node: Node) -> Call:
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
                    node, f"is not of a column, but of {text}",
                    "compute it in a sub-query, as a column, and name that",
                )  # fmt: skip
            return given(parts)

        return reader.made(asked, column)

    def _sql(self, node: Node) -> str:
        """A part in Spark SQL, without the brackets around all of it."""
        start, end = self._bare(node)
        return self.text[start:end]

    def _bare(self, node: Node) -> tuple[int, int]:
        """Where a part is, without the brackets around all of it."""
        start, end = node.meta.start_pos, node.meta.end_pos
        found = tokens(" " * start + self.text[start:end])
        if found[0].text == "(" and found[0].partner == len(found) - 2:
            return start + 1, end - 1
        return start, end


def interval(text: str) -> timedelta:
    """A literal of SQL, which always lasts the same; a text of days may follow the calendar."""
    length = extent("length", text, positive=False)
    return timedelta(microseconds=int(length.value))


def _trees(node: Node) -> list[Node]:
    return [one for one in node.children if isinstance(one, Tree)]


def _tokens(node: Node) -> list[Token]:
    return [one for one in node.children if isinstance(one, Token)]
