"""Snapshots: the state of an operator as tables, which can be split by key and concatenated again.

The first table has one row or several for each key. The others refer to these rows by their
numbers, in a column ``code``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import (
    Ints,
    ints,
    positions_in_runs,
    starts_of_runs,
    with_column,
)

CODE = "code"


@dataclass(frozen=True)
class Snapshot:
    """The state of an operator, and the watermark up to which it has released its results."""

    tables: tuple[pa.Table, ...]
    released: int


def concatenate_snapshots(parts: Sequence[Snapshot], empty: Snapshot, released: int) -> Snapshot:
    """Concatenate snapshots that share no key; ``empty`` is one without keys."""
    counts = [len(part.tables[0]) for part in parts]
    shifts = np.cumsum([0, *counts])[:-1]
    tables = []
    for number, schema in enumerate(table.schema for table in empty.tables):
        some = [part.tables[number] for part in parts]
        table = pa.concat_tables([schema.empty_table(), *some]).combine_chunks()
        if CODE in schema.names:
            moved = ints(table[CODE]) + np.repeat(shifts, [len(one) for one in some])
            table = with_column(table, CODE, pa.array(moved))
        tables.append(table)
    return Snapshot(tuple(tables), released)


def split_snapshot(snapshot: Snapshot, places: Ints) -> dict[int, Snapshot]:
    """Split a snapshot by place; ``places`` has the place of each row of the first table."""
    first, *others = snapshot.tables
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = starts_of_runs(ordered)
    distinct, bounds = ordered[starts], np.append(starts, len(ordered))
    number = np.empty(len(places), np.int64)
    number[order] = positions_in_runs(starts, len(places))
    pieces = [(_reorder(first, order), bounds)]
    for table in others:
        code = ints(table[CODE])
        of = places[code]
        sequence = np.argsort(of, kind="stable")
        table = with_column(table, CODE, pa.array(number[code]))  # noqa: PLW2901
        cuts = np.searchsorted(of[sequence], np.append(distinct, 2**62))
        pieces.append((_reorder(table, sequence), cuts))
    return {
        int(place): Snapshot(
            tuple(table.slice(ends[n], ends[n + 1] - ends[n]) for table, ends in pieces),
            snapshot.released,
        )
        for n, place in enumerate(distinct)
    }


def _reorder(table: pa.Table, order: Ints) -> pa.Table:
    if not len(order) or (order[1:] > order[:-1]).all():
        return table.combine_chunks()
    return table.take(pa.array(order)).combine_chunks()
