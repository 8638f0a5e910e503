"""Aggregates as text, such as ``percentile(price, 0.9)``: a call of a function of fanlight.agg."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

from fanlight import FanlightError, agg

_ALL = re.compile(r"^count\s*\(\s*\*\s*\)$")  # as SQL has it
_HOW = "write for example sum(price) or percentile(price, 0.9)"


def aggregate(text: str) -> agg.Call:
    """The aggregate that a text names; nothing of the text is run.

    >>> aggregate("max_by(item, price)").label
    'max_by(item, price)'
    >>> aggregate("count()").label
    'count(1)'
    """
    try:
        call = ast.parse(_ALL.sub("count()", text.strip()), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise FanlightError(f"{text!r} cannot be read as an aggregate; {_HOW}") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise FanlightError(f"{text!r} is not an aggregate of columns; {_HOW}")
    name = call.func.id
    function = getattr(agg, name, None) if name in agg.__all__ and name.islower() else None
    if function is None:
        known = ", ".join(one for one in agg.__all__ if one.islower())
        raise FanlightError(f"{name} is not an aggregate; there are {known}")
    given = [_value(one, text) for one in call.args]
    named = {one.arg: _value(one.value, text) for one in call.keywords if one.arg}
    try:
        inspect.signature(function).bind(*given, **named)
    except TypeError as error:
        raise FanlightError(f"{text!r}: {error}; {name}{inspect.signature(function)}") from error
    made: agg.Call = function(*given, **named)
    return made


def _value(node: ast.expr, text: str) -> Any:
    """A column's name, or a constant."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise FanlightError(
            f"{ast.unparse(node)!r} in {text!r} is neither a column nor a constant; {_HOW}"
        ) from error
