"""Row patterns as numbers: the steps of a search, and what definitions compute on a stack."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from fanlight.engine.algebra.aggregate import base_type
from fanlight.engine.plan.frames import LEAST, MOST, InputColumn, number_input
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.frames.definitions import (
    ANY,
    Node,
    Operation,
    Place,
    Running,
    Value,
    nodes_of,
)
from fanlight.engine.spec.frames.pattern import NEXT, PAST_LAST, PatternFrame
from fanlight.engine.spec.frames.row_patterns import (
    JUMP,
    MATCH,
    ROW,
    SPLIT,
    Step,
    compile_pattern,
    has_anchor,
)

# What a step of a definition does to a stack of values.
DOES = (
    "constant", "unknown", "column", "running", "as real",
    "+", "-", "*", "/", "%", "- of", "abs",
    "=", "<>", "<", "<=", ">", ">=", "<=>",
    "and", "or", "not", "is null", "is true", "is false",
    "coalesce", "greatest", "least", "nullif",
)  # fmt: skip
# What follows the rows of a variable: the first rows, the last ones, or a running number.
FOLLOWS = ("first rows", "last rows", "count", "sum", "min", "max")
# Where the next match may begin.
AFTER_LAST, AFTER_FIRST_ROW, AFTER_FIRST_OF, AFTER_LAST_OF = range(4)
ALWAYS, COMPUTED = -1, -2  # instead of the input that says whether a row is a variable
_TIMES = {"timestamp": "timestamp", "timestamp_ntz": "local time", "date": "date"}
_DURATION = re.compile(r"interval (day|hour|minute|second)\b.*")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
_DAY = 86_400_000_000


class Op(NamedTuple):
    """A step of a definition: what it does, with which number, on reals or whole numbers."""

    does: int
    what: int
    real: int


class Follower(NamedTuple):
    """A number that follows the rows of a variable, -1 for all rows: what, of which column, where.

    ``column`` is that of a real or a whole number, -1 for none. It is kept from ``target`` on, in
    ``size`` places, and whether it is known is told by the count at ``known``.
    """

    does: int
    variable: int
    real: int
    column: int
    target: int
    size: int
    known: int


@dataclass(frozen=True)
class Automaton:
    """A pattern to be searched for: see ``kernels/patterns.py``.

    ``flags`` has for each variable the input that says whether a row is one, or ``ALWAYS`` or
    ``COMPUTED``; ``ops`` what is computed for it, from ``begins`` on. ``alone`` says of each step
    whether what comes of it depends on the row alone, whatever was matched before. ``places`` are
    where columns are read: which variable, how many of its rows on, and how many rows back, by
    ``lasts`` and ``firsts``. ``texts`` are the whole columns that are texts.
    """

    text: str
    variables: tuple[str, ...]
    steps: tuple[Step, ...]
    flags: tuple[int, ...]
    alone: tuple[bool, ...]
    depends: tuple[bool, ...]
    ops: tuple[Op, ...]
    begins: tuple[int, ...]
    constants: tuple[float | int, ...]
    places: tuple[tuple[int, int], ...]
    followers: tuple[Follower, ...]
    integers: int
    reals: int
    real_inputs: tuple[int, ...]
    whole_inputs: tuple[int, ...]
    text_inputs: tuple[int, ...]
    after: int
    after_variable: int
    first_only: bool
    most_rows: int
    back: int
    anchored: bool


class _Type(NamedTuple):
    """The type of a value: ``real``, or whole numbers of a ``unit`` with some decimals."""

    unit: str
    real: bool = False
    scale: int = 0


_FLAG = _Type("boolean")
_NULL = _Type("null")
_COUNT = _Type("number")
_REAL = _Type("number", real=True)


def build_automaton(
    spec: PatternFrame, types: Sequence[str]
) -> tuple[Automaton, tuple[InputColumn, ...]]:
    """The automaton of a spec whose inputs have these types, and how inputs are read."""
    return _Builder(spec, types).build()


class _Builder:
    def __init__(self, spec: PatternFrame, types: Sequence[str]) -> None:
        self.spec = spec
        self.kinds = list(types)
        self.numbers = {name: at for at, name in enumerate(spec.variables)}
        self.ops: list[Op] = []
        self.constants: list[float | int] = []
        self.places: list[tuple[int, int]] = []
        self.followers: list[Follower] = []
        self.integers = self.reals = 0
        self.kept: dict[Any, int] = {}
        self.depends = [False] * len(spec.variables)
        self.real_inputs: list[int] = []
        self.whole_inputs: list[int] = []
        self.about = ""

    def build(self) -> tuple[Automaton, tuple[InputColumn, ...]]:
        """See :func:`build_automaton`."""
        spec = self.spec
        flags, begins, back = [], [0], 0
        for name, one in zip(spec.variables, spec.definitions, strict=True):
            self.about = f"define={{{name!r}: {one.given if one else ''!s}}}"
            if one is None:
                flags.append(ALWAYS)
            elif one.plain:
                flags.append(self._flag_input(one.tree))
            else:
                flags.append(COMPUTED)
                self._write_definition(name, one.tree)
                back = max(back, *(n.place.back for n in nodes_of(one.tree)
                                   if isinstance(n, Value)), 0)  # fmt: skip
            begins.append(len(self.ops))
        steps = compile_pattern(spec.part, self.numbers, spec.pattern)
        after, variable = self._after()
        automaton = Automaton(
            spec.pattern, spec.variables, steps, tuple(flags),
            tuple(_find_alone(steps, self.depends)), tuple(self.depends),
            tuple(self.ops), tuple(begins), tuple(self.constants), tuple(self.places),
            tuple(self.followers), self.integers, self.reals,
            tuple(self.real_inputs), tuple(self.whole_inputs),
            tuple(at for at in self.whole_inputs if base_type(self.kinds[at]) in _TEXTS),
            after, variable, spec.matches == "first", spec.most_rows or 0, back,
            has_anchor(spec.part, "^"),
        )  # fmt: skip
        alone = {at for at in flags if at >= 0}
        return automaton, tuple(
            self._input(at, kind, alone=at in alone) for at, kind in enumerate(self.kinds)
        )

    def _after(self) -> tuple[int, int]:
        if self.spec.after_match in (PAST_LAST, NEXT):
            return (AFTER_LAST, AFTER_FIRST_ROW)[self.spec.after_match == NEXT], -1
        place, _, name = self.spec.after_match.partition(" ")
        return (AFTER_FIRST_OF if place == "first" else AFTER_LAST_OF), self.numbers[name]

    def _flag_input(self, tree: Any) -> int:
        row: int = tree.row
        if self.kinds[row] != "boolean":
            given = self.spec.computed[row]
            raise refuse(
                self.about,
                f"is of type {self.kinds[row]}, not a condition",
                f"compare it with something: {f'{given} > 0'!r}",
            )
        return row

    def _input(self, at: int, kind: str, *, alone: bool) -> InputColumn:
        """How an input is read: a condition as a flag, a number as one, all else as it is."""
        given = self.spec.computed[at]
        computed = at in self.whole_inputs or at in self.real_inputs
        if kind == "boolean" and alone and not computed:
            return InputColumn(given, "flag")
        if self._type(at).unit == "number":
            return number_input("define", given, kind)
        return InputColumn(given, "value")

    def _type(self, at: int) -> _Type:
        """The type of an input."""
        kind, given = self.kinds[at], self.spec.computed[at]
        base = base_type(kind)
        if base == "boolean":
            return _FLAG
        if base in ("void", "null"):
            return _NULL
        if base in _TIMES:
            return _Type(_TIMES[base])
        if _DURATION.fullmatch(kind):
            return _Type("duration")
        if base in _TEXTS:
            if " collate " in kind:
                raise self._wrong(
                    f"compares {given!r}, a text with a collation", "compare lower(…)"
                )
            return _Type("text")
        if base in _NUMBERS:
            read = number_input("define", given, kind)
            return _Type("number", real=read.type == "real", scale=read.scale)
        raise self._wrong(
            f"reads {str(given)!r} of type {kind} around prev, first, last or an aggregate",
            f"compute what you compare inside: {self.navigation}(x[0]), or "
            f"{self.navigation}(ts + interval 1 month)",
        )

    @property
    def navigation(self) -> str:
        """A function of rows that the definitions have, for advice."""
        given = " ".join(str(text) for _, text in self.spec.define).lower()
        return next((name for name in ("prev", "last", "first") if f"{name}(" in given), "last")

    def _wrong(self, why: str, instead: str) -> FanlightError:
        return refuse(self.about, why, instead)

    def _write_definition(self, name: str, tree: Node) -> None:
        kind = self._write(tree)
        if kind.unit not in ("boolean", "null"):
            raise self._wrong("is not a condition", "compare it with something")
        self.depends[self.numbers[name]] = any(
            isinstance(node, Running) or (isinstance(node, Value) and node.place.at != "current")
            for node in nodes_of(tree)
        )

    # Each of these writes steps that leave one value on the stack, and returns its type.

    def _add(self, does: str, what: int = 0, *, real: bool = False) -> None:
        self.ops.append(Op(DOES.index(does), what, int(real)))

    def _constant(self, value: Fraction) -> _Type:
        """A number; with decimals it is a whole number, too."""
        scale = 0
        while scale <= 18 and (value * 10**scale).denominator > 1:
            scale += 1
        scaled = value * 10**scale
        if value.denominator == 1 and not LEAST <= value <= MOST:
            raise self._wrong(
                f"has {value}, which 64 bits do not hold", "compare it in SQL of one row"
            )
        if scale > 18 or not LEAST <= scaled <= MOST:
            return self._push(float(value), real=True)
        self._push(int(scaled), real=False)
        return _Type("number", scale=scale)

    def _push(self, value: float, *, real: bool) -> _Type:
        self.constants.append(value)
        self._add("constant", len(self.constants) - 1, real=real)
        return _REAL if real else _COUNT

    def _write(self, node: Node) -> _Type:
        if isinstance(node, Value):
            return self._write_value(node)
        if isinstance(node, Running):
            return self._write_running(node)
        return self._write_operation(node)

    def _write_value(self, node: Value) -> _Type:
        number = _literal(self.spec.computed[node.row])
        if number is not None:
            return self._constant(number)
        kind = self._type(node.row)
        if kind == _NULL:
            self._add("unknown")
            return kind
        place = self._place(node.place)
        column = self._column(node.row, real=kind.real)
        self._add("column", column * PLACES + place, real=kind.real)
        return kind

    def _column(self, row: int, *, real: bool) -> int:
        inputs = self.real_inputs if real else self.whole_inputs
        if row not in inputs:
            inputs.append(row)
        return inputs.index(row)

    def _place(self, place: Place) -> int:
        """The number of a place: the register with its row, -1 for the current row, and back."""
        register = -1
        if place.at != "current":
            register = self._rows_of(place.at, place.variable, place.offset)
        one = (register, place.back)
        if one not in self.places:
            self.places.append(one)
        return self.places.index(one)

    def _rows_of(self, at: str, variable: str, offset: int) -> int:
        """The register of a row of a variable; all up to the farthest offset stand in a row."""
        farthest = max(
            node.place.offset
            for one in self.spec.definitions if one is not None
            for node in nodes_of(one.tree)
            if isinstance(node, Value) and (node.place.at, node.place.variable) == (at, variable)
        )  # fmt: skip
        key = (at, variable)
        if key not in self.kept:
            self.kept[key] = self.integers
            self._follow(f"{at} rows", variable, -1, real=False, size=farthest + 1)
        return self.kept[key] + offset

    def _follow(
        self, does: str, variable: str, column: int, *, real: bool, size: int = 1, known: int = -1
    ) -> int:
        """Add a number that follows rows, and return where it is kept."""
        among_reals = real and does in ("sum", "min", "max")
        target = self.reals if among_reals else self.integers
        number = -1 if variable == ANY else self.numbers[variable]
        self.followers.append(
            Follower(FOLLOWS.index(does), number, int(real), column, target, size, known)
        )
        if among_reals:
            self.reals += size
        else:
            self.integers += size
        return target

    def _write_running(self, node: Running) -> _Type:
        if node.row is None:
            self._push_register(self._kept("count", node.variable, -1, _COUNT), -1, _COUNT)
            return _COUNT
        kind = self._type(node.row)
        column = self._column(node.row, real=kind.real)
        adds = node.function in ("sum", "avg")
        known = self._count_known(node.variable, column, kind, summed=adds and not kind.real)
        if node.function == "count":
            self._push_register(known, -1, _COUNT)
            return _COUNT
        if adds and kind.unit not in ("number", *(("duration",) if node.function == "sum" else ())):
            raise self._wrong(
                f"has {node.function}(…) of {kind.unit}s", "add up numbers; count any value"
            )
        does = "sum" if adds else node.function
        register = self._kept(does, node.variable, column, kind, known)
        self._push_register(register, known, kind)
        if node.function != "avg":
            return kind
        self._make_real(kind)
        self._push_register(known, -1, _COUNT)
        self._make_real(_COUNT)
        self._add("/", real=True)
        return _REAL

    def _count_known(self, variable: str, column: int, kind: _Type, *, summed: bool) -> int:
        """The count of values; that of a sum is its own, since it says whether the sum fits."""
        if not summed:
            return self._kept("count", variable, column, kind)
        key = ("count of a sum", variable, column)
        if key not in self.kept:
            self.kept[key] = self._follow("count", variable, column, real=False)
        return self.kept[key]

    def _kept(self, does: str, variable: str, column: int, kind: _Type, known: int = -1) -> int:
        key = (does, variable, kind.real, column)
        if key not in self.kept:
            self.kept[key] = self._follow(does, variable, column, real=kind.real, known=known)
        return self.kept[key]

    def _push_register(self, register: int, known: int, kind: _Type) -> None:
        """A running number; it is known if the count at ``known`` is above 0, or ``known`` -1."""
        self._add("running", register * PLACES + known + 1, real=kind.real)

    def _make_real(self, kind: _Type) -> None:
        """Make the topmost value a real."""
        if not kind.real:
            self._add("as real", kind.scale)

    def _write_operation(self, node: Operation) -> _Type:
        written = self._written.get(node.name)
        if written is None:
            raise self._wrong(
                f"has {node.name} around matched rows", f"write it inside: {self.navigation}(…)"
            )
        return written(self, node.name, node.parts)

    def _write_logic(self, name: str, parts: Sequence[Node]) -> _Type:
        for part in parts:
            kind = self._write(part)
            if kind.unit not in ("boolean", "null"):
                raise self._wrong(f"has {name} with a {kind.unit}", "compare it with something")
        self._add(name)
        return _FLAG

    def _write_is_null(self, name: str, parts: Sequence[Node]) -> _Type:
        kind = self._write(parts[0])
        self._add(name, real=kind.real)
        return _FLAG

    def _write_between(self, _: str, parts: Sequence[Node]) -> _Type:
        first = Operation(">=", (parts[0], parts[1]))
        return self._write(Operation("and", (first, Operation("<=", (parts[0], parts[2])))))

    def _write_in(self, _: str, parts: Sequence[Node]) -> _Type:
        found: Node = Operation("=", (parts[0], parts[1]))
        for part in parts[2:]:
            found = Operation("or", (found, Operation("=", (parts[0], part))))
        return self._write(found)

    def _write_comparison(self, name: str, parts: Sequence[Node]) -> _Type:
        kind = self._common(name, parts)
        for part in parts:
            self._write_as(part, kind)
        self._add(name, real=kind.real)
        return _FLAG

    def _advise_units(self, units: Sequence[str]) -> str:
        """What to write where values of these units meet."""
        if "local time" in units and {"timestamp", "date"} & {*units}:
            inside = f"{self.navigation}(cast(x as timestamp))"
            return f"cast inside: {inside}, and write times as timestamp'2024-01-31 12:00'"
        if "duration" in units:
            written = "durations as interval '1' day, or interval '01:30' hour to minute"
        else:
            written = "times as date'2024-01-31' or timestamp'2024-01-31 12:00'"
        return f"write {written}, or cast inside: {self.navigation}(cast(x as double))"

    def _write_sign(self, name: str, parts: Sequence[Node]) -> _Type:
        kind = self._write(parts[0])
        if kind.unit not in ("number", "duration", "null"):
            raise self._wrong(f"takes {name} a {kind.unit}", "take it of a number")
        if name != "+ of":
            self._add(name, real=kind.real)
        return kind

    def _write_choice(self, name: str, parts: Sequence[Node]) -> _Type:
        kind = self._common(name, parts)
        for at, part in enumerate(parts):
            self._write_as(part, kind)
            if at:
                self._add(name, real=kind.real)
        return kind

    def _write_as(self, part: Node, kind: _Type) -> None:
        """Write a value in the type that it has in common with others."""
        own = self._write(part)
        if kind.real and not own.real and own != _NULL:
            self._make_real(own)
        elif own.scale < kind.scale and own.unit == "number" and not own.real:
            self._push(10 ** (kind.scale - own.scale), real=False)
            self._add("*")

    def _common(self, name: str, parts: Sequence[Node]) -> _Type:
        """The type in which values are compared, or one of them chosen."""
        kinds = [kind for kind in map(self._peek, parts) if kind != _NULL]
        units = list(dict.fromkeys(kind.unit for kind in kinds))
        if len(units) > 1:
            raise self._wrong(
                f"has {name} with a {units[0]} and a {units[1]}", self._advise_units(units)
            )
        if not kinds:
            return _NULL
        scale = max(kind.scale for kind in kinds)
        if any(kind.real for kind in kinds):
            return _Type(units[0], real=True)
        return _Type(units[0], scale=scale)

    def _peek(self, part: Node) -> _Type:
        """The type of a part; nothing is written."""
        before = (len(self.ops), len(self.constants))
        kind = self._write(part)
        del self.ops[before[0] :], self.constants[before[1] :]
        return kind

    def _write_arithmetic(self, name: str, parts: Sequence[Node]) -> _Type:
        left, right = parts
        one, other = self._peek(left), self._peek(right)
        if _NULL in (one, other):
            self._add("unknown")
            return _NULL
        units = (one.unit, other.unit)
        if units == ("number", "number"):
            return self._write_numbers(name, left, right, one, other)
        result = ""
        if name == "-" and units[0] == units[1] and units[0] in (*_TIMES.values(), "duration"):
            result = "duration"
        elif name in "+-" and units in (("timestamp", "duration"), ("local time", "duration")):
            result = units[0]
        elif name == "+" and units == ("duration", "duration"):
            result = "duration"
        if not result:
            raise self._wrong(
                f"has {name} with a {units[0]} and a {units[1]}",
                f"compute it inside, of one row: {self.navigation}(x + y)",
            )
        self._write(left)
        self._write(right)
        self._add(name)
        if units[0] == units[1] == "date":
            self._push(_DAY, real=False)
            self._add("*")
        return _Type(result)

    def _write_numbers(self, name: str, left: Node, right: Node, one: _Type, other: _Type) -> _Type:
        whole = not (one.real or other.real or name == "/")
        if name == "*":
            whole = whole and one.scale + other.scale <= 18
        if not whole:
            self._write_as(left, _REAL)
            self._write_as(right, _REAL)
            self._add(name, real=True)
            return _REAL
        scale = max(one.scale, other.scale)
        kind = _Type("number", scale=scale)
        if name == "*":
            self._write(left)
            self._write(right)
            kind = _Type("number", scale=one.scale + other.scale)
        else:
            self._write_as(left, kind)
            self._write_as(right, kind)
        self._add(name)
        return kind

    _written: ClassVar[Mapping[str, Callable[[_Builder, str, Sequence[Node]], _Type]]] = {
        **dict.fromkeys(("and", "or", "not", "is true", "is false"), _write_logic),
        "is null": _write_is_null,
        "between": _write_between,
        "in": _write_in,
        **dict.fromkeys(_COMPARISONS, _write_comparison),
        **dict.fromkeys(("- of", "+ of", "abs"), _write_sign),
        **dict.fromkeys(("coalesce", "greatest", "least", "nullif"), _write_choice),
        **dict.fromkeys(("+", "-", "*", "/", "%"), _write_arithmetic),
    }


PLACES = 100_000  # more than there are places, and registers
_TEXTS = ("string", "char", "varchar")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def _literal(given: Any) -> Fraction | None:
    """The number that SQL text is, if it is one."""
    if not isinstance(given, str):
        return None
    try:
        return Fraction(given) if given[:1].isdigit() or given[:1] == "." else None
    except ValueError:
        return None


def _find_alone(steps: Sequence[Step], depends: Sequence[bool]) -> list[bool]:
    """Which steps lead to no test that depends on what was matched before."""
    after: list[list[int]] = []
    alone = []
    for at, (does, one, two) in enumerate(steps):
        if does == SPLIT:
            after.append([one, two])
        elif does == JUMP:
            after.append([one])
        else:
            after.append([] if does == MATCH else [at + 1])
        if does == ROW:
            alone.append(not depends[one])
        else:  # ``NOT`` and ``NEVER`` have a mask; other steps have nothing to test
            tests = does not in (SPLIT, JUMP, MATCH)
            alone.append(not (tests and any(d for v, d in enumerate(depends) if one >> v & 1)))
    changed = True
    while changed:
        changed = False
        for at in range(len(steps) - 1, -1, -1):
            if alone[at] and not all(alone[other] for other in after[at]):
                alone[at] = False
                changed = True
    return alone
