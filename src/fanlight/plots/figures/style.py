"""How pictures look: colours, light and dark, titles, notes and alt texts."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from fanlight.engine.spec.errors import refuse
from fanlight.plots.figures.given import check_count, check_title

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Each has a contrast of at least 3 to both grounds, the light and the dark one.
COLOURS = ("#2f78b7", "#c8622b", "#2f8a66", "#9a5fb3", "#a37c1f", "#6b7f90", "#cf4f6c", "#1f8ea3")
INK = "#22303c"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
GROUNDS = {False: "#ffffff", True: "#14181d"}
_INKS = {False: INK, True: "#dfe6ec"}
_GRIDS = {False: "#e6eaee", True: "#2b333c"}
_EDGES = {False: "#c3ccd4", True: "#4a5661"}
_WIDE, _NARROW = (120, 90), (44, 34)  # characters in a line of notes, and in one of a title
_SHOWN = 6  # names in a list, before "and 2 more"


def theme(*, dark: bool = False) -> dict[str, Any]:
    """A plotly template with all colours but those of the data."""
    edge = _EDGES[dark]
    axis = {"gridcolor": _GRIDS[dark], "zeroline": False, "linecolor": edge, "ticks": "outside",
            "tickcolor": edge, "automargin": True, "separatethousands": True,
            "title": {"standoff": 8, "font": {"size": 13}}}  # fmt: skip
    return {
        "layout": {
            "font": {"family": FONT, "size": 13, "color": _INKS[dark]},
            "title": {"x": 0.012, "xref": "container", "font": {"size": 16}},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(COLOURS),
            "xaxis": {**axis, "tickangle": 0},
            "yaxis": axis,
            "hoverlabel": {"font": {"family": FONT}},
            "modebar": {
                "bgcolor": "rgba(0,0,0,0)",
                "color": edge,
                "activecolor": COLOURS[0],
            },
        }
    }


@functools.cache
def _light_template(name: str | None) -> Any:
    """The light theme merged into plotly's template of this name; cached, since merging is slow."""
    import plotly.graph_objects as go

    return go.Figure(layout={"template": name}).update_layout(template=theme()).layout.template


