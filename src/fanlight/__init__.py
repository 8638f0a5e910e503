"""Windows that Spark does not have, for PySpark: batch and streaming, one API, the same answer.

>>> import fanlight as fl
>>> from fanlight import agg
>>> fl.Sliding("1 hour", "1 minute")
Sliding('1 hour', '1 minute')
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fanlight import agg, algebra, types
from fanlight.engine.spec import (
    AggregateFrame,
    BoundaryFrame,
    Calendar,
    Cumulative,
    DeltaFrame,
    Episode,
    FanlightError,
    MultiGranular,
    PatternFrame,
    PredicateFrame,
    ProgressiveWidening,
    Rows,
    Session,
    Sliding,
    Snapshot,
    StateFrame,
    ThresholdFrame,
    Trailing,
    decay,
)
from fanlight.engine.spec.pictures import draw_with

if TYPE_CHECKING:
    from fanlight.engine.spark.over import over
    from fanlight.engine.spark.repair import roll_up_late
    from fanlight.engine.spark.roll_up import roll_up
    from fanlight.engine.spark.windows.base import Windowed
    from fanlight.engine.spark.windows.events import EventWindows, SnapshotWindows
    from fanlight.engine.spark.windows.frames import FrameWindows
    from fanlight.engine.spark.windows.levels import LevelWindows
    from fanlight.engine.spark.windows.placed import SlidingWindows
    from fanlight.engine.spark.windows.trailing import TrailingWindows
    from fanlight.engine.spark.windows.widening import WideningWindows
    from fanlight.io.heartbeat import heartbeat
    from fanlight.io.replay.entry import replay
    from fanlight.io.upsert.entry import Upsert, upsert
    from fanlight.language.clause_writer import clause
    from fanlight.language.running.run import sql
    from fanlight.serving.server import Server, serve
    from fanlight.watching.doctor import doctor
    from fanlight.watching.progress import progress
    from fanlight.watching.suggest import suggest
    from fanlight.watching.watch import watch

# A notebook shows windows as small drawings, whose room is loaded for the first of them.
draw_with(lambda: import_module("fanlight.plots.sketches.svg"))

__version__ = "0.1.0"
__all__ = [
    "AggregateFrame", "BoundaryFrame", "Calendar", "Cumulative", "DeltaFrame", "Episode",
    "EventWindows", "FanlightError", "FrameWindows", "LevelWindows", "MultiGranular",
    "PatternFrame", "PredicateFrame", "ProgressiveWidening", "Rows", "Server", "Session", "Sliding",
    "SlidingWindows", "Snapshot", "SnapshotWindows", "StateFrame", "ThresholdFrame", "Trailing",
    "TrailingWindows", "Upsert", "WideningWindows", "Windowed", "agg", "algebra", "clause", "decay",
    "doctor", "heartbeat", "over", "progress", "replay", "roll_up", "roll_up_late", "serve", "sql",
    "suggest", "types", "upsert", "watch",
]  # fmt: skip

# Loaded on first use: importing fanlight loads neither pyspark nor numba, nor any extra.
_LATE = {
    "EventWindows": "engine.spark.windows.events",
    "FrameWindows": "engine.spark.windows.frames",
    "LevelWindows": "engine.spark.windows.levels",
    "SlidingWindows": "engine.spark.windows.placed",
    "SnapshotWindows": "engine.spark.windows.events",
    "TrailingWindows": "engine.spark.windows.trailing",
    "Upsert": "io.upsert.entry",
    "WideningWindows": "engine.spark.windows.widening",
    "Windowed": "engine.spark.windows.base",
    "clause": "language.clause_writer",
    "doctor": "watching.doctor",
    "heartbeat": "io.heartbeat",
    "over": "engine.spark.over",
    "progress": "watching.progress",
    "replay": "io.replay.entry",
    "roll_up_late": "engine.spark.repair",
    "roll_up": "engine.spark.roll_up",
    "Server": "serving.server",
    "serve": "serving.server",
    "sql": "language.running.run",
    "suggest": "watching.suggest",
    "upsert": "io.upsert.entry",
    "watch": "watching.watch",
}
_ROOMS = ("plots", "report")  # modules that are loaded on first use, too
# What is not installed everywhere, and the extra that brings it.
_EXTRAS = {
    "pyspark": ("PySpark 3.5 or newer", "spark"),
    "lark": ("lark", "sql"),
    **{name: (name, "watch") for name in ("plotly", "starlette", "uvicorn")},
}


def _missing(name: str) -> Exception:
    """The error for what fanlight does not have: it says what to write instead."""
    from fanlight.engine.algebra.suggestions import advise_of_rows
    from fanlight.engine.kinds import list_kinds
    from fanlight.engine.kinds.options import METHODS, list_options
    from fanlight.engine.spec.errors import MissingError, guess, list_some

    called = {
        one.replace("_", ""): write
        for kind in list_kinds()
        for names, write in kind.other_names.items()
        for one in names
    }
    made = [one for one in __all__ if not one.endswith("Windows")]  # not by hand
    plain = name.replace("_", "").casefold()
    short = re.sub("(eventtime|processingtime)?(windows?)?$", "", plain)
    close = guess(name, made) or guess(short, made)
    known = (called[one] for one in (plain, plain.removesuffix("s"), short) if one in called)
    write = next(known, f"fl.{close}" if close else "")
    for home in (agg, algebra):
        if name in home.__all__:
            module = home.__name__.removeprefix("fanlight.")
            write = f"{module}.{name}, after 'from fanlight import {module}'"
    if plain in ("col", "lit", "expr", "when"):
        write = f"F.{plain}, after 'from pyspark.sql import functions as F'"
    if plain == "laterows":
        write = "fl.progress(query).late"
    if plain in ("withwatermark", "watermark", "allowedlateness"):
        write = "df.withWatermark('ts', '5 minutes'), before fl.over"
    if name in (*METHODS, *(option.verb for option in list_options())):
        write = f"fl.over(df, …).{name}(…)"
    write = advise_of_rows(name) or write
    found = f"write {write}" if write else f"choose one of {list_some(__all__)}"
    return MissingError(f"fanlight has no {name!r}; {found}")


def __getattr__(name: str) -> Any:
    """Load what needs Spark, or another package, on first use."""
    if name.startswith("_"):
        msg = f"module 'fanlight' has no attribute {name!r}"
        raise AttributeError(msg)
    if name not in (*_LATE, *_ROOMS):
        raise _missing(name)
    try:
        module = import_module(f"fanlight.{_LATE.get(name, name)}")
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
    except ImportError as error:
        if "pyarrow" not in str(error) or "NumPy" not in str(error):
            raise
        msg = (
            f"fanlight.{name} needs pyarrow, which does not load with this NumPy ({error}): "
            "PySpark 3.5 keeps NumPy 1; write: pip install 'pyarrow<22'"
        )
        raise FanlightError(msg) from error
    return module if name in _ROOMS else getattr(module, name)


def __dir__() -> list[str]:
    """The public names, those of the Spark side too."""
    return sorted([*__all__, "__version__"])
