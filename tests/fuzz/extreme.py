"""Numbers at the limits of their types, where that changes no window."""

from __future__ import annotations

from decimal import Decimal

import fanlight as fl
from tests.law import limits
from tests.law.registry import ANSI

REQUESTS = limits.REQUESTS


def may_be(kind, spec, strategy):
    """Whether time alone decides the windows, and nothing but Spark's sums is asked of them."""
    if strategy == "differential" or kind not in ("sliding", "levels", "spanning", "several"):
        return False
    if isinstance(spec, fl.MultiGranular):
        return spec.weights is None and not spec.changes_only
    return True


def made(rows, setting, spec):
    """Sums beyond the limits where that is no error, and otherwise on the way to one within."""
    if dict(setting.conf).get(ANSI, "true") == "false":
        return limits.beyond(rows)
    if counted(spec):
        return [{**row, "b": eighths(at % 9 - 4)} for at, row in enumerate(rows)]
    return limits.there_and_back(rows)


def eighths(number):
    """With the ten digits that its column has: the oracle takes the scale of a mean from them."""
    return (Decimal(number) / 8).quantize(Decimal("1e-10"))


def counted(spec):
    """Whether a window may have some of the rows of one time, and not the others."""
    if isinstance(spec, list):
        return any(counted(one) for one in spec)
    return "Rows(" in repr(spec) and not (isinstance(spec, fl.Sliding) and spec.slide_by_tuple)
