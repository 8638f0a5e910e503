"""Primitive monoids: what one field of a partial is, and how partials of it are combined.

Each monoid is written twice, and the tests of the laws compare the two:

- as Spark SQL text, so that partials are made and combined inside Spark;
- as :meth:`Monoid.combine_values` on Python values, for partials that are rolled up in an operator.

SQL templates: ``{v}`` is the lifted value of a row, ``{p}`` a partial, ``{a}`` and ``{b}`` two
partials, ``{over}`` an optional ``OVER (…)`` clause after each aggregate function. A null
partial is the identity everywhere. Struct partials are tuples in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, ClassVar, Literal

from fanlight.engine.algebra.forms import is_null_of_nulls
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.ordering import greatest, least, spark_key
from fanlight.engine.algebra.sql_text import fill, find_places
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import Extent

_EXACT = Context(prec=80)  # Python's + rounds decimals to 28 digits; Spark's have 38

# How numbers are combined, where a kernel can do it or a caller must know it.
PART_OF_EVENT = frozenset({"begins", "ends"})  # places: from when to when it lies in the window
Combining = Literal["", "sum", "least", "greatest"]
_COMBINING = frozenset({
    "combine", "combine_all", "combine_values", "_combine", "_combine_all", "_combine_values",
})  # fmt: skip


@explain_wrong_calls("algebra.Sum('{x}')")
@dataclass(frozen=True)
class Monoid:
    """One field of a partial.

    Parameters
    ----------
    value
        SQL text for what a row contributes: ``{x}``, ``{y}`` and ``{z}`` stand for the aggregate's
        arguments, ``{time}`` for the row's time (microseconds), ``{order}`` for its place in the
        order of rows. Null contributes nothing.

    Notes
    -----
    A null partial is the identity of all of them: a piece without rows changes nothing.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Max().combine_values(3, 5), algebra.Max().combine_values(None, 5)
    (5, 5)
    >>> algebra.Max().invertible, algebra.Sum().invertible
    (False, True)

    """

    value: str = "{x}"

    bounded: ClassVar[bool] = True  # constant storage, whatever the number of rows
    running: ClassVar[bool] = True  # a running combination costs O(1) a row inside Spark
    by_value: ClassVar[bool] = False  # lifted from (value, count) pairs: rows are counted first
    invertible: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    commutative: ClassVar[bool] = True  # the order of partials does not matter
    combining: ClassVar[Combining] = ""  # the operation, where it is just one of these
    counts: ClassVar[bool] = False  # each row with a value adds one, whatever the value
    additive: ClassVar[bool] = False  # of a part of an event, the sum of what its parts have
    at_once: ClassVar[bool] = False  # of events, only how many are running at each instant matters
    united: ClassVar[bool] = False  # of events, only when at least one is running matters
    whole: ClassVar[bool] = False  # and adds up whole numbers, whatever their type
    registered: ClassVar[bool] = False  # a sketch of registers, not of values
    whole_time: ClassVar[bool] = False  # needs times that are whole numbers
    at_instants: ClassVar[bool] = False  # needs rows at an instant, not events that last
    since: ClassVar[tuple[int, int]] = (3, 5)  # the first version of Spark that can lift it

    _unit: ClassVar[str] = "{v}"
    _lift: ClassVar[str] = ""
    _combine_all: ClassVar[str] = ""
    _combine: ClassVar[str] = ""

    def __post_init__(self) -> None:
        word = type(self).__name__
        if not isinstance(self.value, str):
            raise refuse(
                f"{word}({self.value!r})",
                "is not SQL text",
                f"write for example agg.{word}('{{x}}')",
            )

    def __init_subclass__(cls) -> None:
        """Reset ``combining`` in a subclass that combines in another way than its base."""
        if _COMBINING & vars(cls).keys() and "combining" not in vars(cls):
            cls.combining = ""

    @property
    def divided(self) -> bool:
        """Whether it takes the part of an event that lies in a window."""
        return bool(find_places(self.value) & PART_OF_EVENT)

    @property
    def framed(self) -> bool:
        """Whether it takes up to when a row keeps its frame open."""
        return "until" in find_places(self.value)

    @property
    def skips_nulls(self) -> bool:
        """Whether a row whose arguments are null contributes nothing.

        The form of ``value`` tells; False where it does not.
        """
        return is_null_of_nulls(self.value)

    @property
    def carry(self) -> Extent | None:
        """How old a row before a window may be that still counts in it; None: no such row does."""
        return None

    def condense(self, p: str) -> str:
        """SQL: what matters of the partial of a whole piece of time to windows that hold it."""
        return p

    @property
    def compares(self) -> bool:
        """Whether a partial depends on which values are equal, or on their order."""
        return self.by_value or self.idempotent or self.combining in ("least", "greatest")

    @property
    def decides_ties(self) -> bool:
        """Whether it is the least or greatest of structs, which decide between equal rows."""
        return self.combining in ("least", "greatest") and "struct(" in self.value

    @property
    def in_python(self) -> bool:
        """Whether partials can be combined in Python: all but those of sketches."""
        return type(self)._combine_values is not Monoid._combine_values  # noqa: SLF001 - a method of ours

    @property
    def sketch_size(self) -> int:
        """The capacity of a sketch in bytes. 0 if a partial is not a sketch."""
        return 0

    def unit(self, v: str) -> str:
        """SQL: the partial of one row."""
        return fill(self._unit, v=v)

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a partial. ``n`` counts a value's rows where ``by_value``."""
        return fill(self._lift, v=v, n=n, origin=origin, scale=scale)

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return fill(self._combine_all, p=p, over=over and " " + over)

    def combine(self, a: str, b: str) -> str:
        """SQL scalar: two partials to one."""
        return fill(self._combine, a=a, b=b)

    def inverse(self, a: str, b: str) -> str:
        """SQL scalar: partial ``a`` without ``b``; only where ``invertible``."""
        return f"{a} - {b}"

    def combine_values(self, a: Any, b: Any) -> Any:
        """Two partials to one, in Python; None is the identity."""
        if a is None or b is None:
            return b if a is None else a
        return self._combine_values(a, b)

    def _combine_values(self, a: Any, b: Any) -> Any:
        raise AttributeError(f"{type(self).__name__} cannot combine {a!r} and {b!r} in Python")


