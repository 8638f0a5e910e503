"""A kind of window: one entry with all that the library needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from fanlight.engine.plan.frames import Scheme
from fanlight.engine.spec.units import Extent

Node = Any  # a part of a text that has been read, as the language has it
Need = Literal["Python workers", "RocksDB"]

NATIVE: frozenset[Need] = frozenset()
WORKERS: frozenset[Need] = frozenset({"Python workers"})
STATE: frozenset[Need] = WORKERS | {"RocksDB"}  # a stateful operator, in Python


@dataclass(frozen=True)
class Feature:
    """A kind of windows or of results, and what it needs as ``auto`` runs it."""

    name: str
    batch: frozenset[Need]
    stream: frozenset[Need]


@dataclass(frozen=True)
class Family:
    """Kinds that are opened, drawn and asked in the same way.

    ``outputs`` are the columns of results besides keys and aggregates. ``lasting``: a pair of times
    is taken, too. ``droppable``: rows that come late can be dropped only, as rows decide. ``verbs``
    are what the query language can ask of them besides aggregates.
    """

    name: str
    outputs: tuple[str, ...]
    lasting: bool = False
    droppable: bool = False
    verbs: tuple[str, ...] = ()


PLACED = Family("sliding", ("window",), lasting=True)
LEVELLED = Family("granular", ("window", "level"), lasting=True, verbs=("fit", "recurring"))
FRAMED = Family(
    "frame", ("window", "frame_id", "rows", "closed"), droppable=True, verbs=("fill", "split")
)
WIDENED = Family("widening", ("window",), droppable=True, verbs=("detect",))


FRAMES = (Feature("frames", WORKERS, STATE),)


class Reader(Protocol):
    """What the query language offers to those who read a kind of window.

    A part is a node: it has parts of its own, and words. ``add_span`` records where an argument of
    the API stands, so that an error about it points there.
    """

    def parts(self, node: Node) -> list[Node]:
        """The parts of a part."""

    def words(self, node: Node) -> dict[str, str]:
        """The words that stand in a part itself, in capitals, by what they are in the grammar."""

    def rule(self, node: Node) -> str:
        """What a part is in the grammar."""

    def add_span(self, argument: str, node: Node, value: str = "", *, whole: bool = True) -> None:
        """Record where an argument of the API stands; not ``whole``: an error may point within."""

    def add_word_span(self, argument: str, node: Node, word: str) -> None:
        """Record that it stands at a word of a part, named by its terminal in the grammar."""

    def add_inner_span(self, argument: str, node: Node) -> None:
        """Record where SQL stands, without brackets around all of it."""

    def add_level_spans(self, name: str, node: Node, *, backwards: bool = False) -> None:
        """Record where the lengths of the levels stand: all together, and each."""

    def column(self, argument: str, node: Node) -> str:
        """The name of a column, which is an argument of the API."""

    def length(self, node: Node, *, calendar: bool = False) -> Any:
        """A duration as text, a number, or a number of rows; days may be those of a calendar."""

    def lengths(self, node: Node) -> list[Any]:
        """All lengths of a part."""

    def number(self, node: Node) -> Any:
        """A number; 1/3 as it is."""

    def only_integer(self, node: Node) -> int:
        """The integer among the words of a part."""

    def limits(self, nodes: Iterable[Node], *, most: bool = False) -> dict[str, Any]:
        """The least rows and duration of a frame, and with ``most`` the greatest duration."""

    def sql(self, node: Node) -> str:
        """A part in Spark SQL, without the brackets around all of it."""

    def by_column(
        self, argument: str, nodes: Iterable[Node], value: Callable[[Node], Any]
    ) -> dict[str, Any]:
        """Columns, each with a value."""

    def crossing(self, node: Node) -> dict[str, Any]:
        """Whether the row that ends a frame belongs to it, if a part says so."""

    def aggregate(self, node: Node) -> Any:
        """An aggregate of columns."""

    def refuse_repeated(self, node: Node, seen: Iterable[str]) -> None:
        """Refuse a part whose rule has been seen before."""

    def translate_errors(self, node: Node) -> AbstractContextManager[None]:
        """An error raised inside is translated into the words of the text."""


class Writer(Protocol):
    """What the query language offers to those who write a kind of window."""

    def length(self, length: Extent, *, calendar: bool = False) -> str:
        """A length; with ``calendar``, hours are the longest unit that always lasts the same."""

    def number(self, value: Any) -> str:
        """A number that is the same when it is read again."""

    def name(self, column: str) -> str:
        """A column's name, in quotes where it needs them."""

    def sql(self, given: Any, spec: Any) -> str:
        """SQL text; an error of the spec if it is none."""

    def least(self, least: Any) -> str:
        """The least size of a frame."""

    def aggregate(self, call: Any, spec: Any) -> str:
        """An aggregate; an error of the spec if it cannot be written."""


