"""The Python model of the page on dbt, called with a stand-in for what dbt gives it."""

from __future__ import annotations

import re

from tests.helpers.house import ROOT

MODEL, _ = re.findall(r"(?ms)^```py\n(.*?)^```$", (ROOT / "docs/dbt.md").read_text("utf-8"))
CALLS = """
    SELECT timestamp_seconds(1700000000 + id * 7) AS ts, concat('antenna ', id % 2) AS antenna,
           id % 60 AS seconds
    FROM range(600)
"""


class Dbt:
    """What the model uses of the object: its settings, and the tables of other models."""

    def __init__(self, session):
        self.session, self.settings = session, {}

    def config(self, **settings):
        self.settings |= settings

    def ref(self, name):
        return self.session.table(name)


def test_the_model_of_the_page(classic):
    session = classic.newSession()
    session.sql(CALLS).createOrReplaceTempView("calls")
    names: dict = {}
    exec(MODEL, names)  # noqa: S102 - the page's
    dbt = Dbt(session)
    found = names["model"](dbt, session)
    assert dbt.settings == {"materialized": "table"}
    assert found.columns == ["antenna", "window", "calls", "longest"]
    assert found.groupBy("antenna").sum("calls").collect() == [
        ("antenna 0", 4 * 300),
        ("antenna 1", 4 * 300),
    ]
