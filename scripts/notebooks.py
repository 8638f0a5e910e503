"""Runs the notebooks in docs, and keeps what their cells show.

    python -m scripts.notebooks

Nobody writes outputs by hand: a test runs each notebook anew, and compares.
"""

from __future__ import annotations

import copy
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HOME = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
# Figures as data alone: the reader's notebook, or the site, draws them.
FIRST = "import plotly.io\nplotly.io.renderers.default = 'plotly_mimetype'\n"
SECONDS = 600  # for a cell, on a busy machine


def notebooks() -> list[Path]:
    """All of them."""
    return sorted(HOME.glob("*.ipynb"))


def run(path: Path) -> nbformat.NotebookNode:
    """A notebook with what its cells show now, less what differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    asked = copy.deepcopy(notebook)
    begin = nbformat.v4.new_code_cell(FIRST)
    asked.cells.insert(0, begin)
    NotebookClient(asked, timeout=SECONDS, kernel_name="python3").execute()
    for cell, done in zip(notebook.cells, asked.cells[1:], strict=True):
        if cell.cell_type == "code":
            cell.outputs = [kept for one in done.outputs for kept in _kept(one)]
            cell.execution_count = None
            cell.metadata = {}
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return notebook


def _kept(output: Any) -> list[Any]:
    """What a reader should see of an output: no log of Spark's, no counter, no address."""
    if output.output_type == "stream" and output.name == "stderr":
        return []
    if output.output_type == "execute_result":
        output.execution_count = None
    for kind, text in output.get("data", {}).items():
        if isinstance(text, str):
            output.data[kind] = re.sub(r" at 0x[0-9a-f]+", "", text)
    return [output]


def main() -> int:
    """Run each, and write it."""
    for path in notebooks():
        nbformat.write(run(path), path)
        sys.stdout.write(f"{path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
