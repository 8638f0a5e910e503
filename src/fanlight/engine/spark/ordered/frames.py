"""Frames: the rows of a key in order, cut by kernels, in a batch and in a stream.

Rows enter as partials of one row that Spark has lifted, and frames leave as partials that Spark
lowers; the state of an open frame does not grow with it, unless an aggregate keeps all values. In a
batch only partials that are numbers are combined there: other aggregates are computed by Spark over
rows that have the number of their frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, DataType, StringType

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.monoids import Count, Max, Min
from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.plan.clock_changes import CalendarSteps, with_changes
from fanlight.engine.plan.coordinate import CalendarUnit, check_zone_of_time
from fanlight.engine.plan.frames import MOST, InputColumn
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.frames import UNTIL, FrameBound
from fanlight.engine.spark.calendars import ask_clock, beginning, number_of
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spark.equality import (
    INSTEAD,
    WHY_NOT,
    has_collation,
    has_normal_form,
    normal_form,
)
from fanlight.engine.spark.fields import Field, Fields
from fanlight.engine.spark.lift import (
    EVERY_ROW,
    Columns,
    Unit,
    lift_rows,
    lift_units,
    select_placeable,
)
from fanlight.engine.spark.lives import divide_into_lives
from fanlight.engine.spark.ordered.encoding import encode_sql
from fanlight.engine.spark.ordered.host import Given, Hosted, alike, numbers, run_operator
from fanlight.engine.spark.result import Relation, time_column
from fanlight.engine.spark.sql import expr_as, project, type_text
from fanlight.engine.spec.calendar import check_zone, has_months, read_units, week_offset
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import MICROSECONDS, read_extent

UNORDERED = ("map<", "variant", "interval")
# SQL of inputs whose type makes no difference, by how they are read.
_AS_READ = {"flag": "coalesce({name}, false)", "there": "{name} is not null", "value": "{name}"}
# The kinds of schemes that ask whether values are equal, as errors name them.
TOLD_APART = {"distinct": "a limit on distinct values", "states": "a state"}
_LIMIT_DIGITS = 19  # of a limit: times those of 64 bits, it fits the longest decimal
FACTS = FieldFacts("frame", running=True, invertible=False)
CLASSIFIER = "classifier"  # the variable of a pattern that a row is
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")  # kernels combine these


def frames(
    bound: FrameBound, fields: Fields, *, every: int | CalendarSteps | None = None
) -> DataFrame:
    """Frames: keys, ``frame``, ``start``, ``ending``, ``rows``, ``closed``, partials.

    In a stream they come once the watermark has passed the row that closes each. With ``every``,
    parts of frames that end at these times, each with what its frame has so far. Frames that are
    given early come also while they are open, in update mode, with ``final``.
    """
    kept = kept_fields(fields)
    rows = prepare_rows(bound, fields)
    in_python = bound.df.isStreaming or bound.scheme.is_unnumbered or every is not None
    if in_python or _can_combine(kept):
        units = lift_units(rows.df, kept, fields.values_by_name)
        if in_python or _are_numbers(units):
            return _cut_frames(bound, fields, rows, units, every)
    # The frames of a life are numbered from 0, so Spark has to tell lives apart.
    divided = divide_into_lives(bound)
    rows = rows if divided is bound else prepare_rows(divided, fields)
    return _group_in_spark(divided, fields, rows)


def rows(bound: FrameBound) -> DataFrame:
    """The rows unchanged, with the number of their frame.

    In a stream they come once the watermark has passed them. If frames that are too small are left
    out, a row waits until its frame is large enough.
    """
    fields = Fields()
    payload = fields.add_columns(bound.df)
    found = _number_rows(bound, fields, prepare_rows(bound, fields), payload)
    return restore_names(bound, payload, found)


def in_one_pass(bound: FrameBound, fields: Fields) -> bool:
    """Whether partials of a batch are combined in the pass that cuts the frames."""
    kept = kept_fields(fields)
    if bound.scheme.is_unnumbered or not _can_combine(kept):
        return bound.scheme.is_unnumbered
    rows = prepare_rows(bound, fields)
    return _are_numbers(lift_units(rows.df, kept, fields.values_by_name))


def kept_fields(fields: Fields) -> list[Field]:
    """The fields with partials of their own: rows are counted anyway."""
    return [field for field in fields.all if field.monoid != EVERY_ROW or field.of]


def _can_combine(fields: Sequence[Field]) -> bool:
    """Whether kernels can combine these fields, provided that their partials are numbers."""
    return all(field.monoid.combining for field in fields)


def _are_numbers(units: Mapping[str, Unit]) -> bool:
    """Whether all partials are numbers, the only ones that kernels combine."""
    return all(unit.kind in NUMBERS for unit in units.values())


@dataclass(frozen=True)
class Pass:
    """A pass that finds frames: its query, and what it is given and gives.

    ``inputs`` are the columns with those of the scheme, and ``counts`` SQL for counts of rows.
    """

    query: Callable[[pa.Schema, int], FrameQuery]
    given: Given
    hosted: Hosted
    inputs: tuple[str, ...]
    counts: list[str]


def plan_pass(
    bound: FrameBound,
    fields: Fields,
    rows: Prepared,
    units: Mapping[str, Unit],
    every: int | CalendarSteps | None = None,
) -> Pass:
    """The pass over prepared rows, whose partials are ``units``."""
    kept, order = kept_fields(fields), rows.order if bound.df.isStreaming else ()
    columns = Columns((*bound.keys, "t", *order))
    named = zip(rows.inputs, rows.input_names, strict=True)
    inputs = tuple(columns.add(text, name) for text, name in named)
    partials = tuple(units)
    sources = tuple(columns.add(units[name].text, name) for name in partials)
    of_states = _partials_of(rows.carried, fields)
    carried = [source for name, source in zip(partials, sources, strict=True) if name in of_states]
    carried += inputs if rows.carried else ()

    def query(schema: pa.Schema, keys: int) -> FrameQuery:
        return FrameQuery(
            bound.scheme, schema, tuple(schema.names[:keys]), order,
            inputs, partials,
            tuple(field.monoid for field in kept), sources=sources, every=every,
            of=tuple(field.of for field in kept),
            forget_after=bound.forget_after, early=bound.early, batch=not bound.df.isStreaming,
            carried=tuple(dict.fromkeys(carried)),
        )  # fmt: skip

    final = [] if bound.early is None else ["final"]
    given = alike(*bound.keys) | numbers("frame", "start", "ending", "rows")
    given |= {name: BooleanType() for name in ("closed", *final)}
    given |= zip(partials, sources, strict=True)
    parts = repr(every) if isinstance(every, CalendarSteps) else every
    told = {"parts": parts, "early": bound.early}
    hosted = Hosted(
        _name_frames(bound), {name: one for name, one in told.items() if one is not None}, "frames",
        order=["t", *rows.order], columns=columns.texts,
    )  # fmt: skip
    counts = [f"rows as {f.name}" for f in fields.all if f.monoid == EVERY_ROW and not f.of]
    return Pass(query, given, hosted, inputs, counts)


def _cut_frames(
    bound: FrameBound,
    fields: Fields,
    rows: Prepared,
    units: Mapping[str, Unit],
    every: int | CalendarSteps | None,
) -> DataFrame:
    """Frames with partials combined as they are cut."""
    made = plan_pass(bound, fields, rows, units, every)
    return run_operator(bound, fields, rows.df, made.query, made.given, made.hosted, made.counts)


def _number_rows(
    bound: FrameBound,
    fields: Fields,
    rows: Prepared,
    payload: Sequence[str],
    *,
    closings: bool = False,
) -> DataFrame:
    """Columns of rows with the number of their frame; with ``closings``, see ``FrameQuery``."""
    made = plan_numbering(bound, rows, payload, closings=closings)
    return run_operator(bound, fields, rows.df, made.query, made.given, made.hosted)


def plan_numbering(
    bound: FrameBound, rows: Prepared, payload: Sequence[str], *, closings: bool = False
) -> Pass:
    """The pass that gives prepared rows, of which it has ``payload``, the numbers of their frames.

    With ``closings``, see ``FrameQuery``.
    """
    order = rows.order if bound.df.isStreaming else ()
    carried = [name for name in rows.carried if name in payload]
    carried += rows.input_names if rows.carried else ()

    def query(schema: pa.Schema, keys: int) -> FrameQuery:
        return FrameQuery(
            bound.scheme, schema, tuple(schema.names[:keys]), order, rows.input_names,
            payload=tuple(payload), numbered=True, forget_after=bound.forget_after,
            batch=not bound.df.isStreaming, closings=closings,
            carried=tuple(dict.fromkeys(carried)),
        )  # fmt: skip

    columns = dict.fromkeys([*bound.keys, "t", *order, *payload, *rows.named_inputs])
    given = alike(*payload) | numbers("frame", *(["ending"] if closings else []))
    given |= {CLASSIFIER: StringType()} if bound.scheme.is_listed else {}
    hosted = Hosted(
        _name_frames(bound), kind="rows of frames", order=["t", *rows.order], columns=list(columns)
    )
    return Pass(query, given, hosted, rows.input_names, [])


def _partials_of(arguments: Collection[str], fields: Fields) -> set[str]:
    """The names of the partials of aggregates of these arguments."""
    return {
        name
        for output in fields.outputs
        if output.given.get("x") in arguments
        for part in output.parts.values()
        for name in part.names
    }


def _name_frames(bound: FrameBound) -> str:
    """The frames in words, as metrics and errors name them: ``delta frames``, ``sessions``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(bound.spec).__name__).lower() + "s"


