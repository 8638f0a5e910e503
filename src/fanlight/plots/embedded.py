"""Figures within an HTML page: their data, and the plotly that draws them, packed."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from fanlight.plots.look import plain_title, said_of, theme

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Plotly is unpacked and run; then each figure is drawn from the text beside it. Colours follow the
# reader's choice; on a phone one scrolls the page and does not zoom a figure.
_SCRIPT = """
const allowed = document.currentScript.nonce;
const themes = THEMES;
const night = matchMedia('(prefers-color-scheme: dark)');
const narrow = matchMedia('(max-width: 560px)');
const touch = matchMedia('(pointer: coarse)');
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}
function dress(one) {
  const sizes = (one.layout.meta || {})[narrow.matches ? 'narrow' : 'wide'] || {};
  if (sizes.height) one.style.height = sizes.height + 'px';
  return Plotly.relayout(one, {
    ...sizes,
    template: themes[night.matches ? 'dark' : 'light'],
    dragmode: touch.matches ? false : 'zoom',
  });
}
async function show(one) {
  const {data, layout} = JSON.parse(document.getElementById(one.id + '-data').textContent);
  await Plotly.react(one, data, layout, {displayModeBar: false, responsive: true});
  await dress(one);
}
const shown = () => [...document.querySelectorAll('.plotly-graph-div')];
async function draw() {
  const plotly = document.createElement('script');
  plotly.nonce = allowed;
  plotly.textContent = await unpacked(document.getElementById('plotly').textContent);
  document.head.append(plotly);
  for (const one of shown()) await show(one);
  for (const media of [night, narrow])
    media.addEventListener('change', () => shown().forEach(dress));
}
window.drawn = draw();
"""


def figure_html(figure: Figure, name: str) -> str:
    """A figure as an element, with what it shows in words; :func:`scripts` draws it."""
    label = escape(said_of(figure), quote=True)
    heading = escape(plain_title(figure) or "figure", quote=True)
    data = figure.to_json().replace("<", "\\u003c")  # so that no text in it ends the element
    height = f' style="height: {figure.layout.height}px"' if figure.layout.height else ""
    return (
        f'<figure aria-label="{heading}"><div role="img" aria-label="{label}">'
        f'<div id="{name}" class="plotly-graph-div"{height}></div></div>'
        f'<script type="application/json" id="{name}-data">{data}</script></figure>'
    )


def scripts(more: str = "", nonce: str = "") -> str:
    """What draws the figures of a page, and ``more``; for the end of its body, once.

    ``nonce`` is that of a page whose headers let no other script run.
    """
    allowed = f' nonce="{nonce}"' if nonce else ""
    themes = json.dumps({"light": theme(), "dark": theme(dark=True)})
    return (
        "<noscript><p>The figures on this page need JavaScript.</p></noscript>"
        f'<script type="application/gzip" id="plotly">{_plotly()}</script>'
        f"<script{allowed}>{_SCRIPT.replace('THEMES', themes)}{more}</script>"
    )


@cache
def _plotly() -> str:
    """Plotly in less than half of its size."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode("ascii")
