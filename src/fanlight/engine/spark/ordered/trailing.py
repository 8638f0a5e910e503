"""Trailing windows: rows, or rows of another DataFrame that ask, through a pass or an operator.

What comes back is each row that asks, under internal names, with its time ``t`` and of each horizon
the partials of its window.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    LongType,
    NumericType,
    StringType,
)

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.library.in_order import PLACED
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.ordering import Reading
from fanlight.engine.algebra.sql_text import struct
from fanlight.engine.operators.trailing import ASKED, COPIED, SINCE, TrailingQuery
from fanlight.engine.plan.trailing import Horizon
from fanlight.engine.spark.binding.trailing import TrailingBound, name_columns, select_asking
from fanlight.engine.spark.equality import has_collation, normal_form
from fanlight.engine.spark.fields import Field, Fields, Output, combine_sql
from fanlight.engine.spark.lift import EVERY_ROW, Columns, lift_units, select_rows
from fanlight.engine.spark.ordered.frames import UNORDERED
from fanlight.engine.spark.ordered.host import Hosted, alike, numbers, run_operator
from fanlight.engine.spark.ordered.ranked_values import type_of_reading
from fanlight.engine.spark.ordered.trailing_chunks import CHUNK, copy_into_chunks
from fanlight.engine.spark.sql import over_clause, type_text, types_in

_NESTED = "named_struct('o', named_struct('t', w.t), 'v', w.v)"  # as the aggregate reads it
_FIELD = re.compile(r"\bf\d+\b")


@dataclass(frozen=True)
class _Lifted:
    """Rows with keys, ``t``, what orders them, payload and partials of one row."""

    df: DataFrame
    order: tuple[str, ...]
    sources: tuple[str, ...]
    ranked: tuple[tuple[str, str, Reading], ...]


@dataclass(frozen=True)
class Ranked:
    """What is read off the values of rows in the order of their ranks: ``value`` is their SQL."""

    name: str
    value: str
    kind: DataType
    reading: Reading

    @property
    def type(self) -> DataType:
        """The type of what is read."""
        return type_of_reading(self.kind, self.reading)


@dataclass(frozen=True)
class TrailingFields:
    """The aggregates of what rows look back at: from partials, and from ranked values."""

    fields: Fields
    ranked: tuple[Ranked, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns that results are lowered from."""
        return [*(field.name for field in self.fields.all), *(one.name for one in self.ranked)]


def rank_where_possible(bound: TrailingBound, fields: Fields) -> TrailingFields:
    """Read off ranks what would take value counts, if each window is one range of rows."""
    plain = all(
        horizon.include_self and not horizon.whole and horizon.calendar is None
        for horizon in bound.horizons
    )
    readings = fields.digests
    if not plain or not readings:
        return TrailingFields(fields)
    rows = select_rows(bound, fields, bound.rows)
    texts = fields.values_by_name
    kept = {field.name: field for field in fields.all}
    columns = {field: texts[kept[field].value] for field, _ in readings}
    types = rows.selectExpr(*(f"{text} as {name}" for name, text in columns.items())).schema
    ranked = {
        (field, reading): Ranked(
            name, normal_form(columns[field], types[field].dataType), types[field].dataType, reading
        )
        for (field, reading), name in readings.items()
        if _is_ordered(types[field].dataType)
    }
    outputs: list[Output] = []
    used: set[str] = set()
    for one in fields.outputs:
        asked = ranked.get((one.texts["p"], one.reads)) if one.reads is not None else None
        if asked is None or one.reads is None:
            outputs.append(one)
            used |= {name for text in one.texts.values() for name in _FIELD.findall(text)}
        else:
            lower, places = one.reads.lower or one.lower, {**one.texts, "p": asked.name}
            outputs.append(replace(one, lower=lower, texts=places))
    left = {key: field for key, field in fields.kept.items() if field.name in used}
    return TrailingFields(replace(fields, kept=left, outputs=outputs), tuple(ranked.values()))


def _is_ordered(kind: DataType) -> bool:
    """Whether Python has the order of Spark for values of this type."""
    return isinstance(kind, (NumericType, DateType, BooleanType)) or (
        isinstance(kind, StringType) and not has_collation(kind)
    )


def attach_in_order(
    bound: TrailingBound,
    wanted: TrailingFields,
    arguments: Sequence[str],
    asks: TrailingBound | None = None,
    *,
    divided: bool = False,
) -> DataFrame:
    """The rows with the partials of their windows; of a stream, once the watermark has passed.

    Rows are those of another DataFrame if these ask; ``divided``: those of a key, by time.
    """
    if asks is not None:
        return _attach_to(bound, wanted, arguments, asks, divided=divided)
    payload = wanted.fields.add_columns(bound.df)
    lifted = _lift(bound, wanted, arguments, payload)
    return _look_back(bound, wanted, lifted, payload, lifted.df, divided=divided)