def _group_in_spark(bound: FrameBound, fields: Fields, rows: Prepared) -> DataFrame:
    """Frames with partials of any type: Spark groups rows by the number of their frame."""
    payload = (*bound.keys, *bound.place_columns, *bound.tie_keys, *fields.arguments.values())
    numbered = _number_rows(bound, Fields(), rows, payload, closings=True)
    # A row that only marks where a frame is closed has neither time nor values.
    values = [f"if(t is null, null, {text}) as {name}" for text, name in fields.values.items()]
    by_frame = numbered.selectExpr(*bound.keys, "frame", *values, "t", "ending")
    rows_of = Relation.of_rows(by_frame, bound.keys, ["frame"])
    frames = lift_rows(rows_of, ["frame"], [*fields.all, *bound_fields("ending")]).df
    names = fields.names
    return frames.selectExpr(
        *bound.keys, "frame", "first_row as start",
        "coalesce(closing_row, last_row + 1L) as ending", "rows",
        "closing_row is not null as closed", *names,
    )  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """Rows with the columns of keys, ``t``, tiebreaks and arguments (``x0``, …).

    ``inputs`` are the inputs of the scheme, as SQL over these, so that no value is shuffled twice.
    """

    df: DataFrame
    order: tuple[str, ...]  # orders rows of the same time
    inputs: tuple[str, ...]
    carried: tuple[str, ...] = ()  # arguments of which a null goes on with the last value before it

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs; an input that is a plain column keeps its name."""
        pairs = enumerate(self.inputs)
        return tuple(text if text.isidentifier() else f"input{at}" for at, text in pairs)

    @property
    def named_inputs(self) -> list[str]:
        """SQL: each input under its name."""
        pairs = zip(self.inputs, self.input_names, strict=True)
        return [text if text == name else f"{text} as {name}" for text, name in pairs]


def prepare_rows(bound: FrameBound, fields: Fields) -> Prepared:
    """The rows that can be placed, with the inputs of the scheme.

    Rows of one time are ordered by the tiebreaks, the framed columns and the other arguments. The
    order of rows that are equal in all of these makes no difference.
    """
    asked = [None if column is None else fields.add_argument(column) for column in bound.framed]
    arguments = list(fields.arguments.values())
    rows = select_placeable(bound, fields)
    types = {field.name: field.dataType for field in rows.schema.fields}
    about = TOLD_APART.get(bound.scheme.kind, "")
    inputs = tuple(
        _input_sql(read, name, types[name] if name else None, told_apart=about)
        for read, name in zip(bound.scheme.marked_inputs, asked, strict=True)
    )
    if bound.scheme.has_own_deadlines:
        inputs = (*inputs, UNTIL)
    framed = [name for name in asked if name is not None]
    order = dict.fromkeys([*bound.tie_keys, *framed, *arguments])
    ordered = [n for n in order if not contains_type(type_text(types[n]), UNORDERED)]
    # Arguments stay as they are; where Python orders rows by them, their normal form is beside.
    forms = {n: normal_form(n, types[n]) for n in ordered if has_collation(types[n])}
    forms = {n: form for n, form in forms.items() if n not in bound.tie_keys and form != n}
    beside = [f"{form} as o{n}" for n, form in forms.items()]
    columns = [*bound.keys, *bound.place_columns, *bound.tie_keys, *arguments, *beside]
    df = rows if columns == list(types) else rows.selectExpr(*columns)
    order_names = tuple(f"o{n}" if n in forms else n for n in ordered)
    carried = tuple(dict.fromkeys(framed)) if bound.scheme.nulls == "carry" else ()
    return Prepared(df, order_names, inputs, carried)


def _input_sql(
    read: InputColumn, name: str | None, kind: DataType | None, *, told_apart: str
) -> str:
    """SQL: an input of the scheme; values that it tells apart are in their normal form.

    ``told_apart`` names what tells them apart, in errors; empty if nothing does.
    """
    if name is None or kind is None:
        return "(true)"
    if read.type in ("flag", "there", "value"):
        return fill(_AS_READ[read.type], name=name)
    if read.type == "real":
        value = _cast(name, kind, "double")
        return f"(-{value})" if read.negated else value
    if read.type == "limit":
        return _limit_sql(read, name, kind)
    if read.type == "whole":
        value = _cast(f"{name} * {10**read.scale}" if read.scale else name, kind, "bigint")
        # The least of all is the only one without a negative.
        return f"if({value} = -{MOST}L - 1L, {MOST}L, -{value})" if read.negated else value
    if told_apart and not has_normal_form(kind):
        raise refuse(told_apart, f"is on values of type {type_text(kind)}, {WHY_NOT}", INSTEAD)
    return encode_sql(normal_form(name, kind) if told_apart else name, kind)


def _limit_sql(read: InputColumn, name: str, kind: DataType) -> str:
    """SQL: the least whole number, in the units of what is watched, that reaches a row's limit."""
    text, sign = type_text(kind), "-" if read.negated else ""
    digits, scale = 19, 0
    if text.startswith("decimal"):
        digits, scale = (int(part) for part in text[8:-1].split(","))
    if text in ("float", "double") or digits > _LIMIT_DIGITS:
        value = f"({sign}cast({name} as double) * {10**read.scale}D)"
        least = f"least(floor({value}), {MOST}L - 1L) + 1L" if read.beyond else f"ceil({value})"
        return f"if(isnan({value}), null, {least})"
    value = (
        f"({sign}cast({name} as decimal({digits},{scale}))"
        f" * cast({10**read.scale} as decimal({read.scale + 1},0)))"
    )
    least = f"floor({value}) + 1" if read.beyond else f"ceil({value})"
    return f"cast(greatest(least({least}, {MOST}BD), -{MOST}BD) as bigint)"


