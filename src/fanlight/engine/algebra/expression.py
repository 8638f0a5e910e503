"""Arithmetic of aggregates: a ratio of two, for example."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from fanlight.engine.algebra.aggregate import ARGUMENTS, Aggregate, Call, Partials
from fanlight.engine.algebra.arithmetic import Arithmetic
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.sql_text import escape, rename
from fanlight.engine.spec.arguments import check_choice, check_text
from fanlight.engine.spec.errors import explain_wrong_calls, refuse, shorten
from fanlight.types import Condition

EXPRESSION = "expression"  # the name of an aggregate that is computed of several
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_MOST_DIGITS = 38
_WHY_NOT_WEIGHTED = "is computed of several aggregates, each of which would have weights of its own"
_WEIGHTED = "ask for each of them, and compute it from their columns"


@explain_wrong_calls("agg.sum('errors') / agg.count()")
@dataclass(frozen=True, repr=False)
class Expression(Arithmetic):
    """An arithmetic expression of aggregates, perhaps named: what ``agg`` of the windows takes.

    ``+``, ``-``, ``*`` and ``/`` of aggregates and numbers make it; there is no need to make one by
    hand. Values, types, nulls and a division by zero are those of Spark's SQL.

    Parameters
    ----------
    left
        An aggregate, an expression, or a number.
    sign
        ``"+"``, ``"-"``, ``"*"`` or ``"/"``.
    right
        As ``left``.
    output
        The name of the result; ``None`` for the usual one, such as ``(sum(a) / count(1))``.

    Raises
    ------
    FanlightError
        If a side is none of these.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, true), (1, false), (2, false) as t(at, failed)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> rate = 100 * agg.count_if("failed") / agg.count()
    >>> rate.label
    '((100 * count_if(failed)) / count(1))'
    >>> round(windows.agg(rate=rate).first().rate, 2)
    33.33

    """

    left: Any
    sign: str
    right: Any
    output: str | None = None

    def __post_init__(self) -> None:
        check_choice("sign", self.sign, tuple(_SIGNS), "known")
        if self.output is not None:
            check_text("output", self.output, "output='rate'")
        for side in (self.left, self.right):
            if not (isinstance(side, Arithmetic) or _is_number(side)):
                shown = [shorten(repr(one)) for one in (self.left, self.right)]
                raise refuse(
                    f" {self.sign} ".join(shown),
                    f"has {shorten(repr(side))}, which is neither an aggregate nor a number of SQL",
                    "write for example agg.sum('errors') / agg.count()",
                )
            if isinstance(side, Call) and side.aggregate.framed:
                raise refuse(
                    f" {self.sign} ".join(map(repr, (self.left, self.right))),
                    f"computes with {side!r}, which is a word",
                    f"ask for it under a name of its own: agg(why=agg.{side.aggregate.name}())",
                )

    @explain_wrong_calls("(agg.sum('errors') / agg.count()).alias('rate')")
    def alias(self, name: str) -> Expression:
        """The same expression under another output name.

        Parameters
        ----------
        name
            The name of the output column, not empty.

        Returns
        -------
        Expression
            The expression; this one stays as it is.

        Raises
        ------
        FanlightError
            If the name is not a text, or empty.

        Examples
        --------
        >>> from fanlight import agg
        >>> (agg.sum("errors") / agg.count()).alias("rate").label
        'rate'

        """
        if not isinstance(name, str) or not name:
            raise refuse(f"alias({name!r})", "is not a column name", "write a non-empty text")
        return replace(self, output=check_text("alias", name, "alias('rate')"))

    @explain_wrong_calls("(agg.sum('errors') / agg.count()).where('ok')")
    def where(self, condition: Condition) -> Expression:
        """The same expression of some rows only: each of its aggregates of these.

        Parameters
        ----------
        condition
            SQL text over the columns of a row, or a Column, that is true or false.

        Returns
        -------
        Expression
            The expression; this one stays as it is.

        Raises
        ------
        FanlightError
            If the condition is neither text nor a Column, or empty.

        Examples
        --------
        >>> from fanlight import agg
        >>> (agg.sum("a") / agg.count()).where("ok").label
        '(sum(a) FILTER (WHERE ok) / count(1) FILTER (WHERE ok))'

        """
        sides = (
            side.where(condition) if isinstance(side, (Call, Expression, Transformed)) else side
            for side in (self.left, self.right)
        )  # fmt: skip
        left, right = sides
        return replace(self, left=left, right=right)

    @property
    def of_events(self) -> Expression:
        """What it is of events that last."""
        left, right = (
            side.of_events if isinstance(side, (Call, Expression, Transformed)) else side
            for side in (self.left, self.right)
        )
        return replace(self, left=left, right=right)

    @property
    def label(self) -> str:
        """The output name where all columns are given by name."""
        return self.output or self.write([call.label for call in self.calls])

    def __repr__(self) -> str:
        return _show(self)

    @property
    def calls(self) -> list[Any]:
        """The aggregates it is computed of, from left to right, without names of their own."""
        found: list[Call | Transformed] = []
        for side in (self.left, self.right):
            if isinstance(side, Expression):
                found += side.calls
            elif isinstance(side, (Call, Transformed)):
                found.append(replace(side, output=None))
        return found

    def write(self, texts: Sequence[str], number: Callable[[Any], str] = str) -> str:
        """The expression with a text for each of its aggregates."""
        rest = iter(texts)
        return self._write(lambda: next(rest), number)

    def _write(self, following: Callable[[], str], number: Callable[[Any], str]) -> str:
        parts = []
        for side in (self.left, self.right):
            if isinstance(side, Expression):
                parts.append(side._write(following, number))  # noqa: SLF001 - of the same class
            else:
                parts.append(following() if isinstance(side, Arithmetic) else number(side))
        return f"({parts[0]} {self.sign} {parts[1]})"

    @property
    def in_python(self) -> bool:
        """Whether ``compute`` can."""
        return True

    def write_sql(self, templates: Sequence[str]) -> str:
        """The expression as a template, made of one for each of its aggregates."""
        return self.write(templates, write_number)

    def show(self, names: Sequence[str]) -> str:
        """The usual name of the result, with a name for each of its aggregates."""
        return self.write(names)

    def compute(self, values: Sequence[Any]) -> Any:
        """Compute the expression's value, which is null where Spark's is."""
        rest = iter(values)
        return self._compute(lambda: next(rest))

    def _compute(self, following: Callable[[], Any]) -> Any:
        left, right = (
            side._compute(following) if isinstance(side, Expression)  # noqa: SLF001
            else following() if isinstance(side, Call) else side
            for side in (self.left, self.right)
        )  # fmt: skip
        if left is None or right is None or (self.sign == "/" and right == 0):
            return None
        return _SIGNS[self.sign](left, right)


@explain_wrong_calls("agg.avg('x').transform(lambda average: F.round(average, 2))")
@dataclass(frozen=True, repr=False)
class Transformed(Arithmetic):
    """A function of an aggregate's result: what ``transform`` of aggregates makes.

    There is no need to make one by hand.

    Parameters
    ----------
    part
        An aggregate, an expression of several, or a function of one.
    function
        Takes the result as a Column, and returns a Column.
    output
        The name of the result; ``None`` for the one that Spark has for it, such as
        ``round(avg(x), 2)``.

    Raises
    ------
    FanlightError
        If the part or the function is none.

    Examples
    --------
    >>> from fanlight import agg
    >>> agg.avg("price").transform(lambda average: average + 1).alias("more").label
    'more'

    """

    part: Any
    function: Callable[[Any], Any]
    output: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.part, Arithmetic) or not callable(self.function):
            raise refuse(
                f"{shorten(repr(self.part))}.transform({shorten(repr(self.function))})",
                "is not a function of an aggregate",
                "write for example agg.avg('x').transform(lambda average: F.round(average, 2))",
            )
        if self.output is not None:
            check_text("output", self.output, "output='usual'")

    def alias(self, name: str) -> Transformed:
        """The same under another output name, as :meth:`Expression.alias` has it."""
        if not isinstance(name, str) or not name:
            raise refuse(f"alias({name!r})", "is not a column name", "write a non-empty text")
        return replace(self, output=check_text("alias", name, "alias('usual')"))

    def where(self, condition: Condition) -> Transformed:
        """The same of some rows only, as :meth:`Expression.where` has it."""
        return replace(self, part=self.part.where(condition))

    @property
    def of_events(self) -> Transformed:
        """What it is of events that last."""
        return replace(self, part=self.part.of_events)

    @property
    def calls(self) -> list[Any]:
        """The aggregates it is computed of."""
        return [self.part] if isinstance(self.part, Call) else list(self.part.calls)

    @property
    def label(self) -> str:
        """What it is called where Spark has not named it."""
        return self.output or f"transform({self.part.label})"

    def __repr__(self) -> str:
        name = f".alias({self.output!r})" if self.output else ""
        return f"{self.part!r}.transform(…){name}"


@dataclass(frozen=True, repr=False)
class SqlExpression:
    """SQL text with aggregates in it: the texts before, between and after them.

    ``shown`` are the same texts as the usual name of the result has them, if they differ.
    """

    texts: tuple[str, ...]
    parts: tuple[Call, ...]
    output: str | None = None
    shown: tuple[str, ...] = ()

    def show(self, names: Sequence[str]) -> str:
        """The usual name of the result, with a name for each of its aggregates."""
        return replace(self, texts=self.shown or self.texts).write(names)

    def alias(self, name: str) -> SqlExpression:
        """The same expression under another output name."""
        return replace(self, output=name)

    def inside(self, before: str, after: str) -> SqlExpression:
        """The expression between two texts."""
        return replace(
            self, texts=(before + self.texts[0], *self.texts[1:-1], self.texts[-1] + after)
        )

    @property
    def of_events(self) -> SqlExpression:
        """What it is of events that last."""
        return replace(self, parts=tuple(part.of_events for part in self.parts))

    @property
    def label(self) -> str:
        """The output name where all columns are given by name."""
        return self.output or self.write([part.label for part in self.parts])

    def __repr__(self) -> str:
        return _show(self)

    @property
    def calls(self) -> list[Call]:
        """The aggregates it is computed of, without names of their own."""
        return [replace(part, output=None) for part in self.parts]

    def write(self, texts: Sequence[str]) -> str:
        """The expression with a text for each of its aggregates."""
        return "".join(map("".join, zip_longest(self.texts, texts, fillvalue="")))

    def write_sql(self, templates: Sequence[str]) -> str:
        """The same as a template, made of templates."""
        return replace(self, texts=tuple(map(escape, self.texts))).write(templates)

    @property
    def in_python(self) -> bool:
        """Whether ``compute`` can: functions of SQL are Spark's alone."""
        return False

    def compute(self, values: Sequence[Any]) -> Any:
        """Nobody asks for it."""
        raise AssertionError(values)


