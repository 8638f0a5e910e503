"""How pictures look: colours, light and dark, titles, notes, and what is said in words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Seen on white as on black: each has a contrast of at least 3 to both grounds.
COLOURS = ("#2f78b7", "#c8622b", "#2f8a66", "#9a5fb3", "#a37c1f", "#6b7f90", "#cf4f6c", "#1f8ea3")
INK = "#22303c"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
GROUNDS = {False: "#ffffff", True: "#14181d"}
_INKS = {False: INK, True: "#dfe6ec"}
_GRIDS = {False: "#e6eaee", True: "#2b333c"}
_EDGES = {False: "#c3ccd4", True: "#4a5661"}
_LINE, _TITLE = 52, 40  # characters of a note, and of a title, on a phone
_SHOWN = 6  # keys that are named in words


def theme(*, dark: bool = False) -> dict[str, Any]:
    """A plotly template: all colours but those of the data."""
    edge = _EDGES[dark]
    axis = {"gridcolor": _GRIDS[dark], "zeroline": False, "linecolor": edge, "ticks": "outside",
            "tickcolor": edge, "automargin": True, "separatethousands": True,
            "title": {"standoff": 8}}  # fmt: skip
    return {
        "layout": {
            "font": {"family": FONT, "size": 13, "color": _INKS[dark]},
            "title": {"x": 0, "xref": "paper", "font": {"size": 16}},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(COLOURS),
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"font": {"family": FONT}},
            "modebar": {
                "bgcolor": "rgba(0,0,0,0)",
                "color": edge,
                "activecolor": COLOURS[0],
            },
        }
    }


def layout(*, title: str | None = None, height: int = 380, dark: bool = False) -> dict[str, Any]:
    """How fanlight's figures look, for ``figure.update_layout``.

    Parameters
    ----------
    title
        A heading; nothing in it is markup.
    height
        Of the figure, in pixels.
    dark
        Light text for a dark ground. :func:`page` chooses by itself.

    >>> layout(height=200)["height"]
    200
    """
    return {
        "template": theme(dark=dark),
        "title": {"text": _wrapped(title, _TITLE)} if title else None,
        "height": height,
        "margin": {"l": 60, "r": 20, "t": 60 if title else 40, "b": 45},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    }


def dark(figure: Figure) -> Figure:
    """The same picture for a dark ground, such as that of a dark notebook.

    >>> import plotly.graph_objects as go
    >>> dark(go.Figure(layout=layout())).layout.template.layout.font.color
    '#dfe6ec'
    """
    import plotly.graph_objects as go

    copied: Figure = go.Figure(figure)
    return copied.update_layout(template=theme(dark=True))


def finish(
    figure: Figure,
    said: str,
    notes: Sequence[str] = (),
    *,
    title: str | None = None,
    height: int = 380,
    legend: bool = False,
) -> Figure:
    """The look, the notes below the axis, and the picture in words (``layout.meta``)."""
    lines = [part for note in dict.fromkeys(notes) for part in textwrap.wrap(note, _LINE)]
    look = layout(title=title, height=height + 15 * len(lines))
    look["margin"]["b"] += 12 + 15 * len(lines) if lines else 0
    look["margin"]["t"] += 20 * look["title"]["text"].count("<br>") if title else 0
    figure.update_layout(
        look, showlegend=legend, meta={"alt": " ".join([said, *_sentences(notes)])}
    )
    if lines:
        figure.add_annotation(
            text="<br>".join(map(plain, lines)), x=0, y=0, xref="paper", yref="paper",
            xanchor="left", yanchor="top", yshift=-48, align="left", showarrow=False,
            opacity=0.8, font={"size": 11}, name="notes",
        )  # fmt: skip
    return figure


def said_of(figure: Figure) -> str:
    """What a picture shows, in words."""
    meta = figure.layout.meta
    alt = meta.get("alt") if isinstance(meta, dict) else None
    return alt or plain_title(figure) or "A figure"


def plain_title(figure: Figure) -> str:
    """The heading of a figure as text."""
    return str(figure.layout.title.text or "").replace("<br>", " ")


def plain(text: object) -> str:
    """Text of a user for plotly, which takes tags and entities for markup.

    >>> plain("a<b>")
    'a&lt;b&gt;'
    """
    return escape(str(text), quote=False)


def pale(colour: str, opacity: float = 0.22) -> str:
    """A colour that others are seen through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def colour(number: int) -> str:
    """The colour of the line of a number."""
    return COLOURS[number % len(COLOURS)]


def listed(names: Sequence[str]) -> str:
    """Some names in words.

    >>> listed(["a", "b"]), listed(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _wrapped(text: str, width: int) -> str:
    return "<br>".join(plain(line) for line in textwrap.wrap(text, width)) or " "


def _sentences(notes: Sequence[str]) -> list[str]:
    return [f"{note[0].upper()}{note[1:]}." for note in dict.fromkeys(notes)]