def _cast(text: str, kind: DataType, wanted: str) -> str:
    """SQL: a value cast to a type; unchanged if it has that type, so that equal texts match."""
    same = text.isidentifier() and type_text(kind) == wanted
    return text if same else f"cast({text} as {wanted})"


def bound_fields(closing: str) -> list[Field]:
    """Fields that give the bounds of a frame; ``closing`` is the time of each row's next row."""
    return [
        Field("first_row", "t", Min(), FACTS),
        Field("last_row", "t", Max(), FACTS),
        Field("rows", "t", Count(), FACTS),
        Field("closing_row", closing, Max(), FACTS),
    ]


def restore_names(bound: FrameBound, payload: Sequence[str], numbered: DataFrame) -> DataFrame:
    """Give the columns of the DataFrame their own names back, and add ``frame_id``.

    In a stream the time has the watermark. A row waits for no more than the watermark, unless its
    frame may be left out for being too small.
    """
    columns = [*zip(payload, bound.df.columns, strict=True), ("frame", "frame_id")]
    columns += [(CLASSIFIER, CLASSIFIER)] if bound.scheme.is_listed else []
    if not bound.df.isStreaming:
        return project(numbered, columns)
    waits = 0 if bound.scheme.drops_small_frames or bound.scheme.is_listed else 1
    return numbered.select(
        *(
            time_column(bound, numbered, text, name, late=bound.lags[waits])
            if name == bound.time
            else expr_as(numbered, text, name)
            for text, name in columns
        )
    )


