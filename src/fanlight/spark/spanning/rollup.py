"""Events to windows through levels or nodes (see :mod:`fanlight.spark.spanning.ranges`).

Partials stand as rows (keys, place, fields); value counts as rows (keys, place, value, count),
which are folded only at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.spark.fields import Field, merged, types_of
from fanlight.spark.slices import counted, lifted, recounted, settled
from fanlight.spark.spanning.ranges import (
    block,
    nodes_of_mark,
    nodes_of_range,
    rightward,
    windows_of_node,
)
from fanlight.spark.sql import grouped, over


def by_value(fields: Sequence[Field]) -> bool:
    """Whether rows are counted by value before anything is folded."""
    return any(field.monoid.by_value for field in fields)


def first(rows: DataFrame, group: Sequence[str], fields: Sequence[Field], origin: str) -> DataFrame:
    """Rows to partials, or to value counts where a field needs them."""
    step = counted if by_value(fields) else lifted
    return step(rows, group, fields, origin)


def again(parts: DataFrame, group: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """Partials or value counts to those of other groups."""
    if by_value(fields):
        return recounted(parts, group, fields)
    types = types_of(parts, fields)
    return grouped(parts, group, [(f.name, merged(f, types[f.name])) for f in fields])


def last(parts: DataFrame, group: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """Partials of their group: value counts are folded."""
    return settled(parts, group, fields) if by_value(fields) else parts


def others(parts: DataFrame, places: Sequence[str]) -> list[str]:
    """All columns but those."""
    return [name for name in parts.columns if name not in places]


def runs(marked: DataFrame, keys: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """Marks (keys, ``h``, ``p``, partials) to windows (keys, ``w``, partials), in a batch.

        level h     |---- left ----|---- right ---|       marks a in left blocks, b in right ones
        marks            a1   a2      b1     b2
        partials         [1] [1+2  ][1+2][2    ]          running from both outer ends to the middle

    Within a block the running partial changes only at a mark, so each stretch between two marks is
    one row; then each window adds up one row of each level. Nothing is subtracted.
    """
    types = types_of(marked, fields)
    way = f"if({rightward()}, 1L, -1L)"
    # One shuffle by key serves all that follows.
    together = marked.repartition(*keys) if keys else marked
    placed = together.selectExpr("*", f"{block()} as block", f"{way} as way")
    placed = placed.selectExpr("*", "p * way as o")
    along = over([*keys, "h", "block"], "o")
    running = [f"{merged(f, types[f.name], along)} as {f.name}" for f in fields]
    stretches = placed.selectExpr(
        *keys, "h", "block", "way", "o", f"lead(o) {along} as ahead", *running
    )
    edge = "if(way > 0, shiftleft(block + 1L, h) - 1L, -shiftleft(block, h))"
    upto = f"coalesce(ahead - 1L, if(h < 0, o, {edge}))"
    names = [field.name for field in fields]
    spread = stretches.selectExpr(*keys, "way", f"explode(sequence(o, {upto})) as at", *names)
    windows = spread.selectExpr(*keys, "at * way as w", *names)
    return again(windows, [*keys, "w"], fields)


def noded(parts: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Marks, or ranges ``a`` to ``b`` with their level, as copies in their nodes ``(j, node)``."""
    marked = "p" in parts.columns
    kept = others(parts, [*keys, "h", "a", "b", "p", "end"])
    found = nodes_of_mark() if marked else nodes_of_range()
    return parts.selectExpr(*keys, f"inline({found})", *kept)


def pushed(nodes: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Nodes to copies in their windows (keys, ``w``, partials): one a level and window."""
    kept = others(nodes, [*keys, "j", "node", "end"])
    return nodes.selectExpr(*keys, f"{windows_of_node()} as w", *kept)
