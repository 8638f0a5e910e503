"""The figures: 1, 3 and 4 from the data, which is the same each time; the others from tables."""

from __future__ import annotations

import numpy as np

from experiments import charts
from experiments.claims import column, number
from experiments.frames import data, quality

WANTED = {"tow05": 8488, "tow08": 3614, "tow13": 4218, "tow15": 3045}  # frames, the paper's Table 1
MASS = {"tow05": 3000, "tow06": 897, "tow08": 3600, "tow09": 1500, "tow13": 4217, "tow15": 3000}
SHOWN = ("tow06", "tow13")  # by Figure 4
SCATTERED = "tow08"  # by Figure 1
CELLS = 260  # of a scatter plot, across and down
DAY = 288  # readings of glucose


def figures(results, share=1.0):
    """All figures whose tables are there; ``share`` is that of the rows of a tow."""
    found = {}
    if "results" in results:
        found |= from_data(share) | from_kernels(results["results"])
    if "on_spark" in results:
        found |= from_spark(results["on_spark"])
    return found


def from_data(share):
    tow, readings = data.tow(SCATTERED, share), data.glucose()
    _, points = quality.scatter(tow.depth, tow.dye, fewer(WANTED[SCATTERED], share))
    found = {"figure1.svg": scatters(tow, points),
             "figure3.svg": episodes(readings, quality.episodes(readings))}  # fmt: skip
    for name in SHOWN:
        masses, _, _ = quality.histograms(name, fewer(MASS[name], share, 60), share)
        found[f"figure4_{name}.svg"] = profiles(name, masses)
    return found


def fewer(wanted, share, least=50):
    """How many frames are wanted of a share of the rows."""
    return max(int(wanted * share), least)


def from_kernels(tables):
    off, counts = tables["4.3 Histograms"], tables["6.1 Points in computation"]
    maps = [row for row in tables["4.4 Heat maps"] if not row["schedule"].startswith("ride")]
    beside = {
        name: [1 - number(row["frames"]) / number(row[name]) for row in maps]
        for name in maps[0] if name.endswith("windows")
    }  # fmt: skip
    numbers = {name: column(counts, name) for name in counts[0] if name != "tow"}
    return {
        "figure5.svg": sides(
            "Figure 5: how much nearer frames are than windows", [row["tow"] for row in off],
            {"": column(off, "relative error")}, "1 - EMD(frames) / EMD(windows)",
        ),
        "figure7.svg": sides(
            "Figure 7: how much nearer frames are than windows", [row["schedule"] for row in maps],
            beside, "1 - RMS(frames) / RMS(windows)",
        ),
        "figure9.svg": sides(
            "Figure 9: points in computation", [row["tow"] for row in counts], numbers, "points",
            log=True,
        ),
    }  # fmt: skip


def from_spark(tables):
    frames, *windows = tables["6.2 Run time of episodes"]
    found = {"figure10.svg": times(frames, windows)}
    maps = tables["6.3 Run time and error of heat maps"]
    for schedule in dict.fromkeys(row["schedule"] for row in maps):
        length, slide = schedule.removesuffix(" s").split("/")
        rows = [row for row in maps if row["schedule"] == schedule]
        found[f"figure11_{length}_{slide}.svg"] = trade(schedule, rows)
    return found


@charts.drawn
def scatters(tow, points):
    """Figure 1: the data as it is, and by frames, windows and samples; cells that have a point."""
    box = [(part.min(), part.max()) for part in (tow.depth, tow.dye)]
    shown = {"all rows": (tow.depth, tow.dye), **points}
    figure, axes = charts.panels(2, 2, tall=3.2, title=f"Figure 1: dye over depth, {SCATTERED}")
    for at, (ax, (name, where)) in enumerate(zip(axes, shown.items(), strict=True)):
        charts.name(ax, f"{name}: {len(where[0]):,} points", "depth, m", "dye, fluorescence")
        lit = np.zeros((CELLS, CELLS))
        lit.flat[quality.bitmap(*where, box, CELLS)] = 1
        ax.imshow(lit.T, charts.ink(at), origin="lower", aspect="auto", interpolation="none",
                  extent=(*box[0], *box[1]))  # fmt: skip
        ax.grid(visible=False)
    return figure


