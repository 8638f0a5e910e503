"""What levels have besides their windows: changes only, recurring items, and bursts."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.facts import adds_up
from fanlight.engine.algebra.sql_text import double_literal
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import bind_calls, schema_of
from fanlight.engine.spark.coordinates import as_instant, exact
from fanlight.engine.spark.cuts import (
    previous_existing,
    previous_existing_by,
    slice_end,
    slice_start,
    window_end,
    window_starts,
)
from fanlight.engine.spark.equality import (
    INSTEAD,
    WHY_NOT,
    collated,
    has_collation,
    has_normal_form,
    normal_form,
)
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import select_points
from fanlight.engine.spark.placed import stream
from fanlight.engine.spark.placed.aging import level_of_piece, subwindow_start, weight_of
from fanlight.engine.spark.placed.side_by_side import check_at_instants, check_names, group_by_end
from fanlight.engine.spark.placed.stream import copy_granules, lift_granules, seal
from fanlight.engine.spark.placed.window_sets import is_number
from fanlight.engine.spark.requested_aggregates import check_labels
from fanlight.engine.spark.sql import (
    expr,
    expr_as,
    group_rows,
    narrow_decimal,
    over_clause,
    type_text,
    types_in,
)
from fanlight.engine.spark.window_ranges import More
from fanlight.engine.spec.errors import refuse

CLOSE = "1e-9D"


def keep_changed(bound: Placed, fields: Fields, windows: DataFrame) -> DataFrame:
    """The results of a batch that changed."""
    names = [f"r{n}" for n in range(len(fields.outputs))]
    lowered = _lower_under(fields, bound.shown_start, names)
    results = windows.selectExpr(*bound.keys, *bound.query_columns, "start", *lowered)
    return _name_results(bound, fields, keep_changed_rows(bound, results, len(names)))


def keep_changed_of_stream(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """The results of a stream that changed."""
    if chosen.rollup.in_operator:
        raise refuse(
            "changes_only=True with the chain operator",
            "is not supported: the operator keeps partials, not the results made from them",
            "compare the results afterwards, or use levels over time with 'granules'",
        )
    return _name_results(bound, fields, _compare_in_stream(bound, fields, chosen))


def _name_results(bound: Placed, fields: Fields, results: DataFrame) -> DataFrame:
    labels = [output.label for output in fields.outputs]
    return result.finish_windows(bound, results, result.name_by_number(labels))


def keep_changed_rows(bound: Placed, results: DataFrame, count: int) -> DataFrame:
    """The rows whose results ``r0``, ``r1``, … differ from those of one SLIDE before."""
    names = [f"r{n}" for n in range(count)]
    types = types_in(results)
    order = over_clause([*bound.keys, *bound.query_columns], "start")
    before = [f"lag({name}) {order} as was_{name}" for name in names]
    seen = results.selectExpr("*", f"lag(start) {order} as was", *before)
    stays = " and ".join(_are_equal(f"was_{name}", name, types[name]) for name in names)
    slide_ago = previous_existing_by(bound.grids, "start")
    kept = seen.filter(f"was is null or was <> {slide_ago} or not ({stays})")
    return kept.select(*results.columns)


def _are_equal(a: str, b: str, kind: str) -> str:
    """SQL: whether two results are equal; doubles may differ by the order of additions."""
    if kind in ("double", "float"):
        near = f"abs({a} - {b}) <= {CLOSE} * greatest(abs({a}), abs({b}))"
        return f"({a} <=> {b} or coalesce({near}, false))"
    return f"({a} <=> {b})"


def _compare_in_stream(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Results (keys, ``query``, ``ending``, ``start``, ``r0`` …) that changed.

    In a state store windows have no order, so each window is aggregated together with the one that
    was reported before it: a granule goes to its windows, and to the one after each of them as a
    part of what was before. That is one more copy for each granule and level.
    """
    bound = seal(bound, fields, chosen, changes=True)
    pieces, cut = lift_granules(bound, fields, chosen), chosen.pieces.granules
    names, types = pieces.names, pieces.types()
    copies = copy_granules(bound, pieces, cut, _sides_of_copy(bound), ahead=1).df
    texts = [("n_now", "count_if(now)"), ("n_was", "count_if(was)")]
    for field in fields.all:
        for side, weight in (("now", "weight"), ("was", "weight_was")):
            text = field.monoid.combine_all(f"if({side}, {field.name}, null)")
            if bound.weights is not None:
                text = f"sum(if({side}, cast({field.name} as double) * {weight}, null))"
            else:
                text = narrow_decimal(text, types[field.name])
            texts.append((f"{side}_{field.name}", text))
    place = [*bound.keys, "query", "start", "ending"]
    sides = group_rows(copies, place, texts).filter("n_now > 0")
    now = [f"r{n}" for n in range(len(fields.outputs))]
    was = [f"s{n}" for n in range(len(fields.outputs))]
    kept = [*place, "n_was"]
    # Lowered twice: outputs refer to fields by name, so each side takes the names in turn.
    waiting = [f"was_{name}" for name in names]
    both = sides.selectExpr(*kept, *waiting, *(f"now_{name} as {name}" for name in names))
    start = bound.shown_start
    both = both.selectExpr(*kept, *waiting, *_lower_under(fields, start, now))
    both = both.selectExpr(*kept, *now, *(f"was_{name} as {name}" for name in names))
    slide_ago = f"({previous_existing_by(bound.grids, start)})"
    both = both.selectExpr(*kept, *now, *_lower_under(fields, slide_ago, was))
    kinds = types_in(both)
    stays = " and ".join(_are_equal(r, s, kinds[r]) for r, s in zip(now, was, strict=True))
    return both.filter(f"n_was = 0 or not ({stays})").drop("n_was", *was)