def combine_partials(
    monoids: Sequence[Monoid], one: tuple[Any, ...] | None, other: tuple[Any, ...] | None
) -> tuple[Any, ...] | None:
    """Two partials of several fields to one, in Python; None is the identity."""
    if one is None or other is None:
        return other if one is None else one
    parts = zip(monoids, one, other, strict=True)
    return tuple(monoid.combine_values(a, b) for monoid, a, b in parts)


@explain_wrong_calls("algebra.Sum('{x}')")
@dataclass(frozen=True)
class Sum(Monoid):
    """The sum of a numeric value; invertible where the type is exact.

    Examples
    --------
    >>> from fanlight import algebra
    >>> squares = algebra.Aggregate("squares", {"s": algebra.Sum("{x} * {x}")}, "{s}")
    >>> squares("price").label, squares.differential
    ('squares(price)', 'full')

    """

    invertible: ClassVar[bool] = True
    combining: ClassVar[Combining] = "sum"
    _lift = "sum({v})"
    _combine_all = "sum({p}){over}"
    _combine = "coalesce({a} + {b}, {a}, {b})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return _EXACT.add(a, b) if isinstance(a, Decimal) else a + b

    def without(self, a: Any, b: Any) -> Any:
        """Partial ``a`` without ``b``, in Python."""
        return _EXACT.subtract(a, b) if isinstance(a, Decimal) else a - b


@dataclass(frozen=True)
class Area(Sum):
    """The sum over events of something in proportion to the part of each that lies in a window.

    So of parts that make up a window it is the sum of what each has.
    """

    additive: ClassVar[bool] = True


@dataclass(frozen=True)
class WholeArea(Area):
    """An area of doubles that are whole numbers, which can be taken back exactly."""

    whole: ClassVar[bool] = True


@explain_wrong_calls("algebra.Count('{x}')")
@dataclass(frozen=True)
class Count(Sum):
    """How many rows have a value that is not null.

    Examples
    --------
    >>> from fanlight import algebra
    >>> above = algebra.Count("if({x} > 9, 1, null)")
    >>> high = algebra.Aggregate("high", {"n": above}, "coalesce({n}, 0L)")
    >>> high("price").label
    'high(price)'

    """

    counts: ClassVar[bool] = True
    _unit = "if({v} is null, 0L, 1L)"
    _lift = "count({v})"


@explain_wrong_calls("algebra.Min('{x}')")
@dataclass(frozen=True)
class Min(Monoid):
    """The least value, in Spark's order: NaN is the greatest.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Min().combine_values(2.5, float("nan"))
    2.5

    """

    idempotent: ClassVar[bool] = True
    combining: ClassVar[Combining] = "least"
    _lift = "min({v})"
    _combine_all = "min({p}){over}"
    _combine = "least({a}, {b})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return least(a, b)


