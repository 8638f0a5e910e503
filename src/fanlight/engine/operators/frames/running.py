"""Markers that follow running numbers: deltas and limits; and all markers, by kind of scheme.

Between batches distinct values are stored as texts, which distinguish values of any type.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.kernels import calculated as kernel
from fanlight.engine.kernels import frames as kernels
from fanlight.engine.kernels import frames_many as many
from fanlight.engine.kernels import running
from fanlight.engine.kernels.sizes import NEVER, Sizes
from fanlight.engine.operators.frames import marks
from fanlight.engine.operators.frames.marks import Marker, Rows, only_column
from fanlight.engine.plan.frames import LimitOf, Scheme
from fanlight.engine.spec.frames.limits import Mean

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Marks = NDArray[np.uint8]

WATCHED = {
    "sum": running.SUM, "count": running.SUM, "max": running.GREATEST, "avg": running.MEAN,
    "absolute_sum": running.FAR_SUM, "absolute_avg": running.FAR_MEAN,
    "var_samp": running.VAR_SAMP, "var_pop": running.VAR_POP,
    "stddev_samp": running.STDDEV_SAMP, "stddev_pop": running.STDDEV_POP,
}  # fmt: skip


class Running(Marker):
    """Base of deltas and limits: up to two running numbers for each input."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """Whether the frame has reached its limit, and the running numbers."""
        reals, wholes = len(self.reals), len(self.wholes)
        return {
            "crossed": np.zeros(slots, np.bool_),
            "first": np.zeros((slots, reals)),
            "second": np.zeros((slots, reals)),
            "whole": np.zeros((slots, wholes), np.int64),
            "seen": np.zeros((slots, wholes), np.bool_),
        }

    def split_by_type(self, inputs: list[Any]) -> tuple[many.Reals, many.Wholes]:
        """Split inputs into doubles and whole numbers, with limits and with what is watched."""
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


class Deltas(Running):
    """A frame lasts while values stay within a delta of each other."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of the base class, and the greatest whole number; the least is ``whole``."""
        greatest = np.zeros((slots, len(self.wholes)), np.int64)
        return {**super().initial_state(slots), "greatest": greatest}

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.mark_float_deltas`."""
        inputs, starts, state, sizes = rows
        scheme = self.scheme
        first, crossing = scheme.against_first, scheme.crossing
        opened, crossed = state["opened"], state["crossed"]
        if len(inputs) > 1 or sizes is not None:
            ranges = many.Ranges(
                opened, crossed, state["first"], state["second"], state["whole"],
                state["greatest"], state["seen"],
            )  # fmt: skip
            mark = many.mark_deltas if sizes is None else many.mark_sized_deltas
            mark(*self.split_by_type(inputs), first, crossing, starts, ranges, sizes, out)
        elif self.reals:
            ends = kernels.Range(
                opened, crossed, only_column(state["first"]), only_column(state["second"])
            )
            delta = float(scheme.numbers[0])
            kernels.mark_float_deltas(inputs[0], delta, first, crossing, starts, ends, out)
        else:
            ends = kernels.Range(
                opened, crossed, only_column(state["whole"]), only_column(state["greatest"])
            )
            (values, valid), delta = inputs[0], int(scheme.numbers[0])
            kernels.mark_int_deltas(values, valid, delta, first, crossing, starts, ends, out)


class Limits(Running):
    """A frame lasts while running values stay below their limits."""

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of the base class, and the number of doubles, for a mean or a variance."""
        return {**super().initial_state(slots), "count": np.zeros((slots, len(self.reals)))}

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames.mark_float_sums`."""
        inputs, starts, state, sizes = rows
        scheme = self.scheme
        opened, names = state["opened"], scheme.watched
        if len(inputs) > 1 or names[0] not in ("sum", "count") or sizes is not None:
            run = self.kernel_state(state)
            mark = many.mark_limits if sizes is None else many.mark_sized_limits
            mark(*self.split_by_type(inputs), None, None, scheme.crossing, starts, run, sizes, out)
        elif self.reals:
            total, lost = only_column(state["first"]), only_column(state["second"])
            limit = float(scheme.numbers[0])
            kernels.mark_float_sums(
                inputs[0], limit, scheme.crossing, starts, opened, total, lost, out
            )
        else:
            (values, valid), total = inputs[0], only_column(state["whole"])
            most = int(scheme.numbers[0])
            kernels.mark_int_sums(values, valid, most, scheme.crossing, starts, opened, total, out)

    def kernel_state(self, state: dict[str, Array]) -> many.Run:
        """The state as the kernel for several limits takes it."""
        return many.Run(
            state["opened"], state["crossed"], state["count"], state["first"], state["second"],
            state["whole"], state["seen"],
        )  # fmt: skip


class Distinct(Limits):
    """Limits of which some count the distinct values of their inputs."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        words = [watched.split() for watched in scheme.watched]
        ends = np.cumsum([0, *(int(word[1]) if word[1:] else 1 for word in words)]).tolist()
        self.inputs_of = [slice(begin, end) for begin, end in pairwise(ends)]
        kinds = [scheme.marked_inputs[begin].type for begin in ends[:-1]]
        self.distinct = [at for at, word in enumerate(words) if word[0] == "distinct"]
        self.reals = [at for at, kind in enumerate(kinds) if kind == "real"]
        self.wholes = [at for at, kind in enumerate(kinds) if kind in ("whole", "there")]

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of limits, and the distinct values: their number, and their texts as JSON."""
        return {
            **super().initial_state(slots),
            "distinct": np.zeros((slots, len(self.distinct)), np.int64),
            "text": np.full(slots, "", dtype=object),
        }

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames_many.mark_distinct_limits`."""
        inputs, starts, state, sizes = rows
        distinct = self.number_values(rows)
        reals, wholes = self.split_by_type([inputs[part][0] for part in self.inputs_of])
        crossing, run = self.scheme.crossing, self.kernel_state(state)
        mark = many.mark_distinct_limits if sizes is None else many.mark_sized_distinct_limits
        mark(reals, wholes, distinct.kernel_input, None, crossing, starts, run, sizes, out)
        state["text"][:] = distinct.texts_of_open_frames(state["opened"])

    def number_values(self, rows: Rows) -> DistinctValues:
        """The distinct values that are watched, as numbers."""
        state = rows.state
        texts = [as_texts(rows.inputs[self.inputs_of[at]]) for at in self.distinct]
        most = [int(self.scheme.numbers[at]) for at in self.distinct]
        return DistinctValues(
            texts, most, rows.starts, state["opened"], state["distinct"], state["text"]
        )