@dataclass(frozen=True)
class Words:
    """How the query language writes a kind of window.

    ``begins`` is how it begins, for messages, and ``form`` what it consists of, in the notation of
    lark: the tree of its ``rule`` is what ``read`` gets. ``rules`` and ``terminals`` are its own,
    ``called`` says what a terminal is called where it would have been right, ``examples`` what a
    word is followed by, and ``arguments`` what arguments of its class are called.
    """

    rule: str
    begins: str
    form: str
    read: Callable[[Reader, Node], Any]
    write: Callable[[Writer, Any], str]
    rules: str = ""
    terminals: str = ""
    called: Mapping[str, str] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_frame(self) -> bool:
        """Whether it stands after the word FRAME, with other schemes."""
        return self.begins.startswith("FRAME ")


@dataclass(frozen=True)
class Example:
    """Frames of made-up data, to be drawn.

    Of values one after the other (``curve``), frames are ``spans`` of rows, and ``rules`` the
    heights that decide them; of rows at ``times``, they are spans of time.
    """

    spans: Sequence[tuple[float, float]]
    rules: Sequence[float] = ()
    curve: Sequence[float] = ()
    times: Sequence[float] = ()
    called: str = "frames"


@dataclass(frozen=True)
class Elsewhere:
    """What another system calls such windows, and what to write here.

    ``arguments`` are the lengths that it takes by name or place, ``form`` an example of it, and
    ``made`` makes the windows of the lengths.
    """

    name: str
    arguments: tuple[str, ...]
    form: str
    made: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of window: its class of specs, and what every room needs to know of it.

    ``example`` is a spec of it. ``features`` say what it needs where, for the doctor. ``scheme``
    makes the scheme of a frame from the types of its inputs and the kind of the time. ``words`` are
    those of the query language. ``right``: sets of arguments that are right, one for each notation,
    so that a job file's wrong argument is found among right ones; without any, job files do not
    have it. ``drawn`` is what to draw of a frame. ``elsewhere`` is what Flink's SQL calls such
    windows, and ``called`` what else others call them, with what to write instead.
    """

    spec: type
    family: Family
    example: Any
    features: tuple[Feature, ...]
    words: Words
    scheme: Callable[[Any, Sequence[str], str], Scheme] | None = None
    right: tuple[Mapping[str, Any], ...] = ()
    drawn: Callable[[Any], Example] | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    called: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """That of its class."""
        return self.spec.__name__


_KINDS: dict[type, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind known everywhere."""
    _KINDS[kind.spec] = kind


def forget(kind: Kind) -> None:
    """Make a kind unknown again."""
    del _KINDS[kind.spec]


def list_kinds() -> tuple[Kind, ...]:
    """All kinds, in the order in which they were registered."""
    return tuple(_KINDS.values())


def kind_of(spec: object) -> Kind | None:
    """The kind of a spec, or of the windows in a list; None of anything else."""
    if isinstance(spec, (list, tuple)):
        found = {kind_of(one) for one in spec if not isinstance(one, (list, tuple))}
        listed = next(iter(found)) if len(found) == 1 and found != {None} else None
        return listed if listed is None or listed.family is PLACED else None
    return next((_KINDS[one] for one in type(spec).__mro__ if one in _KINDS), None)


def output_columns(spec: object) -> tuple[str, ...]:
    """The columns of results besides keys and aggregates."""
    kind = kind_of(spec)
    own = () if kind is None else kind.family.outputs
    return (*own, "query") if isinstance(spec, (list, tuple)) else own
