"""From partials to what is reported: results lowered, keys named, windows as structs."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.spark import result
from fanlight.spark.coordinates import coordinate
from fanlight.spark.fields import Fields
from fanlight.spark.granular.binding import Labelled
from fanlight.spark.granular.slices import by_query
from fanlight.spark.sql import over

CLOSE = "1e-9D"


def start_column(bound: Labelled) -> str:
    """SQL: the start of the window of query ``q`` that ends at the event time ``end``."""
    lengths = by_query([axis.range for axis in bound.axes])
    return f"({coordinate(bound.coordinate, 'end')} - {lengths})"


def lowered(bound: Labelled, fields: Fields, windows: DataFrame) -> DataFrame:
    """Partials (keys, ``q``, ``w``, perhaps ``end``) to results ``r0`` and so on."""
    start = shown_start(bound)
    kept = [*bound.keys, "q", "w", *(["end"] if "end" in windows.columns else [])]
    texts = [f"{text} as r{n}" for n, (text, _) in enumerate(result.lowered(fields, start))]
    return windows.selectExpr(*kept, *texts)


def shown_start(bound: Labelled) -> str:
    """SQL: where a window begins, not before the initiation time (the paper's scope)."""
    return "w" if bound.since is None else f"greatest(w, {bound.since}L)"


def changed(bound: Labelled, results: DataFrame, count: int) -> DataFrame:
    """Of a batch, the results that are not what they were one report before."""
    names = [f"r{n}" for n in range(count)]
    types = dict(results.dtypes)
    order = over([*bound.keys, "q"], "w")
    before = [f"lag({name}) {order} as was_{name}" for name in names]
    seen = results.selectExpr("*", f"lag(w) {order} as was", *before)
    slides = by_query([axis.slide for axis in bound.axes])
    stays = " and ".join(alike(f"was_{name}", name, types[name]) for name in names)
    kept = seen.filter(f"was is null or was <> w - {slides} or not ({stays})")
    return kept.select(*results.columns)


def alike(a: str, b: str, kind: str) -> str:
    """SQL: whether two results are the same; doubles up to the order of their additions."""
    if kind in ("double", "float"):
        near = f"abs({a} - {b}) <= {CLOSE} * greatest(abs({a}), abs({b}))"
        return f"({a} <=> {b} or coalesce({near}, false))"
    return f"({a} <=> {b})"


def finished(bound: Labelled, results: DataFrame, labels: Sequence[str]) -> DataFrame:
    """Keys and results under their names, and which query each is of."""
    lengths = by_query([axis.range for axis in bound.axes])
    start, end = result.times(bound, shown_start(bound), f"(w + {lengths})")
    columns = [(f"cast({by_query(bound.labels)} as int)", bound.label)]
    columns += [(f"r{n}", label) for n, label in enumerate(labels)]
    end = "end" if "end" in results.columns else end
    return result.finished(bound, results, start, end, columns)
