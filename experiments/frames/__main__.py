"""Run the experiment: ``python -m experiments.frames [--smoke]``, and again with ``--spark``."""

from __future__ import annotations

import os
import platform
import time

import click
import numpy as np

from experiments import commands, draw
from experiments.frames import data, heat, quality
from experiments.frames.pictures import MASS, SHOWN, WANTED, fewer
from fanlight.engine.kernels import frames as kernels

SCHEDULES = ((60, 1), (60, 10), (300, 1), (300, 10))
SPARK = (SCHEDULES[0], SCHEDULES[-1])


class Sheet:
    """Text that is printed as it grows."""

    def __init__(self):
        self.parts = []

    def add(self, *parts):
        for part in parts:
            print(part, end="\n\n", flush=True)
        self.parts += parts


def table(header, lines):
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def episodes(sheet):
    readings = data.glucose()
    found = quality.episodes(readings)
    lines = quality.episode_errors(found, len(readings.value))
    sheet.add(
        "## 4.1 Episodes",
        f"{len(readings.value):,} glucose readings; an episode is a stretch above "
        f"{quality.HIGH:g} mg/dL for at least {quality.LEAST} readings; windows of "
        f"{quality.WINDOW} readings, qualified by one value and merged where they touch.",
        table(["", "episodes", "missed", "false", "rows wrong", "of episode rows"], lines),
        "![Five days of readings, and the episodes of each variant](figure3.svg)",
    )


def scatters(sheet, share):
    counts, distances = [], []
    for name, wanted in WANTED.items():
        tow = data.tow(name, share)
        delta, points = quality.scatter(tow.depth, tow.dye, fewer(wanted, share))
        counts.append(
            [name, f"{len(tow.dye):,}", f"{delta:.3g}", *map(len, (p[0] for p in points.values()))]
        )
        for size, found in quality.scatter_distances(tow.depth, tow.dye, points).items():
            distances.append([name, size, *(f"{value:.3f}" for value in found.values())])
    readings = data.glucose()
    hour = (readings.time % 86_400) / 3_600
    delta, points = quality.scatter(hour, readings.value, 5_000)
    counts.append(
        ["glucose", f"{len(hour):,}", f"{delta:.3g}", *map(len, (p[0] for p in points.values()))]
    )
    for size, found in quality.scatter_distances(hour, readings.value, points).items():
        distances.append(["glucose", size, *(f"{value:.3f}" for value in found.values())])
    sheet.add(
        "## 4.2 Scatter plots",
        "Table 1: delta frames of the value (dye over depth; glucose over the time of day), and as "
        "many windows and samples.",
        table(["data", "rows", "delta", "frames", "windows", "samples"], counts),
        "Table 2: Jaccard distance to the plot of all rows; 0 is the same picture.",
        table(["data", "grid", "frames", "windows", "samples"], distances),
        "![Dye over depth: all rows, frames, windows and samples](figure1.svg)",
    )


def histograms(sheet, share):
    lines, points = [], []
    for name, wanted in MASS.items():
        found, off, counts = quality.histograms(name, fewer(wanted, share, 60), share)
        relative = 1 - off["frames"] / off["windows"]
        lines.append([
            name, counts["frames"], f"{found['baseline'].sum():.1f}", f"{off['frames']:.1f}",
            f"{off['windows']:.1f}", f"{relative:.2f}",
        ])  # fmt: skip
        points.append([name, *(f"{counts[n]:,}" for n in ("rows", "slices", "frames", "windows"))])
    sheet.add(
        "## 4.3 Histograms",
        "Delta frames over density and dye, deltas 1:2 of their ranges; baseline: depth slices. "
        "Earth mover's distance to the baseline, in mass times bins; relative error "
        "1 - EMD(frames) / EMD(windows).",
        table(["tow", "frames", "mass", "EMD frames", "EMD windows", "relative error"], lines),
        "![How much nearer frames are than windows, by tow](figure5.svg)",
        *(f"![Dye mass over density, {name}](figure4_{name}.svg)" for name in SHOWN),
        "## 6.1 Points in computation",
        table(["tow", "rows", "depth slices", "frames", "windows"], points),
        "![Points in computation, by tow](figure9.svg)",
    )


