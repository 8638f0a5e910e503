"""Running a ``MATCH_RECOGNIZE``: its matches, with their measures, as a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.algebra.library.in_order import collect_list
from fanlight.engine.algebra.sql_text import literal, quote
from fanlight.engine.spark.ordered.frames import CLASSIFIER
from fanlight.engine.spark.over import over
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, expr_as, free_name, is_taken
from fanlight.engine.spec.errors import FanlightError, advise_choice
from fanlight.engine.spec.frames.pattern import PatternFrame
from fanlight.engine.spec.frames.row_patterns import names_in
from fanlight.language.calls import parse_string
from fanlight.language.error_translation import ArgumentSpan
from fanlight.language.match_recognize import (
    Measure,
    Recognition,
)
from fanlight.language.recognition_text import translate_recognition_errors
from fanlight.language.running.measures import NUMBER, Measures
from fanlight.language.running.table import Table, TextSource, read_rows
from fanlight.language.tokens import (
    Place,
    refusal_at,
    unquote,
)

_UNKNOWN = re.compile(r"UNRESOLVED_COLUMN.*?with name (`(?:[^`]|``)+`)")


class RecognitionRun:
    """A ``MATCH_RECOGNIZE`` that is being run."""

    def __init__(
        self, source: TextSource, recognition: Recognition, own: Mapping[str, Aggregate]
    ) -> None:
        self.source, self.recognition, self.clause = source, recognition, recognition.clause
        self.query, self.tokens = source.query, source.query.tokens
        self.table = Table(read_rows(source, recognition))
        self.measures = Measures(self.query, recognition, self.table, own)
        self._refuse_quoted_columns()

    def to_dataframe(self) -> DataFrame:
        """The columns of PARTITION BY and the measures; or of all rows all columns, too."""
        if self.recognition.all_rows:
            return self._list_rows()
        texts = [(self.measures.write(one), one) for one in self.recognition.measures]
        with self._translated(self._spans_of_calls()):
            windows = self._bind()
            calls = [call.alias(name) for _, name, call in self.measures.asked.values()]
            found = windows.agg(*calls) if calls else windows.frames()
        keys = list(found.columns[: len(self.clause.by)])
        columns = [expr(found, quote(name)) for name in keys]
        return self._select(found, columns, texts)

    def explain(self, *, verbose: bool) -> str:
        """The page of the windows and of their measures."""
        for one in self.recognition.measures if not self.recognition.all_rows else ():
            self.measures.write(one)
        calls = [call.alias(name) for _, name, call in self.measures.asked.values()]
        page: str = self._bind().explain(*calls, verbose=verbose)
        return page

    def _list_rows(self) -> DataFrame:
        """The rows of the matches, and if asked for those of none, whose measures are null."""
        texts = [(self.measures.write(one), one) for one in self.recognition.measures]
        given = self.table.df.columns
        for name in (NUMBER, CLASSIFIER):
            if is_taken(self.table.df, name, given):
                word = self.recognition.word
                self.measures.refuse(
                    (word, word + 1), f"lists rows with a column {name}, as the table has",
                    "rename yours in a sub-query",
                )  # fmt: skip
        with self._translated(self.clause.spans):
            spec: Any = self.clause.spec
            found = self._rows_of_each() if spec.overlapping else self._bind().rows()
        matched = f"{NUMBER} is not null"
        if self.recognition.unmatched:
            texts = [(f"case when {matched} then {text} end", one) for text, one in texts]
        else:
            found = found.where(expr(found, matched))
        first = [self.table.column(name) for name in (*self.clause.by, *self.clause.order)]
        shown = [name for name in dict.fromkeys(first) if name in given]
        for one in self.recognition.measures:
            if is_taken(found, one.name, given):
                why = f"is called {one.name}, as a column of the table is"
                self.measures.refuse(one.place, why, "give it another name")
        columns = [expr(found, quote(name)) for name in shown]
        rest = [expr(found, quote(name)) for name in given if name not in shown]
        if not self.recognition.left_out:
            return self._select(found, columns, texts, rest)
        # Measures are of all rows of a match, so that some are left out last.
        listed = free_name("listed", [*given, *(one.name for one in self.recognition.measures)])
        names = ", ".join(map(literal, self.recognition.left_out))
        text = f"not coalesce({CLASSIFIER} in ({names}), false)"
        result = self._select(found, columns, texts, [*rest, expr_as(found, text, listed)])
        return result.where(expr(result, quote(listed))).drop(listed)

    def _rows_of_each(self) -> DataFrame:
        """The rows of each match, where a row may be in several: lists of them, told apart."""
        given, spec = self.table.df.columns, cast("PatternFrame", self.clause.spec)
        row = self.table.argument(f"struct({', '.join(map(quote, given))})", ())
        names = names_in(spec.part)
        called = [free_name(f"rows_{n}", self.measures.taken) for n in range(len(names))]
        lists = [
            collect_list(row).of(one).alias(name) for one, name in zip(names, called, strict=True)
        ]
        found: DataFrame = self._bind().agg(*lists)
        told = [
            f"transform({quote(name)}, x -> named_struct('name', {literal(one)}, 'row', x))"
            for one, name in zip(names, called, strict=True)
        ]
        each = found.select(
            expr(found, NUMBER), expr_as(found, f"explode(concat({', '.join(told)}))", "listed")
        )
        return each.select(
            *(expr_as(each, f"listed.row.{quote(name)}", name) for name in given),
            expr(each, NUMBER), expr_as(each, "listed.name", CLASSIFIER),
        )  # fmt: skip

    def _select(
        self,
        found: DataFrame,
        before: list[Any],
        texts: Sequence[tuple[str, Measure]],
        after: Sequence[Any] = (),
    ) -> DataFrame:
        try:
            with quietly():
                measures = [expr_as(found, text, one.name) for text, one in texts]
                result = found.select(*before, *measures, *after)
                result.schema  # noqa: B018 - Connect looks only now
        except PySparkException as error:
            raise self._error_of(error, found, texts) from error
        return result

    def _error_of(
        self, error: PySparkException, found: DataFrame, texts: Sequence[tuple[str, Measure]]
    ) -> FanlightError:
        """Spark's error about a measure, pointing at what it is about."""
        place = self._place_of(found, texts)
        unknown = _UNKNOWN.search(str(error))
        for n in range(*place) if unknown else ():
            if unknown and self.tokens[n].folded == unquote(unknown[1]).casefold():
                given = self.table.df.columns
                return refusal_at(
                    self.query.text, self.tokens[n].start, self.tokens[n].end,
                    self.tokens[n].text, "is not a column of the table",
                    advise_choice(self.tokens[n].name, given),
                )  # fmt: skip
        return self.source.spark_error_at(error, [place])

    def _place_of(self, found: DataFrame, texts: Sequence[tuple[str, Measure]]) -> Place:
        """The measure that Spark refuses."""
        for text, one in texts:
            try:
                with quietly():
                    found.select(expr_as(found, text, one.name)).schema  # noqa: B018
            except PySparkException:
                return one.place
        return self.recognition.word, self.recognition.word + 1

    def _bind(self) -> Any:
        clause, column = self.clause, self.table.column
        return over(
            self.table.df, clause.spec, time=column(clause.time[0]),
            by=[column(name) for name in clause.by],
            tiebreak=[column(name) for name in clause.tiebreak], forget_after=clause.forget_after,
        )  # fmt: skip

    def _translated(self, spans: Sequence[ArgumentSpan]) -> AbstractContextManager[None]:
        clause = self.clause
        return translate_recognition_errors(self.query.text, spans, clause.start, clause.end)

    def _spans_of_calls(self) -> list[ArgumentSpan]:
        """Where the arguments of the API stand; and the aggregates, which errors call by name."""
        own = [
            ArgumentSpan(name, self.tokens[at].start, self.tokens[end - 1].end, name)
            for (at, end), name, _ in self.measures.asked.values()
        ]
        return [*self.clause.spans, *own]

    def _refuse_quoted_columns(self) -> None:
        """Refuse ``"price"``, a text that others than Spark take for a column."""
        for n in range(self.recognition.word, self.recognition.end):
            text = self.tokens[n].text
            name = parse_string(text) if text.startswith('"') else ""
            if name in self.table.df.columns and name.lower() not in self.recognition.variables:
                self.measures.refuse(
                    (n, n + 1), "is a text in Spark's SQL, and a column has that name",
                    f"write {quote(name)} for the column, {literal(name)} for the text",
                )  # fmt: skip
