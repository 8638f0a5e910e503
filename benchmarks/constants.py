"""The table of the cost model's constants: read, held beside what was measured, and written.

The table is source of the library, which programs read by its path and do not import.
"""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import numpy as np

import fanlight as fl

TABLE = Path(fl.__file__).with_name("engine") / "plan" / "cost" / "constants.py"
FITTED = "fitted"
OFF = 1.5  # times the common factor: beyond it a constant is marked
# Constants that are measured in a sum alone, and keep their ratio.
SUMS = {"READ + ROW": ("READ", "ROW")}
HEADER = ["constant", "in use", "measured", "measured / in use", "over the common factor", ""]


def in_use(text=None):
    """The constants as the library has them, and sums of them that are measured."""
    found = {
        node.targets[0].id: node.value.value
        for node in ast.parse(TABLE.read_text("utf-8") if text is None else text).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    return found | {name: sum(found[part] for part in parts) for name, parts in SUMS.items()}


def common_factor(found, used):
    """What all constants have in common that differs from those in use: the median quotient."""
    known = [found[name] / used[name] for name in found if name in used and usable(found[name])]
    return float(np.median(known)) if known else float("nan")


def usable(value):
    """Whether a constant can be what was measured: noise makes some of them negative."""
    return math.isfinite(value) and value > 0


def compared(found, used):
    """A line a constant."""
    common = common_factor(found, used)
    lines = []
    for name, value in found.items():
        if name not in used:
            lines.append([name, "", f"{value:.1f}", "", "", "not in the library"])
            continue
        quotient = value / used[name]
        off = quotient / common
        mark = "" if 1 / OFF <= off <= OFF else "off"
        mark = mark if usable(value) else "lost in noise"
        shown = [f"{used[name]:.1f}", f"{value:.1f}", f"{quotient:.2f}", f"{off:.2f}"]
        lines.append([name, *shown, mark])
    return lines


def left(found, used):
    """The constants that nothing was measured of, or that were lost in noise."""
    told = [name for name, value in found.items() if name in used and usable(value)]
    single = {part for name in told for part in SUMS.get(name, (name,))}
    return [name for name in used if name not in single and name not in SUMS]


def rewritten(text, found):
    """The table with what was measured, divided by the common factor; all else stays.

    Constants that are not measured so keep their ratio to most of the others.
    """
    used = in_use(text)
    common = common_factor(found, used)
    for name, value in found.items():
        if name in used and usable(value):
            ratio = value / used[name] / common
            for part in SUMS.get(name, (name,)):
                text = _replaced(text, part, f"{part} = {_number(used[part] * ratio)}  # {FITTED}")
    return text


def _replaced(text, name, line):
    """The table with another line of this name, of which there is one."""
    text, found = re.subn(rf"^{name} = .*$", line, text, flags=re.MULTILINE)
    if found != 1:
        raise ValueError(f"{name} has {found} lines in the table")
    return text


def _number(value):
    """Three digits that count, written as a float."""
    return f"{float(f'{value:.3g}'):_}"


def write(found):
    """Write what was measured into the table."""
    TABLE.write_text(rewritten(TABLE.read_text("utf-8"), found), "utf-8")