def _sides_of_copy(bound: Placed) -> More:
    """SQL: whether a copy counts in its window and in the one before it, or with which weights."""

    def more(start: str, query: int, stop: str) -> dict[str, str]:
        grid = bound.grids[query]
        before = window_end(grid, previous_existing(grid, start))
        columns = {"now": f"{start} <= upto", "was": f"upto < {before}"}
        if bound.weights is not None:
            columns["weight"] = weight_of(bound, "piece", stop)
            columns["weight_was"] = weight_of(bound, "piece", f"({before})")
        return columns

    return more


def _lower_under(fields: Fields, start: str, names: Sequence[str]) -> list[str]:
    outputs = zip(result.lower_outputs(fields, start), names, strict=True)
    return [f"{text} as {name}" for (text, _), name in outputs]


def find_recurring(
    bound: Placed, chosen: Candidate[Pieces], column: Any, *, counts: bool
) -> DataFrame:
    """Results: keys, ``level``, ``start`` and ``upto`` of the window, ``item``, ``n``."""
    fields = Fields()
    fields.add_argument(column)
    (item,) = schema_of(bound.df, [("recurring", column)], "recurring")
    kind, streaming = item.dataType, bound.df.isStreaming
    if streaming and not has_normal_form(kind):
        raise refuse(
            f"recurring({item.name!r})", f"is of type {type_text(kind)}, {WHY_NOT}", INSTEAD
        )
    # Spark's state store refuses keys that have a collation.
    fields.values[normal_form("x0", kind, bare=streaming)] = "v0"
    cut, bound = (
        chosen.pieces.granules,
        seal(bound, fields, chosen, recurring=column, counts=counts),
    )
    keys = bound.keys
    levels = len(bound.levels.ranges)
    widest = bound.grids[levels - 1]
    rows = select_points(bound, fields)
    count = [("n", "count(v0)")]  # 0 for nulls, which are not items but move the watermark
    if streaming:
        rows = stream.place_in_pieces(bound, rows, cut, fields.lifting)
        seen = group_rows(rows, [*keys, "v0", "piece", "ending"], count)
    else:
        rows = rows.selectExpr(*keys, *fields.lifting, f"{slice_start(cut, 't')} as piece")
        seen = group_rows(rows, [*keys, "v0", "piece"], count)
    last = f"{slice_end(cut, 'piece')} - 1L as last_at"
    seen = seen.filter("n > 0").selectExpr(*keys, "v0", "n", "piece", last)
    ends = f"transform({window_starts(widest, 'last_at')}, w -> {window_end(widest, 'w')})"
    copies = seen.selectExpr(*keys, "v0", "n", "piece", f"explode({ends}) as upto")
    copies = copies.selectExpr(
        *keys, "v0", "n", "upto", f"{level_of_piece(bound, 'piece', 'upto')} as ring"
    )
    copies = copies.filter("ring is not null")
    group = [*keys, "v0", "upto"]
    if streaming:
        at = as_instant(bound.coordinate, "upto")
        copies = stream.select_with_ending(bound, copies, at, copies.columns)
        group = [*group, "ending"]
    texts = [("bits", "bit_or(shiftleft(1L, ring))")]
    if counts:
        texts += [(f"n{k}", f"sum(if(ring <= {k}, n, 0L))") for k in range(levels)]
    recurring = group_rows(copies, group, texts).filter(f"bits = {2**levels - 1}L")
    reported = range(levels) if counts else [levels - 1]
    seen_rows = {k: f"n{k}" if counts else "1L" for k in reported}
    reports = ", ".join(
        f"named_struct('level', {k}, 'start', {_subwindow_start(bound, k)}, 'n', {n})"
        for k, n in seen_rows.items()
    )
    if streaming and has_collation(kind):
        recurring = recurring.withColumn("v0", collated(recurring, "v0", kind))
    kept = [*keys, "upto", "v0 as item"]
    return recurring.selectExpr(*kept, f"inline(array({reports}))")


