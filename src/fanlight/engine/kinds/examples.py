"""Frames of made-up data, to be drawn: never data of a user's."""

from __future__ import annotations

from collections.abc import Callable, Iterable

# A series from 0 to 1, a value a row.
VALUES = (
    0.15, 0.22, 0.34, 0.55, 0.72, 0.84, 0.9, 0.86, 0.7, 0.58, 0.4, 0.28, 0.2, 0.24, 0.38, 0.6,
    0.68, 0.64, 0.55, 0.42, 0.3, 0.18, 0.12, 0.1,
)  # fmt: skip
TIMES = (0.5, 1.2, 2.4, 3.0, 8.2, 9.0, 9.6, 11.2, 17.0, 17.4, 18.6, 19.1)  # of rows
Spans = list[tuple[float, float]]  # of each frame its first row, and the row after its last


def find_runs(holds: Iterable[bool]) -> Spans:
    """The longest runs of rows for which something holds."""
    spans: Spans = []
    for place, one in enumerate(holds):
        if one and spans and spans[-1][1] == place:
            spans[-1] = spans[-1][0], place + 1
        elif one:
            spans.append((place, place + 1))
    return spans


def split_values(ends: Callable[[list[float], float], bool]) -> Spans:
    """Split :data:`VALUES` into frames side by side; a row for which ``ends`` begins the next."""
    spans = [(0, 1)]
    for place, value in enumerate(VALUES[1:], 1):
        first = spans[-1][0]
        if ends(list(VALUES[first:place]), value):
            spans.append((place, place + 1))
        else:
            spans[-1] = first, place + 1
    return [*spans]


def split_at_gaps(longest: float) -> Spans:
    """Split :data:`TIMES` at gaps above ``longest``; a session ends so long after its last row."""
    first, last, sessions = TIMES[0], TIMES[0], []
    for at in TIMES[1:]:
        if at - last > longest:
            sessions.append((first, last + longest))
            first = at
        last = at
    return [*sessions, (first, last + longest)]
