"""From partials to what is reported: results lowered, keys named, windows as structs."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.spark.columns import TIME_WINDOW, WATERMARK, over, quote, sql
from fanlight.spark.fields import Fields
from fanlight.spark.granular.binding import Labelled
from fanlight.spark.granular.slices import by_query
from fanlight.spark.times import coordinate, restored

CLOSE = "1e-9D"


def start_column(bound: Labelled) -> str:
    """SQL: the start of the window of query ``q`` that ends at the event time ``end``."""
    lengths = by_query([axis.range for axis in bound.axes])
    return f"({coordinate(bound.axis, 'end')} - {lengths})"


def lowered(bound: Labelled, fields: Fields, windows: DataFrame) -> DataFrame:
    """Partials (keys, ``q``, ``w``, perhaps ``end``) to results ``r0`` and so on."""
    start = shown_start(bound)
    kept = [*bound.keys, "q", "w", *(["end"] if "end" in windows.columns else [])]
    texts = [f"{o.lower.replace('{start}', start)} as r{n}" for n, o in enumerate(fields.outputs)]
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
    """Keys and results under their names; ``window``, which in a stream carries the watermark."""
    axis = bound.axis
    streaming = "end" in results.columns
    end = "end" if streaming else restored(axis, f"(w + {by_query([a.range for a in bound.axes])})")
    start = restored(axis, shown_start(bound))
    window = sql(results, f"named_struct('start', {start}, 'end', {end})")
    marks = {TIME_WINDOW: True, WATERMARK: bound.delay}
    window = window.alias("window", metadata=marks) if streaming else window.alias("window")
    columns = [
        sql(results, key).alias(name) for key, name in zip(bound.keys, bound.names, strict=True)
    ]
    columns.append(window)
    number = by_query(bound.labels)
    columns.append(sql(results, f"cast({number} as int)").alias(bound.label))
    columns += [sql(results, f"r{n} as {quote(label)}") for n, label in enumerate(labels)]
    return results.select(*columns)
