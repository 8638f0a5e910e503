"""Runs an operator over a group of keys in a stream's Python workers, whatever the Spark version.

The first batch of a stream starts a worker only to ask which state there will be. So the operator's
query stays packed until rows come, and nothing here loads numpy, pyarrow or a kernel before that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from fanlight.engine.operators.stored_state import Store, older_format_error
from fanlight.engine.spark.ordered.pickled import Pickled
from fanlight.engine.spark.ordered.workers import Guard, freeze_modules, load_guarded

if TYPE_CHECKING:
    import pyarrow as pa

    from fanlight.engine.operators.group import Group
    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.stored_state import Fingerprint

# What leaves: how many rows were late, or a packed table of results.
FOUND = StructType([StructField("late", LongType()), StructField("found", BinaryType())])
FIRST = 1_000  # a timer at this time waits for the first watermark
MOST = 100_000  # rows of a result that leave as one value


class GroupRun(Store, ABC):
    """An operator over a group of keys: packed rows in, packed results of the schema ``out`` out.

    ``asked`` is the fingerprint of the query: state that a query with another one left is refused.
    The operator's watermark is Spark's less what the query is ``postponed`` by, in microseconds;
    timers are in Spark's time. Where the state is, and how a timer is set, is for each version of
    Spark to say.
    """

    def __init__(
        self, query: Query, asked: Fingerprint, out: pa.Schema, postponed: int = 0
    ) -> None:
        self._packed = Pickled((query, out))
        self._asked = dict(asked)
        self._postponed = postponed

    def __reduce__(self) -> tuple[Any, ...]:
        return load_guarded(), (Guard("fanlight"), type(self), self.__dict__)

    @cached_property
    def _setup(self) -> tuple[Query, pa.Schema]:
        setup: tuple[Query, pa.Schema] = self._packed.value()
        return setup

    @abstractmethod
    def _has_timer(self) -> bool:
        """Whether a timer of the group is set."""

    @abstractmethod
    def _move_timer(self, before: int | None, after: int | None) -> None:
        """Replace the group's timer, in milliseconds."""

    def feed(self, rows: Iterable[Any], milliseconds: int) -> Iterator[Row]:
        """Take the rows of a micro-batch; release what the watermark completes."""
        packed = [(row.groups, row.rows) for row in rows]
        group = self._open_group(packed[0][0])
        watermark = self._watermark(milliseconds)
        results, late = group.feed([rows for _, rows in packed], watermark)
        yield from self._save(group, watermark, results, late)

    def wake(self, milliseconds: int) -> Iterator[Row]:
        """Release what is complete now that the watermark has reached the timer."""
        group = self._open_group(None)
        group.alarm = None  # Spark has removed the timer
        watermark = self._watermark(milliseconds)
        yield from self._save(group, watermark, group.release(watermark), 0)

    def close(self) -> None:
        """The end of a task."""
        freeze_modules()

    def _open_group(self, groups: int | None) -> Group:
        from fanlight.engine.operators.group import Group

        group = Group(self._setup[0], self, self._asked, groups)
        if not group.has_state and self._has_timer():
            raise older_format_error()  # a timer comes only for a group that has state
        return group

    def _save(
        self, group: Group, watermark: int | None, results: pa.Table | None, late: int
    ) -> Iterator[Row]:
        due = self._next_timer(group, watermark)
        self._move_timer(group.alarm, due)
        group.alarm = due
        group.save()
        yield from self._pack_results(results, late)

    def _next_timer(self, group: Group, watermark: int | None) -> int | None:
        """When the group has to go on even if no row comes."""
        if watermark is None:
            return FIRST
        if self._setup[0].has_no_late_rows:
            return None if group.next_time is None else self._timer_at(group.next_time)
        # All groups go with the watermark, so that which rows are late depends on it alone.
        return self._timer_at(watermark + 1)

    def _timer_at(self, time: int) -> int:
        """The millisecond of Spark's watermark at which the operator's has passed a time."""
        return -(-(time + self._postponed) // 1000)

    def _watermark(self, milliseconds: int) -> int | None:
        """The operator's watermark; None before the first one, while Spark says 1970."""
        return milliseconds * 1000 - self._postponed if milliseconds > 0 else None

    def _pack_results(self, results: pa.Table | None, late: int) -> Iterator[Row]:
        """Results as packed rows, with the count of late rows."""
        from fanlight.engine.operators.arrow_tables import pack

        make, out = Row(*FOUND.names), self._setup[1]
        if results is not None:
            results = results.select(out.names).cast(out)
            for at in range(0, len(results), MOST):
                yield make(0, pack([results.slice(at, MOST)]))
        if late:
            yield make(late, None)


def rows_of(frames: Iterable[Any]) -> Iterator[Any]:
    """The packed rows in data frames of pandas, as Spark gives them before 4.1."""
    return (row for frame in frames for row in frame.itertuples(index=False))


def as_frames(rows: Iterable[Row]) -> Iterator[Any]:
    """Packed results, a data frame for each, as Spark takes them before 4.1."""
    import pyarrow as pa

    for row in rows:
        late, found = pa.array([row.late], pa.int64()), pa.array([row.found], pa.binary())
        yield pa.table({"late": late, "found": found}).to_pandas()
