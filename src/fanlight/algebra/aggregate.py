"""An aggregate: named fields of primitive monoids, and ``lower``, which reads off the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fanlight.algebra.monoids import Monoid
from fanlight.algebra.text import nameless
from fanlight.spec.errors import FanlightError, refuse

Accepts = Literal["any", "numeric", "orderable", "groupable", "string"]
Algebra = Literal["distributive", "algebraic", "holistic"]
Accumulation = Literal["cumulative", "selective"]

NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
INTEGRAL = ("tinyint", "smallint", "int", "bigint")


def base_type(spark_type: str) -> str:
    """``decimal(10,2)`` -> ``decimal``."""
    return spark_type.split("(", 1)[0].split("<", 1)[0].strip().lower()


def holds(spark_type: str, *words: str) -> bool:
    """Whether a type, or one within it, is of these, whatever its fields are called."""
    kinds = nameless(spark_type).lower()
    return any(word in kinds for word in words)


@dataclass(frozen=True)
class Partials:
    """What an aggregate keeps for given argument types, and how the result is read off it."""

    fields: Mapping[str, Monoid]
    lower: str


Recipe = Callable[[tuple[str, ...]], Partials]


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function, defined by its partials.

    The library's own aggregates are made of this, and a user's are made the same way.

    Parameters
    ----------
    name
        What unnamed results are called by: ``name(column)``.
    fields
        The partial: names and monoids (``agg.Sum``, ``agg.Count``, ``agg.Min``, ``agg.Max``,
        ``agg.Moments``, ``agg.Values``, …), each with the SQL text of what a row contributes;
        ``{x}``, ``{y}``, ``{z}`` are the arguments.
    lower
        SQL text of the result over the fields, ``{name}`` each. A field without any row is null
        (a count then is null too: write ``coalesce({n}, 0L)``).
    accepts
        What types the arguments may have: ``numeric``, ``string``, ``orderable``, ``groupable``
        (with an equality) or ``any``.
    arity
        How many columns it takes, up to three.
    algebra
        As the papers class it: ``distributive``, ``algebraic`` or ``holistic``.
    accumulation
        ``cumulative`` (every row adds to it) or ``selective`` (it picks one row's value).
    recipe
        Instead of ``fields`` and ``lower``: what they are for given types of the arguments.

    Raises
    ------
    FanlightError
        If a field is not a monoid, or ``lower`` names a field that does not exist.

    See Also
    --------
    Li et al., *No Pane, No Gain*, 3.2 (sub-aggregate L, super-aggregate S, differential).

    Examples
    --------
    >>> from fanlight import agg
    >>> spread = agg.Aggregate(
    ...     "spread", fields={"hi": agg.Max("{x}"), "lo": agg.Min("{x}")}, lower="{hi} - {lo}"
    ... )
    >>> spread("price").label
    'spread(price)'
    >>> spread.bounded, spread.differential
    (True, None)

    """

    name: str
    fields: Mapping[str, Monoid] = field(default_factory=dict)
    lower: str = ""
    accepts: Accepts = "numeric"
    arity: int = 1
    algebra: Algebra = "algebraic"
    accumulation: Accumulation = "cumulative"
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        if self.recipe is not None:
            return
        if not self.name.isidentifier():
            raise refuse(
                f"Aggregate({self.name!r})", "is not a name", "use letters, digits and underscores"
            )
        for name, monoid in self.fields.items():
            if not isinstance(monoid, Monoid) or not name.isidentifier():
                raise refuse(
                    f"Aggregate({self.name!r}) field {name!r}: {monoid!r}",
                    "is not a named monoid",
                    "write for example fields={'total': agg.Sum('{x}')}",
                )
        try:
            self.lower.format(start="", scale="", **dict.fromkeys(self.fields, ""))
        except (KeyError, IndexError, ValueError) as error:
            raise refuse(
                f"Aggregate({self.name!r}) lower={self.lower!r}",
                f"names what is not a field ({error})",
                f"use {{{'}, {'.join(self.fields)}}}",
            ) from error

    def __call__(self, *columns: Any) -> Call:
        """This aggregate of the given columns.

        Parameters
        ----------
        *columns
            Names or Columns, as many as the arity.

        Returns
        -------
        Call
            For ``agg`` of the windows.

        Raises
        ------
        FanlightError
            If there are more or fewer columns than the arity.

        """
        if len(columns) != self.arity:
            raise refuse(
                f"{self.name}({', '.join(map(str, columns))})",
                f"has {len(columns)} arguments where {self.arity} are needed",
                "name each column once",
            )
        return Call(self, columns)

    def partials(self, types: tuple[str, ...]) -> Partials:
        """The partials for arguments of these Spark types."""
        return self.recipe(types) if self.recipe else Partials(self.fields, self.lower)

    def _monoids(self) -> list[Monoid]:
        return list(self.partials(("double",) * max(self.arity, 1)).fields.values())

    @property
    def bounded(self) -> bool:
        """Whether a partial needs constant storage (Li et al., 3.2.1)."""
        return all(monoid.bounded for monoid in self._monoids())

    @property
    def differential(self) -> Literal["full", "pseudo"] | None:
        """Whether rows can be taken back out of a partial (Li et al., 3.2.2)."""
        monoids = self._monoids()
        if all(hasattr(monoid, "without") for monoid in monoids):
            return "full" if self.bounded else "pseudo"
        return None