def attach_in_chunks(
    bound: TrailingBound,
    wanted: TrailingFields,
    arguments: Sequence[str],
    asks: TrailingBound | None = None,
) -> DataFrame:
    """The rows of a batch with the partials of their windows, those of one key in many tasks."""
    return attach_in_order(bound, wanted, arguments, asks, divided=True)


def why_not_natively(bound: TrailingBound, fields: Fields) -> str:
    """Explain why Spark's own windows cannot compute these aggregates. Empty if they can."""
    if all(horizon.one for horizon in bound.horizons):
        return ""
    for field in fields.all:
        if field.monoid.by_value:
            return f"{field.facts.label} needs all values of each window"
        if not (field.monoid.running and field.monoid.commutative):
            return f"{field.facts.label} has partials that no window of Spark's combines"
    return ""


def only_latest(fields: Fields) -> bool:
    """Whether only the latest row of a window matters, of those that have a value."""
    return all(_is_latest(field) for field in fields.all)


def _is_latest(field: Field) -> bool:
    monoid = field.monoid
    return monoid.combining == "greatest" and PLACED in monoid.value


def attach_natively(
    bound: TrailingBound,
    wanted: TrailingFields,
    arguments: Sequence[str],
    asks: TrailingBound | None = None,
) -> DataFrame:
    """The rows of a batch with the partials of their windows, each by a window of Spark's.

    Where rows of another DataFrame ask, they stand among the others, without partials.
    """
    fields = wanted.fields
    own: Sequence[str] = fields.add_columns(bound.df) if asks is None else ()
    lifted = _lift_natively(bound, fields, arguments, own)
    if asks is None:
        rows, payload = lifted, [*own]
    else:
        asking = select_asking(asks).selectExpr("*", f"true as {ASKED}")
        lifted = lifted.filter("t is not null")
        rows, payload = lifted.unionByName(asking, allowMissingColumns=True), name_columns(asks.df)
    windows = []
    for number, horizon in enumerate(bound.horizons):
        windows += _windows_of(bound, fields, horizon, number, types_in(lifted))
    kept = [ASKED] if asks is not None else []
    found = rows.selectExpr("t", *kept, *payload, *windows)
    return found if asks is None else found.filter(ASKED).drop(ASKED)


def _lift_natively(
    bound: TrailingBound, fields: Fields, arguments: Sequence[str], payload: Sequence[str]
) -> DataFrame:
    """Rows with keys, ``t``, payload and partials; with ``latest``, their order, if it matters."""
    rows = select_rows(bound, fields, bound.rows)
    kept = dict.fromkeys([*arguments, *payload])
    rows = rows.selectExpr(*bound.keys, "t", *bound.tie_keys, *kept)
    units = lift_units(rows, fields.all, fields.values_by_name)
    # A row that cannot be placed contributes nothing, though Spark's windows begin with it.
    flat = _flat_fields(bound, fields)
    partials = []
    for field in fields.all:
        text = units[field.name].text
        if field in flat:
            text = f"if(({text}) is null, null, named_struct('t', t, 'v', ({text}).v))"
        text = f"if(t is null, null, {text})"
        partials.append(f"{text} as {field.name}")
    if any(horizon.rows for horizon in bound.horizons):
        order = struct([("t", "t"), *_order_of(rows, bound, arguments)])
        partials.append(f"if(t is null, null, {order}) as latest")
    return rows.selectExpr(*bound.keys, "t", *payload, *partials)


def _flat_fields(bound: TrailingBound, fields: Fields) -> list[Field]:
    """The fields whose partials are rows with a place that is their time: they are sent flat."""
    if bound.tie_keys or any(horizon.rows for horizon in bound.horizons):
        return []
    return [field for field in fields.all if _is_latest(field)]


def _order_of(
    rows: DataFrame, bound: TrailingBound, arguments: Sequence[str]
) -> list[tuple[str, str]]:
    """What orders rows of one time, and is equal for equal rows only: names and SQL."""
    types = {field.name: field.dataType for field in rows.schema.fields}
    order = []
    for name in (*bound.tie_keys, *arguments):
        if not contains_type(type_text(types[name]), UNORDERED):
            alike = has_collation(types[name]) and name not in bound.tie_keys
            order.append((name, normal_form(name, types[name]) if alike else name))
    return order


def _windows_of(
    bound: TrailingBound, fields: Fields, horizon: Horizon, number: int, types: Mapping[str, str]
) -> list[str]:
    """SQL: the partials of a window of each row."""
    whole = over_clause(
        bound.keys, "t", f"range between unbounded preceding and {horizon.last}L preceding"
    )
    if horizon.one:
        names = [(field.name, field.name) for field in fields.all]
        found = f"(max_by({struct(names)}, latest) {whole})"
        return [f"{found}.{name} as {name}_{number}" for name, _ in names]
    texts, flat = [], _flat_fields(bound, fields)
    for field in fields.all:
        kind = types[field.name]
        if _is_latest(field):  # the latest of all, unless it is too old
            found, at = ("w", "w.o.t") if field not in flat else (_NESTED, "w.t")
            if horizon.whole:
                text = f"if(w is null, null, {found})"
            else:
                text = f"if({at} >= t - {horizon.first}L, {found}, null)"
            text = let("w", combine_sql(field, kind, whole), text)
        elif horizon.whole:
            text = combine_sql(field, kind, whole)
        else:
            begin = f"range between {horizon.first}L preceding and {horizon.last}L preceding"
            text = combine_sql(field, kind, over_clause(bound.keys, "t", begin))
        texts.append(f"{text} as {field.name}_{number}")
    return texts


