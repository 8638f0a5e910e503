"""The types of arguments: what a word such as ``Keys`` stands for in a signature.

Each is defined here alone, for type checkers and for the checks at run time alike. Nothing of
Spark is loaded. Use them to annotate functions of your own:

>>> from fanlight.types import Duration
>>> def lasting(hours: int) -> Duration:
...     return f"{hours} hours"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union

if TYPE_CHECKING:
    from pyspark.sql import Column

    from fanlight.engine.algebra.aggregate import Call
    from fanlight.engine.algebra.expression import Expression, Transformed
    from fanlight.engine.spec.frames import Frame
    from fanlight.engine.spec.granular import MultiGranular
    from fanlight.engine.spec.sliding import Sliding
    from fanlight.engine.spec.snapshot import Snapshot
    from fanlight.engine.spec.trailing import Trailing
    from fanlight.engine.spec.units import Rows
    from fanlight.engine.spec.widening import ProgressiveWidening

__all__ = [
    "Against", "Aggregated", "Calls", "Closed", "ColumnOrName", "Condition", "DataFrameLike",
    "Duration", "Filling", "Format", "How", "Instant", "Keys", "Late", "LateInOrder", "LateInSql",
    "Length", "Limit", "Matches", "Method", "Nulls", "Number", "OnError", "Report", "RowsAs",
    "Side", "Spec", "Weekday",
]  # fmt: skip

Duration = str | timedelta | float
"""A length of time: a text such as `"4 minutes"`, or a `timedelta`; a number where the time is
a number."""
Length = Union[Duration, "Rows"]
"""How long windows are, or how far apart: a `Duration`, or `fl.Rows(n)` for a number of rows."""
Instant = datetime | date | str | float
"""A point in time: a `datetime`; a `date`, which begins by the clock of a calendar; a text such as
`"2025-03-01T00:00:00Z"`; a number where the time is a number."""
Number = float | Decimal | Fraction
"""A number that is read exactly: `0.1` is one tenth."""

ColumnOrName = Union[str, "Column"]
"""A column by its name, or as a Column, which may be computed."""
Keys = ColumnOrName | Sequence[ColumnOrName] | None
"""Columns whose values are a key: one, several, or none."""
Condition = Union[str, "Column"]
"""What holds for a row or not: SQL text, such as `"speed > 50"`, or a boolean Column."""
Aggregated = Union["Call", "Expression", "Transformed", "Column"]
"""What `agg` of the windows takes: aggregates of `fanlight.agg`, what is computed of them, and
Spark's own, such as `F.max("price")`."""
Calls = Union["Call", Sequence["Call"]]
"""An aggregate of `fanlight.agg`, or several."""
Limit = Union[Number, str, "Column"]
"""What ends a frame: a number; or SQL text or a Column, calculated for each row."""
Spec = Union[
    "Sliding", "MultiGranular", "Frame", "ProgressiveWidening", "Trailing", "Snapshot",
    Sequence["Sliding"], Mapping[str, "Trailing"],
]  # fmt: skip
"""The windows that are asked for: a value that says which, a list of sliding windows, or trailing
windows by labels."""

Late = Literal["drop", "open", "collect"]
"""What becomes of rows that come too late."""
LateInOrder = Literal["drop", "collect"]
"""The same, of windows that are made of rows in order."""
LateInSql = Literal["drop", "open"]
"""The same, where a query in SQL says it."""
Filling = Literal["null", "zero", "last", "linear"]
"""What windows without rows have."""
Side = Literal["both", "start", "end"]
"""At which edges of the data windows must be complete."""
How = Literal["inner", "left"]
"""Which frames are filled: those with a row, or all."""
Closed = Literal["right", "left", "both", "neither"]
"""Which ends belong to a window."""
Report = Literal["periodic", "continuous"]
"""When levels are reported: each at its own slide, or all at the finest one."""
Weekday = Literal["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"]
"""The day that begins a week; in the order of 1970."""
Against = Literal["range", "first"]
"""What a value of a delta frame is compared with."""
Nulls = Literal["state", "skip", "end", "carry"]
"""What a null is to a state frame."""
Matches = Literal["all", "first"]
"""Which matches of a pattern a key has."""
RowsAs = Literal["arrow", "pandas", "dicts"]
"""As what a function of yours is given rows."""
OnError = Literal["fail", "record"]
"""What becomes of a window whose function fails."""
Format = Literal["parquet", "csv", "json"]
"""What files are written in."""
# Strategies of `using` have no type: more can be registered, and each kind of windows has its own.
Method = Literal[
    "fit", "recurring", "wide", "bursts", "fill", "split", "accumulate", "detect"
]  # fmt: skip
"""The methods of windows that have words in SQL."""


class DataFrameLike(Protocol):
    """A DataFrame of PySpark, or one of narwhals or ibis over PySpark."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    @property
    def select(self) -> Any:
        """What takes some of its columns."""
