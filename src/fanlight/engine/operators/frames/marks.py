"""A framing scheme applied to sorted rows: the state of each key, and the marks of its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.kernels import frames as one
from fanlight.engine.kernels import frames_many as many
from fanlight.engine.kernels import running
from fanlight.engine.operators.frames.distinct import DistinctValues, as_texts
from fanlight.engine.operators.frames.loops import Step, logical
from fanlight.engine.operators.partials import python_values
from fanlight.engine.plan.frames import InputColumn, Scheme

Array = NDArray[Any]
Ints = NDArray[np.int64]
Marks = NDArray[np.uint8]

WATCHED = {
    "sum": running.SUM, "count": running.SUM, "max": running.GREATEST, "avg": running.MEAN,
    "var_samp": running.VAR_SAMP, "var_pop": running.VAR_POP,
    "stddev_samp": running.STDDEV_SAMP, "stddev_pop": running.STDDEV_POP,
}  # fmt: skip


class Marker:
    """Marks the rows of sorted groups, each a key's; the state has a slot for each group."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        inputs = list(enumerate(scheme.marked))
        self.reals = [at for at, read in inputs if read.type == "real"]
        self.wholes = [at for at, read in inputs if read.type in ("whole", "there")]

    def kept(self, slots: int) -> dict[str, Array]:
        """What a key's state holds besides ``opened``: arrays, each with a row for each key."""
        del slots
        return {}

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """Write the marks of all rows to ``out``, and change the state, ``opened`` included.

        The rows of group ``g`` are ``starts[g]`` to ``starts[g + 1]``, its state is that of slot
        ``g``. an input of numbers is an array, NaN for null, or whole numbers and a mask of those
        that are not null; an input of flags is an array, one of type ``any`` a list.
        """
        raise NotImplementedError

    def empty(self, slots: int) -> dict[str, Array]:
        """The state of keys without an open frame; ``opened`` says whether a key has one."""
        return {"opened": np.zeros(slots, np.bool_), **self.kept(slots)}

    def mark(self, inputs: list[pa.Array], starts: Ints, state: dict[str, Array]) -> Marks:
        """The marks of rows, whose groups are the slots of ``state``; it is changed in place."""
        length = int(starts[-1]) if len(starts) else 0
        marks = np.zeros(length, np.uint8)
        self.loop(self.values(inputs), starts, state, marks)
        return marks

    def values(self, inputs: list[pa.Array]) -> list[Any]:
        """The inputs that marks depend on, as loops take them."""
        pairs = zip(inputs[: len(self.scheme.marked)], self.scheme.marked, strict=True)
        return [_to_kernel_values(column, read) for column, read in pairs]


class Every(Marker):
    """All rows go on: only time closes a frame, and the next row opens another."""

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """Open a frame where none is open."""
        del inputs
        out[:] = 1
        some = starts[1:] > starts[:-1]
        out[starts[:-1][some & ~state["opened"]]] = 2
        state["opened"] |= some


class Flags(Marker):
    """A predicate holds."""

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.flags`."""
        one.flags(inputs[0], starts, state["opened"], out)


class Latches(Marker):
    """One predicate opens, another closes."""

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.latches`."""
        one.latches(inputs[0], inputs[1], starts, state["opened"], out)


class Cells(Marker):
    """Rows stay in one cell of a grid of values."""

    def kept(self, slots: int) -> dict[str, Array]:
        """The cell of the open frame; of frames that overlap, the other one as well."""
        state: dict[str, Array] = {"last": np.zeros((slots, len(self.scheme.marked)), np.int64)}
        if self.scheme.overlapping:
            state["partner"] = np.zeros(slots, np.int64)
        return state

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.cells`."""
        cells = self._cells_of_values(inputs)
        if len(cells) == 1:
            one.cells(cells[0], starts, state["opened"], state["last"].reshape(-1), out)
        else:
            many.grid_cells(np.stack(cells), starts, state["opened"], state["last"], out)

    def cells(self, inputs: list[pa.Array]) -> list[Ints]:
        """The value cell of each row in each dimension."""
        return self._cells_of_values(self.values(inputs))

    def _cells_of_values(self, inputs: list[Any]) -> list[Ints]:
        scheme = self.scheme
        parts = zip(inputs, scheme.marked, scheme.cells, scheme.widths, strict=True)
        return [cells_of(values, read, given, width) for values, read, given, width in parts]


