"""The fingerprint of a query in a stream: what makes its state mean what it means, as text.

It is the same for queries whose state is the same, however they are written: equal durations in
other units, other names of results, other hints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as attributes
from dataclasses import is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.frames import FrameBound
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.binding.trailing import TrailingBound
from fanlight.engine.spark.binding.widening import WideningBound
from fanlight.engine.spark.fields import Argument, Fields
from fanlight.engine.spark.sql import type_text
from fanlight.engine.spec.units import Extent, write_duration

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from fanlight.engine.operators.stored_state import Fingerprint


Windows = Placed | FrameBound | WideningBound | TrailingBound
# Attributes that repeat what is said elsewhere.
REPEATED = (
    "shown", "durations", "value", "part", "variables", "definitions", "computed",
)  # fmt: skip
# Attributes that checkpoints have under another name.
_CALLED = {("ProgressiveWidening", "max_duration"): "longest"}
_INTERNAL = re.compile(r"\b[kbx]\d+\b")
# What differs from one run to the next: addresses, and the numbers of a lambda's variables.
_NUMBERED = re.compile(r" at 0x[0-9a-f]+|(?<=\b[xyz])_\d+(?=\W)")


def fingerprint(
    kind: str,
    bound: Windows,
    given: Mapping[str, DataType],
    fields: Fields,
    **more: Any,
) -> Fingerprint:
    """What is asked of Spark, or of an operator that is given columns of these types.

    ``fields`` says what the columns hold, besides keys and tiebreaks; ``more`` are options.
    """
    names = dict(zip((*bound.keys, *bound.tie_keys), (*bound.by, *bound.tiebreak), strict=True))
    written = bound.written if isinstance(bound, FrameBound) else {}
    for argument, name in fields.arguments.items():
        column = argument.column if isinstance(argument, Argument) else argument
        names[name] = written.get(id(column), column)
    texts = {"t": bound.time, **{name: describe(column) for name, column in names.items()}}
    values = {
        name: _INTERNAL.sub(lambda match: texts.get(match[0], match[0]), text)
        for text, name in fields.values.items()
    }
    asked = {
        "windows": kind,
        "spec": describe(bound.spec),
        "time": f"{bound.start}, {bound.time}" if isinstance(bound, Lasting) else bound.time,
        "by": ", ".join(texts[key] for key in bound.keys),
        "tiebreak": ", ".join(texts[name] for name in bound.tie_keys),
        "aggregates": ", ".join(
            f"{describe(f.monoid)} of {values[f.value]}"
            + (f" in rows of {', '.join(f.of)}" if f.of else "")
            for f in fields.all
        ),
        "columns": ", ".join(
            f"{texts.get(name, name)} {type_text(of)}" for name, of in given.items()
        ),
        **{name: describe(option) for name, option in more.items()},
    }
    if bound.df.isStreaming and bound.postponement:
        asked["postponed"] = write_duration(bound.postponement)
    if bound.source.forget_after is not None:
        asked["forget_after"] = describe(bound.source.forget_after)
    return {about: text for about, text in asked.items() if text}


def describe(value: Any) -> str:
    """A part of a request as text, which equal parts have in common."""
    for kind, text in _TEXTS.items():
        if isinstance(value, kind):
            return text(value)
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    names = [f.name for f in attributes(value)] if is_dataclass(value) else value.__slots__
    given = {name: getattr(value, name) for name in names if name not in REPEATED}
    name_of_type = type(value).__name__
    parts = [
        f"{_CALLED.get((name_of_type, name), name)}={describe(part)}"
        for name, part in given.items()
        if not _is_unset(part)
    ]
    return f"{name_of_type}({', '.join(parts)})"


def _is_unset(part: Any) -> bool:
    """Whether an attribute is not there; a Column would answer ``==`` with a Column."""
    return part is None or part is False or (isinstance(part, tuple) and not part)


def _column(value: Column) -> str:
    return _NUMBERED.sub("", str(value))


def _extent(value: Extent) -> str:
    if value.measure == "time" and value.value:
        return write_duration(int(value.value))
    return f"{value.value} rows" if value.measure == "rows" else _fraction(value.value)


def _fraction(value: Fraction) -> str:
    text = repr(float(value))
    return text if Fraction(text) == value else str(value)


def _call(value: Call) -> str:
    parts = map(describe, (*value.columns, *value.shown))
    return f"{value.aggregate.name}({', '.join(parts)})"


def _sequence(value: Sequence[Any]) -> str:
    return f"[{', '.join(map(describe, value))}]"


_TEXTS: dict[type | tuple[type, ...], Callable[[Any], str]] = {
    str: str,
    Column: _column,
    Extent: _extent,
    Fraction: _fraction,
    Call: _call,
    (tuple, list): _sequence,
    (bool, int, float, type(None)): repr,
}


# Up to how many bytes Spark collects before it sends a batch to Python, since 4.1. Unless it is the
# greatest int, Spark adds up all columns before each row, which takes longer than to write the row.
BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
UNCOUNTED = str(2**31 - 1)
COUNT_ROWS_ALONE = f"spark.conf.set({BATCH_BYTES!r}, {UNCOUNTED!r})"
PARTITIONS = "spark.sql.shuffle.partitions"  # Spark's setting, for which it has a default
DEFAULT = 200
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
USE_ROCKSDB, USE_HDFS = (f"spark.conf.set({PROVIDER!r}, {one!r})" for one in (_ROCKSDB, _HDFS))


def is_rocksdb(provider: str | None) -> bool:
    """Whether a provider keeps state in RocksDB, under whatever name a platform has for it."""
    return bool(provider) and "RocksDB" in str(provider)


def read_setting(session: Any, name: str) -> str | None:
    """A setting, or Spark's default of it; None if there is none, or the platform hides it."""
    try:
        return str(session.conf.get(name))
    except Exception:  # noqa: BLE001 - a platform hides it by an error of its own
        return None


def counts_bytes(setting: str | None) -> bool:
    """Whether Spark adds up the bytes of a batch before each row: a value of ``BATCH_BYTES``."""
    return setting is not None and setting.strip().lower().removesuffix("b") != UNCOUNTED


def tasks_of_setting(setting: str | None) -> int:
    """The tasks after a shuffle; some platforms say "auto"."""
    return int(setting) if setting and setting.isdigit() else DEFAULT


def count_tasks(session: Any) -> float | None:
    """How many tasks after a shuffle run at a time; None in Spark Connect, which does not say."""
    try:
        most = tasks_of_setting(read_setting(session, PARTITIONS))
        return float(min(most, session.sparkContext.defaultParallelism))
    except Exception:  # noqa: BLE001 - a platform hides it by an error of its own
        return None


def describe_state(bound: Bound) -> str:
    """Where a stateful operator keeps its keys, and in how many partitions."""
    if bound.partitions is not None:
        return f"in RocksDB, keys in {bound.partitions} partitions, as using(partitions=) says"
    asked = str(bound.df.sparkSession.conf.get(PARTITIONS, str(DEFAULT)))
    return f"in RocksDB, keys in {asked} partitions: {PARTITIONS} when the stream begins"
