"""Windows that Spark does not have, for PySpark: batch and streaming, one API, the same answer.

>>> import fanlight as fl
>>> from fanlight import agg
>>> fl.Sliding("1 hour", "1 minute")
Sliding('1 hour', '1 minute')
"""

from __future__ import annotations

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
    from fanlight.spark.over import over, rejected
    from fanlight.spark.windowed import Windowed

__version__ = "0.1.0"
__all__ = [
    "AggregateFrame", "BoundaryFrame", "DeltaFrame", "Episode", "FanlightError", "MultiGranular",
    "PredicateFrame", "ProgressiveWidening", "Rows", "Session", "Sliding", "ThresholdFrame",
    "Windowed", "agg", "over", "rejected", "rows",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the Spark side on first use: importing fanlight loads neither pyspark nor numba."""
    if name in ("over", "rejected", "Windowed"):
        try:
            from fanlight.spark import over, windowed
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] != "pyspark":
                raise
            msg = (
                f"fanlight.{name} needs PySpark 4.1 or newer, which is not installed; "
                "write: pip install 'fanlight[spark]'"
            )
            raise ModuleNotFoundError(msg) from error
        return getattr(windowed if name == "Windowed" else over, name)
    msg = f"module 'fanlight' has no attribute {name!r}"
    raise AttributeError(msg)
