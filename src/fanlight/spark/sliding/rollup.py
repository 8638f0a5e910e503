"""The WLQ in a batch: slices to windows, without copying a slice into each of its windows.

Slices stand as rows (keys, ``i``, partials). A window ends at ``e`` and holds ``[e-span+1, e]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from fanlight.spark.fields import Field, merged
from fanlight.spark.sql import over

_SO_FAR = "range between unbounded preceding and current row"


def filled(
    slices: DataFrame, keys: Sequence[str], fields: Sequence[Field], span: int, step: int
) -> DataFrame:
    """Slices, and empty ones (null partials) wherever a window with rows ends in a gap.

    i     0  .  .  .  4          span 3
    e     0  1  2     4  5  6    1, 2, 5 and 6 are filled in
    """
    ahead = slices.selectExpr("*", f"lead(i) {over(keys, 'i')} as ahead")
    last = f"least(coalesce(ahead - 1L, i + {span - 1}L), i + {span - 1}L)"
    if step == 1:
        first, ends = "i", f"sequence(i, {last})"
    else:
        first = (
            f"(i + 1L + pmod({span - 2}L - i, {step}L))"  # the next slice at which a window ends
        )
        ends = (
            f"if({first} <= {last}, concat(array(i), sequence({first}, {last}, {step}L)), array(i))"
        )
    partials = [f"if(e = i, {field.name}, null) as {field.name}" for field in fields]
    exploded = ahead.selectExpr("*", f"explode({ends}) as e")
    return exploded.selectExpr(*keys, "e", *partials)


def scan(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """Each window scans its partials: formula 3.1."""
    window = over(keys, "e", f"range between {span - 1}L preceding and current row")
    results = [f"{merged(f, types[f.name], window)} as {f.name}" for f in fields]
    return rows.selectExpr(*keys, "e", *results)


def difference(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """A running total less the one a RANGE ago: formula 3.2. Exact types only."""
    now = over(keys, "e", _SO_FAR)
    before = over(keys, "e", f"range between unbounded preceding and {span}L preceding")
    results = []
    for field in fields:
        wide = f"cast({field.name} as {_wide(types[field.name])})"
        total, gone = field.monoid.merge(wide, now), field.monoid.merge(wide, before)
        seen = f"count({field.name}) {now} - count({field.name}) {before}"
        left = field.monoid.inverse(total, f"coalesce({gone}, 0)")
        results.append(f"cast(if({seen} > 0, {left}, null) as {types[field.name]}) as {field.name}")
    return rows.selectExpr(*keys, "e", *results)


def blocks(
    rows: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    span: int,
) -> DataFrame:
    """Each window is the suffix of one block of ``span`` and the prefix of the next.

        block          |---- 0 ----|---- 1 ----|        prefix: from the block's start to e
        window              [--suffix---prefix-]        suffix: from e to the block's end

    The suffix to take is that of the first row inside the window: the row after the last one that
    lies a RANGE back. Every partial is touched a constant number of times, whatever ``span``, and
    nothing is ever subtracted, so doubles keep no residue. Fields that Spark merges one by one
    (lists, moments) are scanned beside it.
    """
    running = [f for f in fields if f.monoid.running]
    scanned = [f for f in fields if not f.monoid.running]
    names = [f.name for f in fields]
    # Rows come in order of ``e``. Blocks from the last to the first and rows so too is that order
    # reversed, and then it is turned back: sorts that find one run a key cost a pass each.
    later = f"-((e - pmod(e, {span}L)) div {span}L)"
    cut = rows.selectExpr(*keys, "e", *names, f"{later} as later")
    suffix = over([*keys, "later"], "e desc")
    cut = cut.selectExpr(
        *keys, "e", "-later as block", *names,
        *(f"{merged(f, types[f.name], suffix)} as suffix_{f.name}" for f in running),
    )  # fmt: skip
    suffixes = [f"suffix_{f.name}" for f in running]
    prefix = over([*keys, "block"], "e")
    cut = cut.selectExpr(
        *keys, "e", "block", *names, *suffixes,
        *(f"{merged(f, types[f.name], prefix)} as prefix_{f.name}" for f in running),
    )  # fmt: skip
    prefixes = [f"prefix_{f.name}" for f in running]
    own = ["block", *suffixes]
    ordered = over(keys, "e", _SO_FAR)
    cut = cut.selectExpr(
        *keys, "e", "block", *names, *prefixes,
        *(f"lead({column}) {over(keys, 'e')} as next_{column}" for column in own),
        *(f"first({column}) {ordered} as first_{column}" for column in own),
    )  # fmt: skip
    back = over(keys, "e", f"range between unbounded preceding and {span}L preceding")
    window = over(keys, "e", f"range between {span - 1}L preceding and current row")
    cut = cut.selectExpr(
        *keys, "e", "block", *prefixes,
        *(f"first_{column}" for column in own),
        *(f"last(next_{column}) {back} as next_{column}" for column in own),
        f"last(e) {back} as back",
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
    return cut.selectExpr(*keys, "e", *results)


def _wide(kind: str) -> str:
    """A type in which a running total over all rows of a key cannot overflow."""
    return f"decimal(38,{kind[8:-1].split(',')[1] if kind.startswith('decimal') else 0})"


ROLLUPS = {"scan": scan, "blocks": blocks, "difference": difference}
