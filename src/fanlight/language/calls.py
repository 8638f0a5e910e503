"""Aggregate calls in SQL text: finding them, and building fanlight's aggregates from them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NoReturn

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.facts import ignores_repeats
from fanlight.engine.algebra.registry import AGGREGATES, Entry
from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.algebra.suggestions import OTHERWISE
from fanlight.engine.spec.errors import FanlightError, guess
from fanlight.language.tokens import Place, Token, point_at, read_path, refusal_at, split_at_commas

# Makes an argument of an aggregate from SQL text, and from the name if the text is only a name.
Column = Callable[[str, tuple[str, ...]], Any]

# Spark's aggregates that fanlight does not have, and what to write instead.
_OWN = "build it with algebra.Aggregate(…) and pass it by name: fl.sql(text, name=…)"
_NOT_SUPPORTED = {
    "percentile_cont": "write percentile_cont({all}) WITHIN GROUP (ORDER BY x)",
    "quantile": "write percentile({all})",
    **dict.fromkeys(("sum_distinct", "sumdistinct"), "write sum(DISTINCT {all})"),
    **{
        name: f"write {OTHERWISE[name][1]}"
        for name in ("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine",
                     "count_min_sketch", "histogram_numeric")
    },
    **dict.fromkeys(
        ("bitmap_construct_agg", "bitmap_or_agg", "grouping", "grouping_id", "hll_union_agg",
         "schema_of_json_agg"),
        _OWN,
    ),
}  # fmt: skip
_SHARES = "array(0.25, 0.5, 0.75)"
_ORDER = "write WITHIN GROUP (ORDER BY x)"
_DIGITS = 400  # an integer with more digits exceeds every limit anyway
_COLUMNS = ("column", "columns", "ord", "condition", "y", "x")


@dataclass(frozen=True)
class ParsedCall:
    """An aggregate call as it stands in the text; positions are numbers of tokens."""

    name: str
    at: int
    end: int
    arguments: tuple[tuple[int, int], ...]
    distinct: bool = False
    ignore_nulls: bool = False
    condition: tuple[int, int] | None = None
    ordering: tuple[OrderItem, ...] = ()  # of WITHIN GROUP


@dataclass(frozen=True)
class CallReader:
    """Reads the aggregate calls of a text; ``own`` are the user's own aggregates by name."""

    text: str
    tokens: Sequence[Token]
    own: Mapping[str, Aggregate]

    @property
    def names(self) -> Mapping[str, str]:
        """The library's aggregates by the names that they have in SQL."""
        return AGGREGATES.in_sql

    def _entry(self, name: str) -> Entry:
        return AGGREGATES[self.names.get(name, name)]

    def find_calls(self, at: int, end: int) -> Iterator[ParsedCall]:
        """The aggregate calls in a range of tokens, from left to right, without sub-queries'."""
        while at < end:
            if self.opens_subquery(at):
                at = self.tokens[at].partner
            elif (call := self._parse_call(at)) is not None:
                yield call
                at = call.end - 1
            at += 1

    def find_misspelt(self, at: int, end: int) -> tuple[int, str] | None:
        """The first call that looks like a misspelt aggregate, and the aggregate's name."""
        for place in range(at, end):
            one = self.tokens[place]
            if one.kind == "word" and self.tokens[place + 1].text == "(":
                if one.folded in OTHERWISE:
                    self._refuse_unknown(place, self.tokens[place + 1].partner)
                if near := guess(one.folded, [*self.names, *self.own], 0.7):
                    return place, near
        return None

    def advise_around(self, place: int) -> str:
        """What to write for the texts of all rows, if a token is an argument of ``concat``."""
        for at, one in enumerate(self.tokens[:place]):
            following = self.tokens[at + 1]
            if one.folded == "concat" and following.text == "(" and place < following.partner:
                why, call = OTHERWISE["concat"]
                return (
                    f"; {why}, for those of all rows write {fill(call, x=self.tokens[place].text)}"
                )
        return ""

    def opens_subquery(self, at: int) -> bool:
        """Whether a bracket opens a sub-query."""
        one = self.tokens[at]
        return one.text == "(" and self.tokens[at + 1].is_word("SELECT", "WITH")

    def _parse_call(self, at: int) -> ParsedCall | None:
        """The aggregate call that begins at a token; None if none does."""
        tokens, one = self.tokens, self.tokens[at]
        if tokens[at + 1].text != "(" or not one.is_name or (at and tokens[at - 1].is_symbol(".")):
            return None
        name, close = one.folded, tokens[at + 1].partner
        ordering, after_group = read_ordering(tokens, close + 1)
        if tokens[after_group].is_word("OVER"):
            return None  # a window function of Spark's, over the results
        ordered = bool(ordering) and name in AGGREGATES.ordered
        if name not in self.own and name not in self.names and not ordered:
            if name in _NOT_SUPPORTED:
                self._refuse_unknown(at, close)
            return None
        if after_group > close + 1 and not ordering:
            self._refuse(at, after_group, "does not say in which order", _ORDER)
        first, stop = at + 2, close
        alone = tokens[first + 1].is_symbol(")", ",")  # then it is a column named DISTINCT or ALL
        distinct = tokens[first].is_word("DISTINCT") and not alone
        first += distinct or (tokens[first].is_word("ALL") and not alone)
        inside, after = self._null_treatment(stop - 2), self._null_treatment(close + 1)
        stop -= 0 if inside is None else 2
        close += 1 if after is None else 3
        close = max(close, after_group)
        condition = None
        if tokens[close].is_word("FILTER") and tokens[close + 1].text == "(":
            if not tokens[close + 2].is_word("WHERE"):
                raise refusal_at(
                    self.text, tokens[close + 2].start, tokens[close + 2].end, "FILTER",
                    "has no WHERE before its condition", "write FILTER (WHERE condition)",
                )  # fmt: skip
            condition = (close + 3, tokens[close + 1].partner)
            close = tokens[close + 1].partner + 1
        parts = tuple(split_at_commas(tokens, first, stop))
        for place, last in (*parts, *(one.place for one in ordering)):
            inner = next(self.find_calls(place, last), None)
            if inner is not None:
                why = "is an aggregate within an aggregate"
                hint = "compute it in a sub-query, and take windows of that query's results"
                self._refuse(inner.at, inner.end, why, hint)
        parsed = ParsedCall(
            name, at, close, parts, distinct, bool(inside or after), condition, ordering
        )
        return self._read_ordered(parsed) if ordering else parsed

    def _read_ordered(self, parsed: ParsedCall) -> ParsedCall:
        """A call with WITHIN GROUP, whose ordered column is the first argument of the library's."""
        place, name, first = (parsed.at, parsed.end), parsed.name, parsed.ordering[0]
        if name not in self.own and name in self.names and self._entry(name).in_row_order:
            return parsed  # only the windows tell that order
        ours = AGGREGATES.ordered.get(name)
        if ours is None or name in self.own:
            self._refuse(*place, "takes no WITHIN GROUP", "leave it out")
        share = len(inspect.signature(AGGREGATES[ours].function).parameters) - 1
        if (len(parsed.arguments), len(parsed.ordering)) != (share, 1) or parsed.distinct:
            why = f"takes {'one share' if share else 'no argument'} and one column"
            written = f"{name}({'0.5' if share else ''}) WITHIN GROUP (ORDER BY x)"
            self._refuse(*place, why, f"write for example {written}")
        if first.falls:
            called = self.text_of(parsed.at, self.tokens[parsed.at + 1].partner + 1)
            column = self.text_of(*first.place)
            column = column if first.end - first.at == 1 else f"({column})"
            instead = f"for numbers write -{called} WITHIN GROUP (ORDER BY -{column})"
            self._refuse(*place, "is in falling order, which fanlight does not have", instead)
        return replace(parsed, name=ours, arguments=(first.place, *parsed.arguments))

    def _null_treatment(self, at: int) -> bool | None:
        """True at IGNORE NULLS, False at RESPECT NULLS, None at any other token."""
        first = self.tokens[at]
        if first.is_word("IGNORE", "RESPECT") and self.tokens[at + 1].is_word("NULLS"):
            return first.is_word("IGNORE")
        return None

    def _refuse(self, at: int, end: int, why: str, instead: str) -> NoReturn:
        start, stop = self.tokens[at].start, self.tokens[end - 1].end
        raise refusal_at(self.text, start, stop, self.text_of(at, end), why, instead)

    def _refuse_unknown(self, at: int, close: int) -> None:
        name, given = self.tokens[at].folded, self.text_of(at + 2, close) or "x"
        reason, call = OTHERWISE.get(name, ("", ""))
        places = split_at_commas(self.tokens, at + 2, close)
        column = self.text_of(*places[0]) if places else "x"
        template = _NOT_SUPPORTED.get(name, f"write {call}")
        why = f"is not an aggregate of fanlight{reason and f', as {reason}'}"
        self._refuse(at, close + 1, why, fill(template, all=given, x=column, shares=_SHARES))

    def text_of(self, at: int, end: int) -> str:
        """The SQL text of a range of tokens, as it was written."""
        return self.text[self.tokens[at].start : self.tokens[end - 1].end] if at < end else ""

    def one_line(self, at: int, end: int) -> str:
        """The SQL text of a range of tokens in one line, without comments."""
        parts = self.tokens[at:end]
        gaps = [" " if a.end < b.start else "" for a, b in pairwise(parts)]
        return "".join(one.text + gap for one, gap in zip(parts, [*gaps, ""], strict=False))

    def build(self, parsed: ParsedCall, column: Column, order: Sequence[Any] = ()) -> Call:
        """The aggregate of a call; ``column`` turns names and expressions into its arguments.

        ``order`` are the columns that order rows: their time, and what breaks its ties.
        """
        start, end = self.tokens[parsed.at].start, self.tokens[parsed.end - 1].end
        with point_at(self.text, start, end):
            try:
                if parsed.ordering and self._entry(parsed.name).in_row_order:
                    self._check_order_of_rows(parsed, column, order)
                return self._build_call(parsed, column)
            except TypeError as error:
                message = str(error).split("() ", 1)[-1]
                raise FanlightError(f"{self.one_line(parsed.at, parsed.end)}: {message}") from error

    def _build_call(self, parsed: ParsedCall, column: Column) -> Call:
        call = self._build_whole_call(parsed, column)
        return call.where(self.text_of(*parsed.condition)) if parsed.condition else call

    def _build_whole_call(self, parsed: ParsedCall, column: Column) -> Call:
        """A call without its FILTER."""
        if parsed.name in self.own and not parsed.ordering:
            own = self.own[parsed.name]
            if parsed.distinct:
                why = "is your own aggregate, which takes no DISTINCT"
                self._refuse(parsed.at, parsed.end, why, "leave DISTINCT out")
            return own(*(self._build_column(*place, column) for place in parsed.arguments))
        name = self.names[parsed.name]
        if parsed.distinct and name == "count":
            name, parsed = "count_distinct", replace(parsed, distinct=False)
        once = "distinct" in inspect.signature(AGGREGATES[name].function).parameters
        call = self._build_library_call(parsed, name, column, once=once and parsed.distinct)
        if parsed.distinct and not once and not ignores_repeats(call.aggregate):
            self._refuse(parsed.at, parsed.end, "has no form with DISTINCT",
                         "leave DISTINCT out, or write count(DISTINCT x)")  # fmt: skip
        return call

    def _build_library_call(
        self, parsed: ParsedCall, name: str, column: Column, *, once: bool
    ) -> Call:
        """A call of an aggregate of the library, of each value ``once`` where it takes that."""
        function = AGGREGATES[name].function
        options: dict[str, Any] = {"distinct": True} if once else {}
        self._check_nulls(parsed, function)
        if name == "count" and self._counts_rows(parsed):
            return function()
        columns = []
        expected = list(inspect.signature(function).parameters)
        for number, (at, end) in enumerate(parsed.arguments):
            named, begin = self._parse_option(at, end)
            if not named and number < len(expected) and expected[number] not in _COLUMNS:
                named = expected[number]
            if not named:
                columns.append(self._build_column(at, end, column))
                continue
            if named in options:
                self._refuse(at, end, f"passes {named} twice", "pass it once")
            is_column = named in _COLUMNS
            place = (begin, end)
            options[named] = (
                self._build_column(*place, column) if is_column else self.parse_literal(*place)
            )
        together = AGGREGATES[name].together
        if together and len(columns) > 1:
            inside = self.text_of(parsed.arguments[0][0], parsed.arguments[-1][1])
            self._refuse(parsed.at, parsed.end, "is of several columns",
                         f"write {parsed.name}({together}({inside}))")  # fmt: skip
        if parsed.ignore_nulls:
            options.setdefault("ignorenulls", True)
        return AGGREGATES.call_by(function(*columns, **options), parsed.name)

    def _check_nulls(self, parsed: ParsedCall, function: Callable[..., Call]) -> None:
        """Refuse IGNORE NULLS for an aggregate that has no option for it."""
        if parsed.ignore_nulls and "ignorenulls" not in inspect.signature(function).parameters:
            at = next(n for n in range(parsed.at, parsed.end) if self._null_treatment(n))
            self._refuse(at, at + 2, f"is not an option of {parsed.name}", "leave it out")

    def _check_order_of_rows(
        self, parsed: ParsedCall, column: Column, order: Sequence[Any]
    ) -> None:
        """Refuse to join texts in another order than that of rows, or each once in any order."""
        asked = [self._build_column(*one.place, column) for one in parsed.ordering]
        plain = all(isinstance(one, str) for one in asked)
        rising = all(one.is_usual and not one.falls for one in parsed.ordering)
        if plain and rising and not parsed.distinct and asked == [*order][: len(asked)]:
            return
        given = [self.text_of(*one) for one in parsed.arguments]
        text, between = (*given, *("x", "''")[len(given) :])[:2]
        keys = [self.text_of(*one.place) for one in parsed.ordering]
        sort = write_sorted(text, between, parsed.ordering, keys, distinct=parsed.distinct)
        rows = f", ORDER BY {', '.join(order)}" if order else ""
        self._refuse(parsed.at, parsed.end, f"asks for another order than that of rows{rows}",
                     f"write {sort}" if sort else "leave WITHIN GROUP out")  # fmt: skip

    def _counts_rows(self, parsed: ParsedCall) -> bool:
        """Whether a call of ``count`` counts rows: ``count(*)``, ``count(1)``."""
        if len(parsed.arguments) != 1:
            return False
        at, end = parsed.arguments[0]
        one = self.tokens[at]
        return end == at + 1 and (one.is_symbol("*") or one.kind in ("number", "string"))

    def _build_column(self, at: int, end: int, column: Column) -> Any:
        parts, after = read_path(self.tokens, at, end)
        return column(self.text_of(at, end), parts if after == end else ())

    def _parse_option(self, at: int, end: int) -> tuple[str, int]:
        """The name of a named argument, ``accuracy => 100``, and where its value begins."""
        arrow = (
            end - at > 3
            and self.tokens[at + 1].is_symbol("=")
            and self.tokens[at + 2].is_symbol(">")
        )
        return (self.tokens[at].folded, at + 3) if arrow else ("", at)

    def parse_literal(self, at: int, end: int) -> Any:
        """The Python value of a literal: a number, a string, TRUE or FALSE, an array of these."""
        tokens, one = self.tokens, self.tokens[at]
        if one.is_symbol("-") and end - at == 2:
            return -self.parse_literal(at + 1, end)
        if (
            one.is_word("ARRAY")
            and tokens[at + 1].text == "("
            and tokens[at + 1].partner == end - 1
        ):
            return [self.parse_literal(*part) for part in split_at_commas(tokens, at + 2, end - 1)]
        if end - at == 1 and one.kind == "number":
            return parse_number(one.text)
        if end - at == 1 and one.kind == "string":
            return parse_string(one.text)
        if end - at == 1 and one.is_word("TRUE", "FALSE"):
            return one.is_word("TRUE")
        raise refusal_at(
            self.text, one.start, tokens[end - 1].end, self.one_line(at, end),
            "is not a literal", "write a number, a string in quotes, TRUE or FALSE",
        )  # fmt: skip


