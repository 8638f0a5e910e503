"""Snapshot windows: each time in which the same events are running."""

from __future__ import annotations

from dataclasses import dataclass

from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.pictures import Pictured
from fanlight.engine.spec.units import Extent, read_extent
from fanlight.types import Duration


@dataclass(frozen=True, init=False)
class Snapshot(Pictured):
    """The longest times in which the set of a key's running events does not change.

    A window begins where an event of its key starts or stops, and ends where the next one does. It
    is given if at least one event is running in it: ``[start, stop)``, its start is in, its stop
    is not. Windows of a key follow one another and never overlap.

    Parameters
    ----------
    min_duration
        Windows that are shorter are left out: a duration when ``time`` is a timestamp, a number
        when it is a whole number.
    merge_equal
        Whether windows that follow one another without a gap and have the same results are given
        as one. Of those the duration is asked then.

    Raises
    ------
    FanlightError
        If the duration cannot be read, counts rows, or is not positive.

    Notes
    -----
    Cost: a batch numbers the starts and stops of each key by a sort, and then enters an event
    twice, however many windows it is in. A stream keeps the events that the watermark has not
    passed.

    See Also
    --------
    The snapshot windows of Trill and StreamInsight.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.Snapshot(min_duration="5 minutes", merge_equal=True)
    Snapshot(min_duration='5 minutes', merge_equal=True)
    >>> from fanlight import agg
    >>> stays = spark.sql("select * from values (0, 10), (4, 6), (6, 12) as stays(start, stop)")
    >>> rooms = fl.over(stays, fl.Snapshot(), time=("start", "stop")).agg(taken=agg.count())
    >>> [(row.window.start, row.window.end, row.taken) for row in rooms.orderBy("window").collect()]
    [(0, 4, 1), (4, 6, 2), (6, 10, 2), (10, 12, 1)]

    """

    min_duration: Extent | None
    merge_equal: bool

    @explain_wrong_calls("fl.Snapshot(min_duration='5 minutes')")
    def __init__(self, *, min_duration: Duration | None = None, merge_equal: bool = False) -> None:
        least = None
        if min_duration is not None:
            least = read_extent("min_duration", min_duration)
            if least.measure == "rows":
                raise refuse(
                    f"min_duration={least}", "counts rows", "write min_duration='5 minutes'"
                )
        object.__setattr__(self, "min_duration", least)
        object.__setattr__(self, "merge_equal", check_flag("merge_equal", merge_equal))

    def __repr__(self) -> str:
        given = [f"min_duration={self.min_duration}"] if self.min_duration else []
        given += ["merge_equal=True"] if self.merge_equal else []
        return f"Snapshot({', '.join(given)})"
