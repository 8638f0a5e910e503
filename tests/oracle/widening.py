"""Progressive widening by the paper's recursion: batches are built and searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.oracle.values import instant, rank

if TYPE_CHECKING:
    from fanlight.engine.spec.widening import ProgressiveWidening

Row = Mapping[str, Any]
Detector = Callable[[list[Row]], Iterable[tuple[Any, Sequence[Row]]]]


@dataclass(frozen=True)
class Searched:
    """One window of one key: its level, its bounds, and the rows that are searched.

    ``runs`` are the same rows, apart where the key has a row between them that was left out.
    """

    key: tuple[Any, ...]
    level: int
    start: int
    end: int
    rows: tuple[Row, ...]
    runs: tuple[tuple[Row, ...], ...]


def widened(
    rows: Iterable[Row],
    spec: ProgressiveWidening,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
) -> list[Searched]:
    """Every window with a row in it (Algorithm 1), in the order in which windows end.

    A batch is combined of those of the level below, and its middle is cut out (Algorithm 2) once a
    window has held all of it: that is at once where two batches make one, since the window of the
    level below is the same two. Otherwise it is each part's middle, and the rest once the batch has
    been the later one of a window.
    """
    keyed: dict[Any, list[Row]] = {}
    for row in rows:
        if row[time] is not None:
            keyed.setdefault(tuple(rank(row[name]) for name in by), []).append(row)
    found: list[Searched] = []
    for _, members in sorted(keyed.items()):
        key = tuple(members[0][name] for name in by)

        def place(row: Row) -> Any:
            return instant(row[time]), tuple(rank(row[name]) for name in tiebreak)

        found += _of_key(key, sorted(members, key=place), spec, time)
    return sorted(found, key=lambda window: (window.end, window.level))


def _of_key(
    key: tuple[Any, ...], rows: list[Row], spec: ProgressiveWidening, time: str
) -> list[Searched]:
    most, found = spec.max_rows, []
    number_of = {id(row): number for number, row in enumerate(rows)}
    batches: dict[int, list[Row]] = {}
    for row in rows:
        batches.setdefault(instant(row[time]) // spec.durations[0], []).append(row)
    for level, duration in enumerate(spec.durations):
        for number in sorted({*batches, *(batch + 1 for batch in batches)}):
            window = _cut(batches.get(number - 1, []), most) + batches.get(number, [])
            start, end = (number - 1) * duration, (number + 1) * duration
            runs = _uncut(window, number_of)
            found.append(Searched(key, level, start, end, tuple(window), runs))
        if level + 1 == len(spec.durations):
            break
        ratio = spec.durations[level + 1] // duration
        wider: dict[int, list[Row]] = {}
        for number in sorted(batches):
            wider.setdefault(number // ratio, []).extend(_cut(batches[number], most))
        if ratio == 2:
            wider = {number: _cut(batch, most) for number, batch in wider.items()}
        batches = wider
    return found


def _cut(batch: list[Row], most: int) -> list[Row]:
    """Algorithm 2: without the middle that no unseen pattern can reach."""
    return batch if len(batch) <= 2 * most else batch[:most] + batch[-most:]


def _uncut(window: list[Row], number_of: Mapping[int, int]) -> tuple[tuple[Row, ...], ...]:
    """The rows of a window in runs that follow one another in the key."""
    runs: list[list[Row]] = []
    for row in window:
        if runs and number_of[id(row)] == number_of[id(runs[-1][-1])] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    return tuple(map(tuple, runs))


def detected(
    rows: Iterable[Row],
    spec: ProgressiveWidening,
    detector: Detector,
    *,
    time: str,
    by: Sequence[str] = (),
    tiebreak: Sequence[str] = (),
    across_cuts: bool = False,
) -> list[dict[str, Any]]:
    """What ``detect`` must return: each match once, by the first window that has it.

    ``detector`` takes a run of a window, or all its rows (``across_cuts``), and gives matches: what
    to report, and the rows that make the match, by which it is known again. First is the window
    that ends first, and of those that end together the one of the lowest level.

    >>> from fanlight.engine.spec.widening import ProgressiveWidening
    >>> rows = [{"t": t, "v": v} for t, v in [(1, "a"), (2, "x"), (6, "b")]]
    >>> def a_then_b(window):
    ...     for i, one in enumerate(window):
    ...         for other in window[i:]:
    ...             if (one["v"], other["v"]) == ("a", "b"):
    ...                 yield "ab", [one, other]
    >>> spec = ProgressiveWidening(1, max_duration=8, max_rows=3)
    >>> detected(rows, spec, a_then_b, time="t")
    [{'level': 2, 'window': {'start': 0, 'end': 8}, 'found_at': 8, 'match': 'ab'}]
    """
    known: set[tuple[int, ...]] = set()
    found = []
    for window in widened(rows, spec, time=time, by=by, tiebreak=tiebreak):
        given = [window.rows] if across_cuts else window.runs
        for match, members in (one for rows in given for one in detector(list(rows))):
            identity = tuple(id(row) for row in members)
            if identity in known:
                continue
            known.add(identity)
            result: dict[str, Any] = dict(zip(by, window.key, strict=True))
            result["level"] = window.level
            result["window"] = {"start": window.start, "end": window.end}
            result["found_at"] = window.end
            result["match"] = match
            found.append(result)
    return found
