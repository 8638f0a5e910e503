"""Frames by brute force: candidates from the local condition, final frames from the global ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fanlight.engine.spec.frames import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    Frame,
    PatternFrame,
    PredicateFrame,
    Session,
    StateFrame,
    ThresholdFrame,
)
from tests.oracle import aggregates as functions
from tests.oracle.framings import Local, Pair, candidates, chain, maximal
from tests.oracle.patterns import Mapped, matches
from tests.oracle.values import instant, is_finite, is_nan, rank

Row = Mapping[str, Any]
Request = Sequence[Any]
Holds = Mapping[Any, Callable[[Row], Any]]
MICROSECONDS = 1_000_000
CARRIED = "a state that is carried"  # a column of rows


@dataclass(frozen=True)
class Framed:
    """A frame of one key: its bounds, its number, its rows in order, whether a row closes it."""

    key: tuple[Any, ...]
    start: int
    end: int
    number: int
    rows: tuple[Row, ...]
    closed: bool
    labels: tuple[tuple[str | None, bool], ...] = ()  # of a match: each row's variable, if shown

    @property
    def origin(self) -> int:
        """Where a fit over time starts."""
        return self.start


def framed(
    rows: Iterable[Row],
    spec: Frame,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    values: Sequence[str] = (),
    holds: Holds | None = None,
) -> list[Framed]:
    """Every final frame with its rows, sorted by key and number.

    ``holds`` says of all SQL text in ``spec`` what it is in Python: of a predicate whether it
    holds, of a row's own gap how long it is, in microseconds or the units of a numeric time;
    ``values`` are the arguments of the aggregates, which decide between rows alike in all else.
    """
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if row[time] is not None and is_finite(row[time]) and _counts(row, spec, holds or {}):
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found = []
    for _, members in sorted(keyed.items()):
        ordered = sorted(
            members, key=lambda row: _place(row, spec, time, tiebreak, values, holds or {})
        )
        if isinstance(spec, StateFrame) and spec.nulls == "carry":
            ordered = list(_carried(ordered, spec, holds or {}))
        times = [instant(row[time]) for row in ordered]
        key = tuple(ordered[0][name] for name in by)
        if isinstance(spec, PatternFrame):
            found += _matches(key, ordered, times, spec, holds or {})
            continue
        if isinstance(spec, Session):
            gaps = [_gap(row, spec, holds or {}) for row in ordered]
            every = [(*one, True) for one in _sessions(times, gaps, spec)]
        elif isinstance(spec, PredicateFrame) and spec.overlapping:
            every = _beside_each_other(ordered, times, spec)
        elif spec.most:
            if isinstance(spec, ThresholdFrame) and spec.dwells:
                cut_short = _cut_short_dwelling
            elif isinstance(spec, BoundaryFrame) and spec.overlapping:
                cut_short = _cut_short_in_two_cells
            else:
                cut_short = _cut_short
            every = list(cut_short(ordered, times, spec, holds or {}))
        else:
            every = []
            for i, j in FRAMINGS[type(spec)](ordered, times, spec, holds or {}):
                closed = j < len(ordered)
                every.append((i, j, times[j] if closed else times[-1] + 1, closed))
        large = [one for one in every if _large(times[one[0]], *one[:3], spec)]
        found += [
            Framed(key, times[i], end, number, tuple(ordered[i:j]), closed)
            for number, (i, j, end, closed) in enumerate(large)
        ]
    return found


def _matches(
    key: tuple[Any, ...], rows: Sequence[Row], times: Sequence[int], spec: PatternFrame,
    holds: Holds,
) -> Iterator[Framed]:  # fmt: skip
    """The matches of a pattern, which ``holds`` gives as a tree; time goes on to the end.

    A definition that asks for other rows is a function of all rows and of what is mapped.
    """
    defined = dict(zip(spec.variables, spec.definitions, strict=True))

    def is_a(name: str, row: int, mapped: Mapped) -> bool:
        one = defined[name]
        if one is None:
            return True
        held: Any = holds[one.given]
        told = held(rows[row]) if one.plain else held(rows, (*mapped, (row, name, True)))
        return told is True

    duration = spec.most.duration if spec.most else None
    found = matches(
        holds[spec.pattern],  # type: ignore[arg-type]
        times,
        is_a,
        within=None if duration is None else int(duration.value),
        max_rows=spec.most.rows if spec.most else None,
        after=spec.after_match,
        only_first=spec.matches == "first",
        now=math.inf if duration is not None else -math.inf,
    )
    for number, match in enumerate(found):
        start, end = times[match.begin], times[match.end - 1] + 1
        if match.timed and duration is not None:
            end = start + int(duration.value)
        labels = tuple((name, shown) for _, name, shown in match.mapped)
        members = tuple(rows[match.begin : match.end])
        yield Framed(key, start, end, number, members, match.closed, labels)


def frames(
    rows: Iterable[Row],
    spec: Frame,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    aggregates: Mapping[str, Request] | None = None,
    holds: Holds | None = None,
    unfinished: bool = True,
) -> list[dict[str, Any]]:
    """What ``fl.over(rows, spec, …).agg(…)`` must return; without ``unfinished``, in a stream.

    >>> from fanlight.engine.spec import DeltaFrame
    >>> rows = [{"t": t, "v": v} for t, v in enumerate([0, 1, 5, 6])]
    >>> for row in frames(rows, DeltaFrame({"v": 3}), time="t"):
    ...     print(row)
    {'window': {'start': 0, 'end': 2}, 'frame_id': 0, 'rows': 2, 'closed': True}
    {'window': {'start': 2, 'end': 4}, 'frame_id': 1, 'rows': 2, 'closed': False}
    """
    requests = {name: functions.split(request) for name, request in (aggregates or {}).items()}
    columns = [column for _, names, _ in requests.values() for column in names]
    where = {"time": time, "by": by, "tiebreak": tiebreak}
    results = []
    for frame in framed(rows, spec, values=columns, holds=holds, **where):  # type: ignore[arg-type]
        if not (frame.closed or unfinished):
            continue
        result: dict[str, Any] = dict(zip(by, frame.key, strict=True))
        result["window"] = {"start": frame.start, "end": frame.end}
        result |= {"frame_id": frame.number, "rows": len(frame.rows), "closed": frame.closed}
        if isinstance(spec, StateFrame):
            states = [_state(row, spec, holds or {}) for row in frame.rows]
            for name in states[0]:
                values = (state[name] for state in states if state[name] is not None)
                result[name] = next(values, None)
        for name, (function, names, options) in requests.items():
            view = functions.Rows(
                columns=[tuple(row[column] for column in names) for row in frame.rows],
                places=[
                    (instant(row[time]), *(rank(row[n]) for n in tiebreak)) for row in frame.rows
                ],
                times=[instant(row[time]) for row in frame.rows],
                start=frame.start,
                unit=MICROSECONDS,
            )
            result[name] = functions.evaluate(function, view, options)
        results.append(result)
    return results


def _place(
    row: Row,
    spec: Frame,
    time: str,
    tiebreak: Sequence[str],
    values: Sequence[str],
    holds: Holds,
) -> tuple[Any, ...]:
    """Time, tiebreaks, what is framed, then the aggregates' arguments."""
    if isinstance(spec, ThresholdFrame):
        cut = [holds[spec.predicate](row)]
        cut += [] if spec.leave is None else [holds[spec.leave](row)]
    elif isinstance(spec, PredicateFrame) and not spec.by_function:
        cut = [holds[spec.open](row), holds[spec.close](row)]
    elif isinstance(spec, StateFrame):
        cut = list(_state(row, spec, holds).values())
    elif isinstance(spec, PatternFrame):
        texts = [text for text in spec.computed if not text.isdecimal()]
        cut = [row[text] if text in row else holds[text](row) for text in texts]
    else:
        cut = [row[name] for name in _names(spec)]
    if isinstance(spec, AggregateFrame):
        texts = [text for formula in spec.formulas for text in formula.rows]
        cut += [holds[text](row) if text in holds else row[text] for text in texts]
    ranks = [rank(row[name]) for name in tiebreak]
    return (instant(row[time]), *ranks, *map(rank, cut), *(rank(row[name]) for name in values))


