"""Where numba or fanlight is missing: what is planned, and what a worker says."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pyspark.serializers import CloudPickleSerializer

import fanlight as fl
from fanlight.engine.plan import candidate, ways
from fanlight.engine.plan.trailing import Horizon, plan_trailing
from fanlight.engine.spark.ordered import workers

MANY = 1e12  # rows: the compiled way is cheaper

LOAD = """
import sys
from pyspark.serializers import CloudPickleSerializer

if sys.argv[1:] == ["another"]:
    from fanlight.engine.spec import formats

    formats.RELEASE = "0.0.9"
else:
    sys.modules.update(dict.fromkeys(sys.argv[1:]))
task = CloudPickleSerializer().loads(sys.stdin.buffer.read())
print(list(task([1, 2])))
"""


def planned(**more):
    horizon = Horizon(1_000_000, 0, include_self=more.pop("include_self", True))
    return plan_trailing((horizon,), 1, streaming=False, rows=MANY, **more)


def test_auto_takes_the_way_that_needs_no_numba(monkeypatch):
    assert planned().chosen.strategy == ways.ARROW
    monkeypatch.setattr(candidate, "has_compiler", lambda: False)
    found = planned()
    assert found.chosen.strategy == ways.NATIVE
    assert [one.refused for one in found.candidates if one.strategy == ways.ARROW] == [
        "it needs numba, which is not installed here"
    ]
    assert planned(include_self=False).chosen.strategy == ways.ARROW, "nothing else fits"
    assert planned(strategy=ways.ARROW).chosen.strategy == ways.ARROW, "it was asked for"


def test_what_needs_numba_says_so(monkeypatch):
    ways.check_compiler("frames")
    monkeypatch.setattr(ways, "has_compiler", lambda: False)
    with pytest.raises(fl.FanlightError, match=r"pip install 'fanlight\[kernels\]'") as told:
        ways.check_compiler("frames")
    assert isinstance(told.value, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        ([], None),
        (["numba"], "has no numba, which these windows need there"),
        (["fanlight"], "has no fanlight, which"),
        (["fanlight", "numba"], "has no fanlight and no numba, which"),
        (["another"], "has fanlight 0.0.9, and these windows were asked with 0."),
    ],
)
def test_a_worker_says_what_it_lacks(lacking, told):
    task = CloudPickleSerializer().dumps(workers._make_task(iter))
    ran = subprocess.run(
        [sys.executable, "-c", LOAD, *lacking], input=task, capture_output=True, check=False
    )
    if told is None:
        assert ran.stdout.decode().strip() == "[1, 2]", ran.stderr.decode()
    else:
        last = ran.stderr.decode().strip().splitlines()[-1]
        assert re.match(r"\w+Error: the Python of Spark's workers, ", last)
        assert told in last
