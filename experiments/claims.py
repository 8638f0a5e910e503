"""What a ``claim.md`` says, held against the results beside it.

Each experiment's ``claims.py`` has ``said(tables)``: phrases made of the figures of its own tables,
each with whether what it says is so. A phrase must stand in ``claim.md`` word for word.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(page.parent.name for page in HERE.glob("*/claim.md"))
SEPARATOR = re.compile(r"^\|[\s:|-]+\|$")


def tables(text):
    """The tables of a page: lists of rows (heading: cell), by the headings above them.

    The key is what stands last above a table: ``## A``, ``### A`` or ``**A**``, and for the latter
    the ``##`` before, too: ``A / B``. A second table under one key, and a second column under one
    heading, is ``A (2)``.
    """
    found, section, part, head = {}, "", "", None
    for line in text.splitlines():
        if line.startswith("#"):
            section, part = line.lstrip("#").strip(), ""
        elif bold := re.match(r"\*\*(.+?)\*\*", line):
            part = bold[1]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = []
            for cell in cells(line):
                head.append(another(cell, head))
            key = another(f"{section} / {part}" if part else section, found)
            found[key] = []
        elif not SEPARATOR.match(line):
            found[key].append(dict(zip(head, cells(line), strict=True)))
    return found


def another(name, taken):
    """The name, or ``name (2)`` and so on where it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


UNITS = {"ms": 1e-3, "s": 1.0, "%": 0.01}


def number(cell):
    """A cell's first number, in seconds where it has a unit of time; None where there is none."""
    told = re.match(r"(-?[\d,]*\.?\d+(?:e-?\d+)?)\*? ?(ms|s|%)?(?![\w])", cell)
    return float(told[1].replace(",", "")) * UNITS.get(told[2], 1.0) if told else None


def numbers(row, *skipped):
    """The numbers of a row, less those under the headings ``skipped``."""
    found = [number(cell) for name, cell in row.items() if name not in skipped]
    return [one for one in found if one is not None]


def column(rows, name):
    """The numbers of a column that has one in every row."""
    return [number(row[name]) for row in rows]


def points(rows, x, y):
    """Two columns of numbers, as pairs; None where a cell of the second has none."""
    return [(number(row[x]), number(row[y])) for row in rows]


def between(values, form="{:.2f}"):
    """The least and the most of some numbers, as ``1.2 to 3.4``."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def texts(name):
    """The claims of an experiment, and its results."""
    folder = HERE / name
    pages = sorted(page for page in folder.glob("*.md") if page.name != "claim.md")
    results = {page.stem: tables(page.read_text("utf-8")) for page in pages}
    return (folder / "claim.md").read_text("utf-8"), results


def said(name, results):
    """The phrases of an experiment, each with whether it is so."""
    return list(importlib.import_module(f"experiments.{name}.claims").said(results))


def wrong(name, claim, results):
    """What does not hold: phrases that are not in the claim, or are and are not so."""
    plain = " ".join(claim.split())
    return [
        phrase if holds else f"{phrase} (it is not so)"
        for phrase, holds in said(name, results)
        if not holds or phrase not in plain
    ]
