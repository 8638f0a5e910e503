"""Frames over a stream: one stateful operator for all schemes.

Rows enter as partials of one row that Spark has lifted, and frames leave as partials that Spark
lowers. The state of an open frame does not grow with it, unless an aggregate keeps all values.
"""

from __future__ import annotations

import re

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, LongType

from fanlight.engine.operators.frames.stream import FrameStreamQuery
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.ordered.frame_rows import (
    EVERY_ROW,
    prepare_rows,
    restore_names,
    row_partials,
)
from fanlight.engine.spark.ordered.host import Hosting


def frames(bound: FrameBound, fields: Fields, *, every: int | None = None) -> DataFrame:
    """Frames as a batch gives them, once the watermark has passed the row that closes each.

    With ``every``, parts of frames, once it has passed their ends. Frames that are given early come
    also while they are open, in update mode, with ``final``.
    """
    kept = [field for field in fields.all if field.monoid != EVERY_ROW]
    fields.check_comparable()
    rows = prepare_rows(bound, fields)
    partial = row_partials(rows, fields, kept)
    # Each value costs time in Python, so equal columns are sent there once.
    columns = {name: name for name in (*bound.keys, "t", *rows.order)}
    for text, name in zip(rows.inputs, rows.input_names, strict=True):
        columns.setdefault(text, name)
    for field in kept:
        columns.setdefault(partial[field.name].text, field.name)
    df = rows.df.selectExpr(*(f"{text} as {name}" for text, name in columns.items()))
    hosting = Hosting(df, bound, list(columns.values()))
    partials = [field.name for field in kept]
    sources = tuple(columns[partial[name].text] for name in partials)
    query = FrameStreamQuery(
        bound.scheme, hosting.schema, tuple(hosting.keys), rows.order,
        tuple(columns[text] for text in rows.inputs), tuple(partials),
        tuple(field.monoid for field in kept), sources=sources, forget_after=bound.forget_after,
        every=every, early=bound.early,
    )  # fmt: skip
    early = bound.early is not None
    out = [(key, hosting.types[key]) for key in bound.keys]
    out += [(name, LongType()) for name in ("frame", "start", "ending", "rows")]
    out += [("closed", BooleanType()), *([("final", BooleanType())] if early else [])]
    out += [(name, hosting.types[source]) for name, source in zip(partials, sources, strict=True)]
    counts = [f"rows as {f.name}" for f in fields.all if f.monoid == EVERY_ROW]
    given = {"parts": every, "early": bound.early}
    given = {name: length for name, length in given.items() if length is not None}
    asked = fingerprint("frames", bound, hosting, fields, **given)
    mode = "update" if early else "append"
    return hosting.run(query, out, asked, what=_name_frames(bound), more=counts, mode=mode)


def rows(bound: FrameBound) -> DataFrame:
    """The rows unchanged, with the number of their frame, once the watermark has passed them.

    If frames that are too small are left out, a row waits until its frame is large enough.
    """
    fields = Fields()
    payload = fields.add_columns(bound.df)
    rows = prepare_rows(bound, fields)
    named = dict.fromkeys([*bound.keys, "t", *rows.order, *payload, *rows.named_inputs])
    df = rows.df.selectExpr(*named)
    hosting = Hosting(df, bound, df.columns)
    query = FrameStreamQuery(
        bound.scheme, hosting.schema, tuple(hosting.keys), rows.order, rows.input_names,
        payload=payload, numbered=True, forget_after=bound.forget_after,
    )  # fmt: skip
    out = [*((name, hosting.types[name]) for name in payload), ("frame", LongType())]
    asked = fingerprint("rows of frames", bound, hosting, fields)
    numbered = hosting.run(query, out, asked, what=_name_frames(bound))
    return restore_names(bound, payload, numbered)


def _name_frames(bound: FrameBound) -> str:
    """The frames in words, as metrics and errors name them: ``delta frames``, ``sessions``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(bound.spec).__name__).lower() + "s"