COUNTS = (900, 1_500, 3_000, 4_200)
SPEEDS = (0.25, 0.5, 1, 2, 4)


def order(sheet, share):
    """Why Figures 4 and 5 do not have the paper's order of tows."""

    def told(name, wanted, quick=1):
        _, off, counts = quality.histograms(name, fewer(wanted, share, 60), share, quick)
        return 1 - off["frames"] / off["windows"], counts

    lines = [[name, *(f"{told(name, n)[0]:.2f}" for n in COUNTS)] for name in MASS]
    speeds = []
    for name in SHOWN:
        for quick in SPEEDS:
            error, counts = told(name, MASS[name], quick)
            tow = data.tow(name, share, quick)
            length = -(-counts["rows"] // counts["frames"])
            deep = quality.depth(tow, length)
            speeds.append([name, f"{quick:g}", length, f"{deep:.2f}", f"{error:.2f}"])
    sheet.add(
        "## Figures 4 and 5: the order of tows",
        "**By pieces**: relative error as in 4.3, every tow cut into as many frames and windows.",
        table(["tow", *(f"{n:,} pieces" for n in COUNTS)], lines),
        "**By speed**: the two tows of Figure 4 with the paper's numbers of pieces; the probe goes "
        "up and down so many times as fast. Depth is what a window spans, on average.",
        table(["tow", "speed", "rows a window", "metres a window", "relative error"], speeds),
    )


def heat_maps(sheet, minutes):
    lines = []
    tracks = data.game(minutes)
    for length, slide in SCHEDULES:
        if length > minutes * 60:
            continue
        found = heat.errors(tracks, length, slide)
        frames = found["frames"]
        lines.append([f"{length}/{slide} s", f"{frames[0]:.2g}", f"{frames[1]:,}", *(
            f"{found[s][0]:.2f} ({found[s][1]:,})" for s in heat.SHARES)])  # fmt: skip
    ride = data.ride()
    scaled = data.Track(ride.time, ride.x / ride.x.max() * data.LENGTH * 0.999 + 0.01,
                        ride.y / ride.y.max() * data.WIDTH * 0.999 + 0.01)  # fmt: skip
    for length, slide in ((60, 10), (300, 10)):
        found = heat.errors([scaled], length, slide)
        frames = found["frames"]
        lines.append([f"ride, {length}/{slide} s", f"{frames[0]:.2g}", f"{frames[1]:,}", *(
            f"{found[s][0]:.2f} ({found[s][1]:,})" for s in heat.SHARES)])  # fmt: skip
    sheet.add(
        "## 4.4 Heat maps",
        f"16 players, {minutes} minutes, 200 readings a second, a grid of 16 x 25; and a bicycle "
        "ride read once a second, on the same grid. Total RMS error of the reported maps; in "
        "brackets, or beside, the frames and windows computed.",
        table(["schedule", "frames", "count", *(f"{s:.0%} windows" for s in heat.SHARES)], lines),
        "![How much nearer frames are than windows, by schedule](figure7.svg)",
    )


OFF, ON = False, True


def _cases(value, whole, known, level, flag, marks, cell, starts, keys):
    """What each kernel is given; its state is made anew each time."""

    def no():
        return np.zeros(keys, np.bool_)

    def zero():
        return np.zeros(keys)

    def nil():
        return np.zeros(keys, np.int64)

    def boundary():
        kernels.find_cells(value, 4.2, cell)
        kernels.mark_cells(cell, False, starts, no(), nil(), marks)  # noqa: FBT003

    return {
        "threshold": lambda: kernels.mark_flags(flag, starts, no(), marks),
        "boundary": boundary,
        "delta, doubles": lambda: kernels.mark_float_deltas(
            value, 30.0, OFF, OFF, starts, kernels.Range(no(), no(), zero(), zero()), marks
        ),
        "delta, integers": lambda: kernels.mark_int_deltas(
            whole, known, 3000, OFF, OFF, starts, kernels.Range(no(), no(), nil(), nil()), marks
        ),
        "aggregate, sum of doubles": lambda: kernels.mark_float_sums(
            level, 1e6, ON, starts, no(), zero(), zero(), marks
        ),
        "aggregate, sum of integers": lambda: kernels.mark_int_sums(
            whole, known, 10**8, ON, starts, no(), nil(), marks
        ),
    }


def loops(sheet, size):
    """Rows a second and core in the kernels."""
    rng = np.random.default_rng(1)
    value = np.cumsum(rng.normal(size=size))
    whole, known, level = (value * 100).astype(np.int64), np.ones(size, np.bool_), np.abs(value)
    flag, marks, cell = value > 0, np.empty(size, np.uint8), np.empty(size, np.int64)
    lines = []
    for keys in (100, 20_000):
        starts = np.linspace(0, size, keys + 1).astype(np.int64)
        arrays = (value, whole, known, level, flag, marks, cell, starts)
        for name, run in _cases(*arrays, keys).items():
            times = []
            for _ in range(6):
                began = time.process_time()
                run()
                times.append(time.process_time() - began)
            lines.append([name, f"{keys:,}", f"{size / min(times) / 1e6:,.0f}"])
    sheet.add(
        "## In the kernel",
        f"{size:,} rows in memory, one core, CPU time, the best of 6 runs.",
        table(["frames", "keys", "million rows/s"], lines),
    )


def on_spark(sheet, *, smoke):
    from experiments import sessions
    from experiments.frames import runs

    spark = sessions.start("frames")
    try:
        sizes, again = ((10, 400), 1) if smoke else ((10, 25, 50, 100, 200, 400), 2)
        rows, frames, windows = runs.episodes(spark, 1 if smoke else 4, sizes, again)
        lines = [["frames", "", f"{frames:.2f}"]]
        lines += [[f"windows of {n}", f"{w:.2f}", f"{q:.2f}"] for n, w, q in windows]
        sheet.add(
            "## 6.2 Run time of episodes",
            f"{rows:,} readings of a tow, 2 probes; CPU seconds of the JVM and its Python "
            f"workers, the best of {again} runs after one.",
            table(["", "windows alone", "episodes"], lines),
            "![Run time of the episode query](figure10.svg)",
        )
        rows, found = runs.heat_maps(
            spark, 2 if smoke else 6, SCHEDULES[:1] if smoke else SPARK, again
        )
        lines = [
            [f"{length}/{slide} s", name, f"{error:.2g}", f"{seconds:.2f}"]
            for (length, slide), one in found.items()
            for name, (error, seconds) in one.items()
        ]
        sheet.add(
            "## 6.3 Run time and error of heat maps",
            f"{rows:,} readings; total RMS error as in 4.4; CPU seconds, the best of {again} runs "
            "after one.",
            table(["schedule", "", "error", "seconds"], lines),
            *(
                f"![Run time and error, {length}/{slide} s](figure11_{length}_{slide}.svg)"
                for length, slide in found
            ),
        )
    finally:
        spark.stop()


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


@commands.command()
@commands.smoke
@click.option("--spark", is_flag=True, help="Sections 6.2 and 6.3 of the paper, and nothing else.")
def main(smoke, spark):
    """Frames beside windows: how right they are, and what they cost.

    Prints tables, and writes them to results.md and the figures beside this file. With --spark, the
    run times of sections 6.2 and 6.3, which go to on_spark.md.
    """
    sheet, share = Sheet(), 0.1 if smoke else 1.0
    how = " --spark" if spark else ""
    run = f"Run by `python -m experiments.frames{how}` on {machine()}."
    if spark:
        sheet.add("# Frames: results on Spark", run)
        on_spark(sheet, smoke=smoke)
    else:
        sheet.add("# Frames: results", run)
        episodes(sheet)
        scatters(sheet, share)
        histograms(sheet, share)
        order(sheet, share)
        heat_maps(sheet, 1 if smoke else 30)
        loops(sheet, 200_000 if smoke else 20_000_000)
    page = "on_spark" if spark else "results"
    draw.keep("frames", page, "\n\n".join(sheet.parts) + "\n", smoke=smoke, share=share)


if __name__ == "__main__":
    main()
