"""Figures as one HTML file, in light or dark as its reader's system is, for desks and phones."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import is_column
from fanlight.plots.figures.arguments import check_title
from fanlight.plots.figures.embedding import figure_html, scripts_html
from fanlight.plots.figures.style import FONT, GROUNDS, INK

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
