"""How many examples a property is shown: by a sample a part, the same in each run of the same
source; thoroughly all, other ones each time."""

from __future__ import annotations

from hypothesis import settings

from tests.helpers.thorough import THOROUGH

PART = 4
LEAST = 6


def part(count: int) -> int:
    """Of so many examples, those that are looked at."""
    return count if THOROUGH else max(count // PART, min(count, LEAST))


# What holds of every property, whatever else it says of itself: none has a deadline, since on a
# machine that is busy time says nothing; and what fails tells how to see it again.
settings.register_profile(
    "house", deadline=None, print_blob=True, derandomize=not THOROUGH, database=None
)
settings.load_profile("house")


def shown(count: int) -> settings:
    """The settings of a property of which so many examples are a thorough test."""
    return settings(max_examples=part(count))
