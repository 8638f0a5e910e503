"""What the doctor found, as a value."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest
from pyspark import cloudpickle

import fanlight as fl
from fanlight.engine.kinds.kind import STATE, WORKERS
from fanlight.watching import doctor
from fanlight.watching.doctor import Diagnosis, Finding, list_features, list_needing
from tests.helpers.house import ROOT

MISSING = Finding("RocksDB <store>", "missing", "HDFS", ("frames (streams)",), "spark.conf.set(…)")
FINE = Finding("Java", "ok", "17")
SAID = Finding("partitions", "note", "200", (), "write this")

ASK = """
import pickle, sys
sys.modules["fanlight"] = None  # as on a worker without it
import pyarrow as pa
read_versions = pickle.loads(sys.stdin.buffer.read())
(batch,) = read_versions(iter([pa.RecordBatch.from_pydict({"id": [1]})]))
print(batch.to_pydict()["versions"][0])
"""


def test_it_is_right_as_long_as_nothing_is_missing():
    assert Diagnosis("t", (FINE, SAID)).ok
    found = Diagnosis("t", (FINE, MISSING, SAID))
    assert not found.ok
    assert found.missing == (MISSING,)


def test_it_prints_who_needs_what_is_missing_and_what_to_write():
    lines = str(Diagnosis("on Spark 4.3.0", (FINE, MISSING, SAID))).splitlines()
    assert lines[0] == "on Spark 4.3.0"
    assert lines[1].startswith("1 missing")
    assert [line.split()[0] for line in lines[3:]] == [
        "ok", "missing", "needed", "write:", "note", "write:"
    ]  # fmt: skip
    assert "needed for frames (streams)" in lines[5]


def test_a_notebook_is_given_text_not_tags_of_it():
    page = Diagnosis("<b>", (MISSING,))._repr_html_()
    assert "RocksDB &lt;store&gt;" in page
    assert "<b><b>" not in page


def test_it_can_be_written_as_json():
    found = Diagnosis("t", (FINE, MISSING)).to_dict()
    assert json.loads(json.dumps(found))["findings"][1]["needed_by"] == ["frames (streams)"]
    assert found["ok"] is False


def test_spark_connect_has_a_stateful_processor_since_4_1():
    assert [one.state for one in doctor._check_processor("4.0.2")] == ["missing"]
    assert doctor._check_processor("4.1.0") == doctor._check_processor("x") == ()


def test_every_feature_with_state_needs_the_workers_too():
    for feature in list_features():
        assert "RocksDB" not in feature.batch
        assert "RocksDB" not in feature.stream or "Python workers" in feature.stream
    assert len(list_needing("RocksDB")) < len(list_needing("Python workers"))


def test_the_page_has_the_table_of_needs():
    page = (ROOT / "docs/what_needs_what.md").read_text("utf-8")
    words = {frozenset(): "native", WORKERS: "Python workers", STATE: "Python workers, RocksDB"}
    wanted = [
        f"| {one.name} | {words[one.batch]} | {words[one.stream]} |" for one in list_features()
    ]
    kinds = page.partition("## Kinds of windows")[2].partition("- **native**")[0]
    assert [line for line in kinds.splitlines() if line.startswith("| ")][1:] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("names", [("fanlight", "numpy"), ("google_none", "protobuf")])
def test_what_is_asked_of_workers_needs_nothing_of_fanlight_there(names):
    sent = cloudpickle.dumps(doctor.make_version_query(names))
    ran = subprocess.run(
        [sys.executable, "-c", ASK], input=sent, capture_output=True, check=True, timeout=120
    )
    told = json.loads(ran.stdout)
    assert told["Python"] == sys.version.split()[0]
    here = {"numpy", "protobuf"}
    assert {name: bool(told[name]) for name in names} == {name: name in here for name in names}


def test_a_function_that_needs_fanlight_would_be_seen():
    sent = pickle.dumps(doctor.list_needing)
    ran = subprocess.run([sys.executable, "-c", ASK], input=sent, capture_output=True, check=False)
    assert ran.returncode != 0
    assert b"fanlight" in ran.stderr


def test_workers_that_lack_or_differ_are_missing():
    def package(name, *versions):
        workers = [{name: version, "program": sys.executable} for version in versions]
        return doctor._check_package(name, workers)

    own = fl.__version__
    assert package("fanlight", own, own).state == "ok"
    assert package("fanlight", own, None).state == "missing"
    assert package("fanlight", own, "0.0.1").state == "missing"
    assert package("numba", "0.1", "0.2").state == "ok"
    lacking = package("protobuf", None)
    assert (lacking.found, lacking.state) == ("not installed", "missing")
    assert lacking.needed_by == list_needing("RocksDB")
    assert f"fanlight[spark]=={own}" in lacking.write


def test_versions_that_fanlight_is_not_made_for_are_missing(monkeypatch):
    monkeypatch.setattr(doctor, "INSTALLED", (3, 5))
    states = {"3.4.9": "missing", "3.5.6": "ok", "4.3.0": "ok", "4.4.0": "missing", "x": "unknown"}
    assert {version: doctor._check_spark(version).state for version in states} == states


def test_a_server_older_than_its_client_is_missing(monkeypatch):
    monkeypatch.setattr(doctor, "INSTALLED", (4, 3))
    found = doctor._check_spark("4.0.1")
    assert (found.state, found.write[:36]) == ("missing", "pip install 'pyspark[connect]==4.0.1")
    assert doctor._check_spark("4.3.2").state == "ok"


def test_what_spark_3_5_does_not_need_is_ok():
    assert doctor._check_state_store("3.5.6", None).state == "ok"
    rocksdb = doctor._check_state_store("3.5.6", "a.b.RocksDBStateStoreProvider")
    assert rocksdb.state == "note"
    assert "HDFSBackedStateStoreProvider" in rocksdb.write
    assert doctor._check_state_store("4.0.0", "HDFSBackedStateStoreProvider").state == "missing"


def test_many_more_partitions_than_tasks_are_noted():
    assert doctor._check_partitions("200", 2).state == "note"
    assert "'4'" in doctor._check_partitions("200", 2).write
    assert doctor._check_partitions("200", 64).state == "ok"
    assert doctor._check_partitions("auto", 2).state == "note"
    assert doctor._check_partitions(None, 2).state == "unknown"
