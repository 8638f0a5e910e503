"""Windows of a stream that rows place, or several at once through the stairwise chain: operators.

Spark makes the granules, which enter as partials; or, if rows have to be put in order or counted
first, rows do, as partials of one row. Windows leave as partials that Spark lowers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.cut import Cut, LastRows
from fanlight.engine.plan.granules import Granules, Pieces
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import slice_end
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import FIRST, lift_each_row
from fanlight.engine.spark.ordered.host import Hosted, alike, numbers, run_operator

FIRST_AND_LAST = ("first_row", "last_row")  # the times of a granule's rows, if keys are forgotten


def chain_rows(bound: Placed, fields: Fields) -> DataFrame:
    """Rows counted in order to windows: keys, ``query``, ``start``, partials."""
    rows, partials, order = lift_each_row(bound, fields)
    rows = rows.selectExpr(*bound.keys, *order, *partials)
    return _run_chain(bound, rows, fields, bound.forget_after, aggregated=False)


def chain_granules(
    bound: Placed,
    granules: DataFrame,
    cut: Granules,
    fields: Fields,
    forget_after: int | None = None,
    **options: Any,
) -> DataFrame:
    """Granules (keys, ``piece``, ``ending``, partials) to windows, as :func:`chain_rows`.

    If keys are forgotten, ``granules`` also have the times of their first and last row. ``options``
    are those that partials depend on, besides what ``fields`` says.
    """
    names = fields.names
    order = ["t"] if forget_after is None else ["t", *FIRST_AND_LAST]
    rows = granules.selectExpr(*bound.keys, f"{slice_end(cut, 'piece')} as t", *order[1:], *names)
    return _run_chain(bound, rows, fields, forget_after, aggregated=True, **options)


def _run_chain(
    bound: Placed,
    rows: DataFrame,
    fields: Fields,
    forget_after: int | None,
    *,
    aggregated: bool,
    **options: Any,
) -> DataFrame:
    """The stateful operator over rows or granules."""
    counted = bound.coordinate.counted
    query = partial(
        ChainQuery, monoids=fields.monoids, grids=bound.grids, counts_rows=counted,
        since=bound.since if counted else None, forget_after=forget_after,
    )  # fmt: skip
    given = alike(*bound.keys) | numbers("query", "start") | alike(*fields.names)
    hosted = Hosted("windows in a chain", options, aggregated=aggregated)
    return run_operator(bound, fields, rows, query, given, hosted)


def release_windows(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Partials of windows by key and ``start``, once the watermark has passed their last row."""
    kept = [FIRST, *fields.all] if isinstance(bound.row_ends, LastRows) else fields.all
    names = [field.name for field in kept]
    rows, partials, order = lift_each_row(bound, fields)
    if len(kept) > len(partials):
        partials = [f"t as {FIRST.name}", *partials]
    rows = rows.selectExpr(*bound.keys, *order, *partials)
    by = bound.row_ends or chosen.pieces.only_cut
    monoids = tuple(field.monoid for field in kept)
    query = partial(
        TupleQuery, monoids=monoids, by=by, grid=bound.grid, forget_after=bound.forget_after
    )
    cut = by.technique if isinstance(by, Cut) else "none"
    given = alike(*bound.keys) | numbers("start") | alike(*names)
    return run_operator(
        bound, fields, rows, query, given, Hosted("windows over rows", {"cut": cut})
    )
