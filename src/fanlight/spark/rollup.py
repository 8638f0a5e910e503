"""The roll-up of a batch: slices to windows, without copying a slice into each of its windows.

Slices stand as rows (keys, ``slice``, partials). A window is named by its last slice, ``upto``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from fanlight.plan.cut import Cut
from fanlight.spark.cuts import slice_number, window_start
from fanlight.spark.fields import Field, merged
from fanlight.spark.sql import over

_SO_FAR = "range between unbounded preceding and current row"


def filled(
    slices: DataFrame, keys: Sequence[str], fields: Sequence[Field], span: int, step: int
) -> DataFrame:
    """Slices, and empty ones (null partials) wherever a window with rows ends in a gap.

    slice  0  .  .  .  4          span 3
    upto   0  1  2     4  5  6    1, 2, 5 and 6 are filled in
    """
    ahead = slices.selectExpr("*", f"lead(slice) {over(keys, 'slice')} as ahead")
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


def scan(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """Each window scans its partials: formula 3.1."""
    window = over(keys, "upto", f"range between {span - 1}L preceding and current row")
    results = [f"{merged(f, types[f.name], window)} as {f.name}" for f in fields]
    return rows.selectExpr(*keys, "upto", *results)


def difference(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """A running total less the one a RANGE ago: formula 3.2. Exact types only."""
    now = over(keys, "upto", _SO_FAR)
    before = over(keys, "upto", f"range between unbounded preceding and {span}L preceding")
    results = []
    for field in fields:
        wide = f"cast({field.name} as {_wide(types[field.name])})"
        total, gone = field.monoid.merge(wide, now), field.monoid.merge(wide, before)
        seen = f"count({field.name}) {now} - count({field.name}) {before}"
        left = field.monoid.inverse(total, f"coalesce({gone}, 0)")
        results.append(f"cast(if({seen} > 0, {left}, null) as {types[field.name]}) as {field.name}")
    return rows.selectExpr(*keys, "upto", *results)


def two_stacks(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """Each window is the suffix of one block of ``span`` and the prefix of the next: two stacks.

    As van Herk, Gil and Werman do it over arrays.

        block          |---- 0 ----|---- 1 ----|        prefix: from the block's start
        window              [--suffix---prefix-]        suffix: to the block's end

    The suffix to take is that of the first row inside the window: the row after the last one that
    lies a RANGE back. Every partial is touched a constant number of times, whatever ``span``, and
    nothing is ever subtracted, so doubles keep no residue. Fields that Spark merges one by one
    (lists, moments) are scanned beside it.
    """
    running = [f for f in fields if f.monoid.running]
    scanned = [f for f in fields if not f.monoid.running]
    names = [f.name for f in fields]
    # Rows come in order. Blocks from the last to the first and rows so too is that order reversed,
    # and then it is turned back: sorts that find one run a key cost a pass each.
    later = f"-((upto - pmod(upto, {span}L)) div {span}L)"
    cut = rows.selectExpr(*keys, "upto", *names, f"{later} as later")
    suffix = over([*keys, "later"], "upto desc")
    cut = cut.selectExpr(
        *keys, "upto", "-later as block", *names,
        *(f"{merged(f, types[f.name], suffix)} as suffix_{f.name}" for f in running),
    )  # fmt: skip
    suffixes = [f"suffix_{f.name}" for f in running]
    prefix = over([*keys, "block"], "upto")
    cut = cut.selectExpr(
        *keys, "upto", "block", *names, *suffixes,
        *(f"{merged(f, types[f.name], prefix)} as prefix_{f.name}" for f in running),
    )  # fmt: skip
    prefixes = [f"prefix_{f.name}" for f in running]
    own = ["block", *suffixes]
    ordered = over(keys, "upto", _SO_FAR)
    cut = cut.selectExpr(
        *keys, "upto", "block", *names, *prefixes,
        *(f"lead({column}) {over(keys, 'upto')} as next_{column}" for column in own),
        *(f"first({column}) {ordered} as first_{column}" for column in own),
    )  # fmt: skip
    back = over(keys, "upto", f"range between unbounded preceding and {span}L preceding")
    window = over(keys, "upto", f"range between {span - 1}L preceding and current row")
    cut = cut.selectExpr(
        *keys, "upto", "block", *prefixes,
        *(f"first_{column}" for column in own),
        *(f"last(next_{column}) {back} as next_{column}" for column in own),
        f"last(upto) {back} as back",
        *(f"{merged(f, types[f.name], window)} as {f.name}" for f in scanned),
    )  # fmt: skip
    results = []
    for field in fields:
        if field in scanned:
            results.append(field.name)
            continue
        head = f"if(back is null, first_suffix_{field.name}, next_suffix_{field.name})"
        start = "if(back is null, first_block, next_block)"
        head = f"if({start} < block, {head}, null)"
        both = field.monoid.combine(head, f"prefix_{field.name}")
        results.append(f"cast({both} as {types[field.name]}) as {field.name}")
    return cut.selectExpr(*keys, "upto", *results)


def _wide(kind: str) -> str:
    """A type in which a running total over all rows of a key cannot overflow."""
    return f"decimal(38,{kind[8:-1].split(',')[1] if kind.startswith('decimal') else 0})"


ROLLUPS = {"scan": scan, "two stacks": two_stacks, "difference": difference}


def rolled(
    slices: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    cut: Cut,
    how: str,
) -> DataFrame:
    """Slices (keys, ``piece`` where each begins, partials) to windows (keys, ``start``, partials).

    ``how`` is the roll-up's name.
    """
    names = [field.name for field in fields]
    if cut.span == 1:
        return slices.selectExpr(*keys, "piece as start", *names)
    numbered = slices.selectExpr(*keys, f"{slice_number(cut, 'piece')} as slice", *names)
    rows = filled(numbered, keys, fields, cut.span, cut.step)
    windows = ROLLUPS[how](rows, keys, fields, types, cut.span)
    if cut.step > 1:
        windows = windows.filter(f"pmod(upto - {cut.span - 1}L, {cut.step}L) = 0")
    return windows.selectExpr(*keys, f"{window_start(cut, 'upto')} as start", *names)
