"""What is asked: windows, time and units, errors. Knows nothing of Spark."""

from fanlight.spec.errors import FanlightError
from fanlight.spec.frames import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    PredicateFrame,
    ThresholdFrame,
)
from fanlight.spec.sliding import Sliding
from fanlight.spec.units import Rows, rows

__all__ = [
    "AggregateFrame", "BoundaryFrame", "DeltaFrame", "FanlightError", "PredicateFrame", "Rows",
    "Sliding", "ThresholdFrame", "rows",
]  # fmt: skip