def join_sql(parts: Sequence[tuple[str, str] | SqlExpression]) -> SqlExpression:
    """One expression of SQL texts, each with what is shown for it, and of expressions."""
    texts, shown, calls = [""], [""], list[Call]()
    for part in parts:
        if isinstance(part, tuple):
            texts[-1] += part[0]
            shown[-1] += part[1]
            continue
        (first, *more), (named, *others) = part.texts, part.shown or part.texts
        texts[-1:] = [texts[-1] + first, *more]
        shown[-1:] = [shown[-1] + named, *others]
        calls += part.parts
    return SqlExpression(tuple(texts), tuple(calls), shown=tuple(shown))


def _show(expression: Expression | SqlExpression) -> str:
    """An expression as one would write it."""
    text = expression.write([*map(repr, expression.calls)])
    return f"{text}.alias({expression.output!r})" if expression.output else text


def _is_number(given: object) -> bool:
    """Whether SQL has such a number: a long, a double that is finite, or a decimal."""
    if isinstance(given, bool):
        return False
    if isinstance(given, int):
        return -(2**63) <= given < 2**63
    if isinstance(given, Decimal):
        return given.is_finite() and len(f"{abs(given):f}".replace(".", "", 1)) <= _MOST_DIGITS
    return isinstance(given, float) and math.isfinite(given)


