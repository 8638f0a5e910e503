"""Results of Spark written by key, in batches and in streams."""

from __future__ import annotations

import sqlite3

import pytest
from pyspark.errors import AnalysisException

import fanlight as fl
from fanlight import agg
from fanlight.io.upsert.delta_catalog import merge_text
from tests.helpers.streams import finish

CALLS = """
    SELECT timestamp_seconds(1700000000 + id * 7) AS ts, concat('antenna ', id % 2) AS antenna, id
    FROM range(300)
"""


def rows_in(path, text):
    base = sqlite3.connect(path)
    try:
        return base.execute(text).fetchall()
    finally:
        base.close()


@pytest.mark.streaming
def test_results_that_still_change_are_corrected_by_key(spark, tmp_path):
    """Spark's own windows in update mode: the table ends as the batch does."""
    spark.sql(CALLS).write.parquet(f"{tmp_path}/calls")
    base = f"{tmp_path}/busy.db"
    write = fl.upsert(f"sqlite:///{base}", table="busy", key=["antenna", "window"], stream="one")
    stream = fl.replay(spark, f"{tmp_path}/calls", format="parquet", time="ts",
                       max_rows_per_batch=100, disorder="10 minutes")  # fmt: skip

    def counted(rows):
        windows = rows.selectExpr("antenna", "window(ts, '10 minutes') AS window", "id")
        found = windows.groupBy("antenna", "window").agg({"*": "count", "id": "sum"})
        return found.selectExpr("antenna", "window", "`count(1)` AS n", "`sum(id)` AS s")

    finish(counted(stream), tmp_path, write, "update")
    rows = counted(spark.sql(CALLS))
    shown = rows.selectExpr("antenna", "cast(unix_seconds(window.start) AS int)", "n", "s")
    found = rows_in(base, "SELECT antenna, unixepoch(window_start), n, s FROM busy")
    assert sorted(found) == sorted(map(tuple, shown.collect()))
    assert len(found) > 4
    assert rows_in(base, "SELECT stream, batch FROM fanlight_batches")[0][0] == "one"
    assert rows_in(base, "SELECT batch FROM fanlight_batches")[0][0] >= 2

    write(rows.where("antenna = 'antenna 0'"))  # a batch: the same rows again
    assert sorted(
        rows_in(base, "SELECT antenna, unixepoch(window_start), n, s FROM busy")
    ) == sorted(found)


def test_a_key_that_lacks_a_column_is_seen(classic, tmp_path):
    levels = fl.MultiGranular(["10 minutes", "20 minutes"], ["10 minutes", "10 minutes"])
    found = fl.over(classic.sql(CALLS), levels, time="ts", by="antenna").agg(agg.count())
    to = f"sqlite:///{tmp_path}/busy.db"
    by = {"table": "busy", "key": ["antenna", "level", "window"]}
    fl.upsert(to, **by)(found)
    (count,) = rows_in(f"{tmp_path}/busy.db", "SELECT count(*) FROM busy")[0]
    assert count == found.count()
    with pytest.raises(fl.FanlightError, match="can keep only one; name all columns"):
        fl.upsert(to, table="other", key=["antenna"])(found)


def test_a_session_without_delta_s_connector_says_what_it_lacks(spark):
    write = fl.upsert("delta", table="lake.busy", key="id")
    with pytest.raises(fl.FanlightError) as raised:
        write(spark.range(3))
    assert "io.delta:delta-spark_2.13" in str(raised.value)
    assert spark.version in str(raised.value)


def test_rows_for_the_connector_are_checked_before_it_is_asked(classic):
    write = fl.upsert("delta", table="lake.busy", key="id")
    with pytest.raises(fl.FanlightError, match="several rows with the same key"):
        write(classic.range(3).union(classic.range(1)))
    with pytest.raises(fl.FanlightError, match="a column of the key is null"):
        write(classic.sql("SELECT cast(null AS int) AS id"))
    with pytest.raises(fl.FanlightError, match="rename it"):
        write(classic.range(3).withColumnRenamed("id", "${x}").selectExpr("*", "1 AS id"))


def test_what_the_connector_is_told_is_sql(classic):
    """Spark reads it, and stops at the table, which is not there."""
    text = merge_text("`la ke`.`bu``sy`", "`rows`", ["a`b", "select"], ["a`b"])
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        classic.sql(text)
    deleting = merge_text("`busy`", "`rows`", ["a", "v"], ["a"], "no more")
    assert "WHEN MATCHED AND coalesce(source.`no more`, false) THEN DELETE" in deleting
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        classic.sql(deleting)