def check_split(bound: FrameBound, every: Any, zone: Any, *, so_far: bool) -> int | CalendarSteps:
    """Check the distance of report times, and return it in coordinates, or as a calendar has it."""
    step = _read_steps(bound, every, zone)
    if bound.df.isStreaming and not so_far:
        raise refuse(
            "split(…) in a stream",
            "would give the early parts of a long frame when the windows they belong to are closed",
            "write accumulate(…): each part comes in time, with the aggregates of the rows before "
            "its end",
        )
    if so_far and bound.scheme.is_unnumbered:
        raise refuse(
            f"accumulate(…) of {bound.spec!r}",
            "cannot know of a row which frames it is in before later rows have come",
            "write split(…), in a batch",
        )
    if so_far and bound.scheme.drops_small_frames:
        raise refuse(
            "accumulate(…) with min_rows or min_duration",
            "would give parts of a frame that may yet be left out",
            "leave those out of the frame, or write split(…) in a batch",
        )
    if bound.df.isStreaming and bound.scheme.timing is None and bound.forget_after is None:
        raise refuse(
            "accumulate(…) of a stream's frames that no silence ends",
            "would go on to give parts of a key that has no further row, which a batch has not",
            "give the frame max_gap= or max_duration=, or over forget_after=",
        )
    return step


