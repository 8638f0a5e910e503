"""How a limit watches an aggregate: what runs along with the rows of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fanlight.engine.spec.arguments import choice
from fanlight.engine.spec.errors import refuse

Watched = Literal[
    "", "count", "sum", "max", "distinct", "avg", "var_samp", "var_pop", "stddev_samp",
    "stddev_pop", "min",
]  # fmt: skip


@dataclass(frozen=True)
class Way:
    """One way to watch an aggregate, and what its running value may do.

    ``falls``: it can fall again as rows come in. ``positive``: it is no less than 0, so a limit
    must be more. ``why_not`` says why there is no such limit after all, and ``instead`` what to
    write then, besides the usual.
    """

    falls: bool = False
    positive: bool = False
    why_not: str = ""
    instead: str = ""


WAYS: Mapping[Watched, Way] = {
    # How many rows there are, or how many with a value; a sum of what is not negative.
    "count": Way(positive=True),
    "sum": Way(positive=True),
    "max": Way(),
    "distinct": Way(positive=True),
    "avg": Way(falls=True),
    "var_samp": Way(falls=True),
    "var_pop": Way(falls=True),
    "stddev_samp": Way(falls=True),
    "stddev_pop": Way(falls=True),
    "min": Way(
        why_not="only falls as rows come in",
        instead="watch agg.max of the negated column, or ",
    ),
    "": Way(why_not="is not followed row by row"),
}


def check_watched(about: str, watched: str, arity: int) -> None:
    """Refuse a way to watch an aggregate that is unknown, or that takes other columns than it."""
    choice(f"{about} watched", watched, list(WAYS), "known")
    if watched in ("", "distinct"):
        fits, wanted = not watched or arity > 0, "one to three columns"
    else:
        least = 0 if watched == "count" else 1
        fits, wanted = least <= arity <= 1, "one column" if least else "one column at most"
    if not fits:
        raise refuse(
            f"{about} watched={watched!r}",
            f"follows {wanted}, and there are {arity} of them",
            "leave watched out; no limit can watch the aggregate then",
        )
