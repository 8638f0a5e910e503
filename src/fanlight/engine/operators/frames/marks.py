"""Markers: apply a framing scheme to sorted rows, with a state for each key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.kernels import frames as one
from fanlight.engine.kernels import frames_many as many
from fanlight.engine.kernels.pieces import ENTERS, LEAVES
from fanlight.engine.kernels.sizes import Sizes, cut_by_size, exceeds_size, measure_row
from fanlight.engine.operators.arrow_tables import codes_of_rows, python_values
from fanlight.engine.operators.frames.logical_steps import Step, logical_step
from fanlight.engine.plan.frames import InputColumn, Scheme

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Marks = NDArray[np.uint8]

_ANOTHER = -1  # the code of a state unlike all at hand


class Rows(NamedTuple):
    """Rows to be marked, in groups, and the state of each group.

    The rows of group ``g`` are ``[starts[g], starts[g + 1])``, its state is in slot ``g``. An input
    of doubles is an array with NaN for null; of whole numbers, an array and a mask, true where they
    are not null; of flags, an array; of type ``any``, a list. ``sizes`` are limits on frames
    besides the scheme, which frames that are ``independent`` leave to their marker.
    """

    inputs: list[Any]
    starts: Ints
    state: dict[str, Array]
    sizes: Sizes | None


class Marker:
    """Marks rows sorted into groups, one for each key; the state has a slot for each group."""

    independent: ClassVar[bool] = False  # whether marks do not depend on where a frame began
    remembered: ClassVar[tuple[str, ...]] = ()  # what of the state outlives frames

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        inputs = list(enumerate(scheme.marked_inputs))
        self.reals = [at for at, read in inputs if read.type == "real"]
        self.wholes = [at for at, read in inputs if read.type in ("whole", "there")]

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The initial state of keys besides ``opened``: arrays with a row for each key."""
        del slots
        return {}

    def is_remembered(self, state: dict[str, Array]) -> Bools:
        """Which keys are to be kept although they have no frame."""
        return np.zeros(len(state["opened"]), np.bool_)

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """Write the marks of all rows to ``out``, and update the state, ``opened`` included."""
        raise NotImplementedError

    def empty_state(self, slots: int) -> dict[str, Array]:
        """The state of keys without an open frame; ``opened`` says whether a key has one."""
        return {"opened": np.zeros(slots, np.bool_), **self.initial_state(slots)}

    def mark(
        self,
        inputs: list[pa.Array],
        starts: Ints,
        state: dict[str, Array],
        sizes: Sizes | None = None,
    ) -> Marks:
        """Mark rows whose groups are the slots of ``state`` and ``sizes``, both updated in place.

        ``sizes`` are limits on frames besides the scheme, if there are any.
        """
        length = int(starts[-1]) if len(starts) else 0
        marks = np.zeros(length, np.uint8)
        opened = state["opened"].copy()
        values = self.kernel_values(inputs)
        self.write_marks(Rows(values, starts, state, sizes), marks)
        if sizes is not None and self.independent:
            cut_by_size(marks, self.opening_rows(values, length), starts, opened, sizes)
            state["opened"][:] = opened
        return marks

    def opening_rows(self, inputs: list[Any], length: int) -> Bools:
        """Which rows may open a frame, of those that may be in one."""
        del inputs
        return np.ones(length, np.bool_)

    def kernel_values(self, inputs: list[pa.Array]) -> list[Any]:
        """The inputs that marks depend on, converted for kernels."""
        pairs = zip(
            inputs[: len(self.scheme.marked_inputs)], self.scheme.marked_inputs, strict=True
        )
        return [_to_kernel_values(column, read) for column, read in pairs]


class Every(Marker):
    """Every row continues a frame: only time closes one, and the next row opens another."""

    independent: ClassVar[bool] = True

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """Mark the first row of a group as opening a frame if none is open."""
        _, starts, state, _ = rows
        out[:] = 1
        some = starts[1:] > starts[:-1]
        out[starts[:-1][some & ~state["opened"]]] = 2
        state["opened"] |= some