def inverse_refused(monoid: Monoid, types: Sequence[str]) -> str:
    """Why rows cannot be taken back out of a partial exactly; empty where they can.

    ``types`` are the Spark types of the aggregate's arguments: sums are exact for integers and for
    decimals whose sums Spark keeps exactly.
    """
    word = type(monoid).__name__
    if not monoid.invertible:
        return f"keeps a {word}, which has no inverse: rows cannot be taken back out of it"
    kind = types[0] if types else "bigint"
    if word != "Sum" or (base_type(kind) in INTEGRAL and "double" not in monoid.value):
        return ""
    if base_type(kind) == "decimal" and int(kind[8:].split(",")[0]) <= 18:
        return ""
    added = "double" if "double" in monoid.value else kind
    return (
        f"adds values of type {added}: a running difference would keep the rounding of every value "
        "that has left"
    )


def of_one(name: str, monoid: Monoid, lower: str = "{p}", **marks: Any) -> Aggregate:
    """An aggregate whose partial is one field, ``{p}``."""
    return Aggregate(name, {"p": monoid}, lower, **marks)


@dataclass(frozen=True)
class Call:
    """An aggregate of columns, perhaps named: what ``agg`` of the windows takes.

    The functions of ``fanlight.agg`` make it, and :class:`Aggregate` where it is called; there is
    no need to make one by hand.

    Parameters
    ----------
    aggregate
        What is computed.
    columns
        Of which columns: names or Columns.
    shown
        Further arguments, for the name of the result.
    name
        The name of the result; ``None`` for the usual one, such as ``max(price)``.
    exact
        What is computed in place of a sketch where windows have few rows anyway.

    Examples
    --------
    >>> from fanlight import agg
    >>> agg.max("price").label, agg.max("price").alias("highest").label
    ('max(price)', 'highest')

    """

    aggregate: Aggregate
    columns: tuple[Any, ...]
    shown: tuple[Any, ...] = ()
    name: str | None = None
    exact: Aggregate | None = None

    def alias(self, name: str) -> Call:
        """The same aggregate under another output name.

        Parameters
        ----------
        name
            The name of the output column, not empty.

        Returns
        -------
        Call
            The aggregate; this one stays as it is.

        Raises
        ------
        FanlightError
            If the name is not a text, or empty.

        Examples
        --------
        >>> from fanlight import agg
        >>> agg.sum("bytes").alias("traffic").label
        'traffic'

        """
        if not isinstance(name, str) or not name:
            raise refuse(f"alias({name!r})", "is not a column name", "write a non-empty text")
        return replace(self, name=name)

    @property
    def label(self) -> str:
        """The output name where all columns are given by name."""
        return self.name or self.label_of([str(column) for column in self.columns])

    def label_of(self, columns: list[str]) -> str:
        """The output name for columns that are called so."""
        parts = [*columns, *(str(part) for part in self.shown)]
        return self.name or f"{self.aggregate.name}({', '.join(parts)})"

    def check(self, types: tuple[str, ...], names: list[str]) -> None:
        """Refuse argument types that the aggregate is not made for."""
        for kind, column in zip(types, names, strict=True):
            if not _fits(kind, self.aggregate.accepts):
                raise FanlightError(
                    f"{self.label_of(names)}: column {column!r} is of type {kind}, but "
                    f"{self.aggregate.name} needs {_NEEDS[self.aggregate.accepts]}; "
                    f"cast it, or choose another column"
                )


_NEEDS = {
    "any": "a column",
    "numeric": "a number",
    "orderable": "a type with an order (no map, no variant)",
    "groupable": "a type with equality (no map, no variant)",
    "string": "text",
}


def _fits(kind: str, accepts: Accepts) -> bool:
    if accepts == "numeric":
        return base_type(kind) in NUMERIC
    if accepts == "string":
        return base_type(kind) in ("string", "char", "varchar")
    if accepts in ("orderable", "groupable"):
        return not holds(kind, "map<", "variant", "interval", "void")
    return True
