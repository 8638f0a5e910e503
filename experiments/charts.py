"""Pictures as SVG, by matplotlib: a figure of a paper is its data and a few lines.

A function under :func:`drawn` makes a figure of :func:`panels` and returns it; called, it gives the
text of an SVG file. The same data give the same text, whenever and wherever they are drawn: no
dates, no random names, letters as text. The ground is white, so that a picture can be read on a
dark page, too; what has a colour has a mark of its own besides, or is told apart by how dark it is.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from fanlight.plots import COLOURS, INK

MARKS = "osD^vPX*"
GROUND, SOFT, GRID = "#ffffff", "#5d6b78", "#dde3e8"
NAMELESS = ("_child", "_container", "_nolegend")  # matplotlib's names of what was given none
ENTRY, LETTER = 48.0, 5.6  # points that an entry of a legend takes, and each letter of it
LABEL = 0.75  # inches along an axis
ABOVE = 1.06  # times the highest value
LOOK = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fanlight",
    "text.parse_math": False,  # a name may have a dollar sign
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib; wider than what readers have
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.edgecolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "figure.facecolor": GROUND,
    "savefig.facecolor": GROUND,
}


def drawn(make: Callable[..., Figure]) -> Callable[..., str]:
    """The text of the SVG file of the figure that a function makes."""

    @functools.wraps(make)
    def svg(*given: object, **named: object) -> str:
        with mpl.rc_context():
            mpl.rcdefaults()  # whatever is set on this machine
            mpl.rcParams.update(LOOK)
            page = io.StringIO()
            make(*given, **named).savefig(
                page, format="svg", metadata={"Date": None, "Creator": None}
            )
        return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"

    return svg


def panels(
    across: int = 1,
    down: int = 1,
    *,
    wide: float = 4.2,
    tall: float = 2.8,
    title: str = "",
    sharey: bool | str = False,
) -> tuple[Figure, list[Axes]]:
    """A figure, and its panels line by line, each so many inches wide and tall."""
    figure = Figure((wide * across, tall * down), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, hspace=0.04, wspace=0.04)
    if title:
        figure.suptitle(title, fontsize=11, fontweight="bold")
    axes = figure.subplots(down, across, squeeze=False, sharey=sharey)
    return figure, list(axes.flat)


@dataclass(frozen=True)
class Line:
    """Points of x and y in the colour of a number, with its mark; those without a y are left out.

    Dashed lines have no marks.
    """

    name: str
    points: Sequence[tuple[float, float | None]]
    number: int = 0
    colour: str = ""  # instead of that of the number
    dashed: bool = False
    wide: float = 1.6

    def known(self) -> tuple[list[float], list[float]]:
        found = [(x, y) for x, y in self.points if y is not None and not math.isnan(y)]
        return [x for x, _ in found], [y for _, y in found]


def plot(ax: Axes, title: str, x: str, y: str, lines: Sequence[Line], *, log: str = "") -> None:
    """Lines in a panel; ``log`` names the axes that are logarithmic."""
    name(ax, title, x, y)
    for one in lines:
        ax.plot(
            *one.known(), label=one.name, color=one.colour or colour(one.number),
            linewidth=one.wide, linestyle="--" if one.dashed else "-", markersize=4,
            marker="" if one.dashed else MARKS[one.number % len(MARKS)], markerfacecolor=GROUND,
        )  # fmt: skip
    xs, ys = ([value for one in lines for value in one.known()[place]] for place in (0, 1))
    if "x" in log:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(apart(ax, xs)))
        ax.xaxis.set_minor_locator(NullLocator())
    if "y" in log:
        powers(ax, ys)
    else:
        ax.set_ylim(0, max(ys) * ABOVE)
    ax.xaxis.set_major_formatter(FuncFormatter(told))
    ax.yaxis.set_major_formatter(FuncFormatter(told))


def name(ax: Axes, title: str, x: str, y: str) -> None:
    """Say what a panel shows, and what its axes are."""
    ax.set_title(title, loc="left")
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def powers(ax: Axes, values: Sequence[float]) -> None:
    """Make the upright axis logarithmic, from one power of ten to another, around values."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = max(math.ceil(math.log10(max(values)) - 1e-9), low + 1)
    ax.set_yscale("log")
    ax.set_ylim(10.0**low, 10.0**high)
    ax.yaxis.set_major_locator(LogLocator(10, numticks=9))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(told))


def apart(ax: Axes, values: Sequence[float]) -> list[float]:
    """Those of some values that have room for a label along a logarithmic axis; both ends do."""
    grid = ax.get_subplotspec().get_gridspec()
    labels = ax.figure.get_figwidth() / grid.ncols / LABEL
    least, most = min(values), max(values)
    room = (most / least) ** (0.999 / labels)
    found = [most]
    for value in sorted({*values} - {most}, reverse=True):
        if found[-1] >= value * room and (value == least or value >= least * room):
            found.append(value)
    return found


def told(value: float, _: object = None) -> str:
    """A number on an axis."""
    return f"{value:,.10g}"


def short(value: float, _: object = None) -> str:
    """A size on an axis: 300, 3k, 10M; one that is not round as it is."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= unit and value % unit == 0:
            return f"{value / unit:,.0f}{letter}"
    return told(value)


def colour(number: int) -> str:
    """That of the line, or the column, of a number."""
    return COLOURS[number % len(COLOURS)]


def ink(number: int) -> ListedColormap:
    """For images of 0 and 1: the ground, and the colour of a number."""
    return ListedColormap([GROUND, colour(number)])


def shades(count: int) -> list[str]:
    """Colours for what has an order: each darker than the one before."""
    ramp = mpl.colormaps["BuPu"]
    return [to_hex(ramp(0.3 + 0.7 * at / max(count - 1, 1))) for at in range(count)]


def columns(
    ax: Axes,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    colours: Sequence[str] = COLOURS,
    *,
    log: bool = False,
) -> None:
    """Columns side by side, for each group those of the series; a value NaN has none."""
    room = 0.8 / len(series)
    for number, (what, values) in enumerate(series.items()):
        places = [at - 0.4 + (number + 0.5) * room for at in range(len(groups))]
        ax.bar(places, values, room * 0.92, color=colours[number], label=what)
    ax.set_xticks(range(len(groups)), groups)
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False, axis="x")
    ax.yaxis.set_major_formatter(FuncFormatter(told))
    if log:
        powers(ax, [value for values in series.values() for value in values])


def legend(figure: Figure, note: str = "") -> None:
    """What the lines and columns are, once for all panels, below them and a remark."""
    found: dict[str, object] = {}
    for ax in figure.axes:
        found |= {what: one for what, one in entries(ax).items() if what not in found}
    room = figure.get_figwidth() * 72 - 20
    sizes = [ENTRY + LETTER * len(what) for what in found]
    across = len(found) if sum(sizes) < room else max(int(room / max(sizes)), 1)
    figure.legend(
        found.values(), found.keys(), loc="outside lower center", ncols=across, title=note or None
    )


def beside(ax: Axes) -> None:
    """What the lines of one panel are, on its right."""
    found = entries(ax)
    ax.legend(found.values(), found.keys(), loc="upper left", bbox_to_anchor=(1.01, 1))


def entries(ax: Axes) -> dict[str, object]:
    """What was given a name, the first of each name; a name may begin with an underscore."""
    found: dict[str, object] = {}
    for one in (*ax.lines, *ax.containers, *ax.collections):
        if not one.get_label().startswith(NAMELESS):
            found.setdefault(one.get_label(), one)
    return found
