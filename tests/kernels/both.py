"""Kernels run twice, compiled and as plain Python, and compared to the last bit."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from inspect import getclosurevars

import numpy as np
import pytest

from fanlight.engine.kernels import jit

_compiled = {}


@contextmanager
def without_waiting(*, both):
    """Kernels never wait for much to do; with ``both``, each call is run in both ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_runs_in_python", lambda _: both)
        patch.setattr(jit, "_run_in_python", run_both)
        yield


def run_both(kernel, args, kwargs):
    """Run a kernel in both ways: what they return, and what they write, must be the same."""
    if kernel not in _compiled:
        told = getclosurevars(kernel).nonlocals
        _compiled[kernel] = jit.compile_kernel(told["function"], told["signature"])
    other = copy.deepcopy((args, kwargs))
    found = _compiled[kernel](*args, **kwargs)
    plain = _RUN(kernel, *other)
    same(kernel, (found, args, kwargs), (plain, *other))
    return found


_RUN = jit._run_in_python


def only_in_python(patch):
    """Kernels are never compiled, which would keep what is patched, in their cache, too."""
    patch.setattr(jit, "_runs_in_python", lambda _: True)
    patch.setattr(jit, "_run_in_python", _RUN)


def same(kernel, one, other):
    """Assert that two values are the same, arrays by their bytes; NaN is NaN."""
    assert type(one) is type(other), (kernel, one, other)
    if isinstance(one, np.ndarray):
        equal_nan = one.dtype.kind == "f"
        assert np.array_equal(one, other, equal_nan=equal_nan), (kernel, one, other)
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other), (kernel, one, other)
        for pair in zip(one, other, strict=True):
            same(kernel, *pair)
    elif isinstance(one, dict):
        same(kernel, list(one.items()), list(other.items()))
    elif isinstance(one, float):
        assert one == other or one != one != other != other, (kernel, one, other)  # noqa: PLR0124
    elif not hasattr(one, "__dict__"):
        assert one == other, (kernel, one, other)
