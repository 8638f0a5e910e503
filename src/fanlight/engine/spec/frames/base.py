"""What framing schemes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.pictures import Pictured
from fanlight.engine.spec.units import Extent, read_extent

Guarantee = Literal[
    "unique", "drained", "non-overlapping", "separated", "partitions", "overlapping"
]


@dataclass(frozen=True)
class Input:
    """What a scheme reads of each row.

    ``argument`` names it in errors; ``given`` is a column's name or a Column. Where a text is SQL,
    ``sql`` says what it computes: a ``"condition on a row"``, say.
    """

    argument: str
    given: Any
    sql: str = ""


CONDITION = "condition on a row"


class Frame(Pictured):
    """A framing scheme: what decides where frames begin and end."""

    __slots__ = ()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What is read of each row."""
        raise NotImplementedError

    @property
    def ends(self) -> str:
        """Where a frame ends, in words that go on from 'a frame ends'."""
        raise NotImplementedError

    @property
    def guarantees(self) -> frozenset[Guarantee]:
        """What holds of the final framing, whatever the data (Grossniklaus et al., 3.2)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Least:
    """The least size of a frame that is reported.

    The name of this class is in the fingerprints of streams, so in checkpoints.
    """

    rows: int = 1
    duration: Extent | None = None


def read_minimum_size(min_rows: Any, min_duration: Any) -> Least:
    """Read ``min_rows`` and ``min_duration``."""
    if isinstance(min_rows, bool) or not isinstance(min_rows, int) or min_rows < 1:
        raise refuse(
            f"min_rows={min_rows!r}", "is not a positive number of rows", "write min_rows=20"
        )
    if min_duration is None:
        return Least(min_rows)
    length = read_extent("min_duration", min_duration, counted=False)
    if length.measure == "rows":
        raise refuse(
            f"min_duration={min_duration}", "counts rows", f"write min_rows={length.value}"
        )
    return Least(min_rows, length)


def set_fields(spec: Any, **values: Any) -> None:
    """Set the fields of a frozen dataclass, from its own ``__init__``."""
    for name, value in values.items():
        object.__setattr__(spec, name, value)


def read_predicate(argument: str, given: Any) -> Any:
    """Read a predicate, SQL text or a Column; Spark checks it later, when ``over`` binds it."""
    if isinstance(given, str):
        if not given.strip():
            raise refuse(f"{argument}=''", "is empty", f"write {argument}='flsp > 0.2'")
        return check_text(argument, given, f"{argument}='flsp > 0.2'")
    if given is None or isinstance(given, (bool, int, float, list, tuple, dict)):
        raise refuse(
            f"{argument}={given!r}",
            "is neither SQL text nor a Column",
            f"write {argument}='flsp > 0.2'",
        )
    return given


def write_minimum_size(least: Least) -> str:
    """The least size as arguments, for ``repr``; empty for the defaults."""
    rows = f", min_rows={least.rows}" if least.rows > 1 else ""
    return rows + (f", min_duration={least.duration}" if least.duration else "")


def check_columns(argument: str, given: Any, example: str) -> Mapping[str, Any]:
    """Return ``given`` if it maps names of columns to something."""
    if not isinstance(given, Mapping) or not given:
        raise refuse(
            f"{argument}={given!r}",
            "names no column",
            f"write {argument}={{'column': {example}}}",
        )
    for name in given:
        if not isinstance(name, str):
            raise refuse(
                f"{argument}: {name!r}", "is not a column's name", "name the column by a string"
            )
    return given


def write_crossing(include: bool, *, default: bool) -> str:
    """``include_crossing`` as an argument, for ``repr``; empty for the default."""
    return "" if include == default else f", include_crossing={include}"


def describe_crossing(include: bool) -> str:
    """What ``include_crossing`` adds to the words on where a frame ends."""
    return "; the row that does it is the frame's last" if include else ""


def is_function(given: Any) -> bool:
    """Whether something is a Python function rather than a Column (which can be called, too)."""
    return callable(given) and not hasattr(given, "alias")
