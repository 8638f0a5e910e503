"""The release that writes state, and what is said of state in a format that it does not read.

``docs/checkpoints.md`` lists the formats, and what to do where one is refused.
"""

from __future__ import annotations

from fanlight.engine.spec.errors import FanlightError

RELEASE = "0.1.0"  # as fanlight.__version__, which a test compares


def format_error(stored: str, writer: str, read: str) -> FanlightError:
    """The error for state of another format than ``read``; ``writer`` is the release, if known."""
    return FanlightError(
        f"the checkpoint has state of {stored}, written by {writer}, and fanlight {RELEASE} reads "
        f"{read}: finish the query with the release that wrote it, or give the query a "
        "checkpointLocation of its own and replay its source"
    )