def _gap(row: Row, spec: Session, holds: Holds) -> Any:
    """How long a row keeps its session open."""
    return holds[spec.own_gap](row) if spec.gap is None else spec.gap.value


def _counts(row: Row, spec: Frame, holds: Holds) -> bool:
    """Whether a row has a place at all: one whose own gap is null or not positive has none."""
    if not isinstance(spec, Session):
        return True
    gap = _gap(row, spec, holds)
    return gap is not None and gap > 0


def _sessions(
    times: Sequence[int], gaps: Sequence[Any], spec: Session
) -> Iterator[tuple[int, int, int]]:
    """From each start the longest stretch of rows without a gap: the rows ``i`` to ``j - 1``.

    Each row but the first is no later than the end of an earlier one's gap, and all of them are
    earlier than the longest duration after the first. The end is the latest end of a gap, or that
    duration after the first row.
    """
    i = 0
    while i < len(times):
        until = times[i] + spec.max_duration.value if spec.max_duration else math.inf
        most = (spec.most and spec.most.rows) or len(times)
        ends = [time + gap for time, gap in zip(times, gaps, strict=True)]
        j = max(
            b
            for b in range(i + 1, min(i + most, len(times)) + 1)
            if all(times[k] < until and times[k] <= max(ends[i:k]) for k in range(i + 1, b))
        )
        end = int(min(until, max(ends[i:j])))
        yield i, j, end if j == len(times) else min(end, times[j])
        i = j


