"""By a Python that has the wheel and plotly, but no PySpark: what works, and what it says."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib.util import find_spec

import fanlight as fl
from fanlight import agg, plots, report

NOON, MINUTE = datetime(2024, 3, 1, 12), timedelta(minutes=1)


def main():
    assert find_spec("pyspark") is None, "this environment should have no PySpark"
    assert fl.Sliding("4 minutes", "1 minute").slide
    assert agg.count().alias("n").label == "n"
    assert report.Page("A page", "What it shows.")
    windows = [{"window": {"start": NOON + k * MINUTE, "end": NOON + (k + 4) * MINUTE}, "n": k}
               for k in range(5)]  # fmt: skip
    (line,) = plots.sliding(windows).data
    assert list(line.y) == [0, 1, 2, 3, 4]
    told = ""
    try:
        fl.over(None, fl.Sliding("1 minute"), time="ts")
    except ModuleNotFoundError as error:
        told = str(error)
    assert "pip install 'fanlight[spark]'" in told, told
    try:
        fl.clause(fl.Sliding("1 minute"), time="ts")
    except ModuleNotFoundError as error:
        told = str(error)
    assert "pip install 'fanlight[sql]'" in told, told


if __name__ == "__main__":
    main()
    print("without PySpark: specs, aggregates, pictures, and an error that says what to install")
