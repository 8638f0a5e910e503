"""The dbt project of the page, run by dbt in an environment made for it, over this PySpark."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import uv

from tests.helpers.house import ROOT

PAGE = (ROOT / "docs/dbt.md").read_text("utf-8")
PACKAGES = ("dbt-core>=1.11,<1.12", "dbt-spark>=1.11,<1.12")
PROJECT = "name: phones\nversion: '1.0'\nprofile: local\n"
# Spark would listen on the network, and take a task for each of 200 partitions.
SETTINGS = ("spark.ui.enabled=false", "spark.sql.shuffle.partitions=2")
ASK = """
exec(open("program.py").read())
print("found", [tuple(row) for row in spark.table("busiest").orderBy("antenna").collect()])
"""


def most(antenna):
    """The most calls of an antenna in an hour that begins at a quarter."""
    times = [1_700_000_000 + one * 7 for one in range(antenna, 2000, 2)]
    starts = range(times[0] // 900 * 900 - 3600, times[-1], 900)
    return max(sum(start <= at < start + 3600 for at in times) for start in starts)


def blocks(kind):
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", PAGE)


def installed(folder):
    """A Python with dbt, which finds all else where this one does."""
    tool = uv.find_uv_bin()
    subprocess.run([tool, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    asked = [tool, "pip", "install", "--quiet", "--python", folder, *PACKAGES]
    subprocess.run(asked, check=True)
    python = folder / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    told = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True)
    others = [sysconfig.get_path("purelib"), str(ROOT / "src")]
    Path(told.stdout.strip(), "others.pth").write_text("\n".join(others), "utf-8")
    return python


@pytest.mark.installs
@pytest.mark.slow
@pytest.mark.thorough
def test_the_project_of_the_page(tmp_path):
    python = installed(tmp_path / "environment")
    project = tmp_path / "project"
    (project / "models").mkdir(parents=True)
    model, program = blocks("py")
    profiles, sources = blocks("yaml")
    calls, busiest = blocks("sql")
    for name, text in {
        "dbt_project.yml": PROJECT,
        "profiles.yml": profiles,
        "program.py": program,
        "models/sources.yml": sources,
        "models/calls.sql": calls,
        "models/busiest.sql": busiest,
        "models/on_a_cluster.py": model,  # is read, and not run
    }.items():
        (project / name).write_text(text, "utf-8")
    conf = " ".join(f"--conf {one}" for one in SETTINGS)
    ran = subprocess.run(
        [python, "-c", ASK],
        cwd=project,
        env={
            **os.environ,
            "PYSPARK_PYTHON": str(python),
            "PYSPARK_DRIVER_PYTHON": str(python),
            "PYSPARK_SUBMIT_ARGS": f"{conf} pyspark-shell",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-3000:]
    *_, found = ran.stdout.splitlines()
    assert found == f"found {[(f'antenna {one}', most(one)) for one in (0, 1)]}"