def _cut_short(
    rows: Sequence[Row], times: Sequence[int], spec: Frame, holds: Holds
) -> Iterator[tuple[int, int, int, bool]]:
    """Frames with a greatest size: the first row of a frame says which rows may still be in it.

    What a row that may not be there begins is the framing of that row and those after it. A frame
    ends at the row after its last one, or when its time is over, whichever is earlier.
    """
    at = 0
    sizes: list[int] = []
    while at < len(rows):
        since = (rows[at:], times[at:], spec, holds)
        if isinstance(spec, AggregateFrame) and spec.formulas:
            rest = _calculated(*since, before=rows[:at], sizes=sizes)
        else:
            rest = FRAMINGS[type(spec)](*since)
        if not rest:
            return
        i, j = (place + at for place in rest[0])
        at = _last_that_fits(times, i, j, spec)
        sizes.append(at - i)
        yield _ended(times, i, at, spec)


def _cut_short_dwelling(
    rows: Sequence[Row], times: Sequence[int], spec: ThresholdFrame, holds: Holds
) -> Iterator[tuple[int, int, int, bool]]:
    """The limits count from where the predicate began to hold, and no row beyond them has a say.

    So what becomes of that row is what becomes of it if no others come than those within limits.
    """
    at = 0
    while at < len(rows):
        if not holds[spec.predicate](rows[at]):
            at += 1
            continue
        j = _last_that_fits(times, at, len(rows), spec)
        found = [pair for pair in _threshold(rows[at:j], times[at:j], spec, holds) if pair[0] == 0]
        if found:
            begun, at = at, at + found[0][1]
            yield _ended(times, begun, at, spec)
        else:
            failing = (k for k in range(at, j) if not holds[spec.predicate](rows[k]))
            at = next(failing, j)


def _cut_short_in_two_cells(
    rows: Sequence[Row], times: Sequence[int], spec: BoundaryFrame, holds: Holds
) -> Iterator[tuple[int, int, int, bool]]:
    """Where a limit ends a frame, all begins anew with the next row, as if it were the first."""
    at = 0
    while at < len(rows):
        since = at
        at = len(rows)
        for one in _maximal(rows[since:], times[since:], spec, holds):
            i, j = (place + since for place in one)
            last = _last_that_fits(times, i, j, spec)
            yield _ended(times, i, last, spec)
            if last < j or (j < len(rows) and not _in_time(times, i, j, spec)):
                at = last
                break


def _in_time(times: Sequence[int], i: int, j: int, spec: Frame) -> bool:
    """Whether the row ``j`` comes before time ends the frame of the rows ``i`` to ``j - 1``."""
    return times[j] < times[i] + _longest(spec) and times[j] <= times[j - 1] + _gap_of(spec)


