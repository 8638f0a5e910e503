"""What Spark tells of the micro-batches of a query: objects, or in Spark 3.5 dicts, as objects."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

# What the dicts of Spark 3.5 leave out where there is nothing to tell.
_NOTHING: dict[str, Any] = {"name": None, "observedMetrics": {}, "eventTime": {}, "durationMs": {}}


def recent_batches(query: Any) -> list[Any]:
    """The progress of each micro-batch that a query remembers."""
    return [as_progress(one) for one in query.recentProgress]


def last_batch(query: Any) -> Any:
    """The progress of a query's last micro-batch; None before the first."""
    last = query.lastProgress
    return None if last is None else as_progress(last)


def as_progress(told: Any) -> Any:
    """One progress with attributes; what is neither an object of Spark's nor a dict stays."""
    of_another = not isinstance(told, Mapping) or "numInputRows" not in told
    if of_another or hasattr(told, "observedMetrics"):
        return told
    values = {**_NOTHING, **told}
    values.setdefault("batchDuration", values["durationMs"].get("triggerExecution", 0))
    values["stateOperators"] = [
        SimpleNamespace(**{"customMetrics": {}, **one}) for one in told.get("stateOperators", [])
    ]
    return SimpleNamespace(**values)


def has_run(progress: Any) -> bool:
    """Whether a progress is of a micro-batch; Spark also tells, now and then, of no new rows."""
    return "addBatch" in progress.durationMs
