"""DataFrames of other libraries over Spark: opened where they come in, and given back as such.

Neither library is imported. A frame of one can come in only where its library is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast
from uuid import uuid4

from fanlight.engine.arrow import is_of_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fanlight.engine.spark.windows.base import Windowed

P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W", bound="Windowed")
Back = Callable[["DataFrame"], Any]


def open_frame(given: Any) -> tuple[Any, Back | None]:
    """The Spark DataFrame within, and what makes its kind of another; None for all else."""
    library = type(given).__module__.partition(".")[0]
    opener = _OPENERS.get(library)
    return (given, None) if opener is None else opener(given)


def _open_narwhals(given: Any) -> tuple[Any, Back | None]:
    """A LazyFrame over PySpark; one of another library stays as it is, and is refused as such."""
    if not isinstance(given, sys.modules["narwhals"].LazyFrame):
        return given, None
    native = given.to_native()
    if not is_of_spark(native):
        return given, None
    module = type(given).__module__
    # A stable API has LazyFrames of its own: narwhals.stable.v1.
    space = ".".join(module.split(".")[:3]) if ".stable." in module else "narwhals"
    back: Back = sys.modules[space].from_native
    return native, back


def _open_ibis(given: Any) -> tuple[Any, Back | None]:
    """A table of ibis' PySpark backend; one of another backend, or of none, stays as it is."""
    ibis = sys.modules["ibis"]
    if not isinstance(given, ibis.expr.types.Table):
        return given, None
    try:
        backend = given.get_backend()
    except ibis.common.exceptions.IbisError:
        return given, None
    if backend.name != "pyspark":
        return given, None

    def back(df: DataFrame) -> Any:
        """The DataFrame as a table: through a temporary view, which ibis looks up by its name."""
        name = f"fanlight_{uuid4().hex}"
        df.createTempView(name)
        return backend.table(name)

    return backend.raw_sql(backend.compile(given)), back


_OPENERS: dict[str, Callable[[Any], tuple[Any, Back | None]]] = {
    "narwhals": _open_narwhals,
    "ibis": _open_ibis,
}


def remember(windows: W, back: Back | None) -> W:
    """The same windows, whose results are given back so; None: as Spark DataFrames."""
    if windows._bound.source.back is back:  # noqa: SLF001 - of this house
        return windows
    others = copy(windows)
    others._bound = others._bound.with_source(back=back)  # noqa: SLF001 - of this house
    return others


def in_kind(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of DataFrames, or a method of windows, that returns a DataFrame.

    Inside are Spark DataFrames alone. The result is of the kind of the windows, or else of the
    first argument that is of another kind.
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        opened = [_open(one) for one in (*args, *named.values())]
        backs = [back for _, back in opened if back is not None]
        if not backs:
            return function(*args, **named)
        plain = [one for one, _ in opened]
        inside: Callable[..., R] = function
        found: R = inside(*plain[: len(args)], **dict(zip(named, plain[len(args) :], strict=True)))
        given_back: Any = backs[0](cast("Any", found)) if is_of_spark(found) else found
        return cast("R", given_back)

    return call


def _open(given: Any) -> tuple[Any, Back | None]:
    """Open a DataFrame as ``open_frame`` does. Windows are returned with results of Spark."""
    if not hasattr(type(given), "_with_bound"):  # windows have it alone
        return open_frame(given)
    back = given._bound.source.back  # noqa: SLF001 - of this house
    return remember(given, None), back
