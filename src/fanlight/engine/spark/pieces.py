"""Tables of pieces: partials by key and piece of time, and the windows made of them later.

A table has the keys, ``window`` (the piece, from its start to its end), and a column of partials
for each aggregate. The metadata of these columns say what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.expression import EXPRESSION
from fanlight.engine.algebra.sql_text import literal, quote, struct
from fanlight.engine.algebra.stored import NOTE, Stored, check_own
from fanlight.engine.arrow import is_of_spark
from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.coordinate import Coordinate, check_kind
from fanlight.engine.plan.granules import cut_into_panes, single_branch
from fanlight.engine.plan.request import Queries, Query
from fanlight.engine.plan.stored_pieces import TablePieces, end_of, find_pieces
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import Source, bind_calls
from fanlight.engine.spark.coordinates import boundary, coordinate, exact, restore_sql
from fanlight.engine.spark.fields import Fields, build_fields
from fanlight.engine.spark.sql import expr, expr_as, free_name, type_text
from fanlight.engine.spark.way_runs import WayRequest, run_windows
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.trailing import Labelled

if TYPE_CHECKING:
    from pyspark.sql import Column

WINDOW = "window"


def keep_pieces(bound: Placed, calls: Sequence[Call]) -> DataFrame:
    """The pieces of which these windows are made, with the partials of aggregates."""
    pieces = TablePieces.of_grids(bound.time, bound.names, bound.coordinate, bound.grids)
    grid = pieces.grid_in(bound.coordinate)
    spec = pieces.spec(timed=bound.coordinate.is_timestamp)
    own = replace(bound, spec=spec, queries=Queries((Query(0, grid),)))
    _refuse_expressions(calls)
    fields = build_fields(own, calls)
    fields.check_comparable()
    for output in fields.outputs:
        if fields.carried(output):
            raise refuse(
                f"pieces({output.label})",
                "with carry is of what was there before, and a piece has what lies in it",
                "leave carry out, or ask for it by agg(…) of the rows",
            )
    if bound.early is None:
        cut = single_branch(cut_into_panes(grid), ways.SLICES.rollup)
        chosen = Candidate(ways.PANES, ways.SLICES, cut)
    else:
        _refuse_sketches(calls, fields)
        chosen = Candidate(ways.AUTO, ways.OPEN_IN_OPERATOR)
    found = run_windows(WayRequest(own, fields, chosen))
    columns = [
        (struct((part, kept.kept) for part, kept in one.parts.items()), one.label)
        for one in fields.outputs
    ]
    table = result.finish_windows(own, found, columns)
    notes = {WINDOW: pieces.to_json()}
    for call, (_, types), output in zip(
        calls, bind_calls(bound.df, calls), fields.outputs, strict=True
    ):
        split = {part: kept.split for part, kept in output.parts.items() if kept.split}
        notes[output.label] = Stored.of_call(call, types, split).to_json()
    return table.select(*[_with_note(table, name, notes.get(name)) for name in table.columns])


def _refuse_expressions(calls: Sequence[Call]) -> None:
    """Refuse expressions of aggregates, of which a table could not tell what they are."""
    for call in calls:
        if call.aggregate.name == EXPRESSION:
            raise refuse(
                call.label,
                "is computed of aggregates, and pieces keep each of them",
                "ask for each, and compute it from what roll_up gives",
            )


def _refuse_sketches(calls: Sequence[Call], fields: Fields) -> None:
    """Refuse aggregates whose partials only Spark's own aggregations combine."""
    for call in calls:
        if call.exact is not None or not all(field.monoid.in_python for field in fields.all):
            raise refuse(
                call.label,
                "keeps a sketch, which an operator that gives pieces early cannot add to",
                "ask for an exact aggregate, or for pieces without early()",
            )


def _with_note(df: DataFrame, name: str, note: str | None) -> Column:
    """A column with a note in its metadata, if there is one."""
    if note is None:
        return expr(df, quote(name))
    kept = df.schema[name].metadata or {}
    return expr(df, quote(name)).alias(name, metadata={**kept, NOTE: note})


