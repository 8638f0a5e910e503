"""The pieces of a table: where time is cut, and which windows are made of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from fanlight.engine.algebra.stored import Stored
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.trailing import Labelled, Trailing
from fanlight.engine.spec.units import write_duration

VERSION = 1
_LENGTH = '"length"'  # only pieces have one
_LOST = "is not a table of pieces that this version of fanlight knows"
_AGAIN = "write it with .pieces(…), and keep the schema: column metadata say what it has"


@dataclass(frozen=True)
class TablePieces:
    """Pieces ``length`` long, one of which begins at ``offset``, in microseconds or numbers.

    ``time`` and ``by`` are the names of the time and the keys that the rows had.
    """

    time: str
    by: tuple[str, ...]
    length: Fraction
    offset: Fraction

    @classmethod
    def of_grids(
        cls, time: str, by: Sequence[str], of: Coordinate, grids: Sequence[Grid]
    ) -> TablePieces:
        """The longest pieces of which the windows of all grids are made."""
        first = grids[0].offset
        width = math.gcd(*(n for g in grids for n in (g.range, g.slide, g.offset - first)))
        return cls(time, tuple(by), width * of.unit, of.origin + first % width * of.unit)

    def grid_in(self, of: Coordinate) -> Grid:
        """The pieces as tumbling windows, in a coordinate that they fit."""
        length = int(self.length / of.unit)
        return Grid(length, length, int((self.offset - of.origin) / of.unit))

    def write_length(self, measured: str) -> str:
        """The length of a piece as a user would write it."""
        return repr(write_duration(int(self.length)) if measured == "time" else self.number)

    @property
    def number(self) -> int | float:
        """The length of a piece as a number."""
        return int(self.length) if self.length.denominator == 1 else float(self.length)

    def spec(self, *, timed: bool) -> Sliding:
        """Windows that are one piece each."""
        return Sliding(write_duration(int(self.length)) if timed else self.number)

    def to_json(self) -> str:
        """Write the length as text."""
        return json.dumps({"version": VERSION, **asdict(self)}, default=str)

    @classmethod
    def of_json(cls, text: Any, called: str = "the DataFrame") -> TablePieces:
        """What the text in a table's schema says; errors call the table so."""
        try:
            told = json.loads(text)
            known = told.pop("version") == VERSION
            by, ends = tuple(told["by"]), (Fraction(told["length"]), Fraction(told["offset"]))
        except (TypeError, ValueError, KeyError) as error:
            raise refuse(called, _LOST, _AGAIN) from error
        if not known:
            raise refuse(called, _LOST, _AGAIN)
        return cls(told["time"], by, *ends)

    def check_grids(self, spec: Any, of: Coordinate, grids: Sequence[Grid]) -> None:
        """Refuse windows that begin or end within a piece; a calendar's Spark has to look for."""
        if of.calendar is not None:
            return
        for grid in grids:
            start = of.origin + grid.offset * of.unit - self.offset
            self._check_whole(repr(spec), "begin", start, of.is_timestamp)
            for part in (grid.range, grid.slide):
                self._check_whole(repr(spec), "begin or end", part * of.unit, of.is_timestamp)

    def check_trailing(self, spec: Labelled) -> None:
        """Refuse windows that no time makes of whole pieces, or two kinds of ends."""
        for window in spec.windows:
            self._check_ends(window)
            for part in (window.range, window.delay):
                if part is not None:
                    timed = part.measure == "time"
                    self._check_whole(repr(window), "begin or end", part.value, timed)
        if len({window.closed for window in spec.windows}) > 1:
            raise refuse(
                repr(spec),
                "has windows closed on the right and others closed on the left",
                "ask for each kind by itself",
            )

    def _check_ends(self, window: Trailing) -> None:
        if window.range is not None and window.range.measure == "rows":
            raise refuse(repr(window), "counts rows, and pieces have none", "give it a duration")
        if window.by_calendar:
            raise refuse(
                repr(window),
                "is as long as a calendar says, and pieces are of one length",
                "give it a duration such as '30 days', without zone",
            )
        if window.closed not in ("left", "right"):
            raise refuse(
                repr(window), "includes both of its ends, or neither, and pieces include one",
                "write closed='left' or closed='right'",
            )  # fmt: skip

    def _check_whole(self, asked: str, how: str, length: Fraction, timed: bool) -> None:
        if length % self.length:
            one = self.write_length("time" if timed else "number")
            raise refuse(
                asked,
                f"has windows that {how} within pieces of {one}",
                f"ask for whole multiples of {one}, or write finer pieces",
            )


def end_of(start: str) -> str:
    """The column with the ends of pieces, where one of this name has their starts."""
    return f"{start.removesuffix('start')}end"


def find_pieces(
    notes: Mapping[str, str], names: Sequence[str], called: str = "the DataFrame"
) -> tuple[str, TablePieces, tuple[Stored, ...]]:
    """What the notes of columns say: the column of pieces, what they are, and the partials.

    ``names`` are all columns of the table. A table that lacks a part of them is refused, ``called``
    so.
    """
    window = next((name for name, note in notes.items() if _LENGTH in note), None)
    if window is None:
        raise refuse(called, _LOST, _AGAIN)
    pieces = TablePieces.of_json(notes[window], called)
    missing = [f"key {name!r}" for name in pieces.by if name not in names]
    others = {name: note for name, note in notes.items() if name != window}
    if missing or not others:
        raise refuse(
            called,
            f"has lost the {(missing or ['columns of partials'])[0]} of its pieces",
            "keep the keys, and at least one column of partials",
        )
    return window, pieces, tuple(Stored.of_json(*one) for one in others.items())
