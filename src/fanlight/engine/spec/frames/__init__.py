"""Frames: windows that the data cuts, as frozen values that are checked when they are made.

Grossniklaus et al., *Frames: Data-driven Windows for Task-Based Performance*, section 3.
"""

from fanlight.engine.spec.frames.aggregate import AggregateFrame
from fanlight.engine.spec.frames.base import Frame
from fanlight.engine.spec.frames.boundary import BoundaryFrame
from fanlight.engine.spec.frames.delta import DeltaFrame
from fanlight.engine.spec.frames.pattern import PatternFrame
from fanlight.engine.spec.frames.predicates import PredicateFrame, ThresholdFrame
from fanlight.engine.spec.frames.session import Session
from fanlight.engine.spec.frames.states import StateFrame

__all__ = [
    "AggregateFrame", "BoundaryFrame", "DeltaFrame", "Frame", "PatternFrame", "PredicateFrame",
    "Session", "StateFrame", "ThresholdFrame",
]  # fmt: skip
