"""Frames that end once a value has changed by a delta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, get_args

from fanlight.engine.spec.arguments import check_choice, check_flag, read_positive
from fanlight.engine.spec.errors import explain_wrong_calls
from fanlight.engine.spec.frames.base import (
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    check_columns,
    describe_crossing,
    read_optional_sizes,
    set_fields,
    write_crossing,
    write_sizes,
)
from fanlight.types import Against, Duration, Number


@dataclass(frozen=True, init=False)
class DeltaFrame(Frame):
    """A new frame begins whenever a value has changed by a delta.

    Parameters
    ----------
    deltas
        For each attribute how much it may change; the frame ends when any reaches its delta. Nulls
        and NaN change nothing: such a row stays in an open frame, and opens none if no attribute
        has a value.
    against
        ``"range"``: the change is the frame's greatest value minus its least (the definition).
        ``"first"``: the distance from the frame's first value (the paper's Table 3).
    strict
        A frame ends only when the change exceeds a delta; without it, when it reaches one.
    include_crossing
        ``False``: the row that reaches the delta begins the next frame; all frames stay below
        (case a, longest frames). ``True``: it is the last row of its frame; all closed frames
        reach the delta (case b, shortest frames).
    min_rows, min_duration, max_rows, max_duration, max_gap
        The least and the greatest size of a frame, as for :class:`ThresholdFrame`.

    Raises
    ------
    FanlightError
        If a delta is not positive, or ``against`` is unknown.

    See Also
    --------
    Grossniklaus et al., *Frames*, 3.2 (delta frames), 5.2.3 and Table 3. The paper writes the local
    condition with an existence quantifier in both cases; in case a it must hold for all pairs.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.DeltaFrame({"density": 0.01, "dye": 0.02})
    DeltaFrame({'density': 0.01, 'dye': 0.02})

    """

    scheme_cause: ClassVar[str] = "delta"
    deltas: tuple[tuple[str, Fraction], ...]
    against: Against
    strict: bool
    include_crossing: bool
    least: Least | None
    most: Most | None
    shown: str

    @explain_wrong_calls("fl.DeltaFrame({'density': 0.01})")
    def __init__(
        self,
        deltas: Mapping[str, Number],
        *,
        against: Against = "range",
        strict: bool = False,
        include_crossing: bool = False,
        min_rows: int = 1,
        min_duration: Duration | None = None,
        max_rows: int | None = None,
        max_duration: Duration | None = None,
        max_gap: Duration | None = None,
    ) -> None:
        pairs = tuple(
            (name, read_positive(f"deltas={{{name!r}: {value!r}}}", value, f"{{{name!r}: 0.05}}"))
            for name, value in check_columns("deltas", deltas, "0.05").items()
        )
        check_choice("against", against, get_args(Against), "known")
        check_flag("strict", strict)
        check_flag("include_crossing", include_crossing)
        set_fields(
            self,
            deltas=pairs,
            against=against,
            strict=strict,
            include_crossing=include_crossing,
            shown=repr(dict(deltas)),
            **read_optional_sizes(min_rows, min_duration, max_rows, max_duration, max_gap),
        )

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The attributes that have deltas."""
        return tuple(Input("deltas", name) for name, _ in self.deltas)

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        by = "more than its delta" if self.strict else "its delta"
        return f"once a value has changed by {by}{describe_crossing(self.include_crossing)}"

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Unique (Lemma 2): each frame begins where the one before has ended."""
        return frozenset({"unique", "drained", "non-overlapping", "partitions"})

    def __repr__(self) -> str:
        more = ", against='first'" if self.against == "first" else ""
        more += ", strict=True" if self.strict else ""
        more += write_crossing(self.include_crossing, default=False)
        return f"DeltaFrame({self.shown}{more}{write_sizes(self)})"