def parse_number(text: str) -> int | float:
    """The value of a SQL number, whatever type its suffix gives it."""
    bare = text.rstrip("LlSsYyFfDdBb")
    return int(bare) if bare.isdigit() and len(bare) < _DIGITS else float(bare)


_CODE = re.compile(r"u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def parse_string(text: str) -> str:
    """The value of a SQL string literal, with its escapes resolved."""
    if text[0] in "rR":
        return text[2:-1]
    quote, body, out, at = text[0], text[1:-1], [], 0
    while at < len(body):
        letter = body[at]
        if letter == "\\" and (code := _CODE.match(body, at + 1)):
            letter, at = chr(int(code[0][1:], 16)), code.end() - 1
        elif letter == "\\":
            at += 1
            letter = _ESCAPES.get(body[at], body[at])
        elif letter == quote:
            at += 1  # a doubled quote stands for one
        out.append(letter)
        at += 1
    return "".join(out)


_NULLS = ("FIRST", "LAST")


@dataclass(frozen=True)
class OrderItem:
    """An item of ORDER BY: its expression, and what is written of its direction and its nulls."""

    at: int
    end: int
    falls: bool = False
    nulls: str = ""

    @property
    def place(self) -> Place:
        """The tokens of the expression."""
        return self.at, self.end

    @property
    def is_usual(self) -> bool:
        """Whether nulls come where Spark puts them: first, or last in falling order."""
        return self.nulls in ("", "LAST" if self.falls else "FIRST")


def read_ordering(tokens: Sequence[Token], at: int) -> tuple[tuple[OrderItem, ...], int]:
    """The items of a WITHIN GROUP at a token, and where it ends; no items if it has no ORDER BY."""
    words = [one.text.upper() for one in tokens[at : at + 5]]
    if words[:3] != ["WITHIN", "GROUP", "("]:
        return (), at
    close = tokens[at + 2].partner
    places = split_at_commas(tokens, at + 5, close) if words[3:] == ["ORDER", "BY"] else []
    items = tuple(_read_item(tokens, *one) for one in places)
    return items if all(first < end for first, end in places) else (), close + 1


def _read_item(tokens: Sequence[Token], at: int, end: int) -> OrderItem:
    nulls, falls = "", False
    if end - at > 2 and tokens[end - 2].is_word("NULLS") and tokens[end - 1].is_word(*_NULLS):
        nulls, end = tokens[end - 1].text.upper(), end - 2
    if end - at > 1 and tokens[end - 1].is_word("ASC", "DESC"):
        falls, end = tokens[end - 1].is_word("DESC"), end - 1
    return OrderItem(at, end, falls, nulls)


def write_sorted(
    text: str, between: str, ordering: Sequence[OrderItem], keys: Sequence[str], *, distinct: bool
) -> str:
    """SQL that joins texts in the order of keys, or of themselves; or an empty text."""
    falls = {one.falls for one in ordering}
    if len(falls) > 1 or not all(one.is_usual for one in ordering):
        return ""
    falling = ", false" if True in falls else ""
    if distinct or [*keys] == [text]:
        values = f"{'collect_set' if distinct else 'collect_list'}({text})"
        return f"array_join(sort_array({values}{falling}), {between})"
    values = f"collect_list(struct({', '.join(keys)}, {text} AS text))"
    return f"array_join(transform(sort_array({values}{falling}), e -> e.text), {between})"
