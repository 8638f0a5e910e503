"""The same operations through ``fl.over``, beside what is written without it."""

from __future__ import annotations

import time

import fanlight as fl
from fanlight import agg

RANGES = ["1 minute", "5 minutes", "10 minutes", "30 minutes", "1 hour"]
SLIDES = ["10 seconds", "1 minute", "1 minute", "5 minutes", "5 minutes"]
HOURS = 6


def frame(spark, folder, rows):
    """Connection records of six hours, written once; generated, as ``connections`` says."""
    spread = HOURS * 3_600_000_000
    made = spark.range(0, rows, 1, 4).selectExpr(
        f"timestamp_micros(1700006400000000 + id * {spread} div {rows}) as ts",
        "exp(1.0D + 1.5D * randn(1)) as duration",
        "cast(24D * rand(2) * rand(3) as int) as protocol",
        "cast(exp(7.0D + 2.0D * randn(4)) as bigint) as bytes",
        "cast(50D * rand(5) * rand(6) as int) as local_host",
        "cast(pow(rand(7), -0.7D) * 100D as bigint) % 1000000 as remote_host",
    )
    path = f"{folder}/connections"
    made.write.mode("overwrite").parquet(path)
    return spark.read.parquet(path)


def seconds(df):
    began = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - began


def spark_windows(df, levels):
    """A ``groupBy(window)`` a level, together."""
    found = None
    for number in range(levels):
        window = f"window(ts, '{RANGES[number]}', '{SLIDES[number]}')"
        one = df.selectExpr(f"{window} as window", "local_host", "duration")
        one = one.groupBy("local_host", "window").agg({"duration": "sum", "*": "count"})
        one = one.selectExpr(f"{number} as level", "*")
        found = one if found is None else found.unionAll(one)
    return found


def measured(spark, folder, rows, runs, counts):
    """Seconds of each operation with 2 to 5 levels: shared, each apart, and Spark's own."""
    df = frame(spark, folder, rows)
    lines = []
    for levels in counts:
        spec = fl.MultiGranular(RANGES[:levels], SLIDES[:levels])
        windows = fl.over(df, spec, time="ts", by="local_host")
        queries = {
            "shared": windows.agg(agg.sum("duration"), agg.count()),
            "apart": windows.using("separate").agg(agg.sum("duration"), agg.count()),
            "F.window": spark_windows(df, levels),
            "fit": windows.fit("duration"),
            "recurring": fl.over(df, spec, time="ts").recurring("protocol"),
        }
        found = [queries[name].count() for name in ("shared", "apart", "F.window")]
        if len(set(found)) > 1:
            raise SystemExit(f"{levels} levels: {found} windows")
        for name in ("shared", "apart", "F.window"):
            seconds(queries[name])
        lines.append(
            {"levels": levels, "windows": found[0]}
            | {name: min(seconds(query) for _ in range(runs)) for name, query in queries.items()}
        )
    return lines
