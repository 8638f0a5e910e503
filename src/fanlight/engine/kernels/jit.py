"""The decorator for kernels: explicit types, compiled once there is much to do, and cached.

A kernel is a Python function, too. While there is little to do, it runs as that: numba takes a
second to import, and a kernel up to three to compile, in which Python goes through a million
values. So a query over little data, and the first rows of a stream, wait for no compiler
(:func:`_runs_in_python`). Results are the same to the last bit, which tests hold.

numba caches compiled code in ``NUMBA_CACHE_DIR``, beside the source, or in the user's cache,
whichever is writable. This module adds two guarantees:

- A missing cache is not an error. On a read-only install without a home, on a full disk, or with a
  damaged cache file, the kernel is compiled for this process alone.
- Cached code is always that of the present sources. numba writes its index before the code that the
  index names, does not notice changes of functions in other files, and distinguishes functions that
  two processes compiled only by name: of two closures with the same name it runs either. Here every
  kernel has its own cache files, and every function its own name, which includes a hash of the
  sources of its folder, its types, what it closes over, the processor and the version of numba.

So only this module calls numba's decorators, and only when a kernel is compiled. Until then types
are strings in numba's syntax.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class Type(str):
    """A type in numba's syntax; called with argument types, it returns a signature."""

    __slots__ = ()

    def __call__(self, *arguments: Type) -> Type:
        """The signature of a function that takes ``arguments`` and returns this type."""
        return Type(f"{self}({', '.join(arguments)})")


def array(of: Type, dimensions: int = 1, *, readonly: bool = False) -> Type:
    """The type of a contiguous array."""
    return Type(f"Array({of}, {dimensions}, 'C', readonly={readonly})")


VOID = Type("void")
NONE = Type("none")  # an argument that is None
INT = Type("int64")
FLOAT = Type("float64")
BOOL = Type("boolean")

# Types of what kernels read, which may be read-only views from Arrow.
INTS = array(INT, readonly=True)
FLOATS = array(FLOAT, readonly=True)
BOOLS = array(BOOL, readonly=True)
TABLE = array(INT, 2, readonly=True)

# Types of what kernels write to and return.
NEW_INTS = array(INT)
NEW_FLOATS = array(FLOAT)
NEW_BOOLS = array(BOOL)
NEW_TABLE = array(INT, 2)

FEW = 20_000  # rows of a call, by its longest array, that Python goes through: some 0.1 s
PATIENCE = 0.3  # seconds that Python may have taken in a process before kernels are compiled
_TYPES: dict[type, Callable[[Any], object]] = {int: np.int64, float: np.float64}


class _InPython:
    """How long kernels have run as Python in this process."""

    seconds = 0.0


_in_python = _InPython()
_named_tuples: dict[str, type] = {}  # named tuples, by their name in a type's string
_unregistered: list[Any] = []  # functions that kernels call, not registered with numba yet
_registering = threading.Lock()


def tuple_of(*parts: Type) -> Type:
    """The type of a tuple."""
    return Type(f"Tuple(({', '.join(parts)},))")


def named_tuple_of(of: type, *fields: Type) -> Type:
    """The type of a named tuple with fields of these types.

    numba converts nothing inside a named tuple, so an array that may be a read-only view from Arrow
    has to be a separate argument.
    """
    word = f"{of.__module__}.{of.__qualname__}".replace(".", "_")
    _named_tuples[word] = of
    return Type(f"BaseTuple.from_types(({', '.join(fields)},), {word})")


def kernel(signature: Type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of arrays and scalars for one signature, once there is work for it.

    The Python function stays available as ``__wrapped__``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        compiled: Callable[P, R] | None = None

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal compiled
            if compiled is None:
                if _runs_in_python(args):
                    return cast("R", _run_in_python(call, args, kwargs))
                compiled = compile_kernel(function, signature)
            return compiled(*args, **kwargs)

        return call

    return decorate


def _runs_in_python(args: Sequence[object]) -> bool:
    """Whether a call waits for no compiler: its arrays are short, and so were those before."""
    if _in_python.seconds > PATIENCE:
        return False
    arrays = (one for one in args if isinstance(one, np.ndarray))
    return max((size for one in arrays for size in one.shape), default=0) <= FEW


def _run_in_python(kernel: Any, args: Any, kwargs: Any) -> object:
    """Call a kernel as the Python function that it is, with the arithmetic of compiled code."""
    begin = time.perf_counter()
    typed = [_to_numpy(one) for one in args]
    named = {name: _to_numpy(one) for name, one in kwargs.items()}
    with np.errstate(all="ignore"):  # numbers wrap around, and what is divided by 0 is infinite
        found = kernel.__wrapped__(*typed, **named)
    _in_python.seconds += time.perf_counter() - begin
    return _to_python(found)


def _to_numpy(given: object) -> object:
    """An argument as compiled code takes it."""
    numbers = _TYPES.get(type(given))
    return given if numbers is None else numbers(given)


def _to_python(found: object) -> object:
    """A result as compiled code returns it."""
    if isinstance(found, np.generic):
        return found.item()
    if type(found) is tuple:
        return tuple(_to_python(one) for one in found)
    return found


def jitable(function: Callable[P, R]) -> Callable[P, R]:
    """Let kernels call a function: it is compiled into each of them, and stays Python elsewhere."""
    function.__qualname__ = _own_name(function)
    _unregistered.append(function)
    return function


def compile_kernel(function: Callable[P, R], signature: Type) -> Callable[P, R]:
    """Compile a function, using the cache if possible."""
    from numba import njit, types
    from numba.extending import register_jitable

    with _registering:
        while _unregistered:
            register_jitable(_unregistered.pop(0))
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    typed = eval(signature, {**vars(types), **_named_tuples})  # noqa: S307 - as numba reads strings
    try:
        compiled = njit(typed, cache=True, **options)(_copy_with_own_name(function, signature))
    except Exception:  # noqa: BLE001 - any failure of the cache: compile without it
        compiled = njit(typed, **options)(function)
    return cast("Callable[P, R]", compiled)


def _copy_with_own_name(function: Any, signature: Any) -> FunctionType:
    """A copy of a function whose name, and so its cache files, depends on what is compiled."""
    import numba
    from numba.core.registry import cpu_target

    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__module__ = function.__module__
    processor = cpu_target.target_context.codegen().magic_tuple()
    copy.__qualname__ = _own_name(function, signature, processor, numba.__version__)
    return copy


def _own_name(function: Any, *more: object) -> str:
    code = function.__code__
    closed = [cell.cell_contents for cell in function.__closure__ or ()]
    names = [getattr(one, "__qualname__", repr(one)) for one in closed]
    digest = hashlib.sha256(repr((names, more)).encode())
    digest.update(_sources(str(Path(code.co_filename).parent)) or code.co_code)
    return f"{function.__qualname__}_{digest.hexdigest()[:16]}"


@functools.cache
def _sources(folder: str) -> bytes:
    """A digest of the sources in a folder; empty inside a zip file."""
    digest = hashlib.sha256()
    sources = sorted(Path(folder).glob("*.py"))
    for source in sources:
        digest.update(source.read_bytes())
    return digest.digest() if sources else b""