def write_number(given: Any) -> str:
    """A number as an SQL literal of the same type: double or decimal."""
    if isinstance(given, float):
        return f"{given!r}D"
    if isinstance(given, Decimal):
        return f"{given:f}BD"
    return f"{given}L" if abs(given) >= 2**31 else str(given)


@dataclass(frozen=True)
class _Leaf:
    """An aggregate of an expression: its columns' letters, and that of its condition."""

    call: Call
    letters: tuple[str, ...]
    condition: str

    def partials(self, types: Mapping[str, str], *, exact: bool) -> Partials:
        """What it keeps, in terms of the expression's arguments."""
        chosen = self.call.exact if exact and self.call.exact else self.call.aggregate
        own = tuple(types[letter] for letter in self.letters)
        found = chosen.partials(own)
        kind = found.kind or (own[0] if own else "void")
        names = dict(zip(ARGUMENTS, self.letters, strict=False))
        if self.condition:
            found, names = found.of_some_rows(), {**names, "where": self.condition}
        fields = {
            name: replace(monoid, value=rename(monoid.value, names))
            for name, monoid in found.fields.items()
        }
        lower = rename(found.lower, {}, type=escape(kind))
        return replace(found, fields=fields, lower=lower, native=rename(found.native, names))


def combine_calls(
    expression: Expression | SqlExpression,
    columns: Sequence[Any],
    letters: Sequence[tuple[tuple[str, ...], str]],
) -> Call:
    """An expression as one aggregate of ``columns``.

    ``letters`` are those of the columns of each of its aggregates, and of its condition.
    """
    leaves = [_Leaf(call, *own) for call, own in zip(expression.calls, letters, strict=True)]

    def make(*, exact: bool) -> Aggregate:
        def recipe(types: tuple[str, ...]) -> Partials:
            known = dict(zip(ARGUMENTS, types, strict=False))
            return _join(expression, [leaf.partials(known, exact=exact) for leaf in leaves])

        holistic = any(leaf.call.aggregate.algebra == "holistic" for leaf in leaves)
        return Aggregate(
            EXPRESSION, recipe=recipe, accepts="any", arity=len(columns),
            algebra="holistic" if holistic else "algebraic",
        )  # fmt: skip

    sketched = any(leaf.call.exact for leaf in leaves)
    return Call(
        make(exact=False), tuple(columns), output=expression.output,
        exact=make(exact=True) if sketched else None,
    )  # fmt: skip


