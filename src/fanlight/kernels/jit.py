"""One decorator for every kernel: explicit types, compiled when first called, cached if possible.

numba keeps compiled code in ``NUMBA_CACHE_DIR``, beside the source, or in the user's cache,
whichever it may write to. Two things are added here:

- No cache is no failure. On a read-only install without a home, on a full disk, or over a damaged
  cache file, the kernel is compiled for this process alone.
- Worker processes that start at once do not disturb each other. numba writes its index before the
  code the index names, so one file that serves several signatures, or two versions of the source,
  can for a moment name the wrong code. Here every kernel has files of its own for each source,
  types, processor and numba.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numba
from numba import njit, types
from numba.core.registry import cpu_target

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

INT = types.int64
FLOAT = types.float64
BOOL = types.boolean

# What kernels read: also the read-only views that Arrow gives.
INTS = types.Array(INT, 1, "C", readonly=True)
FLOATS = types.Array(FLOAT, 1, "C", readonly=True)
BOOLS = types.Array(BOOL, 1, "C", readonly=True)
TABLE = types.Array(INT, 2, "C", readonly=True)

# What kernels write to and return.
NEW_INTS = types.Array(INT, 1, "C")
NEW_FLOATS = types.Array(FLOAT, 1, "C")
NEW_BOOLS = types.Array(BOOL, 1, "C")
NEW_TABLE = types.Array(INT, 2, "C")


def several(*parts: Any) -> Any:
    """The type of several things, as a kernel takes or returns them."""
    return types.Tuple(parts)  # type: ignore[no-untyped-call]


def kernel(signature: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of arrays and scalars for one numba signature, at its first call.

    The plain Python function stays at ``__wrapped__``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        compiled: Callable[P, R] | None = None

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal compiled
            if compiled is None:
                compiled = compiled_for(function, signature)
            return compiled(*args, **kwargs)

        return call

    return decorate


def compiled_for(function: Callable[P, R], signature: Any) -> Callable[P, R]:
    """The function, compiled: from the cache, or into it, or without one."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        made = njit(signature, cache=True, **options)(_named_apart(function, signature))
    except Exception:  # noqa: BLE001 - whatever is wrong with the cache, compiling needs none
        made = njit(signature, **options)(function)
    return cast("Callable[P, R]", made)


def _named_apart(function: Any, signature: Any) -> FunctionType:
    """A copy whose name, and so its cache files, says what it was compiled from."""
    code = function.__code__
    processor = cpu_target.target_context.codegen().magic_tuple()
    digest = hashlib.sha256(repr((signature, processor, numba.__version__)).encode())
    try:
        digest.update(Path(code.co_filename).read_bytes())
    except OSError:  # inside a zip file
        digest.update(code.co_code)
    copy = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__module__ = function.__module__
    copy.__qualname__ = f"{function.__qualname__}_{digest.hexdigest()[:16]}"
    return copy
