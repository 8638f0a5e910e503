"""Progressive widening: windows of growing durations, for patterns of unknown duration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.pictures import Pictured
from fanlight.engine.spec.units import LONGEST, Extent, Measure, read_uncounted
from fanlight.types import Duration


class ProgressiveWidening(Pictured):
    """Windows of several lengths, each longer than the one before, to search for patterns.

    Level 0 cuts the stream into batches of ``first``, level 1 of twice that, and so on until a
    batch is as long as ``max_duration``. At each level a window is two consecutive batches, and
    windows overlap by one batch, so that every interval up to one batch long lies inside a window.
    From the middle of a batch that a window has already searched, all rows but its first and last
    ``max_rows`` are left out: no unseen pattern can reach them. So memory and work stay bounded
    however long the longest window is.

    Parameters
    ----------
    first
        The duration of the shortest batch: ``"1 second"``, a ``timedelta``, or a whole number
        where ``time`` is an integer. A pattern is found at the earliest when its first batch ends.
        Or a list of durations, one per level, each a multiple of the one before.
    max_duration
        The longest duration of a pattern, from its first row to its last. An episode that takes
        longer is not found; a function may be shown the rows of a pattern of up to twice that.
    max_rows
        The greatest number of rows of a key, from a pattern's first row to its last, whether they
        belong to the pattern or come between. A batch of level 0 should have no more rows.
    factor
        How many batches of a level make one of the next: 2 as in the paper, or more, for fewer
        levels and less work, at the price of finding patterns later. Not with a list of durations.

    Raises
    ------
    FanlightError
        If a duration cannot be read or is not positive, ``max_duration`` is below ``first`` or
        above the last of the durations (longer patterns could be in no window), ``factor`` is not a
        whole number above 1, durations are not multiples of each other, or ``max_rows`` is below 1.

    See Also
    --------
    Tolpin, *Progressive Temporal Window Widening*, sections 3 and 4.

    Examples
    --------
    >>> import fanlight as fl
    >>> spec = fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=100)
    >>> len(spec.durations)
    18
    >>> fl.ProgressiveWidening(["1 second", "1 minute"], max_duration="1 minute", max_rows=50)
    ProgressiveWidening(['1 second', '1 minute'], max_duration='1 minute', max_rows=50)
    >>> fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=100, factor=1)
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: factor=1 would not widen the windows; write factor=2 or \
another whole number above 1

    """

    __slots__ = ("durations", "factor", "first", "max_duration", "max_rows")
    first: tuple[Extent, ...]  # as given: one, or one per level
    max_duration: Extent
    max_rows: int
    factor: int
    durations: tuple[int, ...]  # of a batch at each level: microseconds, or plain units

    @explain_wrong_calls("fl.ProgressiveWidening('1 second', max_duration='1 day', max_rows=100)")
    def __init__(
        self,
        first: Duration | Sequence[Duration],
        *,
        max_duration: Duration,
        max_rows: int,
        factor: int = 2,
    ) -> None:
        several = list(first) if isinstance(first, (list, tuple)) and first else [first]
        given = [_read_duration("first", part) for part in several]
        limit = _read_duration("max_duration", max_duration)
        for part in given:
            if part.measure != limit.measure:
                raise refuse(
                    f"first={part} with max_duration={limit}",
                    "mixes a duration with a number",
                    "give both as durations, or both as whole numbers",
                )
        if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
            raise refuse(
                f"max_rows={max_rows!r}",
                "is not a positive number of rows: a pattern has at least one",
                "write for example max_rows=100",
            )
        if limit.value < given[0].value:
            raise refuse(
                f"max_duration={limit}",
                f"is below first={given[0]}, so there would be nothing to widen",
                f"write max_duration={given[0]} or more, or a shorter first",
            )
        if isinstance(first, (list, tuple)):
            durations = _check_durations(given, limit)
            if not isinstance(factor, (int, float)) or factor != 2:
                raise refuse(
                    f"factor={factor!r} with a list of durations",
                    "says in two ways how windows grow",
                    "give a factor or a list, not both",
                )
        else:
            durations = _grow_durations(int(given[0].value), limit, factor)
        set_once = object.__setattr__
        set_once(self, "first", tuple(given))
        set_once(self, "max_duration", limit)
        set_once(self, "max_rows", max_rows)
        set_once(self, "factor", factor)
        set_once(self, "durations", durations)

    @property
    def measure(self) -> Measure:
        """What durations are measured in: ``"time"`` or ``"number"``."""
        return self.max_duration.measure

    @property
    def listed(self) -> bool:
        """Whether each duration was given."""
        return len(self.first) > 1

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"ProgressiveWidening is frozen: make a new one instead of setting {name}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, tuple(getattr(self, name) for name in self.__slots__)

    def _key(self) -> tuple[object, ...]:
        return (self.measure, self.durations, self.max_duration.value, self.max_rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgressiveWidening) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        texts = ", ".join(part.text for part in self.first)
        first = f"[{texts}]" if self.listed else texts
        grown = f", factor={self.factor}" if self.factor != 2 else ""
        limits = f"max_duration={self.max_duration}, max_rows={self.max_rows}"
        return f"ProgressiveWidening({first}, {limits}{grown})"


def _read_duration(argument: str, given: object) -> Extent:
    length = read_uncounted(
        argument,
        given,
        "is a number of rows, but batches are cut by time",
        f"write a duration ({argument}='1 second'), or a whole number for an integer time",
    )
    if length.value.denominator != 1:
        raise refuse(
            f"{argument}={length}",
            "is not a whole number, and windows are cut at whole numbers",
            "scale the time column so that it is, or use a timestamp",
        )
    return length


def _grow_durations(first: int, limit: Extent, factor: object) -> tuple[int, ...]:
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or factor != factor // 1:
        raise refuse(
            f"factor={factor!r}",
            "is not a whole number, but a batch is made of whole batches of the level below",
            "write factor=2, or a list of durations as first",
        )
    if factor <= 1:
        raise refuse(
            f"factor={factor!r}",
            "would not widen the windows",
            "write factor=2 or another whole number above 1",
        )
    durations = [first]
    while durations[-1] < limit.value:
        durations.append(durations[-1] * int(factor))
    if durations[-1] * 4 >= LONGEST:
        raise refuse(f"max_duration={limit}", "makes windows that overflow", "write a shorter one")
    return tuple(durations)


def _check_durations(given: Sequence[Extent], limit: Extent) -> tuple[int, ...]:
    """Check a list of durations: nested, and long enough for patterns of ``limit`` (Lemma 1)."""
    listed = f"first=[{', '.join(map(str, given))}]"
    for below, above in pairwise(given):
        ratio = Fraction(above.value, below.value)
        if ratio <= 1:
            raise refuse(listed, f"does not grow from {below}", "list the durations upwards")
        if ratio.denominator != 1:
            raise refuse(
                listed,
                f"grows by {float(ratio):g} from {below} to {above}, but a batch is made of whole "
                "batches of the level below",
                f"make {above} a multiple of {below}",
            )
    if given[-1].value < limit.value:
        raise refuse(
            f"max_duration={limit}",
            f"is above the last duration {given[-1]}: windows of two batches of {given[-1]} cover "
            f"patterns up to {given[-1]} and no longer (Lemma 1)",
            f"add {limit} to the list, or write max_duration={given[-1]}",
        )
    if given[-1].value * 4 >= LONGEST:
        raise refuse(listed, "makes windows that overflow", "write shorter ones")
    return tuple(int(part.value) for part in given)


def _restore(*parts: object) -> ProgressiveWidening:
    spec = object.__new__(ProgressiveWidening)
    for name, part in zip(ProgressiveWidening.__slots__, parts, strict=True):
        object.__setattr__(spec, name, part)
    return spec
