"""Functions of kernels as plain Python."""

from __future__ import annotations

import sys
from types import FunctionType


def uncompiled(function, *given):
    """What a function answers where its module's kernels are plain Python."""
    module = vars(sys.modules[function.__module__])
    plain = {name: getattr(one, "__wrapped__", one) for name, one in module.items()}
    return FunctionType(function.__code__, plain, closure=function.__closure__)(*given)
