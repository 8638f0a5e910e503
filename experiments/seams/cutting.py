"""Where frames begin, and how soon a cut from the middle begins frames where the true one does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from fanlight.engine.kinds import scheme_of
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.protocol import COMPLETE

AT_ONCE = 1 << 12  # the rows that a cut is first given; then four times as many, and so on
TYPES = {"f": "double", "i": "bigint", "b": "boolean"}
SURE = 20
NEVER = np.iinfo(np.int64).max


class Met(NamedTuple):
    """How far it is from where a cut began to where it and the true cut are alike from then on."""

    rows: np.ndarray  # NEVER: not before the end of the data
    frames: np.ndarray  # that the cut began before it


class Cutter:
    """The library's operator, over the rows of a case from any of them on."""

    def __init__(self, case, spec):
        columns = case.columns
        types = [TYPES[columns[read.given].dtype.kind] for read in spec.inputs]
        scheme = scheme_of(spec, types, "timestamp")
        there = np.ones(len(case.time), np.bool_)
        given = [there if one.column is None else columns[one.column] for one in scheme.inputs]
        names = [f"input{at}" for at in range(len(given))]
        self.time = case.time
        self.rows = pa.table(
            [pa.array(case.time), *(pa.array(one, from_pandas=True) for one in given)],
            names=["t", *names],
        )
        self.query = FrameQuery(
            scheme, self.rows.schema, (), ("t",), tuple(names), batch=True
        )  # fmt: skip

    def breaks(self, begin=0, end=None):
        """For each row from ``begin`` to ``end``: 2 where a frame begins, 1 in it, 0 in none."""
        rows = self.rows.slice(begin, None if end is None else end - begin)
        frames = self.query.start().take(rows, COMPLETE)
        marks = np.zeros(len(rows), np.uint8)
        if frames is not None:
            first = np.searchsorted(self.time[begin:end], frames["start"].to_numpy())
            step = np.zeros(len(rows) + 1, np.int64)
            step[first] += 1
            np.subtract.at(step, first + frames["rows"].to_numpy(), 1)
            marks[:] = np.cumsum(step[:-1])
            marks[first] = 2
        return marks


def meet(cutter, starts):
    """How soon cuts from each of ``starts`` meet the true one: see :func:`_alike`.

    All that follows must be the same, else a common break would tell nothing; it is looked at as
    far as the cut went.
    """
    true, size = cutter.breaks(), len(cutter.time)
    kind = cutter.query.scheme.kind
    rows, frames = np.full(len(starts), NEVER), np.zeros(len(starts), np.int64)
    for at, start in enumerate(starts):
        length = size if kind == "calculated" else AT_ONCE
        while True:
            end = min(start + length, size)
            cut, right = cutter.breaks(start, end), true[start:end]
            common = _alike(kind, cut, right)
            if common is not None or end == size:
                break
            length *= 4
        frames[at] = np.count_nonzero(cut[:common] == 2)
        if common is not None:
            rows[at] = common
            _check_rest(cut[common:], right[common:], whole=end == size or kind != "dwell")
    return Met(rows, frames)


def _alike(kind, cut, right):
    """The first row at which both cuts know the same; None if there is none.

    That is where a frame begins in both, or where a row is in no frame of both. Of frames that
    dwell a row in none does not tell whether one may have begun, so only the first counts. A limit
    made of earlier frames has to be made of the same ones: there it is the first such row after
    which ``SURE`` frames and all others are the same to the end of the data.
    """
    both = (cut == 2) & (right == 2)
    if kind == "calculated":
        apart = np.flatnonzero(cut != right)
        both[: apart[-1] + 1 if len(apart) else 0] = False
        found = np.flatnonzero(both)
        return found[0] if len(found) > SURE else None
    if kind != "dwell":
        both |= (cut == 0) & (right == 0)
    found = np.flatnonzero(both)
    return found[0] if len(found) else None


def _check_rest(cut, right, *, whole):
    """Raise if something differs after a common break, but for what the end of a cut changes."""
    end = len(cut) if whole else np.flatnonzero(cut == 2)[-1]  # later rows say where it ends
    if not (cut[:end] == right[:end]).all():
        msg = "a common break, and other frames after it"
        raise AssertionError(msg)
