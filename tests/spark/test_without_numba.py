"""Which kinds are refused where numba is missing: `make wheels` has an environment without it."""

from __future__ import annotations

import pytest

from fanlight.engine.plan import ways
from tests.wheel.kinds import KINDS

pytestmark = pytest.mark.spark
COLUMNS = "`begin at` timestamp, `end` timestamp, `Lane No` long, `a.b` double"


def test_what_has_no_plan_in_spark_sql_is_refused(spark, monkeypatch):
    rows = spark.createDataFrame([], COLUMNS)
    monkeypatch.setattr(ways, "find_spec", lambda _: None)

    def is_refused(case):
        try:
            case.of(rows, "Lane No")
        except ModuleNotFoundError:
            return True
        return False

    refused = [case.name for case in KINDS if is_refused(case)]
    assert refused == [case.name for case in KINDS if case.compiled]
    assert refused
