"""Rows as a table of a page."""

from __future__ import annotations


def cell(value):
    if isinstance(value, float):
        return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows):
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell(row[name]) for name in head) + " |" for row in rows]
    return "\n".join(lines)
