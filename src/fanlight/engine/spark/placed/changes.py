"""Keeps results that differ from those of the same key and query one SLIDE before."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import previous_existing, previous_existing_by, window_end
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.placed.aging import weight_of
from fanlight.engine.spark.placed.sealing import seal
from fanlight.engine.spark.placed.stream import copy_granules, lift_granules
from fanlight.engine.spark.sql import group_rows, narrow_decimal, over_clause, types_in
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
