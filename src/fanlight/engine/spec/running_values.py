"""The running values of aggregates that the limit of a frame can watch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import refuse

Watched = Literal[
    "", "count", "sum", "max", "distinct", "avg", "var_samp", "var_pop", "stddev_samp",
    "stddev_pop", "min",
]  # fmt: skip


@dataclass(frozen=True)
class Running:
    """What is known of a running value.

    ``falls``: it can fall again as rows come in. ``positive``: it is never below 0, so its limit
    must be above 0. ``why_not`` says why no limit can watch it, empty if one can; ``instead`` is
    what the error suggests before the usual. ``below`` is what is watched of the negated column
    instead where a limit is to be reached from above; empty if none can be. ``absolute``: the limit
    may be on how far the value is from 0.
    """

    falls: bool = False
    positive: bool = False
    below: Watched = ""
    absolute: bool = False
    why_not: str = ""
    instead: str = ""


RUNNING: Mapping[Watched, Running] = {
    # A count of rows, or of values; a sum of values that are not negative.
    "count": Running(positive=True),
    "sum": Running(positive=True, below="sum", absolute=True),
    "max": Running(),
    "distinct": Running(positive=True),
    "avg": Running(falls=True, below="avg", absolute=True),
    "var_samp": Running(falls=True),
    "var_pop": Running(falls=True),
    "stddev_samp": Running(falls=True),
    "stddev_pop": Running(falls=True),
    "min": Running(
        why_not="only falls as rows come in",
        instead="pass below=True, or ",
        below="max",
    ),
    "": Running(why_not="is not followed row by row"),
}


def check_watched(about: str, watched: str, arity: int) -> None:
    """Refuse a ``watched`` that is unknown, or is for another number of columns than ``arity``."""
    check_choice(f"{about} watched", watched, list(RUNNING), "known")
    if watched in ("", "distinct"):
        fits, wanted = not watched or arity > 0, "one to three columns"
    else:
        fewest = 0 if watched == "count" else 1
        fits, wanted = fewest <= arity <= 1, "one column" if fewest else "one column at most"
    if not fits:
        raise refuse(
            f"{about} watched={watched!r}",
            f"is for {wanted}, but the aggregate has {arity}",
            "leave watched out; no limit can watch the aggregate then",
        )
