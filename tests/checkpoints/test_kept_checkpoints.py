"""A release goes on from the checkpoints that the one before it has left, kept here as files."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import PySparkException

from fanlight.engine.operators import stored_state
from fanlight.engine.plan import stored_pieces
from fanlight.engine.spark.placed import stream
from tests.checkpoints import kept
from tests.checkpoints.streams import STREAMS
from tests.helpers.house import ROOT

SMALL, ALL = 50_000, 1_000_000  # bytes


def test_each_stream_has_an_archive_and_they_are_small():
    there = {path.name.partition(".")[0]: path.stat().st_size for path in kept.HERE.glob("*.xz")}
    assert there.keys() == STREAMS.keys()
    assert max(there.values()) < SMALL
    assert sum(there.values()) < ALL


def test_the_page_lists_the_formats():
    page = (ROOT / "docs/checkpoints.md").read_text("utf-8")
    told = re.findall(r"^\| ([^|]+) \| (\d+) \| ([^|]+) \|", page, re.MULTILINE)
    newest = {what: int(number) for what, number, _ in sorted(told, key=lambda row: int(row[1]))}
    assert newest == {
        "operators": stored_state.FORMAT,
        "aggregations": stream.FORMAT,
        "stored pieces": stored_pieces.VERSION,
    }


@pytest.mark.spark
@pytest.mark.streaming
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", STREAMS)
def test_a_kept_checkpoint_goes_on(classic, tmp_path, name):
    made = kept.unpack(name, tmp_path)
    rest = kept.go_on(classic, name, tmp_path)
    assert rest
    assert rest == made["rows"]
    wanted = kept.expected(classic, name)
    assert [row for row in kept.in_time(rest) if row not in wanted] == []
    assert len(wanted) > len(rest)


@pytest.fixture
def native(classic, tmp_path):
    """A function that goes on with a stream that Spark aggregates, and gives its error."""
    kept.unpack("tumbling", tmp_path)

    def error():
        with pytest.raises(PySparkException) as caught:
            kept.go_on(classic, "tumbling", tmp_path)
        return str(caught.value)

    return error


@pytest.mark.spark
@pytest.mark.streaming
def test_native_state_of_another_format_is_refused_with_both_releases(native, monkeypatch):
    monkeypatch.setattr(stream, "FORMAT", 2)
    monkeypatch.setattr(stream, "SEAL", stream.name_of(2, "0.9.0"))
    said = native()
    assert "state of format 1 by fanlight 0.1.0: another query needs" in said
    assert "state of format 2 by fanlight 0.9.0: another query needs" in said


@pytest.mark.spark
@pytest.mark.streaming
def test_native_state_of_another_release_goes_on(classic, tmp_path, monkeypatch):
    made = kept.unpack("tumbling", tmp_path)
    monkeypatch.setattr(stream, "SEAL", stream.name_of(stream.FORMAT, "0.9.0"))
    assert kept.go_on(classic, "tumbling", tmp_path) == made["rows"]
