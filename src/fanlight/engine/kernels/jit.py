"""The decorator for kernels: explicit types, compiled at the first call, cached if possible.

numba caches compiled code in ``NUMBA_CACHE_DIR``, beside the source, or in the user's cache,
whichever is writable. This module adds two guarantees:

- A missing cache is not an error. On a read-only install without a home, on a full disk, or with a
  damaged cache file, the kernel is compiled for this process alone.
- Cached code is always that of the present sources. numba writes its index before the code that the
  index names, does not notice changes of functions in other files, and distinguishes functions that
  two processes compiled only by name: of two closures with the same name it runs either. Here every
  kernel has its own cache files, and every function its own name, which includes a hash of the
  sources of its folder, its types, what it closes over, the processor and the version of numba.

So only this module calls numba's decorators, and only when a kernel is first called: numba takes a
second to import, which planning a query, or running one without kernels, should not pay. Until then
types are strings in numba's syntax.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """Compile a function of arrays and scalars for one signature, at its first call.

    The Python function stays available as ``__wrapped__``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        compiled: Callable[P, R] | None = None

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal compiled
            if compiled is None:
                compiled = compile_kernel(function, signature)
            return compiled(*args, **kwargs)

        return call

    return decorate


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
