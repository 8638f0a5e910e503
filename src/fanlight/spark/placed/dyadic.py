"""Marks and dyadic intervals to windows (see :mod:`fanlight.spark.numbers`).

Partials stand as rows (keys, place, fields); value counts as rows (keys, place, value, count),
which are folded only at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.spark.fields import Field, merged, types_of
from fanlight.spark.lift import again
from fanlight.spark.numbers import (
    block,
    dyadics_of_mark,
    dyadics_of_range,
    rightward,
    windows_of_dyadic,
)
from fanlight.spark.sql import over


def others(parts: DataFrame, places: Sequence[str]) -> list[str]:
    """All columns but those."""
    return [name for name in parts.columns if name not in places]


def runs(marked: DataFrame, keys: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """Marks (keys, ``power``, ``number``, partials) to windows (keys, ``window``), in a batch.

        power      |---- left ----|---- right ---|     from_window left, to_window right
        marks            m1   m2      m3     m4
        partials         [1] [1+2  ][3+4][4    ]        running from both outer ends to the middle

    Within a block the running partial changes only at a mark, so each stretch between two marks is
    one row; then each window adds up one row of each power. Nothing is subtracted.
    """
    types = types_of(marked, fields)
    way = f"if({rightward()}, 1L, -1L)"
    # One shuffle by key serves all that follows.
    together = marked.repartition(*keys) if keys else marked
    placed = together.selectExpr("*", f"{block()} as block", f"{way} as way")
    placed = placed.selectExpr("*", "number * way as place")
    along = over([*keys, "power", "block"], "place")
    running = [f"{merged(f, types[f.name], along)} as {f.name}" for f in fields]
    stretches = placed.selectExpr(
        *keys, "power", "block", "way", "place", f"lead(place) {along} as ahead", *running
    )
    edge = "if(way > 0, shiftleft(block + 1L, power) - 1L, -shiftleft(block, power))"
    upto = f"coalesce(ahead - 1L, if(power < 0, place, {edge}))"
    names = [field.name for field in fields]
    spread = stretches.selectExpr(*keys, "way", f"explode(sequence(place, {upto})) as here", *names)
    windows = spread.selectExpr(*keys, "here * way as number", *names)
    return again(windows, [*keys, "number"], fields)


def apart(parts: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Marks, or ranges of windows with their power, in their dyadic intervals."""
    marked = "number" in parts.columns
    kept = others(parts, [*keys, "power", "from_window", "to_window", "number", "ending"])
    found = dyadics_of_mark() if marked else dyadics_of_range()
    return parts.selectExpr(*keys, f"inline({found})", *kept)


def pushed(dyadics: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Dyadic intervals to copies in their windows (keys, ``number``, partials)."""
    kept = others(dyadics, [*keys, "power", "dyadic", "ending"])
    return dyadics.selectExpr(*keys, f"{windows_of_dyadic()} as number", *kept)
