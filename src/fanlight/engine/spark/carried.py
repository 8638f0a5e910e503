"""What was there before a window begins: readings that hold, settled in their pieces of time.

    pieces      |   x   x |         |      x  |      a reading holds until the next one, for so long
    held    ----|---=====-|=========|===      |      at most
    settled     |    5    |    9    |   3+2   |      what holds in a piece is of this piece

A piece knows the last reading before it once pieces are in order. So it says what holds in it,
whatever windows it is in: they add it up as they do any other partial. Pieces without rows are
there while a reading holds. In a stream, where no piece knows another, the same is said of the
readings of whole windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from fanlight.engine.algebra.facts import why_not_invertible
from fanlight.engine.algebra.library.held import Carried
from fanlight.engine.algebra.sql_text import fill, struct
from fanlight.engine.plan.granules import Granules
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import boundary
from fanlight.engine.spark.cuts import after_edge, slice_end
from fanlight.engine.spark.fields import Field, Fields, Output
from fanlight.engine.spark.lift import EVERY_ROW, condense, drop_rows_in_gaps
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.sql import over_clause


def settled_fields(fields: Fields) -> Fields:
    """The fields, in which readings are what pieces have of them."""
    by_name = _find_carried(fields.all)
    if not by_name:
        return fields
    parts = [part for one in fields.all for part in _settled(one)]
    kept = {(part.name, part.monoid, part.of): part for part in parts}
    outputs = [_settled_output(one, by_name) for one in fields.outputs]
    return replace(fields, kept=kept, outputs=outputs)


def _find_carried(fields: Iterable[Field]) -> dict[str, Carried]:
    """The monoids of fields that keep readings, by the names of these."""
    return {one.name: one.monoid for one in fields if isinstance(one.monoid, Carried)}


def _settled(one: Field) -> list[Field]:
    """The fields that readings become."""
    monoid, parts = one.monoid, []
    if not isinstance(monoid, Carried):
        return [one]
    for name, of, kind in monoid.sums:
        why = why_not_invertible(of, [kind])
        facts = FieldFacts(one.facts.label, of.running, not why, why, selective=kind == "any")
        parts.append(Field(f"{one.name}_{name}", one.value, of, facts))
    return parts


def _settled_output(output: Output, by_name: Mapping[str, Carried]) -> Output:
    """An output of what readings become."""
    texts = dict(output.texts)
    for place, part in output.parts.items():
        name = part.names[0]
        if name in by_name:
            sums = ((one, f"{name}_{one}") for one, *_ in by_name[name].sums)
            texts[place] = struct(sums)
    return replace(output, texts=texts)


def settle(bound: Placed, pieces: Relation, cut: Granules) -> Relation:
    """Pieces (place ``piece``) with what holds in them, also those without rows."""
    pieces, keys = condense(pieces), pieces.keys
    read = _find_carried(pieces.fields)
    others = [one.name for one in pieces.fields if one.name not in read]
    before = over_clause(keys, "piece", "rows between unbounded preceding and 1 preceding")
    rows = pieces.df.selectExpr("*", *(f"array_max({name}) as last_{name}" for name in read))
    rows = rows.selectExpr(
        "*",
        *(f"last(last_{name}, true) {before} as before_{name}" for name in read),
        f"lead(piece) {over_clause(keys, 'piece')} as following",
    )
    rows = rows.selectExpr("*", f"explode({_pieces_held(bound, cut, read)}) as here")
    rows = rows.selectExpr(
        *keys,
        "here as piece",
        "here = piece as had_rows",
        *(f"if(here = piece, {name}, null) as {name}" for name in others),
        *(f"{_readings(name)} as {name}" for name in read),
    )
    # A window to which its end belongs begins, and ends, an instant later than it is said to.
    opened = bound.grid.opened
    end = slice_end(cut, "piece")
    if bound.coordinate.is_unit_number:
        begun, over = boundary(bound.coordinate, "piece"), boundary(bound.coordinate, end)
        first = begun
    else:
        begun, over = (f"({one} - {opened}L)" if opened else one for one in ("piece", end))
        first = "piece"
    where = {"begun": begun, "over": over, "first": first}
    rows, columns = _walk(rows, read, where, "had_rows")
    rows = drop_rows_in_gaps(bound, rows, "piece")
    fields = [part for one in pieces.fields for part in _settled(one)]
    rows = rows.selectExpr(*keys, "piece", *others, *columns)
    return Relation.of_partials(rows, keys, ["piece"], fields)


def walk_windows(bound: Placed, fields: Fields, windows: DataFrame) -> DataFrame:
    """Windows of a stream with what holds in them; without those in which nothing does or is."""
    read = _find_carried(fields.all)
    counts = (one.name for one in fields.all if one.monoid == EVERY_ROW)
    tests = (f"coalesce({name}, 0L) > 0L" for name in counts)
    return _walk(windows, read, bound.read_off(), next(tests, "false"))[0]


def _walk(
    rows: DataFrame, read: Mapping[str, Carried], where: Mapping[str, str], test: str
) -> tuple[DataFrame, list[str]]:
    """Rows with what holds in them, from ``where`` on; those where anything does, or of a test."""
    columns, known = list[str](), [test]
    for name, monoid in read.items():
        parts = {part: f"{name}_{part}" for part, *_ in monoid.sums}
        text = fill(monoid.walk, p=f"coalesce({name}, array())", **where)
        # What a generator makes, Spark computes once.
        rows = rows.selectExpr("*", f"inline(array({text})) as ({', '.join(parts.values())})")
        known.append(fill(monoid.known, **parts))
        columns += parts.values()
    return rows.filter(" or ".join(f"({one})" for one in known)), columns


def _pieces_held(bound: Placed, cut: Granules, read: Mapping[str, Carried]) -> str:
    """SQL: the piece, and those after it, before ``following``, in which a reading may hold."""
    calendar, until = bound.coordinate.calendar, []
    for name, monoid in read.items():
        carry = int(monoid.carry.value) if monoid.carry else 0
        if calendar is None:
            later = carry + bound.grid.opened
            until.append(f"coalesce(last_{name}, before_{name}).t + {later}L")
        else:
            until.append(f"{slice_end(cut, 'piece')} + {calendar.most_units(carry)}L")
    last = until[0] if len(until) == 1 else f"greatest({', '.join(until)})"
    upto = f"(least(following, {last}) - 1L)"
    runs = ["array(piece)"]
    for first, every in cut.edges:
        ahead = f"(piece + {every}L - {after_edge('piece', first, every)})"
        runs.append(f"if({ahead} <= {upto}, sequence({ahead}, {upto}, {every}L), array())")
    both = f"concat({', '.join(runs)})"
    return f"array_distinct({both})" if len(runs) > 2 else both


def _readings(name: str) -> str:
    """SQL: the readings of a piece, after the last one before it."""
    own = f"if(here = piece, {name}, filter({name}, e -> false))"
    past = f"if(here = piece, before_{name}, coalesce(last_{name}, before_{name}))"
    return f"if({past} is null, {own}, concat(array({past}), {own}))"
