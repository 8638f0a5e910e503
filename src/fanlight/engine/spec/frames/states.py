"""Frames of rows in one state: runs of equal values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from fanlight.engine.spec.arguments import check_choice, check_text
from fanlight.engine.spec.errors import explain_wrong_calls, is_column, refuse
from fanlight.engine.spec.frames.base import (
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    read_optional_sizes,
    set_fields,
    write_sizes,
)
from fanlight.types import ColumnOrName, Duration, Nulls

_GUARANTEES: dict[str, frozenset[Guarantee]] = {
    "state": frozenset({"unique", "drained", "non-overlapping", "partitions"}),
    "skip": frozenset({"unique", "non-overlapping"}),
    "end": frozenset({"unique", "drained", "non-overlapping"}),
    "carry": frozenset({"unique", "drained", "non-overlapping"}),
}


@dataclass(frozen=True, init=False)
class StateFrame(Frame):
    """State frames: a frame is a maximal run of rows with equal values in one or more columns.

    Results have the state itself, a column for each of ``state``, before the aggregates.

    Parameters
    ----------
    state
        A column's name, SQL text (``"temp > 40"``) or a Column, or a list of them, which are then
        one state together. Of any type that Spark can group by, but no map: text, boolean, number,
        date, struct, array. Values are equal if Spark calls them equal.
    nulls
        What a row means of which a column of the state is null. ``"state"``: null is a value like
        any other. ``"skip"``: the row says nothing; it stays in the open frame, and opens none.
        ``"end"``: it ends the frame, and is in none. ``"carry"``: the column keeps the value that
        it had last, also after a limit such as ``max_gap`` has ended the frame; a row before the
        first value of a column is in no frame. Results show the value that is carried.
    min_rows, min_duration, max_rows, max_duration, max_gap
        The least and the greatest size of a frame, as for :class:`ThresholdFrame`.

    Raises
    ------
    FanlightError
        If nothing is named, or ``nulls`` is unknown. A state that does not parse, names an unknown
        column or has no equality is refused by :func:`fanlight.over`.

    See Also
    --------
    Grossniklaus et al., *Frames*, 3.2: boundary frames, with a cell for each value.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.StateFrame("status", max_gap="5 minutes")
    StateFrame('status', max_gap='5 minutes')
    >>> machine = spark.sql("SELECT id AS t, if(id < 3, 'on', 'off') AS status FROM range(5)")
    >>> runs = fl.over(machine, fl.StateFrame("status"), time="t").frames()
    >>> runs.select("status", "rows", "closed").orderBy("frame_id").collect()
    [Row(status='on', rows=3, closed=True), Row(status='off', rows=2, closed=False)]

    """

    scheme_cause: ClassVar[str] = "state"
    states: tuple[Any, ...]
    nulls: Nulls
    least: Least | None
    most: Most | None

    @explain_wrong_calls("fl.StateFrame('status', max_gap='5 minutes')")
    def __init__(
        self,
        state: ColumnOrName | Sequence[ColumnOrName],
        *,
        nulls: Nulls = "state",
        min_rows: int = 1,
        min_duration: Duration | None = None,
        max_rows: int | None = None,
        max_duration: Duration | None = None,
        max_gap: Duration | None = None,
    ) -> None:
        states = tuple(state) if isinstance(state, (list, tuple)) else (state,)
        set_fields(
            self,
            states=tuple(_read_state(one) for one in _some(states)),
            nulls=check_choice("nulls", nulls, get_args(Nulls), "known"),
            **read_optional_sizes(min_rows, min_duration, max_rows, max_duration, max_gap),
        )

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What a state consists of."""
        return tuple(Input("state", one, "value of a row") for one in self.states)

    @property
    def shown_inputs(self) -> tuple[Input, ...]:
        """The state is a part of results."""
        return self.inputs

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        null = " or none" if self.nulls == "end" else ""
        return f"at the first row in another state{null}"

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Unique; a partition, unless nulls are left out."""
        return _GUARANTEES[self.nulls]

    def __repr__(self) -> str:
        shown = [one if isinstance(one, str) else str(one) for one in self.states]
        nulls = "" if self.nulls == "state" else f", nulls={self.nulls!r}"
        state = repr(shown[0]) if len(shown) == 1 else repr(shown)
        return f"StateFrame({state}{nulls}{write_sizes(self)})"


def _some(states: Sequence[Any]) -> Sequence[Any]:
    if not states:
        raise refuse("state=[]", "names no column", "write state='status'")
    return states


def _read_state(given: Any) -> Any:
    if isinstance(given, str):
        return check_text("state", given, "state='status'")
    if not is_column(given):
        raise refuse(f"state={given!r}", "is neither a column nor SQL text", "write state='status'")
    return given
