"""Numbers the distinct values of rows for the kernel that counts them in each frame.

Between batches they are stored as texts, which distinguish values of any type.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.kernels.frames_many import Distinct

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


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
        self.kernel_input = Distinct(numbers, np.array(limits, np.int64), counts, frames, met)

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
    """The values of each row as one text, for a checkpoint; None where one of them is null."""
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
