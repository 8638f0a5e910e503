"""Trailing windows: rows, or rows of another DataFrame that ask, through a pass or an operator.

What comes back is each row that asks, under internal names, with its time ``t`` and of each horizon
the partials of its window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, LongType

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.operators.trailing import ASKED, TrailingBatches, TrailingQuery
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.trailing import TrailingBound
from fanlight.engine.spark.equality import has_collation, normal_form
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.lift import select_rows
from fanlight.engine.spark.ordered.arrow_pass import Passing
from fanlight.engine.spark.ordered.frame_rows import EVERY_ROW, UNORDERED, Prepared, row_partials
from fanlight.engine.spark.ordered.host import Hosting
from fanlight.engine.spark.sql import type_text


@dataclass(frozen=True)
class _Lifted:
    """Rows with keys, ``t``, what orders them, payload and partials of one row."""

    df: DataFrame
    order: tuple[str, ...]
    sources: tuple[str, ...]


def name_payload(bound: Bound, fields: Fields) -> tuple[str, ...]:
    """The internal names of all columns of the DataFrame."""
    return tuple(fields.add_argument(name) for name in bound.df.columns)


def attach_in_a_pass(bound: TrailingBound, fields: Fields, arguments: Sequence[str]) -> DataFrame:
    """The rows of a batch with the partials of their windows."""
    payload = name_payload(bound, fields)
    lifted = _lift(bound, fields, arguments, payload)
    return _pass(bound, fields, lifted, payload, lifted.df)


def attach_to_in_a_pass(
    bound: TrailingBound, fields: Fields, arguments: Sequence[str], spine: DataFrame
) -> DataFrame:
    """The rows of ``spine`` (keys, ``t``, then what is theirs) with the partials of windows."""
    payload = tuple(n for n in spine.columns if n not in (*bound.keys, "t"))
    lifted = _lift(bound, fields, arguments, ())
    placed = lifted.df.filter("t is not null").selectExpr("*", f"false as {ASKED}")
    asks = spine.selectExpr("*", f"true as {ASKED}")
    return _pass(bound, fields, lifted, payload, placed.unionByName(asks, allowMissingColumns=True))


def attach_in_a_stream(bound: TrailingBound, fields: Fields, arguments: Sequence[str]) -> DataFrame:
    """The rows of a stream with the partials of their windows, once the watermark has passed."""
    payload = name_payload(bound, fields)
    fields.check_comparable()
    lifted = _lift(bound, fields, arguments, payload)
    hosting = Hosting(lifted.df.filter("t is not null"), bound, lifted.df.columns)
    query = _query(bound, fields, lifted, payload, hosting.schema, len(hosting.keys))
    out = _out(bound, fields, lifted, payload, hosting.types)
    what = "trailing windows"
    return hosting.run(query, out, fingerprint(what, bound, hosting, fields), what=what)


def _lift(
    bound: TrailingBound, fields: Fields, arguments: Sequence[str], payload: Sequence[str]
) -> _Lifted:
    """Each row as a partial; of one time, rows are ordered by ties and arguments if it matters."""
    rows = select_rows(bound, fields, bound.rows)
    types = {field.name: field.dataType for field in rows.schema.fields}
    order: list[str] = []
    forms: list[str] = []
    ordered = any(not field.monoid.commutative for field in fields.all)
    if ordered or any(horizon.rows for horizon in bound.horizons):
        order = [
            name
            for name in (*bound.tie_keys, *arguments)
            if not contains_type(type_text(types[name]), UNORDERED)
        ]
        alike = [n for n in order if has_collation(types[n]) and n not in bound.tie_keys]
        forms = [f"{normal_form(n, types[n])} as o{n}" for n in alike]
        order = [f"o{n}" if n in alike else n for n in order]
    kept = [*arguments, *payload]
    df = rows.selectExpr(*bound.keys, "t", *bound.tie_keys, *dict.fromkeys(kept), *forms)
    fields_sent = [field for field in fields.all if field.monoid != EVERY_ROW]
    units = row_partials(Prepared(df, (), ()), fields, fields_sent)
    columns = {name: name for name in (*bound.keys, "t", *order, *payload)}
    for field in fields_sent:
        columns.setdefault(units[field.name].text, field.name)
    sources = tuple(
        columns[units[field.name].text] if field.name in units else "" for field in fields.all
    )
    texts = [text if text == name else f"{text} as {name}" for text, name in columns.items()]
    return _Lifted(df.selectExpr(*texts), tuple(order), sources)


def _pass(
    bound: TrailingBound, fields: Fields, lifted: _Lifted, payload: tuple[str, ...], rows: DataFrame
) -> DataFrame:
    passing = Passing(rows, bound.keys, ["t", *lifted.order], rows.columns)
    query = _query(bound, fields, lifted, payload, passing.schema, len(bound.keys), in_order=True)
    return passing.run(TrailingBatches(query), _out(bound, fields, lifted, payload, passing.types))


def _query(
    bound: TrailingBound,
    fields: Fields,
    lifted: _Lifted,
    payload: tuple[str, ...],
    schema: pa.Schema,
    keys: int,
    *,
    in_order: bool = False,
) -> TrailingQuery:
    return TrailingQuery(
        schema,
        keys,
        tuple(field.monoid for field in fields.all),
        bound.horizons,
        lifted.order,
        payload,
        tuple(field.name for field in fields.all),
        lifted.sources,
        asking=ASKED in schema.names,
        sorted=in_order,
        forget_after=bound.forget_after,
    )


def _out(
    bound: TrailingBound,
    fields: Fields,
    lifted: _Lifted,
    payload: Sequence[str],
    types: dict[str, DataType],
) -> list[tuple[str, DataType]]:
    out = [(name, types[name]) for name in payload]
    out.append(("t", LongType()))
    pairs = list(zip(fields.all, lifted.sources, strict=True))
    for number in range(len(bound.horizons)):
        out += [
            (f"{field.name}_{number}", types[source] if source else LongType())
            for field, source in pairs
        ]
    return out
