"""What the doctor says of a session, and whether what it says of needs is so."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.fingerprint import BATCH_BYTES
from fanlight.watching.doctor import list_features
from tests.helpers.dataframes import collected
from tests.helpers.house import ROOT
from tests.helpers.sparks import DEFAULT, PROVIDER, ROCKSDB, configured
from tests.law.run import beside

SCHEMA = "ts timestamp, stop timestamp, k long, v double"
SLIDING = fl.Sliding("4 minutes", "1 minute")
LEVELS = fl.MultiGranular(["1 minute", "10 minutes"], ["1 minute", "5 minutes"])


def counted(rows, spec, time="ts", call=None):
    return fl.over(rows, spec, time=time, by="k").agg(call or agg.sum("v"))


def matched(rows):
    spec = fl.ProgressiveWidening("1 second", max_duration="1 minute", max_rows=9)
    return fl.over(rows, spec, time="ts", by="k").detect(lambda _: [], "n long")


def middle(rows):
    """What is taken of much data; of little, as here, it would be Spark's own plan."""
    windows = fl.over(rows, SLIDING, time="ts", by="k")
    return windows.using("auto" if rows.isStreaming else "ranks").agg(agg.median("v"))


def framed(rows, spec):
    """What is taken of many rows; few, as here, would be cut in Spark SQL."""
    return fl.over(rows, spec, time="ts", by="k").using("arrow").agg(agg.count())


def looked_back(rows):
    """What is taken of many rows, as above."""
    windows = fl.over(rows, fl.Trailing("1 minute"), time="ts", by="k")
    return windows.using("arrow").attach(n=agg.count())


# An example of each feature of the table.


def opened(rows):
    """Given early where that can be: a batch has no open windows."""
    windows = fl.over(rows, LEVELS, time="ts", by="k")
    return windows.early() if rows.isStreaming else windows


def filled(rows):
    """Windows without rows, too."""
    windows = fl.over(rows, LEVELS, time="ts", by="k")
    return windows.with_empty("zero", most=3).agg(agg.count())


MADE = dict(
    zip(
        (feature.name for feature in list_features()),
        (
            lambda rows: counted(rows, LEVELS),
            lambda rows: opened(rows).agg(agg.count()),
            filled,
            lambda rows: counted(rows, SLIDING, ("ts", "stop")),
            lambda rows: fl.over(rows, LEVELS, time="ts", by="k").fit("v"),
            middle,
            lambda rows: counted(rows, fl.Sliding(fl.Rows(10), fl.Rows(5))),
            lambda rows: fl.over(rows, LEVELS, time="ts", by="k").fit("v", filled=True),
            lambda rows: framed(rows, fl.ThresholdFrame("v > 1")),
            lambda rows: framed(rows, fl.Session("1 minute")),
            matched,
            looked_back,
            lambda rows: counted(rows, fl.Snapshot(), ("ts", "stop")),
        ),
        strict=True,
    )
)


@pytest.fixture(scope="module")
def own(sessions):
    """A session with Spark's own state store."""
    made = beside(sessions["classic"])
    made.conf.set(PROVIDER, DEFAULT)
    return made


def state_of(found, what):
    (one,) = (one for one in found.findings if one.what == what)
    return one.state


def test_a_session_that_has_all_is_right(spark):
    found = fl.doctor(spark)
    assert found.ok, str(found)
    assert {one.state for one in found.findings} <= {"ok", "note"}
    assert state_of(found, "fanlight on the workers") == "ok"
    assert ("Connect" in found.title) == (".connect." in type(spark).__module__)


def test_what_is_missing_and_the_line_that_helps(own):
    found = fl.doctor(own)
    (one,) = found.missing
    assert one.what == "RocksDB state store"
    assert "frames (streams)" in one.needed_by
    with configured(own, PROVIDER, DEFAULT):
        exec(one.write, {"spark": own})  # noqa: S102
        assert fl.doctor(own).ok


def test_the_page_shows_what_is_said(own):
    with configured(own, "spark.sql.shuffle.partitions", "200"):
        found = fl.doctor(own)
    page = (ROOT / "docs/what_needs_what.md").read_text("utf-8")
    shown = re.search(r"^```told\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1].splitlines()
    said = str(found).splitlines()
    assert [line[:32] for line in shown] == [line[:32] for line in said]
    plain = [line for line in said if re.search("needed|write|partitions|RocksDB|missing", line)]
    assert set(plain) <= set(shown)


def test_a_setting_that_makes_python_workers_faster(own):
    """Where Spark has it: the line that the doctor writes is what `explain` says, and helps."""
    rows = own.sql("SELECT timestamp_seconds(id) AS ts, id % 3 AS k, id AS v FROM range(60)")
    delta = fl.over(rows, fl.DeltaFrame({"v": 8}), time="ts", by="k")
    native = fl.over(rows, SLIDING, time="ts", by="k")
    (told,) = (one for one in fl.doctor(own).findings if one.what == "batches for Python")
    if told.state == "ok":  # Spark 3.5 and 4.0 do not add up bytes
        assert "faster" not in delta.explain(verbose=True)
        return
    line = told.write.partition("  #")[0]
    assert line in delta.explain(verbose=True)
    assert "faster" not in delta.explain()
    assert "faster" not in native.explain(verbose=True)
    with configured(own, BATCH_BYTES, "1"):  # a batch has one row
        slowly = collected(delta.agg(agg.sum("v")))
        exec(line, {"spark": own})  # noqa: S102
        (told,) = (one for one in fl.doctor(own).findings if one.what == "batches for Python")
        assert told.state == "ok"
        assert "faster" not in delta.explain(verbose=True)
        assert collected(delta.agg(agg.sum("v"))) == slowly


class Closed:
    """A platform that shows nothing of a session, and runs nothing: by errors of its own."""

    version = "4.3.0"

    def range(self, *_):
        raise RuntimeError("\nno job may run")

    def sql(self, _):
        raise RuntimeError("An error occurred while calling o1.sql.\n: forbidden by the platform")

    conf = property(lambda self: self)
    get = sql


def test_what_a_platform_forbids_stops_no_other_finding():
    found = fl.doctor(Closed())
    said = {one.what: (one.state, one.found) for one in found.findings}
    assert said["Java"] == ("unknown", "forbidden by the platform")
    assert said["Python workers"] == ("missing", "no job may run")
    assert "PYSPARK_PYTHON" not in str(found), "no Python was at fault"
    hidden = {"RocksDB state store", "ANSI", "time zone"}
    assert {what for what in hidden if said[what][0] == "unknown"} == hidden


def test_what_is_no_session_is_refused():
    with pytest.raises(fl.FanlightError, match="is not a Spark session"):
        fl.doctor("spark")


@pytest.mark.parametrize("feature", list_features(), ids=lambda feature: feature.name)
def test_the_table_of_needs_is_true(feature, own, tmp_path, capsys):
    made = MADE[feature.name]
    rows = own.createDataFrame([], SCHEMA)
    rows.write.parquet(str(tmp_path / "rows"))
    made(own.read.schema(SCHEMA).parquet(str(tmp_path / "rows"))).explain()
    assert ("InArrow" in capsys.readouterr().out) == ("Python workers" in feature.batch)
    time = "stop" if feature.name.endswith("events that last") else "ts"
    stream = own.readStream.schema(SCHEMA).parquet(str(tmp_path / "rows"))
    stream = stream.withWatermark(time, "1 minute")
    if "RocksDB" in feature.stream:
        with pytest.raises(fl.FanlightError, match="RocksDB"):
            made(stream)
    with configured(own, PROVIDER, ROCKSDB if "RocksDB" in feature.stream else DEFAULT):
        made(stream).explain()
    assert ("InArrow" in capsys.readouterr().out) == ("Python workers" in feature.stream)


@pytest.mark.parametrize("setting", ["true", "false"])
def test_a_line_is_offered_only_for_what_is_not_ok(classic, setting):
    session = beside(classic)
    session.conf.set("spark.sql.ansi.enabled", setting)
    found = fl.doctor(session).findings
    assert [one.what for one in found if one.state == "ok" and one.write] == []
    (ansi,) = (one for one in found if one.what == "ANSI")
    assert (ansi.write is None) == (setting == "true")
