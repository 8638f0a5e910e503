"""Frames that end where a value crosses a boundary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fanlight.engine.spec.arguments import check_flag, read_increasing, read_positive
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.frames.base import (
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    check_columns,
    read_optional_sizes,
    set_fields,
    write_sizes,
)
from fanlight.types import Duration, Number

Cells = Fraction | tuple[Fraction, ...]


@dataclass(frozen=True, init=False)
class BoundaryFrame(Frame):
    """A frame ends wherever a value crosses a boundary: a longest run of rows in one cell.

    Parameters
    ----------
    cells
        For each attribute the boundaries: a number *w* for all multiples of *w*, or a list of
        increasing break points. Cells are ``(lo, hi]``. Several attributes make a grid of
        values, and a frame is a stay in one cell of it. A row with a null or NaN is in no cell, so
        in no frame.
    overlapping
        Double-boundary frames: a frame may cross one boundary, and is a longest run of rows in two
        neighbouring cells. A row may be in two frames. One attribute only.
    min_rows, min_duration, max_rows, max_duration, max_gap
        The least and the greatest size of a frame, as for :class:`ThresholdFrame`. A frame of two
        cells that a limit ends shares no row with the next one.

    Raises
    ------
    FanlightError
        If a width is not positive, or break points repeat or do not increase.

    See Also
    --------
    Grossniklaus et al., *Frames*, 3.2 (boundary and double-boundary frames) and 5.2.2.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.BoundaryFrame({"x": 4.2, "y": [0, 10, 25]})
    BoundaryFrame({'x': 4.2, 'y': [0, 10, 25]})
    >>> fl.BoundaryFrame({"x": [0, 10, 10]})
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: cells={'x': [0, 10, 10]} repeats 10 or is not in order; \
list break points in increasing order, each once

    """

    scheme_cause: ClassVar[str] = "boundary"
    cells: tuple[tuple[str, Cells], ...]
    overlapping: bool
    least: Least | None
    most: Most | None
    shown: str

    @explain_wrong_calls("fl.BoundaryFrame({'x': 4.2, 'y': [0, 10, 25]})")
    def __init__(
        self,
        cells: Mapping[str, Number | Sequence[Number]],
        *,
        overlapping: bool = False,
        min_rows: int = 1,
        min_duration: Duration | None = None,
        max_rows: int | None = None,
        max_duration: Duration | None = None,
        max_gap: Duration | None = None,
    ) -> None:
        check_flag("overlapping", overlapping)
        boundaries: list[tuple[str, Cells]] = []
        for name, given in check_columns("cells", cells, "4.2").items():
            about = f"cells={{{name!r}: {given!r}}}"
            if isinstance(given, (list, tuple)):
                boundaries.append((name, read_increasing(about, given)))
            else:
                boundaries.append((name, read_positive(about, given, f"{{{name!r}: 4.2}}")))
        if overlapping and len(boundaries) > 1:
            raise refuse(
                f"BoundaryFrame({dict(cells)!r}, overlapping=True)",
                "has several columns, but which cells are neighbours is defined for one only",
                "name one column, or leave overlapping out",
            )
        sizes = read_optional_sizes(min_rows, min_duration, max_rows, max_duration, max_gap)
        set_fields(
            self,
            cells=tuple(boundaries),
            overlapping=overlapping,
            shown=repr(dict(cells)),
            **sizes,
        )

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The attributes that have boundaries."""
        return tuple(Input("cells", name) for name, _ in self.cells)

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        if self.overlapping:
            return "at the first row outside of two neighbouring cells; frames may overlap"
        return "at the first row in another cell"

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Unique (Lemma 1); each row with values is in one frame, or, if overlapping, in some."""
        if self.overlapping:
            return frozenset({"unique", "overlapping"})
        return frozenset({"unique", "drained", "non-overlapping", "partitions"})

    def __repr__(self) -> str:
        more = ", overlapping=True" if self.overlapping else ""
        return f"BoundaryFrame({self.shown}{more}{write_sizes(self)})"
