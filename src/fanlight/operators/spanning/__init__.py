"""The techniques for events that last, each as an operator over any monoids."""

from fanlight.operators.spanning.operator import SpanningOperator, SpanningQuery

__all__ = ["SpanningOperator", "SpanningQuery"]
