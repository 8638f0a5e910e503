"""Measures of a ``MATCH_RECOGNIZE``: SQL over its matches, and the aggregates asked of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from pyspark.errors import PySparkException

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.library.in_order import last
from fanlight.engine.algebra.sql_text import fill, literal, quote
from fanlight.engine.kinds import output_columns
from fanlight.engine.spark.binding.source import bind_calls
from fanlight.engine.spark.ordered.frames import CLASSIFIER
from fanlight.engine.spark.sql import free_name, is_taken, say_reason
from fanlight.engine.spec.errors import FanlightError
from fanlight.engine.spec.frames.pattern import PLACES
from fanlight.engine.spec.frames.row_patterns import has_exclusion
from fanlight.language.calls import CallReader, ParsedCall
from fanlight.language.match_recognize import (
    Measure,
    Recognition,
    last_variables,
    variable_at,
)
from fanlight.language.query import Query
from fanlight.language.running.listed_rows import RowsOfMatch
from fanlight.language.running.table import Table
from fanlight.language.tokens import (
    Place,
    join_name,
    read_path,
    refusal_at,
    split_at_commas,
)

NUMBER = "frame_id"  # the column with the number of a match
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND",
          "MICROSECOND", "DAYOFYEAR")  # fmt: skip
_OF_UNITS = ("TIMESTAMPADD", "TIMESTAMPDIFF", "DATEADD", "DATEDIFF", "DATE_ADD", "DATE_DIFF",
             "EXTRACT")  # fmt: skip
_OF_MATCH = (
    "MATCH_NUMBER", "CLASSIFIER", "MATCH_SEQUENCE_NUMBER", "MATCH_ROWTIME", "MATCH_PROCTIME",
)  # fmt: skip
_LAST = "CLASSIFIER()"
_AFTER_TYPE = ("AS", "INTERVAL", "DATE", "TIMESTAMP")


@dataclass(frozen=True)
class _CallReader(CallReader):
    """Reads the aggregates of measures, in which variables stand before columns."""

    variables: Any = field(default_factory=dict)

    def text_of(self, at: int, end: int) -> str:
        """The text of a range of tokens without the variables before columns."""
        parts, first = [], at
        for n in range(at, end):
            if variable_at(self.tokens, n, self.variables):
                parts.append(super().text_of(first, n))
                parts.append(self._gap(n))
                first = n + 2
        return "".join([*parts, super().text_of(first, end)]).strip()

    def _gap(self, at: int) -> str:
        """What stands between the token before and this one."""
        return self.text[self.tokens[at - 1].end : self.tokens[at].start] and " "

    def _counts_rows(self, parsed: ParsedCall) -> bool:
        """Whether it is ``count(*)``, or ``count(a.*)``."""
        if len(parsed.arguments) != 1:
            return False
        at, end = parsed.arguments[0]
        of_variable = end - at == 3 and self.tokens[end - 1].is_symbol("*")
        if of_variable and variable_at(self.tokens, at, self.variables):
            return True
        return super()._counts_rows(parsed)


class Measures:
    """The measures of a ``MATCH_RECOGNIZE``; ``asked`` are the aggregates, by their words."""

    def __init__(
        self, query: Query, recognition: Recognition, table: Table, own: Mapping[str, Aggregate]
    ) -> None:
        self.text, self.tokens = query.text, query.tokens
        self.recognition, self.clause, self.table = recognition, recognition.clause, table
        self.variables = recognition.variables
        self.reader = _CallReader(self.text, self.tokens, own, self.variables)
        self.taken = [*table.df.columns, *output_columns(self.clause.spec)]
        self.asked: dict[tuple[str, ...], tuple[Place, str, Call]] = {}

    def refuse(self, place: Place, why: str, instead: str) -> NoReturn:
        """Raise an error that points at a range of tokens."""
        at, end = place
        start, stop = self.tokens[at].start, self.tokens[end - 1].end
        raise refusal_at(self.text, start, stop, self.reader.one_line(at, end), why, instead)

    def write(self, measure: Measure) -> str:
        """SQL of a measure over the results: what it asks of a match is a column there."""
        at, end = measure.place
        calls = {call.at: call for call in self.reader.find_calls(at, end)}
        parts, n = [], at
        while n < end:
            text, after = self._write_token(n, end, calls)
            gap = (
                " " if after < end and self.tokens[after - 1].end < self.tokens[after].start else ""
            )
            parts.append(text + gap)
            n = after
        return "".join(parts)

    def _write_token(self, n: int, end: int, calls: dict[int, ParsedCall]) -> tuple[str, int]:
        """SQL of what begins at a token of a measure, and where that ends."""
        tokens, one, after = self.tokens, self.tokens[n], self.tokens[n + 1]
        rows = self.recognition.all_rows
        said = one.is_word("FINAL", "RUNNING") and after.is_name and tokens[n + 2].text == "("
        if call := calls.get(n + said):
            (at, stop), *_ = call.arguments or ((n, n),)
            if not rows and call.name == "last" and self.reader.one_line(at, stop).upper() == _LAST:
                return self._write_function(at), call.end
            self._check_call(call)
            final = said and one.is_word("FINAL")
            return self._write_in_rows(call, final=final) if rows else self._ask(call), call.end
        if said:
            return "", n + 1
        if one.is_word(*_OF_MATCH) and after.text == "(":
            return self._write_function(n), after.partner + 1
        return self._write_name(n, end)

    def _write_name(self, n: int, end: int) -> tuple[str, int]:
        """SQL of a column, perhaps of a variable; any other token stays."""
        one, rows = self.tokens[n], self.recognition.all_rows
        if variables := variable_at(self.tokens, n, self.variables):
            path, stop = read_path(self.tokens, n + 2, end)
            if not path:
                self.refuse((n, n + 3), "is not a value", f"write COUNT({one.text}.*)")
            if rows:
                return self._write_in_rows(ParsedCall("last", n, stop, ((n, stop),))), stop
            return self._ask_last(path, variables, (n, stop)), stop
        path, stop = read_path(self.tokens, n, end)
        if not rows and self._is_column(n, stop, path):
            return self._ask_last(path, (), (n, stop)), stop
        return self.text[one.start : one.end], n + 1

    def _variables_in(self, parsed: ParsedCall) -> dict[tuple[str, ...], Place]:
        """The variables before columns in a call, and where each stands."""
        return {
            variables: (n, n + 2)
            for n in range(parsed.at, parsed.end)
            if (variables := variable_at(self.tokens, n, self.variables))
        }

    def _is_column(self, at: int, end: int, path: Sequence[str]) -> bool:
        """Whether a name is a column of the table, and neither a function nor a keyword."""
        before, after = self.tokens[at - 1], self.tokens[end]
        unit = before.kind in ("string", "number")  # INTERVAL '1' HOUR
        type_or_path = before.is_word(*_AFTER_TYPE) or before.is_symbol(".")
        called = after.text == "(" or after.kind == "string"  # DATE '2025-01-01'
        if not path or unit or type_or_path or called or self._is_unit(at):
            return False
        return is_taken(self.table.df, path[0], self.table.df.columns)

    def _is_unit(self, at: int) -> bool:
        """Whether a word is a unit: ``TIMESTAMPDIFF(HOUR, x, y)``, ``EXTRACT(HOUR FROM x)``."""
        before, one = self.tokens[at - 1], self.tokens[at]
        if before.text != "(" or not one.is_word(*_UNITS):
            return False
        if not self.tokens[at - 2].is_word(*_OF_UNITS):
            return False
        three = len(split_at_commas(self.tokens, at, before.partner)) > 2
        return three or self.tokens[at + 1].is_word("FROM")

    def _write_function(self, n: int) -> str:
        """SQL of ``MATCH_NUMBER()`` and ``CLASSIFIER()``."""
        called = (n, self.tokens[n + 1].partner + 1)
        rows, name = self.recognition.all_rows, self.tokens[n].text.upper()
        if name == "MATCH_PROCTIME":
            self.refuse(called, "is the time of a clock, and not of the rows",
                        "write current_timestamp() in a query around this one")  # fmt: skip
        if name == "MATCH_ROWTIME":
            path = self.clause.time[0]
            return quote(self.table.column(path)) if rows else self._ask_last(path, (), called)
        named = self.variables.get(self.tokens[n + 2].name.lower(), ())
        if name == "CLASSIFIER" and rows and named and called[1] == n + 4:
            holds = f"{CLASSIFIER} in ({', '.join(map(literal, named))})"
            return self._rows_at(called).place("last", CLASSIFIER, holds, 0, final=False)
        if called[1] != n + 3:
            self.refuse(called, "takes no argument", f"write {name}()")
        if name == "MATCH_NUMBER":
            return f"({NUMBER} + 1)"
        if name == "MATCH_SEQUENCE_NUMBER":
            return self._rows_at(called).number() if rows else "rows"
        if rows:
            return CLASSIFIER
        spec: Any = self.clause.spec
        ends = last_variables(spec.part)
        if len(ends) > 1:
            time = ".".join(self.clause.time[0])
            self.refuse(
                called, f"may be {' or '.join(ends)} in the last row of a match",
                f"write ALL ROWS PER MATCH, or CASE WHEN LAST({ends[0]}.{time}) = LAST({time}) "
                f"THEN {literal(ends[0])} … END",
            )  # fmt: skip
        return literal(ends[0])

    def _write_in_rows(self, parsed: ParsedCall, *, final: bool = False) -> str:
        """SQL of a call in each row of a match: of its rows up to that one, or of all."""
        place: Place = (parsed.at, parsed.end)
        rows = self._rows_at(place)
        named = self._variables_in(parsed)
        values = [f"({self._text_in_rows(*one)})" for one in parsed.arguments]
        holds = [f"({self.reader.text_of(*parsed.condition)})"] if parsed.condition else []
        names = ", ".join(map(literal, next(iter(named), ())))
        holds += [f"{CLASSIFIER} in ({names})"] if names else [f"{NUMBER} is not null"]
        if parsed.name in PLACES:
            value, *_ = values
            holds += [f"{value} is not null"] if parsed.ignore_nulls else []
            offset = self._offset(parsed) or 0
            return rows.place(parsed.name, value, " and ".join(holds), offset, final=final)
        call = self._build(parsed)
        ((_, types),) = bind_calls(self.table.df, [call])
        text = rows.aggregate(
            call.aggregate.partials(tuple(types)), values, next(iter(types), "void"),
            " and ".join(holds), final=final,
        )  # fmt: skip
        if not text:
            self.refuse(place, "is not computed for each row of ALL ROWS PER MATCH",
                        "write ONE ROW PER MATCH")  # fmt: skip
        return text

    def _rows_at(self, place: Place) -> RowsOfMatch:
        """The rows of a match, of which a measure is that stands somewhere."""
        spec: Any = self.clause.spec
        if self.table.df.isStreaming:
            self.refuse(place, "is of several rows of a match, which a stream lists one by one",
                        "write ONE ROW PER MATCH")  # fmt: skip
        if has_exclusion(spec.part):
            self.refuse(
                place, "is of all rows of a match, of which those in {- -} are left out here",
                "write the pattern without {- and -}, and leave rows out by CLASSIFIER() in a "
                "query around this one",
            )  # fmt: skip
        keys = [quote(self.table.column(name)) for name in self.clause.by]
        order = [quote(self.table.column(name)) for name in self.clause.order]
        return RowsOfMatch([*keys, NUMBER], [*order, *map(str, spec.computed)])

    def _check_call(self, parsed: ParsedCall) -> None:
        """Refuse CLASSIFIER() in an aggregate; in FIRST and LAST, it is of one of all rows."""
        rows = self.recognition.all_rows
        if rows and parsed.name in PLACES:
            return
        for n in range(parsed.at, parsed.end):
            one = self.tokens[n]
            if one.is_word("CLASSIFIER", "MATCH_NUMBER") and self.tokens[n + 1].text == "(":
                word, place = one.text.upper(), (parsed.at, parsed.end)
                listed = "" if rows else "ALL ROWS PER MATCH with "
                self.refuse(
                    place, f"has {word}() inside {parsed.name}(…)",
                    f"write {listed}{word}() AS x, and {parsed.name}(x) in a query around this one",
                )  # fmt: skip

    def _text_in_rows(self, at: int, end: int) -> str:
        """SQL of one row, with the column that CLASSIFIER() is there."""
        parts, n = [], at
        while n < end:
            if self.tokens[n].is_word(*_OF_MATCH) and self.tokens[n + 1].text == "(":
                parts += [self.reader.text_of(at, n), self._write_function(n)]
                at = n = self.tokens[n + 1].partner
                at += 1
            n += 1
        return " ".join([*parts, self.reader.text_of(at, end)])

    def _ask(self, parsed: ParsedCall) -> str:
        """The column of an aggregate, as SQL."""
        column = self._column_of((parsed.at, parsed.end), self._build(parsed))
        if not (offset := self._offset(parsed)):
            return column
        return f"get({column if parsed.name == 'first' else f'reverse({column})'}, {offset}).v"

    def _build(self, parsed: ParsedCall) -> Call:
        """The aggregate of a call; for ``LAST(a.x, 2)`` a list of the values, each in a struct."""
        argument: Callable[[str, tuple[str, ...]], Any] = self._argument
        named = self._variables_in(parsed)
        if len(named) > 1:
            name = parsed.name.upper()
            each = f"write {name}(a.x) and {name}(b.y), and compute with these"
            subset = "write SUBSET u = (a, b), and name u"
            self.refuse((parsed.at, parsed.end), "is of the rows of several variables",
                         each if parsed.name in PLACES else subset)  # fmt: skip
        offset = self._offset(parsed)
        if offset is not None:
            parsed = replace(parsed, arguments=parsed.arguments[:1])
        if offset:
            argument = self._argument_in_struct(ignoring=parsed.ignore_nulls)
            parsed = replace(parsed, name="collect_list", ignore_nulls=False)
        order = [self.table.column(name) for name in self.clause.order]
        call = self.reader.build(parsed, argument, order)
        return call.of(*next(iter(named))) if named else call

    def _argument_in_struct(self, *, ignoring: bool) -> Callable[[str, tuple[str, ...]], Any]:
        """What makes an argument a struct, which lists keep though the argument is null."""
        row = "named_struct('v', {x})"
        form = f"if({{x}} is null, null, {row})" if ignoring else row
        return lambda text, _: self._argument(fill(form, x=f"({text})"), ())

    def _offset(self, parsed: ParsedCall) -> int | None:
        """How many rows on ``LAST(a.x, 2)`` looks; None where it does not say."""
        if parsed.name not in PLACES or len(parsed.arguments) != 2:
            return None
        said = self.reader.one_line(*parsed.arguments[1])
        return int(said) if said.isdecimal() else None

    def _ask_last(self, path: tuple[str, ...], variables: tuple[str, ...], place: Place) -> str:
        """The column of a value in the last row, of variables or of the match, as SQL."""
        call = last(self.table.value(path))
        return self._column_of(place, call.of(*variables) if variables else call)

    def _column_of(self, place: Place, call: Call) -> str:
        words = tuple(one.folded for one in self.tokens[slice(*place)])
        if words not in self.asked:
            name = free_name(self.reader.one_line(*place), self.taken)
            self.taken.append(name)
            self.asked[words] = (place, name, call)
        return quote(self.asked[words][1])

    def _argument(self, text: str, parts: tuple[str, ...]) -> Any:
        """An argument of an aggregate, without the variable before it."""
        if len(parts) > 1 and parts[0].lower() in self.variables:
            parts = parts[1:]
        try:
            return self.table.argument(text, parts)
        except PySparkException as error:
            raise FanlightError(f"{join_name(parts) or text}: {say_reason(error)}") from error
