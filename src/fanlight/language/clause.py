"""The clause between the brackets, ``[WATTR ts RANGE …]``, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fanlight.engine.kinds import output_columns
from fanlight.engine.kinds.options import EARLY
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.trailing import Trailing
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.language.error_translation import ArgumentSpan, clause_words

Spec = (
    Sliding
    | MultiGranular
    | Frame
    | ProgressiveWidening
    | Trailing
    | tuple[Sliding, ...]
    | Mapping[str, Trailing]
)
# What results have besides keys and aggregates where a verb has columns of its own.
_OUTPUTS = {"wide": ("at",), "bursts": ("window", "level", "expected", "ratio")}
Name = tuple[str, ...]  # a column's name: the parts of a path such as a.b


@dataclass(frozen=True)
class Verb:
    """What a clause asks of windows besides aggregates, such as ``fit``, with its arguments."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Clause:
    """The windows that a clause describes; it stands at ``text[start:end]``."""

    spec: Spec
    time: tuple[Name, ...]
    by: tuple[Name, ...] = ()
    tiebreak: tuple[Name, ...] = ()
    late: str = "drop"
    forget_after: Any = None
    options: dict[str, dict[str, Any]] = field(default_factory=dict)  # of windows, by their verbs
    strategy: str = "auto"
    hints: dict[str, Any] = field(default_factory=dict)
    verb: Verb | None = None
    bounds: bool = False  # whether results have window_start and window_end, as Flink's
    start: int = 0
    end: int = 0
    # Where the arguments of the API stand in the text, and what errors call them.
    spans: tuple[ArgumentSpan, ...] = field(default=(), compare=False, repr=False)
    words: Mapping[str, str] = field(default_factory=clause_words, compare=False, repr=False)

    @property
    def order(self) -> tuple[Name, ...]:
        """The columns by which rows are ordered."""
        return (*self.time, *self.tiebreak)

    @property
    def outputs(self) -> Sequence[str]:
        """The columns of the results besides keys and aggregates."""
        own = _OUTPUTS.get(self.verb.name) if self.verb is not None else None
        return own or output_columns(self.spec, early=EARLY in self.options)
