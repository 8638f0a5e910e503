"""Trailing windows: what there was up to each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from fanlight.engine.spec.arguments import check_choice, check_flag, check_text
from fanlight.engine.spec.calendar import check_zone, has_months, read_units
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.pictures import Pictured
from fanlight.engine.spec.units import MONTHS, Extent, parse_parts, read_extent
from fanlight.types import Closed, Duration, Length

CALENDARS = ("months", "hours")  # measures of lengths that a calendar says
LATER = (
    "; for rows to come in stored data, ask as of a later time: "
    "at(df.withColumn('ts', F.expr('ts + interval 1 hour')), time='ts').attach(…)"
)


@dataclass(frozen=True, init=False)
class Trailing(Pictured):
    """The rows of the last hour, day or month before each row: its features.

    For a row at ``t`` they are the rows of its key whose times are in
    ``(t - delay - range, t - delay]``. Rows of one time share what is as of that time.

    Parameters
    ----------
    range
        How far back: a duration when ``time`` is a timestamp, a number when it is a whole number,
        ``fl.Rows(n)`` for the last *n* rows; ``None`` for all rows there have been. In months,
        quarters or years, or with ``zone``, it is by the calendar: the same time of the same day
        of an earlier month, or of its last day.
    delay
        How long after its time a row is known: a duration or a number. A row at ``t`` counts only
        rows whose times are at most ``t - delay``.
    closed
        Which ends belong to it: ``"right"`` (the later one), ``"left"``, ``"both"``, ``"neither"``.
        With ``"left"`` and no delay, rows of the row's own time do not count.
    include_self
        Whether the row itself counts.
    zone
        The time zone by whose clock a range in days, weeks, months or years is that long:
        ``"Europe/Berlin"``, ``"+02:00"``. A day has 23 or 25 hours where the clock is set in
        between. ``None``: a day has 24 hours, and months are those of times without time zone
        (``timestamp_ntz``).

    Raises
    ------
    FanlightError
        If a length is of the wrong kind, not positive, or the delay is negative; if there is no
        such zone, or the range has no use for one.

    See Also
    --------
    Li et al., *No Pane, No Gain*, section 1 (windows that slide by tuple).

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.Trailing("30 days", delay="7 days")
    Trailing('30 days', delay='7 days')
    >>> fl.Trailing("1 month", zone="Europe/Berlin")
    Trailing('1 month', zone='Europe/Berlin')
    >>> fl.Trailing(fl.Rows(10), include_self=False)
    Trailing(Rows(10), include_self=False)
    >>> fl.Trailing()
    Trailing()

    """

    range: Extent | None
    delay: Extent | None
    closed: Closed
    include_self: bool
    zone: str | None = None

    @explain_wrong_calls("fl.Trailing('30 days', delay='7 days')")
    def __init__(
        self,
        range: Length | None = None,
        *,
        delay: Duration = 0,
        closed: Closed = "right",
        include_self: bool = True,
        zone: str | None = None,
    ) -> None:
        length = _read_range(range, check_zone(zone))
        wait = read_extent("delay", delay, positive=False, counted=False)
        if wait.value < 0:
            raise refuse(
                f"delay={delay!r}",
                "would count rows from after the row, which are not known then",
                f"write a delay of 0 or more{LATER}",
            )
        if wait.measure == "rows":
            raise refuse(f"delay={wait}", "counts rows", "write delay='7 days', or a number")
        check_choice("closed", closed, get_args(Closed), "known")
        check_flag("include_self", include_self)
        if length and length.measure == "rows" and closed in ("left", "both"):
            raise refuse(
                f"range={length}, closed={closed!r}",
                "counts rows, which have no earlier end in time",
                "write closed='right' or closed='neither'",
            )
        measures = {one.measure for one in (length, wait) if one is not None and one.value}
        if measures & set(CALENDARS):
            measures = measures - set(CALENDARS) | {"time"}
        if len(measures - {"rows"}) > 1:
            raise refuse(
                f"range={length}, delay={wait}",
                "mixes a duration with a number",
                "write durations for a timestamp, numbers for a whole number",
            )
        set_once = object.__setattr__
        set_once(self, "range", length)
        set_once(self, "delay", wait if wait.value else None)
        set_once(self, "closed", closed)
        set_once(self, "include_self", include_self)
        set_once(self, "zone", zone)

    @property
    def by_calendar(self) -> bool:
        """Whether a calendar says how long the range is."""
        return self.range is not None and self.range.measure in CALENDARS

    def __repr__(self) -> str:
        given = [str(self.range)] if self.range else []
        given += [f"delay={self.delay}"] if self.delay else []
        given += [f"closed={self.closed!r}"] if self.closed != "right" else []
        given += [] if self.include_self else ["include_self=False"]
        given += [f"zone={self.zone!r}"] if self.zone else []
        return f"Trailing({', '.join(given)})"


def _read_range(given: Any, zone: str | None) -> Extent | None:
    """How far back windows reach: by the calendar if there is a zone, or a unit of months."""
    if not has_months("range", given) and zone is None:
        return None if given is None else read_extent("range", given)
    if isinstance(given, str):
        units = {unit for _, unit in parse_parts("range", given)}
        if units <= {"day", "week"} or units <= set(MONTHS):
            return read_units("range", given)
        if units <= {"day", "week", *MONTHS}:
            raise refuse(
                f"range={given!r}",
                "mixes months, which differ in days, with days",
                "write range='1 month', or days alone",
            )
    raise refuse(
        f"range={given!r}" if given is not None else f"Trailing(zone={zone!r})",
        "is as long by every clock",
        "leave zone out, or write a range in days, weeks, months, quarters or years",
    )


@dataclass(frozen=True)
class Labelled(Pictured):
    """Trailing windows by their labels. The label is empty for a single, unlabelled window."""

    labels: tuple[str, ...]
    windows: tuple[Trailing, ...]

    def __repr__(self) -> str:
        if self.labels == ("",):
            return repr(self.windows[0])
        pairs = zip(self.labels, self.windows, strict=True)
        return f"{{{', '.join(f'{label!r}: {window!r}' for label, window in pairs)}}}"


def name_column(name: str, label: str) -> str:
    """The name of an aggregate's column for the window of a label."""
    return f"{name}_{label}" if label else name


def read_labelled(spec: Any) -> Labelled:
    """Read one trailing window, or a mapping of labels to some."""
    if isinstance(spec, Trailing):
        return Labelled(("",), (spec,))
    if not isinstance(spec, Mapping) or not spec:
        what = "is not a trailing window, nor a mapping of labels to some"
        what = "names no window" if isinstance(spec, Mapping) else what
        raise refuse(f"{spec!r}", what, _EXAMPLE)
    for label, window in spec.items():
        check_text("the label of a window", label, "'1h'")
        if not label:
            raise refuse("the label of a window", "is empty", _EXAMPLE)
        if not isinstance(window, Trailing):
            raise refuse(f"{label!r}: {window!r}", "is not a Trailing", _EXAMPLE)
    return Labelled(tuple(spec), tuple(spec.values()))


_EXAMPLE = "write for example {'1h': fl.Trailing('1 hour'), '30d': fl.Trailing('30 days')}"
