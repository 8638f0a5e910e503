"""Events with the windows of every query that they are in, and windows back as times."""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.spark.fields import Fields, selected
from fanlight.spark.granular.slices import by_query, start_of
from fanlight.spark.spanning import ranges
from fanlight.spark.spanning.rollup import first, others
from fanlight.spark.spanning.several.binding import SeveralBound

ENDS = ("s", "l")  # of an event: the first instant and the last that it shares


def events(bound: SeveralBound, fields: Fields) -> DataFrame:
    """Events as (keys, ``s``, ``l``, values), one pass over the source."""
    rows = selected(bound, fields)
    return rows.selectExpr(*bound.keys, *ENDS, *fields.values.values())


def slotted(bound: SeveralBound, rows: DataFrame) -> DataFrame:
    """Events at the beginnings of the slices that their ends lie in: no window tells a difference.

    What ends events apart is where windows begin, what begins them apart is where windows end.
    """
    begin, end = bound.slots
    rest = others(rows, [*bound.keys, *ENDS])
    moved = [f"{start_of(begin, 's')} as s", f"{start_of(end, 'l')} as l"]
    return rows.selectExpr(*bound.keys, *moved, *rest)


def cells(bound: SeveralBound, fields: Fields) -> DataFrame:
    """One partial a key and cell, shared by all queries: (keys, ``s``, ``l``, partials)."""
    rows = slotted(bound, events(bound, fields))
    return first(rows, [*bound.keys, *ENDS], fields.all, "l")


def first_of(bound: SeveralBound, query: int) -> str:
    """SQL: the number of the first window of a query that an event is in."""
    return ranges.first_window(bound.axes[query], "s", len(bound.axes))


def last_of(bound: SeveralBound, query: int) -> str:
    """SQL: the number of the last window of a query that an event is in."""
    return ranges.last_window(bound.axes[query], "l", len(bound.axes))


def start_by(bound: SeveralBound, number: str, q: str = "q") -> str:
    """SQL: where a window begins, by its number and its query."""
    axes, among = bound.axes, len(bound.axes)
    shifts = by_query([ranges.shift(axis, among) for axis in axes], q)
    slides = by_query([axis.slide for axis in axes], q)
    return f"(({number} - {shifts}) * {slides} + {by_query([axis.offset for axis in axes], q)})"


def end_by(bound: SeveralBound, number: str) -> str:
    """SQL: where a window ends, by its number and its query ``q``."""
    return f"{start_by(bound, number)} + {by_query([axis.range for axis in bound.axes])}"


def soonest(bound: SeveralBound) -> str:
    """SQL: the end of the window, of any query, that an event is in and that ends first."""
    ends = []
    for query, axis in enumerate(bound.axes):
        a, b = first_of(bound, query), last_of(bound, query)
        end = f"{ranges.window_start(axis, a, len(bound.axes))} + {axis.range}L"
        ends.append(end if axis.slide <= axis.range else f"if({a} <= {b}, {end}, null)")
    return ends[0] if len(ends) == 1 else f"least({', '.join(ends)})"


def copies(bound: SeveralBound, rows: DataFrame) -> DataFrame:
    """Rows (keys, ``s``, ``l``, rest) in each of their windows: keys, ``q``, ``w``, rest."""
    arrays = []
    for query, axis in enumerate(bound.axes):
        a, b = first_of(bound, query), last_of(bound, query)
        found = f"sequence({a}, {b})"
        if axis.slide > axis.range:
            found = f"filter(sequence({a}, greatest({a}, {b})), w -> w <= {b})"
        arrays.append(f"transform({found}, w -> named_struct('q', {query}, 'w', w))")
    rest = others(rows, [*bound.keys, *ENDS, "end"])
    return rows.selectExpr(*bound.keys, f"inline(concat({', '.join(arrays)}))", *rest)


def apart(bound: SeveralBound, rows: DataFrame) -> DataFrame:
    """Rows (keys, ``s``, ``l``, rest) once a query, as keys, ``q``, ``a``, ``b``, ``h``, rest."""
    found = ", ".join(
        f"named_struct('q', {query}, 'a', {first_of(bound, query)}, 'b', {last_of(bound, query)})"
        for query in range(len(bound.axes))
    )
    rest = others(rows, [*bound.keys, *ENDS, "end"])
    each = rows.selectExpr(*bound.keys, f"inline(array({found}))", *rest)
    if any(axis.slide > axis.range for axis in bound.axes):
        each = each.filter("a <= b")
    return each.selectExpr("*", f"{ranges.level()} as h")
