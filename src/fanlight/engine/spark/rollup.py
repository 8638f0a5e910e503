"""The roll-up of a batch: slices to windows, without copying a slice into each of its windows.

Slices are rows (keys, ``slice``, partials). A window is identified by its last slice, ``upto``.
Several queries share granules: each has a branch, its own slices rolled up to its own windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import digits_of
from fanlight.engine.plan import ways
from fanlight.engine.plan.granules import Branch, Cut, Pieces, granules_of_cut
from fanlight.engine.plan.grid import Grid, MonthsBack
from fanlight.engine.plan.ways import Rollup
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import (
    has_window,
    last_start,
    slice_number,
    slice_start,
    start_of_run,
    starts_without,
    window_starts,
)
from fanlight.engine.spark.fields import Field, combine_sql
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.sql import narrow_decimal, over_clause

_SO_FAR = "range between unbounded preceding and current row"


def fill_gaps(
    slices: DataFrame, keys: Sequence[str], fields: Sequence[Field], span: int, step: int
) -> DataFrame:
    """Slices, with empty ones (null partials) added where a window with rows ends in a gap.

    slice  0  .  .  .  4          span 3
    upto   0  1  2     4  5  6    1, 2, 5 and 6 are filled in
    """
    ahead = slices.selectExpr("*", f"lead(slice) {over_clause(keys, 'slice')} as ahead")
    last = f"least(coalesce(ahead - 1L, slice + {span - 1}L), slice + {span - 1}L)"
    if step == 1:
        ends = f"sequence(slice, {last})"
    else:
        # From the next slice at which a window ends.
        first = f"(slice + 1L + pmod({span - 2}L - slice, {step}L))"
        more = f"concat(array(slice), sequence({first}, {last}, {step}L))"
        ends = f"if({first} <= {last}, {more}, array(slice))"
    partials = [f"if(upto = slice, {field.name}, null) as {field.name}" for field in fields]
    exploded = ahead.selectExpr("*", f"explode({ends}) as upto")
    return exploded.selectExpr(*keys, "upto", *partials)


def roll_up_by_scan(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """Combine all partials of each window: formula 3.1."""
    window = over_clause(keys, "upto", f"range between {span - 1}L preceding and current row")
    results = [f"{combine_sql(f, types[f.name], window)} as {f.name}" for f in fields]
    return rows.selectExpr(*keys, "upto", *results)


def roll_up_by_difference(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """A running total less the one a RANGE before: formula 3.2. Exact types only."""
    now = over_clause(keys, "upto", _SO_FAR)
    before = over_clause(keys, "upto", f"range between unbounded preceding and {span}L preceding")
    results = []
    for field in fields:
        kind = total_type(types[field.name])
        wide = f"cast({field.name} as {kind})"
        total, gone = field.monoid.combine_all(wide, now), field.monoid.combine_all(wide, before)
        seen = f"count({field.name}) {now} - count({field.name}) {before}"
        total, gone = widen_for_sum(total, kind), widen_for_sum(f"coalesce({gone}, 0)", kind)
        left = field.monoid.inverse(total, gone)
        results.append(f"cast(if({seen} > 0, {left}, null) as {types[field.name]}) as {field.name}")
    return rows.selectExpr(*keys, "upto", *results)


def roll_up_by_two_stacks(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """Each window is a suffix of one run of ``span`` slices and a prefix of the next: two stacks.

    It is what van Herk, Gil and Werman do over arrays.

        run            |---- 0 ----|---- 1 ----|        prefix: from the start of the run
        window              [--suffix---prefix-]        suffix: to the end of the run

    The suffix is that of the first row in the window: the row after the last one that is a RANGE
    back. Every partial is touched a constant number of times, whatever ``span``, and nothing is
    subtracted, so doubles keep no residue. Fields that Spark combines one by one (lists, moments)
    are scanned in the same step.
    """
    running = [f for f in fields if f.monoid.running]
    scanned = [f for f in fields if not f.monoid.running]
    names = [f.name for f in fields]
    # Rows come in order. The sort for suffixes, runs and rows from last to first, reverses that
    # order, and the next sort restores it: sorts of ordered or reversed rows cost a pass each.
    later = f"-((upto - pmod(upto, {span}L)) div {span}L)"
    cut = rows.selectExpr(*keys, "upto", *names, f"{later} as later")
    suffix = over_clause([*keys, "later"], "upto desc")
    cut = cut.selectExpr(
        *keys, "upto", "-later as run", *names,
        *(f"{combine_sql(f, types[f.name], suffix)} as suffix_{f.name}" for f in running),
    )  # fmt: skip
    suffixes = [f"suffix_{f.name}" for f in running]
    prefix = over_clause([*keys, "run"], "upto")
    cut = cut.selectExpr(
        *keys, "upto", "run", *names, *suffixes,
        *(f"{combine_sql(f, types[f.name], prefix)} as prefix_{f.name}" for f in running),
    )  # fmt: skip
    prefixes = [f"prefix_{f.name}" for f in running]
    window = over_clause(keys, "upto", f"range between {span - 1}L preceding and current row")
    whole = {f.name: combine_sql(f, types[f.name], window) for f in scanned}
    cut = add_first_rows(cut, keys, "upto", span, ["run", *suffixes], [*prefixes, *whole], whole)
    results = []
    for field in fields:
        if field in scanned:
            results.append(field.name)
            continue
        before = f"if(first_run < run, first_suffix_{field.name}, null)"
        after, kind = f"prefix_{field.name}", types[field.name]
        if field.monoid.combining == "sum":
            before, after = widen_for_sum(before, kind), widen_for_sum(after, kind)
        both = field.monoid.combine(before, after)
        results.append(f"{narrow_decimal(both, kind)} as {field.name}")
    return cut.selectExpr(*keys, "upto", *results)


def add_first_rows(
    rows: DataFrame,
    keys: Sequence[str],
    at: str,
    span: int,
    own: Sequence[str],
    kept: Sequence[str],
    whole: Mapping[str, str] | None = None,
) -> DataFrame:
    """Add to each row, as ``first_…``, columns of the first row of the window that it ends.

    ``at`` says where rows are; a window is ``span`` long, and its first row is the one after the
    last row that is a span back. ``own`` are the columns that are wanted of it, ``kept`` others
    that stay; ``whole`` are further columns, as SQL aggregates over the window.
    """
    made, ordered = dict(whole or {}), over_clause(keys, at, _SO_FAR)
    rows = rows.selectExpr(
        *keys, at, *own, *kept,
        *(f"lead({name}) {over_clause(keys, at)} as next_{name}" for name in own),
        *(f"first({name}) {ordered} as very_first_{name}" for name in own),
    )  # fmt: skip
    back = over_clause(keys, at, f"range between unbounded preceding and {span}L preceding")
    stay = [name for name in kept if name not in made]
    rows = rows.selectExpr(
        *keys, at, *own, *stay,
        *(f"very_first_{name}" for name in own),
        *(f"last(next_{name}) {back} as next_{name}" for name in own),
        f"last({at}) {back} as back",
        *(f"{text} as {name}" for name, text in made.items()),
    )  # fmt: skip
    begun = (f"if(back is null, very_first_{name}, next_{name}) as first_{name}" for name in own)
    return rows.selectExpr(*keys, at, *own, *stay, *made, *begun)


def widen_for_sum(text: str, kind: str) -> str:
    """SQL: a decimal widened for a sum, since Spark rounds away the last digit of 38.

    Sums of so many digits are kept in two parts (:mod:`fanlight.engine.algebra.split_sums`), so
    there is room.
    """
    if not kind.startswith("decimal(38,"):
        return text
    return f"cast({text} as decimal(37,{digits_of(kind)[1]}))"


def total_type(kind: str) -> str:
    """A type in which the running total of all rows of a key cannot overflow."""
    return f"decimal(38,{digits_of(kind)[1] if kind.startswith('decimal') else 0})"


ROLLUPS = {
    ways.SCAN: roll_up_by_scan,
    ways.TWO_STACKS: roll_up_by_two_stacks,
    ways.DIFFERENCE: roll_up_by_difference,
}


def roll_up_cut(slices: Relation, cut: Cut, how: Rollup, more: Sequence[str] = ()) -> DataFrame:
    """Slices (place: ``piece``, where each begins) to windows (keys, ``start``, partials).

    ``how`` is the roll-up; ``more`` are further columns of windows, as SQL, after the keys.
    """
    keys, names = slices.keys, slices.names
    if isinstance(cut.grid.begins, MonthsBack):
        starts = f"explode({window_starts(cut.grid, 'piece')}) as start"
        windows = slices.with_places(starts, place=["start"]).combine("start").df
        return windows.selectExpr(*keys, *more, "start", *names)
    if cut.grid.begins:
        return _roll_up_anew(slices, cut.grid, more)
    if cut.span == 1:
        return slices.df.selectExpr(*keys, *more, "piece as start", *names)
    numbered = slices.df.selectExpr(*keys, f"{slice_number(cut, 'piece')} as slice", *names)
    rows = fill_gaps(numbered, keys, slices.fields, cut.span, cut.step)
    windows = ROLLUPS[how](rows, keys, slices.fields, slices.types(), cut.span)
    if cut.step > 1:
        windows = windows.filter(f"pmod(upto - {cut.span - 1}L, {cut.step}L) = 0")
    return windows.selectExpr(*keys, *more, f"{start_of_run(cut, 'upto')} as start", *names)


def _roll_up_anew(slices: Relation, grid: Grid, more: Sequence[str]) -> DataFrame:
    """Windows that begin together: each combines what the one before has, and a slice.

    Without a row in its last slices a window has what the one before it has.
    """
    keys, fields, types = slices.keys, slices.fields, slices.types()
    rows = slices.df.selectExpr(
        *keys, "piece", f"{last_start(grid, 'piece')} as last_one", *slices.names
    )
    mine = [*keys, "last_one"]
    so_far = over_clause(mine, "piece", _SO_FAR)
    rows = rows.selectExpr(
        *mine, "piece",
        f"lead(piece) {over_clause(mine, 'piece')} as ahead",
        *(f"{combine_sql(f, types[f.name], so_far)} as {f.name}" for f in fields),
    )  # fmt: skip
    starts = f"explode({starts_without(grid, 'piece', 'ahead', 'last_one')}) as start"
    return rows.selectExpr(*keys, *more, starts, *slices.names)


def roll_up_branches(bound: Placed, cut: Pieces, granules: Relation) -> DataFrame:
    """The windows of all queries (keys, ``query``, ``start``, partials) from partials."""

    def slices(of: Cut, finer: DataFrame) -> DataFrame:
        placed = granules.with_df(finer, "piece").with_places(
            f"{_slice_of_piece(of)} as piece", place=["piece"]
        )
        return placed.combine("piece").df

    def ends(branch: Branch, slices: DataFrame) -> DataFrame:
        own = granules.with_df(slices, "piece")
        return roll_up_cut(own, branch.cut, branch.rollup, query_as_column(bound, branch.number))

    def together(several: Sequence[Branch], finer: DataFrame) -> DataFrame:
        """Slices of several branches, then the windows that each is in: two steps for all."""
        first, *others = several
        if all(branch.source in {b.number for b in several} for branch in others):
            finer = slices(first.cut, finer)
        starts = (
            f"named_struct('query', {b.number}, 'piece', {_slice_of_piece(b.cut)})" for b in several
        )
        pieces, windows = ["query", "piece"], ["query", "start"]
        spread = f"inline(array({', '.join(starts)}))"
        own = granules.with_df(finer, "piece").with_places(spread, place=pieces).combine(*pieces)
        cases = " ".join(
            f"when {b.number} then {window_starts(b.cut.grid, 'piece')}" for b in several
        )
        copies = f"explode(case query {cases} end) as start"
        return own.with_places("query", copies, place=windows).combine(*windows).df

    return build_branches(bound, cut, granules.df, slices, ends, together)


def build_branches(
    bound: Placed,
    cut: Pieces,
    granules: DataFrame,
    slices: Callable[[Cut, DataFrame], DataFrame],
    ends: Callable[[Branch, DataFrame], DataFrame],
    together: Callable[[Sequence[Branch], DataFrame], DataFrame] | None = None,
) -> DataFrame:
    """Each branch from its source: keys, the number of its query, what ``ends`` makes of slices.

    Granules and slices begin at ``piece``. Branches that read equal exchanges read one of them:
    Spark recognises that. So the granules, and slices that other branches are made from, go through
    an exchange by key, and what is made from them needs no other. ``together``, if it is given,
    makes the windows (keys, ``query``, more) of the branches that the plan rolls up together.
    """
    keys = bound.keys
    several = [branch for branch in cut.branches if branch.together and together]
    alone = [branch for branch in cut.branches if branch not in several]
    feeding = {branch.source for branch in alone}
    shared = _shuffle_by_key(granules, keys) if len(cut.branches) > 1 else granules
    made: dict[int, DataFrame] = {}  # the slices of branches that feed others
    windows = []
    for branch in alone:
        source = shared if branch.source is None else made[branch.source]
        test = has_window(branch.cut.grid, "piece")
        here = _keep_where(source, test) if test and bound.query_columns else source
        own = here if branch.whole else slices(branch.cut, here)
        if branch.number in feeding:
            made[branch.number] = own = own if branch.whole else _shuffle_by_key(own, keys)
        windows.append(ends(branch, own))
    if several and together:
        windows.append(together(several, shared))
    return reduce(lambda a, b: a.unionAll(b), windows)


def _slice_of_piece(cut: Cut) -> str:
    """SQL: the start of the slice, of a cut, that holds the finer ``piece``."""
    return slice_start(granules_of_cut(cut), "piece")


def query_as_column(bound: Placed, query: int) -> list[str]:
    """SQL: the column with the number of a query. Empty if there is only one query."""
    return [f"{query} as query"] if bound.query_columns else []


def _keep_where(source: DataFrame, test: str) -> DataFrame:
    """The rows for which a test holds, without a filter.

    Spark would push a filter below the exchange that branches share. That would be a different
    exchange, and the source would be read again.
    """
    chosen = f"if({test}, array(true), cast(array() as array<boolean>))"
    return source.selectExpr("*", f"explode({chosen}) as inside").drop("inside")


def _shuffle_by_key(df: DataFrame, keys: Sequence[str]) -> DataFrame:
    return df.repartition(*keys) if keys else df.repartition(1)
