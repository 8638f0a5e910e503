"""The fields of a partial that aggregates need; aggregates share equal fields.

Inside a plan columns have names made here and in the binding, so that no column of the user's can
clash with them. A letter and a number means the same in every file: ``k0`` a key, ``b0`` a tiebreak
(it breaks ties), ``x0`` an argument of an aggregate, ``v0`` a lifted value, ``f0`` a field of a
partial, ``d0`` what is read off value counts, ``r0`` a result without its name. ``t`` is the
coordinate of a row, or the one at which an operator takes it; ``n`` counts rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType, DoubleType, FloatType

from fanlight.engine.algebra.aggregate import ARGUMENTS, Call, contains_type
from fanlight.engine.algebra.facts import why_not_invertible
from fanlight.engine.algebra.monoids import Min, Monoid
from fanlight.engine.algebra.ordering import Reading
from fanlight.engine.algebra.split_sums import Part, split_sum_of
from fanlight.engine.algebra.sql_text import fill, find_places, literal, struct
from fanlight.engine.algebra.stored import Merged
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.plan.ways import Lift, Own
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.binding.source import (
    are_same,
    bind_calls,
    column_of,
    condition,
    schema_of,
)
from fanlight.engine.spark.coordinates import restore_exact
from fanlight.engine.spark.equality import (
    INSTEAD,
    WHY_NOT,
    has_collation,
    has_normal_form,
    needs_normal_form,
    normal_form,
)
from fanlight.engine.spark.sql import (
    narrow_decimal,
    project,
    type_text,
    types_in,
)
from fanlight.engine.spark.supported import at_least
from fanlight.engine.spec.errors import advise_choice, refuse
from fanlight.engine.spec.frames import PatternFrame
from fanlight.engine.spec.units import Extent

BEGINS, ENDS_AT = "begins", "ends"  # columns: where an event's part that lies in a window is
_UNLIKE = ("collate", "double", "float")  # types whose equal values may differ in their bytes

_ONLY_SPARK = (
    "keeps a sketch, which only Spark's own grouping adds to, and these windows are made row by "
    "row or in an operator"
)
_NOT_SKETCHES = (
    "ask it of windows that time places, once they are complete, or ask for "
    "agg.approx_count_distinct or agg.approx_percentile here"
)


@dataclass(frozen=True)
class Field:
    """One monoid over one value: ``value`` names the lifted column, ``name`` that of partials."""

    name: str
    value: str
    monoid: Monoid
    facts: FieldFacts
    counted: DataType | None = None  # the type of values that are counted, if it has a collation
    of: tuple[str, ...] = ()  # the variables of a pattern whose rows it is of; none: of all rows

    @property
    def invertible(self) -> bool:
        """Whether partials have an exact inverse."""
        return self.facts.invertible


@dataclass(frozen=True)
class Output:
    """One result column: its name and the template that lowers the fields to it.

    ``texts`` go into its places; ``start``, if it is not among them, is where a window begins.
    ``reads`` is what it reads off value counts, where that has a name, and ``counts`` says whether
    it takes value counts at all. ``native`` is the template of Spark's own aggregate for it, and
    ``given`` what goes into its places: the names of arguments. ``parts`` are the fields that its
    texts are made of.
    """

    label: str
    lower: str
    texts: Mapping[str, str]
    reads: Reading | None = None
    counts: bool = False
    native: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What it is computed from: partials (empty), a reading of value counts, or the counts."""
        if not self.counts:
            return ""
        return self.reads.kind if self.reads else "values"

    def is_native(self, lift: Lift) -> bool:
        """Whether the lift already has its result, from one of Spark's own aggregates."""
        return bool(self.native) and (
            lift.own is Own.ALL or (lift.own is Own.VALUES and self.counts)
        )

    def by_spark(self, texts: Mapping[str, str] | None = None) -> str:
        """SQL of Spark's own aggregate; ``texts`` replace the internal names of arguments."""
        named = {place: texts[name] if texts else name for place, name in self.given.items()}
        return fill(self.native, **named)

    def sql(self, start: str) -> str:
        """SQL: the result for a window that begins at the coordinate ``start``."""
        return fill(self.lower, **{"start": start, **self.texts})


