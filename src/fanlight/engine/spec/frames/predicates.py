"""Frames that predicates open and close: threshold frames, and the logical operator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fanlight.engine.spec.arguments import check_flag, read_names
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.frames.base import (
    CONDITION,
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    is_function,
    read_length,
    read_predicate,
    read_sizes,
    set_fields,
    write_sizes,
)
from fanlight.engine.spec.units import Extent
from fanlight.types import Condition, Duration


@dataclass(frozen=True, init=False)
class ThresholdFrame(Frame):
    """A frame is a longest run of rows for which a predicate holds.

    Parameters
    ----------
    predicate
        SQL text or a boolean Column: ``"flsp > 0.2"``, ``"speed < 40"``. A null counts as
        false: it opens no frame, and ends an open one.
    enter_for, leave_for
        A frame begins only if the predicate holds that long, at the first of the rows for which it
        does; and ends only if it fails that long, at the first of the rows for which it does not.
        Rows in between belong to the frame. A run of rows lasts until the row that ends it. A
        duration for a timestamp, a number for a whole-number time.
    leave
        What must hold that long for a frame to end, if it is not that the predicate fails: SQL text
        or a boolean Column. A row for which both hold counts for the predicate.
    min_rows
        Frames of fewer rows are left out.
    min_duration
        Frames that last less are left out: a duration for a timestamp, a number for a whole-number
        time. A frame lasts from its first row to the row that ends it.
    max_rows, max_duration, max_gap
        A frame also ends before the row that would be too many, ``max_duration`` after its first
        row, and ``max_gap`` after its last row if no row has come by then; whichever comes first.
        The next row may open another frame. ``min_rows`` and ``min_duration`` judge what is left.
        What time ends is closed without a further row, in a batch and in a stream. With
        ``enter_for``, limits count from where the predicate began to hold: a run of rows that one
        ends too early is no frame, and after each end the predicate has to hold that long again.

    Raises
    ------
    FanlightError
        If an argument is of the wrong kind or not positive, or if limits leave out every frame. A
        predicate that does not parse, is not boolean or names an unknown column is refused by
        :func:`fanlight.over`.

    See Also
    --------
    Grossniklaus et al., *Frames*, 3.2 (threshold frames) and 5.2.1.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.ThresholdFrame("flsp > 0.2", min_rows=20)
    ThresholdFrame('flsp > 0.2', min_rows=20)
    >>> fl.ThresholdFrame(  # below 54 for 15 minutes begins, above 70 for 15 minutes ends
    ...     "glucose < 54", enter_for="15 minutes", leave="glucose > 70", leave_for="15 minutes"
    ... )
    ThresholdFrame('glucose < 54', enter_for='15 minutes', leave='glucose > 70', \
leave_for='15 minutes')
    >>> sorted(fl.ThresholdFrame("flsp > 0.2").guarantees)
    ['drained', 'non-overlapping', 'separated', 'unique']

    """

    scheme_cause: ClassVar[str] = "predicate"
    predicate: Any
    enter_for: Extent | None
    leave_for: Extent | None
    leave: Any
    least: Least
    most: Most | None

    @explain_wrong_calls("fl.ThresholdFrame('speed > 50', min_rows=5)")
    def __init__(
        self,
        predicate: Condition,
        *,
        enter_for: Duration | None = None,
        leave_for: Duration | None = None,
        leave: Condition | None = None,
        min_rows: int = 1,
        min_duration: Duration | None = None,
        max_rows: int | None = None,
        max_duration: Duration | None = None,
        max_gap: Duration | None = None,
    ) -> None:
        sizes = read_sizes(min_rows, min_duration, max_rows, max_duration, max_gap)
        set_fields(
            self,
            predicate=read_predicate("predicate", predicate),
            enter_for=read_length("enter_for", enter_for),
            leave_for=read_length("leave_for", leave_for),
            leave=None if leave is None else read_predicate("leave", leave),
            **sizes,
        )
        if self.enter_for and self.most:
            _check_can_enter(self.enter_for, self.most)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The predicate, and what ends a frame if that is another."""
        read = Input("predicate", self.predicate, CONDITION)
        return (read,) if self.leave is None else (read, Input("leave", self.leave, CONDITION))

    @property
    def dwells(self) -> bool:
        """Whether rows to come decide where a frame begins or ends."""
        return not (self.enter_for is None and self.leave_for is None and self.leave is None)

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        what = "the predicate does not hold"
        what = what if self.leave is None else f"'leave' holds and {what}"
        row = f"at the first row for which {what}"
        return row + (f", if that lasts {self.leave_for}" if self.leave_for else "")

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Unique (Lemma 1), drained (Proposition 1), with a row between any two frames."""
        if self.dwells:
            return frozenset({"unique", "non-overlapping", "separated"})
        return frozenset({"unique", "drained", "non-overlapping", "separated"})

    def __repr__(self) -> str:
        given = {"enter_for": self.enter_for, "leave": self.leave, "leave_for": self.leave_for}
        more = [
            f", {name}={one if isinstance(one, Extent) else repr(one)}"
            for name, one in given.items()
            if one is not None
        ]
        return f"ThresholdFrame({self.predicate!r}{''.join(more)}{write_sizes(self)})"


def _check_can_enter(enter_for: Extent, most: Most) -> None:
    """Refuse limits that end each run of rows before it has lasted long enough."""
    longest = most.duration
    if longest and longest.measure == enter_for.measure and longest.value <= enter_for.value:
        limit, instead = f"max_duration={longest}", "a longer max_duration"
    elif most.rows == 1:
        limit, instead = "max_rows=1", "max_rows=2 or more"
    else:
        return
    raise refuse(
        f"{limit}, enter_for={enter_for}",
        "leaves out every frame: none can last long enough before that limit ends it",
        f"write {instead}, or leave enter_for out",
    )


def _check_arguments(argument: str, function: Any, given: str) -> None:
    """Refuse a function that cannot be called with two arguments; of some nothing is known."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    try:
        signature.bind(None, None)
    except TypeError:
        raise refuse(
            f"{argument}={getattr(function, '__name__', function)}{signature}",
            "is called with two arguments: the row, and what it keeps",
            f"write {argument} as a function of {given}",
        ) from None


