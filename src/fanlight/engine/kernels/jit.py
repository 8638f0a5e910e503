"""One decorator for every kernel: explicit types, compiled when first called, cached if possible.

numba keeps compiled code in ``NUMBA_CACHE_DIR``, beside the source, or in the user's cache,
whichever it may write to. Two things are added here:

- No cache is no failure. On a read-only install without a home, on a full disk, or over a damaged
  cache file, the kernel is compiled for this process alone.
- Cached code is always the code of these sources. numba writes its index before the code the index
  names, does not see that a function in another file has changed, and tells functions that two
  processes compiled apart by nothing but their names: of two closures with one name it runs either.
  Here every kernel has files of its own, and every function a name of its own, for the sources of
  its folder, its types, what it closes over, processor and numba.

So only this module calls numba's decorators, and only when a kernel is first called: numba takes a
second to load, and what plans a query, or runs one without kernels, has no use for it. Until then
types are texts, as numba reads them.
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
    """A type as numba writes it; called with those of arguments, a signature that returns it."""

    __slots__ = ()

    def __call__(self, *arguments: Type) -> Type:
        """The signature of a function of these arguments."""
        return Type(f"{self}({', '.join(arguments)})")


def array(of: Type, dimensions: int = 1, *, readonly: bool = False) -> Type:
    """The type of a contiguous array."""
    return Type(f"Array({of}, {dimensions}, 'C', readonly={readonly})")


VOID = Type("void")
NONE = Type("none")  # an argument that is None
INT = Type("int64")
FLOAT = Type("float64")
BOOL = Type("boolean")

# What kernels read: also the read-only views that Arrow gives.
INTS = array(INT, readonly=True)
FLOATS = array(FLOAT, readonly=True)
BOOLS = array(BOOL, readonly=True)
TABLE = array(INT, 2, readonly=True)

# What kernels write to and return.
NEW_INTS = array(INT)
NEW_FLOATS = array(FLOAT)
NEW_BOOLS = array(BOOL)
NEW_TABLE = array(INT, 2)

_named_tuples: dict[str, type] = {}  # named tuples, by the word for them in a type
_unregistered: list[Any] = []  # functions that kernels call, of which numba has not been told yet
_registering = threading.Lock()


def tuple_of(*parts: Type) -> Type:
    """The type of several things, as a kernel takes or returns them."""
    return Type(f"Tuple(({', '.join(parts)},))")


def named_tuple_of(of: type, *fields: Type) -> Type:
    """The type of a named tuple whose fields have these types.

    numba converts nothing inside of a named tuple: an array that only Arrow's read-only views could
    be is an argument of its own.
    """
    word = f"{of.__module__}.{of.__qualname__}".replace(".", "_")
    _named_tuples[word] = of
    return Type(f"BaseTuple.from_types(({', '.join(fields)},), {word})")


def kernel(signature: Type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of arrays and scalars for one signature, at its first call.

    The plain Python function stays at ``__wrapped__``.
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
    """A function that kernels call: compiled into each of them; plain Python everywhere else."""
    function.__qualname__ = _own_name(function)
    _unregistered.append(function)
    return function


def compile_kernel(function: Callable[P, R], signature: Type) -> Callable[P, R]:
    """The function, compiled: from the cache, or into it, or without one."""
    from numba import njit, types
    from numba.extending import register_jitable

    with _registering:
        while _unregistered:
            register_jitable(_unregistered.pop(0))
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    typed = eval(signature, {**vars(types), **_named_tuples})  # noqa: S307 - as numba reads a text
    try:
        made = njit(typed, cache=True, **options)(_copy_with_own_name(function, signature))
    except Exception:  # noqa: BLE001 - whatever is wrong with the cache, compiling needs none
        made = njit(typed, **options)(function)
    return cast("Callable[P, R]", made)


def _copy_with_own_name(function: Any, signature: Any) -> FunctionType:
    """A copy whose name, and so its cache files, says what it was compiled from."""
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
    told = [getattr(one, "__qualname__", repr(one)) for one in closed]
    digest = hashlib.sha256(repr((told, more)).encode())
    digest.update(_sources(str(Path(code.co_filename).parent)) or code.co_code)
    return f"{function.__qualname__}_{digest.hexdigest()[:16]}"


@functools.cache
def _sources(folder: str) -> bytes:
    """A digest of the folder's sources; nothing, inside a zip file."""
    digest = hashlib.sha256()
    sources = sorted(Path(folder).glob("*.py"))
    for source in sources:
        digest.update(source.read_bytes())
    return digest.digest() if sources else b""