def _last_that_fits(times: Sequence[int], i: int, j: int, spec: Frame) -> int:
    """The row after the last one, up to ``j - 1``, that may be in the frame that ``i`` begins."""
    rows = spec.most.rows if spec.most and spec.most.rows else len(times)
    return max(
        k for k in range(i + 1, min(j, i + rows) + 1)
        if all(_in_time(times, i, m, spec) for m in range(i + 1, k))
    )  # fmt: skip


def _ended(times: Sequence[int], i: int, j: int, spec: Frame) -> tuple[int, int, int, bool]:
    """The frame of the rows ``i`` to ``j - 1``, which time ends or the row after it."""
    over = min(times[i] + _longest(spec), times[j - 1] + _gap_of(spec))
    end = min(over, times[j]) if j < len(times) else over
    closed = end < math.inf
    return i, j, int(end) if closed else times[-1] + 1, closed


def _longest(spec: Frame) -> float:
    return spec.most.duration.value if spec.most and spec.most.duration else math.inf


def _gap_of(spec: Frame) -> float:
    return spec.most.gap.value if spec.most and spec.most.gap else math.inf


def _names(spec: Frame) -> list[str]:
    """The columns that a scheme reads; what SQL computes has no name."""
    return [read.given for read in spec.inputs if not read.sql]


def _maximal(rows: Sequence[Row], times: Sequence[int], spec: Frame, holds: Holds) -> list[Pair]:
    """All that no other candidate contains."""
    del times
    return sorted(maximal(candidates(len(rows), local_condition(rows, spec, holds))))


def _threshold(
    rows: Sequence[Row], times: Sequence[int], spec: ThresholdFrame, holds: Holds
) -> list[Pair]:
    """Runs of rows for which the predicate holds; or from one that lasts to one that fails so."""
    if not spec.dwells:
        return _maximal(rows, times, spec, holds)
    size = len(rows)
    enters = [bool(holds[spec.predicate](row)) for row in rows]
    leaves = [not held for held in enters]
    if spec.leave is not None:
        leaves = [bool(holds[spec.leave](row)) and not held
                  for row, held in zip(rows, enters, strict=True)]  # fmt: skip

    def lasting(held: Sequence[bool], least: int, length: Any) -> tuple[int, int] | None:
        """The first run from a row on that lasts: until the row after it, or the last of all."""
        for i in range(least, size):
            if held[i] and (i == least or not held[i - 1]):
                j = next((k for k in range(i, size) if not held[k]), size)
                if times[min(j, size - 1)] - times[i] >= (length.value if length else 0):
                    return i, j
        return None

    found: list[Pair] = []
    at = 0
    while (begun := lasting(enters, at, spec.enter_for)) is not None:
        ended = lasting(leaves, begun[0] + 1, spec.leave_for) or (size, size)
        found.append((begun[0], ended[0]))
        at = ended[0]
    return found


def _state(row: Row, spec: StateFrame, holds: Holds) -> dict[str, Any]:
    """The state of a row, by the names that Spark gives to what it consists of."""
    if CARRIED in row:
        carried: dict[str, Any] = row[CARRIED]
        return carried
    return {
        f"({given})" if given in holds else given: holds[given](row) if given in holds
        else row[given]
        for given in spec.states
    }  # fmt: skip


def _carried(rows: Sequence[Row], spec: StateFrame, holds: Holds) -> Iterator[Row]:
    """Rows in order, each with the last state so far; of each column the last that is not null."""
    last: dict[str, Any] = {}
    for row in rows:
        now = _state(row, spec, holds)
        last = {name: last.get(name) if now[name] is None else now[name] for name in now}
        yield {**row, CARRIED: last}


def _in_states(
    rows: Sequence[Row], times: Sequence[int], spec: StateFrame, holds: Holds
) -> list[Pair]:
    """The longest runs of rows that have one state, from the first row on that has one."""
    del times
    states = [tuple(map(rank, _state(row, spec, holds).values())) for row in rows]
    if spec.nulls == "state":
        known = [True] * len(rows)
    else:
        known = [None not in _state(row, spec, holds).values() for row in rows]
    skipped = spec.nulls == "skip"

    def together(i: int, j: int) -> bool:
        there = [k for k in range(i, j) if known[k]]
        complete = known[i] if skipped else len(there) == j - i
        return complete and len({states[k] for k in there}) == 1

    return sorted(chain(candidates(len(rows), together), longest=True))


