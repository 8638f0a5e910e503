"""The parts of your own aggregates: ``from fanlight import algebra``.

A new aggregate is an :class:`Aggregate` of named monoids. Those of the library are in
:mod:`fanlight.agg`; what they return is a :class:`Call`, and arithmetic of these an
:class:`Expression`, and a function of a result :class:`Transformed`.
"""

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.collections import Collect, Extremes, Values
from fanlight.engine.algebra.expression import Expression, Transformed
from fanlight.engine.algebra.moments import Moments
from fanlight.engine.algebra.monoids import Count, ExtremeCount, Max, Min, Monoid, Sum

__all__ = [
    "Aggregate", "Call", "Collect", "Count", "Expression", "ExtremeCount", "Extremes", "Max", "Min",
    "Moments", "Monoid", "Sum", "Transformed", "Values",
]  # fmt: skip
