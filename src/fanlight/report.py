"""Report pages: figures, tables and text in one HTML file that needs no other file.

``pip install 'fanlight[plot]'`` for its figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from fanlight.plots import COLOURS, INK
from fanlight.plots.figures.page import figure_html, scripts_html

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Page"]

_STYLE = """
:root { color-scheme: light dark; --ink: $ink; --soft: #5d6b78; --line: #dde3e8;
  --accent: $accent; --paper: #fff; --ground: #f3f5f7; --well: #f3f6f8; --word: #eef2f5;
  --right: #2f7d5b; --wrong: #b3261e; --shade: rgba(20, 50, 79, .28); }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe6ec; --soft: #9aa8b5; --line: #2b333c;
  --accent: #6fb0e6; --paper: #171d24; --ground: #0f1318; --well: #11161c; --word: #232c36;
  --right: #66c79a; --wrong: #ff8a80; --shade: rgba(190, 215, 240, .3); } }
* { box-sizing: border-box; }
html { background: var(--ground); }
body { margin: 0; color: var(--ink); line-height: 1.55;
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial,
    sans-serif; }
main, header > div { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
header { background: linear-gradient(160deg, #14324f, #1f5f99); color: #fff; padding: 22px 0 70px; }
.brand { display: flex; align-items: center; gap: 12px; color: #ffd58a; font-size: 15px;
  margin-bottom: 12px; }
.brand svg { width: 52px; flex: none; }
h1 { font-size: 33px; line-height: 1.2; margin: 0 0 8px; font-weight: 650; }
header p { margin: 0; max-width: 900px; font-size: 17px; color: #dbe6f0; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: -46px 0 20px; }
.facts div { background: var(--paper); border-radius: 10px; padding: 12px 16px;
  box-shadow: 0 1px 3px rgba(20, 50, 79, .16); }
.facts b { display: block; font-size: 24px; line-height: 1.2; font-weight: 650;
  color: var(--accent); font-variant-numeric: tabular-nums; }
.facts span { display: block; font-size: 14px; line-height: 1.35; color: var(--soft); }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 26px 28px 22px; margin: 0 0 22px; }
h2 { font-size: 22px; margin: 0 0 6px; font-weight: 650; }
section > p { max-width: 800px; margin: 6px 0 10px; }
.note { color: var(--soft); font-size: 14px; }
.figure { margin: 10px -6px 0; overflow: hidden; } figure { margin: 0; }
.scroll { overflow-x: auto; margin: 14px 0 8px;
  background: linear-gradient(90deg, var(--paper) 30%, transparent) 0 / 36px 100% local no-repeat,
    linear-gradient(270deg, var(--paper) 30%, transparent) 100% / 36px 100% local no-repeat,
    linear-gradient(90deg, var(--shade), transparent) 0 / 12px 100% scroll no-repeat,
    linear-gradient(270deg, var(--shade), transparent) 100% / 12px 100% scroll no-repeat; }
table { border-collapse: collapse; width: 100%; font-size: 15px;
  font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px;
  border-bottom: 2px solid var(--line); padding: 6px 14px 6px 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: 7px 14px 7px 0; }
td.number, th.number { text-align: right; }
td:first-child { min-width: 7em; } .part td { white-space: nowrap; }
.good { color: var(--right); font-weight: 600; } .bad { color: var(--wrong); font-weight: 600; }
code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  background: var(--word); border-radius: 4px; padding: 1px 5px; }
header code { background: rgba(255, 255, 255, .16); }
pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  background: var(--well); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px;
  overflow-x: auto; margin: 12px 0; }
details { margin: 8px 0; } summary { cursor: pointer; color: var(--accent); font-weight: 600; }
footer { color: var(--soft); font-size: 14px; padding: 4px 0 40px; }
.news { display: flex; gap: 16px; align-items: center; justify-content: space-between;
  margin: 0 0 18px; }
.news p { margin: 0; font-variant-numeric: tabular-nums; }
button { font: inherit; color: var(--ink); background: var(--paper); border-radius: 8px;
  border: 1px solid var(--soft); padding: 6px 18px; min-height: 40px; cursor: pointer; flex: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.alarm { border: 2px solid var(--wrong); } .alarm h2 { color: var(--wrong); }
@media (max-width: 640px) {
  main, header > div { padding: 0 12px; } section { padding: 18px 14px 14px; }
  h1 { font-size: 26px; } h2 { font-size: 20px; } header p { font-size: 16px; }
  .facts { grid-template-columns: 1fr 1fr; gap: 10px; } .facts b { font-size: 20px; }
  .facts div { padding: 10px 12px; } .figure { margin: 8px -10px 0; }
}
@media print { html { background: #fff; } section { break-inside: avoid; } }
"""


class Page:
    """A report page, written from top to bottom.

    In texts, words between backticks are set as code; no other markup is understood.

    Parameters
    ----------
    title
        The heading.
    lead
        A sentence or two below the title: what there is to see.
    brand
        A line above the title, which says whose page it is.

    Examples
    --------
    >>> page = Page("Bids", "What was bid, minute by minute.")
    >>> page.section("The items", "Three items, `a` to `c`.")
    >>> page.table(["item", "bids"], [["a", 1200], ["b", 7]])
    >>> page.html().count("<td")
    4

    """

    def __init__(self, title: str, lead: str, brand: str = "fanlight") -> None:
        self.title = title
        self.lead = lead
        self.brand = brand
        self._facts = ""
        self._parts: list[str] = []
        self._figures = 0
        self._open = False
        self._foot = ""
        self.parts: dict[str, str] = {}

    def facts(self, facts: Iterable[tuple[object, str]]) -> None:
        """Show numbers at the top of the page, each with what it counts."""
        boxes = "".join(
            f"<div><b>{_cell_html(number)}</b><span>{_inline_html(label)}</span></div>"
            for number, label in facts
        )
        self.parts["facts"] = boxes
        self._facts = f'<div class="facts" id="facts">{boxes}</div>'

    def section(self, heading: str, *paragraphs: str, alarm: bool = False) -> None:
        """Begin a section, to which all that follows belongs. ``alarm`` marks it as bad news."""
        self._close_section()
        self._open = True
        start = '<section class="alarm">' if alarm else "<section>"
        self._parts.append(f"{start}<h2>{_inline_html(heading)}</h2>")
        self.text(*paragraphs)

    def news(self, text: str) -> None:
        """Add a line of news, which a script updates, and a button that pauses all updates.

        Screen readers speak another, hidden element, which changes less often.
        """
        self._parts.append(
            f'<div class="news"><p id="news">{_inline_html(text)}</p>'
            '<button type="button" id="pause">Pause</button></div>'
            '<p id="spoken" class="unseen" role="status" aria-live="polite"></p>'
        )

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Put what is written within the ``with`` block into an element with ``name`` as its id.

        ``parts[name]`` has its HTML: a live page replaces its parts by those of the next page. A
        section that begins in a part ends in it.
        """
        in_section, begin = self._open, len(self._parts)
        yield
        if not in_section:
            self._close_section()
        self.parts[name] = "\n".join(self._parts[begin:])
        self._parts[begin:] = [f'<div id="{name}" class="part">{self.parts[name]}</div>']

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs."""
        self._parts += [f"<p>{_inline_html(text)}</p>" for text in paragraphs]

    def note(self, text: str) -> None:
        """Add a remark in small print."""
        self._parts.append(f'<p class="note">{_inline_html(text)}</p>')

    def figure(self, figure: Any, name: str | None = None) -> None:
        """Add a plotly figure, with its alt text if it is one of `fanlight.plots`.

        ``name`` is the id of its element, by default ``figure-`` and its number.
        """
        self._figures += 1
        element = figure_html(figure, name or f"figure-{self._figures}")
        self._parts.append(f'<div class="figure">{element}</div>')

    def table(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add a table; numbers are aligned to the right, True and False become yes and no."""
        body = [list(row) for row in rows]
        right = [
            bool(body) and all(_is_number(row[place]) for row in body) for place in range(len(head))
        ]
        styles = [' class="number"' if one else "" for one in right]
        top = "".join(
            f"<th{style}>{_inline_html(name)}</th>"
            for name, style in zip(head, styles, strict=True)
        )
        lines = "".join(
            "<tr>"
            + "".join(
                f"<td{style}>{_cell_html(one)}</td>" for one, style in zip(row, styles, strict=True)
            )
            + "</tr>"
            for row in body
        )
        self._parts.append(
            f'<div class="scroll" tabindex="0"><table><thead><tr>{top}</tr></thead>'
            f"<tbody>{lines}</tbody></table></div>"
        )

    def code(self, text: str, *, folded: str | None = None) -> None:
        """Add preformatted text; with ``folded`` it is hidden until that heading is clicked."""
        block = f'<pre tabindex="0">{escape(text, quote=False)}</pre>'
        if folded is not None:
            block = f"<details><summary>{_inline_html(folded)}</summary>{block}</details>"
        self._parts.append(block)

    def foot(self, text: str) -> None:
        """Set the line at the end of the page."""
        self._foot = f"<footer>{_inline_html(text)}</footer>"

    def html(self, *, script: str = "", nonce: str = "") -> str:
        """The whole page as HTML; ``script`` is added to those that draw its figures.

        ``nonce`` is that of the page's Content-Security-Policy, which lets no other script run.
        """
        self._close_section()
        style = _STYLE.replace("$ink", INK).replace("$accent", COLOURS[0])
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{style}</style></head>\n<body>"
            f'<header><div><div class="brand">{_logo_svg()}'
            f"<span>{_inline_html(self.brand)}</span></div>"
            f"<h1>{_inline_html(self.title)}</h1><p>{_inline_html(self.lead)}</p></div></header>\n"
            f"<main>{self._facts}\n" + "\n".join(self._parts) + f"\n{self._foot}</main>"
            f"{scripts_html(script, nonce) if self._figures else ''}</body></html>\n"
        )

    def write(self, path: Path) -> Path:
        """Write the page to a file; its folder is made if it does not exist."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html(), "utf-8")
        return path

    def _close_section(self) -> None:
        if self._open:
            self._parts.append("</section>")
        self._open = False


def _inline_html(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _is_number(one: object) -> bool:
    return isinstance(one, (int, float)) and not isinstance(one, bool)


def _cell_html(one: object) -> str:
    if isinstance(one, bool):
        return '<span class="good">yes</span>' if one else '<span class="bad">no</span>'
    if isinstance(one, int):
        return f"{one:,}"
    if isinstance(one, float):
        return f"{one:,.2f}"
    return _inline_html(str(one))


def _logo_svg() -> str:
    """The logo as SVG: a fanlight, a half-round window with panes like the ribs of a fan."""
    bars = "".join(
        f'<line x1="50" y1="50" x2="{x}" y2="{y}"/>'
        for x, y in ((6.8, 25), (25, 6.8), (50, 2), (75, 6.8), (93.2, 25))
    )
    return (
        '<svg viewBox="0 0 100 54" fill="none" stroke="#ffd58a" stroke-width="2.5" '
        'stroke-linecap="round" aria-hidden="true"><path d="M2 50a48 48 0 0 1 96 0z"/>'
        f'<path d="M32 50a18 18 0 0 1 36 0"/>{bars}</svg>'
    )