@dataclass(frozen=True, eq=False)
class Argument:
    """A Column given to an aggregate; the same Column is the same argument.

    ``written`` are its conditions.
    """

    column: Column
    written: tuple[Any, ...] = ()

    def __eq__(self, other: object) -> bool:
        # == of Columns is an expression.
        return isinstance(other, Argument) and self.column is other.column

    def __hash__(self) -> int:
        return id(self.column)


@dataclass(frozen=True)
class Incomparable:
    """An aggregate, and why nobody but Spark's own SQL can compare its values, or count them."""

    label: str
    why: str
    by_value: bool


@dataclass
class Fields:
    """The arguments, lifted values, fields and outputs of the aggregates of a query."""

    arguments: dict[Any, str] = field(default_factory=dict)  # argument -> its column
    values: dict[str, str] = field(default_factory=dict)  # lifted value: SQL text -> its column
    kept: dict[tuple[str, Monoid, tuple[str, ...]], Field] = field(default_factory=dict)
    incomparable: list[Incomparable] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    @property
    def all(self) -> list[Field]:
        """The fields, in the order of their names."""
        return list(self.kept.values())

    @property
    def names(self) -> list[str]:
        """The names of all fields."""
        return [field.name for field in self.all]

    @property
    def monoids(self) -> tuple[Monoid, ...]:
        """The monoids of all fields."""
        return tuple(field.monoid for field in self.all)

    @property
    def lifting(self) -> list[str]:
        """SQL over the arguments: each lifted value under its name."""
        return [f"{value} as {name}" for value, name in self.values.items()]

    @property
    def values_by_name(self) -> dict[str, str]:
        """SQL of each lifted value, by its column."""
        return {name: value for value, name in self.values.items()}

    @property
    def carries(self) -> list[Extent]:
        """How old rows before a window may be that count in it: of each field that has such."""
        return [one.monoid.carry for one in self.all if one.monoid.carry is not None]

    def carried(self, output: Output) -> bool:
        """Whether readings are carried into windows for an output."""
        names = {name for part in output.parts.values() for name in part.names}
        return any(one.monoid.carry for one in self.all if one.name in names)

    @property
    def divided(self) -> bool:
        """Whether some field is of the parts of events that lie in windows."""
        return any(one.facts.divided for one in self.all)

    def kind_of(self, output: Output) -> str:
        """Aggregates of one kind are computed together, of several perhaps apart.

        Where some are of parts of events: those that panes can give, others of parts, the rest.
        """
        if not self.divided:
            return output.kind
        names = {name for part in output.parts.values() for name in part.names}
        facts = [one.facts for one in self.all if one.name in names]
        if all(one.additive for one in facts):
            return "added up"
        if all(one.at_once for one in facts):
            return "at once"
        if all(one.united for one in facts):
            return "united"
        return "of parts" if any(one.divided for one in facts) else ""

    @property
    def reads(self) -> frozenset[str]:
        """What results are read off value counts, by name; ``""`` stands for anything else."""
        return frozenset(output.reads.kind if output.reads else "" for output in self.outputs)

    def natively(self, lift: Lift) -> list[tuple[str, str]]:
        """The names that results of Spark's own aggregates have among partials, with their SQL."""
        return [
            (f"d{number}", one.by_spark())
            for number, one in enumerate(self.outputs)
            if one.is_native(lift)
        ]

    @property
    def digests(self) -> dict[tuple[str, Reading], str]:
        """What is read off the value counts of fields, by its name."""
        read = [(one.texts["p"], one.reads) for one in self.outputs if one.reads is not None]
        return {each: f"d{number}" for number, each in enumerate(dict.fromkeys(read))}

    def lowering(self, lift: Lift) -> Fields:
        """Replace outputs by those that read digests or results, where the lift makes these."""
        if lift.own is not Own.NONE:
            return replace(self, outputs=[
                replace(one, lower="{p}", texts={"p": f"d{number}"}) if one.is_native(lift) else one
                for number, one in enumerate(self.outputs)
            ])  # fmt: skip
        if not lift.digests:
            return self
        named = self.digests
        outputs = []
        for one in self.outputs:
            if one.reads is None:
                raise AssertionError
            digest = {**one.texts, "p": named[one.texts["p"], one.reads]}
            outputs.append(replace(one, lower=one.reads.lower or one.lower, texts=digest))
        return replace(self, outputs=outputs)

    def columns(self, bound: Bound, rows: DataFrame) -> list[tuple[str | Column, str]]:
        """What is selected of each row, by internal name: coordinates, keys, ties, arguments."""
        return [*bound.coordinates, *self.read(bound, rows)]

    def read(self, bound: Bound, rows: DataFrame) -> list[tuple[str | Column, str]]:
        """What is selected of each row besides its coordinates, by internal name."""
        columns = [*zip(bound.by, bound.keys, strict=True)]
        columns += zip(bound.tiebreak, bound.tie_keys, strict=True)
        for argument, name in self.arguments.items():
            columns.append((argument.column if isinstance(argument, Argument) else argument, name))
        return [(column_of(rows, column), name) for column, name in columns]

    def add_arguments(self, df: DataFrame, calls: Sequence[Call]) -> None:
        """Add the columns of aggregates, in the order given, which decides ties; then conditions.

        So what decides ties does not change where an aggregate is asked of some rows only.
        """
        for column in (column for call in calls for column in call.columns):
            self.add_argument(column)
        for call in calls:
            if call.conditions:
                self.add_condition(df, call.conditions)

    def add_argument(self, column: Any) -> str:
        """Add an argument (a column's name, or a Column) and return the name of its column."""
        asked = column if isinstance(column, str) else Argument(column)
        return self.arguments.setdefault(asked, f"x{len(self.arguments)}")

    def add_columns(self, df: DataFrame) -> tuple[str, ...]:
        """Add all columns of the DataFrame as arguments and return the names of theirs."""
        for name, times in Counter(df.columns).items():
            if times > 1:
                raise refuse(
                    "a result that has all columns of the rows",
                    f"cannot be made of a DataFrame with two columns {name!r}",
                    f"rename or drop them first, as df.drop({name!r}) does",
                )
        return tuple(self.add_argument(name) for name in df.columns)

    def add_condition(self, df: DataFrame, given: Sequence[Any]) -> str:
        """Add a condition, unless the same is there, and return the name of its column."""
        for argument, name in self.arguments.items():
            if isinstance(argument, Argument) and are_same(argument.written, given):
                return name
        return self.arguments.setdefault(
            Argument(condition(df, given), tuple(given)), f"x{len(self.arguments)}"
        )

    def add_field(
        self,
        value: str,
        monoid: Monoid,
        label: str,
        types: Sequence[str] = (),
        *,
        native: bool = False,
        of: tuple[str, ...] = (),
    ) -> Field:
        """Add the field of a monoid over a value (SQL), unless it is there, and return it.

        ``native``: Spark has an aggregate of its own for what is asked of it.
        """
        column = self.values.setdefault(value, f"v{len(self.values)}")
        key = (column, monoid, of)
        if key not in self.kept:
            holistic = monoid.by_value and not monoid.bounded
            why_not = why_not_invertible(monoid, types)
            one = monoid.combining in ("least", "greatest")
            facts = FieldFacts(
                label, monoid.running, not why_not, why_not, holistic, one,
                sketch=monoid.sketch_size, native=native, registered=monoid.registered,
                decides_ties=monoid.decides_ties, divided=monoid.divided,
                additive=monoid.additive, at_once=monoid.at_once, united=monoid.united,
            )  # fmt: skip
            self.kept[key] = Field(f"f{len(self.kept)}", column, monoid, facts, of=of)
        return self.kept[key]

    def set_counted_type(self, name: str, kind: DataType) -> None:
        """Say of a field which type its counted values have."""
        for key, one in self.kept.items():
            if one.name == name:
                self.kept[key] = replace(one, counted=kind)

    @property
    def why_not_in_python(self) -> str:
        """Explain why values cannot be compared in Python. Empty if they can."""
        return next((f"{one.label} {one.why}" for one in self.incomparable), "")

    def check_comparable(self, *, by_value: bool = False) -> None:
        """Refuse values that bytes would compare; ``by_value``: only those that are counted."""
        for one in self.incomparable:
            if one.by_value or not by_value:
                raise refuse(one.label, one.why, INSTEAD)