class _Running(Marker):
    """The state of deltas and of limits: for each input, up to two numbers that run along."""

    def kept(self, slots: int) -> dict[str, Array]:
        """Whether the frame has reached its limit, and what runs along."""
        reals, wholes = len(self.reals), len(self.wholes)
        return {
            "crossed": np.zeros(slots, np.bool_),
            "first": np.zeros((slots, reals)),
            "second": np.zeros((slots, reals)),
            "whole": np.zeros((slots, wholes), np.int64),
            "seen": np.zeros((slots, wholes), np.bool_),
        }

    def split(self, inputs: list[Any]) -> tuple[many.Reals, many.Wholes]:
        """Doubles and whole numbers apart, each with its limit and with what is watched of it."""
        numbers, watched = self.scheme.numbers, self.scheme.watched or ["sum"] * len(inputs)
        reals = [inputs[at] for at in self.reals]
        wholes = [inputs[at] for at in self.wholes]
        size = len(inputs[0][0] if isinstance(inputs[0], tuple) else inputs[0])
        return many.Reals(
            np.stack(reals) if reals else np.empty((0, size)),
            np.array([numbers[at] for at in self.reals], np.float64),
            np.array([WATCHED[watched[at]] for at in self.reals], np.int64),
        ), many.Wholes(
            np.stack([whole for whole, _ in wholes]) if wholes else np.empty((0, size), np.int64),
            np.stack([known for _, known in wholes]) if wholes else np.empty((0, size), np.bool_),
            np.array([numbers[at] for at in self.wholes], np.int64),
            np.array([WATCHED[watched[at]] for at in self.wholes], np.int64),
        )


