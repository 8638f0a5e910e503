"""The aggregates of ``fanlight.agg``, a file for each family; each is one entry in the registry."""

from fanlight.engine.algebra.library.lines import linear_fit
from fanlight.engine.algebra.library.totals import count

__all__ = ["count", "linear_fit"]  # what the library itself uses
