"""Windows that have all that belongs to them: those that began before the data are left out.

They are chosen from results, whatever computed these. When the first row of a key is comes as one
more row of its results; no table is joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.library import count
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.plan.request import Event
from fanlight.engine.plan.row_ends import LastRows
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.binding.source import column_of
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.placed.instants import read_instant
from fanlight.engine.spark.sql import expr, expr_as, free_name, group_rows, project
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import refuse

_EXAMPLE = "complete='2025-03-01T00:00:00Z'"


@dataclass(frozen=True)
class Complete:
    """Which windows are complete: those with all their rows, or none of it before an instant.

    ``since`` is SQL; without it, it is when the first row of the key is. ``counted`` is the column
    of the number of rows, where windows have so many.
    """

    since: str = ""
    counted: str = ""

    @property
    def calls(self) -> dict[str, Call]:
        """What has to be asked, too, to know it."""
        return {self.counted: count()} if self.counted else {}


def read_complete(bound: Placed, given: Any) -> Complete | None:
    """The argument of ``agg``, checked; None if all windows are wanted."""
    if isinstance(given, bool):
        if not given:
            return None
        _check_reports(bound, given)
        if _holds_so_many(bound):
            return Complete(counted=free_name("rows of the window", _taken(bound)))
        if bound.df.isStreaming:
            raise refuse(
                "complete=True",
                "needs the first row of each key, which a stream does not keep",
                f"write when the data begin: {_EXAMPLE}",
            )
        return Complete()
    if bound.coordinate.counted:
        check_flag("complete", given)
    _check_reports(bound, given)
    asked, instead = f"complete={given!r}", f"write complete=True, or {_EXAMPLE}"
    return Complete(since=read_instant(bound.coordinate, given, asked, instead)[1])


def _check_reports(bound: Placed, given: Any) -> None:
    """Refuse reports that say something of those that would be left out."""
    for wrong, what in (
        (bound.changes_only, "changes_only=True"),
        (bound.weights is not None and bound.event.ordered, "weights"),
    ):
        if wrong:
            why = f"does not go with {what}, whose reports are counted or compared otherwise"
            raise refuse(f"complete={given!r}", why, "leave one of them out")


def _holds_so_many(bound: Placed) -> bool:
    """Whether a window is complete when it has so many rows."""
    return bound.event is Event.COUNTED or isinstance(bound.row_ends, LastRows)


def _taken(bound: Placed) -> list[str]:
    return [*bound.df.columns, *bound.names, *bound.window_columns]


def keep_complete(bound: Placed, results: DataFrame, complete: Complete) -> DataFrame:
    """The results of complete windows, and late rows, which are in none."""
    window, names = quote("window"), results.columns
    if complete.counted:
        ends = bound.row_ends
        sizes = [ends.count] if isinstance(ends, LastRows) else [g.range for g in bound.grids]
        full = f"{quote(complete.counted)} = {_by_label(bound, sizes)}"
        names = [name for name in names if name != complete.counted]
    elif complete.since:
        full = f"{window}.start >= {complete.since}"
    else:
        first = free_name("first row", _taken(bound))
        results = _add_first_rows(bound, results, first)
        full = f"{window}.start >= {quote(first)}"
    if bound.since is not None and not complete.counted:
        start, end = (coordinate(bound.coordinate, f"{window}.{one}") for one in ("start", "end"))
        full += f" and {end} - {start} = {_by_label(bound, [g.range for g in bound.grids])}"
    rows = results.filter(f"{full} or {window} is null" if bound.collects else full)
    return rows.select(*(expr(rows, quote(name)) for name in names))


def _by_label(bound: Placed, values: list[int]) -> str:
    """SQL: one of several numbers, by the label of the query."""
    if not bound.query_columns:
        return f"{values[0]}L"
    pairs = zip(bound.queries.labels, values, strict=True)
    told = ", ".join(f"{label}, {value}L" for label, value in pairs)
    return f"map({told})[{quote(bound.queries.name)}]"


def _add_first_rows(bound: Placed, results: DataFrame, name: str) -> DataFrame:
    """The results with a column that says when the first row of their key is."""
    rows, keys = drop_rejected(bound), list(bound.keys)
    time = bound.start_sql if isinstance(bound, Lasting) else bound.time_sql
    given = [(column_of(rows, key), inner) for key, inner in zip(bound.by, keys, strict=True)]
    firsts = group_rows(project(rows, [*given, (time, "t")]), keys, [("first", "min(t)")])
    named = zip((*keys, "first"), (*bound.names, name), strict=True)
    firsts = firsts.select(*(expr_as(firsts, inner, outer) for inner, outer in named))
    both = results.unionByName(firsts, allowMissingColumns=True)
    partition = f"partition by {', '.join(map(quote, bound.names))}" if bound.names else ""
    columns = [expr(both, quote(one)) for one in results.columns]
    first = expr_as(both, f"max({quote(name)}) over ({partition})", name)
    # A row that only says so has no window.
    return both.select(*columns, first).filter(f"{quote('window')} is not null")