class Calculated(Distinct):
    """Limits of which at least one is calculated; what its means are made of outlives frames."""

    remembered: ClassVar[tuple[str, ...]] = ("ring", "pushed", "frame_rows")

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        pairs = enumerate(scheme.limits)
        self.calculated: list[tuple[int, LimitOf]] = [
            (at, one) for at, one in pairs if one and one.steps
        ]
        self.means: list[tuple[int, Mean]] = [
            (a, mean) for a, one in self.calculated for mean in one.means
        ]
        self.ends = np.cumsum([0, *(mean.last for _, mean in self.means)])

    def initial_state(self, slots: int) -> dict[str, Array]:
        """The state of limits, the numbers that means are made of, and the means of open frames."""
        number = len(self.means)
        return {
            **super().initial_state(slots),
            "ring": np.zeros((slots, int(self.ends[-1]))),
            "pushed": np.zeros((slots, number), np.int64),
            "frame_rows": np.zeros(slots, np.int64),
            "known": np.full((slots, number), np.nan),
        }

    def is_remembered(self, state: dict[str, Array]) -> Bools:
        """Which keys have numbers that means are made of."""
        some: Bools = (state["frame_rows"] > 0) | state["pushed"].any(1)
        return some

    def write_marks(self, rows: Rows, out: Marks) -> None:
        """See :func:`fanlight.engine.kernels.frames_many.mark_calculated_limits`."""
        inputs, starts, state, sizes = rows
        reals, wholes = self.split_by_type([inputs[part][0] for part in self.inputs_of])
        distinct = self.number_values(rows)
        many.mark_calculated_limits(
            reals, wholes, distinct.kernel_input, self._limits(inputs, len(out), state),
            self.scheme.crossing, starts, self.kernel_state(state),
            sizes or _no_sizes(len(out), len(starts) - 1), out,
        )  # fmt: skip
        state["text"][:] = distinct.texts_of_open_frames(state["opened"])

    def _limits(self, inputs: list[Any], size: int, state: dict[str, Array]) -> kernel.Calculated:
        """The limits as the kernel takes them."""
        targets = (self.reals, self.wholes, self.distinct)
        places = {a: (kind, at) for kind, of in enumerate(targets) for at, a in enumerate(of)}
        reals = np.zeros((len(self.reals), size))
        wholes = np.zeros((len(self.wholes), size), np.int64)
        counts = np.zeros((len(self.distinct), size), np.int64)
        for aggregate, (kind, at) in places.items():
            (reals, wholes, counts)[kind][at] = self._limit_of_rows(aggregate, inputs)
        does: list[int] = []
        what: list[float] = []
        begins = [0]
        rows: list[Any] = []
        means = 0
        for _, one in self.calculated:
            begun = {"row": len(rows), "mean": means}
            does += [kernel.STEPS.index(step.does) for step in one.steps]
            what += [step.what + begun.get(step.does, 0) for step in one.steps]
            begins.append(len(does))
            rows += [inputs[row] for row in one.rows]
            means += len(one.means)
        return kernel.Calculated(
            reals,
            wholes,
            counts,
            np.array(does, np.int64),
            np.array(what, np.float64),
            np.array(begins),
            np.array([places[a][0] for a, _ in self.calculated], np.int64),
            np.array([places[a][1] for a, _ in self.calculated], np.int64),
            np.array([one.unit for _, one in self.calculated]),
            np.array([one.beyond for _, one in self.calculated], np.bool_),
            np.stack(rows) if rows else np.zeros((0, size)),
            np.empty(1 + len(does)),  # more than steps can put on it
            self._means(state),
        )

    def _limit_of_rows(self, aggregate: int, inputs: list[Any]) -> Any:
        """The limit of each row, if it is a number or an input; 0 if it is made of means."""
        one = self.scheme.limits[aggregate]
        if one is None:
            return self.scheme.numbers[aggregate]
        if one.steps:
            return 0
        given = inputs[one.rows[0]]
        if isinstance(given, tuple):
            numbers, known = given
            return np.where(known, numbers, kernel.TOP)
        if not one.beyond:
            return given
        return np.where(given < np.inf, np.nextafter(given, np.inf), np.nan)

    def _means(self, state: dict[str, Array]) -> kernel.Means:
        """The means as the kernel takes them; it updates what they are made of."""
        watched, units = [*self.reals, *self.wholes], dict(self.calculated)
        sources = [watched.index(a) if mean.of == "value" else -1 for a, mean in self.means]
        pairs = zip(self.means, sources, strict=True)
        return kernel.Means(
            np.array([mean.last for _, mean in self.means], np.int64),
            np.array([mean.least for _, mean in self.means], np.int64),
            np.array(sources, np.int64),
            np.array([1.0 if source < 0 else units[a].unit for (a, _), source in pairs]),
            self.ends[:-1],
            state["ring"],
            state["pushed"],
            state["known"],
            state["frame_rows"],
        )


