"""Several windows over a stream: rows to granules, granules to all windows, both native.

Two chained aggregations in append mode, whatever the number of levels: each granule's partial goes
to the windows of every level that it lies in. One pass over the source, one state for all levels.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.plan.granular import GranularPlan
from fanlight.spark import result
from fanlight.spark.coordinates import coordinate, restored
from fanlight.spark.fields import Fields, merged, types_of
from fanlight.spark.granular.aging import aged, weight_of
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.granular.results import alike, shown_start, start_column
from fanlight.spark.granular.slices import by_query, copies_of, end_of, rows_of, start_of
from fanlight.spark.slices import lifted
from fanlight.spark.sql import event_time, grouped


def granules_of(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """One partial a key and granule, once the watermark has passed it: keys, ``end``, partials."""
    keys, values = bound.keys, list(fields.values.values())
    rows = rows_of(bound, fields)
    rows = ending(bound, rows, end_of(plan.granules, "t"), [*keys, *values])
    return lifted(rows, [*keys, "end"], fields.all, place(bound, plan))


def place(bound: GranularBound, plan: GranularPlan) -> str:
    """SQL: the start of the granule that ends at ``end``."""
    return start_of(plan.granules, last(bound))


def last(bound: GranularBound) -> str:
    """SQL: the last coordinate of the slice that ends at ``end``."""
    return f"({coordinate(bound.coordinate, 'end')} - 1L)"


def ending(bound: GranularBound, rows: DataFrame, end: str, others: Sequence[str]) -> DataFrame:
    """The columns ``others`` beside an event time ``end``."""
    ends = event_time(rows, restored(bound.coordinate, f"({end})"), "end", bound.delay)
    return rows.select(*others, ends)


def copied(
    bound: GranularBound,
    plan: GranularPlan,
    granules: DataFrame,
    names: Sequence[str],
    more: Sequence[str] = (),
    *,
    ahead: int = 0,
) -> DataFrame:
    """Each granule in each of its windows: keys, names, ``q``, fields of ``more``, ``end``."""
    keys = bound.keys
    here = granules.selectExpr(*keys, f"{last(bound)} as at", f"{place(bound, plan)} as p", *names)
    copies = here.selectExpr(
        *keys, "at", "p", *names, f"inline({copies_of(plan, 'at', more, ahead=ahead)})"
    )
    end = f"w + {by_query([axis.range for axis in bound.axes])}"
    others = [name for name in copies.columns if name not in ("at", "p")]
    return ending(bound, copies, end, others)


def windows(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """One row a key and window, once complete: keys, ``q``, ``end``, ``w``, partials."""
    granules = granules_of(bound, fields, plan)
    names, types = [field.name for field in fields.all], types_of(granules, fields.all)
    group = [*bound.keys, "q", "end"]
    if bound.weights is not None:
        copies = copied(bound, plan, granules, names, [f"'a', {weight_of(bound, 'p')}"])
        found = aged(fields, copies, group)
    else:
        copies = copied(bound, plan, granules, names)
        found = grouped(copies, group, [(f.name, merged(f, types[f.name])) for f in fields.all])
    return found.selectExpr("*", f"{start_column(bound)} as w")


def changes(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """Results (keys, ``q``, ``end``, ``w``, ``r0`` …) without those that are what they were before.

    A state store knows no order among windows, so each window is aggregated together with the one
    that was reported before it: a granule goes to its windows, and to the one after each of them as
    a part of what was before. That is one copy more a granule and level.
    """
    granules = granules_of(bound, fields, plan)
    names, types = [field.name for field in fields.all], types_of(granules, fields.all)
    slides = [axis.slide for axis in bound.axes]
    reach = by_query([axis.range - axis.slide for axis in bound.axes], "{q}")
    more = ["'now', {w} <= at", f"'was', at - {{w}} < {reach}"]
    if bound.weights is not None:
        before = weight_of(bound, "p").replace("{x}", f"({{x}} - {by_query(slides, '{q}')})")
        more += [f"'a', {weight_of(bound, 'p')}", f"'b', {before}"]
    copies = copied(bound, plan, granules, names, more, ahead=1)
    texts = [("n_now", "count_if(now)"), ("n_was", "count_if(was)")]
    for field in fields.all:
        for side, weight in (("now", "a"), ("was", "b")):
            text = field.monoid.merge(f"if({side}, {field.name}, null)")
            if bound.weights is not None:
                text = f"sum(if({side}, cast({field.name} as double) * {weight}, null))"
            elif types[field.name].startswith("decimal"):
                text = f"cast({text} as {types[field.name]})"
            texts.append((f"{side}_{field.name}", text))
    found = grouped(copies, [*bound.keys, "q", "end"], texts).filter("n_now > 0")
    found = found.selectExpr("*", f"{start_column(bound)} as w")
    outputs = [f"{{}}{n}" for n in range(len(fields.outputs))]
    now = [output.format("r") for output in outputs]
    was = [output.format("s") for output in outputs]
    kept = [*bound.keys, "q", "end", "w", "n_was"]
    # Lowered twice, once from each side under the names that the outputs know.
    waiting = [f"was_{name}" for name in names]
    both = found.selectExpr(*kept, *waiting, *(f"now_{name} as {name}" for name in names))
    start = shown_start(bound)
    both = both.selectExpr(*kept, *waiting, *_lowered(fields, start, now))
    both = both.selectExpr(*kept, *now, *(f"was_{name} as {name}" for name in names))
    earlier = f"({start} - {by_query(slides)})"
    both = both.selectExpr(*kept, *now, *_lowered(fields, earlier, was))
    kinds = dict(both.dtypes)
    stays = " and ".join(alike(r, s, kinds[r]) for r, s in zip(now, was, strict=True))
    return both.filter(f"n_was = 0 or not ({stays})").drop("n_was", *was)


def _lowered(fields: Fields, start: str, names: Sequence[str]) -> list[str]:
    outputs = zip(result.lowered(fields, start), names, strict=True)
    return [f"{text} as {name}" for (text, _), name in outputs]
