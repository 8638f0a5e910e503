"""CPU times on Spark (6.2, 6.3): the same queries by frames and by windows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import fanlight as fl
from experiments import sessions
from experiments.frames import data, heat
from fanlight import agg


def timed(df):
    """CPU seconds of the JVM and its Python workers."""
    clock = sessions.clock(df.sparkSession)
    began = clock()
    df.write.format("noop").mode("overwrite").save()
    return clock() - began


def best(make, runs):
    df = make()
    timed(df)
    return min(timed(df) for _ in range(runs))


def table(spark, columns):
    """Columns as a table that Spark reads from files."""
    path = Path(tempfile.mkdtemp(prefix="frames-")) / "t.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=200_000)
    return spark.read.parquet(str(path))


def episodes(spark, copies, sizes, runs):
    """Figure 10: seconds for frames, and for windows of so many tuples, bare and qualified."""
    tow = data.tow("tow08")
    dye = np.tile(tow.dye, copies)
    size = len(dye)
    df = table(spark, {"t": np.arange(size) * 50_000, "probe": np.arange(size) % 2, "flsp": dye})
    df = df.selectExpr("timestamp_micros(t) as ts", "probe", "flsp")
    spec = fl.ThresholdFrame("flsp > 0.2", min_rows=20)
    frames = best(lambda: fl.over(df, spec, time="ts", by="probe").frames(), runs)
    found = []
    for length in sizes:

        def windows(length=length):
            over = fl.over(df, fl.Sliding(fl.Rows(length)), time="ts", by="probe")
            return over.agg(m=agg.avg("flsp"))

        def qualified(windows=windows):
            keyed = "over (partition by probe order by window.start)"
            lagged = windows().selectExpr("*", f"lag(m > 0.2, 1, false) {keyed} as before")
            runs_of = lagged.selectExpr("*", f"sum(if(before, 0, 1)) {keyed} as run")
            return runs_of.filter("m > 0.2").groupBy("probe", "run").count()

        found.append((length, best(windows, runs), best(qualified, runs)))
    return size, frames, found


def heat_maps(spark, minutes, schedules, runs):
    """Figure 11: seconds and error, of frames and of each window, for each schedule."""
    tracks = data.game(minutes)
    columns = {
        "t": np.concatenate([(track.time * 1e6).round().astype(np.int64) for track in tracks]),
        "player": np.repeat(np.arange(len(tracks)), [len(track.time) for track in tracks]),
        "x": np.concatenate([track.x for track in tracks]),
        "y": np.concatenate([track.y for track in tracks]),
    }
    df = table(spark, columns).selectExpr("timestamp_micros(t) as ts", "player", "x", "y")
    wide, high = data.LENGTH / data.COLUMNS, data.WIDTH / data.ROWS
    found = {}
    for length, slide in schedules:
        errors = heat.errors(tracks, length, slide)
        one = {}

        def frames(length=length, slide=slide):
            grid = fl.over(df, fl.BoundaryFrame({"x": wide, "y": high}), time="ts", by="player")
            # All of a frame lies in one cell, so its greatest x and y do.
            parts = grid.split(f"{slide} seconds", x=agg.max("x"), y=agg.max("y")).selectExpr(
                "player", f"{_cell(wide, high)} as cell", "window.start as at",
                "(unix_micros(window.end) - unix_micros(window.start)) / 1e6D as stay",
            )  # fmt: skip
            return _reported(parts, length, slide)

        one["frames"] = (errors["frames"][0], best(frames, runs))
        for share in heat.SHARES:

            def windows(length=length, slide=slide, share=share):
                tumbling = fl.Sliding(f"{int(slide * share * 1000)} milliseconds")
                means = fl.over(df, tumbling, time="ts", by="player").agg(
                    x=agg.avg("x"), y=agg.avg("y")
                )
                parts = means.selectExpr(
                    "player", f"{_cell(wide, high)} as cell", "window.start as at",
                    f"{slide * share}D as stay",
                )  # fmt: skip
                return _reported(parts, length, slide)

            one[f"{share:.0%} windows"] = (errors[share][0], best(windows, runs))
        found[length, slide] = one
    return len(columns["t"]), found


def _cell(wide, high):
    return f"(ceil(y / {high!r}D) - 1) * {data.COLUMNS} + ceil(x / {wide!r}D) - 1"


def _reported(parts, length, slide):
    """Time spent in a cell, over the last ``length`` seconds, every ``slide``."""
    spec = fl.Sliding(f"{length} seconds", f"{slide} seconds")
    return fl.over(parts, spec, time="at", by=["player", "cell"]).agg(s=agg.sum("stay"))