@explain_wrong_calls("algebra.Max('{x}')")
@dataclass(frozen=True)
class Max(Monoid):
    """The greatest value, in Spark's order: NaN is the greatest.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Max().combine_values(2.5, float("nan"))
    nan

    """

    idempotent: ClassVar[bool] = True
    combining: ClassVar[Combining] = "greatest"
    _lift = "max({v})"
    _combine_all = "max({p}){over}"
    _combine = "greatest({a}, {b})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return greatest(a, b)


@dataclass(frozen=True)
class _Bits(Monoid):
    """An operation on the bits of whole numbers: ``word`` as an aggregate, ``sign`` as SQL."""

    word: ClassVar[str]
    sign: ClassVar[str]

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a partial."""
        del n, origin, scale
        return f"{self.word}({v})"

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return f"{self.word}({p}){over and ' ' + over}"

    def combine(self, a: str, b: str) -> str:
        """SQL scalar: two partials to one."""
        return f"coalesce({a} {self.sign} {b}, {a}, {b})"


@dataclass(frozen=True)
class BitAnd(_Bits):
    """The bits that are set in every value."""

    word: ClassVar[str] = "bit_and"
    sign: ClassVar[str] = "&"
    idempotent: ClassVar[bool] = True

    def _combine_values(self, a: Any, b: Any) -> Any:
        return a & b


@dataclass(frozen=True)
class BitOr(_Bits):
    """The bits that are set in any value."""

    word: ClassVar[str] = "bit_or"
    sign: ClassVar[str] = "|"
    idempotent: ClassVar[bool] = True

    def _combine_values(self, a: Any, b: Any) -> Any:
        return a | b


@dataclass(frozen=True)
class BitXor(_Bits):
    """The bits that are set in an odd number of values."""

    word: ClassVar[str] = "bit_xor"
    sign: ClassVar[str] = "^"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return a ^ b


@dataclass(frozen=True)
class Product(Monoid):
    """The product of doubles."""

    value: str = "cast({x} as double)"
    running: ClassVar[bool] = False
    _combine = "coalesce({a} * {b}, {a}, {b})"

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a partial."""
        del n, origin, scale
        return self.combine_all(v)

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: fold partials into a partial."""
        there = f"count({p}){over and ' ' + over} > 0"
        return f"if({there}, {fold_in_order(p, over, '1D', 'a * b')}, null)"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return a * b


def fold_in_order(p: str, over: str, zero: str, step: str) -> str:
    """SQL: a fold of partials, each ``b`` into ``a``."""
    return f"aggregate(collect_list({p}){over}, {zero}, (a, b) -> {step})"


@explain_wrong_calls("algebra.ExtremeCount('{x}', largest=True)")
@dataclass(frozen=True)
class ExtremeCount(Monoid):
    """The extreme value and how many rows have it.

    Examples
    --------
    >>> from fanlight import algebra
    >>> most = algebra.ExtremeCount()
    >>> most.combine_values((4.0, 1), (4.0, 2)), most.combine_values((4.0, 1), (2.5, 2))
    ((4.0, 3), (4.0, 1))

    """

    largest: bool = True
    running: ClassVar[bool] = False
    by_value: ClassVar[bool] = True
    _unit = "if({v} is null, null, named_struct('v', {v}, 'n', 1L))"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("ExtremeCount: largest", self.largest)

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: (value, count) pairs to a partial."""
        del origin, scale
        word = "max" if self.largest else "min"
        return (
            f"case when count({v}) > 0 then "
            f"named_struct('v', {word}({v}), 'n', {word}_by({n}, {v})) end"
        )

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        word = "max" if self.largest else "min"
        extreme = f"array_{word}(transform(every, e -> e.v))"
        total = "aggregate(filter(every, e -> e.v <=> best), 0L, (acc, e) -> acc + e.n)"
        entry = let("best", extreme, f"named_struct('v', best, 'n', {total})")
        every = f"collect_list({p}){over and ' ' + over}"
        return let("every", every, f"if(size(every) = 0, null, {entry})")

    def _combine_values(self, a: Any, b: Any) -> Any:
        key_a, key_b = spark_key(a[0]), spark_key(b[0])
        if key_a == key_b:
            return (a[0], a[1] + b[1])
        return a if (key_a > key_b) == self.largest else b
