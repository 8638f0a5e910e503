"""Finds the minimal occurrences of an episode in runs of consecutive rows.

For every state (a step, which of its events have come, the shared values so far) only the partial
occurrence with the latest first row is kept, as no other can become a minimal one. A row that can
be no event costs one comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOLS,
    INT,
    INTS,
    NEW_INTS,
    NEW_TABLE,
    TABLE,
    jitable,
    kernel,
    named_tuple_of,
    tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

# A partial occurrence is a row of numbers: step, events done, variables bound, first row, then the
# shared values, then the row of each event.
_STEP, _DONE, _BOUND, _FIRST, _VALUES = 0, 1, 2, 3, 4


class Episode(NamedTuple):
    """The episode to search for: see :func:`occurrences`."""

    where: Ints
    steps: Ints
    wholes: Ints
    most: int


class Buffers(NamedTuple):
    """Buffers for partial occurrences, those that the current row makes, and complete ones.

    ``known`` has a line for each combination of shared values with an occurrence: first row of the
    latest, its line in ``complete``, and the values.
    """

    held: Ints
    pending: Ints
    known: Ints
    complete: Ints


EPISODE = named_tuple_of(Episode, NEW_TABLE, NEW_INTS, NEW_INTS, INT)
BUFFERS = named_tuple_of(Buffers, NEW_TABLE, NEW_TABLE, NEW_TABLE, NEW_TABLE)


@jitable
def _grow(table: Ints, needed: int) -> Ints:
    if needed <= len(table):
        return table
    more = np.zeros((max(2 * len(table), needed), table.shape[1]), np.int64)
    for at in range(len(table)):
        _copy(table, at, more, at)
    return more


@jitable
def _copy(table: Ints, at: int, other: Ints, there: int) -> None:
    """Copy a line to another table; slices would take far longer to compile."""
    for column in range(table.shape[1]):
        other[there, column] = table[at, column]


@jitable
def _is_same_state(one: Ints, at: int, other: Ints, there: int, variables: int) -> bool:
    """Whether two partial occurrences are in the same state; unbound values are 0."""
    for column in (_STEP, _DONE, _BOUND):
        if one[at, column] != other[there, column]:
            return False
    for v in range(variables):  # noqa: SIM110 - no generators in kernels
        if one[at, _VALUES + v] != other[there, _VALUES + v]:
            return False
    return True


@jitable
def _has_same_values(known: Ints, at: int, states: Ints, there: int, variables: int) -> bool:
    """Whether a known occurrence and a complete one have the same shared values."""
    for v in range(variables):  # noqa: SIM110
        if known[at, 2 + v] != states[there, _VALUES + v]:
            return False
    return True


@jitable
def _extend(
    states: Ints, at: int, event: int, row: int, values: Ints, where: Ints, wholes: Ints,
    variables: int,
) -> bool:  # fmt: skip
    """Add a row as an event to a partial occurrence; returns False if a shared value differs."""
    for v in range(variables):
        column = where[event, v]
        if column >= 0:
            value = values[column, row]
            if states[at, _BOUND] & (1 << v):
                if states[at, _VALUES + v] != value:
                    return False
            else:
                states[at, _BOUND] |= 1 << v
                states[at, _VALUES + v] = value
    states[at, _VALUES + variables + event] = row
    states[at, _DONE] |= 1 << event
    if states[at, _DONE] == wholes[states[at, _STEP]]:
        states[at, _STEP] += 1
        states[at, _DONE] = 0
    return True


def occurrences(
    may: Ints, begins: Bools, values: Ints, where: Ints, steps: Ints, wholes: Ints, most: int
) -> tuple[Ints, Ints, Ints]:
    """First row, last row and the row of each event, for every minimal occurrence.

    Parameters
    ----------
    may
        For each row, the events that it can be, as bits.
    begins
        Whether a run of rows begins at the row: no occurrence spans two runs.
    values
        (column, row) -> value, for the columns with shared variables.
    where
        (event, variable) -> column of ``values``, or -1.
    steps
        The step of each event.
    wholes
        All events of each step, as bits.
    most
        The greatest number of rows that an occurrence may span.

    """
    events, variables = where.shape
    width = _VALUES + variables + events
    widths = (width, width, 2 + variables, 2 + events)
    buffers = Buffers(*(np.zeros((16, columns), np.int64) for columns in widths))
    episode = Episode(where, steps, wholes, most)
    complete, n_complete = _occurrences(may, begins, values, episode, buffers)
    complete = complete[:n_complete]
    return complete[:, 0].copy(), complete[:, 1].copy(), complete[:, 2:].copy()


@kernel(tuple_of(NEW_TABLE, INT)(INTS, BOOLS, TABLE, EPISODE, BUFFERS))
def _occurrences(
    may: Ints, begins: Bools, values: Ints, episode: Episode, buffers: Buffers
) -> tuple[Ints, int]:
    """A line for each occurrence: first row, last row, rows of events; and their number."""
    where, steps, wholes, most = episode
    held, pending, known, complete = buffers
    events, variables = where.shape
    n_held = n_pending = n_known = n_complete = 0
    run = 0
    for row in range(len(may)):
        if begins[row]:
            n_held = n_known = 0
            run = row
        if not may[row]:
            continue
        oldest = max(run, row - most + 1)
        kept = 0
        for i in range(n_held):  # drop those that would become too long
            if held[i, _FIRST] >= oldest:
                if kept < i:
                    _copy(held, i, held, kept)
                kept += 1
        n_held = kept
        kept = 0
        for i in range(n_known):
            if known[i, 0] >= oldest:
                if kept < i:
                    _copy(known, i, known, kept)
                kept += 1
        n_known = kept
        n_pending = 0
        for event in range(events):
            if not may[row] & (1 << event):
                continue
            if steps[event] == 0:
                pending = _grow(pending, n_pending + 1)
                for column in range(pending.shape[1]):
                    pending[n_pending, column] = 0
                pending[n_pending, _FIRST] = row
                if _extend(pending, n_pending, event, row, values, where, wholes, variables):
                    n_pending += 1
            for i in range(n_held):
                if held[i, _STEP] == steps[event] and not held[i, _DONE] & (1 << event):
                    pending = _grow(pending, n_pending + 1)
                    _copy(held, i, pending, n_pending)
                    if _extend(pending, n_pending, event, row, values, where, wholes, variables):
                        n_pending += 1
        for i in range(n_pending):
            first = pending[i, _FIRST]
            if pending[i, _STEP] < len(wholes):
                at = 0
                while at < n_held and not _is_same_state(held, at, pending, i, variables):
                    at += 1
                if at == n_held:
                    held = _grow(held, n_held + 1)
                    _copy(pending, i, held, n_held)
                    n_held += 1
                elif held[at, _FIRST] < first:
                    _copy(pending, i, held, at)
                continue
            at = 0
            while at < n_known and not _has_same_values(known, at, pending, i, variables):
                at += 1
            if at < n_known and known[at, 0] >= first:
                continue  # the known one lies inside this one, which is not minimal
            slot = n_complete
            if at == n_known:
                known = _grow(known, n_known + 1)
                n_known += 1
                for v in range(variables):
                    known[at, 2 + v] = pending[i, _VALUES + v]
            elif complete[known[at, 1], 1] == row:
                # This row ends it twice, as two events: the later first row counts.
                slot = known[at, 1]
            if slot == n_complete:
                complete = _grow(complete, n_complete + 1)
                n_complete += 1
            known[at, 0], known[at, 1] = first, slot
            complete[slot, 0], complete[slot, 1] = first, row
            for event in range(events):
                complete[slot, 2 + event] = pending[i, _VALUES + variables + event]
    return complete, n_complete
