"""Sliding windows: RANGE, SLIDE and offset."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, get_args

from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.pictures import Pictured
from fanlight.engine.spec.units import Extent, Measure, read_extent
from fanlight.types import Closed, Length

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Local:
    """Windows of a local calendar, in months or in hours that its clock shows.

    Counting starts ``offset`` of these units, and ``shift`` microseconds of local time, after the
    beginning of 1970. If windows in hours begin again every ``restart_months``, ``first`` is
    one of the months, counted from January 1970, with which they do. Those that are so many months
    long, ``back`` from their end, have the longest of these as RANGE. A month begins on its
    ``day``, or on its last if it has fewer.
    """

    range: int
    slide: int
    offset: int
    unit: Measure  # "months" or "hours"
    shift: int
    zone: str | None
    restart_months: int = 0
    first: int = 0
    back: int = 0
    day: int = 1

    @property
    def counting(self) -> tuple[object, ...]:
        """What windows must have in common to share pieces of time."""
        return self.zone, self.shift, self.unit, self.unit == "months" and self.day


class Sliding(Pictured):
    """Windows of length RANGE that start every SLIDE.

    Window *m* is the interval ``[offset + m * slide, offset + m * slide + range)``, as in Spark's
    ``window()``, unless ``closed`` says otherwise. It is reported if at least one row lies in it.

    Parameters
    ----------
    range
        The window's length: a duration (``"4 minutes"``, a ``timedelta``; microseconds to weeks)
        when ``time`` is a timestamp, a number when ``time`` is numeric, ``fl.Rows(n)`` for the
        last *n* rows of each key.
    slide
        How far apart windows start, of the same kind. ``None`` makes windows tumble. Longer than
        ``range``: sampling windows with gaps; rows in a gap belong to no window. Of the other
        kind: with a duration as range, ``fl.Rows(10)`` gives a window that ends at every tenth row
        of a key; with ``fl.Rows(n)`` as range, ``"1 minute"`` gives the last *n* rows before the
        end of each minute in which the key has a row.
    offset
        Where counting starts, of the same kind as ``slide``; 0 is 1970-01-01 00:00 UTC, the number
        0, or the first row of a key.
    closed
        Which ends belong to a window: ``"left"``, the start; ``"right"``, the end, so that a row at
        twelve o'clock is in the window up to twelve; ``"both"``, so that such a row is in both
        windows; ``"neither"``, so that it is in none. ``window`` shows the same bounds in all four.

    Raises
    ------
    FanlightError
        If an extent cannot be read, is not positive, is a calendar month or year, or if a duration
        is mixed with a number.

    See Also
    --------
    Li et al., *No Pane, No Gain*, section 1 (Query 1: RANGE and SLIDE; Query 2: slide-by-tuple;
    RANGE and SLIDE on different attributes).

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.Sliding("4 minutes", "1 minute")
    Sliding('4 minutes', '1 minute')
    >>> fl.Sliding("4 minutes").tumbling
    True
    >>> fl.Sliding(fl.Rows(1000), "1 minute")
    Sliding(Rows(1000), '1 minute')
    >>> fl.Sliding("4 minutes", 60)
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: range='4 minutes' with slide=60 mixes a duration with a number; \
give both as durations, both as numbers, or one of them in rows

    """

    __slots__ = ("closed", "offset", "range", "slide")
    _parts: ClassVar[tuple[str, ...]] = ("range", "slide", "offset", "closed")
    range: Extent
    slide: Extent
    offset: Extent
    closed: str

    @explain_wrong_calls("fl.Sliding('1 hour', '5 minutes')")
    def __init__(
        self,
        range: Length,
        slide: Length | None = None,
        *,
        offset: Length = 0,
        closed: Closed = "left",
    ) -> None:
        length = read_extent("range", range)
        step = length if slide is None else read_extent("slide", slide)
        mixed = length.measure != step.measure
        if mixed and "rows" not in (length.measure, step.measure):
            raise refuse(
                f"range={length} with slide={step}",
                f"mixes {length.kind_in_words} with {step.kind_in_words}",
                "give both as durations, both as numbers, or one of them in rows",
            )
        start = _read_offset(offset, length, step)
        check_choice("closed", closed, get_args(Closed), "known")
        if mixed and closed != "left":
            raise refuse(
                f"closed={closed!r} with range={length} and slide={step}",
                "is for windows with both ends on one grid, not for those that rows end",
                f"write fl.Trailing({length}, closed={closed!r}) for what each row sees",
            )
        self._set_parts(length, step, start, closed)

    def _set_parts(self, *parts: object) -> None:
        """Set the parts, which are checked, in the order of their names."""
        for name, part in zip(self._parts, parts, strict=True):
            object.__setattr__(self, name, part)

    @property
    def measure(self) -> Measure:
        """What RANGE is measured in: ``"time"``, ``"number"`` or ``"rows"``."""
        return self.range.measure

    @property
    def slide_by_tuple(self) -> bool:
        """Whether windows end at rows while RANGE is a duration, or a number."""
        return self.measure != "rows" and self.slide.measure == "rows"

    @property
    def range_of_tuples(self) -> bool:
        """Whether RANGE is in rows while SLIDE is a duration, or a number."""
        return self.measure == "rows" and self.slide.measure != "rows"

    @property
    def mixed(self) -> bool:
        """Whether rows and time place windows together."""
        return self.slide_by_tuple or self.range_of_tuples

    @property
    def local(self) -> Local | None:
        """The windows in a local calendar, if that places them."""
        return None

    @property
    def restarts(self) -> bool:
        """Whether windows begin together, and end one after the other."""
        return False

    @property
    def tumbling(self) -> bool:
        """Whether windows neither overlap nor leave gaps."""
        return self.range.measure == self.slide.measure and self.range.value == self.slide.value

    @property
    def overlap(self) -> Fraction:
        """RANGE/SLIDE: in how many windows a row lies, on average; 1 where rows decide that."""
        return Fraction(1) if self.mixed else self.range.value / self.slide.value

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"{type(self).__name__} is frozen: make a new one instead of setting {name}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[object, ...]:
        return make_windows, (type(self), *(getattr(self, name) for name in self._parts))

    def _key(self) -> tuple[object, ...]:
        parts = (self.range, self.slide, self.offset)
        return *((part.measure, part.value) for part in parts), self.closed

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        slide = "" if self.tumbling else f", {self.slide}"
        offset = f", offset={self.offset}" if self.offset.value else ""
        closed = f", closed={self.closed!r}" if self.closed != "left" else ""
        return f"Sliding({self.range}{slide}{offset}{closed})"


def _read_offset(given: Length, length: Extent, step: Extent) -> Extent:
    """Where counting starts, in the measure of the slide."""
    start = read_extent("offset", given, positive=False)
    whole = start.measure == "number" and start.value % 1 == 0
    if start.value == 0 or (step.measure == "rows" and whole):
        start = Extent(step.measure, start.value, start.text)
    if start.measure != step.measure:
        why = f"is {start.kind_in_words}, but slide={step} is {step.kind_in_words}"
    elif start.value and step.value == 1 and length.measure != step.measure == "rows":
        why = "is set, but windows that end at every row have no grid to shift"
    else:
        return start
    raise refuse(f"offset={start}", why, "leave offset out, or give it in the kind of slide")


def make_windows(kind: type[Sliding], *parts: object) -> Sliding:
    """Windows of a kind, of parts that have been checked."""
    spec = object.__new__(kind)
    spec._set_parts(*parts)
    return spec
