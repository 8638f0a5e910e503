"""Job files that play files back, and that write by key."""

from __future__ import annotations

import re

import pytest

from tests.cli.jobs import RIGHT, errors_of, loaded, without
from tests.helpers.house import ROOT

SOURCE = 'format = "parquet"\npath = "calls"'
SINK = 'format = "parquet"\npath = "busy"'
SCHEMA = 'schema = "ts timestamp, antenna string, seconds long"'
PLAYED = 'format = "replay"\npath = "calls"\nfiles = "parquet"\ntime = "ts"'
KEYED = 'key = ["antenna", "window"]\n'
SQLITE = f'format = "sqlite"\npath = "busy.db"\ntable = "busy"\n{KEYED}'
POSTGRESQL = f'format = "postgresql"\nurl = "postgresql://me@host/base"\ntable = "busy"\n{KEYED}'
DELTA = f'format = "delta"\npath = "busy"\nmode = "upsert"\n{KEYED}'


def played(more="", old=SOURCE, new=PLAYED):
    assert RIGHT.count(old) == 1
    return RIGHT.replace(old, new + more)


def written(sink, text=RIGHT):
    return text.replace(SINK, sink)


def test_a_source_that_is_played(tmp_path):
    more = '\ndisorder = "1 minute"\nlate_share = 0.5\nlateness = "1 hour"\nseed = 7'
    more += "\nmax_rows_per_batch = 10"
    text = played(more).replace(SCHEMA, "")
    source = loaded(tmp_path, text).sources["calls"]
    assert (source.format, source.path) == ("replay", f"file://{tmp_path}/calls")
    assert source.replay.files == "parquet"
    assert source.replay.arguments == {
        "time": "ts", "disorder": "1 minute", "late_share": 0.5, "lateness": "1 hour", "seed": 7,
        "max_rows_per_batch": 10,
    }  # fmt: skip
    text = text.replace('"available now"', '"1 second"').replace("seed = 7", "speedup = 60")
    assert loaded(tmp_path, text).sources["calls"].replay.arguments["speedup"] == 60


def test_the_suffix_says_what_is_played(tmp_path):
    for name, format in (("a.csv", "csv"), ("a.jsonl", "json"), ("a.parquet", "parquet")):
        (tmp_path / name).write_text("")
        text = played(new=f'format = "replay"\npath = "{name}"\ntime = "ts"')
        assert loaded(tmp_path, text).sources["calls"].replay.files == format


WRONG = [
    ('\nfiles = "xml"', "source.calls.files", "write one of parquet, csv, json"),
    ("\nspeedup = 0", "source.calls.speedup", "out of bounds"),
    ("\nspeedup = nan", "source.calls.speedup", "out of bounds"),
    ('\nspeedup = "60"', "source.calls.speedup", "is not a number"),
    ("\nspeedup = 60", "source.calls.speedup", 'trigger = "1 second"'),
    ('\ndisorder = "some"', "source.calls.disorder", "not a duration"),
    ("\nlate_share = 2", "source.calls.late_share", "out of bounds"),
    ("\nlate_share = 0.1", "source.calls", "only one of late_share and lateness"),
    ('\nlateness = "1 hour"', "source.calls", "only one of late_share and lateness"),
    ("\nseed = 1.5", "source.calls.seed", "is not a whole number"),
    ("\nmax_rows_per_batch = 0", "source.calls.max_rows_per_batch", "out of bounds"),
    ("\nmax_rows_per_batch = true", "source.calls.max_rows_per_batch", "is not a number"),
    ('\nheader = "yes"', "source.calls.header", "is not true or false"),
    ('\nsep = "||"', "source.calls.sep", "is not one character"),
    ("\noptions = { a = 1 }", "source.calls.options", "is not a key"),
]


@pytest.mark.parametrize(("more", "key", "said"), WRONG, ids=[more for more, _, _ in WRONG])
def test_what_is_wrong_of_a_replay(more, key, said, tmp_path):
    base = PLAYED.replace('\nfiles = "parquet"', "") if "files" in more else PLAYED
    lines = errors_of(tmp_path, played(more, new=base))
    assert [line for line in lines if f": {key}: " in line and said in line], lines


def test_what_a_replay_needs(tmp_path):
    lines = errors_of(tmp_path, played(new='format = "replay"\npath = "calls"').replace(SCHEMA, ""))
    assert "has no files" in "".join(lines)
    assert "has no time" in "".join(lines)
    csv = PLAYED.replace('"parquet"', '"csv"')
    lines = errors_of(tmp_path, played(new=csv).replace(SCHEMA, ""))
    assert "has no schema, which csv needs" in "".join(lines)


UPSERTS = {
    SQLITE: {"to": "sqlite:///{here}/busy.db", "table": "busy"},
    POSTGRESQL: {"to": "postgresql://me@host/base", "table": "busy"},
    DELTA: {"to": "delta:{here}/busy"},
}


@pytest.mark.parametrize("sink", UPSERTS)
@pytest.mark.parametrize("stream", [True, False])
def test_sinks_by_key(sink, stream, tmp_path):
    text = written(sink, RIGHT if stream else without("stream"))
    wanted = {name: one.format(here=tmp_path) for name, one in UPSERTS[sink].items()}
    wanted |= {"key": ("antenna", "window"), "stream": None}
    assert loaded(tmp_path, text).sink.upsert == wanted
    if stream:
        text = written(sink + 'stream = "busy-1"\n')
        assert loaded(tmp_path, text).sink.upsert["stream"] == "busy-1"


def test_the_job_of_the_page_is_right(tmp_path):
    page = (ROOT / "docs/sources_and_sinks.md").read_text("utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    job = loaded(tmp_path, text)
    assert job.sources["calls"].replay.arguments == {"time": "ts", "disorder": "1 minute"}
    assert job.sink.upsert["to"] == f"sqlite:///{tmp_path}/busy.db"


WRONG_SINKS = [
    (SQLITE.replace(KEYED, ""), "sink", "has no key"),
    (SQLITE.replace(KEYED, "key = []\n"), "sink.key", "is empty"),
    (SQLITE.replace(KEYED, "key = 3\n"), "sink.key", "is not a list of columns"),
    (SQLITE.replace('table = "busy"\n', ""), "sink", "has no table"),
    (SQLITE.replace('path = "busy.db"\n', ""), "sink", "has no path"),
    (SQLITE + 'mode = "append"\n', "sink.mode", "upsert"),
    (SQLITE + "options = { a = 1 }\n", "sink.options", "is not a key"),
    (POSTGRESQL.replace('url = "postgresql://me@host/base"\n', ""), "sink", "has no url"),
    (POSTGRESQL.replace("postgresql://", "mysql://"), "sink.url", "not one of PostgreSQL"),
    (DELTA + 'table = "busy"\n', "sink.table", "is not a key"),
    (DELTA.replace('mode = "upsert"\n', ""), "sink.key", "is not a key"),
    (f'format = "csv"\npath = "busy"\nmode = "upsert"\n{KEYED}', "sink.mode", "write one of"),
]  # fmt: skip


@pytest.mark.parametrize(("sink", "key", "said"), WRONG_SINKS)
def test_what_is_wrong_of_a_sink_by_key(sink, key, said, tmp_path):
    lines = errors_of(tmp_path, written(sink, without("stream")))
    assert [line for line in lines if f": {key}: " in line and said in line], lines


def test_a_batch_has_no_stream_to_remember(tmp_path):
    lines = errors_of(tmp_path, written(SQLITE + 'stream = "busy-1"\n', without("stream")))
    assert "is for a stream" in lines[0]
