"""What is read off value counts: named, so that it can be found without listing the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Reading:
    """One thing that is read off value counts; ``lower`` is SQL of a result over ``{p}``."""

    kind: ClassVar[str] = ""
    lower: ClassVar[str] = "{p}"


@dataclass(frozen=True)
class Distinct(Reading):
    """How many distinct values there are; ``{p}`` is that number."""

    kind: ClassVar[str] = "distinct"