def build_fields(
    bound: Bound, calls: Sequence[Call], *, exact: bool = False, weighted: bool = False
) -> Fields:
    """The fields and outputs of aggregates over a bound DataFrame.

    ``exact`` replaces sketches by value counts: Python cannot combine sketches, and windows counted
    in rows have few rows. It refuses sketches that are results themselves. ``weighted``: partials
    are doubles by the time they are lowered.
    """
    fields, version = Fields(), bound.df.sparkSession.version
    bindings = list(zip(calls, bind_calls(bound.df, calls), strict=True))
    labels = [call.label_of(names) for call, (names, _) in bindings]
    fields.add_arguments(bound.df, calls)
    # The same aggregates keep the same fields, in whatever order they are listed.
    for call, (names, types) in sorted(bindings, key=_label_without_name):
        chosen = call.exact if exact and call.exact is not None else call.aggregate
        arguments = {}
        for letter, column in zip(ARGUMENTS, call.columns, strict=False):
            arguments[letter] = fields.add_argument(column)
        label = call.label_of(names)
        of = _spell_variables(bound, call.variables, label) if call.variables else ()
        kinds = _find_collated(bound, call, arguments, types)
        partials = chosen.partials(tuple(types))
        if call.conditions:
            partials = partials.of_some_rows()
            arguments["where"] = fields.add_condition(bound.df, call.conditions)
        parts: dict[str, Part] = {}
        texts = {name: literal(text) for name, text in partials.strings.items()}
        texts |= {
            **(_texts_of_parts(bound) if isinstance(bound, Lasting) else {}),
            **({"cause": bound.cause} if isinstance(bound, FrameBound) else {}),
            "scale": f"{bound.coordinate.per_second}D",
            "type": partials.kind or (types[0] if types else "void"),
        }
        native = partials.native if at_least(version, partials.native_since) else ""
        for part, monoid in partials.fields.items():
            check_version(version, monoid, label)
            if exact and not monoid.in_python:
                raise refuse(label, _ONLY_SPARK, _NOT_SKETCHES)
            _check_time(bound, monoid, label)
            value, lacking = _fill_value(bound, monoid, arguments, kinds)
            if lacking is not None:
                fields.incomparable.append(_why_incomparable(label, monoid, lacking))
            counted = _type_of_counted(bound, fields, monoid, value, kinds)
            own = bool(native and monoid.sketch_size)
            parts[part] = _keep_part(
                bound, fields, (monoid, value), label, types, native=own, of=of
            )
            texts[part] = parts[part].sql(weighted=weighted)
            if counted is not None:
                fields.set_counted_type(texts[part], counted)
        if "start" in find_places(partials.lower) and bound.coordinate.counted:
            texts["start"] = fields.add_field("t", Min("{time}"), call.label_of(names)).name
        counts = any(monoid.by_value for monoid in partials.fields.values())
        fields.outputs.append(
            Output(label, partials.lower, texts, partials.reads, counts, native, arguments, parts)
        )
    fields.outputs.sort(key=lambda output: labels.index(output.label))
    return fields


