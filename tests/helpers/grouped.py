"""Operators as a stream has them: a group of keys over a store in memory."""

from __future__ import annotations

from fanlight.engine.operators.arrow_tables import pack, table_of_rows
from fanlight.engine.operators.group import Group
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.operators.snapshots import concatenate_snapshots
from fanlight.engine.operators.stored_state import HEAD


class InMemory:
    """A store for one process."""

    def __init__(self):
        self.values = {}

    def get(self, variable, number):
        return self.values.get((variable, number))

    def put(self, variable, number, value):
        self.values[variable, number] = value

    def remove(self, variable, number):
        del self.values[variable, number]


class Grouped:
    """One group, which is fed with tables or rows and released as Spark's processor does it."""

    def __init__(self, query, store=None, groups=1):
        self.query = query
        self.store = InMemory() if store is None else store
        self.group = Group(query, self.store, {"windows": "any"}, groups)
        self.late = 0

    def feed(self, rows, watermark=None):
        table = rows if hasattr(rows, "num_rows") else table_of_rows(rows, self.query.schema)
        found, late = self.group.feed([pack([table])], watermark)
        self.late += late
        return found

    def release(self, watermark):
        return self.group.release(watermark)

    def finish(self):
        return self.release(COMPLETE)

    def restarted(self, groups=1):
        """The group as another process finds it."""
        self.group.save()
        return Grouped(self.query, self.store, groups)

    def opened(self):
        """The operator of all keys."""
        buckets = self.group.buckets
        kept = list(buckets.read(range(len(buckets.deadlines))))
        return self.query.resume(concatenate_snapshots(kept, buckets.empty, self.group.released))

    @property
    def next_time(self):
        return self.group.next_time

    @property
    def size(self):
        """Bytes of all that is kept, less the head's."""
        return sum(len(value) for (name, _), value in self.store.values.items() if name != HEAD)
