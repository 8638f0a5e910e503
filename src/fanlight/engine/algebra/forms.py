"""What the form of an SQL template tells, without asking Spark.

Both questions are answered with False where the form does not tell.
"""

from __future__ import annotations

import re

from fanlight.engine.algebra.sql_text import find_places

_IN_QUOTES = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_ARGUMENT = re.compile(r"\{(?:[xyz]|x\d+)\}")
_NULL = re.compile(rf"{_ARGUMENT.pattern} is null")
_PLACE, _NUMBER = r"\{\w+\}", r"\d+(?:\.\d+)?[A-Za-z]{0,2}"
# SQL that is null if one of its places is: of numbers, operators and casts.
_STRICT = re.compile(rf"(?:{_PLACE}|cast\(|as [a-z]+(?:\(\d+,\d+\))?\)|{_NUMBER}|[-+*/%()\s])++")
# SQL that stays right with doubles in place of other numbers.
_PLAIN_FORM = re.compile(
    rf"(?:{_PLACE}|(?:coalesce|nullif|cast)\(|as double\)|{_NUMBER}|[-+*/(),\s])++"
)


def is_null_of_nulls(value: str) -> bool:
    """Whether a template of what a row contributes is null if all its arguments are.

    >>> is_null_of_nulls("cast({x} as double)"), is_null_of_nulls("coalesce({x}, 0)")
    (True, False)
    >>> is_null_of_nulls("if({x} is null, null, named_struct('o', {order}, 'v', {x}))")
    True
    >>> is_null_of_nulls("if({x}, 1, null)"), is_null_of_nulls("if({x}, null, 1)")
    (True, False)
    """
    bare = _IN_QUOTES.sub("''", value).strip()
    match _split_if(bare):
        case [asked, _, "null"] if _ARGUMENT.fullmatch(asked):
            return True
        case [asked, "null", other]:
            known = all(_NULL.fullmatch(part.strip()) for part in asked.split(" or "))
            return known or is_null_of_nulls(other)
    return (
        any(_ARGUMENT.fullmatch(f"{{{place}}}") for place in find_places(bare))
        and _STRICT.fullmatch(bare) is not None
    )


def is_arithmetic(lower: str) -> bool:
    """Whether a template only adds, subtracts, multiplies and divides, so may take doubles.

    >>> is_arithmetic("cast({s} as double) / nullif({n}, 0)"), is_arithmetic("{s} div {n}")
    (True, False)
    """
    return _PLAIN_FORM.fullmatch(lower) is not None


def _split_if(text: str) -> list[str]:
    """The three parts of an SQL ``if(…)``. Empty if the text is anything else."""
    if not text.startswith("if("):
        return []
    parts, depth, begin = [], 0, 3
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 1:
            parts.append(text[begin:at].strip())
            begin = at + 1
        elif letter == ")" and depth == 0 and at + 1 < len(text):
            return []
    return [*parts, text[begin:-1].strip()]
