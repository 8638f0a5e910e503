"""The one error type of the library."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# How an error of Python stands in Spark's messages: after its traceback, which is indented deeper;
# without one, where Python does not get as far; or where there is no such program.
_PYTHON_ERRORS = (
    re.compile(
        r"^([ \t]*)(?:\S.*)?Traceback \(most recent call last\):\n"
        r"(?:(?:\1[ \t].*|[ \t]*)\n)*\1(?P<error>\S.*)",
        re.MULTILINE,
    ),
    re.compile(r"Error from python worker:\n[ \t]*(?P<error>\S.*)"),
    re.compile(r"(?P<error>Cannot run program .*)"),
)


class FanlightError(ValueError):
    """Raised for every request that fanlight cannot carry out.

    The message says what was asked, why it cannot be, and what to write instead. It is raised as
    early as possible: when the spec is made, or when ``over`` or a terminal method is called; never
    while Spark runs.

    >>> import fanlight as fl
    >>> fl.Sliding("4 minutes", "0 minutes")
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: slide='0 minutes' must be positive; write for example \
slide='1 minute'
    """


FanlightError.__module__ = "fanlight"  # the name that users know, in every traceback


class MissingError(FanlightError, AttributeError):
    """Raised for an attribute that does not exist; an AttributeError, so ``hasattr`` is False."""


class MissingPackageError(FanlightError, ModuleNotFoundError):
    """Raised for windows that need a package that is not installed."""


class CallError(FanlightError, TypeError):
    """Raised for a call with arguments that the function does not take."""


def refuse(asked: str, why: str, instead: str) -> FanlightError:
    """An error from its three parts: what was asked, why it cannot be, what to write instead."""
    return FanlightError(f"{asked} {why}; {instead}")


def find_python_error(message: str) -> str | None:
    """The error of a Python worker that Spark's message quotes, in one line; None if none is.

    >>> find_python_error('IOException: Cannot run program "python3": error=2')
    'Cannot run program "python3": error=2'
    """
    for pattern in _PYTHON_ERRORS:
        found = [match["error"].strip() for match in pattern.finditer(message)]
        if found:
            return found[-1]
    return None


def shorten(text: str, room: int = 60) -> str:
    """A text of so many characters at most: a DataFrame shows all its columns."""
    return text if len(text) <= room else f"{text[: room - 1]}…"


def explain_wrong_calls(
    example: str, together: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function, or a class's ``__init__``: called wrongly, it shows ``example``.

    ``together`` is a function of Spark's that makes one column of too many.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        *_, owner, name = ("", *function.__qualname__.split("."))
        called, hidden = (owner, 1) if name == "__init__" else (name, 0)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                given = [shorten(repr(one)) for one in args[hidden:]]
                given += [f"{name}={shorten(repr(value))}" for name, value in kwargs.items()]
                unknown = next((name for name in kwargs if name not in signature.parameters), "")
                meant = get_close_matches(unknown, signature.parameters, 1) if unknown else []
                write = example
                if together and not kwargs and len(args) > len(signature.parameters):
                    named = given if all(type(one) is str for one in args) else ["'x'", "'y'"]
                    columns = ", ".join(named)
                    write = f"{example.partition('(')[0]}({together}({columns}))"
                raise CallError(
                    f"{called}({', '.join(given)}): {error}; write "
                    f"{f'{meant[0]}=… instead of {unknown}=…, as in ' if meant else ''}{write}"
                ) from None
            return function(*args, **kwargs)

        return call

    return decorate
