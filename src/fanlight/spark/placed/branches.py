"""Granules to the windows of each query, through the slices of finer queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from fanlight.plan.cut import Cut
from fanlight.plan.granules import Branch, Pieces, edges_of_cut
from fanlight.spark.binding.placed import Placed
from fanlight.spark.cuts import in_window, slice_start, window_starts
from fanlight.spark.fields import Fields, combined, types_of
from fanlight.spark.rollup import rolled
from fanlight.spark.sql import grouped


def branches(bound: Placed, fields: Fields, cut: Pieces, granules: DataFrame) -> DataFrame:
    """The windows of all queries (keys, ``query``, ``start``, partials) from partials."""
    keys, kept = bound.keys, fields.all
    names = [field.name for field in kept]
    types = types_of(granules, kept)
    results = [(field.name, combined(field, types[field.name])) for field in kept]

    def slices(of: Cut, finer: DataFrame) -> DataFrame:
        placed = finer.selectExpr(*keys, f"{_start(of)} as piece", *names)
        return grouped(placed, [*keys, "piece"], results)

    def ends(branch: Branch, found: DataFrame) -> DataFrame:
        return rolled(found, keys, kept, types, branch.cut, branch.rollup)

    def together(several: Sequence[Branch], finer: DataFrame) -> DataFrame:
        """Slices of several branches, then the windows that each is in: two steps for all."""
        first, *others = several
        if all(branch.source in {b.number for b in several} for branch in others):
            finer = slices(first.cut, finer)
        starts = (f"named_struct('query', {b.number}, 'piece', {_start(b.cut)})" for b in several)
        placed = finer.selectExpr(*keys, f"inline(array({', '.join(starts)}))", *names)
        own = grouped(
            placed.select(*keys, "query", "piece", *names), [*keys, "query", "piece"], results
        )
        windows = " ".join(
            f"when {b.number} then {window_starts(b.cut.grid, 'piece')}" for b in several
        )
        copies = own.selectExpr(
            *keys, "query", f"explode(case query {windows} end) as start", *names
        )
        return grouped(copies, [*keys, "query", "start"], results)

    return branched(bound, cut, granules, slices, ends, together)


def branched(
    bound: Placed,
    cut: Pieces,
    granules: DataFrame,
    slices: Callable[[Cut, DataFrame], DataFrame],
    ends: Callable[[Branch, DataFrame], DataFrame],
    together: Callable[[Sequence[Branch], DataFrame], DataFrame] | None = None,
) -> DataFrame:
    """Each branch from its source: keys, ``query``, and what ``ends`` makes of its slices.

    Granules and slices begin at ``piece``. Branches that read equal exchanges read one of them:
    Spark recognises that. So the granules, and slices that other branches are made from, go through
    an exchange by key, and what is made from them needs no other. ``together``, if it is given,
    makes the windows (keys, ``query``, more) of the branches that the plan rolls up together.
    """
    keys = bound.keys
    several = [branch for branch in cut.branches if branch.together and together]
    alone = [branch for branch in cut.branches if branch not in several]
    feeding = {branch.source for branch in alone}
    shared = _by_key(granules, keys) if len(cut.branches) > 1 else granules
    made: dict[int, DataFrame] = {}  # the slices of branches that feed others
    found = []
    for branch in alone:
        source = shared if branch.source is None else made[branch.source]
        inside = in_window(branch.cut.grid, "piece")
        here = _where(source, inside) if inside and bound.which else source
        own = here if branch.whole else slices(branch.cut, here)
        if branch.number in feeding:
            made[branch.number] = own = own if branch.whole else _by_key(own, keys)
        found.append(_numbered(bound, ends(branch, own), str(branch.number)))
    if several and together:
        found.append(_numbered(bound, together(several, shared), "query"))
    return reduce(lambda a, b: a.unionAll(b), found)


def _start(cut: Cut) -> str:
    """SQL: where the slice of a cut begins that holds the finer ``piece``."""
    return slice_start(edges_of_cut(cut), "piece")


def _numbered(bound: Placed, windows: DataFrame, query: str) -> DataFrame:
    """Windows with the number of their query, where there are several."""
    if not bound.which:
        return windows
    others = [name for name in windows.columns if name not in (*bound.keys, "query")]
    return windows.selectExpr(*bound.keys, f"{query} as query", *others)


def _where(source: DataFrame, test: str) -> DataFrame:
    """The rows for which a test holds, without a filter.

    Spark would push a filter below the exchange that branches share. That would be a different
    exchange, and the source would be read again.
    """
    chosen = f"if({test}, array(true), cast(array() as array<boolean>))"
    return source.selectExpr("*", f"explode({chosen}) as inside").drop("inside")


def _by_key(df: DataFrame, keys: Sequence[str]) -> DataFrame:
    return df.repartition(*keys) if keys else df.repartition(1)
