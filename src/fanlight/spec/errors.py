"""The one error type of the library."""

from __future__ import annotations


class FanlightError(ValueError):
    """Raised for every request that fanlight cannot carry out.

    The message says what was asked, why it cannot be, and what to write instead. It is raised as
    early as can be: when the spec is made, or when ``over`` or a terminal method is called; never
    while Spark runs.

    >>> import fanlight as fl
    >>> fl.Sliding("4 minutes", "0 minutes")
    Traceback (most recent call last):
    ...
    fanlight.spec.errors.FanlightError: slide='0 minutes' must be positive; write for example \
slide='1 minute'
    """


class MissingError(FanlightError, AttributeError):
    """Raised for an attribute that does not exist; ``hasattr`` says no, as of any other object."""


def refuse(asked: str, why: str, instead: str) -> FanlightError:
    """An error from its three parts: what was asked, why it cannot be, what to write instead."""
    return FanlightError(f"{asked} {why}; {instead}")