def _chained(
    rows: Sequence[Row], times: Sequence[int], spec: DeltaFrame | AggregateFrame, holds: Holds
) -> list[Pair]:
    """Candidates one after the other, each the longest or the shortest from its start."""
    if isinstance(spec, AggregateFrame) and spec.formulas:
        return _calculated(rows, times, spec, holds)
    del times
    size = len(rows)
    every = candidates(size, local_condition(rows, spec, holds))
    if not spec.include_crossing:
        return sorted(chain(every, longest=True))
    return _shortest(every, [i for i in range(size) if _some(rows[i], spec)], size)


def _shortest(every: frozenset[Pair], starts: Sequence[int], size: int) -> list[Pair]:
    """Case b: from each start the shortest candidate; what the last one lacks is still to come."""
    found: list[Pair] = []
    for start in starts:
        if found and start < found[-1][1]:
            continue
        found.append((start, min((j for i, j in every if i == start), default=size)))
    return found


def _calculated(
    rows: Sequence[Row],
    times: Sequence[int],
    spec: AggregateFrame,
    holds: Holds,
    before: Sequence[Row] = (),
    sizes: Sequence[int] = (),
) -> list[Pair]:
    """Frames whose limits rows, or the rows and frames before, decide: one after the other.

    ``before`` are rows of the key before these, and ``sizes`` the numbers of rows of its frames.
    """
    del times
    found: list[Pair] = []
    counts = list(sizes)
    past = [*before, *rows]
    at = 0
    while at < len(rows):
        i = at
        at += 1
        if not _some(rows[i], spec):
            continue
        taken: dict[Any, Any] = {}
        end = len(rows)
        for j in range(i + 1, len(rows) + 1):
            if not _some(rows[j - 1], spec):
                continue
            seen = [past[: len(before) + i], past[: len(before) + j]]
            limits = [
                limit if isinstance(limit, Fraction)
                else _limit_of(rows[j - 1], (call, limit.text), seen, counts, taken, holds)
                for call, limit in zip(spec.aggregates, spec.limits, strict=True)
            ]  # fmt: skip
            if _reaches(rows[i:j], spec, limits):
                end = j if spec.include_crossing else j - 1
                break
        if end > i:
            found.append((i, end))
            counts.append(end - i)
            at = end
    return found


def _limit_of(
    row: Row,
    asked: tuple[Any, Any],
    seen: Sequence[Sequence[Row]],
    counts: Sequence[int],
    taken: dict[Any, Any],
    holds: Holds,
) -> Any:
    """The limit of an aggregate at a row.

    ``seen`` are the rows before the frame, and those up to this row. A mean that is known is
    ``taken`` for the frame: it is that of the rows before it, or else that of the rows so far.
    """
    call, text = asked
    if text not in holds:
        return row[text]
    if "mean" not in text:
        return holds[text](row)

    def mean(what: str, last: int, least: int) -> Any:
        for past in seen:
            if taken.get((text, call.label, what, last, least)) is None:
                values = [one[call.columns[0]] for one in past] if what == "value" else counts
                values = [float(one) for one in values if _known(one)]
                if len(values) >= max(least, 1):
                    fading = [(1 - 2 / (last + 1)) ** k for k in range(min(last, len(values)))]
                    total = sum(f * x for f, x in zip(fading, reversed(values), strict=False))
                    taken[text, call.label, what, last, least] = total / sum(fading)
        return taken.get((text, call.label, what, last, least))

    ask: Any = holds[text]
    rows_of = lambda last, least=1: mean("rows", last, least)  # noqa: E731
    value_of = lambda last, least=1: mean("value", last, least)  # noqa: E731
    return ask(row, rows_of, value_of)


def _large(start: int, i: int, j: int, end: int, spec: Frame) -> bool:
    """Whether the frame of the rows ``i`` to ``j - 1`` is as large as it must be."""
    least = spec.least
    if least is None:
        return True
    lasting = least.duration is None or end - start >= least.duration.value
    return j - i >= least.rows and lasting


