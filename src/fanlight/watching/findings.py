"""What the doctor found out about a session, as a value that prints as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

State = Literal["ok", "missing", "unknown", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing that the doctor looked at.

    ``what`` names it. ``state`` is ``"ok"``, ``"missing"``, ``"unknown"`` where the session does
    not show it, or ``"note"`` for a fact that stops nothing. ``found`` says in words how it is,
    ``needed_by`` which kinds of windows need it, and ``write`` is the line to write, if any.
    """

    what: str
    state: State
    found: str
    needed_by: tuple[str, ...] = ()
    write: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What :func:`fanlight.doctor` found."""

    title: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is missing for any kind of window."""
        return not self.missing

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What is missing for some kind of window."""
        return tuple(one for one in self.findings if one.state == "missing")

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, booleans and texts, for JSON."""
        return {"ok": self.ok, "title": self.title, "findings": [asdict(f) for f in self.findings]}

    @property
    def verdict(self) -> str:
        """One line that sums it up."""
        if self.ok:
            return "every kind of window runs here, as far as can be seen"
        return f"{len(self.missing)} missing; windows over time run natively, without any of it"

    def __str__(self) -> str:
        """A table: state, what, found; below what is missing, who needs it and what to write."""
        width = max((len(one.what) for one in self.findings), default=0)
        lines = [self.title, self.verdict, ""]
        for one in self.findings:
            lines.append(f"{one.state:<8} {one.what:<{width}}  {one.found}")
            if one.state == "missing":
                lines += [f"{'':9}needed by {name}" for name in one.needed_by]
            if one.write and one.state != "ok":
                lines.append(f"{'':9}write: {one.write}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{cell}</td>"
                for cell in (
                    escape(one.state),
                    escape(one.what),
                    escape(one.found),
                    "<br>".join(map(escape, one.needed_by)),
                    f"<code>{escape(one.write)}</code>" if one.write else "",
                )
            )
            + "</tr>"
            for one in self.findings
        )
        heads = ("state", "what", "found", "needed by", "write")
        head = "".join(f"<th>{name}</th>" for name in heads)
        return (
            f"<p><b>{escape(self.title)}</b><br>{escape(self.verdict)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )
