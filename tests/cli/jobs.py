"""A job file that is right, and ways to change it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from click.testing import CliRunner

from fanlight.cli import commands
from fanlight.cli.jobs.document import InvalidJobError
from fanlight.cli.jobs.job import load
from tests.helpers.sparks import ONE_COMPILER, QUICK

RIGHT = '''\
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
sql = """
SELECT antenna, window, count(*) AS calls, max(seconds) AS longest
FROM calls [WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE]
GROUP BY antenna
"""

[sink]
format = "parquet"
path = "busy"

[stream]
trigger = "available now"
checkpoint = "checkpoint"
'''


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


def asking(sql, text=RIGHT):
    """The file with another query."""
    begin, end = text.index("sql = "), text.index("[sink]")
    return f'{text[:begin]}sql = """{sql}"""\n\n{text[end:]}'


def loaded(folder, text=RIGHT, **how):
    return load(written(folder, text), **how)


def errors_of(folder, text):
    with pytest.raises(InvalidJobError) as raised:
        loaded(folder, text)
    return re.split(rf"\n(?={re.escape(str(folder))})", str(raised.value))  # some have an excerpt


BEGIN = datetime(2024, 5, 1, 12, tzinfo=UTC)
TIME = pa.timestamp("us", "UTC")
OWN = {
    **QUICK,
    "spark.driver.extraJavaOptions": ONE_COMPILER,
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}


def job(folder, text=RIGHT, settings=None):
    """A job file with settings of its own."""
    lines = "".join(f"{name!r} = {value!r}\n" for name, value in (settings or {}).items())
    path = folder / "busy.toml"
    path.write_text(text.replace('"spark.master" = "local[2]"\n', lines or "\n"), "utf-8")
    return path


def call(*words):
    return CliRunner().invoke(commands.fanlight, [str(word) for word in words])