def _subwindow_start(bound: Placed, level: int) -> str:
    start = subwindow_start(bound, level, "upto")
    return start if bound.since is None else f"greatest({start}, {bound.since}L)"


_INSTEAD = "give a count or a sum, for example agg.count()"


def read_thresholds(given: Any, levels: int) -> list[float]:
    """How many times the coarser level's rate a burst has, for each level but the coarsest."""
    fine = levels - 1
    several = isinstance(given, (list, tuple))
    if several and len(given) != fine:
        raise refuse(
            f"threshold={given!r}",
            f"has {len(given)} numbers for {fine} of {levels} levels: the coarsest has none",
            f"write for example bursts({[2.0] * fine}, …), or one number for all levels",
        )
    for one in given if several else [given]:
        number = isinstance(one, (int, float)) and not isinstance(one, bool)
        if not number or not 1 < one <= sys.float_info.max:
            raise refuse(
                f"threshold={given!r}",
                "is not a number above 1: how many times the rate of the next coarser level",
                "write for example bursts(2, …), or a list with a number for each level but the "
                "coarsest",
            )
    return [float(one) for one in (given if several else [given] * fine)]


def check_compared(bound: Placed, method: str) -> None:
    """Refuse levels that cannot be compared at an instant."""
    check_at_instants(bound, method)
    if bound.changes_only:
        raise refuse(
            f"{method} with changes_only=True",
            "would miss windows whose coarser level is not reported, as it did not change",
            "leave changes_only out",
        )
    if bound.weights is not None:
        raise refuse(
            f"{method} with weights",
            "would compare levels whose rows count differently",
            "leave weights out",
        )


def check_single(aggregates: int) -> None:
    """Refuse any other number of aggregates than one."""
    if aggregates != 1:
        raise refuse(
            f"bursts of {aggregates} aggregates",
            "compares the rate of one",
            "write for example bursts(2, agg.count())",
        )


