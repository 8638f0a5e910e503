"""What the benchmark of a cluster makes of what each master says."""

from __future__ import annotations

import pytest

from benchmarks.cases import cluster
from benchmarks.timing import DisagreementError

QUERY = ("frames", 1_000_000, 2)


def measured(seconds, **more):
    spilled = {"tasks": 1_200, "memory": 2_500_000_000, "disk": 70_000_000}
    return {"seconds": seconds, "answer": [7, 123], "same": True, **spilled, **more}


def found(**more):
    taken = {
        cluster.ONE: measured(8.0),
        cluster.TWO: measured(5.0),
        cluster.WORKERS: measured(4.0, **more),
    }
    return {where: {QUERY: one} for where, one in taken.items()}


def test_each_is_beside_one_core():
    result = cluster.summed(found())
    (_, head, grown), (_, _, listed) = result.tables
    assert dict(zip(head, grown[0], strict=True)) == {
        "windows": "frames", "data": "skewed", "rows": "1,000,000",
        "local[2]": "1.60", "two workers": "2.00",
    }  # fmt: skip
    assert listed[2][3:] == ["two workers", "4.00", "250,000", "1,200", "2,500", "70"]
    assert [one[3] for one in listed] == ["local[1]", "local[2]", "two workers"]
    assert result.rows[0].ratio == "2.0 x faster"


@pytest.mark.parametrize("other", [{"answer": [7, 124]}, {"same": False}])
def test_another_answer_stops_it(other):
    with pytest.raises(DisagreementError, match="frames"):
        cluster.summed(found(**other))
