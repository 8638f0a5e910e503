"""Values of wrong types, and public callables that are given them, one argument at a time."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

import fanlight as fl
from fanlight import agg, algebra


class Untrue:
    """Neither true nor false, nor equal to anything, nor hashable; a Column is so."""

    __hash__ = None

    def __bool__(self):
        raise ValueError("cannot be taken for a bool")

    def __eq__(self, other):
        return self

    def __repr__(self):
        return "Untrue()"


class LikeColumn(Untrue):
    """Like a Column of Spark's: any attribute is there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_):
        raise TypeError("'Column' object is not callable")

    def __iter__(self):
        raise TypeError("Column is not iterable")

    def isNotNull(self):  # noqa: N802 - Spark's
        return self

    def __str__(self):
        return "Column<'sum(x)'>"

    __repr__ = __str__


# What tells a user nothing: where an object is, what a value is made of, Spark's own objects.
LEAK = re.compile(
    r" at 0x[0-9a-f]|(?:Call|Expression)\(\w+=|Aggregate\(name=|JavaObject|StructType\(|"
    r"\{\"type\""
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 10**400, 1.5, -0.0, math.nan, math.inf, -math.inf, 1j,
    Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1E+400"), Fraction(1, 3),
    "", " ", "x", "{", "'", "\\", "\x00", "9" * 400, "1e400 days", "1 minute", "x > 1", "\ud800",
    b"x", [], [None], [[1]], [1, "x"], ["x", "x"], [2, 1], ["2 minutes", "1 minute"], (), (1, 2),
    ("x", "y"), {}, {"x": None}, {"x": "y"}, {"x": [1, None]}, {1: 2}, {"x": math.nan},
    {"x": 10**400}, MappingProxyType({"x": Untrue()}), {"x": algebra.Monoid()},
    {"x": algebra.Max("{w}")},
    set(), {1}, range(3), object(), int, len, lambda: 1, lambda *_: 1, Untrue(), [Untrue()],
    np.array([1, 2]), np.array([]), np.float64("nan"), np.int64(1), datetime(2024, 1, 1),
    timedelta(0), timedelta(minutes=-1), timedelta.max, agg.max("x"), algebra.Max(), agg,
    fl.Rows(1),
    fl.Sliding("1 minute"), NotImplemented, ..., ValueError("x"), LikeColumn(), [LikeColumn()],
    {"x": LikeColumn()}, [agg.max("x")], agg.max, agg.sum("x") / 2,
    algebra.Aggregate("a", {"p": algebra.Max("{x}")}, "{p}"),
)  # fmt: skip


@dataclass(frozen=True)
class Good:
    """A call that is right, by the names of its arguments."""

    function: Any
    arguments: dict[str, Any]

    def __post_init__(self):
        left_out = set(self.parameters) - set(self.arguments)
        assert not left_out, f"{self.function} needs {left_out}"

    @property
    def parameters(self):
        return inspect.signature(self.function).parameters

    def call(self, **changed):
        """The call, with some arguments changed."""
        given, positional, named = {**self.arguments, **changed}, [], {}
        several = any(one.kind is one.VAR_POSITIONAL for one in self.parameters.values())
        for name, one in self.parameters.items():
            if one.kind is one.VAR_POSITIONAL:
                positional += given[name] if isinstance(given[name], tuple) else [given[name]]
            elif one.kind is one.VAR_KEYWORD:
                texts = isinstance(given[name], dict) and all(
                    isinstance(n, str) for n in given[name]
                )
                named |= given[name] if texts else {"x": given[name]}
            elif one.kind is one.POSITIONAL_ONLY or (
                several and one.kind is one.POSITIONAL_OR_KEYWORD
            ):
                positional.append(given[name])
            else:
                named[name] = given[name]
        return self.function(*positional, **named)


def wrong(good: Good, accepted, values: Sequence[Any] = VALUES) -> list[str]:
    """What a call raises, besides what is accepted, when one of its arguments is hostile."""
    found = []
    for name in good.parameters:
        for value in values:
            try:
                said = repr(good.call(**{name: value}))
            except accepted as error:
                said = str(error)
            except Exception as error:  # noqa: BLE001 - each is a finding
                called = getattr(good.function, "__qualname__", repr(good.function))
                found.append(f"{called}({name}={value!r}): {type(error).__name__}: {error}")
                continue
            if LEAK.search(said):
                found.append(f"{name}={value!r} shows {LEAK.findall(said)} in {said}")
    return found
