"""What ``suggest`` found out about rows, as a value that prints as tables with lines to write."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Suggestion:
    """What to set one parameter to.

    ``what`` names it, ``value`` is what it should be (a duration as text, or a number; None if the
    rows do not say), ``why`` says in words how it was found, ``write`` is the line to write, and
    ``table`` has what was measured: a dict for each row, all with the same names.
    """

    what: str
    value: Any
    why: str
    write: str | None
    table: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        """What it is, its value and why, the table, and the line to write."""
        head = self.what if self.value is None else f"{self.what}: {self.value}"
        lines = [head, f"    {self.why}", *(f"    {line}" for line in _align(self.table))]
        if self.write:
            lines.append(f"    write: {self.write}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Suggestions:
    """What :func:`fanlight.suggest` found; what was not asked for is None."""

    title: str
    rows: int
    left_out: dict[str, int]
    cost: str
    watermark: Suggestion | None = None
    ttp: Suggestion | None = None
    session: Suggestion | None = None
    delta: Suggestion | None = None
    threshold: Suggestion | None = None
    widening: Suggestion | None = None

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Those that were asked for."""
        found = (
            self.watermark, self.ttp, self.session, self.delta, self.threshold, self.widening,
        )  # fmt: skip
        return tuple(one for one in found if one is not None)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, numbers and texts, for JSON."""
        return asdict(self)

    def _head(self) -> list[str]:
        lines = [self.title]
        lines += [f"left out: {count:,} rows {why}" for why, count in self.left_out.items()]
        return [*lines, self.cost]

    def __str__(self) -> str:
        """What was read, and each suggestion with its table."""
        return "\n".join([*self._head(), *(f"\n{one}" for one in self.suggestions)])

    def _repr_html_(self) -> str:
        """The tables, for a notebook."""
        parts = [f"<p>{'<br>'.join(map(escape, self._head()))}</p>"]
        for one in self.suggestions:
            value = "" if one.value is None else f": {one.value}"
            parts.append(f"<p><b>{escape(one.what + value)}</b><br>{escape(one.why)}</p>")
            parts.append(_html_table(one.table))
            if one.write:
                parts.append(f"<p><code>{escape(one.write)}</code></p>")
        return "".join(parts)


def _write(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _align(table: tuple[dict[str, Any], ...]) -> list[str]:
    """A table as lines, its columns aligned."""
    if not table:
        return []
    lines = [list(table[0]), *([_write(value) for value in row.values()] for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]


def _html_table(table: tuple[dict[str, Any], ...]) -> str:
    if not table:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in table[0])
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_write(cell))}</td>' for cell in row.values())}</tr>"
        for row in table
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
