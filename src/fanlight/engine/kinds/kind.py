"""A kind of window: one entry with all that the library needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from fanlight.engine.plan.frames import Scheme
from fanlight.engine.spec.units import Extent
from fanlight.types import Filling, How, Side

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

    ``outputs`` are the columns of results besides keys and aggregates. ``lasting``: ``time`` may be
    a pair of columns. ``droppable``: late rows can only be dropped, since rows decide windows.
    ``verbs`` are what the query language can ask of them besides aggregates.
    """

    name: str
    outputs: tuple[str, ...]
    lasting: bool = False
    droppable: bool = False
    verbs: tuple[str, ...] = ()


PLACED = Family("sliding", ("window",), lasting=True, verbs=("wide",))
LEVELLED = Family(
    "granular", ("window", "level"), lasting=True,
    verbs=("fit", "recurring", "wide", "bursts"),
)  # fmt: skip
FRAMED = Family(
    "frame", ("window", "frame_id", "rows", "closed"), droppable=True,
    verbs=("fill", "split"),
)  # fmt: skip
TRAILED = Family("trailing", (), droppable=True)
WIDENED = Family("widening", ("window",), droppable=True, verbs=("detect",))

SNAPPED = Family("snapshot", ("window",), lasting=True)

FINAL = "final"  # of windows that are given early: whether it is their last result
SIDES = get_args(Side)
EMPTY = get_args(Filling)
HOWS = get_args(How)
FRAMES = (Feature("frames", WORKERS, STATE),)


class Reader(Protocol):
    """What the query language offers to the functions that read a kind of window.

    A node has parts, which are nodes, and words. ``add_span`` records where an argument of the API
    stands in the text, so that an error about it points there.
    """

    def parts(self, node: Node) -> list[Node]:
        """The parts of a node."""

    def words(self, node: Node) -> dict[str, str]:
        """The words that stand in a node itself, in capitals, by their terminals in the grammar."""

    def rule(self, node: Node) -> str:
        """The rule of the grammar that a node is read by."""

    def add_span(
        self,
        argument: str,
        node: Node,
        value: str = "",
        *,
        until: Node | None = None,
        whole: bool = True,
    ) -> None:
        """Record where an argument of the API stands, perhaps ``until`` the end of another node.

        Not ``whole``: an error may point within.
        """

    def add_word_span(self, argument: str, node: Node, word: str) -> None:
        """Record that an argument stands at a word of a node, named by its terminal."""

    def add_inner_span(self, argument: str, node: Node) -> None:
        """Record where an argument in SQL stands, without brackets around all of it."""

    def add_level_spans(self, name: str, node: Node, *, backwards: bool = False) -> None:
        """Record where the lengths of the levels stand: all together, and each."""

    def name_parts(self, node: Node) -> tuple[str, ...]:
        """The parts of a name, without quotes."""

    def column(self, argument: str, node: Node) -> str:
        """The name of a column, which is an argument of the API."""

    def length(self, node: Node, *, calendar: bool = False) -> Any:
        """A duration as text, a number, or a number of rows; days may be those of a calendar."""

    def lengths(self, node: Node, *, calendar: bool = False) -> list[Any]:
        """All lengths of a node; days may be those of a calendar."""

    def number(self, node: Node) -> Any:
        """A number; a fraction such as 1/3 exactly."""

    def string(self, node: Node) -> str:
        """The string in quotes among the words of a node."""

    def only_integer(self, node: Node) -> int:
        """The integer among the words of a node."""

    def sizes(self, node: Node) -> tuple[list[Node], dict[str, Any]]:
        """The other parts of a node, and the least and greatest size of frames as arguments."""

    def sql(self, node: Node) -> str:
        """A node as Spark SQL, without the brackets around all of it."""

    def by_column(
        self, argument: str, nodes: Iterable[Node], value: Callable[[Node], Any]
    ) -> dict[str, Any]:
        """Read nodes as columns, each with a value."""

    def crossing(self, node: Node) -> dict[str, Any]:
        """The argument ``include_crossing``, if a node says it."""

    def aggregate(self, node: Node) -> Any:
        """An aggregate of columns."""

    def refuse_repeated(self, node: Node, seen: Iterable[str]) -> None:
        """Refuse a node whose rule has been seen before."""

    def translate_errors(self, node: Node) -> AbstractContextManager[None]:
        """Context manager: an error raised inside is re-raised in the words of the text."""


