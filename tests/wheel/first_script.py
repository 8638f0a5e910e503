"""The first script of docs/start.md, by a Python that has the wheel and the plain extra `spark`.

It prints the page's first table, and no warning: fanlight adds none to what Spark says of itself.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "start.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a Spark without Hadoop's own libraries says of itself as it starts, in every script.
OF_SPARK = (
    "WARNING: Using incubator modules: jdk.incubator.vector",
    "WARN NativeCodeLoader: Unable to load native-hadoop library for your platform",
    'Setting default log level to "WARN".',
)


def first_script():
    """The page's code before its first table, and the table."""
    code = []
    for language, text in BLOCK.findall(PAGE.read_text("utf-8")):
        if language == "text":
            return "\n".join(code), text
        code.append(text)
    raise AssertionError(f"{PAGE.name} shows no table")


def warnings_in(said):
    """The lines with a warning, but for those of Spark."""
    return [
        line
        for line in said.splitlines()
        if re.search("warn", line, re.IGNORECASE) and not any(one in line for one in OF_SPARK)
    ]


def main():
    code, table = first_script()
    there = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    # another Spark of this machine may have the port of the UI, and Spark warns of that
    there["PYSPARK_SUBMIT_ARGS"] = "--conf spark.ui.port=0 pyspark-shell"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "first.py").write_text(code, "utf-8")
        ran = subprocess.run(
            [sys.executable, "first.py"],
            cwd=folder, env=there, capture_output=True, text=True, check=False,
        )  # fmt: skip
    warnings = warnings_in(ran.stdout + ran.stderr)
    assert ran.returncode == 0, ran.stderr
    assert table in ran.stdout, ran.stdout
    assert not warnings, warnings
    print("the first script of the documentation: its table, and no warning")


if __name__ == "__main__":
    main()
