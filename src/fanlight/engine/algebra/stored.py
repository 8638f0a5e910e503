"""Partials in a table: what is written of an aggregate, and the aggregate that takes them up again.

A column has the partials of one aggregate, a struct with a field for each of its monoids. What they
are of is written as JSON beside it: nothing in it is SQL.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fanlight.engine.algebra.aggregate import Aggregate, Call, Partials
from fanlight.engine.algebra.facts import why_not_invertible
from fanlight.engine.algebra.monoids import Monoid, Sum
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.spec.errors import refuse

NOTE = "fanlight"  # the metadata of a column that say what it has
_SIMPLE = re.compile(r"[a-z_]+(\(\d+(, ?\d+)?\))?")  # a type that names nothing of a user's
_OTHER = "void"
_FACTS = ("bounded", "running", "idempotent", "commutative", "combining", "since")


@dataclass(frozen=True)
class Merged(Monoid):
    """Partials of another monoid, ``of``, where a row's value is one.

    ``exact``: partials can be taken back out. ``split`` is the type of values whose sums are kept
    in two parts, ``upper`` and ``lower``; see :mod:`fanlight.engine.algebra.split_sums`.
    """

    of: Monoid = Sum()  # noqa: RUF009 - it is frozen
    exact: bool = False
    split: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        facts = {name: getattr(self.of, name) for name in _FACTS}
        # What it adds up was checked when it was lifted, and so it is here as exact as counts are.
        for name, fact in {**facts, "invertible": self.exact, "counts": True}.items():
            object.__setattr__(self, name, fact)

    @property
    def compares(self) -> bool:
        """What is compared is in its normal form already."""
        return False

    @property
    def in_python(self) -> bool:
        """Whether partials can be combined in Python."""
        return self.of.in_python

    @property
    def sketch_size(self) -> int:
        """The bytes that a sketch has room for."""
        return self.of.sketch_size

    def unit(self, v: str) -> str:
        """SQL: the partial that a row has."""
        return v

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: the partials of rows to a partial."""
        del n, origin, scale
        return self.of.combine_all(v)

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return self.of.combine_all(p, over)

    def combine(self, a: str, b: str) -> str:
        """SQL scalar: two partials to one."""
        return self.of.combine(a, b)

    def inverse(self, a: str, b: str) -> str:
        """SQL scalar: partial ``a`` without ``b``."""
        return self.of.inverse(a, b)

    def _combine_values(self, a: Any, b: Any) -> Any:
        return self.of.combine_values(a, b)


@dataclass(frozen=True)
class Stored:
    """A column of partials: of which aggregate, of arguments of which types.

    ``options`` are ``None`` for an aggregate of the user's own, which ``definition`` tells from
    others of its name. ``split`` has the types of the values whose sums are kept in two parts.
    """

    label: str
    aggregate: str
    options: Mapping[str, Any] | None
    types: tuple[str, ...]
    split: Mapping[str, str]
    definition: str = ""

    @classmethod
    def of_call(cls, call: Call, types: Iterable[str], split: Mapping[str, str]) -> Stored:
        """What is stored of an aggregate over columns of these types."""
        plain = tuple(kind if _SIMPLE.fullmatch(kind) else _OTHER for kind in types)
        own = "" if call.options is not None else _digest(call.aggregate.partials(plain))
        return cls(call.label, call.aggregate.name, call.options, plain, split, own)

    def to_json(self) -> str:
        """Write the field as text, without the name of its column."""
        told = {
            "aggregate": self.aggregate, "options": self.options, "types": self.types,
            "split": self.split, "definition": self.definition,
        }  # fmt: skip
        text = json.dumps(told, default=lambda number: {"number": str(Fraction(number))})
        return "\\u0024".join(text.split("$"))  # Spark fills in ${name} where it reads a schema

    @classmethod
    def of_json(cls, label: str, text: str) -> Stored:
        """What the text beside a column says."""
        told = json.loads(text, object_hook=_read_number)
        types, split = tuple(told["types"]), dict(told["split"])
        if not all(isinstance(one, str) and _SIMPLE.fullmatch(one) for one in types):
            raise ValueError(types)
        return cls(label, told["aggregate"], told["options"], types, split, told["definition"])

    def find_aggregate(self, own: Iterable[Aggregate] = ()) -> Aggregate:
        """The aggregate, one of the library's or of the user's ``own``."""
        if self.options is not None and self.aggregate in AGGREGATES:
            function = AGGREGATES[self.aggregate].function
            columns = ["x", "y", "z"][: len(self.types)]
            return function(*columns, **self.options).aggregate
        found = next((one for one in own if one.name == self.aggregate), None)
        if found is None:
            raise refuse(
                f"the column {self.label!r}",
                f"has partials of {self.aggregate}, which fanlight does not have",
                "pass your Aggregate(…): aggregates=[…]",
            )
        if _digest(found.partials(self.types)) != self.definition:
            raise refuse(
                f"aggregates=[{self.aggregate}]",
                f"is not defined as the one that wrote the column {self.label!r}",
                "pass the aggregate as it was, or write the pieces again",
            )
        return found

    def merging_call(self, column: str, own: Iterable[Aggregate] = ()) -> Call:
        """The aggregate over rows that have its partials, in a column of this name."""
        found = self.find_aggregate(own)
        partials = found.partials(self.types)
        fields = {
            part: Merged(
                f"{{x}}.{quote(part)}",
                of=replace(monoid, value="{x}"),
                exact=not why_not_invertible(monoid, self.types),
                split=self.split.get(part, ""),
            )
            for part, monoid in partials.fields.items()
        }
        kind = self.types[0] if self.types else _OTHER
        merged = replace(partials, fields=fields, reads=None, native="", kind=kind)
        merging = Aggregate(found.name, recipe=lambda _: merged, accepts="any")
        return merging(column).alias(self.label)


def check_own(own: Any) -> tuple[Aggregate, ...]:
    """Check the argument ``own``: aggregates of the user's, in a list."""
    if not isinstance(own, (list, tuple)) or not all(isinstance(one, Aggregate) for one in own):
        raise refuse(
            f"aggregates={own!r}",
            "is not a list of aggregates of your own",
            "write aggregates=[spread], where spread = algebra.Aggregate(…)",
        )
    return tuple(own)


def _digest(partials: Partials) -> str:
    """Short text that definitions of the same partials have in common."""
    written = f"{dict(partials.fields)!r} {partials.lower!r} {dict(partials.strings)!r}"
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _read_number(told: dict[str, Any]) -> Any:
    return Fraction(told["number"]) if told.keys() == {"number"} else told