@dataclass(frozen=True, init=False)
class PredicateFrame(Frame):
    """The paper's logical operator, for a scheme of your own: when to open, when to close.

    For each row, in order: if a frame is open and ``close`` holds, it ends before the row; if a
    frame is then still open, the row joins it; if none is open and ``open`` holds, the row begins
    one.

    With ``overlapping=True`` any number of frames may be open, each with a state of its own. For
    each row, in order: each open frame for which ``close`` holds ends before the row; the row joins
    those that are then still open; if ``open`` holds, the row begins one more beside them.
    ``frame_id`` counts frames in the order in which they end; those that end at one row in the
    order in which they began.

    Parameters
    ----------
    open, close
        Both SQL text or Columns (``open="speed > 50"``, ``close="speed < 30"``: hysteresis; fast),
        or both Python functions of ``(row, state)``, called row by row in the workers: ``row`` has
        ``columns`` as attributes and by name (``row["net load"]``), and ``state`` is the dict that
        ``update`` returned last. A null counts as false.
    columns
        The columns that the functions read.
    update
        A function of ``(row, state)`` that returns the state after a row has joined (or begun) a
        frame. The state is a dict with strings as keys, of None, booleans, numbers, strings, lists
        and such dicts; no tuples or values of numpy, which would not come back from a checkpoint as
        they were. It is empty when a frame opens.
    overlapping
        Several frames may be open at once; for Python functions. ``open`` is then a function of
        ``(row, states)``: the states of the frames that the row has joined, the oldest first, so
        that ``not states`` says that none is open. A row costs time, and a stream keeps state, for
        each open frame.
    min_rows, min_duration, max_rows, max_duration, max_gap
        The least and the greatest size of a frame, as for :class:`ThresholdFrame`.

    Raises
    ------
    FanlightError
        If ``open`` and ``close`` are not of one kind, functions come without ``columns``, or
        frames of SQL text are to overlap.

    See Also
    --------
    Grossniklaus et al., *Frames*, 5.1 (PROCESSTUPLE: p_close, p_update, p_open).

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.PredicateFrame(open="speed > 50", close="speed < 30")
    PredicateFrame(open='speed > 50', close='speed < 30')
    >>> def open_trial(row, trials):  # one at each dose, but no more than three at once
    ...     return row.dose > 0 and len(trials) < 3
    >>> def close_trial(row, trial):  # each is over after 20 readings of its own
    ...     return trial["readings"] == 20
    >>> def count_readings(row, trial):
    ...     return {"readings": trial.get("readings", 0) + 1}
    >>> fl.PredicateFrame(
    ...     open_trial, close_trial, columns=["dose"], update=count_readings, overlapping=True
    ... )
    PredicateFrame(open='open_trial', close='close_trial', overlapping=True)

    """

    scheme_cause: ClassVar[str] = "predicate"
    open: Any
    close: Any
    columns: tuple[str, ...]
    update: Any
    overlapping: bool
    least: Least
    most: Most | None

    @explain_wrong_calls("fl.PredicateFrame(open='speed > 50', close='speed < 30')")
    def __init__(
        self,
        open: Condition | Callable[..., Any],
        close: Condition | Callable[..., Any],
        *,
        columns: Sequence[str] = (),
        update: Callable[..., Any] | None = None,
        overlapping: bool = False,
        min_rows: int = 1,
        min_duration: Duration | None = None,
        max_rows: int | None = None,
        max_duration: Duration | None = None,
        max_gap: Duration | None = None,
    ) -> None:
        named = read_names("PredicateFrame: columns", columns, "columns=['speed']")
        check_flag("overlapping", overlapping)
        functions = [is_function(given) for given in (open, close)]
        if any(functions) and not all(functions):
            raise refuse(
                "PredicateFrame",
                "mixes a Python function with SQL",
                "write open and close both as SQL text, or both as functions of (row, state)",
            )
        if all(functions) and not named:
            raise refuse(
                f"PredicateFrame(columns={columns!r})",
                "does not say which columns its functions read",
                "write columns=['speed']",
            )
        if not all(functions) and (update is not None or named):
            raise refuse(
                "PredicateFrame with update= or columns=",
                "has no Python functions to use them",
                "write open and close as functions of (row, state), or leave update out",
            )
        if update is not None and not is_function(update):
            raise refuse(
                f"update={update!r}", "is not a function", "write a function of (row, state)"
            )
        if all(functions):
            states = "states" if overlapping else "state"
            _check_arguments("open", open, f"(row, {states})")
            _check_arguments("close", close, "(row, state)")
        if update is not None:
            _check_arguments("update", update, "(row, state)")
        if not all(functions) and overlapping:
            raise refuse(
                f"PredicateFrame(open={open!r}, close={close!r}, overlapping=True)",
                "is SQL on the row alone, so close would end all open frames at once",
                "write close as a function of (row, state) and open as one of (row, states), with "
                "columns=['speed'], or leave overlapping out",
            )
        if not all(functions):
            open, close = read_predicate("open", open), read_predicate("close", close)
        set_fields(
            self,
            open=open,
            close=close,
            columns=named,
            update=update,
            overlapping=overlapping,
            **read_sizes(min_rows, min_duration, max_rows, max_duration, max_gap),
        )

    @property
    def by_function(self) -> bool:
        """Whether Python functions decide, row by row."""
        return bool(self.columns)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The two predicates, or the columns that the functions read."""
        if self.by_function:
            return tuple(Input("columns", name) for name in self.columns)
        return Input("open", self.open, CONDITION), Input("close", self.close, CONDITION)

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        if self.overlapping:
            return "when the function close says so of it; several frames may be open at once"
        if self.by_function:
            return "when the function close says so"
        return "at the first row for which close holds"

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Frames overlap if they may, and otherwise do not; more depends on the predicates."""
        if self.overlapping:
            return frozenset({"overlapping"})
        return frozenset({"unique", "non-overlapping"})

    def __repr__(self) -> str:
        shown = [given if isinstance(given, str) else getattr(given, "__name__", str(given))
                 for given in (self.open, self.close)]  # fmt: skip
        more = (", overlapping=True" if self.overlapping else "") + write_sizes(self)
        return f"PredicateFrame(open={shown[0]!r}, close={shown[1]!r}{more})"
