"""What tests of pages share."""

from __future__ import annotations

import pytest


@pytest.fixture
def page_session(classic):
    """Pages show times in UTC, and leave no stream and no setting behind."""
    kept = {
        name: classic.conf.get(name)
        for name in (
            "spark.sql.session.timeZone",
            "spark.sql.mapKeyDedupPolicy",  # which ibis sets, too
            "spark.sql.streaming.stateStore.providerClass",
        )
    }
    classic.conf.set("spark.sql.session.timeZone", "UTC")
    yield classic
    for query in classic.streams.active:
        query.stop()
    for name, value in kept.items():
        classic.conf.set(name, value)
