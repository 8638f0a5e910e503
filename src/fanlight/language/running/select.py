"""Running a SELECT over windows: its results, and the SQL that selects from them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.library import count
from fanlight.engine.algebra.sql_text import in_backticks, quote
from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import TRAILED
from fanlight.engine.kinds.options import find_option
from fanlight.engine.spark.over import over
from fanlight.engine.spark.sql import expr, free_name, is_taken
from fanlight.engine.spark.windows.frames import FrameWindows
from fanlight.engine.spec.episode import Episode
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.trailing import name_column, read_labelled
from fanlight.language.calls import ParsedCall
from fanlight.language.clause import Name
from fanlight.language.error_translation import ArgumentSpan, translate_errors
from fanlight.language.query import escape_braces, unescape_braces
from fanlight.language.running.table import (
    Keys,
    Table,
    TextSource,
    find_table,
    outputs_of,
    table_of,
)
from fanlight.language.select import Item, Select
from fanlight.language.tokens import Place, read_path, refusal_at

Replacements = dict[int, tuple[int, str]]  # replacements in the text: {from: (to, by what)}
# Verbs that bring levels together, as errors call them where they are asked of nothing.
_COMPARED = {
    "wide": ("WIDE", "has nothing to put side by side"),
    "bursts": ("BURSTS", "has nothing to compare"),
}
_WHOLE = ("fit", "recurring", "detect")  # verbs that take no aggregates beside them


class SelectRun:
    """A SELECT over windows that is being run."""

    def __init__(self, source: TextSource, select: Select) -> None:
        self.source, self.select, self.clause = source, select, select.clause
        self.query = source.query
        self.tokens, self.call_reader = self.query.tokens, self.query.call_reader
        self.calls = self._find_calls()
        kind = kind_of(self.clause.spec)
        self.is_trailing = kind is not None and kind.family is TRAILED
        self.labels = self._read_labels()
        self.table = table_of(source, select)
        self.keys = Keys(self.query, select, self.table, self.calls).resolve()
        self._check_request()
        self._check_labels()

    def _read_labels(self) -> tuple[str, ...]:
        """The labels of the windows or levels that an aggregate has a column for."""
        spec, verb = self.clause.spec, self.clause.verb
        if verb is not None and verb.name == "wide":
            several: Any = spec.ranges if isinstance(spec, MultiGranular) else spec
            return tuple(str(place) for place, _ in enumerate(several))
        return read_labelled(spec).labels if self.is_trailing else ("",)

    def _find_calls(self) -> dict[int, ParsedCall]:
        """The aggregate calls by position."""
        places = [item.place for item in self.select.items]
        places += [self.select.having or (0, 0), self.select.tail]
        return {call.at: call for place in places for call in self.call_reader.find_calls(*place)}

    def _check_request(self) -> None:
        """Refuse what reads well, but asks for nothing or for two things at once."""
        clause, verb, grouped = self.clause, self.clause.verb, self.select.keys is not None
        first, refusal = (self.select.at, self.select.at + 1), self.query.select_reader.refusal
        if clause.bounds and not grouped:
            raise refusal(
                first, "over windows has no GROUP BY", "write GROUP BY window_start, window_end"
            )
        if verb is not None and verb.name in _WHOLE and self.calls:
            call = self.calls[min(self.calls)]
            raise refusal(
                (call.at, call.end), f"cannot be computed beside {verb.name.upper()}",
                "write a query for each",
            )  # fmt: skip
        self._check_compared()
        widening = next((span for span in clause.spans if span.argument == "WIDENING"), None)
        if widening is not None and verb is None:
            raise refusal_at(
                self.query.text, widening.start, widening.end, "WIDENING",
                "needs a pattern to detect",
                "write for example DETECT 'login; logout' EVENT what after it",
            )  # fmt: skip
        framed = isinstance(clause.spec, Frame)
        if verb is None and not (self.calls or grouped or framed):
            places = [item.place for item in self.select.items]
            misspelt = next(
                filter(None, (self.call_reader.find_misspelt(*place) for place in places)), None
            )
            if misspelt is not None:
                at, name = misspelt
                raise refusal((at, at + 1), "is not an aggregate", f"write {name}")
            raise refusal(
                first, "computes nothing over its windows",
                "write an aggregate, for example count(*), or GROUP BY window",
            )  # fmt: skip

    def _check_compared(self) -> None:
        """Refuse levels side by side or compared without an aggregate; bursts have only one."""
        verb = self.clause.verb
        if verb is None or verb.name not in _COMPARED:
            return
        if not self.calls:
            word = next(span for span in self.clause.spans if span.argument == f"{verb.name} ")
            raise refusal_at(
                self.query.text, word.start, word.end, *_COMPARED[verb.name],
                "write an aggregate, for example count(*)",
            )  # fmt: skip
        first = self._words_of(min(self.calls))
        other = next((at for at in sorted(self.calls) if self._words_of(at) != first), None)
        if verb.name == "bursts" and other is not None:
            raise self.query.select_reader.refusal(
                (other, self.calls[other].end),
                "is a second aggregate, and BURSTS compares the rate of one",
                "write a query for each",
            )  # fmt: skip

    def _words_of(self, at: int) -> tuple[str, ...]:
        """The words of the call at a position; calls of the same words are equal."""
        call = self.calls[at]
        return tuple(one.folded for one in self.tokens[call.at : call.end])

    def _check_labels(self) -> None:
        """Refuse an aggregate outside of the selected items that has a column for each window."""
        if len(self.labels) == 1:
            return
        select = self.select
        for at, call in self.calls.items():
            if not any(item.at <= at < item.end for item in select.items):
                raise self.query.select_reader.refusal(
                    (at, call.end), "has a column for each of these windows",
                    f"name it, AS x, and use x_{self.labels[0]} in a query around this one",
                )  # fmt: skip

    def to_sql(self) -> str:
        """SQL that selects from the results, which it names by a placeholder."""
        result, items, replacements = self._compute()
        quantifier = f"{self.select.quantifier} " if self.select.quantifier else ""
        text = f"SELECT {quantifier}{', '.join(items)} FROM {self.source.placeholder_of(result)}"
        if self.select.alias:
            text += f" AS {escape_braces(self.select.alias)}"
        if self.select.having is not None:
            text += f"\nWHERE {self.source.render(*self.select.having, replacements)}\n"
        return f"{text} {self.source.render(*self.select.tail, replacements)}"

    @property
    def needs_no_sql(self) -> bool:
        """Whether ``where`` and ``select`` of a DataFrame can do all that follows the windows."""
        select = self.select
        places = [*(item.place for item in select.items), select.having or (0, 0)]
        nested = any(self.call_reader.opens_subquery(n) for place in places for n in range(*place))
        return (
            not (nested or select.quantifier or select.visible) and select.tail[0] == select.tail[1]
        )

    def to_dataframe(self) -> DataFrame:
        """The result without SQL text around it, for a SELECT that needs none."""
        result, items, replacements = self._compute()
        df = result.alias(self.table.alias) if self.table.alias else result
        if self.select.having is not None:
            df = df.where(
                expr(df, unescape_braces(self.source.render(*self.select.having, replacements)))
            )
        df = df.select(*[expr(df, unescape_braces(item)) for item in items])
        df.schema  # noqa: B018 - Connect looks only now
        return df

    def explain(self, *, verbose: bool) -> str:
        """The page of the windows and the aggregates, which have the names that are selected."""
        windows = self._bind_windows()
        calls, asked = self._build_calls(), dict[str, Call]()
        named = {one.place: one.name for one in self.select.items if one.name}
        taken = [*outputs_of(self.select), *(str(key.by) for key in self.keys)]
        taken += self.table.df.columns if self.is_trailing else []
        for at, column in self._name_calls().items():
            if column not in asked:  # names may repeat in SQL, which columns of results may not
                name = free_name(named.get((at, self.calls[at].end), calls[at].label), taken)
                asked[column] = calls[at].alias(name)
                taken.append(name)
        windows = self._fill(windows) if self._is_fill else windows
        page: str = windows.explain(*asked.values(), verbose=verbose)
        return page

    def _compute(self) -> tuple[DataFrame, list[str], Replacements]:
        """The windows' results, SQL of the selected items, and the replacements made in it."""
        text, clause = self.query.text, self.clause
        with translate_errors(
            text, self._argument_spans(), clause.start, clause.end, self._argument_words
        ):
            windows = self._bind_windows()
        calls = self._build_calls()
        names = self._name_calls()
        with self._point_at_call(names):
            wanted = {name: calls[at].alias(name) for at, name in names.items()}
            result = self._compute_result(windows, list(wanted.values()))
        if clause.bounds:
            ends = ("window.start as window_start", "window.end as window_end")
            result = result.selectExpr("*", *ends)
        keys: Replacements = {}
        for item in self.select.items:
            keys |= self._replace_keys(item.place, result)
        for place in (self.select.having, self.select.tail):
            keys |= self._replace_keys(place, result) if place else {}
        by_label = {label: keys | self._replace_calls(names, label) for label in self.labels}
        own = {name_column(name, label) for name in names.values() for label in self.labels}
        rest = [name for name in result.columns if name not in own]
        items = [
            one
            for item in self.select.items
            for one in self._render_item(item, by_label, calls, rest)
        ]
        first = by_label[self.labels[0]]
        return result, items, {**self._replace_aliases(result, by_label), **first}

    def _replace_aliases(
        self, result: DataFrame, by_label: Mapping[str, Replacements]
    ) -> Replacements:
        """Replacements for aliases in HAVING, by what they stand for; names of keys come first."""
        known: dict[str, list[str]] = {}
        for item in self.select.items:
            for label, replacements in by_label.items() if item.name else ():
                text = f"({self.source.render(*item.place, replacements)})"
                known.setdefault(name_column(item.name, label).casefold(), []).append(text)
        found: Replacements = {}
        at, end = self.select.having or (0, 0)
        while at < end:
            one = self.tokens[at]
            alone = not (
                self.tokens[at - 1].is_symbol(".") or self.tokens[at + 1].is_symbol(".", "(")
            )
            texts = known.get(one.folded, []) if one.is_name and alone else []
            if len(texts) == 1 and not is_taken(self.table.df, one.name, result.columns):
                found[at] = (at + 1, texts[0])
            at = one.partner if self.call_reader.opens_subquery(at) else at + 1
        return found

    def _replace_calls(self, names: Mapping[int, str], label: str) -> Replacements:
        """Replacements for the calls, by the names of their columns for the window of a label."""
        return {
            at: (self.calls[at].end, escape_braces(quote(name_column(name, label))))
            for at, name in names.items()
        }

    @property
    def _is_fill(self) -> bool:
        return self.clause.verb is not None and self.clause.verb.name == "fill"

    # Computing the results.

    def _bind_windows(self) -> Any:
        clause, column = self.clause, self.table.column
        time = tuple(column(name) for name in clause.time)
        arguments: dict[str, Any] = {
            "time": time if len(time) > 1 else time[0],
            "by": [key.by for key in self.keys],
            "tiebreak": [column(name) for name in clause.tiebreak],
            "late": clause.late,
            "forget_after": clause.forget_after,
        }
        windows: Any = over(self.table.df, clause.spec, **arguments)
        for verb, given in clause.options.items():
            named = find_option(verb).columns
            asked = {name: column(one) if name in named else one for name, one in given.items()}
            windows = windows._ask(verb, **asked)  # noqa: SLF001 - of this house
        if clause.strategy == "auto" and not clause.hints:
            return windows
        known = inspect.signature(windows.using).parameters
        for hint in clause.hints:
            if hint not in known:
                raise refuse(hint.upper(), "is not a hint for these windows", "leave it out")
        return windows.using(clause.strategy, **clause.hints)

    def _build_calls(self) -> dict[int, Call]:
        """The aggregates by the positions of their calls."""
        table = self._other_table() if self._is_fill else self.table
        argument, order = table.argument, self._order_of_rows()
        for call in self.calls.values():
            self._check_no_outputs(call, table)
        return {
            at: self.call_reader.build(call, argument, order) for at, call in self.calls.items()
        }

    def _check_no_outputs(self, call: ParsedCall, table: Table) -> None:
        """Refuse an aggregate of what the results alone have, such as ``window``."""
        for at in range(call.at + 1, call.end):
            one, path = self.tokens[at], self.tokens[at - 1].is_symbol(".")
            output = one.is_name and is_taken(table.df, one.name, outputs_of(self.select))
            if output and not path and not is_taken(table.df, one.name, table.df.columns):
                raise self.query.select_reader.refusal(
                    (at, at + 1), "is of the results, and no column of the table",
                    f"write a query around this one, as in SELECT max({one.name}) FROM "
                    f"(SELECT {one.name}, count(*) FROM … [WATTR …])",
                )  # fmt: skip

    def _order_of_rows(self) -> list[str]:
        """The columns that order the rows of aggregates. Empty for events that last."""
        clause = self.clause
        if clause.verb is not None and clause.verb.name == "fill":
            return [self._other_table().column(clause.verb.arguments["on"])]
        one = len(clause.time) == 1
        return [self.table.column(name) for name in (*clause.time, *clause.tiebreak) if one]

    @property
    def _argument_words(self) -> dict[str, str]:
        """The words for arguments of the API; keys are GROUP BY's where there is one."""
        own = self._is_fill or self.clause.by or self.select.keys is None
        return {**self.clause.words, **({} if own else {"by": "GROUP BY"})}

    def _argument_spans(self) -> list[ArgumentSpan]:
        """Where the arguments of the API stand: in the clause, and in GROUP BY."""
        ranges = [(self.tokens[at].start, self.tokens[end - 1].end) for at, end in
                 self.select.keys or ()]  # fmt: skip
        keys = [ArgumentSpan("by", start, end, self.query.text[start:end]) for start, end in ranges]
        return [*self.clause.spans, *keys]

    def _other_table(self) -> Table:
        """The table that FILL takes rows from."""
        verb, clause = self.clause.verb, self.clause
        name: Name = verb.arguments["other"] if verb else ()
        where = next(span for span in clause.spans if span.argument == "other")
        df = find_table(self.source, self.select, name, (where.start, where.end))
        if df is None:
            raise self.query.select_reader.refusal(
                (self.select.at, self.select.at + 1), f"fills from {name[-1]}, a query of WITH",
                "pass it as a DataFrame: fl.sql(text, gps=df)",
            )  # fmt: skip
        return Table(df, name[-1])

    def _name_calls(self) -> dict[int, str]:
        """The result columns of the calls by position; equal calls share a column."""
        given = self.table.df.columns
        taken = [*outputs_of(self.select), *given, *map(str, self.keys)]
        taken += [
            name.removesuffix(name_column("", label)) for name in given for label in self.labels
        ]
        known: dict[tuple[str, ...], str] = {}
        columns = {}
        for at, call in self.calls.items():
            words = self._words_of(at)
            if words not in known:
                known[words] = free_name(self.call_reader.one_line(call.at, call.end), taken)
                taken.append(known[words])
            columns[at] = known[words]
        return columns

    def _compute_result(self, windows: Any, calls: Sequence[Call]) -> DataFrame:
        verb, grouped = self.clause.verb, self.select.keys is not None
        result: DataFrame
        if verb is None:
            if calls:
                result = windows.attach(*calls) if self.is_trailing else windows.agg(*calls)
            elif isinstance(windows, FrameWindows):
                result = windows.frames() if grouped else windows.rows()
            else:  # only the windows themselves
                name = free_name("rows", (*outputs_of(self.select), *self.table.df.columns))
                result = windows.agg(count().alias(name)).drop(name)
            return result
        method = getattr(windows, verb.name)
        arguments = dict(verb.arguments)
        if verb.name in ("fit", "recurring"):
            result = method(self.table.column(arguments.pop("column")), **arguments)
        elif verb.name == "detect":
            named = {
                name: self.table.column(parts)
                for name, parts in arguments.items()
                if name != "text"
            }
            result = method(Episode(arguments["text"], **named))
        elif verb.name in _COMPARED:
            result = method(*arguments.values(), *calls)
        elif verb.name in ("split", "accumulate"):
            result = method(arguments.pop("every"), *calls, **arguments)
        else:
            filled = self._fill(windows)
            result = filled.agg(*calls) if calls else filled.rows()
        return result

    def _fill(self, windows: Any) -> Any:
        """The frames, filled with the rows of the other table."""
        other, given = self._other_table(), self.clause.verb.arguments if self.clause.verb else {}
        by = [other.column(name) for name in given["by"]] if "by" in given else None
        known = ("max_duration", "how", "own")
        more = {name: given[name] for name in known if name in given}
        return windows.fill(other.df, time=other.column(given["on"]), by=by, **more)

    @contextmanager
    def _point_at_call(self, names: Mapping[int, str]) -> Iterator[None]:
        """An error raised inside points at the call that it names, else at the selected items."""
        try:
            yield
        except FanlightError as error:
            spans = self._argument_spans()
            for at, name in names.items():
                if str(error).startswith(name):
                    place = (at, self.calls[at].end)
                    first, last = self.tokens[at + 2].start, self.tokens[place[1] - 1].end
                    spans = [ArgumentSpan(name, first, last, whole=False)]
                    break
            else:
                place = (self.select.at, self.select.items[-1].end)
            start, end = self.tokens[place[0]].start, self.tokens[place[1] - 1].end
            with translate_errors(self.query.text, spans, start, end, self._argument_words):
                raise

    # Selecting from the results.

    def _replace_keys(self, place: Place, result: DataFrame) -> Replacements:
        """Replacements for keys that are expressions, by the names of their result columns."""
        replacements: Replacements = {}
        if self.is_trailing:  # results have the columns of which keys are made
            return replacements
        columns = {key.words: name for key, name in zip(self.keys, result.columns, strict=False)}
        at, end = place
        while at < end:
            for words, name in columns.items():
                stop = at + len(words)
                if len(words) > 1 and stop <= end and self._matches(at, words):
                    replacements[at] = (stop, escape_braces(quote(name)))
                    at = stop - 1
                    break
            else:
                at = self.calls[at].end - 1 if at in self.calls else at
            at += 1
        return replacements

    def _matches(self, at: int, words: Sequence[str]) -> bool:
        tokens, stop = self.tokens, at + len(words)
        same = all(one.folded == word for one, word in zip(tokens[at:stop], words, strict=True))
        return same and not tokens[at - 1].is_symbol(".") and not tokens[stop].is_symbol("(")

    def _render_item(
        self,
        item: Item,
        by_label: Mapping[str, Replacements],
        calls: Mapping[int, Call],
        rest: Sequence[str],
    ) -> list[str]:
        """SQL of a selected item; ``*`` is all columns but those of aggregate calls.

        An item with an aggregate is a column for each of the windows that have labels.
        """
        at, end = item.place
        star = self.tokens[end - 1].is_symbol("*") and (
            end - at == 1 or (end - at == 3 and self.tokens[at + 1].is_symbol("."))
        )
        if star:
            return [escape_braces(quote(name)) for name in rest]
        first = by_label[self.labels[0]]
        if not (item.name or any(at <= one < end for one in first)):
            self._check_known(item, rest)
            return [self.source.render(at, end, first)]
        name = item.name or self._name_item(item, first, calls)
        each = by_label if any(at <= one < end for one in calls) else {"": first}
        return [
            f"{self.source.render(at, end, replacements)} AS "
            f"{escape_braces(in_backticks(name_column(name, label)))}"
            for label, replacements in each.items()
        ]

    def _name_item(self, item: Item, replacements: Replacements, calls: Mapping[int, Call]) -> str:
        """The name of a selected item without an alias."""
        at, end = item.place
        call = calls.get(at)
        name = self.call_reader.one_line(at, end)
        plain = call is not None and not (call.conditions or self.calls[at].ordering)
        if call is not None and plain and self.calls[at].end == end and all(
            isinstance(column, str) for column in call.columns
        ):  # fmt: skip
            name = call.label
        elif at in replacements and replacements[at][0] == end and call is None:  # it is a key
            name = self.tokens[end - 1].name if self._is_path(at, end) else name
        return name

    def _check_known(self, item: Item, rest: Sequence[str]) -> None:
        """Refuse a column of the table that the results do not have."""
        parts, after = read_path(self.tokens, *item.place)
        known = [*rest, *(other.name for other in self.select.items), self.table.alias]
        df = self.table.df
        if parts and after == item.end and not is_taken(df, parts[0], known):
            raise self.query.select_reader.refusal(
                item.place, "is neither a key nor a column of the windows' results",
                f"add it to GROUP BY, or write an aggregate, for example max({parts[0]}); the "
                f"results have {', '.join(rest)}",
            )  # fmt: skip

    def _is_path(self, at: int, end: int) -> bool:
        return all(one.is_name or one.is_symbol(".") for one in self.tokens[at:end])
