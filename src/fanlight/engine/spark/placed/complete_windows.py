"""Windows that have all that belongs to them, and those that the edges of the data cut are not.

They are chosen from results, whatever computed these. When the first row of a key is comes as one
more row of its results, and when the last row of all is, as one more column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.library import count
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.kinds.kind import SIDES
from fanlight.engine.kinds.options import COMPLETE_ONLY
from fanlight.engine.plan.request import Event
from fanlight.engine.plan.row_ends import LastRows
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.binding.source import column_of
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.placed.instants import read_instant
from fanlight.engine.spark.sql import expr, expr_as, free_name, group_rows, project
from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import refuse

_EXAMPLE = "complete_only(since='2025-03-01T00:00:00Z')"


@dataclass(frozen=True)
class Complete:
    """Which windows are complete: those that no edge of the data cuts, on the sides that are asked.

    ``since`` is SQL of when the data begin; without it, that is the first row of the key.
    ``counted`` is the column of the number of rows, where windows have so many.
    """

    start: bool
    end: bool
    since: str = ""
    counted: str = ""


def read_complete(bound: Placed) -> Complete | None:
    """The arguments of ``complete_only``, checked; None if all windows are wanted."""
    given = bound.options.get(COMPLETE_ONLY)
    if given is None:
        return None
    since, side = given["since"], check_choice("side", given["side"], SIDES, "a side of windows")
    _check_reports(bound)
    if bound.coordinate.counted and side != "both":
        raise refuse(
            f"complete_only(side={side!r})",
            "is for windows that time ends: those over rows have so many, wherever they lie",
            "leave side out",
        )
    if bound.coordinate.counted and since is not None:
        raise refuse(
            f"since={since!r}",
            "is a time, and windows over rows are complete when they have so many",
            "leave since out",
        )
    end = side != "start" and not bound.df.isStreaming  # a stream gives no window earlier
    if since is not None:
        if side == "end":
            raise refuse(
                f"since={since!r} with side='end'",
                "says when the data begin, of which that side knows nothing",
                "leave one of them out",
            )
        asked, instead = f"since={since!r}", f"write for example {_EXAMPLE}"
        text = read_instant(bound.coordinate, since, asked, instead)[1]
        return Complete(start=True, end=end, since=text)
    if _holds_so_many(bound) and side != "end":
        counted = free_name("rows of the window", _taken(bound))
        return Complete(start=False, end=end and not bound.coordinate.counted, counted=counted)
    if bound.df.isStreaming and side != "end":
        raise refuse(
            "complete_only()",
            "needs the first row of each key, which a stream does not keep",
            f"write when the data begin: {_EXAMPLE}",
        )
    return Complete(start=side != "end", end=end)


def calls_of_complete(bound: Placed) -> Mapping[str, Call]:
    """The aggregates that have to be asked for, too, to know which windows are complete."""
    complete = read_complete(bound)
    return {complete.counted: count()} if complete and complete.counted else {}


def _check_reports(bound: Placed) -> None:
    """Refuse reports that say something of those that would be left out."""
    if bound.weights is not None and bound.event.ordered:
        why = "does not go with weights, whose reports are counted otherwise"
        raise refuse("complete_only()", why, "leave one of them out")


def _holds_so_many(bound: Placed) -> bool:
    """Whether a window is complete when it has so many rows."""
    return bound.event is Event.COUNTED or isinstance(bound.row_ends, LastRows)


def _taken(bound: Placed) -> list[str]:
    return [*bound.df.columns, *bound.names, *bound.window_columns]


def keep_complete(bound: Placed, results: DataFrame) -> DataFrame:
    """The results of complete windows."""
    complete = read_complete(bound)
    if complete is None:
        return results
    window, names, tests = quote("window"), results.columns, []
    if complete.counted:
        ends = bound.row_ends
        sizes = [ends.count] if isinstance(ends, LastRows) else [g.range for g in bound.grids]
        tests.append(f"{quote(complete.counted)} = {_by_label(bound, sizes)}")
        names = [name for name in names if name != complete.counted]
    elif complete.since:
        tests.append(f"{window}.start >= {complete.since}")
    of_keys = complete.start and not complete.since
    rows = _first_and_last_rows(bound) if of_keys or complete.end else results
    taken = [*_taken(bound), *names]
    if of_keys:
        first = free_name("first row", taken)
        results = _add_first_rows(bound, results, rows, first)
        tests.append(f"{window}.start >= {quote(first)}")
    if complete.end:
        last = free_name("last row", taken)
        results = results.crossJoin(rows.groupBy().agg(expr(rows, "max(last)").alias(last)))
        tests.append(f"{window}.end <= {quote(last)}")
    if bound.since is not None and not complete.counted:
        start, end = (coordinate(bound.coordinate, f"{window}.{one}") for one in ("start", "end"))
        tests.append(f"{end} - {start} = {_by_label(bound, [g.range for g in bound.grids])}")
    kept = results.filter(" and ".join(tests)) if tests else results
    return kept.select(*(expr(kept, quote(name)) for name in names))


def _by_label(bound: Placed, values: list[int]) -> str:
    """SQL: one of several numbers, by the label of the query."""
    if not bound.query_columns:
        return f"{values[0]}L"
    pairs = zip(bound.queries.labels, values, strict=True)
    told = ", ".join(f"{label}, {value}L" for label, value in pairs)
    return f"map({told})[{quote(bound.queries.name)}]"


def _first_and_last_rows(bound: Placed) -> DataFrame:
    """When the first and the last row of each key are: keys, ``first``, ``last``."""
    rows, keys = drop_rejected(bound), list(bound.keys)
    begin = bound.start_sql if isinstance(bound, Lasting) else bound.time_sql
    given = [(column_of(rows, key), inner) for key, inner in zip(bound.by, keys, strict=True)]
    times = project(rows, [*given, (begin, "t"), (bound.time_sql, "stop")])
    return group_rows(times, keys, [("first", "min(t)"), ("last", "max(stop)")])


def _add_first_rows(bound: Placed, results: DataFrame, firsts: DataFrame, name: str) -> DataFrame:
    """The results with a column that says when the first row of their key is."""
    named = zip((*bound.keys, "first"), (*bound.names, name), strict=True)
    firsts = firsts.select(*(expr_as(firsts, inner, outer) for inner, outer in named))
    both = results.unionByName(firsts, allowMissingColumns=True)
    partition = f"partition by {', '.join(map(quote, bound.names))}" if bound.names else ""
    columns = [expr(both, quote(one)) for one in results.columns]
    first = expr_as(both, f"max({quote(name)}) over ({partition})", name)
    # A row that only says so has no window.
    return both.select(*columns, first).filter(f"{quote('window')} is not null")
