"""What every kind of window over a DataFrame has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from pyspark.errors import PySparkException

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spark.windows.missing import refuse_attribute
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.pictures import Picture, Pictured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame


class Windowed(Pictured, ABC):
    """A DataFrame seen through windows; made by :func:`fanlight.over`, frozen.

    Nothing is computed until the DataFrame that a terminal method returns is acted on. What a kind
    of windows can do in addition is in its own class: ``agg`` in most, ``fit`` and ``recurring`` in
    :class:`fanlight.LevelWindows`, ``frames``, ``rows``, ``fill`` and ``split`` in
    :class:`fanlight.FrameWindows`, ``attach`` and ``attach_to`` in
    :class:`fanlight.TrailingWindows`, ``detect`` in :class:`fanlight.WideningWindows`.
    """

    __slots__ = ()

    @abstractmethod
    def using(
        self,
        strategy: str = "auto",
        *,
        rate: float | None = None,
        groups: float | None = None,
        partitions: int | None = None,
    ) -> Self:
        """Force a strategy, give the cost model the rows a second and the number of keys.

        Or say into how many partitions a stream divides the keys whose state Python keeps.
        """

    @abstractmethod
    def explain(self, *args: Any, **named: Any) -> str:
        """What is computed, how, what a stream keeps, and why this strategy."""

    @abstractmethod
    def rejected(self) -> DataFrame:
        """The rows that are in no window because their time is null or cannot be placed."""

    _bound: Any

    def _picture_(self) -> Picture:
        """What a notebook shows: the windows; nothing is asked of Spark."""
        by = ", ".join(self._bound.names)
        note = f"{f'by {by}' if by else 'no keys'}; write .explain() to see how they are computed"
        return Picture(self._bound.spec, heading=repr(self), note=note)

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to write instead of what is not there, such as a DataFrame's methods."""
            if name.startswith("_"):  # what copy, pickle or a notebook looks for
                raise AttributeError(name)
            raise refuse_attribute(self, name)


_MOST = 1e18  # rows a second, or keys
SOME = range(1, 100_001)
B = TypeVar("B", bound=Bound)


@contextmanager
def errors_of_call(asked: str) -> Iterator[None]:
    """Context manager: Spark's error about a DataFrame made inside becomes one about the call."""
    try:
        with quietly():
            yield
    except PySparkException as error:
        raise FanlightError(f"Spark cannot analyse {asked}: {error}") from error


def check_analysis(df: DataFrame) -> DataFrame:
    """Have the DataFrame analysed now, since Connect does it only when asked; return it."""
    df.schema  # noqa: B018
    return df


def name_call(calls: Sequence[Call]) -> str:
    """The call of ``agg`` as text, for errors."""
    return ", ".join(getattr(call, "label", repr(call)) for call in calls)


def read_verbose(verbose: bool | Call, named: dict[str, Call]) -> tuple[bool, dict[str, Call]]:
    """Whether a page is asked for in full, and the aggregates by name: one may be named verbose."""
    if isinstance(verbose, Call):
        return False, {**named, "verbose": verbose}
    return check_flag("verbose", verbose), named


def with_partitions(bound: B, partitions: int | None) -> B:
    """The bound source with this number of partitions of state, if it is given."""
    if partitions is None:
        return bound
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions not in SOME:
        raise refuse(
            f"partitions={partitions!r}",
            f"is not a whole number from 1 to {SOME[-1]:,}",
            "write for example partitions=16, or leave it out: one for each task",
        )
    return bound.with_source(partitions=partitions)


def check_hints(**hints: float | None) -> None:
    """Refuse hints that are not positive numbers."""
    for argument, hint in hints.items():
        if hint is not None and not (isinstance(hint, (int, float)) and 0 < hint <= _MOST):
            raise refuse(
                f"{argument}={hint!r}", "is not a positive number", f"write {argument}=100"
            )
