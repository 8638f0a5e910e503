"""Events that last: selected, and lifted whole or by the part that lies in a window."""

from __future__ import annotations

from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.cuts import numbered_start_by
from fanlight.engine.spark.fields import BEGINS, ENDS_AT, Fields
from fanlight.engine.spark.lift import select_placeable, select_values
from fanlight.engine.spark.result import Relation

ENDS = ["first_at", "last_at"]


def select_events(bound: Placed, fields: Fields) -> Relation:
    """Select events: place ``first_at``, ``last_at``, their first and last instant."""
    rows = select_values(bound, fields, bound.instants)
    return Relation.of_rows(rows, bound.keys, ENDS, fields.values.values())


def select_to_copy(bound: Placed, fields: Fields) -> Relation:
    """The same, but not lifted yet where that takes the window, too: see :func:`lift_copies`."""
    if not fields.divided:
        return select_events(bound, fields)
    rows = select_placeable(bound, fields)
    parts = [name for name in rows.columns if name not in bound.keys]
    return Relation.of_rows(rows.selectExpr("*", *bound.instants), bound.keys, ENDS, parts)


def lift_copies(bound: Placed, fields: Fields, copies: Relation) -> Relation:
    """Events that were copied to windows, lifted, with where their part in the window is.

    An event without duration is at an instant of the window, and so is its part.
    """
    if not fields.divided:
        return copies
    if not isinstance(bound, Lasting):
        raise TypeError(bound)
    (begins, ends), (start, end) = bound.ends, bound.exact_bounds
    first = numbered_start_by(bound.grids, "number", "query")
    rows = copies.df.selectExpr("*", f"{first} as start")
    rows = rows.selectExpr("*", f"greatest({begins}, {start}) as {BEGINS}", f"{end} as upto")
    rows = rows.selectExpr("*", f"greatest({BEGINS}, least({ends}, upto)) as {ENDS_AT}")
    rows = rows.selectExpr(*copies.keys, *copies.place, *fields.lifting)
    return Relation.of_rows(rows, copies.keys, copies.place, fields.values.values())