def _texts_of_parts(bound: Lasting) -> dict[str, str]:
    """SQL: how long a window is, and the number ``at`` as a time."""
    start, end = bound.exact_bounds
    return {"length": f"({end} - {start})", "instant": restore_exact(bound.coordinate, "at")}


def _spell_variables(bound: Bound, variables: Sequence[str], label: str) -> tuple[str, ...]:
    """The variables as the pattern spells them; refuse those that these windows do not have."""
    if not isinstance(bound, FrameBound) or not isinstance(bound.spec, PatternFrame):
        raise refuse(
            label,
            "is of the rows that match a variable, and only a pattern has variables",
            "ask it of fl.PatternFrame, or write agg.count().where('x > 3')",
        )
    known = {name.lower(): name for name in bound.spec.variables}
    for name in variables:
        if name.lower() not in known:
            raise refuse(
                label,
                f"names {name!r}, which is not a variable of the pattern",
                advise_choice(name, bound.spec.variables),
            )
    return tuple(known[name.lower()] for name in variables)


def _check_time(bound: Bound, monoid: Monoid, label: str) -> None:
    """Refuse a monoid that cannot take the times of these windows."""
    if monoid.carry is not None:
        _check_carry(bound, monoid.carry, label)
    if monoid.framed and not isinstance(bound, FrameBound):
        raise refuse(
            label,
            "says why a frame ended, and these windows are not frames: what time or rows place has "
            "no cause",
            "ask it of fl.StateFrame, fl.Session or another frame; of frames that are filled write "
            "fill(…, own={'why': agg.cause()})",
        )
    doubles, units = bound.coordinate.kind == "double", bound.coordinate.is_unit_number
    if monoid.whole_time and units and (doubles or not monoid.at_instants):
        calendar = "" if monoid.at_instants else ", and no calendar"
        raise refuse(
            f"{label} over time={bound.time!r}",
            f"needs a timestamp or a whole number as time{calendar}",
            f"cast {bound.time!r} to bigint in a finer unit"
            + (", or use fl.Sliding" if calendar else ""),
        )
    if monoid.at_instants and isinstance(bound, Lasting):
        raise refuse(
            f"{label} over time=({bound.start!r}, {bound.time!r})",
            "is of numbers that hold until the next row, and these hold from start to stop",
            f"ask for it over points: time={bound.start!r}",
        )
    if not monoid.divided:
        return
    if not bound.divides:
        lasts = isinstance(bound, Lasting)
        raise refuse(
            f"{label} over {'snapshots' if lasts else f'time={bound.time!r}'}",
            "is of the part of an event that lies in a window, and "
            + ("all of a snapshot's events last as long as it" if lasts else "rows have no length"),
            "ask for agg.count() of a snapshot" if lasts else "write time=('start', 'stop')",
        )
    if bound.coordinate.kind == "double":
        raise refuse(
            f"{label} over time={bound.time!r}",
            "needs a timestamp or a whole number as time",
            f"cast {bound.time!r} to bigint in a finer unit",
        )


