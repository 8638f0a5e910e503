"""Windows that Spark does not have, for PySpark: batch and streaming, one API, the same answer.

>>> import fanlight as fl
>>> from fanlight import agg
>>> fl.Sliding("1 hour", "1 minute")
Sliding('1 hour', '1 minute')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fanlight import agg
from fanlight.spec import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    Episode,
    FanlightError,
    MultiGranular,
    PredicateFrame,
    ProgressiveWidening,
    Rows,
    Session,
    Sliding,
    ThresholdFrame,
    rows,
)

if TYPE_CHECKING:
    from fanlight.language.printed import clause
    from fanlight.spark.doctor import doctor
    from fanlight.spark.language.run import sql
    from fanlight.spark.late_rows import late_rows
    from fanlight.spark.over import over, rejected
    from fanlight.spark.progress import progress
    from fanlight.spark.replay.entry import replay
    from fanlight.spark.upsert.entry import Upsert, upsert
    from fanlight.spark.windows.base import Windowed
    from fanlight.spark.windows.events import EventWindows
    from fanlight.spark.windows.frames import FrameWindows
    from fanlight.spark.windows.levels import LevelWindows
    from fanlight.spark.windows.placed import SlidingWindows
    from fanlight.spark.windows.widening import WideningWindows
    from fanlight.watching.watch import watch

__version__ = "0.1.0"
__all__ = [
    "AggregateFrame", "BoundaryFrame", "DeltaFrame", "Episode", "EventWindows", "FanlightError",
    "FrameWindows", "LevelWindows", "MultiGranular", "PredicateFrame", "ProgressiveWidening",
    "Rows", "Session", "Sliding", "SlidingWindows", "ThresholdFrame", "Upsert", "WideningWindows",
    "Windowed", "agg", "clause", "doctor", "late_rows", "over", "progress", "rejected", "replay",
    "rows", "sql", "upsert", "watch",
]  # fmt: skip

# Loaded on first use: importing fanlight loads neither pyspark nor numba, nor any extra.
_LATE = {
    "EventWindows": "spark.windows.events",
    "FrameWindows": "spark.windows.frames",
    "LevelWindows": "spark.windows.levels",
    "SlidingWindows": "spark.windows.placed",
    "Upsert": "spark.upsert.entry",
    "WideningWindows": "spark.windows.widening",
    "Windowed": "spark.windows.base",
    "clause": "language.printed",
    "doctor": "spark.doctor",
    "late_rows": "spark.late_rows",
    "over": "spark.over",
    "progress": "spark.progress",
    "rejected": "spark.over",
    "replay": "spark.replay.entry",
    "sql": "spark.language.run",
    "upsert": "spark.upsert.entry",
    "watch": "watching.watch",
}
# What others call what there is.
_INSTEAD = {
    **dict.fromkeys(
        ("window", "windows", "tumbling", "tumblingwindow", "hopping", "hop", "tumble"),
        "fl.over(df, fl.Sliding('1 hour', '5 minutes'), time='ts')",
    ),
    "session_window": "fl.over(df, fl.Session('5 minutes'), time='ts')",
}
# What is not installed everywhere, and the extra that brings it.
_EXTRAS = {
    "pyspark": ("PySpark 4.1 or newer", "spark"),
    "lark": ("lark", "sql"),
    **{name: (name, "watch") for name in ("plotly", "starlette", "uvicorn")},
}


def _missing(name: str) -> Exception:
    """The error for what fanlight does not have: it says what to write instead."""
    from difflib import get_close_matches

    from fanlight.spec.errors import MissingError

    spelled = {known.casefold(): known for known in __all__}
    close = get_close_matches(name.casefold(), spelled, 1)
    write = _INSTEAD.get(name.casefold()) or (f"fl.{spelled[close[0]]}" if close else "")
    if name in agg.__all__:
        write = f"agg.{name}, after 'from fanlight import agg'"
    found = f"write {write}" if write else f"choose one of {', '.join(__all__)}"
    return MissingError(f"fanlight has no {name!r}; {found}")


def __getattr__(name: str) -> Any:
    """Load what needs Spark, or another package, on first use."""
    if name.startswith("_"):
        msg = f"module 'fanlight' has no attribute {name!r}"
        raise AttributeError(msg)
    if name not in _LATE:
        raise _missing(name)
    try:
        module = import_module(f"fanlight.{_LATE[name]}")
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in _EXTRAS:
            raise
        needed, extra = _EXTRAS[package]
        msg = (
            f"fanlight.{name} needs {needed}, which is not installed; "
            f"write: pip install 'fanlight[{extra}]'"
        )
        raise ModuleNotFoundError(msg) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    """The public names, those of the Spark side too."""
    return sorted([*__all__, "__version__"])
