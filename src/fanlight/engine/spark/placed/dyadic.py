"""Entries and dyadic intervals to windows (see :mod:`fanlight.engine.spark.numbers`).

Partials are rows (keys, place, fields). Value counts are rows (keys, place, value, count), which
are lifted to partials only at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.spark.fields import Field, combined, types_of
from fanlight.engine.spark.lift import again
from fanlight.engine.spark.numbers import (
    dyadics_of_entry,
    dyadics_of_range,
    interval,
    rightward,
    windows_of_dyadic,
)
from fanlight.engine.spark.sql import over


def others(parts: DataFrame, places: Sequence[str]) -> list[str]:
    """All columns but ``places``."""
    return [name for name in parts.columns if name not in places]


def runs(entered: DataFrame, keys: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """Entries (keys, ``power``, ``number``, partials) to windows (keys, ``number``), in a batch.

        power      |---- left ----|---- right ---|     from_window left, to_window right
        entries          e1   e2      e3     e4
        partials         [1] [1+2  ][3+4][4    ]        running from both outer ends to the middle

    Within an interval the running partial changes only at an entry, so each run of windows between
    two entries is one row; then each window combines one row of each power. Nothing is subtracted.
    """
    types = types_of(entered, fields)
    way = f"if({rightward()}, 1L, -1L)"
    # One shuffle by key serves all that follows.
    together = entered.repartition(*keys) if keys else entered
    placed = together.selectExpr("*", f"{interval()} as dyadic", f"{way} as way")
    placed = placed.selectExpr("*", "number * way as place")
    along = over([*keys, "power", "dyadic"], "place")
    running = [f"{combined(f, types[f.name], along)} as {f.name}" for f in fields]
    between = placed.selectExpr(
        *keys, "power", "dyadic", "way", "place", f"lead(place) {along} as ahead", *running
    )
    edge = "if(way > 0, shiftleft(dyadic + 1L, power) - 1L, -shiftleft(dyadic, power))"
    upto = f"coalesce(ahead - 1L, if(power < 0, place, {edge}))"
    names = [field.name for field in fields]
    spread = between.selectExpr(*keys, "way", f"explode(sequence(place, {upto})) as here", *names)
    windows = spread.selectExpr(*keys, "here * way as number", *names)
    return again(windows, [*keys, "number"], fields)


def apart(parts: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Entries, or ranges of windows with their power, copied to their dyadic intervals."""
    entered = "number" in parts.columns
    kept = others(parts, [*keys, "power", "from_window", "to_window", "number", "ending"])
    found = dyadics_of_entry() if entered else dyadics_of_range()
    return parts.selectExpr(*keys, f"inline({found})", *kept)


def pushed(dyadics: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Dyadic intervals copied to their windows (keys, ``number``, partials)."""
    kept = others(dyadics, [*keys, "power", "dyadic", "ending"])
    return dyadics.selectExpr(*keys, f"{windows_of_dyadic()} as number", *kept)