_CARRIED = (
    "counts what was there before a window begins, which is of rows at an instant in windows that "
    "time alone places"
)


def _check_carry(bound: Bound, carry: Extent, label: str) -> None:
    """Refuse readings that hold beyond a window, of windows that have none before them."""
    if not bound.carries:
        lasts = isinstance(bound, Lasting)
        raise refuse(
            f"{label} with carry={carry}",
            "is of readings that hold until the next one, and events hold from start to stop"
            if lasts else _CARRIED,
            "leave carry out",
        )  # fmt: skip
    bound.check_length("carry", carry)


def _find_collated(
    bound: Bound, call: Call, arguments: Mapping[str, str], types: Sequence[str]
) -> dict[str, DataType]:
    """The types of an aggregate's arguments, by letter, where equal values may differ in bytes.

    Numbers by themselves are left out: Spark and Python compare them alike.
    """
    if not any(contains_type(kind, _UNLIKE) for kind in types):
        return {}
    columns = schema_of(bound.df, [(call.label, one) for one in call.columns], call.label)
    return {
        letter: column.dataType
        for letter, column in zip(arguments, columns, strict=False)
        if needs_normal_form(column.dataType) or not has_normal_form(column.dataType)
        if not isinstance(column.dataType, (DoubleType, FloatType))
    }


def _fill_value(
    bound: Bound, monoid: Monoid, arguments: Mapping[str, str], kinds: Mapping[str, DataType]
) -> tuple[str, DataType | None]:
    """SQL: what a monoid takes of a row, and the type of what it compares that has no normal form.

    What is compared is in its normal form, the rest as it is. Where rows are compared by their
    order, ``{x}`` is what goes along, and the last to decide. ``kinds`` are the types that matter.
    """
    texts, order = dict(arguments), [(name, name) for name in bound.order]
    if "order" in find_places(monoid.value):
        compared = [letter for letter in kinds if letter != "x"]
        if "x" in kinds:
            order.append(("x", normal_form(texts["x"], kinds["x"])))
    elif monoid.compares:
        compared = list(kinds)
    else:
        compared = []
    texts |= {letter: normal_form(texts[letter], kinds[letter]) for letter in compared}
    lacking = [kinds[letter] for letter in compared if not has_normal_form(kinds[letter])]
    time = bound.instant if monoid.at_instants else "t"
    until = bound.open_until if isinstance(bound, FrameBound) else ""
    filled = fill(
        monoid.value, time=time, order=struct(order), begins=BEGINS, ends=ENDS_AT, until=until,
        **texts,
    )  # fmt: skip
    return filled, next(iter(lacking), None)


