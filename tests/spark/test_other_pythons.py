"""What is said where Spark's workers run another Python than the driver."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pyarrow as pa
import pytest

from fanlight.engine.plan.ways import SAME_PYTHON
from fanlight.engine.spark.sql import say_reason
from fanlight.engine.spec.errors import find_python_error
from fanlight.watching.progress import shorten_error

JOB = """
import sys

from pyspark.sql import SparkSession

import fanlight as fl
from fanlight import agg

builder = SparkSession.builder
connect = "connect" in sys.argv
spark = (builder.remote("local[1]") if connect else builder.master("local[1]")).getOrCreate()
print(fl.doctor(spark))
rows = spark.sql("SELECT timestamp_seconds(id) AS ts, id AS v FROM range(10)")
frames = fl.over(rows, fl.ThresholdFrame("v > 3"), time="ts").using("arrow")
print("-- the query --")
try:
    frames.agg(agg.count()).collect()
except Exception as error:
    print(error)
spark.stop()
"""
# PySpark compares the versions of both Pythons, so this one claims to be another.
OLDER = """
import collections, sys

Version = collections.namedtuple("Version", "major minor micro releaselevel serial")
sys.version_info = Version(3, sys.version_info.minor - 1, 0, "final", 0)
"""
TRACEBACK, WORKER = "Traceback (most recent call last):", "Error from python worker:"


@pytest.fixture(scope="module")
def pythons(tmp_path_factory):
    """By name: a Python without packages, one with some, one older, and one not there."""
    folder = tmp_path_factory.mktemp("pythons")
    packages = {}
    for name in ("bare", "some", "older"):
        venv.create(folder / name)
        (packages[name],) = (folder / name).glob("lib/python*/site-packages")
    (packages["older"] / "sitecustomize.py").write_text(OLDER, "utf-8")
    own = Path(pa.__file__).parents[1]
    for package in (own / "pyarrow", *own.glob("numpy*")):
        (packages["some"] / package.name).symlink_to(package)
    return {name: folder / name / "bin" / "python" for name in (*packages, "gone")}


def said(python: Path, *arguments: str) -> list[str]:
    """What the doctor says, and how a query fails."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_CONN")}
    ran = subprocess.run(
        [sys.executable, "-c", JOB, *arguments],
        env={**own, "PYSPARK_PYTHON": str(python)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("-- the query --")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "cause", "failure"),
    [
        ("bare", (), "No module named 'pyarrow'", "has no fanlight and no numba and no pyarrow"),
        pytest.param(
            *(
                "some",
                (),
                "fanlight on the workers  not there in ",
                "has no fanlight and no numba,",
            ),
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            *("older", (), "[PYTHON_VERSION_MISMATCH]", "[PYTHON_VERSION_MISMATCH]"),
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            *("gone", (), "Cannot run program", "Cannot run program"), marks=pytest.mark.thorough
        ),
        pytest.param(
            *("bare", ("connect",), "No module named 'pyarrow'", "has no fanlight"),
            marks=[pytest.mark.thorough, pytest.mark.connect],
        ),
    ],
)
def test_a_worker_of_another_python_is_named_and_what_to_write(
    pythons, name, arguments, cause, failure
):
    doctor, query = said(pythons[name], *arguments)
    missing = [line for line in doctor.splitlines() if line.startswith("missing")]
    assert any(cause in line for line in missing)
    assert f"\n         write: {SAME_PYTHON}" in doctor
    assert failure in query
    assert SAME_PYTHON in query or name in {"older", "gone"}  # Spark itself says so, before us


TOLD = {
    "[NO_SUCH_TABLE] no\n\nsecond": None,
    f"Thrown:\n{TRACEBACK}\n  File x\n    a()\nOSError: no\n": "OSError: no",
    f"Thrown: {TRACEBACK}\n  File x\n\nKeyError: 1\n\nDuring handling\n\n{TRACEBACK}\n  File x\n"
    "OSError: no\n SQLSTATE: 38000": "OSError: no",
    f"{WORKER}\n  {TRACEBACK}\n    File x\n  KeyError: 1\nPYTHONPATH was:": "KeyError: 1",
    f"{WORKER}\n  python3: No module named pyspark\nPATH": "python3: No module named pyspark",
    'IOException: Cannot run program "x": error=2\n\tat a': 'Cannot run program "x": error=2',
}


@pytest.mark.parametrize("message", TOLD)
def test_the_error_of_a_worker_is_found_in_what_spark_says(message):
    assert find_python_error(message) == TOLD[message]
    assert shorten_error(RuntimeError(message)) == TOLD[message] or not TOLD[message]
    assert say_reason(RuntimeError(message)) == TOLD[message] or not TOLD[message]