@charts.drawn
def episodes(readings, found):
    """Figure 3: some days of readings, and below them the episodes of each variant."""
    low = int(found["frames"][0][20]) - 150
    high = low + 5 * DAY
    figure, (ax, below) = charts.panels(1, 2, wide=8.4, tall=2.2)
    days = (np.arange(low, high) - low) / DAY
    charts.name(ax, "Figure 3: episodes by frames and by windows", "", "glucose, mg/dL")
    ax.plot(days, readings.value[low:high], color=charts.colour(0), linewidth=1)
    ax.axhline(quality.HIGH, color=charts.SOFT, linestyle="--", linewidth=1)
    charts.name(below, "", "days", "")
    for at, (starts, ends) in enumerate(found.values()):
        spans = [((max(a, low) - low) / DAY, (min(b, high) - max(a, low)) / DAY)
                 for a, b in zip(starts, ends, strict=True) if b > low and a < high]  # fmt: skip
        below.broken_barh(spans, (-at - 0.32, 0.64), color=charts.colour(at))
    below.set_yticks([-at for at in range(len(found))], found)
    below.set_ylim(-len(found) + 0.4, 0.6)
    for one in (ax, below):
        one.set_xlim(0, days[-1])
    return figure


@charts.drawn
def profiles(name, found):
    """Figure 4: histograms over density bins, one above the other."""
    figure, axes = charts.panels(1, len(found), wide=6.4, tall=1.5, sharey=True,
                                 title=f"Figure 4: dye mass over density, {name}")  # fmt: skip
    for at, (ax, (which, masses)) in enumerate(zip(axes, found.items(), strict=True)):
        charts.name(ax, which, "", "dye mass")
        ax.bar(range(len(masses)), masses, 0.9, color=charts.colour(at))
    axes[-1].set_xlabel("bin of density, from the lightest to the densest water")
    return figure


@charts.drawn
def sides(title, groups, series, unit, *, log=False):
    """Figures 5, 7 and 9: columns."""
    figure, (ax,) = charts.panels(wide=7.2, tall=3.6)
    charts.name(ax, title, "", unit)
    charts.columns(ax, groups, series, charts.COLOURS, log=log)
    ax.axhline(0, color=charts.SOFT, linewidth=0.8)
    if len(series) > 1:
        charts.legend(figure)
    return figure


@charts.drawn
def times(frames, windows):
    """Figure 10: run time of the episode query."""
    sizes = [int(row[""].rsplit(" ", 1)[1]) for row in windows]
    exact = number(frames["episodes"])
    lines = [charts.Line("frames", [(sizes[0], exact), (sizes[-1], exact)], 0, dashed=True)]
    for at, (heading, name) in enumerate(
        (("windows alone", "windows"), ("episodes", "windows, and the episodes found in them")), 1
    ):
        lines.append(charts.Line(name, list(zip(sizes, column(windows, heading), strict=True)), at))
    figure, (ax,) = charts.panels(wide=7.2, tall=3.6)
    charts.plot(ax, "Figure 10: run time of the episode query", "tuples a window", "seconds", lines,
                log="x")  # fmt: skip
    charts.legend(figure)
    return figure


@charts.drawn
def trade(schedule, rows):
    """Figure 11: run time over error, a point a variant."""
    figure, (ax,) = charts.panels(wide=7.2, tall=3.6)
    lines = [charts.Line(row[""], [(number(row["error"]), number(row["seconds"]))], at)
             for at, row in enumerate(rows)]  # fmt: skip
    charts.plot(ax, f"Figure 11: run time and error, {schedule}", "total RMS error", "seconds",
                lines)  # fmt: skip
    for at, line in enumerate(lines):
        beside = (7, -3 if at == 0 else 6 if at % 2 else -13)
        ax.annotate(line.name, line.points[0], beside, textcoords="offset points")
    ax.set_xlim(0, max(column(rows, "error")) * 1.2)
    return figure