class Deltas(_Running):
    """Values stay within a delta of each other."""

    def kept(self, slots: int) -> dict[str, Array]:
        """Also the greatest of whole numbers, whose least is ``whole``."""
        greatest = np.zeros((slots, len(self.wholes)), np.int64)
        return {**super().kept(slots), "greatest": greatest}

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.float_ranges`."""
        scheme = self.scheme
        first, crossing = scheme.against_first, scheme.crossing
        opened, crossed = state["opened"], state["crossed"]
        if len(inputs) > 1:
            ranges = many.Ranges(
                opened, crossed, state["first"], state["second"], state["whole"],
                state["greatest"], state["seen"],
            )  # fmt: skip
            many.deltas(*self.split(inputs), first, crossing, starts, ranges, out)
        elif self.reals:
            ends = one.Range(opened, crossed, _only_column(state["first"]), _only_column(state["second"]))
            delta = float(scheme.numbers[0])
            one.float_ranges(inputs[0], delta, first, crossing, starts, ends, out)
        else:
            ends = one.Range(opened, crossed, _only_column(state["whole"]), _only_column(state["greatest"]))
            (values, valid), apart = inputs[0], int(scheme.numbers[0])
            one.int_ranges(values, valid, apart, first, crossing, starts, ends, out)


class Limits(_Running):
    """Running values stay below their limits."""

    def kept(self, slots: int) -> dict[str, Array]:
        """Also how many doubles there were, for a mean or a variance."""
        return {**super().kept(slots), "count": np.zeros((slots, len(self.reals)))}

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.float_sums`."""
        scheme = self.scheme
        opened, names = state["opened"], scheme.watched
        if len(inputs) > 1 or names[0] not in ("sum", "count"):
            run = self.run(state)
            many.mark_limits(*self.split(inputs), None, scheme.crossing, starts, run, out)
        elif self.reals:
            total, lost = _only_column(state["first"]), _only_column(state["second"])
            limit = float(scheme.numbers[0])
            one.float_sums(inputs[0], limit, scheme.crossing, starts, opened, total, lost, out)
        else:
            (values, valid), total = inputs[0], _only_column(state["whole"])
            most = int(scheme.numbers[0])
            one.int_sums(values, valid, most, scheme.crossing, starts, opened, total, out)

    def run(self, state: dict[str, Array]) -> many.Run:
        """The state as the loop for several limits takes it."""
        return many.Run(
            state["opened"], state["crossed"], state["count"], state["first"], state["second"],
            state["whole"], state["seen"],
        )  # fmt: skip


class Distinct(Limits):
    """Limits, one of which at least is on distinct values, of as many inputs as it says."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        words = [watched.split() for watched in scheme.watched]
        ends = np.cumsum([0, *(int(word[1]) if word[1:] else 1 for word in words)]).tolist()
        self.inputs_of = [slice(begin, end) for begin, end in pairwise(ends)]
        kinds = [scheme.marked[begin].type for begin in ends[:-1]]
        self.distinct = [at for at, word in enumerate(words) if word[0] == "distinct"]
        self.reals = [at for at, kind in enumerate(kinds) if kind == "real"]
        self.wholes = [at for at, kind in enumerate(kinds) if kind in ("whole", "there")]

    def kept(self, slots: int) -> dict[str, Array]:
        """Also how many distinct values; these in JSON, a list of texts for each such limit."""
        return {
            **super().kept(slots),
            "distinct": np.zeros((slots, len(self.distinct)), np.int64),
            "text": np.full(slots, "", dtype=object),
        }

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames_many.mark_distinct_limits`."""
        columns = [inputs[part] for part in self.inputs_of]
        texts = [as_texts(columns[at]) for at in self.distinct]
        most = [int(self.scheme.numbers[at]) for at in self.distinct]
        opened, counts, text = state["opened"], state["distinct"], state["text"]
        distinct = DistinctValues(texts, most, starts, opened, counts, text)
        reals, wholes = self.split([column[0] for column in columns])
        crossing, run = self.scheme.crossing, self.run(state)
        many.mark_distinct_limits(reals, wholes, distinct.kernel_input, crossing, starts, run, out)
        text[:] = distinct.texts(opened)


class _PythonMarker(Marker):
    """Row by row in Python; the state of a key is JSON between batches."""

    def kept(self, slots: int) -> dict[str, Array]:
        """The JSON."""
        return {"text": np.full(slots, "", dtype=object)}


class Logical(_PythonMarker):
    """Functions of a user's."""

    def loop(self, inputs: list[Any], starts: Ints, state: dict[str, Array], out: Marks) -> None:
        """See :func:`fanlight.engine.operators.frames.loops.logical`."""
        _mark_in_python(logical(self.scheme), [_to_python_values(values) for values in inputs], starts, state, out)


MARKERS: dict[str, type[Marker]] = {
    "every": Every,
    "flags": Flags,
    "latches": Latches,
    "cells": Cells,
    "deltas": Deltas,
    "limits": Limits,
    "distinct": Distinct,
    "logical": Logical,
}


def _mark_in_python(
    step: Step, columns: list[list[Any]], starts: Ints, state: dict[str, Array], out: Marks
) -> None:
    """Row by row in Python; the state of a key is JSON between batches."""
    rows = list(zip(*columns, strict=True))
    for g in range(len(starts) - 1):
        begin, end = int(starts[g]), int(starts[g + 1])
        text = state["text"][g]
        kept = json.loads(text) if text else {}
        inside = bool(state["opened"][g])
        for i in range(begin, end):
            out[i], inside = step(rows[i], inside, kept)
        state["opened"][g] = inside
        state["text"][g] = json.dumps(kept) if kept else ""


def _only_column(state: Array) -> Array:
    """The state of the only input."""
    return state.reshape(-1)


def _to_python_values(values: Any) -> list[Any]:
    """An input as Python values, None for null and for the NaN of a limit on doubles."""
    if isinstance(values, list):
        return values
    if isinstance(values, tuple):
        pairs = zip(values[0].tolist(), values[1].tolist(), strict=True)
        return [value if known else None for value, known in pairs]
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124


def _to_flags(column: pa.Array) -> Any:
    """Truth values, null being false."""
    return column.fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003


def _to_kernel_values(column: pa.Array, read: InputColumn) -> Any:
    """An input as the kernels take it; integers with a mask of those that are not null."""
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
    """The number of each value's cell ``(lo, hi]`` of the grid; ``NO_CELL`` for null and NaN."""
    found: Ints
    if read.type == "real" and not isinstance(given, tuple):
        found = np.empty(len(values), np.int64)
        one.multiples(values, float(given), found)
        return found
    if read.type == "real":
        found = np.searchsorted(np.array(given), values, side="left").astype(np.int64)
        found[np.isnan(values)] = one.NO_CELL
        return found
    numbers, known = values
    if isinstance(given, tuple):
        found = np.searchsorted(np.array(given, np.int64), numbers, side="left").astype(np.int64)
    else:
        over, under = width
        if under > 1 and len(numbers) and np.abs(numbers).max() >= 2**62 // under:
            found = np.array([-((-int(x) * under) // over) for x in numbers], np.int64)
        else:
            found = (-((-numbers * under) // over)).astype(np.int64)
    placed: Ints = np.where(known, found, one.NO_CELL)
    return placed


def taken(state: Mapping[str, Array], slots: Ints) -> dict[str, Array]:
    """A copy of the state of some slots."""
    return {name: np.ascontiguousarray(values[slots]) for name, values in state.items()}
