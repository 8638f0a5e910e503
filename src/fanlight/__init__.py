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
    from fanlight.spark.doctor import doctor
    from fanlight.spark.late_rows import late_rows
    from fanlight.spark.over import over, rejected
    from fanlight.spark.progress import progress
    from fanlight.spark.windows.base import Windowed
    from fanlight.spark.windows.events import EventWindows
    from fanlight.spark.windows.frames import FrameWindows
    from fanlight.spark.windows.levels import LevelWindows
    from fanlight.spark.windows.placed import SlidingWindows
    from fanlight.spark.windows.widening import WideningWindows

__version__ = "0.1.0"
__all__ = [
    "AggregateFrame", "BoundaryFrame", "DeltaFrame", "Episode", "EventWindows", "FanlightError",
    "FrameWindows", "LevelWindows", "MultiGranular", "PredicateFrame", "ProgressiveWidening",
    "Rows", "Session", "Sliding", "SlidingWindows", "ThresholdFrame", "WideningWindows", "Windowed",
    "agg", "doctor", "late_rows", "over", "progress", "rejected", "rows",
]  # fmt: skip

# Loaded on first use: importing fanlight loads neither pyspark nor numba.
_SPARK = {
    "EventWindows": "windows.events",
    "FrameWindows": "windows.frames",
    "LevelWindows": "windows.levels",
    "SlidingWindows": "windows.placed",
    "WideningWindows": "windows.widening",
    "Windowed": "windows.base",
    "over": "over",
    "rejected": "over",
    "late_rows": "late_rows",
    "doctor": "doctor",
    "progress": "progress",
}


def __getattr__(name: str) -> Any:
    """Load the Spark side on first use."""
    if name not in _SPARK:
        msg = f"module 'fanlight' has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        module = import_module(f"fanlight.spark.{_SPARK[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "pyspark":
            raise
        msg = (
            f"fanlight.{name} needs PySpark 4.1 or newer, which is not installed; "
            "write: pip install 'fanlight[spark]'"
        )
        raise ModuleNotFoundError(msg) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    """The public names, those of the Spark side too."""
    return sorted([*__all__, "__version__"])
