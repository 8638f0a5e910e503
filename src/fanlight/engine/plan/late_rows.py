"""The release of windows: when they are given, and which rows of a stream are too late for them.

A row is late once the watermark has passed the end of one of its windows. By default it is then in
none of them, whatever the cut: the window that ends first, of all queries, decides. So a strategy
changes no answer. The other rule is that of Spark's and Flink's own windows. Late rows that are
collected are those of the first rule, given in a column of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import get_args

from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import write_duration
from fanlight.types import Late

WHOLE = "a piece goes to all of its windows at once, so it cannot go to the open ones alone"
EACH = "a late row would count in those of its windows that are open, as late='open' asks"


class Release(Enum):
    """When windows are given, and in which of them a late row still is."""

    AT_ONCE = "a batch returns all windows, and has no late rows"
    DROPPING = "dropped once the watermark has passed the end of their first window"
    OPENING = "added to those of their windows whose end the watermark has not passed"

    @classmethod
    def of(cls, late: Late, *, streaming: bool) -> Release:
        """The release that a rule for late rows asks for; a batch has no late rows."""
        if not streaming:
            return cls.AT_ONCE
        return cls.OPENING if late == "open" else cls.DROPPING


METRIC = "fanlight late rows"  # prefix of the names of metrics that count late rows
REJECTED = "fanlight rejected rows"  # of metrics that count rows that are in no window
COLLECTING = "windows that collect late rows"  # what counts those of windows over time, too
# Only writeStream knows the output mode of a stream.
OUTPUT = (
    "append: each window once, when it is final; for update, call early(); "
    "if windows share slices, Spark refuses other modes"
)
OUTPUT_EARLY = (
    "update: each window when it has changed, and once, with final = true, when it is final"
)
BEHIND = "dropped once the watermark has passed their time"
LATE = "late"  # the column of late rows that are collected
_COLLECTED = "; a separate operator emits them in the column late"


def check_late(late: object) -> Late:
    """The rule for late rows; an error lists the names."""
    check_choice("late", late, get_args(Late), "a rule for late rows")
    return late  # type: ignore[return-value]  # one of them


@dataclass(frozen=True)
class Lateness:
    """The wait of a stream for late rows, in microseconds, and whether it collects them."""

    postponed: int = 0
    collects: bool = False


def late_fact(rule: str, late: Lateness) -> tuple[str, str]:
    """What becomes of late rows, as a fact of ``explain``."""
    wait = f", and {write_duration(late.postponed)} more: postponed" if late.postponed else ""
    return "late rows", f"{rule}{wait}{_COLLECTED if late.collects else ''}"


def refuse_open_windows(late: object, windows: str) -> None:
    """Refuse ``late='open'`` for data-driven windows, which are made of rows in order."""
    if check_late(late) == "open":
        raise refuse(
            "late='open'",
            f"is for time windows; {windows} are made of rows in order, to which a row "
            "later than the watermark can no longer be added",
            "leave it out, and set the watermark's delay to how late rows really are",
        )
