"""Every kind, with aggregates of some rows only: windows are those of all rows."""

from __future__ import annotations

from tests.oracle.aggregates import TESTED

# By what is asked, these have every aggregate, strategy and way through Spark and Python.
ABOUT = {
    "every aggregate", "taken back", "distinct values", "values in order", "Spark's own windows",
    "technique", "every scheme", "several at once", "natively", "list",
}  # fmt: skip


def some_rows(kinds):
    """The asks, each with a condition on all of its aggregates."""
    found = [
        (ask, session)
        for kind in kinds
        for group, session in ((kind.batch, "classic"), (kind.stream, "classic"),
                               (kind.connect, "connect"))
        for ask in group
        if ask.about in ABOUT
    ]  # fmt: skip
    return [
        ask.again(
            about=f"{ask.about}, some rows, by {ask.strategy}",
            requests={name: ("where", *asked) for name, asked in ask.requests.items()},
            session=session,
            # The oracle takes the column of the condition for an argument, which decides ties.
            tiebreak=(*ask.tiebreak, TESTED),
        )
        for ask, session in found
    ]
