"""Distinct values of rows, as numbers for the loop that counts those of a frame.

Between batches they are texts, by which a value of any type is told from all others.
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
    """The values that some limits watch, in sorted groups of rows: each has a number in its group.

    ``columns`` has the text of each row's value for each limit. Of each group's open frame,
    ``counts`` says how many values it has, and ``kept`` says which: JSON, a list of texts for each
    limit. ``kernel_input`` is what the loop is given, and changes.
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
        self._known: list[list[dict[str, int]]] = []  # of each limit: the numbers in each group
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

    def texts(self, opened: Bools) -> list[str]:
        """What to keep of each group, once the loop has seen all rows."""
        met, frames = self.kernel_input.met.tolist(), self.kernel_input.frames.tolist()
        found = [""] * len(frames)
        for g in np.flatnonzero(opened).tolist():
            found[g] = json.dumps(
                [
                    [text for text, number in known[g].items() if met[number] == frames[g]]
                    for known in self._known
                ]
            )
        return found


def as_texts(columns: list[list[Any]]) -> list[str | None]:
    """Each row's values as a text that a checkpoint can hold; None where one of them is null."""
    texts: dict[Any, str] = {}
    found: list[str | None] = []
    for value in zip(*columns, strict=True):
        if None in value:
            found.append(None)
            continue
        try:
            text = texts.get(value)
            if text is None:
                text = texts[value] = _as_text(value)
        except TypeError:  # a list has no hash
            text = _as_text(value)
        found.append(text)
    return found


def _as_text(value: tuple[Any, ...]) -> str:
    return repr(spark_key(tuple(_normalize_zero(part) for part in value)))


def _normalize_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value