def _no_sizes(size: int, groups: int) -> Sizes:
    """Sizes that limit nothing."""
    nothing, never = np.zeros(max(size, groups), np.int64), np.full(max(size, groups), NEVER)
    of_groups = (nothing[:groups].copy(), nothing[:groups].copy(), never[:groups].copy())
    return Sizes(nothing[:size], never[:size], NEVER, NEVER, *of_groups, never[:size].copy())


class DistinctValues:
    """The values that limits on distinct values watch, numbered in sorted groups of rows.

    ``columns`` has, for each limit, the text of each row's value. Of each group's open frame,
    ``counts`` has the number of values and ``kept`` the values, as JSON: a list of texts for each
    limit.
    ``kernel_input`` is the argument for the kernel, which updates it.
    """

    def __init__(
        self,
        columns: Sequence[Sequence[str | None]],
        limits: Sequence[int],
        starts: Ints,
        opened: Bools,
        counts: Ints,
        kept: Array,
    ) -> None:
        self._known: list[list[dict[str, int]]] = []  # for each limit and group: text -> number
        nothing: list[list[str]] = [[] for _ in columns]
        pairs = zip(kept, opened, strict=True)
        before = [json.loads(text) if inside else nothing for text, inside in pairs]
        bounds = list(pairwise(starts.tolist()))
        numbers = np.empty((len(columns), int(starts[-1])), np.int64)
        held: list[int] = []
        size = 0
        for limit, texts in enumerate(columns):
            self._known.append([])
            for (begin, end), lists in zip(bounds, before, strict=True):
                known: dict[str, int] = {}
                held += [known.setdefault(text, size + len(known)) for text in lists[limit]]
                numbers[limit, begin:end] = [
                    -1 if text is None else known.setdefault(text, size + len(known))
                    for text in texts[begin:end]
                ]
                size += len(known)
                self._known[limit].append(known)
        met = np.zeros(size, np.int64)
        met[held] = 1
        frames = np.ones(len(kept), np.int64)
        self.kernel_input = many.Distinct(numbers, np.array(limits, np.int64), counts, frames, met)

    def texts_of_open_frames(self, opened: Bools) -> list[str]:
        """The values of each group's open frame as JSON, after the kernel has seen all rows."""
        met, frames = self.kernel_input.met.tolist(), self.kernel_input.frames.tolist()
        texts = [""] * len(frames)
        for g in np.flatnonzero(opened).tolist():
            texts[g] = json.dumps(
                [
                    [text for text, number in known[g].items() if met[number] == frames[g]]
                    for known in self._known
                ]
            )
        return texts


def as_texts(columns: list[list[Any]]) -> list[str | None]:
    """The values of each row as a text, for a checkpoint. None if a value is null."""
    known: dict[Any, str] = {}
    texts: list[str | None] = []
    for value in zip(*columns, strict=True):
        if None in value:
            texts.append(None)
            continue
        try:
            text = known.get(value)
            if text is None:
                text = known[value] = _as_text(value)
        except TypeError:  # lists cannot be hashed
            text = _as_text(value)
        texts.append(text)
    return texts


def _as_text(value: tuple[Any, ...]) -> str:
    return repr(spark_key(tuple(_normalize_zero(part) for part in value)))


def _normalize_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value


MARKERS: dict[str, type[Marker]] = {
    "every": marks.Every, "flags": marks.Flags, "latches": marks.Latches, "dwell": marks.Dwell,
    "cells": marks.Cells, "states": marks.States, "logical": marks.Logical, "deltas": Deltas,
    "limits": Limits, "distinct": Distinct, "calculated": Calculated,
    "pattern": marks.Searched,
}  # fmt: skip
