"""Each kind in a batch on Sail, by a Python that has the wheel, pysail and a client of Spark.

python on_sail.py spark|sail FILE

On Spark the answers go into the file. On Sail they are compared with it, and printed as a table.
Nothing fails: what does not work is what the table is for.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
from check import FEW, PARTITIONS, start
from data import LANE, complete, write
from kinds import KINDS, counted
from pyspark.sql import SparkSession

# Ways that are asked for by name: of few rows `auto` takes Spark's own plan.
WAYS = {
    "sliding": ("panes", "pairs", "expand"),
    "list": ("granules", "separate"),
    "levels": ("granules", "separate"),
    "events": ("levels", "cells"),
    "session": ("arrow", "native"),
    "threshold": ("arrow", "native"),
    "boundary": ("arrow", "native"),
    "trailing": ("arrow", "native"),
}
WRONG = "**wrong**, and no error"
LONGEST = 140  # characters of an error


def sentence(error):
    """The first sentence of an error, as a cell of a table."""
    line = str(error).strip().split("\n")[0]
    said = re.split(r"(?<=[a-z`'\")])\. ", line)[0]
    said = said if len(said) <= LONGEST else said[:LONGEST].rsplit(" ", 1)[0] + " …"
    return f"{type(error).__name__}: {said}".replace("|", "\\|").replace("<", "&lt;")


def answer(spark, folder, case, way):
    """The rows of a kind and a way, as texts, or the first sentence of an error."""

    def ask(windows):
        return (case.ask or counted)(windows if way == "auto" else windows.using(way))

    try:
        df = spark.read.parquet(str(folder))
        return complete(replace(case, ask=ask).of(df, LANE))[0]
    except Exception as error:  # noqa: BLE001 - whatever it is
        return sentence(error)


def answers(spark):
    """(kind, way, answer) of all."""
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        write(rows)
        for case in KINDS:
            for way in WAYS.get(case.name, ("auto",)):
                yield case.name, way, answer(spark, rows, case, way)


def compared(found, expected):
    """A cell of the table."""
    if found == expected:
        return "right"
    if isinstance(found, str):
        return found
    rows = f"{len(found)} rows, not {len(expected)}"
    return f"{WRONG}: {'other values' if len(found) == len(expected) else rows}"


def indexed(spark):
    """An element of an array, by a column."""
    found = spark.sql("SELECT array(10L, 20L)[id] AS one FROM range(2)").collect()
    return "right" if sorted(row.one for row in found) == [10, 20] else WRONG


def sorted_rows(spark):
    """Rows that a function is given, sorted within their partition."""

    def numbered(batches):
        seen = 0
        for batch in batches:
            places = pa.array(range(seen, seen + batch.num_rows), pa.int64())
            seen += batch.num_rows
            yield pa.RecordBatch.from_arrays([batch.column(0), places], ["id", "place"])

    rows = spark.range(100).repartition(1).sortWithinPartitions("id", ascending=False)
    found = rows.mapInArrow(numbered, "id long, place long").collect()
    falling = all(row.id == 99 - row.place for row in found)
    return "right" if falling else f"{WRONG}: the rows come in another order"


PROBES = {
    "`SELECT array(10L, 20L)[id] FROM range(2)`": indexed,
    "`sortWithinPartitions(…)`, then `mapInArrow(…)`": sorted_rows,
}


def probed(probe, spark):
    try:
        return probe(spark)
    except Exception as error:  # noqa: BLE001 - whatever it is
        return sentence(error)


def main(kind, file):
    if kind == "spark":
        spark = start("classic")
        spark.conf.set(PARTITIONS, FEW[PARTITIONS])
        found = {f"{name} {way}": rows for name, way, rows in answers(spark)}
        Path(file).write_text(json.dumps(found), "utf-8")
        sys.exit("\n".join(rows for rows in found.values() if isinstance(rows, str)) or None)
    from pysail.spark import SparkConnectServer

    expected = json.loads(Path(file).read_text("utf-8"))
    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    client = version("pyspark-client")
    print(f"pysail {version('pysail')}, pyspark-client {client}, fanlight {version('fanlight')}.\n")
    print("| kind, in a batch | way | |\n|---|---|---|")
    for name, way, rows in answers(spark):
        cell = compared(rows, expected[f"{name} {way}"])
        print(f"| {name} | `{way}` | {cell} |", flush=True)
    print("\n| without fanlight | |\n|---|---|")
    for what, probe in PROBES.items():
        print(f"| {what} | {probed(probe, spark)} |")
    spark.stop()
    server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
