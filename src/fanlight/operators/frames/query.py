"""What is asked of the frame operators, in a batch and in a stream alike."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from fanlight.algebra.monoids import Monoid
from fanlight.operators.frames.assembly import Assembly
from fanlight.operators.frames.overlapping import OverlappingAssembly
from fanlight.plan.frames import Scheme


@dataclass(frozen=True)
class FrameQuery:
    """Rows as they come (``schema``: keys, ``t``, order, lanes, then what is carried) and why.

    ``monoids`` belong to the columns ``partials``; ``payload`` are columns that go out with each
    row's frame number instead (``tagged``).
    """

    scheme: Scheme
    schema: pa.Schema
    keys: tuple[str, ...]
    order: tuple[str, ...]
    lanes: tuple[str, ...]
    partials: tuple[str, ...] = ()
    monoids: tuple[Monoid, ...] = ()
    sources: tuple[str, ...] = ()  # the columns of partials that are called otherwise
    payload: tuple[str, ...] = ()
    tagged: bool = False
    closings: bool = False  # a row for each closed frame: its number and its end, nothing else

    def assembly(self) -> Assembly:
        """An assembly that has seen nothing."""
        fields = [self.schema.field(name) for name in self.sources or self.partials]
        kind = OverlappingAssembly if self.scheme.overlapping else Assembly
        return kind(self.scheme, fields, self.monoids)

    def key_fields(self) -> list[pa.Field]:
        """The columns of a key."""
        return [self.schema.field(name) for name in self.keys]
