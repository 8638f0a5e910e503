"""Calls of aggregates in SQL text: which there are, and the aggregate of fanlight that each is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.facts import ignores_repeats, skips_nulls
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.template import fill
from fanlight.engine.spec.errors import FanlightError
from fanlight.language.mistake import pointing, wrong
from fanlight.language.tokens import Place, Token, path, split

Column = Callable[[str, tuple[str, ...]], Any]  # SQL text, and the name that it is, if it is one

# Aggregates of Spark's that fanlight does not have, and what to write instead.
_OWN = "make one of agg.Aggregate(…) and pass it by its name: fl.sql(text, name=…)"
_UNKNOWN = {
    **dict.fromkeys(("any", "some", "bool_or"), "write max({x})"),
    **dict.fromkeys(("every", "bool_and"), "write min({x})"),
    "count_if": "write count(CASE WHEN {x} THEN 1 END)",
    "collect_set": "write array_distinct(collect_list({x}))",
    **dict.fromkeys(("percentile_cont", "percentile_disc"), "write percentile(x, {x})"),
    "quantile": "write percentile({x})",
    **dict.fromkeys(("regr_slope", "regr_intercept", "regr_r2"),
                    "write linear_fit({x}), the line of a column over time"),
    **dict.fromkeys(
        ("approx_top_k", "bit_and", "bit_or", "bit_xor", "bitmap_construct_agg", "bitmap_or_agg",
         "corr", "count_min_sketch", "covar_pop", "covar_samp", "grouping", "grouping_id",
         "histogram_numeric", "hll_sketch_agg", "hll_union_agg", "kurtosis", "product", "regr_avgx",
         "regr_avgy", "regr_count", "regr_sxx", "regr_sxy", "regr_syy", "schema_of_json_agg",
         "skewness", "theta_sketch_agg", "try_avg", "try_sum"),
        _OWN,
    ),
}  # fmt: skip
_DIGITS = 400  # of a whole number: one with more is beyond all limits anyway
_COLUMNS = ("column", "columns", "by")


@dataclass(frozen=True)
class Asked:
    """An aggregate as a text calls it; places are those of tokens."""

    name: str
    at: int
    end: int
    arguments: tuple[tuple[int, int], ...]
    distinct: bool = False
    ignores: bool = False
    filtered: tuple[int, int] | None = None


@dataclass(frozen=True)
class Reader:
    """Reads the calls of a text; ``own`` are a user's own aggregates, by their names."""

    text: str
    found: Sequence[Token]
    own: Mapping[str, Aggregate]

    @property
    def names(self) -> Mapping[str, str]:
        """What the text may call the library's aggregates, each with its name."""
        return AGGREGATES.in_sql

    def aggregates(self, at: int, end: int) -> Iterator[Asked]:
        """The calls between two places, from left to right; sub-queries are left alone."""
        while at < end:
            if self.opens_query(at):
                at = self.found[at].partner
            elif (call := self._call(at)) is not None:
                yield call
                at = call.end - 1
            at += 1

    def meant(self, at: int, end: int) -> tuple[int, str] | None:
        """A call between two places that may be of a misspelt aggregate, and which."""
        for place in range(at, end):
            one = self.found[place]
            if one.kind == "word" and self.found[place + 1].text == "(":
                near = get_close_matches(one.plain, [*self.names, *self.own], 1, 0.7)
                if near:
                    return place, near[0]
        return None

    def opens_query(self, at: int) -> bool:
        """Whether a bracket opens a sub-query."""
        one = self.found[at]
        return one.text == "(" and self.found[at + 1].is_word("SELECT", "WITH")

    def _call(self, at: int) -> Asked | None:
        """The call that begins at a place, if one does."""
        found, one = self.found, self.found[at]
        if found[at + 1].text != "(" or not one.named or (at and found[at - 1].is_mark(".")):
            return None
        name, close = one.plain, found[at + 1].partner
        if found[close + 1].is_word("OVER"):
            return None  # Spark's, over the windows' results
        if name not in self.own and name not in self.names:
            if name in _UNKNOWN:
                self._refuse_unknown(at, close)
            return None
        first, stop = at + 2, close
        alone = found[first + 1].is_mark(")", ",")  # a name
        distinct = found[first].is_word("DISTINCT") and not alone
        first += distinct or (found[first].is_word("ALL") and not alone)
        inside, behind = self._nulls(stop - 2), self._nulls(close + 1)
        stop -= 0 if inside is None else 2
        close += 1 if behind is None else 3
        filtered = None
        if found[close].is_word("FILTER") and found[close + 1].text == "(":
            if not found[close + 2].is_word("WHERE"):
                raise wrong(
                    self.text, found[close + 2].start, found[close + 2].end, "FILTER",
                    "says which rows to take by WHERE", "write FILTER (WHERE condition)",
                )  # fmt: skip
            filtered = (close + 3, found[close + 1].partner)
            close = found[close + 1].partner + 1
        elif found[close].is_word("WITHIN"):
            self._refuse(at, close, "has its column in WITHIN GROUP",
                         "write percentile(x, 0.5), or mode(x)")  # fmt: skip
        parts = tuple(self._parts(first, stop))
        for place, last in parts:
            inner = next(self.aggregates(place, last), None)
            if inner is not None:
                why = "is an aggregate within an aggregate"
                hint = "aggregate in a sub-query, and its results in windows again"
                self._refuse(inner.at, inner.end, why, hint)
        return Asked(name, at, close, parts, distinct, bool(inside or behind), filtered)

    def _parts(self, at: int, end: int) -> list[Place]:
        """The arguments of a call."""
        return split(self.found, at, end)

    def _nulls(self, at: int) -> bool | None:
        """Whether IGNORE NULLS stands at a place; None if neither it nor RESPECT NULLS does."""
        first = self.found[at]
        if first.is_word("IGNORE", "RESPECT") and self.found[at + 1].is_word("NULLS"):
            return first.is_word("IGNORE")
        return None

    def _refuse(self, at: int, end: int, why: str, instead: str) -> None:
        start, stop = self.found[at].start, self.found[end - 1].end
        raise wrong(self.text, start, stop, self.slice(at, end), why, instead)

    def _refuse_unknown(self, at: int, close: int) -> None:
        given = self.slice(at + 2, close) or "x"
        instead = fill(_UNKNOWN[self.found[at].plain], x=given)
        self._refuse(at, close + 1, "is not an aggregate of fanlight", instead)

    def slice(self, at: int, end: int) -> str:
        """The text between two places."""
        return self.text[self.found[at].start : self.found[end - 1].end] if at < end else ""

    def shown(self, at: int, end: int) -> str:
        """The same in one line, without comments."""
        parts = self.found[at:end]
        gaps = [" " if a.end < b.start else "" for a, b in pairwise(parts)]
        return "".join(one.text + gap for one, gap in zip(parts, [*gaps, ""], strict=False))

    def made(self, asked: Asked, column: Column) -> Call:
        """The aggregate; ``column`` makes a name or an expression what aggregates take."""
        start, end = self.found[asked.at].start, self.found[asked.end - 1].end
        with pointing(self.text, start, end):
            try:
                return self._made(asked, column)
            except TypeError as error:
                said = str(error).split("() ", 1)[-1]
                raise FanlightError(f"{self.shown(asked.at, asked.end)}: {said}") from error

    def _made(self, asked: Asked, column: Column) -> Call:
        if asked.name in self.own:
            own = self.own[asked.name]
            if asked.distinct or asked.filtered:
                self._refuse(asked.at, asked.end, "takes all rows of a window",
                             "choose them by CASE in its arguments")  # fmt: skip
            return own(*(self._column(asked, place, column) for place in asked.arguments))
        name = self.names[asked.name]
        if asked.distinct and name == "count":
            name, asked = "count_distinct", replace(asked, distinct=False)
        call = self._called(asked, name, column)
        if asked.distinct and not ignores_repeats(call.aggregate):
            self._refuse(asked.at, asked.end, "is an aggregate that counts each row",
                         "leave DISTINCT out, or write count(DISTINCT x)")  # fmt: skip
        if asked.filtered and not skips_nulls(call):
            self._refuse(asked.at, asked.end, "cannot leave rows out",
                         "choose rows by WHERE, or in a sub-query")  # fmt: skip
        return call

    def _called(self, asked: Asked, name: str, column: Column) -> Call:
        """An aggregate of the library, whether or not it goes with DISTINCT and FILTER."""
        function = AGGREGATES[name].function
        options: dict[str, Any] = {}
        self._check_nulls(asked, function)
        if name == "count" and self._all_rows(asked):
            return function(column(self._when(asked, "1"), ())) if asked.filtered else function()
        columns = []
        expected = list(inspect.signature(function).parameters)
        for number, (at, end) in enumerate(asked.arguments):
            named, begin = self._option(at, end)
            if not named and number < len(expected) and expected[number] not in _COLUMNS:
                named = expected[number]
            if not named:
                columns.append(self._column(asked, (at, end), column))
                continue
            if named in options:
                self._refuse(at, end, f"gives {named} again", "give it once")
            is_column = named in _COLUMNS
            place = (begin, end)
            options[named] = self._column(asked, place, column) if is_column else self.value(*place)
        if asked.ignores:
            options.setdefault("ignorenulls", True)
        return function(*columns, **options)

    def _check_nulls(self, asked: Asked, function: Callable[..., Call]) -> None:
        """Refuse IGNORE NULLS where nulls make no difference, or the aggregate has no such form."""
        if asked.ignores and "ignorenulls" not in inspect.signature(function).parameters:
            at = next(n for n in range(asked.at, asked.end) if self._nulls(n))
            self._refuse(at, at + 2, f"does not go with {asked.name}", "leave it out")

    def _all_rows(self, asked: Asked) -> bool:
        """Whether it counts rows: ``count(*)``, ``count(1)``."""
        if len(asked.arguments) != 1:
            return False
        at, end = asked.arguments[0]
        one = self.found[at]
        return end == at + 1 and (one.is_mark("*") or one.kind in ("number", "string"))

    def _when(self, asked: Asked, text: str) -> str:
        """SQL: a value of the rows that a call takes."""
        if asked.filtered is None:
            return text
        return f"CASE WHEN ({self.slice(*asked.filtered)}\n) THEN ({text}\n) END"

    def _column(self, asked: Asked, place: tuple[int, int], column: Column) -> Any:
        at, end = place
        parts, after = path(self.found, at, end)
        text = self.slice(at, end)
        if asked.filtered is not None:
            return column(self._when(asked, text), ())
        return column(text, parts if after == end else ())

    def _option(self, at: int, end: int) -> tuple[str, int]:
        """The name of an argument that is given by it, ``accuracy => 100``, and where it begins."""
        arrow = end - at > 3 and self.found[at + 1].is_mark("=") and self.found[at + 2].is_mark(">")
        return (self.found[at].plain, at + 3) if arrow else ("", at)

    def value(self, at: int, end: int) -> Any:
        """The value of a number, a text, TRUE or FALSE, or an array of such."""
        found, one = self.found, self.found[at]
        if one.is_mark("-") and end - at == 2:
            return -self.value(at + 1, end)
        if one.is_word("ARRAY") and found[at + 1].text == "(" and found[at + 1].partner == end - 1:
            return [self.value(*part) for part in split(found, at + 2, end - 1)]
        if end - at == 1 and one.kind == "number":
            return number(one.text)
        if end - at == 1 and one.kind == "string":
            return string(one.text)
        if end - at == 1 and one.is_word("TRUE", "FALSE"):
            return one.is_word("TRUE")
        raise wrong(
            self.text, one.start, found[end - 1].end, self.shown(at, end),
            "is not a value written out", "write a number, a text in quotes, TRUE or FALSE",
        )  # fmt: skip


def number(text: str) -> int | float:
    """The number that a text is, whatever its type in SQL."""
    bare = text.rstrip("LlSsYyFfDdBb")
    return int(bare) if bare.isdigit() and len(bare) < _DIGITS else float(bare)


_CODE = re.compile(r"u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


def string(text: str) -> str:
    """The text that a literal stands for."""
    if text[0] in "rR":
        return text[2:-1]
    mark, body, out, at = text[0], text[1:-1], [], 0
    while at < len(body):
        letter = body[at]
        if letter == "\\" and (code := _CODE.match(body, at + 1)):
            letter, at = chr(int(code[0][1:], 16)), code.end() - 1
        elif letter == "\\":
            at += 1
            letter = _ESCAPES.get(body[at], body[at])
        elif letter == mark:
            at += 1  # doubled
        out.append(letter)
        at += 1
    return "".join(out)
