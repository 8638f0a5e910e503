"""Which windows a result has: empty windows are added, incomplete windows are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import INTEGRAL, Call, base_type
from fanlight.engine.algebra.library import count
from fanlight.engine.algebra.sql_text import literal, quote
from fanlight.engine.kinds.kind import EMPTY, SIDES
from fanlight.engine.kinds.options import COMPLETE_ONLY, WITH_EMPTY
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.granules import LastRows
from fanlight.engine.plan.request import Event
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.binding.source import column_of
from fanlight.engine.spark.coordinates import coordinate, read_instant, restore_sql
from fanlight.engine.spark.cuts import (
    first_start,
    last_start,
    shown_bounds_by,
    start_after,
    step_by,
    text_by_query,
)
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.sql import (
    expr,
    expr_as,
    free_name,
    group_rows,
    is_taken,
    over_clause,
    project,
    quote_column,
    types_in,
)
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


MOST = 10_000_000  # windows in a row
_TOO_MANY = f"fanlight: more than {MOST:,} empty windows of a key in a row; write between=(…)"
_NUMBERS = (*INTEGRAL, "float", "double", "decimal")
_NOON = "between=('2025-03-01T00:00:00Z', '2025-04-01T00:00:00Z')"


@dataclass(frozen=True)
class Empty:
    """What stands in windows without rows, and which there are.

    ``between`` are two values of the time column as SQL; without it they are those between the
    first and the last window of a key that have rows; or, with ``most``, so many after each that
    has rows, also after the last. ``keys`` has more keys.
    """

    rule: str
    most: int | None
    between: tuple[str, str] | None
    keys: DataFrame | None

    @property
    def linear(self) -> bool:
        """Whether a number in a window without rows lies between those of its neighbours."""
        return self.rule == "linear"


def read_empty(bound: Placed) -> Empty | None:
    """The arguments of ``with_empty``, checked; None if only windows with rows are wanted."""
    given = bound.options.get(WITH_EMPTY)
    if given is None:
        return None
    rule = check_choice("values", given["values"], EMPTY, "what windows without rows can have")
    most, between, keys = (given[name] for name in ("most", "between", "keys"))
    _check_windows(bound, rule)
    if most is not None:
        _check_most(most)
    _check_together(bound, rule, {name for name in given if given[name] is not None})
    ends = None if between is None else _read_ends(bound.coordinate, between)
    if keys is not None and ends is None:
        raise refuse(
            "keys=…",
            "may have keys without any row, of which no first or last window is known",
            f"write {_NOON}, too",
        )
    return Empty(rule, most, ends, None if keys is None else _read_keys(bound, keys))


def _check_windows(bound: Placed, rule: str) -> None:
    """Refuse windows of which it cannot be said which are empty."""
    for wrong, why, instead in (
        (bound.event.ordered,
         "is for windows that time places, not for those that rows end", "leave it out"),
    ):  # fmt: skip
        if wrong:
            raise refuse(f"with_empty({rule!r})", why, instead)


def _check_most(given: Any) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= MOST:
        raise refuse(
            f"most={given!r}",
            f"is not a number of windows from 1 to {MOST}",
            "write for example most=60",
        )


def _check_together(bound: Placed, rule: str, given: set[str]) -> None:
    """Refuse arguments that say the same twice, or what a stream cannot know."""
    if "most" in given and "between" in given:
        raise refuse(
            "most=… with between=…",
            "both say how many windows without rows there are",
            "leave one of them out",
        )
    if not bound.df.isStreaming:
        return
    for name in sorted(given & {"between", "keys"}):
        raise refuse(
            f"{name}=…",
            "is for batches: a stream gives windows as time goes on, of keys that have come",
            "leave it out, or ask it of what the stream has written",
        )
    if "most" not in given:
        raise refuse(
            f"with_empty({rule!r}) in a stream",
            "would go on for ever after the last row of a key",
            "say how many windows without rows may follow one with rows: "
            f"with_empty({rule!r}, most=60)",
        )


def _read_ends(of: Coordinate, given: Any) -> tuple[str, str]:
    """Two values of the time column, as SQL."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise refuse(f"between={given!r}", "is not a start and an end", f"write {_NOON}")
    asked = f"between={tuple(given)!r}"
    first, last = (read_instant(of, one, asked, f"write {_NOON}") for one in given)
    if first[0] > last[0]:
        raise refuse(f"between={given!r}", "ends before it starts", "write the earlier one first")
    return first[1], last[1]


def _read_keys(bound: Placed, keys: Any) -> DataFrame:
    """The keys of another table, under their internal names."""
    if not isinstance(getattr(keys, "columns", None), list) or not bound.names:
        raise refuse(
            f"keys={type(keys).__name__}",
            "is not a DataFrame with the columns of by" if bound.names else "goes with by=",
            "pass the table that has all keys, or leave keys out",
        )
    missing = [name for name in bound.names if not is_taken(keys, name, keys.columns)]
    if missing:
        raise refuse(
            "keys=…",
            f"has no column {missing[0]!r}",
            "name its columns as the keys are: keys.withColumnRenamed(…)",
        )
    found: DataFrame = keys
    return found


