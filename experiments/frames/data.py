"""The data: readings that come with a package, and made-up tows and games as the paper's were.

The dye cruise and the soccer sensors of the paper cannot be had. A tow is made as the paper tells
of it: a probe that goes up and down through water layered by density, and a dye field that it is in
now and then, in sharp peaks between long stretches of nothing. A game has players who walk, run and
stop within a pitch, at 200 readings a second, of which some are lost.
"""

from __future__ import annotations

import gzip
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS, COLUMNS = 16, 25  # the grid of the pitch
LENGTH, WIDTH = 105.0, 68.0  # the pitch, in metres
TOWS = {  # rows as in the paper's section 4, where it tells them
    "tow05": 325_000, "tow08": 509_955, "tow13": 407_992, "tow15": 375_000,
    "tow06": 450_000, "tow09": 300_000,
}  # fmt: skip


def _package(name):
    found = importlib.util.find_spec("bokeh_sampledata")
    if found is None or not found.submodule_search_locations:
        msg = "these readings come with a package: pip install bokeh-sampledata"
        raise SystemExit(msg)
    path = Path(found.submodule_search_locations[0]) / "_data" / name
    with gzip.open(path, "rt") as lines:
        header = next(lines).strip().split(",")
        return header, [line.rstrip("\n").split(",") for line in lines]


@dataclass(frozen=True)
class Readings:
    """Glucose in mg/dL and when it was read, in seconds since 1970."""

    time: np.ndarray
    value: np.ndarray


def glucose():
    """Readings of a glucose sensor every five minutes, over some months; those missing left out."""
    _, lines = _package("CGM.csv.gz")
    kept = [(when, value) for _, when, value in lines if value.strip()]
    time = np.array([when for when, _ in kept], "datetime64[s]").astype(np.int64)
    value = np.array([float(value) for _, value in kept])
    order = np.argsort(time, kind="stable")
    return Readings(time[order], value[order])


@dataclass(frozen=True)
class Track:
    """Places in metres on a plane, and the seconds at which they were taken."""

    time: np.ndarray
    x: np.ndarray
    y: np.ndarray


def ride():
    """A bicycle ride, read by GPS once a second."""
    header, lines = _package("cycling.csv.gz")
    at = {name: header.index(name) for name in ("position_lat", "position_long", "time")}
    kept = [line for line in lines if line[at["position_lat"]] and line[at["position_long"]]]
    lat, lon = (
        np.array([float(line[at[name]]) for line in kept]) * 180 / 2**31
        for name in ("position_lat", "position_long")
    )
    clock = [line[at["time"]].split() for line in kept]
    seconds = np.array([_seconds(days, hours) for days, _, hours in clock])
    metres = 111_320.0
    x = (lon - lon.min()) * metres * np.cos(np.radians(lat.mean()))
    return Track(seconds, x, (lat - lat.min()) * metres)


def _seconds(days, clock):
    hours, minutes, rest = clock.split(":")
    return int(days) * 86_400 + int(hours) * 3_600 + int(minutes) * 60 + int(float(rest))


@dataclass(frozen=True)
class Tow:
    """One tow: depth in metres, density in kg/m³ above 1000, dye as intensity of fluorescence."""

    depth: np.ndarray
    density: np.ndarray
    dye: np.ndarray


def tow(name, share=1.0, quick=1):
    """A made-up tow, the same in every run; ``share`` of its rows.

    The probe goes up and down ``quick`` times as fast, so a window of so many readings is as many
    times as deep.
    """
    size = int(TOWS[name] * share)
    rng = np.random.default_rng(int(name[3:]))
    leg = rng.integers(2_500, 6_000) / quick  # readings from the surface to the deepest point
    deepest = rng.uniform(20, 45)
    step = np.arange(size)
    saw = np.abs((step / leg) % 2 - 1)
    depth = deepest * (0.04 + 0.96 * saw) + _smooth(rng.normal(0, 1, size), 400) * 6
    middle = deepest * rng.uniform(0.35, 0.6)
    density = 22 + 3 / (1 + np.exp(-(depth - middle) / 2.5)) + depth * 0.01
    density += _smooth(rng.normal(0, 1, size), 200) * 0.05
    # The dye lies near one density, in patches along the way that drift in strength.
    layer = np.exp(-(((density - rng.uniform(22.8, 23.8)) / 0.25) ** 2))
    patches = np.zeros(size)
    for _ in range(max(size // 40_000, 2)):
        at, wide = rng.integers(0, size), rng.integers(3_000, 16_000)
        patches += rng.uniform(0.6, 2.4) * np.exp(-(((step - at) / wide) ** 2))
    filaments = np.clip(1 + 2.5 * _smooth(rng.normal(0, 1, size), 60) * 6, 0.05, None)
    dye = patches * layer * filaments + np.abs(rng.normal(0, 0.0015, size))
    return Tow(depth, density, dye)


def _smooth(noise, width):
    """A running mean of noise, of the same length."""
    total = np.cumsum(np.concatenate([noise[:1].repeat(width), noise]))
    return (total[width:] - total[:-width]) / width


def game(minutes, rate=200, players=16, seed=7):
    """For each player a track on the pitch: they head for a place, run, stop, and turn.

    Readings are not quite regular; one in fifty is lost, and all of up to half a second when a
    sensor is hidden, about once a minute.
    """
    rng = np.random.default_rng(seed)
    size = int(minutes * 60 * rate)
    time = np.arange(size) / rate
    tracks = []
    for _ in range(players):
        home = rng.uniform([10, 8], [LENGTH - 10, WIDTH - 8])
        legs = max(size // (rate * 3), 2)
        goals = np.clip(
            home + rng.normal(0, 14, (legs, 2)), [0.5, 0.5], [LENGTH - 0.5, WIDTH - 0.5]
        )
        ends = np.sort(rng.choice(size, legs, replace=False))
        ends[0], ends[-1] = 0, size - 1
        x, y = (np.interp(np.arange(size), ends, goals[:, axis]) for axis in (0, 1))
        sway = 0.35 * np.sin(2 * np.pi * time * rng.uniform(1.2, 1.7))  # the stride, in a shoe
        y = y + 0.2 * np.cos(2 * np.pi * time)
        kept = rng.random(size) > 0.02
        for at in rng.integers(0, size, int(minutes)):
            kept[at : at + rng.integers(rate // 10, rate // 2)] = False
        read = np.maximum.accumulate(time + rng.uniform(-0.4, 0.4, size) / rate)
        read = np.maximum(read, 0)
        tracks.append(Track(read[kept], (x + sway)[kept], y[kept]))
    return tracks
