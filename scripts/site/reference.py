"""The reference: a place for every public name, whose docstring mkdocstrings renders.

What is public and has no place here, or has one and is no longer public, fails the build.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import fanlight
from fanlight import agg, algebra, plots, report, types
from fanlight.engine.kinds import list_kinds


@dataclass(frozen=True)
class Page:
    """A page of the reference: its name, heading, an introduction, and names with their module."""

    name: str
    heading: str
    about: str
    module: str
    names: tuple[str, ...]


SPECS = (*(kind.name for kind in list_kinds()), "Episode", "Rows", "decay")
WINDOWS = (
    "Windowed", "SlidingWindows", "LevelWindows", "EventWindows", "FrameWindows", "WideningWindows",
    "TrailingWindows", "SnapshotWindows",
)  # fmt: skip
FUNCTIONS = (
    "over", "sql", "clause", "doctor", "suggest", "progress", "watch",
    "replay", "heartbeat", "upsert", "Upsert", "roll_up", "roll_up_late", "serve", "Server",
    "FanlightError",
)  # fmt: skip
ELSEWHERE = ("agg", "algebra", "types")  # pages of their own


def pages() -> list[Page]:
    """The pages, with what each public module has."""
    drawn = [name for name in plots.__all__ if name.islower()]
    colours = [name for name in plots.__all__ if not name.islower()]
    return [
        Page(
            "functions",
            "Entry points",
            "What you call: `import fanlight as fl`. Whatever cannot be is an `fl.FanlightError`.",
            "fanlight",
            FUNCTIONS,
        ),
        Page(
            "specs",
            "Windows that you ask for",
            "Values that say which windows you want. They know nothing of Spark, can be compared "
            "and printed, and a notebook shows each as a drawing.",
            "fanlight",
            SPECS,
        ),
        Page(
            "windows",
            "What windows can do",
            "What `fl.over` returns: a class for each kind of windows, with the methods that this "
            "kind has.",
            "fanlight",
            WINDOWS,
        ),
        Page(
            "types",
            "Types of arguments",
            "What a word such as `Keys` stands for in a signature: `from fanlight.types import "
            "Keys`, to annotate functions of your own.",
            "fanlight.types",
            tuple(types.__all__),
        ),
        Page(
            "agg",
            "Aggregates",
            "`from fanlight import agg`: functions, in the order of the alphabet.",
            "fanlight.agg",
            tuple(agg.__all__),
        ),
        Page(
            "algebra",
            "Parts of your own aggregates",
            "`from fanlight import algebra`. Your own aggregate is an `Aggregate` of monoids; what "
            "you call with a column, yours or one of `agg`, gives a `Call`, and arithmetic of "
            "calls an `Expression`, a function of a result `Transformed`.",
            "fanlight.algebra",
            tuple(algebra.__all__),
        ),
        Page(
            "plots",
            "Pictures",
            "`from fanlight import plots`, with the extra `plot`.",
            "fanlight.plots",
            ("draw", *(name for name in drawn if name != "draw"), *colours),
        ),
        Page(
            "report",
            "Reports",
            "`from fanlight import report`, with the extra `plot`.",
            "fanlight.report",
            tuple(report.__all__),
        ),
    ]


def missing() -> list[str]:
    """Public names of `fanlight` without a place, with two, or with one and no longer public."""
    placed = Counter((*SPECS, *WINDOWS, *FUNCTIONS, *ELSEWHERE))
    public = Counter(fanlight.__all__)
    return sorted({*(placed - public), *(public - placed)})


def text(page: Page) -> str:
    """A page as mkdocstrings reads it."""
    lines = [f"# {page.heading}", "", page.about, ""]
    for name in page.names:
        lines += [f"::: {page.module}.{name}", ""]
    return "\n".join(lines)


def identifiers() -> frozenset[str]:
    """What the reference explains, by full names."""
    return frozenset(f"{page.module}.{name}" for page in pages() for name in page.names)
