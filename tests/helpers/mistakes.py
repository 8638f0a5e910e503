"""Mistakes that users make, each beside the line that is right: both parse, and a checker tells."""

from __future__ import annotations

BEFORE = """
import fanlight as fl
import ibis  # type: ignore[import-untyped]
import narwhals as nw
from datetime import datetime, timedelta
from decimal import Decimal
from fanlight import agg
from fanlight.types import Duration, Keys
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

def ask(df: DataFrame, other: DataFrame, spark: SparkSession, far: nw.LazyFrame[DataFrame],
        table: ibis.Table) -> None:
    hours, hour = fl.Sliding("1 hour", "1 minute"), timedelta(hours=1)
    levels = fl.MultiGranular(["1 hour", "1 day"], ["1 hour", "1 day"])
    windows = fl.over(df, hours, time="ts", by="key")
    events = fl.over(df, hours, time=("start", "stop"))
    frames = fl.over(df, fl.Session("5 minutes"), time="ts")
    trailing = fl.over(df, fl.Trailing(hour), time="ts")
    widened = fl.ProgressiveWidening("1 minute", max_duration="1 hour", max_rows=9)
    searched = fl.over(df, widened, time="ts")
"""
# What is wrong, and the line as it should be.
MISTAKES = {
    # over
    'fl.over(df, hours, time="ts", late="keep")': 'fl.over(df, hours, time="ts", late="open")',
    'fl.over(df, fl.Session("1 hour"), time="ts", late="open")':
        'fl.over(df, fl.Session("1 hour"), time="ts", late="collect")',
    'fl.over(df, hours, time=("a",))': 'fl.over(df, hours, time=("a", "b"))',
    "fl.over(df, hours, time=3)": 'fl.over(df, hours, time="ts")',
    'fl.over(df, hours, time="ts", by=5)': 'fl.over(df, hours, time="ts", by=[F.col("a"), "b"])',
    'fl.over(df, hours, time="ts", forget_after=[1])':
        'fl.over(df, hours, time="ts", forget_after=hour)',
    'fl.over(hours, df, time="ts")': 'fl.over(df, hours, time="ts")',
    'fl.over(df, fl.Sliding, time="ts")': 'fl.over(df, fl.Sliding(10, 0.5), time="ts")',
    "fl.over(df, hours)": 'fl.over(df, F.window("ts", "1 hour"))',
    'fl.over(df, fl.Snapshot(), time="ts")': 'fl.over(df, fl.Snapshot(), time=("a", "b"))',
    # aggregates
    'windows.agg(n="count")': 'windows.agg(F.max("x"), n=agg.count(1))',
    "windows.agg(agg.count)": "windows.agg(agg.count())",
    "agg.sum()": 'agg.sum("x")',
    "agg.sum(3)": 'agg.sum(F.col("x") * 2)',
    "agg.corr(1, 2)": 'agg.corr("x", F.col("y"))',
    'agg.percentile("x", "0.5")': 'agg.percentile("x", [Decimal("0.5"), 1])',
    "agg.count_if(lambda x: x > 3)": 'agg.count_if("x > 3")',
    'agg.max("x").where(True)': 'agg.max("x").where(F.col("x") > 3)',
    'agg.maximum("x")': '(agg.max("x") / agg.count()).where("x > 3")',
    'windows.agg(agg.max("x"))[0].show()': 'windows.agg(agg.max("x").transform(F.sqrt)).show()',
    # options
    'windows.with_empty("zeros")': 'windows.with_empty("zero", between=(0, 1.5))',
    'windows.with_empty("zero", most="6")': 'windows.with_empty("zero", most=6)',
    'windows.with_empty("zero", between="2025-03-01")':
        'windows.with_empty("zero", between=(datetime(2025, 1, 1), "2025-03-01"))',
    'windows.with_empty("zero", keys=["a"])': 'windows.with_empty("zero", keys=other)',
    'windows.complete_only(side="begin")': 'windows.complete_only(side="start")',
    "windows.complete_only(hour)": "windows.complete_only(datetime(2025, 1, 1))",
    "windows.early(every=5j)": "windows.early(every=hour)",
    "windows.postpone()": 'windows.postpone("2 hours")',
    "events.running(id=3)": 'events.running(id="id", as_of=9)',
    "frames.fill(other)": 'frames.fill(other, time="ts", by=["a"])',
    'frames.fill(other, time="ts", how="outer")':
        'frames.fill(other, time="ts", how="left", own={"n": agg.count()})',
    'windows.using("panes", rate="9")': 'windows.using("panes", rate=9)',
    # methods of other windows
    'windows.fit("x")': 'fl.over(df, levels, time="ts").fit("x", ahead=hour)',
    "trailing.agg(agg.count())": "trailing.at(other, time='ts').attach(agg.count())",
    "windows.attach(agg.count())": "frames.split('1 minute', agg.count())",
    'searched.detect("f")': 'searched.detect(lambda rows: [], "n int", rows_as="dicts")',
    'searched.detect(lambda rows: [], "n int", on_error="skip")':
        'searched.detect(lambda rows: [], "n int", on_error="record")',
    "trailing.at('table', time='ts')": "trailing.at(other, time='ts')",
    'windows.agg(agg.count()).withColumm("x", F.lit(1))':
        'windows.agg(agg.count()).withColumn("x", F.lit(1))',
    # windows
    'fl.Sliding(5, closed="both sides")': 'fl.Sliding(5, closed="both")',
    "fl.Sliding(hours)": "fl.Sliding(fl.Rows(5), fl.Rows(1))",
    'fl.Trailing("1 hour", closed="center")': 'fl.Trailing("1 hour", closed="left")',
    "fl.Session()": 'fl.Session(F.expr("interval 1 hour"), min_duration=hour)',
    'fl.Session("5 minutes", max_duration=fl.Rows(5))':
        'fl.Session("5 minutes", max_duration="1 day")',
    'fl.DeltaFrame({"x": 3}, against="last")': 'fl.DeltaFrame({"x": 3}, against="first")',
    'fl.DeltaFrame({"x": "3"})': 'fl.DeltaFrame({"x": 0.5, "y": Decimal(3)})',
    "fl.ThresholdFrame(lambda row: True)": 'fl.ThresholdFrame(F.col("x") > 3, leave="x < 2")',
    'fl.StateFrame("x", nulls="drop")': 'fl.StateFrame(["x", F.col("y")], nulls="skip")',
    'fl.PatternFrame("a b", {"a": 3})':
        'fl.PatternFrame("a b", {"a": "x > 3", "b": F.col("x") < 1}, within=hour)',
    'fl.PatternFrame("a b", matches="last")': 'fl.PatternFrame("a b", matches="first")',
    'fl.AggregateFrame(F.sum("x"), 3)': 'fl.AggregateFrame([agg.sum("x")], [F.col("y")])',
    "fl.PredicateFrame(1, 0)": "fl.PredicateFrame(lambda row, x: True, lambda row, x: True)",
    'fl.MultiGranular(["1 hour"], ["1 hour"], report="often")':
        'fl.MultiGranular(["1 hour"], [hour], report="continuous")',
    'fl.Calendar("1 week", zone="UTC", week_starts="mon")':
        'fl.Calendar("1 week", zone="UTC", week_starts="monday")',
    'fl.Rows("3")': "fl.Rows(3)",
    # functions
    'fl.replay(spark, "x", time="ts", format="orc")':
        'fl.replay(spark, "x", time="ts", format="csv")',
    'fl.clause(hours, time="ts", late="collect")': 'fl.clause(levels, time="ts", late="open")',
    'fl.clause(levels, time="ts", method="agg")': 'fl.clause(levels, time="ts", method="fit")',
    'fl.heartbeat(df, "ts", delay=5)': 'fl.heartbeat(df, "ts", delay=hour)',
    'fl.suggest(df, time="ts", by="x", share="0.1")':
        'fl.suggest(df, time="ts", by="x", share=0.1)',
    # what users annotate their own with
    "keys: Keys = 5": 'keys: Keys | bool = ("a", F.col("b"))',
    "wait: Duration = None": 'wait: Duration = "1 hour"',
    # DataFrames of other libraries
    'fl.over("bids", hours, time="ts")': 'fl.over(far, hours, time="ts").agg(agg.count())',
    'fl.roll_up("pieces", hours)': "fl.roll_up(table, hours)",
    'fl.upsert("delta:x", key="x")("rows")': 'fl.upsert("delta:x", key="x")(far)',
}  # fmt: skip