@dataclass(frozen=True)
class PieceTable:
    """A DataFrame that is a table of pieces: what its schema says of it."""

    df: DataFrame
    window: str
    pieces: TablePieces
    stored: tuple[Stored, ...]

    @classmethod
    def of(cls, df: Any, asked: str = "roll_up(", called: str = "the DataFrame") -> PieceTable:
        """Read the schema of a table of pieces; any other DataFrame is refused.

        ``asked`` begins the call in which it is, and ``called`` is what errors call it.
        """
        if not is_of_spark(df) or df.isStreaming:
            raise refuse(
                f"{asked}{'a stream' if is_of_spark(df) else repr(df)})",
                "is not a table of pieces that can be read now",
                "pass spark.read.parquet(…) of what pieces(…) has written; a stream's in "
                "foreachBatch",
            )
        notes = {
            field.name: (field.metadata or {})[NOTE]
            for field in df.schema.fields
            if NOTE in (field.metadata or {})
        }
        return cls(df, *find_pieces(notes, df.columns, called))

    @property
    def time_type(self) -> str:
        """The type of the times of pieces."""
        ends = self.df.schema[self.window].dataType
        return type_text(ends["start"].dataType if isinstance(ends, StructType) else ends)

    @property
    def ends(self) -> tuple[str, str]:
        """SQL: where a piece begins and ends, in one column or, as a database has it, in two."""
        if isinstance(self.df.schema[self.window].dataType, StructType):
            return quote(self.window, "start"), quote(self.window, "end")
        return quote(self.window), quote(end_of(self.window))

    @property
    def coordinate(self) -> Coordinate:
        """The time of pieces as a whole number; of doubles, the number of the piece."""
        kind = check_kind(self.window, self.time_type, "which no window is cut in", doubles=True)
        if kind == "double":
            return Coordinate(kind, self.pieces.length, self.pieces.offset)
        return Coordinate(kind)

    def select_rows(self) -> tuple[DataFrame, str]:
        """The pieces as rows at their start, and the name of the time column.

        A piece that is not one of this length fails when Spark comes to it.
        """
        time = free_name(self.pieces.time, self.df.columns)
        start, end = self.ends
        fits = self._is_piece(start, end)
        length = self.pieces.write_length("time" if self.coordinate.is_timestamp else "number")
        wrong = literal(
            f"fanlight: {self.window} of a row is not a piece of {length}, the length that the "
            "table's schema tells; keep pieces of each length in a table of their own"
        )
        checked = f"if({fits}, {start}, raise_error({wrong}))"
        kept = [*self.pieces.by, *(one.label for one in self.stored)]
        columns = [expr(self.df, quote(name)) for name in kept]
        return self.df.select(*columns, expr_as(self.df, checked, time)), time

    def _is_piece(self, start: str, end: str) -> str:
        of = self.coordinate
        number = coordinate(of, start)
        if of.is_unit_number:
            return f"{start} = {boundary(of, number)} and {end} = {boundary(of, f'{number} + 1L')}"
        length, offset = int(self.pieces.length), int(self.pieces.offset)
        into = f"pmod({number} - {offset}L, {length}L)"
        return f"{into} = 0L and {coordinate(of, end)} - {number} = {length}L"

    def refuse_cut(self, rows: DataFrame, at: str, of: Coordinate, spec: Any) -> DataFrame:
        """The rows, of which Spark raises an error if a unit of a calendar begins within one."""
        length = self.pieces.write_length("time")
        told = literal(f"fanlight: {spec!r} begins within a piece of {length}; write finer pieces")
        start = quote(at)
        last = restore_sql(self.coordinate, f"{exact(of, start)} + {int(self.pieces.length) - 1}L")
        whole = f"{coordinate(of, start)} = {coordinate(of, last)}"
        names = [name for name in rows.columns if name != at]
        checked = expr_as(rows, f"if({whole}, {start}, raise_error({told}))", at)
        return rows.select(*(expr(rows, quote(name)) for name in names), checked)

    def merging_calls(self, own: Any) -> list[Call]:
        """The aggregates of its columns, over pieces as rows."""
        given = check_own(own)
        return [one.merging_call(one.label, given) for one in self.stored]

    def with_edges(self, spine: Source, spec: Labelled) -> tuple[DataFrame, str]:
        """Rows that ask with the time as of which windows are whole pieces; its name.

        It is the latest such time that is not after the row's own.
        """
        of, kind = self.coordinate, self.time_type
        if spine.time_type != kind:
            raise refuse(
                f"time={spine.time!r}",
                f"is of type {spine.time_type}, but the pieces are of {kind}",
                "cast one of them",
            )
        shift = 1 if spec.windows[0].closed == "right" else 0
        at = f"({coordinate(of, spine.time_sql)} + {shift}L)"
        length, offset = int(self.pieces.length), int(self.pieces.offset)
        edge = f"({at} - pmod({at} - {offset}L, {length}L) - {shift}L)"
        name = free_name(spine.time, spine.df.columns)
        return spine.df.select("*", expr_as(spine.df, restore_sql(of, edge), name)), name