def _bracket(template: str) -> str:
    """A template as one operand, whatever it is computed of."""
    return template and f"({template})"


def _join(expression: Expression | SqlExpression, parts: Sequence[Partials]) -> Partials:
    """The partials of all aggregates side by side, and the expression of their results."""
    fields: dict[str, Monoid] = {}
    strings: dict[str, str] = {}
    lowered: list[str] = []
    for number, part in enumerate(parts):
        names = {name: f"a{number}_{name}" for name in (*part.fields, *part.strings)}
        fields |= {names[name]: monoid for name, monoid in part.fields.items()}
        strings |= {names[name]: text for name, text in part.strings.items()}
        lowered.append(_bracket(rename(part.lower, names)))
    natives = [_bracket(part.native) for part in parts]
    readers = [part.lower_values for part in parts]

    def lower_values(of: Mapping[str, Any]) -> Any:
        values = []
        for number, (part, read) in enumerate(zip(parts, readers, strict=True)):
            own = {name: of[f"a{number}_{name}"] for name in (*part.fields, *part.strings)}
            values.append(read({**of, **own}) if read else None)
        return expression.compute(values)

    return Partials(
        fields, expression.write_sql(lowered), strings,
        native=expression.write_sql(natives) if all(natives) else "",
        native_since=max(part.native_since for part in parts),
        weightless=_WHY_NOT_WEIGHTED, instead=_WEIGHTED,
        lower_values=lower_values if expression.in_python and all(readers) else None,
    )  # fmt: skip


Arithmetic.combined, Arithmetic.transformed = Expression, Transformed