def layout(*, title: str | None = None, height: int = 380, dark: bool = False) -> dict[str, Any]:
    """How fanlight's figures look, for ``figure.update_layout``.

    Parameters
    ----------
    title
        A heading, as plain text: nothing in it is markup.
    height
        Of the figure, in pixels.
    dark
        Light text for a dark ground. :func:`page` chooses by itself.

    Examples
    --------
    >>> layout(height=200)["height"]
    200
    """
    check_title(title)
    if not isinstance(dark, bool):
        raise refuse(f"dark={dark!r}", "is neither True nor False", "write dark=True")
    return {
        "template": theme(dark=dark),
        "title": {"text": _wrap_title(title, _WIDE[1])} if title else None,
        "height": check_count("height", height, 10, "pixels"),
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
    alt: str,
    notes: Sequence[str] = (),
    *,
    title: str | None = None,
    plot: int = 300,
    legend: bool = False,
    named: bool = False,
    right: int = 20,
    phone: Mapping[str, Any] | None = None,
) -> Figure:
    """Finish a figure: style, title, notes below the axis, and alt text (``layout.meta["alt"]``).

    ``plot`` is the height within the axes in pixels; ``named``: its panels have names above them.
    ``layout.meta`` also has the sizes for wide and narrow screens; ``phone`` adds to the latter.
    """
    import plotly.io as pio

    check_title(title)
    distinct = list(dict.fromkeys(notes))
    names = [str(trace.name or "") for trace in figure.data if trace.showlegend is not False]
    wide, narrow = (
        _fit_to_width(
            one, distinct, title, names if legend else [], plot=plot, named=named, right=right
        )
        for one in (False, True)
    )
    look = layout(title=title)
    look["legend"]["y"] = 1 + (22 if named else 6) / plot
    if title:
        look["title"] |= {"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 14}}
    del look["template"]
    figure.update_layout(look, showlegend=legend)
    figure.layout.template = _light_template(pio.templates.default)
    if distinct:
        figure.add_annotation(
            text="", x=0, y=0, xref="paper", yref="paper", xanchor="left", yanchor="top",
            yshift=-66, align="left", showarrow=False, opacity=0.8, font={"size": 11},
            name="notes",
        )  # fmt: skip
        place = f"annotations[{len(figure.layout.annotations) - 1}].text"
        for size, width in ((wide, _WIDE[0]), (narrow, _NARROW[0])):
            size[place] = "<br>".join(map(escape_text, _wrap_notes(distinct, width)))
    for axis in figure.select_xaxes(lambda one: one.tickvals is None):
        narrow[f"{axis.plotly_name}.nticks"], wide[f"{axis.plotly_name}.nticks"] = 4, 12
    narrow |= phone or {}
    figure.update_layout(
        meta={"alt": " ".join([alt, *_to_sentences(distinct)]), "wide": wide, "narrow": narrow}
    )
    figure.plotly_relayout(wide)
    return figure


def _fit_to_width(
    phone: bool,
    notes: Sequence[str],
    title: str | None,
    names: Sequence[str],
    *,
    plot: int,
    named: bool,
    right: int,
) -> dict[str, Any]:
    """The part of the layout that depends on the width: margins, height and the wrapped title."""
    width, head = _NARROW if phone else _WIDE
    entry = max((50 + 7 * len(name) for name in names), default=0)
    rows = -(-len(names) // max((290 if phone else 900) // entry, 1)) if names else 0
    wrapped = _wrap_title(title, head) if title else ""
    top = 18 + 22 * (wrapped.count("<br>") + 1 if title else 0) + 20 * rows + (18 if named else 0)
    bottom = 58 + (14 + 15 * len(_wrap_notes(notes, width)) if notes else 0)
    sizes: dict[str, Any] = {"margin.t": top, "margin.b": bottom, "height": plot + top + bottom}
    sizes |= {"margin.l": 46 if phone else 60, "margin.r": max(right, 10) if phone else right}
    return sizes | ({"title.text": wrapped} if title else {})


def _wrap_notes(notes: Sequence[str], width: int) -> list[str]:
    return [line for note in notes for line in textwrap.wrap(note, width)]


def alt_of(figure: Figure) -> str:
    """The alt text of a figure: in words, what it shows."""
    meta = figure.layout.meta
    alt = meta.get("alt") if isinstance(meta, dict) else None
    return alt or plain_title(figure) or "A figure"


def plain_title(figure: Figure) -> str:
    """The title of a figure on one line."""
    return str(figure.layout.title.text or "").replace("<br>", " ")


def escape_text(text: object) -> str:
    """Escape a user's text for plotly, which takes tags and entities for markup.

    >>> escape_text("a<b>")
    'a&lt;b&gt;'
    """
    return escape(str(text), quote=False)


def with_opacity(colour: str, opacity: float = 0.22) -> str:
    """A colour as ``rgba(…)``, so that what lies behind it is seen."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def colour_of(number: int) -> str:
    """The colour of a line, by its number."""
    return COLOURS[number % len(COLOURS)]


def list_names(names: Sequence[str]) -> str:
    """Names as a list in words, of which the first six are written out.

    >>> list_names(["a", "b"]), list_names(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    listed = ", ".join(names[:_SHOWN])
    return listed if len(names) <= _SHOWN else f"{listed} and {len(names) - _SHOWN} more"


def _wrap_title(text: str, width: int) -> str:
    return "<br>".join(escape_text(line) for line in textwrap.wrap(text, width)) or " "


def _to_sentences(notes: Sequence[str]) -> list[str]:
    return [f"{note[0].upper()}{note[1:]}." for note in dict.fromkeys(notes)]
