"""Rolls up entries and dyadic intervals (see :mod:`fanlight.engine.spark.window_ranges`).

Partials are rows (keys, place, fields). Value counts are rows (keys, place, value, count), which
are lifted to partials only at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.spark.fields import combine_sql
from fanlight.engine.spark.relation import Relation
from fanlight.engine.spark.sql import over_clause
from fanlight.engine.spark.window_ranges import (
    dyadics_of_entry,
    dyadics_of_range,
    interval_of_entry,
    is_left_of_middle,
    windows_of_dyadic,
)


def roll_up_runs(entered: Relation, which: Sequence[str]) -> Relation:
    """Windows (``number``) of a batch from entries (place: ``which``, ``power``, ``number``).

        power      |---- left ----|---- right ---|     from_window left, to_window right
        entries          e1   e2      e3     e4
        partials         [1] [1+2  ][3+4][4    ]        running from both outer ends to the middle

    Within an interval the running partial changes only at an entry, so each run of windows between
    two entries is one row; then each window combines one row of each power. Nothing is subtracted.
    """
    keys, names = [*entered.keys, *which], entered.names
    way = f"if({is_left_of_middle()}, 1L, -1L)"
    # One shuffle by key serves all that follows.
    together = entered.df.repartition(*keys) if keys else entered.df
    placed = together.selectExpr("*", f"{interval_of_entry()} as dyadic", f"{way} as way")
    placed = placed.selectExpr("*", "number * way as place")
    along, types = over_clause([*keys, "power", "dyadic"], "place"), entered.types()
    running = [f"{combine_sql(f, types[f.name], along)} as {f.name}" for f in entered.fields]
    between = placed.selectExpr(
        *keys, "power", "dyadic", "way", "place", f"lead(place) {along} as ahead", *running
    )
    edge = "if(way > 0, shiftleft(dyadic + 1L, power) - 1L, -shiftleft(dyadic, power))"
    upto = f"coalesce(ahead - 1L, if(power < 0, place, {edge}))"
    spread = between.selectExpr(*keys, "way", f"explode(sequence(place, {upto})) as here", *names)
    windows = spread.selectExpr(*keys, "here * way as number", *names)
    return entered.with_df(windows, *which, "number").combine(*which, "number")


def copy_to_dyadics(parts: Relation, which: Sequence[str]) -> Relation:
    """Copy entries, or ranges of windows with their power, to their dyadic intervals."""
    dyadics = dyadics_of_entry() if "number" in parts.place else dyadics_of_range()
    return parts.with_places(*which, f"inline({dyadics})", place=[*which, "power", "dyadic"])


def push_to_windows(dyadics: Relation, which: Sequence[str]) -> Relation:
    """Copy dyadic intervals to their windows: place ``which`` and ``number``."""
    return dyadics.with_places(*which, f"{windows_of_dyadic()} as number", place=[*which, "number"])
