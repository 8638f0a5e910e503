"""Frames: a framing scheme bound to the DataFrame that it cuts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.kinds import scheme_of
from fanlight.engine.kinds.kind import FINAL, FRAMED
from fanlight.engine.plan.coordinate import Coordinate, check_kind
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.spark.binding.bound import Bound, Refusal
from fanlight.engine.spark.binding.lag import add_lags
from fanlight.engine.spark.binding.source import (
    WRONG_COLUMN,
    bind_calls,
    bind_source,
    check_not_output,
    check_stream,
    predicate,
    schema_of,
)
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.sql import expr, free_name, is_taken, quote_column, say_reason, type_text
from fanlight.engine.spec.errors import list_some, refuse
from fanlight.engine.spec.frames import AggregateFrame, Frame, PatternFrame
from fanlight.engine.spec.units import LONGEST

UNTIL = "until"
OUTPUTS = FRAMED.outputs


@dataclass(frozen=True)
class FrameBound(Bound):
    """A source with the scheme that cuts it; ``framed`` are the columns of the scheme's inputs."""

    spec: Frame
    scheme: Scheme
    framed: tuple[Any, ...]
    shown: tuple[tuple[Any, str], ...] = ()  # columns that results have of each frame, and names
    length: Column | None = None  # for how long a row keeps its frame open, if rows say so
    length_type: str = ""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The output columns that describe a frame, besides aggregates."""
        shown = (name for _, name in self.shown)
        return (*OUTPUTS, *(() if self.early is None else (FINAL,)), *shown)

    @property
    def early_refusals(self) -> list[Refusal]:
        """Which of these frames cannot be given early."""
        return [
            (
                self.scheme.may_vanish,
                "might give a frame that is too small once its last rows have left it",
                "leave min_rows and min_duration out, or leave_for",
            ),
            (
                isinstance(self.spec, PatternFrame) and self.spec.may_be_refuted,
                "might give a match that a later row refutes",
                "leave out $ and what is absent at the end of the pattern",
            ),
            (
                is_taken(self.df, FINAL, [name for _, name in self.shown]),
                f"adds a column {FINAL!r}, which is the name of a state",
                f"rename it first: df.withColumnRenamed({FINAL!r}, …)",
            ),
        ]

    @property
    def window_lags(self) -> tuple[int | None, int | None]:
        """How long frames are at most, and how long after its end a frame is given, at most.

        A frame that is left after a while ends before it is left, and one whose key is forgotten
        ends at its last row.
        """
        scheme = self.scheme
        longest = None if scheme.timing is None else scheme.timing.cap
        lingers = scheme.kind == "pattern" or (scheme.kind == "dwell" and scheme.numbers[1] > 0)
        return longest, add_lags(longest if lingers else 0, self.forget_after or 0)

    @property
    def length_name(self) -> str:
        """A name for the column of that length, unlike any column of the DataFrame."""
        return free_name("length", self.df.columns)

    @property
    def rows(self) -> DataFrame:
        """The DataFrame, with how long each row keeps its frame open as a column if rows say so."""
        return self.df if self.length is None else self.df.withColumn(self.length_name, self.length)

    @property
    def until(self) -> str:
        """SQL: the coordinate until which a row keeps its frame open. Null if it does not.

        Intervals are added as Spark adds them: a day is a day in the session's time zone.
        """
        at, length = coordinate(self.coordinate, self.time_sql), self.length_name
        if self.coordinate.kind == "integer":
            return f"if({length} > 0, {at} + least(cast({length} as bigint), {LONGEST}L), null)"
        if not self.length_type.startswith("interval"):
            length = f"cast({length} as interval)"
        later = coordinate(self.coordinate, f"try_add({self.time_sql}, {length})")
        return f"nullif(greatest({later}, {at}), {at})"

    @property
    def open_until(self) -> str:
        """SQL over the coordinates: the time up to which a row keeps its frame open. Null: ever."""
        if self.length is not None:
            return UNTIL
        gap = self.scheme.timing and self.scheme.timing.gap
        return "cast(null as bigint)" if gap is None else f"t + {gap}L"

    @property
    def cause(self) -> str:
        """SQL over a frame's columns: why it ended. Up to ``until`` its rows kept it open."""
        scheme = self.scheme
        cap = scheme.timing and scheme.timing.cap
        given_up = "null" if self.forget_after is None else "'forgotten'"
        causes = [
            ("not closed", given_up if self.early is None else f"if({FINAL}, {given_up}, null)"),
            *([] if scheme.kind == "pattern" else [("ending = until", "'gap'")]),
            *(
                []
                if cap is None or scheme.kind == "pattern"
                else [(f"ending = start + {cap}L", "'duration'")]
            ),
            *([(f"rows = {scheme.max_rows}L", "'rows'")] if scheme.max_rows else []),
        ]
        cases = " ".join(f"when {condition} then {word}" for condition, word in causes)
        return f"case {cases} else {literal(self.spec.scheme_cause)} end"

    @property
    def coordinates(self) -> list[tuple[str, str]]:
        """(SQL text, internal name) pairs: a row's time, and until when it keeps its frame open."""
        coordinates = super().coordinates
        return coordinates if self.length is None else [*coordinates, (self.until, UNTIL)]

    @property
    def written(self) -> dict[int, Any]:
        """The framed columns as the user wrote them, by the ``id()`` of what is framed."""
        columns = [column for column in self.framed if column is not None]
        return {id(c): read.given for c, read in zip(columns, self.spec.inputs, strict=False)}

    @property
    def place_columns(self) -> list[str]:
        """SQL over the coordinates: the columns that go with a row's lifted values."""
        return super().place_columns if self.length is None else [*super().place_columns, UNTIL]

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """(SQL condition, reason) pairs: rows without a time, or that keep no frame open."""
        rejections = super().rejections
        if self.length is None:
            return rejections
        argument = self.spec.inputs[-1].argument
        return [*rejections, (f"{self.until} is null", f"{argument} is null or not positive")]


