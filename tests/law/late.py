"""Which rows of a stream are late, and what that leaves of an answer: written from the sentence.

By default a row is in all of its windows or in none: it is late once the watermark has passed the
end of the window that ends first among all that it is in, of all queries. With ``late="open"`` it
is in those of them that the watermark has not passed. In data-driven windows a row is late once
the watermark has passed its time. With ``late="collect"`` late rows are in no window, but each is a
row of the answer: its keys, the row itself (here its number), and the ends of windows it missed.

The watermark is the latest time that came before, less its delay; Spark's begins at 1970, and means
nothing until it moves.
"""

from __future__ import annotations

from dataclasses import replace

UNMOVED = -(2**63)


def answer(ask, oracle, ends, delay):
    """The oracle's answer over the rows as they arrive; ``ends(ask, row)`` when each is late."""
    arrived = [(row, marks, ends(ask, row)) for row, *marks in _arrived(ask, delay)]
    if ask.late != "open":
        late = [bool(of) and _passed(min(of), marks) for _, marks, of in arrived]
        kept = zip(arrived, late, strict=True)
        found = oracle(ask, [row for (row, _, _), is_late in kept if not is_late])
        if ask.late == "drop":
            return found
        missed = [(row, of) for (row, _, of), is_late in zip(arrived, late, strict=True) if is_late]
        return [*_with_late(ask, found, {}), *_collected(ask, found[0], missed)]
    found = []
    for end in sorted({end for _, _, of in arrived for end in of}):
        rows = [row for row, marks, of in arrived if end in of and not _passed(end, marks)]
        found += [one for one in oracle(ask, rows) if one.row["window"]["end"] == end]
    return found


def _with_late(ask, found, told):
    """The answer with the columns of late rows, which are null unless they are told."""
    names = ("late", "missed") if ask.is_placed else ("late",)
    return [
        replace(one, row={**one.row, **{name: told.get(name) for name in names}}) for one in found
    ]


def _collected(ask, like, missed):
    """The late rows, in the columns of an answer: keys, and what is told of them."""
    blank = dict.fromkeys(like.row) | {"window": dict.fromkeys(like.row["window"])}
    for row, ends in missed:
        one = replace(like, row={**blank, **{key: row[key] for key in ask.by}}, slack={})
        yield from _with_late(ask, [one], {"late": row["seq"], "missed": sorted(ends)})


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
