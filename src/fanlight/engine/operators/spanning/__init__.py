"""Techniques for events with a duration, each as an operator over any monoids."""

from fanlight.engine.operators.spanning.operator import SpanningOperator, SpanningQuery

__all__ = ["SpanningOperator", "SpanningQuery"]