class Flags(Marker):
    """A frame lasts while a predicate holds."""

    independent: ClassVar[bool] = True

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.mark_flags`."""
        inputs, starts, state, _ = rows
        one.mark_flags(inputs[0], starts, state["opened"], out)


class Dwell(Marker):
    """One predicate opens a frame once it has held long enough, another closes it likewise."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """Whether a frame is open for sure, and of what the current run of rows is."""
        return {"inside": np.zeros(slots, np.bool_), "run": np.zeros(slots, np.int64)}

    def cells_of_rows(self, inputs: list[pa.Array]) -> list[Ints]:
        """The predicate that holds in each row, see :func:`kernels.pieces.dwell_pieces`."""
        enters, *leaves = self.kernel_values(inputs)
        (left,) = leaves or [~enters]
        return [np.where(enters, ENTERS, np.where(left, LEAVES, 0)).astype(np.int64)]


class Latches(Marker):
    """One predicate opens a frame, another closes it."""

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.mark_latches`."""
        inputs, starts, state, sizes = rows
        mark = one.mark_latches if sizes is None else one.mark_sized_latches
        mark(inputs[0], inputs[1], starts, state["opened"], sizes, out)


class Cells(Marker):
    """A frame lasts while rows stay in one cell of a grid of values."""

    independent: ClassVar[bool] = True

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The cell of the open frame; of overlapping frames, also their other cell."""
        state: dict[str, Array] = {
            "last": np.zeros((slots, len(self.scheme.marked_inputs)), np.int64)
        }
        if self.scheme.overlapping:
            state["partner"] = np.zeros(slots, np.int64)
        return state

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.mark_cells`."""
        inputs, starts, state, _ = rows
        cells = self._cells_of_values(inputs)
        if len(cells) == 1:
            last = only_column(state["last"])
            one.mark_cells(cells[0], False, starts, state["opened"], last, out)  # noqa: FBT003
        else:
            many.mark_grid_cells(np.stack(cells), starts, state["opened"], state["last"], out)

    def cells_of_rows(self, inputs: list[pa.Array]) -> list[Ints]:
        """The value cell of each row in each dimension."""
        return self._cells_of_values(self.kernel_values(inputs))

    def _cells_of_values(self, inputs: list[Any]) -> list[Ints]:
        scheme = self.scheme
        parts = zip(inputs, scheme.marked_inputs, scheme.cells, scheme.widths, strict=True)
        return [cells_of(values, read, given, width) for values, read, given, width in parts]


class States(Marker):
    """A frame lasts while rows are in one state: equal values of all inputs."""

    independent: ClassVar[bool] = True

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of the open frame as text, which tells values of any type apart."""
        return {"text": np.full(slots, "", dtype=object)}

    def kernel_values(self, inputs: list[pa.Array]) -> list[Any]:
        """The inputs as they are: few of their values are needed in Python."""
        return list(inputs)

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.mark_cells`; a cell is a state."""
        inputs, starts, state, _ = rows
        cell, _ = codes_of_rows(inputs)
        cell = np.where(self.opening_rows(inputs, len(cell)), cell, one.NO_CELL)
        opened, text = state["opened"], state["text"]
        known = np.flatnonzero(cell != one.NO_CELL)
        groups, first = np.unique(np.searchsorted(starts, known, "right") - 1, return_index=True)
        before = _texts_of(inputs, known[first])
        last = np.full(len(starts) - 1, _ANOTHER)
        same = [opened[g] and text[g] == now for g, now in zip(groups, before, strict=True)]
        last[groups[same]] = cell[known[first[same]]]
        one.mark_cells(cell, self.scheme.nulls == "skip", starts, opened, last, out)
        text[groups] = _texts_of(inputs, known[np.append(first[1:], len(known))[: len(first)] - 1])
        text[~opened] = ""

    def opening_rows(self, inputs: list[Any], length: int) -> Bools:
        """Rows that have a state; a null may be one."""
        if self.scheme.nulls == "state":
            return np.ones(length, np.bool_)
        known = [column.is_valid().to_numpy(zero_copy_only=False) for column in inputs]
        return np.asarray(np.all(known, 0))


def _texts_of(columns: list[pa.Array], at: Ints) -> list[str]:
    """The values of some rows, each as one text."""
    rows = pa.array(at)
    values = [python_values(column.take(rows)) for column in columns]
    return [repr(spark_key(value)) for value in zip(*values, strict=True)]


class _PythonMarker(Marker):
    """Marks row by row in Python; between batches, the state of a key is JSON."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of each key as JSON."""
        return {"text": np.full(slots, "", dtype=object)}


