"""Figures as one HTML file, in light or dark as its reader's system is, for desks and phones."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import is_column
from fanlight.plots.figures.given import check_title
from fanlight.plots.figures.style import FONT, GROUNDS, INK, alt_of, plain_title, theme

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


_STYLE = f"""
:root {{ color-scheme: light dark; --ground: {GROUNDS[False]}; --ink: {INK}; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ground: {GROUNDS[True]}; --ink: #dfe6ec; }} }}
body {{ margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 {FONT}; }}
main {{ max-width: 1080px; margin: 0 auto; padding: 12px 8px 40px; }}
figure {{ margin: 0 0 28px; overflow: hidden; }}
"""


def page(*figures: Figure, title: str = "fanlight") -> str:
    """Write figures into one HTML document that needs no other file.

    It is dark where its reader's system is, fits a phone, and has an alt text for each figure. For
    figures with tables and text around them use :class:`fanlight.report.Page`.

    Parameters
    ----------
    figures
        Of :mod:`fanlight.plots`, or others of plotly.
    title
        Of the document.

    Returns
    -------
    str
        The document; write it to a file, for example by ``Path("windows.html").write_text(…)``.

    Raises
    ------
    FanlightError
        If an argument is not a figure of plotly.

    Examples
    --------
    >>> import fanlight as fl
    >>> from fanlight import plots
    >>> text = plots.page(plots.cut(fl.Sliding("1 hour")), title="An hour")
    >>> text.count("<figure"), "<title>An hour</title>" in text
    (1, True)

    """
    if check_title(title) is None:
        raise FanlightError("a document needs a title: write title='fanlight'")
    parts = []
    for number, figure in enumerate(figures, 1):
        if is_column(figure) or not hasattr(figure, "to_html"):
            raise FanlightError(
                f"a {type(figure).__name__} is not a figure: write plots.page(plots.draw(…))"
            )
        parts.append(figure_html(figure, f"figure-{number}"))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><main>"
        + "\n".join(parts)
        + f"</main>{scripts_html() if parts else ''}</body></html>\n"
    )


# Base 85: five digits for four bytes, fewer than base 64 takes; no digit is HTML markup.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;,=/?@^_`{|}~"

# Three digits of Python's base 85 are HTML markup, and are replaced by others.
_MARKUP_FREE = str.maketrans("&<>", ".,/")

# Plotly is decompressed and run; then each figure is drawn from the text next to it. Colours follow
# the reader's system; on a touch screen a swipe scrolls the page and does not zoom a figure.
_SCRIPT = """
const allowed = document.currentScript.nonce;
const themes = THEMES;
const night = matchMedia('(prefers-color-scheme: dark)');
const narrow = matchMedia('(max-width: 560px)');
const touch = matchMedia('(pointer: coarse)');
const worth = new Uint8Array(128);
[...DIGITS].forEach((digit, place) => worth[digit.charCodeAt(0)] = place);
function bytes(text) {
  const whole = text.padEnd(Math.ceil(text.length / 5) * 5, '~');
  const view = new DataView(new ArrayBuffer(whole.length / 5 * 4));
  for (let at = 0; at < whole.length; at += 5) {
    let number = 0;
    for (let place = at; place < at + 5; place++)
      number = number * 85 + worth[whole.charCodeAt(place)];
    view.setUint32(at / 5 * 4, number);
  }
  return new Uint8Array(view.buffer, 0, Math.floor(text.length * 4 / 5));
}
async function unpack(id) {
  const packed = new Blob([bytes(document.getElementById(id).textContent)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).text();
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
  const {data, layout} = JSON.parse(await unpack(one.id + '-data'));
  await Plotly.react(one, data, layout, {displayModeBar: false, responsive: true});
  await dress(one);
}
const figures = () => [...document.querySelectorAll('.plotly-graph-div')];
async function draw() {
  const plotly = document.createElement('script');
  plotly.nonce = allowed;
  plotly.textContent = await unpack('plotly');
  document.head.append(plotly);
  for (const one of figures()) await show(one);
  for (const media of [night, narrow])
    media.addEventListener('change', () => figures().forEach(dress));
}
window.drawn = draw();
"""


def figure_html(figure: Figure, name: str) -> str:
    """A figure as an element, with its alt text; :func:`scripts_html` draws it."""
    from plotly.io.json import to_json_plotly

    label = escape(alt_of(figure), quote=True)
    heading = escape(plain_title(figure) or "figure", quote=True)
    content = figure.to_dict()
    content["layout"].pop("template", None)  # the page has one template for all figures
    data = _pack(to_json_plotly(content))
    height = f' style="height: {figure.layout.height}px"' if figure.layout.height else ""
    return (
        f'<figure aria-label="{heading}"><div role="img" aria-label="{label}">'
        f'<div id="{name}" class="plotly-graph-div"{height}></div></div>'
        f'<script type="application/gzip" id="{name}-data">{data}</script></figure>'
    )


def scripts_html(more: str = "", nonce: str = "") -> str:
    """The scripts that draw a page's figures, and ``more``: once, at the end of its body.

    ``nonce`` is that of the page's Content-Security-Policy, which lets no other script run.
    """
    allowed = f' nonce="{nonce}"' if nonce else ""
    themes = json.dumps({"light": theme(), "dark": theme(dark=True)})
    script = _SCRIPT.replace("THEMES", themes).replace("DIGITS", json.dumps(_DIGITS))
    return (
        "<noscript><p>The figures on this page need JavaScript.</p></noscript>"
        f'<script type="application/gzip" id="plotly">{_pack_plotly()}</script>'
        f"<script{allowed}>{script}{more}</script>"
    )


@cache
def _pack_plotly() -> str:
    """Plotly's JavaScript, compressed to less than half of its size."""
    from plotly.offline import get_plotlyjs

    return _pack(get_plotlyjs())


def _pack(text: str) -> str:
    """Compress a text for ``unpack`` of the page's script."""
    coded = base64.b85encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")
    return coded.translate(_MARKUP_FREE)
