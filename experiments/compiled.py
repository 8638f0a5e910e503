"""Loops over arrays, compiled by numba: what the experiments measure beside the library."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from types import FunctionType

from numba import njit, types

INT = types.int64
FLOAT = types.float64

# What loops read.
INTS = types.Array(INT, 1, "C", readonly=True)
FLOATS = types.Array(FLOAT, 1, "C", readonly=True)

# What they write to and return.
NEW_INTS = types.Array(INT, 1, "C")
NEW_FLOATS = types.Array(FLOAT, 1, "C")


def several(*parts):
    """The type of several things, as a loop takes or returns them."""
    return types.Tuple(parts)


def compiled(signature):
    """Compile a function for one signature, at its first call; numba keeps what it made."""

    def decorate(function):
        @functools.cache
        def made():
            named = _named_apart(function, signature)
            return njit(signature, cache=True, error_model="numpy")(named)

        @functools.wraps(function)
        def call(*given):
            return made()(*given)

        return call

    return decorate


def _named_apart(function, signature):
    """A copy whose name, and so its cache file, tells the types and the sources of its folder.

    Under one name numba keeps the loops of several signatures in one index, which programs that
    run at once can spoil; and it does not see that a function called from another file has changed.
    """
    code = function.__code__
    digest = hashlib.sha256(repr(signature).encode())
    for source in sorted(Path(code.co_filename).parent.glob("*.py")):
        digest.update(source.read_bytes())
    copy = FunctionType(code, function.__globals__, function.__name__)
    copy.__module__ = function.__module__
    copy.__qualname__ = f"{function.__qualname__}_{digest.hexdigest()[:16]}"
    return copy
