"""A pattern beside Flink's: ``python -m benchmarks.flink --flink …/bin/python``.

That Python is of an environment of its own, in which ``pip install apache-flink`` was done, as its
packages do not go together with Spark's. Both read the same CSV files, find the same matches, and
keep none; Flink in batch and in streaming mode, with two tasks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time

import click

import fanlight as fl
from benchmarks.data import cache
from experiments import commands
from fanlight import agg

KEYS = 20_000
PATTERN = "low+ mid+ high{1,3} top"
DEFINE = {
    "low": "v < 300", "mid": "v >= 300 AND v <= 600", "high": "v > 600 AND v <= 900",
    "top": "v > 900",
}  # fmt: skip
# What Flink runs: it reads what is asked, and prints seconds and the number of matches.
PROGRAM = """
import json, os, time
from pyflink.table import EnvironmentSettings as Settings, TableEnvironment
folder, mode, pattern, define = json.loads(os.environ["ASKED"])
settings = Settings.in_streaming_mode() if mode == "stream" else Settings.in_batch_mode()
env = TableEnvironment.create(settings)
env.get_config().set("parallelism.default", "2")
env.execute_sql(f"CREATE TABLE r (ts TIMESTAMP(3), k INT, v DOUBLE, WATERMARK FOR ts AS ts) WITH "
                f"('connector'='filesystem', 'path'='{folder}', 'format'='csv')")
search = (f"SELECT * FROM r MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES SUM(high.v) AS s "
          f"ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN ({pattern}) "
          f"WITHIN INTERVAL '2' HOUR DEFINE {define})")
env.execute_sql("CREATE TABLE b (k INT, s DOUBLE) WITH ('connector'='blackhole')")
begun = time.monotonic()
env.execute_sql("INSERT INTO b " + search).wait()
took = time.monotonic() - begun
counted = env.execute_sql(f"SELECT COUNT(*) FROM ({search})").collect() if mode == "batch" else []
print("took", took, *[row[0] for row in counted])
"""


@commands.command()
@click.option("--flink", required=True, help="The Python of an environment with apache-flink.")
@click.option("--rows", default=10_000_000, help="How many rows.")
def main(flink, rows):
    """Time a pattern here and in Flink, over the same CSV files."""
    from benchmarks.sessions import start

    spark = start(smoke=False)
    folder = cache() / f"csv-{rows}-{KEYS}"
    if not folder.exists():
        made = spark.range(0, rows, 1, 10).selectExpr(
            f"timestamp_millis(1700006400000 + id * 86400000 div {rows}) as ts",
            f"cast(pmod(xxhash64(id), {KEYS}) as int) as k",
            "pmod(xxhash64(id, 1), 1000000) / 1000D as v",
        )
        written = made.selectExpr("date_format(ts, 'yyyy-MM-dd HH:mm:ss.SSS') as ts", "k", "v")
        written.write.csv(str(folder))
        for one in folder.glob("[._]*"):
            one.unlink()
    spec = fl.PatternFrame(PATTERN, DEFINE, within="2 hours")
    data = spark.read.schema("ts timestamp, k int, v double").csv(str(folder))
    found = fl.over(data, spec, time="ts", by="k").agg(s=agg.sum("v").of("high"))
    for turn in ("first", "second"):
        begun = time.monotonic()
        found.write.format("noop").mode("overwrite").save()
        print(f"fanlight, {turn} run: {time.monotonic() - begun:.1f} s")
    print(f"  {found.count():,} matches")
    spark.stop()
    define = ", ".join(
        f"{name} AS {re.sub(r'v', f'{name}.v', text)}" for name, text in DEFINE.items()
    )
    for mode in ("batch", "stream"):
        asked = {"ASKED": json.dumps([str(folder), mode, PATTERN, define]), **os.environ}
        said = subprocess.run(
            [flink, "-c", PROGRAM], env=asked, capture_output=True, text=True, check=True
        ).stdout
        took = said.rpartition("took ")[2].split()
        print(f"Flink, {mode}: {float(took[0]):.1f} s", *[f"{int(n):,} matches" for n in took[1:]])
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
