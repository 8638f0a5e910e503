"""What tests of pages share."""

from __future__ import annotations

import time

import pytest

from tests.helpers.sparks import QUICK, settings

SET_BY_PAGES = ("spark.sql.mapKeyDedupPolicy",)  # which ibis sets, too


@pytest.fixture
def page_session(request, classic, monkeypatch):
    """A session that nobody has configured, in a time zone: UTC, or the one that the test names.

    It has Spark's own state store and 200 partitions; what makes the tests quick stays. Given is a
    function that has the session so again. Pages leave no stream and no setting behind.
    """
    zone, conf = getattr(request, "param", "UTC"), classic.conf
    names = [name for name in (*settings(None), *SET_BY_PAGES) if name not in QUICK]
    kept = {name: conf.get(name, None) for name in names if conf.isModifiable(name)}

    def forget():
        for name in kept:
            conf.unset(name)
        conf.set("spark.sql.session.timeZone", zone)

    with monkeypatch.context() as here:
        here.setenv("TZ", zone)  # by which Python shows the times that it is given
        time.tzset()
        forget()
        yield forget
    time.tzset()
    for query in classic.streams.active:
        query.stop()
    for name, value in kept.items():
        conf.unset(name) if value is None else conf.set(name, value)
