"""How many examples a property is shown: in ``make test`` a part, the same in each run of the same
source; in ``make law`` all, other ones each time."""

from __future__ import annotations

import os

from hypothesis import settings

ALL = os.environ.get("EXAMPLES") == "all"
PART = 3
LEAST = 10


def part(count: int) -> int:
    """Of so many examples, those that ``make test`` looks at."""
    return count if ALL else max(count // PART, min(count, LEAST))


# What holds of every property, whatever else it says of itself: none has a deadline, since on a
# machine that is busy time says nothing; and what fails tells how to see it again.
settings.register_profile(
    "house", deadline=None, print_blob=True, derandomize=not ALL, database=None
)
settings.load_profile("house")


def shown(count: int) -> settings:
    """The settings of a property of which so many examples are a thorough test."""
    return settings(max_examples=part(count))
