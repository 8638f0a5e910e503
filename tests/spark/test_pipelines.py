"""The example of Declarative Pipelines, run by Spark's own program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of

pytest.importorskip("yaml")  # Spark's program reads its file with it
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/what_needs_what.md").read_text("utf-8")
((CODE,), (FILE,)) = (
    re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for kind in ("py", "yaml")
)
PROGRAM = Path(sys.executable).parent / "spark-pipelines"


def changed(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.streaming
def test_the_pipeline_of_the_page_gives_what_a_session_gives(classic, tmp_path):
    calls = classic.sql("""
        SELECT timestamp_seconds(1700000000 + id * 7 + 400 * (id div 100)) AS ts,
               concat('antenna ', id % 2) AS antenna, id % 60 AS seconds FROM range(2000)
    """)
    calls.coalesce(1).write.parquet(f"{tmp_path}/calls")
    (tmp_path / "transformations").mkdir()
    code = changed(CODE, '"calls"  # give the full path', repr(f"file://{tmp_path}/calls"))
    (tmp_path / "transformations/calls.py").write_text(code, "utf-8")
    file = changed(FILE, "/path/to/storage", f"{tmp_path}/storage").replace('"4"', '"2"')
    (tmp_path / "spark-pipeline.yml").write_text(file, "utf-8")
    ran = subprocess.run(
        [str(PROGRAM), "run", "--conf", "spark.ui.enabled=false"],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    calls = classic.read.parquet(f"{tmp_path}/calls")
    hours, sessions = fl.Sliding("1 hour", "15 minutes"), fl.Session("5 minutes")
    busy, cut = (
        fl.over(calls, spec, time="ts", by="antenna").agg(calls=agg.count())
        for spec in (hours, sessions)
    )
    made = {
        name: classic.read.parquet(f"{tmp_path}/spark-warehouse/{name}")
        for name in ("busy", "live", "sessions")
    }
    assert all_of(made["busy"]) == all_of(busy)
    for name, batch in (("live", busy), ("sessions", cut)):
        final, every = all_of(made[name]), all_of(batch)
        assert 0 < len(final) < len(every)
        assert set(final) <= set(every)
