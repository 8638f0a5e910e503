"""Windows of a calendar, and cumulative ones, beside those of a fixed length."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.queries import Batch
from benchmarks.timing import Entry, Result, race
from benchmarks.windows import WINDOW, batch, ours

ZONE = "Europe/Berlin"  # its hours begin when those of UTC do


def truncated(df):
    """Hours as Spark has them: groupBy(date_trunc)."""
    from pyspark.sql import functions as F

    hour = F.date_trunc("hour", "ts").alias("start")
    found = df.groupBy("k", hour).agg(
        F.count("*").alias("n"), F.sum("v").alias("s"), F.max("v").alias("m")
    )
    return found.selectExpr("k", "start", *WINDOW[2:])


def calendar(bench):
    """Hours of a local day, 12 hours every hour, the last month every day, and the day so far."""
    spark = bench.spark
    hours, moved, fixed = "Calendar 1 h", "Calendar 12 h / 1 h", "Sliding 12 h / 1 h"
    month, days = "Calendar 1 month / 1 day", "Sliding 31 days / 1 day"
    day, local_day, whole = "Cumulative 1 day", "Cumulative 1 local day", "Sliding 1 day / 1 h"
    specs = {
        hours: fl.Calendar("1 hour", zone=ZONE),
        moved: fl.Calendar("12 hours", "1 hour", zone=ZONE),
        fixed: fl.Sliding("12 hours", "1 hour"),
        month: fl.Calendar("1 month", "1 day", zone=ZONE),
        days: fl.Sliding("31 days", "1 day"),
        day: fl.Cumulative("1 day", "1 hour"),
        local_day: fl.Cumulative("1 day", "1 hour", zone=ZONE),
        whole: fl.Sliding("1 day", "1 hour"),
    }
    made = {name: batch(spark, ours, spec) for name, spec in specs.items()}
    theirs = "date_trunc, groupBy"
    tumbled = race(
        [
            Entry(hours, made[hours]),
            Entry(theirs, lambda table: Batch(truncated(table.read(spark)))),
        ],
        bench,
    )
    slid = race([Entry(moved, made[moved]), Entry(fixed, made[fixed])], bench)
    by_days = race([Entry(name, made[name], alone=True) for name in (month, days)], bench)
    grown = race([Entry(name, made[name], alone=True) for name in (day, local_day, whole)], bench)
    return Result(
        [
            row("calendar", tumbled, hours, theirs, at_most=1),
            row("calendar", slid, moved, fixed, at_most=1.2),
            row("calendar", by_days, month, days, at_most=1.2),
            row("calendar", grown, day, whole, at_most=1.2),
            row("calendar", grown, local_day, whole, at_most=1.2),
        ]
    )
