"""What a law asks of the library: a query, its rows, and where and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any

import fanlight as fl
from tests.helpers.dataframes import FAR
from tests.helpers.events import MINUTE, ONE_AT_A_TIME
from tests.helpers.sparks import VERSION

Row = dict[str, Any]
SINCE = {
    "approx_percentile": (4, 1),
    "nth_smallest": (4, 2),
    "nth_youngest": (4, 2),
}  # versions of Spark
PLACED = ("sliding", "levels", "spanning", "several", "calendar")  # kinds that time may place
UNITS = {"minutes": MINUTE, "minute": MINUTE, "seconds": 1_000_000}


@dataclass(frozen=True)
class Data:
    """Rows that are drawn when they are first needed, and then kept: the same in every run."""

    name: str
    draw: Callable[[], list[Row]] = field(compare=False)

    @property
    def rows(self) -> list[Row]:
        with ONE_AT_A_TIME:  # or two threads would draw, and might keep different rows
            return _drawn(self)


@cache
def _drawn(data: Data) -> list[Row]:
    return data.draw()


@dataclass(frozen=True)
class Setting:
    """How a session is set up beside the others; each has one of its own."""

    name: str
    conf: tuple[tuple[str, str], ...] = ()
    repartition: int | None = None


PLAIN = Setting("plain")


def microseconds(delay):
    """The delay of a watermark."""
    count, unit = delay.split()
    return int(count) * UNITS[unit]


@dataclass(frozen=True)
class Arrivals:
    """How rows come in as micro-batches: which of their splits, and how late.

    ``delay`` is that of the watermark, ``late`` by how much a row may come after a later one; by
    default as much. ``pieces`` are micro-batches given by hand, and ``restarts`` says after which
    of them the query is stopped and started again from its checkpoint: none, half, or each. Each
    row may be ``alone`` in its micro-batch, so that the watermark moves with every row. A row at
    ``closed``, of a key of its own, ends the stream.
    """

    which: int = 0
    delay: str = "5 minutes"
    late: str | None = None
    pieces: tuple[tuple[Row, ...], ...] | None = field(default=None, compare=False)
    restarts: str = "none"
    closed: int = FAR
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Ask:
    """One query whose answer must be the oracle's.

    ``requests`` are aggregates as the oracle writes them, by output name. ``action`` is the
    terminal method if it is not ``agg``, ``options`` its arguments, ``hints`` those of ``using``.
    ``names`` are what some columns, and results, are called instead: the answer has the plain ones.
    ``thorough`` asks are for ``make law``: others hold the same, one for each of their parts.
    Which of the others are is decided among them all (tests/law/sample.py).
    """

    kind: str
    about: str
    spec: Any
    data: Data
    requests: Mapping[str, tuple[Any, ...]]
    strategy: str = "auto"
    time: Any = "ts"
    by: tuple[str, ...] = ("case", "k")
    tiebreak: tuple[str, ...] = ("seq",)
    action: str = "agg"
    options: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, Any] = field(default_factory=dict)
    session: str = "classic"
    setting: Setting = PLAIN
    arrivals: Arrivals | None = None
    late: str = "drop"
    forget_after: Any = None
    names: Mapping[str, str] = field(default_factory=dict)
    thorough: bool = False

    @property
    def streamed(self) -> bool:
        return self.arrivals is not None

    @property
    def is_placed(self) -> bool:
        """Whether time places the windows, and not rows in order."""
        first = self.spec[0] if isinstance(self.spec, list) else self.spec
        measure = first.slides[0].measure if isinstance(first, fl.MultiGranular) else None
        if isinstance(first, fl.Sliding):
            measure = "rows" if first.mixed else first.slide.measure
        return self.kind in PLACED and measure != "rows"

    @property
    def name(self) -> str:
        """What the test is called."""
        parts = [self.kind, self.about, repr(self.spec), self.strategy]
        if self.arrivals is not None:
            parts.append(f"split {self.arrivals.which}")
        if self.setting is not PLAIN:
            parts.append(self.setting.name)
        if self.session != "classic":
            parts.append(self.session)
        return " | ".join(parts)

    def again(self, **changed: Any) -> Ask:
        """The same query, asked otherwise."""
        return replace(self, **changed)


def asks(kind, about, specs, data, requests, *, strategies=("auto",), time="ts", **more):
    """An ask for each spec and strategy; ``data``, ``time`` may be functions of the spec."""
    known = {name: one for name, one in requests.items() if SINCE.get(one[0], VERSION) <= VERSION}
    return tuple(
        Ask(
            kind,
            about,
            spec,
            data(spec) if callable(data) else data,
            known,
            strategy=strategy,
            time=time(spec) if callable(time) else time,
            **more,
        )
        for spec, strategy in product(specs, strategies)
    )


def thorough(found):
    """The same asks, for ``make law``."""
    return tuple(ask.again(thorough=True) for ask in found)
