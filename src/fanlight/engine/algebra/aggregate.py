"""An aggregate: named fields, each of a primitive monoid, and ``lower``, SQL of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.lowering_values import LowerValues, partial_itself
from fanlight.engine.algebra.monoids import PART_OF_EVENT, Monoid
from fanlight.engine.algebra.ordering import Reading
from fanlight.engine.algebra.sql_text import check_template, fill, without_field_names
from fanlight.engine.spec.arguments import check_choice, check_text
from fanlight.engine.spec.errors import (
    FanlightError,
    explain_wrong_calls,
    is_column,
    refuse,
    show,
)
from fanlight.engine.spec.frames.limits import Watched, check_watched
from fanlight.types import Condition

Accepts = Literal[
    "any", "numeric", "integral", "floating", "float", "boolean", "orderable", "groupable",
    "string", "hashable", "thetable",
]  # fmt: skip
Algebra = Literal["distributive", "algebraic", "holistic"]
Accumulation = Literal["cumulative", "selective"]

NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
INTEGRAL = ("tinyint", "smallint", "int", "bigint")
LONG_DIGITS = 18  # a decimal of so many digits, taken as a whole number, fits into a long
ARGUMENTS = ("x", "y", "z", *(f"x{number}" for number in range(4, 13)))

# What templates may name besides the fields (``lower``) or the arguments (a field's value).
_LOWERED = frozenset({"start", "scale", "type", "length", "instant", "cause"})
_LIFTED = PART_OF_EVENT | {"time", "order", "until"}


def base_type(spark_type: str) -> str:
    """The name of a type without its parameters: ``decimal(10,2)`` -> ``decimal``."""
    return spark_type.split("(", 1)[0].split("<", 1)[0].strip().lower()


def contains_type(spark_type: str, words: Iterable[str]) -> bool:
    """Whether the name of a type, or of one inside it, has a word in it, fields' names aside.

    >>> contains_type("array<map<int, int>>", ["map<"])
    True
    >>> contains_type("struct<`map<`: int>", ["map<"])
    False
    """
    bare = without_field_names(spark_type).lower()
    return any(word in bare for word in words)


def digits_of(decimal: str) -> tuple[int, int]:
    """Precision and scale of a decimal type: ``decimal(10,2)`` -> 10 and 2."""
    precision, scale = decimal[len("decimal(") : -1].split(",")
    return int(precision), int(scale)


def sum_type(decimal: str) -> str:
    """The type of the sum of a decimal, as Spark has it: ten more digits."""
    digits, scale = digits_of(decimal)
    return f"decimal({min(digits + 10, 38)}, {scale})"


@dataclass(frozen=True)
class Partials:
    """What an aggregate keeps for given argument types, and how the result is read off it.

    ``strings`` are texts of the user's, by the name whose place in ``lower`` they fill as literals.
    ``reads`` names what ``lower`` reads off its one field, value counts, if it has a name.
    ``native`` is SQL, over the arguments, of an aggregate of Spark's with the same result, if there
    is one; the result is the same since the Spark version ``native_since``. ``weightless`` says why
    rows cannot have weights, where the form of ``lower`` does not tell, and ``instead`` what to do
    then. ``lower_values`` is ``lower`` in Python, if there is such a thing. ``kind`` fills
    ``{type}`` in ``lower``, if it is not the type of the first argument.
    """

    fields: Mapping[str, Monoid]
    lower: str
    strings: Mapping[str, str] = field(default_factory=dict)
    reads: Reading | None = None
    native: str = ""
    native_since: tuple[int, int] = (3, 5)
    weightless: str = ""
    instead: str = "cast the column to double"
    lower_values: LowerValues | None = field(default=None, compare=False)
    kind: str = ""

    def of_some_rows(self) -> Partials:
        """The same of the rows for which ``{where}`` is true: others contribute nothing, a null.

        Spark's own aggregate can do it where a row of nulls contributes nothing to it either.
        """
        fields = {
            name: replace(monoid, value=_value_if(monoid.value))
            for name, monoid in self.fields.items()
        }
        skips_nulls = all(monoid.skips_nulls for monoid in self.fields.values())
        some = {name: _value_if(f"{{{name}}}") for name in ARGUMENTS}
        native = fill(self.native, **some) if skips_nulls else ""
        return replace(self, fields=fields, native=native)


def _value_if(value: str) -> str:
    return f"if({{where}}, {value}, null)"


Recipe = Callable[[tuple[str, ...]], Partials]


@explain_wrong_calls("algebra.Aggregate('total', {'p': algebra.Sum('{x}')}, '{p}')")
@dataclass(frozen=True, repr=False)
class Aggregate:
    """An aggregate function, defined by its partials.

    The library's own aggregates are made of this, and a user's are made the same way.

    Parameters
    ----------
    name
        It names results that have no alias: ``name(column)``.
    fields
        The partial: names and monoids (:class:`Sum`, :class:`Count`, :class:`Min`, :class:`Max`,
        :class:`Moments`, :class:`Values`, …), each with the SQL text of what a row contributes;
        ``{x}``, ``{y}``, ``{z}`` are the arguments.
    lower
        SQL text of the result over the fields, ``{name}`` each; ``{type}`` is the type of the first
        argument. A field without any row is null (a count then is null too: write
        ``coalesce({n}, 0L)``). Braces that are part of the text are written twice, here and in the
        fields: ``'{{'``.
    accepts
        What types the arguments may have: ``numeric``, ``integral``, ``floating``, ``float``,
        ``boolean``, ``string``, ``orderable``, ``groupable`` (with an equality), ``hashable`` or
        ``thetable`` (what Spark's sketches of that kind take) or ``any``.
    arity
        How many columns it takes, up to twelve; from the fourth on they are ``{x4}``, ``{x5}``, ….
    algebra
        As the papers class it: ``distributive``, ``algebraic`` or ``holistic``.
    accumulation
        ``cumulative`` (every row adds to it) or ``selective`` (it picks one row's value).
    recipe
        Instead of ``fields`` and ``lower``: what they are for given types of the arguments.
    native
        SQL text of an aggregate of Spark's over the arguments that gives the same result, if there
        is one: it is used where no partials are needed.
    watched
        How the limit of an ``AggregateFrame`` can watch it: ``count``, ``sum``, ``max``, ``avg``,
        ``var_samp``, ``var_pop``, ``stddev_samp`` or ``stddev_pop`` if its result is that of its
        one argument, ``distinct`` if it counts distinct values. Without it no limit can.
    lower_values
        ``lower`` as a Python function, which :func:`fanlight.serve` needs: of a mapping from the
        names of fields to their values, a struct being a tuple and None standing for no row.
    of_events
        What it is of events that last, if that is another aggregate: of the same columns.

    Raises
    ------
    FanlightError
        If a field is not a monoid, ``lower`` names a field that does not exist, a field names an
        argument that does not exist, or another argument is not what is said above.

    See Also
    --------
    Li et al., *No Pane, No Gain*, 3.2 (sub-aggregate L, super-aggregate S, differential).

    Examples
    --------
    >>> from fanlight import algebra
    >>> ends = {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}
    >>> spread = algebra.Aggregate("spread", fields=ends, lower="{hi} - {lo}")
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
    native: str = ""
    watched: Watched = ""
    lower_values: LowerValues | None = None
    of_events: Aggregate | None = None

    def __post_init__(self) -> None:
        about = f"Aggregate({self.name!r})"
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise refuse(about, "is not a name", "use letters, digits and underscores")
        check_choice(f"{about} accepts", self.accepts, get_args(Accepts), "known")
        check_choice(f"{about} algebra", self.algebra, get_args(Algebra), "known")
        check_choice(f"{about} accumulation", self.accumulation, get_args(Accumulation), "known")
        if type(self.arity) is not int or not 0 <= self.arity <= len(ARGUMENTS):
            raise refuse(
                f"{about} arity={self.arity!r}",
                "is not a number of columns",
                "use one from 0 to 12",
            )
        check_watched(about, self.watched, self.arity)
        if self.recipe is None:
            _check_partials(about, self._own_partials, self.arity)
        for name in ("recipe", "lower_values"):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise refuse(
                    f"{about} {name}={given!r}", "is not a function", "leave it out, or write one"
                )
        other = self.of_events
        fits = isinstance(other, Aggregate) and other.arity == self.arity
        if other is not None and not fits:
            raise refuse(
                f"{about} of_events={other!r}",
                "is not an aggregate of as many columns",
                "leave it out, or write an algebra.Aggregate(…)",
            )

    @explain_wrong_calls("algebra.Aggregate(…)('x')")
    def __call__(self, *columns: Any) -> Call:
        """Apply the aggregate to the given columns.

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

    def __repr__(self) -> str:
        return f"Aggregate({self.name!r})"

    def partials(self, types: tuple[str, ...]) -> Partials:
        """The partials for arguments of these Spark types."""
        if self.recipe is None:
            return self._own_partials
        partials = self.recipe(types)
        if not isinstance(partials, Partials):
            raise refuse(
                f"the recipe of Aggregate({self.name!r})",
                f"gives a {type(partials).__name__}",
                "return Partials(fields, lower)",
            )
        _check_partials(f"Aggregate({self.name!r})", partials, self.arity)
        return partials

    @property
    def needs(self) -> str:
        """What each of its columns must be."""
        return _NEEDS[self.accepts]

    @property
    def _own_partials(self) -> Partials:
        return Partials(self.fields, self.lower, native=self.native, lower_values=self.lower_values)

    @property
    def monoids(self) -> list[Monoid]:
        """The monoids of its fields, for arguments that are doubles."""
        return list(self.partials(("double",) * max(self.arity, 1)).fields.values())

    @property
    def framed(self) -> bool:
        """Whether it says something of a whole frame, which is not a number."""
        return any(monoid.framed for monoid in self.fields.values())

    @property
    def bounded(self) -> bool:
        """Whether a partial needs constant storage (Li et al., 3.2.1)."""
        return all(monoid.bounded for monoid in self.monoids)

    @property
    def differential(self) -> Literal["full", "pseudo"] | None:
        """Whether rows can be taken back out of a partial (Li et al., 3.2.2)."""
        if all(hasattr(monoid, "without") for monoid in self.monoids):
            return "full" if self.bounded else "pseudo"
        return None


def _check_partials(about: str, partials: Partials, arity: int) -> None:
    """Refuse partials that are not fields and templates over them."""
    if not isinstance(partials.fields, Mapping):
        raise refuse(
            f"{about} fields={partials.fields!r}",
            "is not a dict of named monoids",
            "write for example fields={'total': algebra.Sum('{x}')}",
        )
    arguments = frozenset(ARGUMENTS[:arity])
    for name, monoid in partials.fields.items():
        named = isinstance(name, str) and name.isidentifier() and name not in _LOWERED
        if not named or not isinstance(monoid, Monoid) or type(monoid) is Monoid:
            raise refuse(
                f"{about} field {name!r}: {monoid!r}",
                "is not a named monoid",
                "write for example fields={'total': algebra.Sum('{x}')}",
            )
        check_template(
            f"{about} field {name!r}: {monoid.value!r}", monoid.value, arguments | _LIFTED
        )
    known = {*partials.fields, *partials.strings, *_LOWERED}
    check_template(f"{about} lower={partials.lower!r}", partials.lower, known)
    check_template(f"{about} native={partials.native!r}", partials.native, arguments)


def aggregate_of_field(name: str, monoid: Monoid, lower: str = "{p}", **marks: Any) -> Aggregate:
    """An aggregate whose partial is one field, ``{p}``, as its result is without another."""
    if lower == "{p}":
        marks = {"lower_values": partial_itself, **marks}
    return Aggregate(name, {"p": monoid}, lower, **marks)


def aggregate_of_counts(
    name: str,
    reads: Reading,
    monoid: Monoid,
    lower: str,
    lower_values: LowerValues,
    *,
    native: str = "",
    **marks: Any,
) -> Aggregate:
    """An aggregate that reads something off value counts, ``{p}``."""
    partials = Partials({"p": monoid}, lower, reads=reads, native=native, lower_values=lower_values)
    return Aggregate(name, recipe=lambda _: partials, algebra="holistic", **marks)


@explain_wrong_calls("agg.max('price')")
@dataclass(frozen=True, repr=False)
class Call(Arithmetic):
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
        Further arguments, which the name of the result shows.
    output
        The name of the result; ``None`` for the usual one, such as ``max(price)``.
    exact
        The exact aggregate that replaces a sketch where windows have few rows anyway.
    conditions
        Which rows it is of, as :meth:`where` was given them: those for which all are true.
    variables
        The variables of a pattern whose rows it is of, as :meth:`of` was given them.
    usual
        The usual name of the result, if it is not made of the aggregate's name and arguments.
    synonym
        Another name of the aggregate, by which it was called.
    options
        What the function of ``fanlight.agg`` was given besides columns; ``None`` for an aggregate
        of your own.

    Examples
    --------
    >>> from fanlight import agg
    >>> agg.max("price").label, agg.max("price").alias("highest").label
    ('max(price)', 'highest')

    """

    library: ClassVar[Any]  # the registry of aggregates, whose entries have calls

    aggregate: Aggregate
    columns: tuple[Any, ...]
    shown: tuple[Any, ...] = ()
    output: str | None = None
    exact: Aggregate | None = None
    conditions: tuple[Any, ...] = ()
    variables: tuple[str, ...] = ()
    usual: str = ""
    synonym: str = ""
    options: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        right = (
            isinstance(self.aggregate, Aggregate)
            and isinstance(self.columns, tuple)
            and isinstance(self.shown, tuple)
            and (self.output is None or isinstance(self.output, str))
            and (self.exact is None or isinstance(self.exact, Aggregate))
            and isinstance(self.conditions, tuple)
            and isinstance(self.variables, tuple)
            and isinstance(self.usual, str)
            and isinstance(self.synonym, str)
            and (self.options is None or isinstance(self.options, Mapping))
        )
        if not right:
            raise refuse(
                f"Call({self.aggregate!r}, {self.columns!r}, …)",
                "is not an aggregate of a tuple of columns",
                "call the aggregate: agg.max('price')",
            )

    @property
    def of_events(self) -> Call:
        """What it is of events that last."""
        other = self.aggregate.of_events
        return self if other is None else replace(self, aggregate=other)

    @explain_wrong_calls("agg.max('price').alias('highest')")
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
        return replace(self, output=check_text("alias", name, "alias('highest')"))

    @explain_wrong_calls("agg.max('price').where('price > 3')")
    def where(self, condition: Condition) -> Call:
        """The same aggregate of some rows only, as SQL's ``FILTER (WHERE …)``.

        Rows for which the condition is false or null do not exist for this aggregate. Which windows
        and frames there are is decided by all rows: where no row meets the condition, a count is 0
        and a sum null. Called twice, it takes the rows that meet both conditions.

        Cost: the condition is computed once a row; aggregates with the same text share it.

        Parameters
        ----------
        condition
            SQL text over the columns of a row, or a Column, that is true or false:
            ``"kind = 'a'"``, ``F.col("ok")``. No aggregate or window function.

        Returns
        -------
        Call
            The aggregate, named ``sum(x) FILTER (WHERE (kind = a))``, as Spark names it; this one
            stays as it is.

        Raises
        ------
        FanlightError
            If the condition is neither text nor a Column, or empty. By ``agg`` of the windows: if
            Spark does not take it for a condition on a row.

        Examples
        --------
        >>> from fanlight import agg
        >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
        >>> windows = fl.over(df, fl.Sliding(10), time="at")
        >>> dear = agg.count().where("price > 3").alias("dear")
        >>> windows.agg(agg.count(), dear).drop("window").show()
        +--------+----+
        |count(1)|dear|
        +--------+----+
        |       3|   1|
        +--------+----+
        <BLANKLINE>

        """
        example = "where('price > 3')"
        if self.aggregate.framed:
            raise refuse(
                f"{self!r}.where({show(condition)})",
                "is of a whole frame, and not of some of its rows",
                f"leave where out, or filter the result: agg(why=agg.{self.aggregate.name}())"
                ".where(\"why = 'gap'\")",
            )
        if isinstance(condition, str):
            if not check_text("where", condition, example).strip():
                raise refuse(f"where({condition!r})", "is empty", f"write for example {example}")
        elif not is_column(condition):
            raise refuse(
                f"where({condition!r})",
                "is neither SQL text nor a Column",
                f"write for example {example}",
            )
        return replace(self, conditions=(*self.conditions, condition))

    @explain_wrong_calls("agg.count().of('fail')")
    def of(self, *variables: str) -> Call:
        """The same aggregate of the rows of a match that are one of these variables.

        Parameters
        ----------
        *variables
            Variables of the pattern of a :class:`fanlight.PatternFrame`, as it spells them.

        Returns
        -------
        Call
            The aggregate, named ``sum(x) OF fail``; this one stays as it is. Of no rows, a count
            is 0 and a sum null.

        Raises
        ------
        FanlightError
            If no variable is named. By ``agg`` of the windows: if the pattern has no such variable,
            or the windows are not those of a pattern.

        Examples
        --------
        >>> from fanlight import agg
        >>> agg.count().of("fail").label, agg.max("x").of("down", "up").label
        ('count(1) OF fail', 'max(x) OF down, up')

        """
        if not variables or not all(isinstance(name, str) and name for name in variables):
            raise refuse(
                f"of({', '.join(map(repr, variables))})",
                "does not name variables of a pattern",
                "write for example of('fail')",
            )
        if self.variables:
            raise refuse(
                f"{self!r}.of({variables[0]!r})",
                "says twice of which rows it is",
                "name all variables together: of('down', 'up')",
            )
        if self.aggregate.framed:
            raise refuse(
                f"{self!r}.of({variables[0]!r})",
                "is of a whole match, and not of some of its rows",
                "leave of out",
            )
        return replace(self, variables=variables)

    @property
    def label(self) -> str:
        """The output name where all columns are given by name."""
        conditions = [" AND ".join(map(str, self.conditions))] if self.conditions else []
        return self.label_of([*map(str, self.columns), *conditions])

    def __repr__(self) -> str:
        columns = [one if isinstance(one, str) else show(one) for one in self.columns]
        if self.options is None:
            given = [*columns, *map(str, self.shown)]
        else:
            options = [f"{name}={show(one)}" for name, one in self.options.items()]
            given = [*columns, *(one for one in options if one != "column='*'")]
        conditions = "".join(f".where({show(one)})" for one in self.conditions)
        conditions += f".of({', '.join(map(repr, self.variables))})" if self.variables else ""
        name = f".alias({self.output!r})" if self.output else ""
        return f"{self.synonym or self.aggregate.name}({', '.join(given)}){conditions}{name}"

    def label_of(self, names: Sequence[str]) -> str:
        """The output name for columns of these names, and then the condition of this one."""
        if self.output:
            return self.output
        count = len(self.columns)
        parts = [*names[:count], *map(str, self.shown)]
        usual = self.usual or f"{self.aggregate.name}({', '.join(parts)})"
        if self.synonym:
            usual = self.synonym + usual.removeprefix(self.aggregate.name)
        usual += "".join(f" FILTER (WHERE {name})" for name in names[count:])
        return usual + (f" OF {', '.join(self.variables)}" if self.variables else "")

    @property
    def watchable(self) -> list[str]:
        """The library's aggregates that a limit can watch, to be named where this one cannot be."""
        found: list[str] = self.library.watchable
        return found

    def check(self, types: tuple[str, ...], names: list[str]) -> None:
        """Refuse arguments of types that the aggregate does not accept."""
        for kind, column in zip(types, names, strict=True):
            if not _is_accepted(kind, self.aggregate.accepts):
                raise FanlightError(
                    f"{self.label_of(names)}: column {column!r} is of type {kind}, but "
                    f"{self.aggregate.name} needs {self.aggregate.needs}; "
                    f"cast it, or choose another column"
                )


_NEEDS = {
    "any": "a column",
    "numeric": "a number",
    "integral": "a whole number",
    "boolean": "a condition, which is true or false",
    "orderable": "a type that it can order (no map, variant or interval)",
    "groupable": "a type that it can compare (no map, variant or interval)",
    "string": "text",
    "floating": "a float or a double",
    "float": "a float",
    "hashable": "an int, a bigint, text or binary",
    "thetable": "an int, a bigint, a float, a double, text, binary, or an array of ints or bigints",
}


_TEXT = ("string", "char", "varchar")
_HASHABLE = ("int", "bigint", *_TEXT, "binary")
_ACCEPTED = {
    "numeric": NUMERIC,
    "integral": INTEGRAL,
    "floating": ("float", "double"),
    "float": ("float",),
    "boolean": ("boolean",),
    "string": _TEXT,
    "hashable": _HASHABLE,
    "thetable": (*_HASHABLE, "float", "double", "array<int>", "array<bigint>"),
}


def _is_accepted(kind: str, accepts: Accepts) -> bool:
    if accepts in _ACCEPTED:
        return not {base_type(kind), kind}.isdisjoint(_ACCEPTED[accepts])
    if accepts in ("orderable", "groupable"):
        return not contains_type(kind, ("map<", "variant", "interval", "void"))
    return True
