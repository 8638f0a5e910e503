"""Several windows over a batch: granules once, each level from the slices of a finer one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from fanlight.plan.cut import Cut, panes
from fanlight.plan.granular import Branch, GranularPlan
from fanlight.spark.fields import Fields, merged, types_of
from fanlight.spark.granular.aging import aged, weight_of
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.granular.slices import copies_of, end_of, rows_of, start_of
from fanlight.spark.ordered.numbered import units
from fanlight.spark.slices import counted, lifted, recounted, settled
from fanlight.spark.sliding.batch import rolled, window_starts
from fanlight.spark.sql import grouped, over
from fanlight.spark.times import in_window, slice_start


def windows(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """One row a key and window: keys, ``q`` (which query), ``w`` (the start), partials."""
    keys, kept = bound.keys, fields.all
    if any(branch.rollup == "copies" for branch in plan.branches) and not bound.coordinate.counted:
        counts = counted(placed(bound, fields, plan), [*keys, "p"], kept, "p")
        names = [name for name in counts.columns if name not in ("p", *keys)]
        copies = _copied(bound, plan, counts, names)
        group = [*keys, "q", "w"]
        return settled(recounted(copies, group, kept), group, kept)
    granules = granules_of(bound, fields, plan)
    if bound.weights is not None:
        copies = _copied(bound, plan, granules, [field.name for field in kept])
        return aged(fields, copies, [*keys, "q", "w"])
    return branches(bound, fields, plan, granules)


def placed(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """Rows with the start of their granule: keys, ``p``, values."""
    values = list(fields.values.values())
    rows = rows_of(bound, fields)
    return rows.selectExpr(*bound.keys, f"{start_of(plan.granules, 't')} as p", *values)


def granules_of(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """One partial a key and granule: keys, ``p``, partials."""
    keys, kept = bound.keys, fields.all
    if not bound.coordinate.counted:
        return lifted(placed(bound, fields, plan), [*keys, "p"], kept, "p")
    names = [field.name for field in kept]
    rows, order = units(bound, fields)
    number = f"count(1) {over(keys, ', '.join(order), 'rows unbounded preceding')} - 1L"
    rows = rows.selectExpr(*keys, f"{number} as t", *names)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    types = types_of(rows, kept)
    rows = rows.selectExpr(*keys, f"{start_of(plan.granules, 't')} as p", *names)
    return grouped(rows, [*keys, "p"], [(f.name, merged(f, types[f.name])) for f in kept])


def _copied(
    bound: GranularBound, plan: GranularPlan, slices: DataFrame, names: Sequence[str]
) -> DataFrame:
    """Each granule in each of its windows: keys, ``q``, ``w``, and the weight ``a`` if it ages."""
    last = f"({end_of(plan.granules, 'p')} - 1L)"
    more = [] if bound.weights is None else [f"'a', {weight_of(bound, 'p')}"]
    return slices.selectExpr(*bound.keys, f"inline({copies_of(plan, last, more)})", *names)


def branches(
    bound: GranularBound, fields: Fields, plan: GranularPlan, granules: DataFrame
) -> DataFrame:
    """The levels, each rolled up by itself, together."""
    keys, kept = bound.keys, fields.all
    names = [field.name for field in kept]
    types = types_of(granules, kept)
    results = [(field.name, merged(field, types[field.name])) for field in kept]

    def slices(cut: Cut, finer: DataFrame) -> DataFrame:
        placed = finer.selectExpr(*keys, f"{slice_start(cut, 'a')} as a", *names)
        return grouped(placed, [*keys, "a"], results)

    def ends(branch: Branch, found: DataFrame) -> DataFrame:
        windows = rolled(found, keys, kept, types, branch.cut, branch.rollup)
        return windows.selectExpr(*keys, "w", *names)

    def together(several: Sequence[Branch], finer: DataFrame) -> DataFrame:
        """Slices of several branches, then the windows that each is in: two steps for all."""
        first, *others = several
        if all(branch.source in {b.number for b in several} for branch in others):
            finer = slices(first.cut, finer)
        starts = (f"named_struct('q', {b.number}, 'a', {slice_start(b.cut, 'a')})" for b in several)
        placed = finer.selectExpr(*keys, f"inline(array({', '.join(starts)}))", *names)
        own = grouped(placed.select(*keys, "q", "a", *names), [*keys, "q", "a"], results)
        windows = " ".join(
            f"when {b.number} then {window_starts(panes(b.cut.grid), 'a')}" for b in several
        )
        copies = own.selectExpr(*keys, "q", f"explode(case q {windows} end) as w", *names)
        return grouped(copies, [*keys, "q", "w"], results)

    return branched(plan, keys, granules.withColumnRenamed("p", "a"), slices, ends, together)


def branched(
    plan: GranularPlan,
    keys: Sequence[str],
    granules: DataFrame,
    slices: Callable[[Cut, DataFrame], DataFrame],
    ends: Callable[[Branch, DataFrame], DataFrame],
    together: Callable[[Sequence[Branch], DataFrame], DataFrame] | None = None,
) -> DataFrame:
    """Each branch from its source: keys, ``q``, and what ``ends`` makes of its slices.

    Granules and slices begin at ``a``. Branches that read the same exchange read it once: Spark
    recognises equal exchanges and keeps one of them. So the granules, and slices that feed further
    branches, go through an exchange by key; what hangs on it needs no other. ``together``, if it is
    given, makes the windows (keys, ``q``, more) of the branches that the plan puts together.
    """
    several = [branch for branch in plan.branches if branch.together and together]
    alone = [branch for branch in plan.branches if branch not in several]
    feeding = {branch.source for branch in alone}
    shared = _by_key(granules, keys) if len(plan.branches) > 1 else granules
    made: dict[int, DataFrame] = {}  # the slices of branches that feed others
    found = []
    for branch in alone:
        source = shared if branch.source is None else made[branch.source]
        inside = in_window(branch.cut, "a")
        here = _where(source, inside) if inside else source
        own = here if branch.whole else slices(branch.cut, here)
        if branch.number in feeding:
            made[branch.number] = own = own if branch.whole else _by_key(own, keys)
        results = ends(branch, own)
        others = [name for name in results.columns if name not in keys]
        found.append(results.selectExpr(*keys, f"{branch.number} as q", *others))
    if several and together:
        windows = together(several, shared)
        others = [name for name in windows.columns if name not in (*keys, "q")]
        found.append(windows.selectExpr(*keys, "q", *others))
    return reduce(lambda a, b: a.unionAll(b), found)


def _where(source: DataFrame, test: str) -> DataFrame:
    """The rows for which a test holds, chosen where they are read.

    Spark would push a filter below the exchange that branches share; to it, that would be another
    exchange, and the source would be read once more.
    """
    chosen = f"if({test}, array(true), cast(array() as array<boolean>))"
    return source.selectExpr("*", f"explode({chosen}) as inside").drop("inside")


def _by_key(df: DataFrame, keys: Sequence[str]) -> DataFrame:
    return df.repartition(*keys) if keys else df.repartition(1)
