"""What framing schemes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import is_column, refuse
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
    least: Least | None = None
    most: Most | None = None
    scheme_cause: ClassVar[str] = "scheme"  # why a frame ended, if its scheme ended it

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What is read of each row."""
        raise NotImplementedError

    @property
    def shown_inputs(self) -> tuple[Input, ...]:
        """The inputs whose value in a frame is a part of results: all rows of it have the same."""
        return ()

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words that go on from 'a frame ends'."""
        raise NotImplementedError

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """What holds of the framing of the scheme alone."""
        raise NotImplementedError

    @property
    def ends(self) -> str:
        """Where a frame ends, in words that go on from 'a frame ends'."""
        return self.scheme_ends + (f"; at the latest {self.most.ends}" if self.most else "")

    @property
    def guarantees(self) -> frozenset[Guarantee]:
        """What holds of the final framing, whatever the data (Grossniklaus et al., 3.2).

        Frames that are cut short may be followed by the next one at once, and longer ones would
        satisfy the scheme, too; rows of frames that are too small are in none.
        """
        lost: set[Guarantee] = {"drained", "separated"} if self.most else set()
        if self.least not in (None, Least()):
            lost.add("partitions")
        return self.scheme_guarantees - lost


@dataclass(frozen=True)
class Least:
    """The least size of a frame that is reported.

    The name of this class is in the fingerprints of streams, so in checkpoints.
    """

    rows: int = 1
    duration: Extent | None = None

    @property
    def arguments(self) -> str:
        """What differs from the defaults, as further arguments."""
        rows = f", min_rows={self.rows}" if self.rows > 1 else ""
        return rows + (f", min_duration={self.duration}" if self.duration else "")


@dataclass(frozen=True)
class Most:
    """The greatest size of a frame: what ends it besides its scheme, whichever comes first.

    The name of this class is in the fingerprints of streams, so in checkpoints.
    """

    rows: int | None = None
    duration: Extent | None = None
    gap: Extent | None = None

    @property
    def ends(self) -> str:
        """Where it ends a frame, in words that go on from 'at the latest'."""
        parts = [
            f"before row {self.rows + 1} of it" if self.rows else "",
            f"{self.duration} after its first row" if self.duration else "",
            f"{self.gap} after its last row" if self.gap else "",
        ]
        return " or ".join(filter(None, parts))

    @property
    def arguments(self) -> str:
        """What is given, as further arguments."""
        named = {"max_rows": self.rows, "max_duration": self.duration, "max_gap": self.gap}
        return "".join(f", {name}={limit}" for name, limit in named.items() if limit)


def read_least(min_rows: Any, min_duration: Any) -> Least:
    """Read ``min_rows`` and ``min_duration``."""
    return Least(_read_count("min_rows", min_rows), read_length("min_duration", min_duration))


def read_most(max_rows: Any, max_duration: Any, max_gap: Any, least: Least) -> Most | None:
    """Read ``max_rows``, ``max_duration`` and ``max_gap``; None if none is given."""
    if max_rows is None and max_duration is None and max_gap is None:
        return None
    rows = None if max_rows is None else _read_count("max_rows", max_rows)
    duration, gap = read_length("max_duration", max_duration), read_length("max_gap", max_gap)
    if rows is not None and rows < least.rows:
        _refuse_crossed("max_rows", rows, "min_rows", least.rows)
    low = least.duration
    if duration and low and duration.measure == low.measure and duration.value < low.value:
        _refuse_crossed("max_duration", duration, "min_duration", low)
    return Most(rows, duration, gap)


def read_sizes(
    min_rows: Any, min_duration: Any, max_rows: Any, max_duration: Any, max_gap: Any
) -> dict[str, Any]:
    """Read the least and the greatest size of a frame; as the fields of a spec."""
    least = read_least(min_rows, min_duration)
    return {"least": least, "most": read_most(max_rows, max_duration, max_gap, least)}


def read_optional_sizes(*given: Any) -> dict[str, Any]:
    """Read the sizes as above, with None for a least size that is not given."""
    sizes = read_sizes(*given)
    return {**sizes, "least": None if sizes["least"] == Least() else sizes["least"]}


def _read_count(argument: str, given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise refuse(
            f"{argument}={given!r}", "is not a positive number of rows", f"write {argument}=20"
        )
    return given


def read_length(argument: str, given: Any) -> Extent | None:
    """Read a length of time; None stays None."""
    if given is None:
        return None
    length = read_extent(argument, given, counted=False)
    if length.measure == "rows":
        if argument.endswith("_duration"):
            instead = f"write {argument[:3]}_rows={length.value}"
        else:
            instead = f"write {argument}='5 minutes', or a number for a numeric time"
        raise refuse(f"{argument}={given}", "counts rows", instead)
    return length


def _refuse_crossed(most: str, high: Any, least: str, low: Any) -> None:
    raise refuse(
        f"{most}={high}, {least}={low}",
        "leaves out every frame: none can be as large as the least and as small as the greatest",
        f"write {most}={low} or more, or less for {least}",
    )


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
    if not is_column(given):
        raise refuse(
            f"{argument}={given!r}",
            "is neither SQL text nor a Column",
            f"write {argument}='flsp > 0.2'",
        )
    return given


def write_sizes(spec: Frame) -> str:
    """The least and greatest size as arguments, for ``repr``. Empty for the defaults."""
    return "".join(size.arguments for size in (spec.least, spec.most) if size)


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
    """``include_crossing`` as an argument, for ``repr``. Empty for the default."""
    return "" if include == default else f", include_crossing={include}"


def describe_crossing(include: bool) -> str:
    """What ``include_crossing`` adds to the words on where a frame ends."""
    return "; the row that does it is the frame's last" if include else ""


def is_function(given: Any) -> bool:
    """Whether something is a Python function rather than a Column (which can be called, too)."""
    return callable(given) and not is_column(given)
