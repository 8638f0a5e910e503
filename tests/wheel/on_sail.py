"""Each kind in a batch on Sail, by a Python that has the wheel, pysail and a client of Spark.

python on_sail.py prints a row of a table for each kind and way. Nothing is held against it: what
does not work is what the table is for.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from data import LANE, complete, write
from kinds import KINDS, counted
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

# Ways that are asked for by name: of few rows `auto` takes Spark's own plan.
WAYS = {
    "sliding": ("panes", "pairs", "expand"),
    "list": ("panes", "expand"),
    "levels": ("granules", "separate"),
    "events": ("levels", "cells"),
    "session": ("arrow", "native"),
    "threshold": ("arrow", "native"),
    "boundary": ("arrow", "native"),
    "trailing": ("arrow", "native"),
}
LONGEST = 140  # characters of an error


def sentence(error):
    """The first sentence of an error, as a cell of a table."""
    line = str(error).strip().split("\n")[0]
    said = re.split(r"(?<=[a-z`'\")])\. ", line)[0]
    said = said if len(said) <= LONGEST else said[:LONGEST].rsplit(" ", 1)[0] + " …"
    return f"{type(error).__name__}: {said}".replace("|", "\\|").replace("<", "&lt;")


def answer(spark, folder, case, way):
    """What a cell says of a kind and a way."""

    def ask(windows):
        return (case.ask or counted)(windows if way == "auto" else windows.using(way))

    try:
        df = spark.read.parquet(str(folder))
        _, found = complete(replace(case, ask=ask).of(df, LANE))
    except Exception as error:  # noqa: BLE001 - whatever it is
        return sentence(error)
    if found == case.each:
        return "right"
    (windows, rows), (ours, own) = found, case.each
    return f"**wrong**, and no error: {windows} windows of {rows} rows, not {ours} of {own}"


def main():
    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    client = version("pyspark-client")
    print(f"pysail {version('pysail')}, pyspark-client {client}, fanlight {version('fanlight')}.\n")
    print("| kind, in a batch | way | |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        write(rows)
        for case in KINDS:
            for way in WAYS.get(case.name, ("auto",)):
                print(f"| {case.name} | `{way}` | {answer(spark, rows, case, way)} |", flush=True)
    spark.stop()
    server.stop()


if __name__ == "__main__":
    sys.exit(main())
