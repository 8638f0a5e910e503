"""``sql``: runs a text in the query language, and returns its DataFrame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.algebra.sql_text import has_substitution, in_backticks
from fanlight.engine.algebra.suggestions import CALLED
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import say_reason
from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import FanlightError, explain_wrong_calls, guess, refuse
from fanlight.language.flink import flink_windows
from fanlight.language.match_recognize import Recognition
from fanlight.language.query import Query, escape_braces, unescape_braces
from fanlight.language.running.recognition import RecognitionRun
from fanlight.language.running.select import SelectRun
from fanlight.language.running.table import OfTable, TextSource
from fanlight.language.select import Select
from fanlight.language.tokens import Place, error_at, unquote

_PLACE = re.compile(r"; line \d+,? pos \d+.*| ?\(line \d+, pos \d+\)")
_NAMED = re.compile(r"`(?:[^`]|``)+`")


@explain_wrong_calls("fl.sql('SELECT count(*) FROM bids [WATTR ts RANGE 1 HOUR]', bids=df)")
@in_kind
def sql(text: str, /, **tables: Any) -> DataFrame:
    """Query windows in SQL: the query language of the papers, with Spark SQL around it.

    Write the windows in brackets after the table of a SELECT,
    ``[WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE]``, or as in Flink,
    ``FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), …))``; and row patterns as in the standard,
    ``FROM bids MATCH_RECOGNIZE (…)``. Aggregates of :mod:`fanlight.agg` are computed over the
    windows; everything else is Spark SQL.

    Parameters
    ----------
    text
        One query. It may contain sub-queries, WITH and UNION, with windows in any of them.
    tables
        The DataFrames that the text names, batches or streams; other names are tables and views of
        the Spark session. Pass your own :class:`fanlight.algebra.Aggregate` by name, too.

    Returns
    -------
    DataFrame
        The selected columns, with one row per window and key; streaming if the source is.

    Raises
    ------
    FanlightError
        If the text cannot be read, with the line and the word; and as :func:`fanlight.over`.

    Examples
    --------
    >>> import fanlight as fl
    >>> bids = spark.sql("SELECT timestamp_seconds(id) AS ts, id % 2 AS item FROM range(120)")
    >>> fl.sql(
    ...     "SELECT item, count(*) AS bids FROM bids [WATTR ts RANGE 1 MINUTE] "
    ...     "GROUP BY item ORDER BY window, item", bids=bids,
    ... ).collect()
    [Row(item=0, bids=30), Row(item=1, bids=30), Row(item=0, bids=30), Row(item=1, bids=30)]
    >>> fl.sql("SELECT count(*) FROM bids [WATTR ts RNAGE 1 MINUTE]", bids=bids)
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: line 1, column 37: RNAGE is not expected here; write RANGE
        SELECT count(*) FROM bids [WATTR ts RNAGE 1 MINUTE]
                                            ^^^^^

    """
    check_text("sql", text, "fl.sql('SELECT … FROM bids [WATTR ts RANGE 4 MINUTES]', bids=bids)")
    frames: dict[str, DataFrame] = {}
    own: dict[str, Aggregate] = {}
    for name, value in tables.items():
        if is_of_spark(value):
            frames[name] = value
        elif isinstance(value, Aggregate):
            own[name.casefold()] = value
        else:
            raise refuse(
                f"sql(…, {name}={value!r})",
                "is neither a DataFrame nor an algebra.Aggregate",
                "pass what the text calls by this name",
            )
    query = Query(text, own)
    return _RunningText(query, frames, own).to_dataframe()


def explain(text: str, tables: Mapping[str, DataFrame], *, verbose: bool = False) -> str:
    """How a text over tables by name will run, and why: a page for each SELECT over windows.

    A text without windows has Spark's plan.
    """
    running = _RunningText(Query(text, {}), tables)
    result = running.to_dataframe()  # which refuses what is wrong
    selects, recognitions = running.query.selects_in_order(), running.query.recognitions
    found: list[tuple[Select | Recognition, SelectRun | RecognitionRun]] = [
        *((one, SelectRun(running, one)) for one in selects),
        *((one, running.run_of(one)) for one in recognitions),
    ]
    found.sort(key=lambda one: (one[0].at, -one[0].end))
    pages = [run.explain(verbose=verbose) for _, run in found]
    if not pages:
        (row,) = running.session.sql("EXPLAIN SELECT * FROM {df}", df=result).collect()
        return str(row[0])
    if len(pages) == 1:
        return pages[0]
    clauses = [(one.clause.start, one.clause.end) for one, _ in found]
    heads = [
        f"line {text.count(chr(10), 0, at) + 1}: {' '.join(text[at:end].split())}"
        for at, end in clauses
    ]
    return "\n\n".join(f"{head}\n\n{page}" for head, page in zip(heads, pages, strict=True))


class _RunningText(TextSource):
    """A text that is being run; each of its SELECTs over windows becomes a DataFrame."""

    def __init__(
        self,
        query: Query,
        frames: Mapping[str, DataFrame],
        own: Mapping[str, Aggregate] | None = None,
    ) -> None:
        self.query, self.own = query, own or {}
        self.frames = {name.casefold(): df for name, df in frames.items()}
        self.session = _session_of(frames)
        _check_settings(query, self.session)
        self.placeholders: dict[str, Any] = {}  # DataFrames by the names that SQL has for them
        self.rendered: dict[int, str] = {}  # SQL of SELECTs over windows, by position

    def to_dataframe(self) -> DataFrame:
        whole = (0, self.query.end)
        outer = self.query.outermost_selects(*whole)
        if len(outer) == 1 and (outer[0].at, outer[0].end) == whole:
            run = SelectRun(self, outer[0])
            if run.needs_no_sql:
                try:
                    with quietly():
                        return run.to_dataframe()
                except PySparkException as error:
                    raise self.spark_error_at(error, [whole]) from error
        return self.run_sql(self.render(*whole), [whole])

    def render(
        self, at: int, end: int, replacements: Mapping[int, tuple[int, str]] | None = None
    ) -> str:
        """SQL of a range of tokens, with each SELECT over windows replaced by its results."""
        matches = {
            one.at: (one.end, self._render_recognition(one))
            for one in self.query.outermost_recognitions(at, end)
        }
        selects = {
            one.at: (one.end, self._render_select(one))
            for one in self.query.outermost_selects(at, end)
            if not any(first <= one.at < last for first, (last, _) in matches.items())
        }
        return self.query.replace_parts(at, end, {**(replacements or {}), **selects, **matches})

    def run_of(self, recognition: Recognition) -> RecognitionRun:
        """A ``MATCH_RECOGNIZE`` that is being run."""
        return RecognitionRun(self, recognition, self.own)

    def _render_recognition(self, recognition: Recognition) -> str:
        """The placeholder of the matches."""
        if recognition.word not in self.rendered:
            df = self.run_of(recognition).to_dataframe()
            self.rendered[recognition.word] = self.placeholder_of(df)
        return self.rendered[recognition.word]

    def _render_select(self, select: Select) -> str:
        if select.at not in self.rendered:
            self.rendered[select.at] = SelectRun(self, select).to_sql()
        return self.rendered[select.at]

    def with_clause(self, select: OfTable) -> str:
        """SQL of the WITH clause that a SELECT sees. Empty if it sees no query."""
        parts = [self.render(*place) for _, place in select.visible]
        return f"WITH {', '.join(parts)} " if parts else ""

    def placeholder_of(self, df: DataFrame) -> str:
        """The placeholder of a DataFrame in SQL, ``{df0}``."""
        known = (name for name, other in self.placeholders.items() if other is df)
        name = next(known, f"df{len(self.placeholders)}")
        self.placeholders[name] = df
        return f"{{{name}}}"

    def given_table(self, name: Sequence[str], visible: Sequence[str]) -> DataFrame | None:
        """The DataFrame that the caller passed under a name, unless a query of WITH hides it."""
        plain = name[0].casefold()
        return self.frames.get(plain) if len(name) == 1 and plain not in visible else None

    def run_sql(self, text: str, places: Sequence[Place]) -> DataFrame:
        """The DataFrame of SQL rendered from these parts; tables they mention go into a WITH."""
        mentioned = {name for place in places for name in self._mentioned_names(*place)}
        tables = [
            f"{escape_braces(in_backticks(name))} AS (SELECT * FROM {self.placeholder_of(df)})"
            for name, df in self.frames.items()
            if name in mentioned
        ]
        whole = f"WITH {', '.join(tables)} (\n{text}\n)" if tables else text
        try:
            with quietly():
                if not self.placeholders:  # then Spark formats nothing: braces are literal
                    return self.session.sql(unescape_braces(whole))
                return self.session.sql(whole, **self.placeholders)
        except PySparkException as error:
            raise self.spark_error_at(error, places) from error
        except Exception as error:
            if type(error).__name__ != "DecodeError":
                raise
            raise refuse(
                "this query",
                "has a plan that is nested deeper than Spark Connect can return",
                "do ORDER BY, LIMIT and what is around the windows by methods of the DataFrame",
            ) from error

    def _mentioned_names(self, at: int, end: int) -> list[str]:
        """Names where a table may stand, outside of the tables of SELECTs over windows."""
        own = [one for one in self.query.selects if at <= one.at and one.end <= end]
        aside = [(one.relation[0], (one.having or one.tail)[0]) for one in own]
        inner = [one for one in self.query.recognitions if at <= one.at and one.end <= end]
        aside += [(one.at, one.end) for one in inner]
        tokens = self.query.tokens
        before = ("FROM", "JOIN", "TABLE")
        return [
            one.folded
            for n, one in enumerate(tokens[at:end], at)
            if n
            and one.is_name
            and not any(first <= n < last for first, last in aside)
            and (tokens[n - 1].is_word(*before) or tokens[n - 1].text in (",", "("))
        ]

    def spark_error_at(self, error: PySparkException, places: Sequence[Place]) -> FanlightError:
        """Spark's error about a query, pointing at the name that Spark mentions."""
        tokens, text = self.query.tokens, self.query.text
        message = _PLACE.sub("", say_reason(error))
        names = [unquote(name).casefold() for name in _NAMED.findall(message)[:1]]
        if message.startswith("[PARSE_SYNTAX_ERROR]"):
            for place in places:
                self.query.select_reader.refuse_misspelt(*place)
        if names and message.startswith("[UNRESOLVED_ROUTINE]"):
            message += self._advise_function(names[0])
        for at, end in places:
            for number, one in enumerate(tokens[at:end], at):
                if one.is_name and one.folded in names:
                    if message.startswith("[UNRESOLVED_COLUMN"):
                        message += self.query.call_reader.advise_around(number)
                    return error_at(text, one.start, one.end, f"Spark says: {message}")
        at, end = places[0]
        return error_at(text, tokens[at].start, tokens[at].end, f"Spark says: {message}")

    def _advise_function(self, name: str) -> str:
        """What to write instead of a function that Spark does not know, after its message."""
        windows = flink_windows()
        if window := guess(name, windows, 0.75):
            return f"; fanlight has it as a table: FROM TABLE({windows[window].form})"
        call = CALLED.get(name.replace("_", ""), "").partition("(")[0]
        meant = call or guess(name, self.query.call_reader.names, 0.7)
        return f"; did you mean {meant}?" if meant else ""


def _check_settings(query: Query, session: SparkSession) -> None:
    """Refuse ``${…}``, which Spark replaces by a setting's value, even in quotes and names."""
    if str(session.conf.get("spark.sql.variable.substitute", "true")).lower() != "true":
        return
    for one in query.tokens:
        if has_substitution(one.text):
            raise error_at(
                query.text, one.start, one.end,
                "Spark replaces ${…} by the value of a setting or environment variable, even in "
                "names and strings; write the value, rename the column, or switch that off: "
                "spark.conf.set('spark.sql.variable.substitute', False)",
            )  # fmt: skip


def _session_of(frames: Mapping[str, DataFrame]) -> SparkSession:
    """The session of the DataFrames; without any, the active session."""
    sessions = [df.sparkSession for df in frames.values()]
    active = sessions[0] if sessions else SparkSession.getActiveSession()
    if active is None:
        raise refuse(
            "sql(text)", "has no Spark session to run in", "create one, or pass a DataFrame by name"
        )
    return active
