"""Keys that are forgotten: each life of a key is a key of its own, and a batch of its own.

That is all that is said here of the answer: a row begins a life if it comes more than
``forget_after`` after the one before of its key, and the oracle is asked over a batch that has the
number of the life as one more key.
"""

from __future__ import annotations


def answer_by_lives(ask, oracle):
    """What the oracle says of the lives, without their numbers."""
    rows = _with_lives(ask)
    assert len({row["life"] for row in rows}) > 1, "no key is silent for so long"
    alone = ask.again(arrivals=None, forget_after=None, by=(*ask.by, "life"))
    found = oracle(alone, rows)
    for one in found:
        del one.row["life"]
        if ask.kind in ("sliding", "levels") and ask.action == "agg":
            one.slack.clear()  # windows of lives may be called alike; these numbers are exact
    return found


def _with_lives(ask):
    """The rows, each with the number of its life."""
    longest = ask.forget_after
    if isinstance(longest, str):
        count, unit = longest.split()
        longest = int(count) * {"minute": 60, "minutes": 60, "seconds": 1}[unit] * 1_000_000
    made, last, life = [], {}, {}
    in_order = sorted(ask.data.rows, key=lambda row: (row[ask.time] is None, row[ask.time] or 0))
    for row in in_order:
        key, at = tuple(row[name] for name in ask.by), row[ask.time]
        if at is not None and not _is_left_out(ask, row):
            if key in last and at - last[key] > longest:
                life[key] = life.get(key, 0) + 1
            last[key] = at
        made.append({**row, "life": life.get(key, 0)})
    return made


def _is_left_out(ask, row):
    """Rows without a value are in no line."""
    return ask.action == "fit" and row[ask.options["column"]] is None
