"""The last known values of columns: a null goes on with the value that its key had before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.operators.arrow_tables import Ints, starts_of_runs


class LastKnown:
    """The last value of each of some columns that is not null, for each slot."""

    def __init__(self, kinds: Sequence[pa.DataType]) -> None:
        self.values = [pa.nulls(0, kind) for kind in kinds]

    def is_there(self, slots: int) -> NDArray[np.bool_]:
        """Which keys have a value of some column."""
        there = np.zeros(slots, np.bool_)
        for held in self.values:
            there |= np.asarray(held.is_valid())
        return there

    def keep_slots(self, slots: Ints) -> None:
        """Drop all keys but these."""
        self.values = [held.take(pa.array(slots)) for held in self.values]

    def fill(self, columns: Sequence[pa.Array], codes: Ints, slots: int) -> list[pa.Array]:
        """Fill nulls of rows in order, of each row its slot in ``codes``; ``slots`` says how many.

        The rows of a slot are consecutive.
        """
        pairs = list(zip(self.values, columns, strict=True))
        filled, self.values = [], []
        firsts = starts_of_runs(codes)
        lengths = np.diff(np.append(firsts, len(codes)))
        for old, column in pairs:
            held = pa.concat_arrays(
                [old.cast(column.type), pa.nulls(slots - len(old), column.type)]
            )
            known = np.where(np.asarray(column.is_valid()), np.arange(len(codes)), -1)
            last = np.maximum.accumulate(known)
            at = np.where(last >= np.repeat(firsts, lengths), slots + last, codes)
            both = pa.concat_arrays([held, column])
            filled.append(both.take(pa.array(at)))
            newest = np.arange(slots)
            newest[codes] = at  # of several rows the last counts
            self.values.append(both.take(pa.array(newest)))
        return filled