def find_bursts(
    bound: Placed,
    results: DataFrame,
    calls: Sequence[Call],
    named: Collection[str],
    thresholds: list[float],
) -> DataFrame:
    """The windows of one aggregate's results that are bursts; see ``LevelWindows.bursts``.

    ``named`` is the name that it was given as, if it was.
    """
    check_single(len(results.columns) - len(bound.names) - 2)  # one may be named complete
    field = results.schema[-1]
    label, kind = field.name, type_text(field.dataType)
    check_labels(bound, [label], ("expected", "ratio"), named)
    if not is_number(kind):
        raise refuse(
            f"bursts of {label!r}",
            f"is of type {kind}, which has no rate",
            _INSTEAD,
        )
    for call, (_, kinds) in zip(calls, bind_calls(bound.df, calls), strict=True):
        if not adds_up(call.aggregate.partials(tuple(kinds))):
            raise refuse(
                f"bursts of {label!r}",
                "is not known to add up over the parts of a window, so a longer window says "
                "nothing of how much to expect in a shorter one",
                _INSTEAD,
            )
    length = f"({exact(bound.coordinate, 'w.end')} - {exact(bound.coordinate, 'w.start')})"
    value, size = "cast(r as double)", f"cast({length} as double)"
    inner = results.toDF(*bound.keys, "window", "level", "r")
    # Multiplied first: products of whole numbers are exact, so a ratio is not rounded past a
    # threshold that it meets.
    fine, coarse = (f"{one}.value" for one in ("fine", "coarse"))
    expected = f"{coarse} * fine.size / coarse.size"
    ratio = f"{fine} * coarse.size / nullif({coarse} * fine.size, 0D)"
    limits = ", ".join(map(double_literal, thresholds))
    wanted = f"{coarse} > 0D and o2 >= array({limits})[level] and not isnan(o2)"
    return _compare(
        bound,
        inner,
        {"r": "r", "value": value, "size": size},
        [("fine.r", label), (expected, "expected"), (ratio, "ratio")],
        wanted,
    )


def find_reversals(bound: Placed, lines: DataFrame) -> DataFrame:
    """The windows whose line goes the other way; see ``LevelWindows.reversals``."""
    inner = lines.toDF(*bound.keys, "window", "level", *lines.columns[len(bound.keys) + 2 :])
    outputs = [("fine.slope", "slope"), ("coarse.slope", "coarser_slope")]
    wanted = "signum(fine.slope) * signum(coarse.slope) < 0D"
    return _compare(bound, inner, {"slope": "slope"}, outputs, wanted)


def _compare(
    bound: Placed,
    inner: DataFrame,
    parts: dict[str, str],
    outputs: list[tuple[str, str]],
    wanted: str,
) -> DataFrame:
    """Pairs of a level's window and the next coarser one's that ends then, where ``wanted``.

    ``inner`` has the keys, ``window``, ``level`` and what ``parts`` (name, SQL over it and the
    window ``w``) are made of; ``outputs`` and ``wanted`` are SQL over ``fine``, ``coarse``,
    ``level`` and, as ``o0``, ``o1``, …, the outputs.
    """
    check_names(bound, [name for _, name in outputs], "levels compared")
    # A struct made anew, since an instant and a window may not both carry the watermark.
    told = inner.withColumn("w", expr(inner, "struct(window.start, window.end)"))
    made = ", ".join(["w", *(f"{text} as {name}" for name, text in parts.items())])
    told = told.withColumn("told", expr(told, f"struct({made})"))
    count = len(bound.levels.ranges)
    ended = group_by_end(bound, told, [("told", k, f"l{k}") for k in range(count)])
    pairs = ", ".join(
        f"struct({k} as level, l{k} as fine, l{k + 1} as coarse)" for k in range(count - 1)
    )
    both = "fine is not null and coarse is not null"
    found = ended.selectExpr(*bound.keys, f"inline(array({pairs}))").filter(both)
    names = [f"o{n}" for n, _ in enumerate(outputs)]
    computed = [f"{text} as {name}" for name, (text, _) in zip(names, outputs, strict=True)]
    found = found.selectExpr(*bound.keys, "level", "fine", "coarse", *computed)
    found = found.filter(wanted)
    metadata = inner.schema["window"].metadata
    keys = zip(bound.keys, bound.names, strict=True)
    return found.select(
        *(expr_as(found, own, name) for own, name in keys),
        expr(found, "fine.w").alias("window", metadata=metadata),
        expr(found, "level"),
        *(expr_as(found, name, label) for name, (_, label) in zip(names, outputs, strict=True)),
    )
