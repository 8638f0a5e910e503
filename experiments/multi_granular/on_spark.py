"""The same operations through ``fl.over``, beside what is written without it.

``python -m experiments.multi_granular.on_spark [--smoke]`` writes ``on_spark.md``.
"""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path

import fanlight as fl
from experiments import commands, sessions
from experiments.multi_granular import precision
from experiments.multi_granular.tables import table
from fanlight import agg

RANGES = ["1 minute", "5 minutes", "10 minutes", "30 minutes", "1 hour"]
SLIDES = ["10 seconds", "1 minute", "1 minute", "5 minutes", "5 minutes"]
HOURS = 6
HERE = Path(__file__).parent
TEXT = """\
# Multi-granular windows on Spark

{cores} cores, Python {python}, PySpark {spark}. Written by
`python -m experiments.multi_granular.on_spark`; see claim.md.

## Batches

{rows:,} generated records of six hours, 50 local hosts, local[{cores}]; CPU seconds of the JVM and
its Python workers, the least of {runs} runs in turn. Sum and count by host: levels shared, each
apart (`using("separate")`), and a `groupBy(window)` a level. `fit` of durations over the filled
series, by host; recurring protocols.

{lines}

## Trend lines against NumPy

{count:,} readings of a day, times near 1.7e15 microseconds; relative differences from least squares
in two passes in extended precision over the raw rows. *rows*: each row a point; *instants*: a mean
a second; *kernel*: the chain alone, a value each second. A hundred million of them are in
precision.md.

{exact}
"""


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
    """CPU seconds of the JVM and its Python workers."""
    clock = sessions.clock(df.sparkSession)
    began = clock()
    df.write.format("noop").mode("overwrite").save()
    return clock() - began


def least(queries, runs):
    """The least CPU seconds of each query, run in turn."""
    best = dict.fromkeys(queries, float("inf"))
    for _ in range(runs):
        for name, query in queries.items():
            best[name] = min(best[name], seconds(query))
    return best


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
            "fit": windows.fit("duration", filled=True),
            "recurring": fl.over(df, spec, time="ts").recurring("protocol"),
        }
        found = [queries[name].count() for name in ("shared", "apart", "F.window")]
        if len(set(found)) > 1:
            raise SystemExit(f"{levels} levels: {found} windows")
        for name in ("shared", "apart", "F.window"):
            seconds(queries[name])
        lines.append({"levels": levels, "windows": found[0]} | least(queries, runs))
    return lines


@commands.command()
@commands.smoke
def main(smoke):
    """Multi-granular windows through fl.over, beside a query of Spark's own for each level.

    Prints tables, and writes them to on_spark.md beside this file.
    """
    spark = sessions.start("multi_granular")
    rows, runs = (20_000, 1) if smoke else (1_000_000, 3)
    with tempfile.TemporaryDirectory() as folder:
        lines = measured(spark, folder, rows, runs, (3,) if smoke else (2, 3, 5))
    count = 200_000 if smoke else 10_000_000
    exact = precision.of_the_kernel(count) + precision.on_spark(spark, count)
    page = TEXT.format(
        cores=sessions.CORES, python=platform.python_version(), spark=spark.version, rows=rows,
        runs=runs, lines=table(lines), count=count, exact=table(exact),
    )  # fmt: skip
    spark.stop()
    print(page)
    if precision.worst(exact) > precision.LIMIT:
        raise SystemExit(f"a trend line is off by {precision.worst(exact):.1e}")
    if not smoke:
        (HERE / "on_spark.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main()
