"""What is to be said of an answer to a query that was drawn."""

from __future__ import annotations

import fanlight as fl
from tests.law.comparison import SHOWN, differences
from tests.law.registry import KINDS


def verdict(ask, answer):
    """``right``, ``refused`` (only strategies that are forced may be), or what is wrong."""
    try:
        found = answer()
    except fl.FanlightError as error:
        return "refused" if ask.strategy != "auto" else f"refused 'auto': {error}"
    wrong = differences(found, KINDS[ask.kind].oracles[ask.action](ask, ask.data.rows))
    return "wrong: " + "\n".join(wrong[:SHOWN]) if wrong else "right"