def _attach_to(
    bound: TrailingBound,
    wanted: TrailingFields,
    arguments: Sequence[str],
    asks: TrailingBound,
    *,
    divided: bool,
) -> DataFrame:
    """The rows that ask with the partials of windows; of a stream, once the watermark has passed.

    Spark's watermark is then one for both streams.
    """
    payload = tuple(name_columns(asks.df))
    lifted = _lift(bound, wanted, arguments, ())
    placed = lifted.df.filter("t is not null").selectExpr("*", f"false as {ASKED}")
    asking = select_asking(asks).selectExpr("*", f"true as {ASKED}")
    rows = placed.unionByName(asking, allowMissingColumns=True)
    bound = replace(bound, postponed=asks.postponed)
    told = {"spine": asks.df.columns, "spine's time": asks.time, "spine's by": asks.by}
    what = "trailing windows of a spine"
    return _look_back(bound, wanted, lifted, payload, rows, what, told, divided=divided)


def _lift(
    bound: TrailingBound, wanted: TrailingFields, arguments: Sequence[str], payload: Sequence[str]
) -> _Lifted:
    """Each row as a partial; of one time, rows are ordered by ties and arguments if it matters."""
    fields = wanted.fields
    rows = select_rows(bound, fields, bound.rows)
    order: list[str] = []
    forms: list[str] = []
    ordered = any(not field.monoid.commutative for field in fields.all)
    if ordered or any(horizon.rows for horizon in bound.horizons):
        pairs = _order_of(rows, bound, arguments)
        forms = [f"{text} as o{name}" for name, text in pairs if text != name]
        order = [name if text == name else f"o{name}" for name, text in pairs]
    kept = [*arguments, *payload]
    df = rows.selectExpr(*bound.keys, "t", *bound.tie_keys, *dict.fromkeys(kept), *forms)
    sent = [field for field in fields.all if field.monoid != EVERY_ROW]
    units = lift_units(df, sent, fields.values_by_name)
    columns = Columns((*bound.keys, "t", *order, *payload))
    ranked = tuple(
        (one.name, columns.add(one.value, f"c{number}"), one.reading)
        for number, one in enumerate(wanted.ranked)
    )
    names = {name: columns.add(unit.text, name) for name, unit in units.items()}
    sources = tuple(names.get(field.name, "") for field in fields.all)
    return _Lifted(df.selectExpr(*columns.texts), tuple(order), sources, ranked)


def _look_back(
    bound: TrailingBound,
    wanted: TrailingFields,
    lifted: _Lifted,
    payload: tuple[str, ...],
    rows: DataFrame,
    what: str = "trailing windows",
    told: Mapping[str, Any] | None = None,
    *,
    divided: bool,
) -> DataFrame:
    """Run rows through the operator; ``told`` tells this query from others."""
    fields, streaming = wanted.fields, bound.df.isStreaming
    if divided:
        needed = {*lifted.order, *lifted.sources, *(source for _, source, _ in lifted.ranked)}
        spared = [name for name in payload if name not in needed]
        reach = max(horizon.first for horizon in bound.horizons)
        rows = copy_into_chunks(rows, bound.keys, reach, spared)

    def query(schema: pa.Schema, keys: int) -> TrailingQuery:
        return TrailingQuery(
            schema, keys, fields.monoids, bound.horizons, lifted.order, payload, lifted.ranked,
            asking=ASKED in schema.names, copied=COPIED in schema.names,
            sorted=not streaming, partials=tuple(fields.names),
            sources=lifted.sources, forget_after=bound.forget_after,
        )  # fmt: skip

    given = alike(*payload) | numbers("t")
    for number in range(len(bound.horizons)):
        given |= {
            f"{field.name}_{number}": source or LongType()
            for field, source in zip(fields.all, lifted.sources, strict=True)
        }
        given |= {f"{one.name}_{number}": one.type for one in wanted.ranked}
        if bound.horizons[number].calendar is not None:
            given |= numbers(f"{SINCE}_{number}")
    read = [f"{one.reading!r} of {one.value}" for one in wanted.ranked]
    told = {**({"read": read} if read else {}), **(told or {})}
    rows = rows.filter("t is not null") if streaming else rows
    parts = [CHUNK] if divided else []
    hosted = Hosted(what, told, order=["t", *lifted.order], by="t", parts=parts)
    return run_operator(bound, fields, rows, query, given, hosted)
