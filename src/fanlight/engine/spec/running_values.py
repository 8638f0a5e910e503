"""How a limit watches an aggregate: what runs along with the rows of a frame."""

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
    """What the running value of an aggregate may do that is watched so.

    ``falls``: it can fall again as rows come in. ``positive``: it is no less than 0, so a limit
    must be more. ``why_not`` says why there is no such limit after all, and ``instead`` what to
    write then, besides the usual.
    """

    falls: bool = False
    positive: bool = False
    why_not: str = ""
    instead: str = ""


RUNNING: Mapping[Watched, Running] = {
    # How many rows there are, or how many with a value; a sum of what is not negative.
    "count": Running(positive=True),
    "sum": Running(positive=True),
    "max": Running(),
    "distinct": Running(positive=True),
    "avg": Running(falls=True),
    "var_samp": Running(falls=True),
    "var_pop": Running(falls=True),
    "stddev_samp": Running(falls=True),
    "stddev_pop": Running(falls=True),
    "min": Running(
        why_not="only falls as rows come in",
        instead="watch agg.max of the negated column, or ",
    ),
    "": Running(why_not="is not followed row by row"),
}


def check_watched(about: str, watched: str, arity: int) -> None:
    """Refuse to watch an aggregate as nothing is watched, or as what takes other columns."""
    check_choice(f"{about} watched", watched, list(RUNNING), "known")
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