def local_condition(  # noqa: PLR0911 - a condition a scheme
    rows: Sequence[Row], spec: Frame, holds: Holds
) -> Local:
    """The local condition of a scheme: whether rows ``i`` to ``j - 1`` may be a frame."""
    if isinstance(spec, ThresholdFrame):
        return lambda i, j: all(holds[spec.predicate](row) for row in rows[i:j])
    if isinstance(spec, BoundaryFrame):
        cells = [_cell(row, spec) for row in rows]
        if spec.overlapping:
            return lambda i, j: _neighbours(cells[i:j])
        return lambda i, j: None not in cells[i:j] and len(set(cells[i:j])) == 1
    if isinstance(spec, DeltaFrame):
        if spec.include_crossing:
            return lambda i, j: _changed(rows[i:j], spec)
        return lambda i, j: _some(rows[i], spec) and not _changed(rows[i:j], spec)
    if isinstance(spec, AggregateFrame):
        if spec.include_crossing:
            return lambda i, j: _reaches(rows[i:j], spec)
        # The frame must stay below the limit all along, also where the value could fall again.
        return lambda i, j: (
            _some(rows[i], spec) and not any(_reaches(rows[i:k], spec) for k in range(i + 1, j + 1))
        )
    msg = f"{spec!r} has no local condition"
    raise TypeError(msg)


def _known(value: Any) -> bool:
    return value is not None and not is_nan(value)


def _some(row: Row, spec: Frame) -> bool:
    """Whether a row can open a frame: it has a value that counts."""
    if isinstance(spec, AggregateFrame):
        return any(
            all(
                row[c] is not None and (call.aggregate.name in _BY_NULL or not is_nan(row[c]))
                for c in call.columns
            )
            for call in spec.aggregates
        )
    return any(_known(row[name]) for name in _names(spec))


_BY_NULL = ("count", "count_distinct", "approx_count_distinct")  # to these a NaN is a value


MOST_CELLS = 4_500_000_000_000_000  # doubles tell no more multiples of a width apart


def _cell(row: Row, spec: BoundaryFrame) -> tuple[int, ...] | None:
    """The cell ``(lo, hi]`` of a row in each dimension, found by its boundaries."""
    found = []
    for name, given in spec.cells:
        value = row[name]
        if not _known(value) or (not isinstance(given, tuple) and not is_finite(value)):
            return None
        if isinstance(given, tuple):
            found.append(sum(1 for edge in given if _edge(edge, value) < value))
            continue
        n = math.ceil(Fraction(value) / given)
        if isinstance(value, float):  # boundaries are doubles: n * width, rounded
            width = _edge(given, value)
            if abs(Fraction(value)) >= MOST_CELLS * given:
                return None
            n = min(m for m in range(n - 2, n + 3) if value <= m * width)
        found.append(n)
    return tuple(found)


def _edge(edge: Fraction, value: Any) -> Any:
    """A boundary as the values' type has it; one beyond all doubles stays what it is."""
    doubles = isinstance(value, float) and abs(edge) < 2**1023
    return float(edge) if doubles else edge


def _neighbours(cells: Sequence[tuple[int, ...] | None]) -> bool:
    numbers = {cell[0] for cell in cells if cell is not None}
    return None not in cells and max(numbers) - min(numbers) <= 1


def _changed(rows: Sequence[Row], spec: DeltaFrame) -> bool:
    """Whether some attribute has changed by its delta within the rows."""
    for name, delta in spec.deltas:
        values = [row[name] for row in rows if _known(row[name])]
        since = values[:1] if spec.against == "first" else values
        if any(_apart(a, b, delta, spec) for a in since for b in values):
            return True
    return False


def _apart(a: Any, b: Any, delta: Fraction, spec: DeltaFrame) -> bool:
    if isinstance(a, float):
        change, most = abs(a - b), float(delta)
    else:
        change, most = abs(Fraction(a) - Fraction(b)), delta
    return bool(change > most if spec.strict else change >= most)


