"""A sketch of snapshots: events, and the windows in which the same of them are running."""

from __future__ import annotations

from itertools import pairwise

from fanlight.engine.spec.snapshot import Snapshot
from fanlight.plots.sketches.model import Lane, Mark, Sketch

EVENTS = ((0.02, 0.42), (0.18, 0.62), (0.34, 0.5), (0.74, 0.97))  # as an example


def sketch_snapshot(spec: Snapshot) -> Sketch:
    """Events that overlap, and a window from each start or stop to the next."""
    edges = sorted({at for event in EVENTS for at in event})
    windows = []
    for start, stop in pairwise(edges):
        running = sum(began <= start < ended for began, ended in EVENTS)
        if running:
            windows.append(Mark("window", start, stop, str(running)))
    lanes = [Lane("event", (Mark("piece", *event),)) for event in EVENTS]
    notes = ["events are drawn as an example; a window says how many are running"]
    if spec.min_duration:
        notes.append(f"windows shorter than {spec.min_duration.text} are left out")
    if spec.merge_equal:
        notes.append("windows with the same results that touch are one")
    alt = "Events that overlap, and below them a window from each start or stop to the next one."
    return Sketch(repr(spec), (*lanes, Lane("windows", tuple(windows))), (), alt, tuple(notes))
