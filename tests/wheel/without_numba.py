"""By a Python that has the wheel and PySpark, but no numba: native kinds run, others say why."""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from check import FEW, PROVIDER, ROCKSDB, Check, start
from data import LANE, write
from kinds import KINDS

import fanlight as fl

WRITE = "need numba, which is not installed here; write: pip install 'fanlight[kernels]'"


def refused(check, what, act):
    """It is refused when it is asked for, before anything runs, as a missing package."""
    check.done += 1
    try:
        act()
    except ModuleNotFoundError as error:
        if isinstance(error, fl.FanlightError) and WRITE in str(error):
            return
        what = f"{what}: {error}"
    except fl.FanlightError as error:
        what = f"{what}: {error}"
    check.wrong.append(f"{what}: was not refused for want of numba")


def main():
    assert find_spec("numba") is None, "this environment should have no numba"
    spark = start("classic")
    for name, value in {**FEW, PROVIDER: ROCKSDB}.items():
        spark.conf.set(name, value)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "rows")
        check = Check(spark, Path(folder) / "rows")
        batch = spark.read.parquet(str(check.folder))
        for case in KINDS:
            if case.compiled:
                refused(check, f"{case.name}, batch", lambda case=case: case.of(batch, LANE))
            else:
                check.batch(case, LANE, {})
            if case.native:
                check.streams([(case, LANE, {})])
            else:
                refused(
                    check, f"{case.name}, stream", lambda case=case: check.started(case, LANE, {})
                )
        refused(check, "asked by name", lambda: arrow(batch))
        missing = {one.what: one.write for one in fl.doctor(spark).missing}
        check.tell("doctor", "pip install 'fanlight[kernels]'", missing.get("numba here"))
        spark.stop()
    for line in check.wrong:
        print("wrong:", line)
    print(f"without numba: {check.done} answers, {len(check.wrong)} wrong")
    return len(check.wrong)


def arrow(df):
    """A kind that has a plan in Spark SQL, asked for by the other one."""
    windows = fl.over(df, fl.Session("3 minutes"), time="end", by=LANE)
    return windows.using("arrow").frames()


if __name__ == "__main__":
    sys.exit(main())
