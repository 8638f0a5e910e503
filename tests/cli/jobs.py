"""A job file that is right, and ways to change it."""

from __future__ import annotations

import tomllib
from copy import deepcopy

from fanlight.cli.jobs.job import load

RIGHT = """\
name = "busy"

[spark]
sql.shuffle.partitions = 2
"spark.master" = "local[2]"

[source.calls]
format = "parquet"
path = "calls"
schema = "ts timestamp, antenna string, seconds long"
watermark = { column = "ts", delay = "1 minute" }

[query]
window = "Sliding"
range = "4 minutes"
slide = "1 minute"
time = "ts"
by = ["antenna"]

[query.aggregates]
calls = "count()"
longest = "max(seconds)"

[sink]
format = "parquet"
path = "busy"

[stream]
trigger = "available now"
checkpoint = "checkpoint"
"""


def written(folder, text=RIGHT):
    """A job file in a folder that has what the job reads."""
    (folder / "calls").mkdir(exist_ok=True)
    path = folder / "busy.toml"
    path.write_text(text, "utf-8")
    return path


def without(table):
    """The file without a table."""
    begin = RIGHT.index(f"[{table}]")
    end = RIGHT.find("\n\n", begin)
    return RIGHT[:begin] + (RIGHT[end + 2 :] if end > 0 else "")


def values(text=RIGHT):
    return deepcopy(tomllib.loads(text))


def loaded(folder, text=RIGHT, **how):
    return load(written(folder, text), **how)
