"""Double-boundary frames: two frames may overlap, in the last run of rows of one value cell.

So the state has two partials for each field of an open frame: of the rows before its current run,
and of that run, with which the next frame may begin.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.kernels.pieces import (
    double_pieces,
    dwell_pieces,
    sized_double_pieces,
    sized_dwell_pieces,
)
from fanlight.engine.kernels.sizes import Sizes
from fanlight.engine.operators.frames.assembly import Assembly, Frames, Rows, Stretches
from fanlight.engine.operators.frames.marks import Cells, Dwell
from fanlight.engine.operators.partials import combine_pairs

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class OverlappingAssembly(Assembly):
    """An assembly whose frames may share rows."""

    counters: tuple[str, ...] = (*Assembly.counters, "run_start", "run_rows")
    marker: Cells | Dwell
    carried: ClassVar = (*Assembly.carried, ("run_start", "run_rows"))
    run_start: Ints = np.zeros(0, np.int64)
    run_rows: Ints = np.zeros(0, np.int64)

    def _find_stretches(
        self, rows: Rows, state: dict[str, Array], sizes: Sizes | None
    ) -> Stretches:
        """See :func:`fanlight.engine.kernels.pieces.double_pieces`."""
        (cells,) = self.marker.cells_of_rows(rows.inputs)
        find = double_pieces if sizes is None else sized_double_pieces
        found = find(
            cells, rows.starts, state["opened"], state["last"].reshape(-1), state["partner"],
            self.run_start[rows.slots], self.run_rows[rows.slots], sizes,
        )  # fmt: skip
        return Stretches(*found)

    def _store_open_frames(
        self, rows: Rows, found: Stretches, frames: Frames, parts: list[pa.Array]
    ) -> None:
        """Store the current run, too; ``parts`` are of the rows before it."""
        left = ~found.ends
        hi, group, run = found.hi[left], found.group[left], found.run[left]
        at = rows.slots[group]
        self.run_start[at], first = self._locate(rows, group, run)
        self.run_rows[at] = hi - first
        of_run = self._combine(rows, group, run, hi)
        super()._store_open_frames(rows, found, frames, [*parts, *of_run])

    def _partials_of(self, at: Ints) -> list[pa.Array]:
        """The partials of the open frames of some slots, whose runs are in them."""
        parts, fields = super()._partials_of(at), len(self.monoids)
        return combine_pairs(parts[:fields], parts[fields:], self.monoids)


class DwellAssembly(OverlappingAssembly):
    """An assembly whose frames begin, or end, with a run of rows that has to last."""

    marker: Dwell

    def _find_stretches(
        self, rows: Rows, state: dict[str, Array], sizes: Sizes | None
    ) -> Stretches:
        """See :func:`fanlight.engine.kernels.pieces.dwell_pieces`."""
        (said,) = self.marker.cells_of_rows(rows.inputs)
        enter_for, leave_for = (int(length) for length in self.scheme.numbers)
        find = dwell_pieces if sizes is None else sized_dwell_pieces
        found = find(
            said, rows.t, rows.starts, enter_for, leave_for,
            state["opened"], state["inside"], state["run"], self.run_start[rows.slots], sizes,
        )  # fmt: skip
        return Stretches(*found)

    def _has_frame(self) -> Bools:
        """A run that has not lasted long enough is not a frame."""
        has: Bools = self.opened & self.state["inside"]
        return has
