"""What is to be said of an answer to a query that was drawn."""

from __future__ import annotations

import fanlight as fl
from tests.law import late
from tests.law.ask import microseconds
from tests.law.comparison import SHOWN, differences
from tests.law.limits import as_spark
from tests.law.oracle import ends
from tests.law.registry import KINDS


def expected(ask):
    """The oracle's answer; to a stream, over the rows that are not late."""
    oracle = KINDS[ask.kind].oracles[ask.action]
    if ask.about != "late":
        return as_spark(ask, oracle(ask, ask.data.rows))
    return as_spark(ask, late.answer(ask, oracle, ends, microseconds(ask.arrivals.delay)))


def verdict(ask, answer):
    """``right``, ``refused`` (only strategies that are forced may be), or what is wrong."""
    try:
        found = answer()
    except fl.FanlightError as error:
        return "refused" if ask.strategy != "auto" else f"refused 'auto': {error}"
    wrong = differences(found, expected(ask))
    return "wrong: " + "\n".join(wrong[:SHOWN]) if wrong else "right"
