"""What is loaded and compiled before the first answer: nothing that a query does not use."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# A frames query in a process of its own, by the function that Spark maps over its rows.
FRAMES = """
import os, pyarrow as pa, sys
from fanlight import DeltaFrame
from fanlight.engine.algebra.monoids import Sum
from fanlight.engine.operators.protocol import BatchOperator
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.kinds import scheme_of
schema = pa.schema([("k0", pa.int64()), ("t", pa.int64()), ("v", pa.float64())])
scheme = scheme_of(DeltaFrame({"v": 2}), ["double"], "timestamp")
query = FrameQuery(scheme, schema, ("k0",), (), ("v",), ("p0",), (Sum("v"),), batch=True,
    sources=("v",))
if os.environ.get("COMPILED"):
    from fanlight.engine.kernels import jit
    jit.FEW = -1
assert "numba" not in sys.modules
rows = pa.record_batch([[1, 1, 1], [1, 2, 3], [0.5, 1.0, 9.0]], schema=schema)
print(sum(found.num_rows for found in BatchOperator(query, None).results([rows])))
print("numba" in sys.modules)
"""
# All modules from which a batch or a stream of any kind is planned.
PLANNED = """
import sys
import fanlight.engine.spark.over
from fanlight.engine.spark.ordered import frames
from fanlight.engine.spark.ordered import windows
from fanlight.engine.spark.ordered import windows
from fanlight.engine.spark.ordered import ranked_values, trailing, widening
print(*({"numba", "llvmlite"} & set(sys.modules)))
"""


def ran(code, **env):
    given = [sys.executable, "-c", code]
    done = subprocess.run(
        given, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_planning_loads_no_compiler():
    assert ran(PLANNED) == ""


def test_little_data_waits_for_no_compiler():
    assert ran(FRAMES) == "2\nFalse"


@pytest.mark.slow
def test_frames_compile_only_the_kernels_that_they_use(tmp_path):
    assert ran(FRAMES, COMPILED="1", NUMBA_CACHE_DIR=str(tmp_path)) == "2\nTrue"
    kernels = {path.name.rsplit("_", 1)[0] for path in tmp_path.rglob("*.nbi")}
    assert kernels == {"frames.mark_float_deltas", "pieces._pieces", "ranges._sum_floats"}
