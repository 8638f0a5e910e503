"""Notebooks as pages: their text, their code, and what running them has given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat

from fanlight.plots.figures.style import theme

SCRIPTS = ("plotly.min.js", "figures.js")
DRAWN = "application/vnd.plotly.v1+json"


def page(path: Path, assets: str) -> str:
    """A notebook as Markdown; figures are drawn by scripts in the folder ``assets``, a link."""
    notebook = nbformat.read(path, as_version=4)
    parts, figures = [], 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            figures += DRAWN in output.get("data", {})
            parts.append(shown(output, figures))
    if figures:
        themes = json.dumps({"light": theme(), "dark": theme(dark=True)})
        scripts = [f'<script src="{assets}/{name}"></script>' for name in SCRIPTS]
        parts[1:1] = [*scripts, f"<script>const fanlightThemes = {themes}</script>"]
    parts.append(f"[This notebook]({path.name}){{ download }} as a file for Jupyter.")
    return "\n\n".join(part for part in parts if part) + "\n"


def shown(output: Any, number: int) -> str:
    """An output of a cell: the richest form that it has."""
    data = output.get("data", {})
    if DRAWN in data:
        figure = json.dumps(data[DRAWN]).replace("</", "<\\/")
        return (
            f'<div class="figure" id="figure-{number}"></div>\n'
            f"<script>fanlightFigure({number}, {figure})</script>"
        )
    if "text/html" in data:
        return f'<div class="drawing">{"".join(data["text/html"].splitlines())}</div>'
    text = output.get("text") or data.get("text/plain", "")
    return f"```text\n{text.rstrip()}\n```"
