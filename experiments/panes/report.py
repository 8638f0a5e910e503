"""The results as tables of text."""

from __future__ import annotations

import math
import os
import platform


def machine(java=None):
    """What it ran on, in general terms."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    words = [f"{os.cpu_count()} cores", f"{memory:.0f} GiB"]
    words += [f"Java {java}"] if java else []
    words += [f"Python {platform.python_version()}"]
    if java:
        import pyspark

        words.append(f"PySpark {pyspark.__version__}")
    return ", ".join(words)


def java(spark):
    """Its version."""
    version = "reflect('java.lang.System', 'getProperty', 'java.specification.version')"
    return spark.sql(f"SELECT {version}").first()[0]


def shown(value, digits=None):
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, list):
        return " + ".join(shown(v) for v in value)
    if isinstance(value, float) and math.isnan(value):
        return "too short"
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 1e6
        return f"{value:.{digits}f}" if digits else f"{value:g}" if whole else f"{value:.3g}"
    return str(value)


def share(ratio):
    """A part of another time."""
    return "a time too short for a ratio" if math.isnan(ratio) else f"{ratio:.0%} of the time"


def seconds(value):
    """Seconds, or milliseconds if they are few."""
    if value is None:
        return "–"
    return f"{value * 1000:.2f} ms" if value < 0.1 else f"{value:.2f} s"


TIMES = {"paned", "windowed", "window()", "over", "fanlight", "scan"}


def table(rows, **columns):
    """Rows under the headings that ``columns`` gives to their keys."""
    head = list(columns.values())
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [seconds(row[k]) if k in TIMES else shown(row[k]) for k in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def grid(rows):
    """Figure 3 as a table: tuples a pane down, panes a window across; formula in brackets."""
    kinds = sorted({r["panes"] for r in rows})
    head = "| tuples a pane | " + " | ".join(f"P/W {k}" for k in kinds) + " |"
    lines = [head, "|" + "---|" * (len(kinds) + 1)]
    for n in sorted({r["tuples"] for r in rows}):
        cells = [r for k in kinds for r in rows if (r["tuples"], r["panes"]) == (n, k)]
        shown_cells = [f"{shown(r['ratio'], 2)} ({r['predicted']:.2f})" for r in cells]
        lines.append(f"| {n} | " + " | ".join(shown_cells) + " |")
    return "\n".join(lines)


def times(rows):
    """The seconds behind the ratios of :func:`grid`: paned / windowed."""
    kinds = sorted({r["panes"] for r in rows})
    head = "| tuples a pane | " + " | ".join(f"P/W {k}" for k in kinds) + " | scan |"
    lines = [head, "|" + "---|" * (len(kinds) + 2)]
    for n in sorted({r["tuples"] for r in rows}):
        cells = [r for k in kinds for r in rows if (r["tuples"], r["panes"]) == (n, k)]
        shown_cells = [f"{r['paned']:.2f} / {r['windowed']:.2f}" for r in cells]
        scans = [r["scan"] for r in cells]
        lines.append(
            f"| {n} | " + " | ".join(shown_cells) + f" | {min(scans):.2f}–{max(scans):.2f} |"
        )
    return "\n".join(lines)


def point(rows, tuples=20, panes=5):
    """The one point that the paper's text gives."""
    return next(r for r in rows if (r["tuples"], r["panes"]) == (tuples, panes))


class Sheet:
    """Text that is printed as it grows."""

    def __init__(self):
        self.parts = []

    def add(self, *parts):
        for part in parts:
            print(part, end="\n\n", flush=True)
        self.parts += parts

    def text(self):
        return "\n\n".join(self.parts) + "\n"
