"""Minimal occurrences of an episode in runs of consecutive rows.

For every state (a step, which of its events have come, the shared values so far) the partial
occurrence with the latest first row is held; it alone can be the start of a minimal one. A row that
can be no event costs a look at one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fanlight.kernels.jit import (
    BOOLS,
    INT,
    INTS,
    NEW_INTS,
    NEW_TABLE,
    TABLE,
    jitable,
    kernel,
    several,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

# A partial occurrence is a row of numbers: step, events done, variables bound, first row, then the
# shared values, then the row of each event.
_STEP, _DONE, _BOUND, _FIRST, _VALUES = 0, 1, 2, 3, 4


@jitable
def _grown(table: Ints, needed: int) -> Ints:
    if needed <= len(table):
        return table
    more = np.zeros((max(2 * len(table), needed), table.shape[1]), np.int64)
    more[: len(table)] = table
    return more


@jitable
def _same(one: Ints, other: Ints, variables: int) -> bool:
    """Whether two partial occurrences are in the same state; unbound values are 0."""
    if one[_STEP] != other[_STEP] or one[_DONE] != other[_DONE] or one[_BOUND] != other[_BOUND]:
        return False
    for v in range(variables):  # noqa: SIM110 - no generators in kernels
        if one[_VALUES + v] != other[_VALUES + v]:
            return False
    return True


@jitable
def _told(known: Ints, state: Ints, variables: int) -> bool:
    """Whether an occurrence with these shared values has been found."""
    for v in range(variables):  # noqa: SIM110
        if known[2 + v] != state[_VALUES + v]:
            return False
    return True


@jitable
def _extended(
    state: Ints, event: int, row: int, values: Ints, where: Ints, wholes: Ints, variables: int
) -> bool:
    """Add a row as an event to a partial occurrence; False if a shared value differs."""
    for v in range(variables):
        column = where[event, v]
        if column >= 0:
            value = values[column, row]
            if state[_BOUND] & (1 << v):
                if state[_VALUES + v] != value:
                    return False
            else:
                state[_BOUND] |= 1 << v
                state[_VALUES + v] = value
    state[_VALUES + variables + event] = row
    state[_DONE] |= 1 << event
    if state[_DONE] == wholes[state[_STEP]]:
        state[_STEP] += 1
        state[_DONE] = 0
    return True


@kernel(several(NEW_INTS, NEW_INTS, NEW_TABLE)(INTS, BOOLS, TABLE, TABLE, INTS, INTS, INT))
def occurrences(
    may: Ints, begins: Bools, values: Ints, where: Ints, steps: Ints, wholes: Ints, most: int
) -> tuple[Ints, Ints, Ints]:
    """First row, last row and the row of each event, of every minimal occurrence.

    Parameters
    ----------
    may
        For each row the events that it can be, as bits.
    begins
        Whether a run of rows begins here: what came before is of no use.
    values
        (column, row) -> value, of the columns in which shared variables stand.
    where
        (event, variable) -> column of ``values``, or -1.
    steps
        The step of each event.
    wholes
        The events of each step, as bits.
    most
        The greatest number of rows that an occurrence may span.

    """
    events, variables = where.shape
    width = _VALUES + variables + events
    held, pending = np.zeros((16, width), np.int64), np.zeros((16, width), np.int64)
    known = np.zeros((16, 2 + variables), np.int64)  # what was found: first row, place, values
    found = np.zeros((16, 2 + events), np.int64)
    count = waiting = told = matches = 0
    run = 0
    for row in range(len(may)):
        if begins[row]:
            count = told = 0
            run = row
        if not may[row]:
            continue
        oldest = max(run, row - most + 1)
        kept = 0
        for i in range(count):  # forget what has become too long
            if held[i, _FIRST] >= oldest:
                if kept < i:
                    held[kept] = held[i]
                kept += 1
        count = kept
        kept = 0
        for i in range(told):
            if known[i, 0] >= oldest:
                if kept < i:
                    known[kept] = known[i]
                kept += 1
        told = kept
        waiting = 0
        for event in range(events):
            if not may[row] & (1 << event):
                continue
            if steps[event] == 0:
                pending = _grown(pending, waiting + 1)
                pending[waiting] = 0
                pending[waiting, _FIRST] = row
                if _extended(pending[waiting], event, row, values, where, wholes, variables):
                    waiting += 1
            for i in range(count):
                if held[i, _STEP] == steps[event] and not held[i, _DONE] & (1 << event):
                    pending = _grown(pending, waiting + 1)
                    pending[waiting] = held[i]
                    if _extended(pending[waiting], event, row, values, where, wholes, variables):
                        waiting += 1
        for i in range(waiting):
            state = pending[i]
            if state[_STEP] < len(wholes):
                at = 0
                while at < count and not _same(held[at], state, variables):
                    at += 1
                if at == count:
                    held = _grown(held, count + 1)
                    held[count] = state
                    count += 1
                elif held[at, _FIRST] < state[_FIRST]:
                    held[at] = state
                continue
            at = 0
            while at < told and not _told(known[at], state, variables):
                at += 1
            if at < told and known[at, 0] >= state[_FIRST]:
                continue  # it lies inside of this one
            slot = matches
            if at == told:
                known = _grown(known, told + 1)
                told += 1
                known[at, 2:] = state[_VALUES : _VALUES + variables]
            elif found[known[at, 1], 1] == row:
                slot = known[at, 1]  # two events of this row end one: the later first row counts
            if slot == matches:
                found = _grown(found, matches + 1)
                matches += 1
            known[at, 0], known[at, 1] = state[_FIRST], slot
            found[slot, 0], found[slot, 1] = state[_FIRST], row
            found[slot, 2:] = state[_VALUES + variables :]
    found = found[:matches]
    return found[:, 0].copy(), found[:, 1].copy(), found[:, 2:].copy()
