"""What ``explain()`` says about snapshots."""

from __future__ import annotations

from fanlight.engine.plan.explain import Explained, rejected_fact, write_facts
from fanlight.engine.plan.late_rows import OUTPUT, Lateness, late_fact
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.snapshot import Snapshot

_WINDOWS = "from each start or stop of a key to its next one, where an event is running"
_NATIVE = "by Spark, which numbers starts and stops by a sort, and enters an event twice"
_IN_PYTHON = "in one pass in Python over events in the order of their starts"
_STREAM = "by one operator, which keeps the events that the watermark has not passed"
_LATE = "dropped once the watermark has passed their start"


def explain_snapshot(
    native: str,
    spec: Snapshot,
    time: tuple[str, str],
    by: tuple[str, ...],
    *,
    state: str,
    late: Lateness,
) -> Explained:
    """The page; ``native`` says why a batch is left to Spark, and is empty if it is not.

    ``state`` says where a stream keeps its state, and is empty for a batch.
    """
    how = f"{_NATIVE}: {native}" if native else _STREAM if state else _IN_PYTHON
    facts = [("windows", _WINDOWS), ("computed", how)]
    facts.append(rejected_fact(*time))
    if state:
        facts += [("state", state), late_fact(_LATE, late), ("output mode", OUTPUT)]
    return Explained(write_facts(spec, repr(time), by, facts, streaming=bool(state)), Picture(spec))