def bind_frames(df: Any, spec: Frame, time: Any, by: Any, tiebreak: Any) -> FrameBound:
    """Check the request against the DataFrame before anything is built."""
    source = bind_source(df, time, by, tiebreak)
    why = "which does not order the rows of frames"
    coordinate_ = Coordinate(check_kind(source.time, source.time_type, why))
    check_stream(source)
    for name in source.names:
        check_not_output(df, f"by={name!r}", name, OUTPUTS)
    columns = [predicate(df, read.given) if read.sql else read.given for read in spec.inputs]
    types = _types(df, spec, time, columns)
    scheme = scheme_of(spec, types, coordinate_.kind)
    # The scheme goes to Python workers, where Columns cannot go.
    bare = replace(scheme, inputs=tuple(replace(read, column=None) for read in scheme.inputs))
    length = (columns[-1], types[-1]) if scheme.has_own_deadlines else (None, "")
    shown = columns[: len(spec.shown_inputs)]
    names = schema_of(df, [("state", column) for column in shown], "state")
    for found in names:
        asked = f"state={found.name!r}"
        check_not_output(df, asked, found.name, OUTPUTS)
        if is_taken(df, found.name, source.names):
            raise refuse(asked, "is a key, which has one value for all rows of it", "leave it out")
    if scheme.nulls == "carry":  # columns of their own: aggregates of the same ones have the nulls
        columns = [one.alias(found.name) for one, found in zip(columns, names, strict=True)]
        shown = columns
    return FrameBound(
        source,
        coordinate_,
        spec=spec,
        scheme=bare,
        framed=_input_columns(scheme, columns),
        shown=tuple((column, found.name) for column, found in zip(shown, names, strict=True)),
        length=length[0],
        length_type=length[1],
    )


def check_ends(bound: Bound) -> None:
    """Refuse patterns of which a stream might never know a match, or would keep all rows."""
    if not isinstance(bound, FrameBound) or not bound.df.isStreaming:
        return
    spec = bound.spec
    if not isinstance(spec, PatternFrame):
        return
    within = spec.most and spec.most.duration
    if within is None and spec.most_rows is None:
        raise refuse(
            f"pattern={spec.pattern!r} in a stream",
            "may match any number of rows, so all rows of a key would be kept for ever",
            "write within='1 hour' or max_rows=100",
        )
    if spec.needs_end and bound.forget_after is None:
        raise refuse(
            f"pattern={spec.pattern!r} in a stream",
            "asks with $ for the end of a key's rows, and a key of a stream has none",
            "write over(…, forget_after='1 day'), whose silence ends a key, or leave $ out",
        )


# How Spark refuses an aggregate beside columns of one row, and what to write instead of it.
_OF_ROWS = ("[MISSING_GROUP_BY]", "[MISSING_AGGREGATION]")
_RUNNING = "use count, sum, avg, min or max: of the rows matched so far definitions know these"
_AGGREGATED = "write SQL of one row, or fl.AggregateFrame, which ends a frame by an aggregate"


def _input_columns(scheme: Scheme, columns: list[Any]) -> tuple[Any, ...]:
    """The column of each input that decides marks; a count of all rows has none."""
    given = iter(columns)
    return tuple(None if read.column is None else next(given) for read in scheme.marked_inputs)


@quietly()
def _types(df: DataFrame, spec: Frame, time: str, columns: list[Any]) -> list[str]:
    types = []
    if isinstance(spec, AggregateFrame):
        types = [kind for _, kinds in bind_calls(df, spec.aggregates) for kind in kinds]
    for read, column in list(zip(spec.inputs, columns, strict=True))[len(types) :]:
        if not read.sql:
            (found,) = schema_of(df, [(read.argument, read.given)], read.argument)
            types.append(type_text(found.dataType))
            continue
        try:
            # Selected together with the time, so that Spark refuses an aggregate.
            field = df.select(expr(df, "1"), expr(df, quote_column(df, time)), column)
            types.append(type_text(field.schema.fields[-1].dataType))
        except WRONG_COLUMN as error:
            asked, said = f"{read.argument}={str(read.given)!r}", say_reason(error)
            if said.startswith(_OF_ROWS):
                raise refuse(
                    asked,
                    f"is an aggregate of several rows, not a {read.sql}",
                    _RUNNING if isinstance(spec, PatternFrame) else _AGGREGATED,
                ) from error
            raise refuse(
                asked,
                f"is not a {read.sql} that Spark understands ({said})",
                f"write SQL over {list_some(df.columns)}",
            ) from error
    return types
