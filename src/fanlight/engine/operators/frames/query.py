"""The fixed setup of the frame operators, in a batch and in a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.operators.frames.assembly import Assembly
from fanlight.engine.operators.frames.markers import MARKERS
from fanlight.engine.operators.frames.marks import Marker
from fanlight.engine.operators.frames.overlapping import DwellAssembly, OverlappingAssembly
from fanlight.engine.operators.frames.parts import PartAssembly
from fanlight.engine.operators.frames.several import SeveralAssembly
from fanlight.engine.plan.frames import Scheme

# Assemblies of frames whose rows have no number, by the kind of their scheme.
_UNNUMBERED: dict[str, type[Assembly]] = {
    "dwell": DwellAssembly,
    "cells": OverlappingAssembly,
    "logical": SeveralAssembly,
}


@dataclass(frozen=True)
class FrameQuery:
    """The columns of a row (``schema``), their roles, and the kind of result.

    The result has frames with partials of ``monoids`` over the columns ``partials``; if
    ``numbered``, it has the rows: their columns ``payload``, and the number of their frame.
    """

    scheme: Scheme
    schema: pa.Schema
    keys: tuple[str, ...]
    order: tuple[str, ...]
    inputs: tuple[str, ...]
    partials: tuple[str, ...] = ()
    monoids: tuple[Monoid, ...] = ()
    sources: tuple[str, ...] = ()  # the input columns of the partials, if named differently
    payload: tuple[str, ...] = ()
    numbered: bool = False
    closings: bool = False  # whether numbered rows include one for each closed frame, with its end
    marks: type[Marker] = Marker  # the class that marks rows; by default, that of the scheme's kind
    forget_after: int | None = None  # after a longer silence a key starts anew
    every: int | None = None  # frames come in parts, which end at the multiples of this
    # Frames come also while they are open, once the watermark passes multiples of this, or if it is
    # 0 with each micro-batch; a column ``final`` tells those that are closed or forgotten.
    early: int | None = None

    def __post_init__(self) -> None:
        """Look up the marker on the driver, so that it is pickled to the workers with the query."""
        if self.marks is Marker:
            object.__setattr__(self, "marks", MARKERS[self.scheme.kind])

    def make_assembly(self) -> Assembly:
        """An assembly without keys."""
        fields = [self.schema.field(name) for name in self.sources or self.partials]
        if self.every is not None:
            kind: Callable[..., Assembly] = partial(PartAssembly, every=self.every)
        else:
            kind = _UNNUMBERED[self.scheme.kind] if self.scheme.is_unnumbered else Assembly
        further = {"seen": self.forget_after, "changed": self.early}
        asked = [name for name, value in further.items() if value is not None]
        return kind(self.marks(self.scheme), fields, self.monoids, further=asked)

    def key_fields(self) -> list[pa.Field]:
        """The columns of a key."""
        return [self.schema.field(name) for name in self.keys]