class Logical(_PythonMarker):
    """A user's functions open and close frames."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of each key; if frames overlap, each open frame has its own, kept with it."""
        return {} if self.scheme.overlapping else super().initial_state(slots)

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.operators.frames.logical_steps.logical_step`."""
        inputs, starts, state, sizes = rows
        _mark_in_python(
            logical_step(self.scheme),
            [_to_python_values(values) for values in inputs],
            starts,
            state,
            sizes,
            out,
        )


class Searched(Marker):
    """Frames are found by a search, and not by marks; the state is what it needs of a key."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """Whether rows of a key are decided, and how many of these later rows look back at."""
        return {"passed": np.zeros(slots, np.bool_), "context": np.zeros(slots, np.int64)}

    def is_remembered(self, state: dict[str, Array]) -> Bools:
        """Which keys have decided rows that matter to later ones."""
        automaton = self.scheme.automaton
        matter = automaton is not None and (automaton.anchored or automaton.back > 0)
        return state["passed"] if matter else np.zeros(len(state["passed"]), np.bool_)


def _mark_in_python(
    step: Step,
    columns: list[list[Any]],
    starts: Ints,
    state: dict[str, Array],
    sizes: Sizes | None,
    out: Marks,
) -> None:
    """Mark row by row in Python; between batches, the state of a key is JSON."""
    rows = list(zip(*columns, strict=True))
    for g in range(len(starts) - 1):
        begin, end = int(starts[g]), int(starts[g + 1])
        text = state["text"][g]
        key_state = json.loads(text) if text else {}
        inside = bool(state["opened"][g])
        for i in range(begin, end):
            if sizes is not None and inside and exceeds_size(sizes, g, i):
                inside = False
                key_state.clear()
            out[i], inside = step(rows[i], inside, key_state)
            if sizes is not None:
                measure_row(sizes, g, i, out[i])
        state["opened"][g] = inside
        state["text"][g] = json.dumps(key_state) if key_state else ""


def only_column(state: Array) -> Array:
    """The state of a scheme's only input, as one dimension."""
    return state.reshape(-1)


def _to_python_values(values: Any) -> list[Any]:
    """An input as a list of Python values, None for null; NaN stands for null in doubles."""
    if isinstance(values, list):
        return values
    if isinstance(values, tuple):
        pairs = zip(values[0].tolist(), values[1].tolist(), strict=True)
        return [value if known else None for value, known in pairs]
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124


def _to_flags(column: pa.Array) -> Any:
    """A column of booleans as an array, null as false."""
    return column.fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003


def _to_kernel_values(column: pa.Array, read: InputColumn) -> Any:
    """An input as kernels take it; integers with a mask of those that are not null."""
    if read.type == "any":
        return python_values(column)
    if read.type == "real":
        return np.ascontiguousarray(column.to_numpy(zero_copy_only=False), np.float64)
    if read.type == "flag":
        return _to_flags(column)
    if read.type == "there":
        there = _to_flags(column)
        return np.ones(len(there), np.int64), there
    if not column.null_count:
        return column.to_numpy(), np.ones(len(column), np.bool_)
    known = column.is_valid().to_numpy(zero_copy_only=False)
    return column.fill_null(0).to_numpy(), known


def cells_of(values: Any, read: InputColumn, given: Any, width: tuple[int, int]) -> Ints:
    """The number of the grid cell ``(lo, hi]`` that each value is in; ``NO_CELL`` for null, NaN.

    Cells beyond the 64 bits of a number count as the last one within.
    """
    cells: Ints
    if read.type == "real" and not isinstance(given, tuple):
        cells = np.empty(len(values), np.int64)
        one.find_cells(values, float(given), cells)
        return cells
    if read.type == "real":
        cells = np.searchsorted(np.array(given), values, side="left").astype(np.int64)
        cells[np.isnan(values)] = one.NO_CELL
        return cells
    numbers, known = values
    if isinstance(given, tuple):
        cells = np.searchsorted(np.array(given, np.int64), numbers, side="left").astype(np.int64)
    else:
        (over, under), most = width, 2**63 - 1
        if (
            under > 1
            and len(numbers)
            and max(-int(numbers.min()), int(numbers.max())) >= most // under
        ):
            exact = (-((-int(x) * under) // over) for x in numbers)
            cells = np.array([min(max(cell, -most), most) for cell in exact], np.int64)
        else:
            above = (numbers * under) % over > 0  # negated, the least number would be itself
            cells = np.maximum((numbers * under) // over + above, -most).astype(np.int64)
    result: Ints = np.where(known, cells, one.NO_CELL)
    return result


def state_of_slots(state: Mapping[str, Array], slots: Ints) -> dict[str, Array]:
    """Copy the state of some slots."""
    return {name: np.ascontiguousarray(values[slots]) for name, values in state.items()}
