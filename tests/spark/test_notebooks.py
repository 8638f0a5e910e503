"""The notebooks in docs: run anew, they show what they show in the repository."""

from __future__ import annotations

import nbformat
import pytest

from scripts.notebooks import notebooks, run


def shown(notebook):
    """What each cell shows; figures by their data, since plotly's templates may change."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = dict(output.get("data", {}))
            figure = data.pop("application/vnd.plotly.v1+json", None)
            found.append((cell.id, output.get("text"), data, figure and figure["data"]))
    return found


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_shows_what_running_it_gives(path):
    kept = nbformat.read(path, as_version=4)
    assert shown(kept)
    assert shown(run(path)) == shown(kept)
