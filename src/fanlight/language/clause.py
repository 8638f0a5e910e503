"""What stands between the brackets, as a value: what a window is over, its spec, what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fanlight.engine.kinds import outputs_of
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.language.spoken import Mark, clause_words

Spec = Sliding | MultiGranular | Frame | ProgressiveWidening | tuple[Sliding, ...]
Name = tuple[str, ...]  # of a column: the parts of a path


@dataclass(frozen=True)
class Verb:
    """What is asked of windows besides aggregates: ``fit``, say, with its arguments."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Clause:
    """Windows as the query language says them, and where: from ``start`` to ``end``."""

    spec: Spec
    time: tuple[Name, ...]
    by: tuple[Name, ...] = ()
    tiebreak: tuple[Name, ...] = ()
    late: str = "drop"
    strategy: str = "auto"
    hints: dict[str, Any] = field(default_factory=dict)
    verb: Verb | None = None
    bounds: bool = False  # whether results have window_start and window_end, as Flink's
    start: int = 0
    end: int = 0
    # Where its arguments stand, and what errors call them.
    marks: tuple[Mark, ...] = field(default=(), compare=False, repr=False)
    words: Mapping[str, str] = field(default_factory=clause_words, compare=False, repr=False)

    @property
    def outputs(self) -> Sequence[str]:
        """The columns of the results besides keys and aggregates."""
        return outputs_of(self.spec)