def _read_steps(bound: FrameBound, every: Any, zone: Any) -> int | CalendarSteps:
    if zone is None and not has_months("every", every):
        length = read_extent("every", every)
        bound.check_length("every", length)
        return int(length.value)
    step, name = read_units("every", every), check_zone(zone)
    if bound.source.read_from == "date":
        raise refuse(
            f"every={every!r} of a calendar",
            f"cuts local time, but time={bound.time!r} is a date, which frames read as midnight in "
            "the session's time zone",
            f"write over(df.withColumn({bound.time!r}, F.col({bound.time!r})"
            ".cast('timestamp_ntz')), …), and leave zone out",
        )
    check_zone_of_time(
        name, bound.coordinate.kind, bound.time, bound.time_type, f"every={every!r} of a calendar"
    )
    in_months = step.measure == "months"
    shift = 0 if in_months else week_offset(step, "monday") * MICROSECONDS["hour"]
    clock = ask_clock(bound.df.sparkSession, name)
    unit = CalendarUnit(int(step.value), in_months, shift, name)
    return CalendarSteps(with_changes(unit, clock.changes), clock)


def check_parts(fields: Fields) -> None:
    """Refuse what parts of frames cannot say: why their frame ended."""
    for one in fields.all:
        if one.monoid.framed:
            raise refuse(
                f"accumulate(…) of {one.facts.label}",
                "gives parts of a frame before it is known why the frame ends",
                "ask agg(…) for it, or in a batch split(…), whose parts have what their frame has",
            )


def finish_parts(
    bound: FrameBound,
    fields: Fields,
    parts: DataFrame,
    begin: str = "start",
    end: str = "ending",
) -> DataFrame:
    """The results of parts with partials; ``begin`` and ``end`` are SQL for their bounds."""
    columns = [("frame", "frame_id"), ("closed", "closed"), *result.lower_outputs(fields, "start")]
    return result.finish_result(bound, parts, *result.window_times(bound, begin, end), columns)


def split_frames(
    bound: FrameBound, fields: Fields, frames: DataFrame, step: int | CalendarSteps
) -> DataFrame:
    """The parts of ``frames`` (keys, ``frame``, bounds, partials) between report times."""

    def number(at: str) -> str:
        if isinstance(step, int):
            return f"(({at} - pmod({at}, {step}L)) div {step}L)"
        return number_of(step.unit, restore_sql(bound.coordinate, at), at)

    def begins(part: str) -> str:
        return f"{part} * {step}L" if isinstance(step, int) else beginning(step.unit, part)

    parts = frames.filter("start < ending")
    both = f"sequence({number('start')}, {number('(ending - 1L)')})"
    parts = parts.selectExpr("*", f"explode({both}) as part")
    begin, end = f"greatest(start, {begins('part')})", f"least(ending, {begins('(part + 1L)')})"
    if not isinstance(step, int) and step.unit.together:  # a clock skips whole units
        parts = parts.filter(f"{begin} < {end}")
    return finish_parts(bound, fields, parts, begin, end)
