"""What is asked: windows, time and units, errors. Knows nothing of Spark."""

from fanlight.spec.episode import Episode
from fanlight.spec.errors import FanlightError
from fanlight.spec.frames import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    PredicateFrame,
    ThresholdFrame,
)
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding
from fanlight.spec.units import Rows, rows
from fanlight.spec.widening import ProgressiveWidening

__all__ = [
    "AggregateFrame", "BoundaryFrame", "DeltaFrame", "Episode", "FanlightError", "MultiGranular",
    "PredicateFrame", "ProgressiveWidening", "Rows", "Sliding", "ThresholdFrame", "rows",
]  # fmt: skip
