"""Which rows of a stream are late, and what that leaves of an answer: written from the sentence.

By default a row is in all of its windows or in none: it is late once the watermark has passed the
end of the window that ends first among all that it is in, of all queries. With ``late="open"`` it
is in those of them that the watermark has not passed. In data-driven windows a row is late once
the watermark has passed its time.

The watermark is the latest time that came before, less its delay; Spark's begins at 1970, and means
nothing until it moves.
"""

from __future__ import annotations

UNMOVED = -(2**63)


def answer(ask, oracle, ends, delay):
    """The oracle's answer over the rows as they arrive; ``ends(ask, row)`` when each is late."""
    arrived = [(row, marks, ends(ask, row)) for row, *marks in _arrived(ask, delay)]
    if ask.late == "drop":
        late = [bool(of) and _passed(min(of), marks) for _, marks, of in arrived]
        kept = zip(arrived, late, strict=True)
        return oracle(ask, [row for (row, _, _), is_late in kept if not is_late])
    found = []
    for end in sorted({end for _, _, of in arrived for end in of}):
        rows = [row for row, marks, of in arrived if end in of and not _passed(end, marks)]
        found += [one for one in oracle(ask, rows) if one.row["window"]["end"] == end]
    return found


def _arrived(ask, delay):
    """Each row with two watermarks: Spark asks by that of the batch before, or of one earlier."""
    time = ask.time if isinstance(ask.time, str) else ask.time[1]
    marks, latest = [UNMOVED, UNMOVED], 0
    for batch in ask.arrivals.pieces:
        for row in batch:
            yield row, marks[-2], marks[-1]
        latest = max([latest, *(row[time] for row in batch if row[time] is not None)])
        marks.append(latest - delay if latest > delay else UNMOVED)


def _passed(end, marks):
    """Whether the watermark has passed an end, surely."""
    passed = {end <= mark for mark in marks}
    assert len(passed) == 1, f"{end} is neither surely late nor surely in time"
    return passed.pop()