class Writer(Protocol):
    """What the query language offers to the functions that write a kind of window."""

    def length(self, length: Extent, *, calendar: bool = False) -> str:
        """A length; with ``calendar``, hours are the longest unit that always lasts the same."""

    def number(self, value: Any) -> str:
        """A number that is the same when it is read again."""

    def name(self, column: str) -> str:
        """A column's name, in quotes where it needs them."""

    def sql(self, given: Any, spec: Any) -> str:
        """SQL text; an error that names the spec if ``given`` is not text."""

    def sizes(self, spec: Any) -> str:
        """The least and the greatest size of a frame."""

    def aggregate(self, call: Any, spec: Any) -> str:
        """An aggregate; an error that names the spec if it cannot be written."""


@dataclass(frozen=True)
class Words:
    """How the query language writes a kind of window.

    ``begins`` is how it begins, for messages, and ``form`` what it consists of, in the notation of
    lark: the tree of its ``rule`` is what ``read`` gets. ``rules`` and ``terminals`` are its own,
    ``terminal_names`` name terminals in errors that say what was expected, ``examples`` show what
    follows a word, and ``arguments`` say by which words the arguments of its class are written.
    """

    rule: str
    begins: str
    form: str
    read: Callable[[Reader, Node], Any]
    write: Callable[[Writer, Any], str]
    rules: str = ""
    terminals: str = ""
    terminal_names: Mapping[str, str] = field(default_factory=dict)
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
    noun: str = "frames"


@dataclass(frozen=True)
class Elsewhere:
    """What another system calls such windows, and what to write here.

    ``arguments`` are the lengths that it takes by name or place, ``form`` an example of it, and
    ``make`` makes the windows of the lengths.
    """

    name: str
    arguments: tuple[str, ...]
    form: str
    make: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of window: its class of specs, and what every room needs to know of it.

    ``example`` is a spec of it. ``features`` say what it needs where, for the doctor. ``scheme``
    makes the scheme of a frame from the types of its inputs and the kind of the time. ``words`` are
    those of the query language. ``make_example`` makes the example of a frame that is drawn.
    ``elsewhere`` is what Flink's SQL calls such windows, and ``other_names`` what else others call
    them, with what to write instead.
    """

    spec: type
    family: Family
    example: Any
    features: tuple[Feature, ...]
    words: Words
    scheme: Callable[[Any, Sequence[str], str], Scheme] | None = None
    make_example: Callable[[Any], Example] | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    other_names: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its class of specs."""
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
    """The kind of a spec, or of the windows in a list or mapping; None of anything else."""
    if isinstance(spec, (list, tuple, Mapping)):
        ones = spec.values() if isinstance(spec, Mapping) else spec
        several = {kind_of(one) for one in ones if not isinstance(one, (list, tuple, Mapping))}
        listed = next(iter(several)) if len(several) == 1 and several != {None} else None
        family = TRAILED if isinstance(spec, Mapping) else PLACED
        return listed if listed is None or listed.family is family else None
    return next((_KINDS[one] for one in type(spec).__mro__ if one in _KINDS), None)


def output_columns(spec: object, *, early: bool = False) -> tuple[str, ...]:
    """The columns of results besides keys and aggregates; ``early``: given while they are open."""
    kind = kind_of(spec)
    own = () if kind is None else kind.family.outputs
    several = ("query",) if isinstance(spec, (list, tuple)) else ()
    return (*own, *several, *((FINAL,) if early else ()))