def _reaches(
    rows: Sequence[Row], spec: AggregateFrame, limits: Sequence[Any] | None = None
) -> bool:
    """Whether some aggregate over the rows has reached its limit, or has gone beyond it."""
    for call, limit in zip(spec.aggregates, limits or spec.limits, strict=True):
        name = call.aggregate.name
        name = "count_distinct" if name == "approx_count_distinct" else name
        given = [tuple(row[column] for column in call.columns) for row in rows]
        if name not in _BY_NULL:
            given = [row if _known(row[0]) else (None,) for row in given]
        places = list(range(len(given)))
        view = functions.Rows(given, places, places, 0, 1)
        value = functions.evaluate(name, view, ())
        if value is None or is_nan(value) or not _known(limit):
            continue
        if name in _BY_NULL and value == 0:
            continue
        if spec.absolute:
            value = abs(value)
        if spec.strict and value == limit:
            continue
        if value <= limit if spec.below else value >= limit:
            return True
    return False


def _processed(
    rows: Sequence[Row], times: Sequence[int], spec: PredicateFrame, holds: Holds
) -> list[Pair]:
    """PROCESSTUPLE of the paper's section 5.1, row by row."""
    del times
    if spec.by_function:
        opens, closes = spec.open, spec.close
    else:
        opens = lambda row, _: holds[spec.open](row)  # noqa: E731 - as the spec's own are
        closes = lambda row, _: holds[spec.close](row)  # noqa: E731
    found: list[Pair] = []
    start: int | None = None
    state: Any = {}
    for at, row in enumerate(rows):
        seen = _Attributes(row)
        if start is not None and closes(seen, state):
            found.append((start, at))
            start, state = None, {}
        elif start is not None and spec.update is not None:
            state = spec.update(seen, state)
        if start is None and opens(seen, state):
            start = at
            state = spec.update(seen, state) if spec.update is not None else {}
    if start is not None:
        found.append((start, len(rows)))
    return found


def _beside_each_other(
    rows: Sequence[Row], times: Sequence[int], spec: PredicateFrame
) -> list[tuple[int, int, int, bool]]:
    """The frames of which several may be open, in the order in which they end.

    What becomes of a frame depends on its first row alone; whether a row begins one, on the states
    of the frames that have it, too.
    """
    lives: list[tuple[tuple[int, int, int, bool], list[Any]]] = []
    for at, row in enumerate(rows):
        states = [states[at - i] for (i, j, *_), states in lives if j > at]
        if spec.open(_Attributes(row), states):
            lives.append(_life(rows, times, at, spec))
    return sorted((life for life, _ in lives), key=lambda life: (life[1], life[2], life[0]))


def _life(
    rows: Sequence[Row], times: Sequence[int], at: int, spec: PredicateFrame
) -> tuple[tuple[int, int, int, bool], list[Any]]:
    """The frame that a row begins: first row, row that ends it, end, closed; its states by row."""
    most = spec.most
    longest = most.duration.value if most and most.duration else math.inf
    gap = most.gap.value if most and most.gap else math.inf
    count = most.rows if most and most.rows else math.inf
    states: list[Any] = []
    for j in range(at, len(rows) + 1):
        over = min(times[at] + longest, times[j - 1] + gap) if j > at else math.inf
        if j == len(rows):
            closed = over < math.inf
            return (at, j, int(over) if closed else times[-1] + 1, closed), states
        seen = _Attributes(rows[j])
        late = times[j] >= times[at] + longest or (j > at and times[j] > times[j - 1] + gap)
        if j > at and (late or j - at >= count or spec.close(seen, states[-1])):
            return (at, j, int(min(over, times[j])), True), states
        before = states[-1] if states else {}
        states.append(spec.update(seen, before) if spec.update else before)
    raise AssertionError


class _Attributes(dict[str, Any]):
    """A row whose columns are attributes, too."""

    __getattr__ = dict.__getitem__


# The final framing of one key's rows in order, whose times are also given; the last frame may be
# one that no row closes. Sessions have ends of their own: see ``framed``.
FRAMINGS: dict[type[Frame], Callable[[Sequence[Row], Sequence[int], Any, Holds], list[Pair]]] = {
    ThresholdFrame: _threshold,
    PredicateFrame: _processed,
    BoundaryFrame: _maximal,
    DeltaFrame: _chained,
    StateFrame: _in_states,
    AggregateFrame: _chained,
}