def _why_incomparable(label: str, monoid: Monoid, kind: DataType) -> Incomparable:
    """Why bytes cannot compare values of a type; refuse it for a sketch, which takes hashes."""
    why = f"compares values of type {type_text(kind)}, {WHY_NOT}"
    if not monoid.in_python:
        raise refuse(label, f"{why}, but a sketch has hashes of them", INSTEAD)
    return Incomparable(label, why, by_value=monoid.by_value)


def _type_of_counted(
    bound: Bound, fields: Fields, monoid: Monoid, value: str, kinds: Mapping[str, DataType]
) -> DataType | None:
    """The type of values that are counted, if strings in them have a collation."""
    if not monoid.by_value or not any(map(has_collation, kinds.values())):
        return None
    rows = project(bound.rows, fields.columns(bound, bound.rows)).selectExpr(f"{value} as value")
    return rows.schema["value"].dataType


def _keep_part(
    bound: Bound,
    fields: Fields,
    lifted: tuple[Monoid, str],
    label: str,
    types: Sequence[str],
    *,
    native: bool,
    of: tuple[str, ...],
) -> Part:
    """Add a field, or two for a sum that may overflow."""
    monoid, value = lifted
    if isinstance(monoid, Merged):
        kind, values = monoid.split, [f"{value}.upper", f"{value}.lower"]
    else:
        kind = _summed_type(bound, fields, monoid, value, types)
        sums = split_sum_of(kind)
        kind, values = (kind, list(sums.split(value))) if sums else ("", [value])
    if not kind:
        return Part((fields.add_field(value, monoid, label, types, native=native, of=of).name,))
    names = [fields.add_field(one, monoid, label, types, of=of).name for one in values]
    return Part(tuple(names), kind)


def _summed_type(
    bound: Bound, fields: Fields, monoid: Monoid, value: str, types: Sequence[str]
) -> str:
    """The type of the values that a sum adds up. Empty for other fields."""
    if monoid.combining != "sum" or monoid.counts:
        return ""
    if monoid.value == "cast({x} as double)":
        return "double"
    plain = [f"{{{letter}}}" for letter in ARGUMENTS]
    if monoid.value in plain:
        return types[plain.index(monoid.value)]
    rows = bound.rows
    added = project(rows, fields.columns(bound, rows))
    if monoid.divided:
        added = added.selectExpr("*", f"0L as {BEGINS}", f"0L as {ENDS_AT}")
    return types_in(added.selectExpr(f"{value} as value"))["value"]


def _label_without_name(binding: tuple[Call, tuple[list[str], list[str]]]) -> str:
    """An aggregate's text without the name of its result."""
    call, (names, _) = binding
    return replace(call, output=None, usual="", synonym="").label_of(names)


def check_version(version: str, monoid: Monoid, label: str) -> None:
    """Refuse a monoid that this version of Spark cannot lift."""
    if not at_least(version, monoid.since):
        wanted = ".".join(map(str, monoid.since))
        raise refuse(
            label,
            f"needs Spark {wanted} or newer, and this session runs {version}",
            "upgrade, or collect the values with agg.collect_list and pick from them",
        )


def types_of(df: DataFrame, fields: Sequence[Field]) -> dict[str, str]:
    """The Spark type of each partial, as SQL text."""
    types = types_in(df)
    return {field.name: types[field.name] for field in fields}


def combine_sql(field: Field, kind: str, over: str = "") -> str:
    """SQL aggregate: combines partials to one of the same type (Spark's sums widen decimals)."""
    text = field.monoid.combine_all(field.name, over)
    return narrow_decimal(text, kind)
