"""What is written by key, by a Python that has the wheel, one database's extra and nothing else.

python bases.py delta|postgresql
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa

import fanlight as fl
from fanlight.io.upsert import delta_folder, postgresql

ROWS = pa.table({"antenna": ["a", "b"], "calls": [1, 2]})


def delta():
    """A table is made and written; the same micro-batch again is no commit."""
    folder = tempfile.mkdtemp()
    for _ in range(2):
        delta_folder.write(folder, ["antenna"], ROWS, "wheel", 0)
    return len(list(Path(folder, "_delta_log").glob("*.json"))) == 2


def no_server():
    """There is none, which the driver says."""
    try:
        postgresql.write("postgresql://localhost:1/none", "busy", ["antenna"], ROWS, None, 0)
    except fl.FanlightError as error:
        return "connection" in str(error)
    return False


if __name__ == "__main__":
    sys.exit(not {"delta": delta, "postgresql": no_server}[sys.argv[1]]())