def fill_empty(bound: Placed, results: DataFrame, empty: Empty) -> DataFrame:
    """The results, with a row for each window that is empty."""
    keys, which = bound.keys, bound.query_columns
    place = [*keys, *which]
    values = [name for name in results.columns if name not in (*place, "start")]
    types = types_in(results)
    numbers = [one for one in values if empty.linear and is_number(types[one])]
    rows, last, within = results, "start", "true"
    if empty.between is not None:
        first, last, within = _range_between(bound, empty.between)
        rows = _with_ends(bound, rows.filter(within), results, empty, first)
    step = step_by(bound.grids)
    over = over_clause(place, "start")
    nexts = [f"lead({name}) {over} as next_{name}" for name in numbers]
    ahead = rows.selectExpr("*", f"lead(start) {over} as ahead", *nexts)
    upto = f"coalesce(ahead - {step}, {last})"
    if empty.most is not None:
        last = text_by_query([start_after(grid, "start", empty.most) for grid in bound.grids])
        upto = f"least(ahead - {step}, {last})"
    # A gap that is too wide is an error of Spark's own, and no loss.
    many = f"({upto} - start) div {step} > {MOST}L"
    told = f"cast(raise_error({literal(_TOO_MANY)}) as bigint)"
    starts = f"sequence(start, if({many}, {told}, greatest(start, {upto})), {step})"
    # Where more are without rows than are given, those that are given lie between no two.
    near = "true" if empty.most is None else f"ahead <= {last} + {step}"
    known = [f"if({near}, next_{name}, null) as next_{name}" for name in numbers]
    spread = ahead.selectExpr(
        *place, *values, *known, "ahead", "start as from_start", f"explode({starts}) as start"
    )
    kept = [
        _between(name) if name in numbers else _value(name, types[name], empty.rule)
        for name in values
    ]
    return spread.selectExpr(*place, "start", *kept).filter(within)


def is_number(kind: str) -> bool:
    """Whether results of a type can be 0."""
    return base_type(kind) in _NUMBERS


def make_doubles(bound: Placed, results: DataFrame) -> DataFrame:
    """The results with numbers as doubles, as those between them are."""
    types, place = types_in(results), (*bound.keys, *bound.query_columns, "start")
    return results.selectExpr(
        *(
            f"cast({name} as double) as {name}" if name not in place and is_number(kind) else name
            for name, kind in types.items()
        )
    )


def _between(name: str) -> str:
    """SQL: a result, or in an empty window what lies between it and the next one."""
    way = "cast(start - from_start as double) / cast(ahead - from_start as double)"
    return f"if(start = from_start, {name}, {name} + (next_{name} - {name}) * ({way})) as {name}"


def _value(name: str, kind: str, rule: str) -> str:
    """SQL: a result, or what stands for it in an empty window."""
    if rule == "last":
        return name
    filler = f"cast(0 as {kind})" if rule == "zero" and is_number(kind) else "null"
    return f"if(start = from_start, {name}, {filler}) as {name}"


def _range_between(bound: Placed, between: tuple[str, str]) -> tuple[str, str, str]:
    """SQL: the first and the last start that there may be, and whether a window lies between."""
    low, high = (coordinate(bound.coordinate, one) for one in between)
    first = [first_start(grid, low) for grid in bound.grids]
    last = [last_start(grid, high) for grid in bound.grids]
    bounds = shown_bounds_by(bound.grids, "start")
    start, end = (restore_sql(bound.coordinate, one) for one in bounds)
    within = f"({start} >= {between[0]} and {end} <= {between[1]})"
    return text_by_query(first), text_by_query(last), within


def _with_ends(
    bound: Placed, rows: DataFrame, results: DataFrame, empty: Empty, first: str
) -> DataFrame:
    """The rows, and before those of each key and query a row that is in no window."""
    keys = bound.keys
    every = results.select(*keys)
    if empty.keys is not None:
        types = types_in(results)
        texts = [quote_column(empty.keys, name) for name in bound.names]
        named = [
            expr(empty.keys, f"cast({text} as {types[key]})").alias(key)
            for text, key in zip(texts, keys, strict=True)
        ]
        every = every.unionAll(empty.keys.select(*named))
    every = every.distinct() if keys else results.sparkSession.range(1)
    if bound.query_columns:
        every = every.selectExpr(*keys, f"explode(sequence(0, {len(bound.grids) - 1})) as query")
    before = f"{first} - {step_by(bound.grids)} as start"
    sentinel = every.selectExpr(*keys, *bound.query_columns, before)
    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), (rows, sentinel))
