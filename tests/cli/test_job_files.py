"""Job files, checked whole before Spark starts."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.cli.jobs import query
from fanlight.cli.jobs.document import InvalidJobError, read_document
from fanlight.engine.kinds import kind_of
from fanlight.language.aggregate_text import parse_aggregate
from tests.cli.jobs import RIGHT, loaded, told, without, written
from tests.helpers.house import ROOT


def changed(old, new):
    assert RIGHT.count(old) == 1, old
    return RIGHT.replace(old, new)


def line_of(text, part):
    (found,) = (n for n, line in enumerate(text.splitlines(), 1) if part in line)
    return found


def test_a_right_file_is_a_job(tmp_path):
    job = loaded(tmp_path)
    assert job.name == "busy"
    assert job.settings == {"spark.sql.shuffle.partitions": "2", "spark.master": "local[2]"}
    source = job.sources["calls"]
    assert (source.format, source.path) == ("parquet", f"file://{tmp_path}/calls")
    assert (source.watermark, source.heartbeat) == (("ts", "1 minute"), None)
    assert job.query.spec == fl.Sliding("4 minutes", "1 minute")
    assert (job.query.time, job.query.by) == ("ts", ("antenna",))
    assert job.query.aggregates["longest"].label == agg.max("seconds").label
    assert job.sink.path == f"file://{tmp_path}/busy"
    assert job.stream.trigger == {"availableNow": True}
    assert job.stream.checkpoint == f"file://{tmp_path}/checkpoint"


def test_a_heartbeat_may_leave_out_what_it_does_not_change(tmp_path):
    for given, taken in (("{}", {}), ('{ lag = "PT2M" }', {"lag": "2 minutes"})):
        text = changed('path = "calls"', f'path = "calls"\nheartbeat = {given}')
        assert loaded(tmp_path, text).sources["calls"].heartbeat == taken


def test_without_stream_it_is_a_batch(tmp_path):
    assert loaded(tmp_path, without("stream")).stream is None


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("available now", {"availableNow": True}),
        ("once", {"once": True}),
        ("30 seconds", {"processingTime": "30 seconds"}),
        ("PT90S", {"processingTime": "90 seconds"}),
        ("0 minutes", {"processingTime": "0 seconds"}),
    ],
)
def test_triggers(text, trigger, tmp_path):
    assert loaded(tmp_path, changed("available now", text)).stream.trigger == trigger


# (what is changed, into what, the key or table that is named, what is said)
WRONG = [
    ('name = "busy"', "name = 3", "name", "3 is not"),
    ('name = "busy"', 'nam = "busy"', "nam", "write name"),
    ("[source.calls]", "[sauce.calls]", "sauce", "write source"),
    ("[query]", "[quer]", "quer", "write query"),
    ("[sink]", "[sinks]", "sinks", "write sink"),
    ("[stream]", "[streams]", "streams", "write stream"),
    ("[source.calls]", "[source]", "source", "names no source; write [source.calls]"),
    ('path = "calls"', 'paht = "calls"', "source.calls.paht", "write path"),
    ('path = "calls"', 'path = "nowhere"', "source.calls.path", "does not exist"),
    ('path = "calls"', 'path = ""', "source.calls.path", "is empty"),
    ('path = "calls"', 'path = ["calls"]', "source.calls.path", "is not"),
    ('format = "parquet"\npath = "calls"', 'format = "parqet"\npath = "calls"',
     "source.calls.format", 'write "parquet"'),
    ('format = "parquet"\npath = "calls"', 'path = "calls"', "source.calls", "has no format"),
    ('format = "parquet"\npath = "calls"', 'format = "table"\ntable = 3', "source.calls.table",
     "3 is not"),
    ('schema = "ts timestamp, antenna string, seconds long"', "", "source.calls", "has no schema"),
    ('watermark = { column = "ts", delay = "1 minute" }', "", "source.calls", "has no watermark"),
    ('{ column = "ts", delay', '{ column = "tx", delay', "source.calls.watermark.column",
     "write column = 'ts'"),
    ('delay = "1 minute"', 'delay = "1 minit"', "source.calls.watermark.delay",
     "unknown unit 'minit'"),
    ('{ column = "ts", delay = "1 minute" }', '"1 minute"', "source.calls.watermark",
     "is not a table; write watermark = { column = …, delay = … }"),
    ('slide = "1 minute"', 'every = "1 minute"', "query.every", "write slide"),
    ('range = "4 minutes"\nslide = "1', 'period = "4 minutes"\nevery = "1', "query.period",
     "write range"),
    ('by = ["antenna"]', 'partition_by = ["antenna"]', "query.partition_by", "write by"),
    ('by = ["antenna"]', 'max_gap = "1 minute"', "query.max_gap", "is not a key"),
    (', delay = "1 minute"', "", "source.calls.watermark", "has no delay"),
    ('window = "Sliding"', 'window = "Slidng"', "query.window", 'write "Sliding"'),
    ('window = "Sliding"', "", "query", "has neither sql nor window"),
    ('window = "Sliding"', 'window = "Sliding"\nsql = "SELECT 1"', "query.window",
     "does not go with sql"),
    ('range = "4 minutes"', "", "query", "has no range"),
    ('range = "4 minutes"', 'range = "4 minuts"', "query.range", "4 minuts"),
    ('slide = "1 minute"', 'slide = "0 minutes"', "query.slide", "must be positive"),
    ('slide = "1 minute"', 'slid = "1 minute"', "query.slid", "write slide"),
    ('slide = "1 minute"', "slide = { rows = 0 }", "query.slide", "0"),
    ('time = "ts"', "", "query", "has no time"),
    ('time = "ts"', 'time = ["a", "b", "c"]', "query.time", "not a pair"),
    ('by = ["antenna"]', "by = [3]", "query.by", "is not a list of columns"),
    ('by = ["antenna"]', 'late = "keep"', "query.late", "drop, open"),
    ('by = ["antenna"]', 'forget_after = "30 dyas"', "query.forget_after", "unknown unit"),
    ('by = ["antenna"]', "forget_after = 0", "query.forget_after", "must be positive"),
    ('by = ["antenna"]', 'with_empty = "zero"', "query.with_empty", "has no most, which says how"),
    ('by = ["antenna"]', "with_empty = { most = 60 }", "query.with_empty", "has no values"),
    ('by = ["antenna"]', 'with_empty = { values = "zero", most = true }', "query.with_empty.most",
     "is not a number of windows"),
    ('by = ["antenna"]', 'with_empty = { values = "zero", between = [1, 2] }', "query.with_empty",
     "is for a batch"),
    ('by = ["antenna"]', 'with_empty = "none"', "query.with_empty",
     "write one of null, zero, last, linear"),
    ('by = ["antenna"]', "with_empty = 0", "query.with_empty", "is not"),
    ('by = ["antenna"]', 'with_empty = { values = "last", between = [1] }',
     "query.with_empty.between", "is not a start and an end"),
    ('by = ["antenna"]', 'with_empty = { values = "last", keys = "k" }', "query.with_empty.keys",
     "is not a key"),
    ('by = ["antenna"]', "complete_only = []", "query.complete_only", "is not true, or a table"),
    ('by = ["antenna"]', 'complete_only = { side = "left" }', "query.complete_only.side",
     "write one of both, start, end"),
    ('by = ["antenna"]', 'source = "bids"', "query.source", "calls"),
    ('by = ["antenna"]', 'using = { rate = "fast" }', "query.using.rate", "is not a number"),
    ('by = ["antenna"]', "using = { speed = 3 }", "query.using.speed", "is not a key"),
    ('calls = "count()"', 'calls = "maximum(seconds)"', "query.aggregates.calls", "maximum is not"),
    ('calls = "count()"', 'calls = "count("', "query.aggregates.calls", "is never closed"),
    ('calls = "count()"', 'calls = "max(seconds + 1)"', "query.aggregates.calls",
     "is not a column"),
    ('calls = "count()"', 'calls = "max()"', "query.aggregates.calls", "column"),
    ('calls = "count()"', "calls = 3", "query.aggregates.calls", "3 is not"),
    ('[query.aggregates]\ncalls = "count()"\nlongest = "max(seconds)"', "", "query",
     "has no aggregates"),
    ('format = "parquet"\npath = "busy"', 'format = "xml"', "sink.format", "write one of parquet"),
    ('format = "parquet"\npath = "busy"', 'format = "parquet"', "sink", "has no path"),
    ('format = "parquet"\npath = "busy"', 'format = "kafka"', "sink", "has no option topic"),
    ('path = "busy"', 'path = "busy"\nmode = "append"', "sink.mode", "a stream appends"),
    ('path = "busy"', 'path = "busy"\nmode = "update"', "sink.mode",
     "none earlier in another mode"),
    ('trigger = "available now"', 'trigger = "availableNow"', "stream.trigger",
     'write "available now"'),
    ('trigger = "available now"', 'trigger = "available"', "stream.trigger", "available now"),
    ('trigger = "available now"', 'trigger = "once"\noutput_mode = "update"', "stream.output_mode",
     "a stream appends"),
    ('path = "calls"', 'path = "calls"\nheartbeat = { evry = "1 second" }',
     "source.calls.heartbeat.evry", "write every"),
    ('path = "calls"', 'path = "calls"\nheartbeat = { lag = "1 mont" }',
     "source.calls.heartbeat.lag", "unknown unit"),
    ('path = "busy"', 'path = "busy"\noptions = { a = [1] }', "sink.options.a", "is not a text"),
    ('trigger = "available now"', "", "stream", "has no trigger"),
    ('trigger = "available now"', 'trigger = "sometimes"', "stream.trigger", "not a duration"),
    ('trigger = "available now"', 'trigger = "1 month"', "stream.trigger", "calendar unit"),
    ('trigger = "available now"', 'trigger = "-1 hour"', "stream.trigger", "is negative"),
    ('checkpoint = "checkpoint"', "", "stream", "has no checkpoint"),
    ("sql.shuffle.partitions = 2", "sql.shuffle.partitions = [2]",
     "spark.sql.shuffle.partitions", "is not a text"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "key", "said"), WRONG, ids=[f"{k}-{n}" for n, (_, _, k, _) in enumerate(WRONG)]
)
def test_what_is_wrong_is_named_by_file_line_and_key(old, new, key, said, tmp_path):
    text = changed(old, new)
    lines = told(tmp_path, text)
    own = [line for line in lines if f": {key}: " in line]
    assert any(said in line for line in own), lines
    path, number, *_ = own[0].split(":")
    assert path == str(tmp_path / "busy.toml")
    head = key.rpartition(".")[2]
    assert head in text.splitlines()[int(number) - 1] or key in {"query", "sink"}


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_lines(tmp_path):
    text = changed('window = "Sliding"', 'window = "Slidng"').replace('"available now"', '"now"')
    text = text.replace('path = "calls"', 'path = "nowhere"')
    lines = told(tmp_path, text)
    assert [line.split(": ")[1] for line in lines] == [
        "source.calls.path", "query.window", "stream.trigger"
    ]  # fmt: skip


FIVE = [
    ('path = "calls"', 'paht = "nowhere"', "source.calls.paht"),
    ('format = "parquet"\npaht', 'format = "parqet"\npaht', "source.calls.format"),
    ('column = "ts", delay = "1 minute"', 'column = "tx", delay = "1 minit"',
     "source.calls.watermark.column"),
    ("[query]", "[quer]", "quer"),
    ("[query.aggregates]", "[quer.aggregates]", "quer"),
    ('window = "Sliding"', 'window = "Slidng"', "quer.window"),
    ('time = "ts"', 'time = "ts"\nlate = "keep"', "quer.late"),
    ('calls = "count()"', 'calls = "maximum(seconds)"', "quer.aggregates.calls"),
    ('format = "parquet"\npath = "busy"', 'format = "sqlite"\nurl = 3\nkey = []', "sink.key"),
    ("[stream]", "[streams]", "streams"),
    ('trigger = "available now"', 'trigger = "now"', "streams.trigger"),
]  # fmt: skip


def test_no_mistake_hides_another(tmp_path):
    text = RIGHT
    for old, new, _ in FIVE:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    keys = [line.split(": ")[1] for line in told(tmp_path, text)]
    assert set(keys) >= {key for _, _, key in FIVE}
    assert {"source.calls.watermark.delay", "sink.url", "sink"} < set(keys)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('range = "4 minuts"\nslide = "0 minutes"\noffset = true', ["range", "slide", "offset"]),
        ('range = "4 minuts"\nslide = { rows = 1 }', ["range"]),
        ('range = "4 minutes"\nslide = { rows = 0 }', ["slide"]),
        ('slide = "1 minit"', ["slide", ""]),
        ("range = [1]\nslide = 2.5", ["range"]),
    ],
)
def test_each_wrong_argument_of_a_window_is_told(text, keys, tmp_path):
    wrong = changed('range = "4 minutes"\nslide = "1 minute"', text)
    found = [line.split(": ")[1] for line in told(tmp_path, wrong)]
    assert sorted(found) == sorted(f"query.{key}".rstrip(".") for key in keys)


def test_each_wrong_level_is_told(tmp_path):
    text = 'window = "MultiGranular"\nranges = ["1 minit", "1 hour", 0]\nslides = ["x", "1 hour"]'
    old = 'window = "Sliding"\nrange = "4 minutes"\nslide = "1 minute"'
    lines = told(tmp_path, changed(old, text))
    assert [line.split(": ")[1] for line in lines] == ["query.ranges"] * 2 + ["query.slides"]
    levels = text.replace('"1 minit"', '"1 minute"').replace(", 0]", "]").replace('"x", ', "")
    assert "2 ranges but 1 slides" in told(tmp_path, changed(old, levels))[0]
    for half_life, why in (('"0 minutes"', "must be positive"), ("10", "is a number, but")):
        weighted = levels.replace('["1 hour"]', '["1 minute", "1 hour"]')
        weighted += f"\nweights = {{ half_life = {half_life} }}"
        (line,) = told(tmp_path, changed(old, weighted))
        assert line.split(": ")[1] == "query.weights"
        assert why in line


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('1h = { rang = "1 hour" }', "1h.rang", "write range"),
        ('1h = { range = "1 hour" }\n2h = { range = "2 hors" }', "2h.range", "unknown unit 'hors'"),
        ('1h = { delay = "-1 hour" }', "1h.delay", "from after the row"),
        ('1h = { range = "1 hour", late = 3 }', "1h.late", "is not a key here; known are closed"),
        ('1h = "1 hour"', "1h", "is not a table"),
        ('"" = { range = "1 hour" }', "", "lacks a label; write for example 1h"),
        ("", "", "lacks a label; write for example 1h"),
    ],
)
def test_each_wrong_window_of_several_is_told(text, key, said, tmp_path):
    wrong = changed('window = "Sliding"\nrange = "4 minutes"\nslide = "1 minute"',
                    'window = "Trailing"')  # fmt: skip
    (line,) = told(tmp_path, wrong.replace("[sink]", f"[query.labels]\n{text}\n\n[sink]"))
    assert line.split(": ")[1] == f"query.labels.{key}".rstrip(".")
    assert said in line


def test_an_argument_stands_with_its_label(tmp_path):
    wrong = changed('window = "Sliding"', 'window = "Trailing"\nlabels = { all = {} }')
    lines = [line.partition(": ")[2] for line in told(tmp_path, wrong)]
    assert lines == [
        "query.range: stands beside labels; write it after each of them",
        lines[1],
    ]
    assert lines[1].startswith("query.slide: is not a key here; known are")


def keyed(sql, key, sink='format = "sqlite"\npath = "busy.db"\ntable = "busy"'):
    begin, end = RIGHT.index('window = "Sliding"'), RIGHT.index("[sink]")
    text = RIGHT[:begin] + f'sql = """{sql}"""\n\n' + RIGHT[end:]
    return text.replace('format = "parquet"\npath = "busy"', f"{sink}\nkey = {key}")


CLAUSE = "FROM calls [WATTR ts RANGE 1 HOUR] GROUP BY antenna"


@pytest.mark.parametrize(
    ("sql", "key", "lacking"),
    [
        (f"SELECT antenna, count(*) AS n {CLAUSE}", '["antenna", "window"]', ["window"]),
        (f"SELECT antenna, count(*) {CLAUSE}", '["x", "window"]', ["x", "window"]),
        (f"SELECT antenna, window, count(*) AS n {CLAUSE}", '["antenna", "window"]', []),
        (
            f"SELECT c.antenna, window.end AS at, max(seconds) {CLAUSE.replace(' [', ' c [')}",
            '["antenna", "at"]',
            [],
        ),
        (f"SELECT * {CLAUSE}", '["antenna", "nobody knows yet"]', []),
        (
            f"WITH w AS (SELECT window, count(*) AS n {CLAUSE}) SELECT n FROM w",
            '"window"',
            ["window"],
        ),
        (
            f"(SELECT antenna AS a, window {CLAUSE}) UNION SELECT 1, 2",
            '["a", "antenna"]',
            ["antenna"],
        ),
        (
            "SELECT antenna, count(*) AS n FROM calls [WATTR ts TRAILING 1 HOUR AS h]",
            '["antenna", "n_h"]',
            [],
        ),
        (f"SELECT explode(array(1)), 'window', window {CLAUSE}", '["col", "window"]', []),
    ],
)
def test_a_key_of_the_sink_is_a_column_of_the_query(sql, key, lacking, tmp_path):
    text = keyed(sql, key)
    if not lacking:
        assert loaded(tmp_path, text).sink.upsert
        return
    lines = told(tmp_path, text)
    assert [line.split(": ")[1] for line in lines] == ["sink.key"] * len(lacking)
    for line, name in zip(lines, sorted(lacking, reverse=lacking == ["x"]), strict=True):
        assert f"{name!r} is not a column of the query's result" in line


@pytest.mark.parametrize("key", ["window", "antenna", "calls", "longest", "level"])
def test_a_key_of_the_sink_is_a_column_of_the_fields(key, tmp_path):
    sink = 'format = "sqlite"\npath = "busy.db"\ntable = "busy"'
    text = changed('format = "parquet"\npath = "busy"', f'{sink}\nkey = ["{key}"]')
    if key == "level":
        assert "'level' is not a column" in told(tmp_path, text)[0]
    else:
        assert loaded(tmp_path, text)


def test_a_text_in_sql_is_read_before_spark_starts(tmp_path):
    text = keyed(f"SELECT count(*) AS n {CLAUSE.replace('RANGE', 'RNAGE')}", '["n"]')
    said = "\n".join(told(tmp_path, text.replace('"available now"', '"now"')))
    assert "query.sql: line 1, column" in said
    assert "RNAGE is not expected here; write RANGE" in said
    assert "stream.trigger" in said


def test_what_lies_in_a_value_of_several_lines_is_no_key(tmp_path):
    text = 'note = """\n[query]\nsql = 3\n"""\n[source.calls]\nformat = "csv"\npath = "calls"\n'
    text += '[query]\nsql = [\n  1,\n]\n[sink]\nformat = "console"\n'
    lines = told(tmp_path, text)
    assert lines[0].startswith(f"{tmp_path}/busy.toml:1: note: is not a key here")
    assert lines[1].startswith(f"{tmp_path}/busy.toml:9: query.sql: [1] is not")


def test_what_is_not_toml_is_told_with_its_line(tmp_path):
    lines = told(tmp_path, "a = 1\nb = \n")
    assert lines[0].startswith(f"{tmp_path}/busy.toml:2: is not TOML")
    with pytest.raises(InvalidJobError, match="cannot be read"):
        read_document(tmp_path / "none.toml")


def test_an_empty_file_lacks_all_that_is_needed(tmp_path):
    lines = told(tmp_path, "")
    assert [word in "\n".join(lines) for word in ("[source]", "[query]", "[sink]")] == [True] * 3


def test_a_sink_is_needed_to_run_alone(tmp_path):
    job = loaded(tmp_path, without("sink"), to_run=False)
    assert job.sink is None


def test_several_sources_one_of_which_is_windowed(tmp_path):
    more = '[source.other]\nformat = "json"\npath = "calls"\n\n[query]'
    text = without("stream").replace("[query]", more)
    assert "does not say which source" in told(tmp_path, text)[0]
    job = loaded(tmp_path, text.replace('time = "ts"', 'time = "ts"\nsource = "other"'))
    assert job.query.source == "other"
    assert set(job.sources) == {"calls", "other"}


def test_paths_elsewhere_are_left_as_they_are(tmp_path):
    text = changed('path = "calls"', 'path = "s3a://bucket/calls"')
    assert loaded(tmp_path, text).sources["calls"].path == "s3a://bucket/calls"
    text = changed('path = "calls"', 'path = "call*/*.parquet"')
    assert loaded(tmp_path, text).sources["calls"].path == f"file://{tmp_path}/call*/*.parquet"


KAFKA = 'format = "kafka"\n[source.calls.options]\nkafka.bootstrap.servers = "h:1"\nsubscribe = "b"'


def test_options_of_a_connector_are_passed_through(tmp_path):
    session = 'window = "Session"\ngap = "1 minute"\ntime = "timestamp"'
    text = f'[source.calls]\n{KAFKA}\n[query]\n{session}\n[sink]\nformat = "memory"\n'
    source = loaded(tmp_path, text).sources["calls"]
    assert source.options == {"kafka.bootstrap.servers": "h:1", "subscribe": "b"}
    lines = told(tmp_path, text.replace('subscribe = "b"', ""))
    assert "options.subscribe" in lines[0]


WINDOWS = [
    ('window = "Session"\ngap = "5 minutes"', fl.Session("5 minutes")),
    ('window = "Sliding"\nrange = { rows = 10 }', fl.Sliding(fl.Rows(10))),
    ('window = "ThresholdFrame"\npredicate = "seconds > 1"', fl.ThresholdFrame("seconds > 1")),
    ('window = "AggregateFrame"\naggregate = "sum(seconds)"\nlimit = 10',
     fl.AggregateFrame(agg.sum("seconds"), 10)),
    ('window = "BoundaryFrame"\ncells = { seconds = 10 }', fl.BoundaryFrame({"seconds": 10})),
    ('window = "BoundaryFrame"\ncells = { seconds = 10 }\noverlapping = true\nmax_gap = "1 minute"',
     fl.BoundaryFrame({"seconds": 10}, overlapping=True, max_gap="1 minute")),
    ('window = "StateFrame"\nstate = ["antenna", "seconds > 1"]\nmax_gap = "1 minute"',
     fl.StateFrame(["antenna", "seconds > 1"], max_gap="1 minute")),
    ('window = "DeltaFrame"\ndeltas = { rows = 10 }', fl.DeltaFrame({"rows": 10})),
    ('window = "MultiGranular"\nranges = ["1 minute", "1 hour"]\nslides = ["1 minute", "1 minute"]',
     fl.MultiGranular(["1 minute", "1 hour"], ["1 minute", "1 minute"])),
    ('zone="UTC"\nranges=["1 day", "2 days"]\nslides=["1 day", "1 day"]\nwindow="MultiGranular"',
     fl.MultiGranular(["1 day", "2 days"], ["1 day", "1 day"], zone="UTC")),
    ('window="MultiGranular"\nranges=[1, 2]\nslides=[1, 1]\nweights = { half_life = 3 }',
     fl.MultiGranular([1, 2], [1, 1], weights=fl.decay(3))),
    ("""window="MultiGranular"\nranges=[{rows=1}, {rows=9}]\nslides=[{rows=1}, {rows=1}]
     weights.half_life.rows=3""",
     fl.MultiGranular([fl.Rows(1), fl.Rows(9)], [fl.Rows(1)] * 2, weights=fl.decay(fl.Rows(3)))),
    ('window = "Trailing"\nrange = "1 hour"\ndelay = "1 day"\nclosed = "left"',
     fl.Trailing("1 hour", delay="1 day", closed="left")),
    ('window = "Trailing"\nlabels.1h.range = "1 hour"\nlabels."a.b".range.rows = 3\nlabels.x = {}',
     {"1h": fl.Trailing("1 hour"), "a.b": fl.Trailing(fl.Rows(3)), "x": fl.Trailing()}),
    ('window = "Snapshot"\nmin_duration = "1 minute"\nmerge_equal = true',
     fl.Snapshot(min_duration="1 minute", merge_equal=True)),
    ('window = "Calendar"\nrange = "3 months"\nslide = "1 month"\nzone = "Europe/Berlin"',
     fl.Calendar("3 months", "1 month", zone="Europe/Berlin")),
    ('window = "Cumulative"\nrange = "1 month"\nslide = "1 day"\nzone = "Europe/Berlin"',
     fl.Cumulative("1 month", "1 day", zone="Europe/Berlin")),
    ('window = "PredicateFrame"\nopen = "seconds > 1"\nclose = "seconds < 1"',
     fl.PredicateFrame("seconds > 1", "seconds < 1")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "spec"), WINDOWS, ids=[str(spec)[:20] for _, spec in WINDOWS])
def test_every_kind_of_window_is_written_as_in_the_api(text, spec, tmp_path):
    old = 'window = "Sliding"\nrange = "4 minutes"\nslide = "1 minute"'
    assert loaded(tmp_path, changed(old, text)).query.spec == spec


def test_no_kind_of_window_is_forgotten():
    tried = {kind_of(spec).name for _, spec in WINDOWS}
    assert tried == set(query.window_kinds())
    kinds = {n for n in fl.__all__ if n.endswith("Frame")} | {
        "Calendar", "Cumulative", "Session", "Sliding", "MultiGranular", "Snapshot",
        "Trailing",
    }  # fmt: skip
    assert set(query.window_kinds()) == kinds


def test_frames_need_no_aggregates(tmp_path):
    text = changed('window = "Sliding"\nrange = "4 minutes"\nslide = "1 minute"',
                   'window = "Session"\ngap = "1 minute"')  # fmt: skip
    text = text.replace('[query.aggregates]\ncalls = "count()"\nlongest = "max(seconds)"', "")
    assert loaded(tmp_path, text).query.aggregates == {}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("count()", agg.count()),
        ("count( * )", agg.count()),
        ("'max'(x)", None),
        ("max('a b')", agg.max("a b")),
        ("percentile(x, [0.5, 0.9])", agg.percentile("x", [0.5, 0.9])),
        ("first(x, ignorenulls=True)", agg.first("x", ignorenulls=True)),
        ("max_by(x, y)", agg.max_by("x", "y")),
        ("__import__('os')", None),
        ("Sum()", None),
        ("max(open('f'))", None),
        ("percentile(x, 2)", None),
        ("percentile(x, percentage=0.9)", agg.percentile("x", 0.9)),
        ("percentile(percentage = [0.5, 0.9,], column = x)", agg.percentile("x", [0.5, 0.9])),
        ("percentile(x, (0.5, 0.9))", agg.percentile("x", [0.5, 0.9])),
        ("percentile(x, (0.5))", agg.percentile("x", 0.5)),
        ("percentile(x, 0.5, percentage=0.9)", None),
        ("percentile(x, 0.5, wrong=1)", None),
        ("percentile(x, p)", None),
        ("percentile_cont([0.5]) WITHIN GROUP (ORDER BY x)", agg.percentile("x", [0.5])),
        ("mode() WITHIN GROUP (ORDER BY x DESC)", None),
        ("listagg(x) WITHIN GROUP (ORDER BY ts)", None),
        ("histogram_numeric(x)", None),
        ("approx_percentile(x, 0.5, 1_000)", agg.approx_percentile("x", 0.5, 1000)),
        ("approx_percentile(x, 0.5, accuracy => 0x10)", agg.approx_percentile("x", 0.5, 16)),
        ("approx_percentile(x, +0.5, -1)", None),
        ("max_by(ord=x, column='a b',)", agg.max_by("a b", "x")),
        ("count('a b')", agg.count("a b")),
        ("count(*)", agg.count()),
        ("count(x)", agg.count("x")),
        ("count(DISTINCT x, y)", agg.count_distinct("x", "y")),
        ("count_distinct(x, y)", agg.count_distinct("x", "y")),
        ("listagg(x, ', ')", agg.listagg("x", ", ")),
        ("concat(x, ', ')", None),
        ("string_agg(x, delimiter=r'\\d')", agg.string_agg("x", r"\\d")),
        ("stddev(x)", agg.stddev("x")),
        ("first(x) IGNORE NULLS", agg.first("x", ignorenulls=True)),
        ("max((x))", agg.max("x")),
        ("max(all)", agg.max("all")),
        ("count(distinct)", agg.count("distinct")),
        (r"max('caf\u00e9 \U0001f600')", agg.max("café 😀")),
        ("medain(x)", None),
        ("max(`a b`.c)", agg.max("a b.c")),
        ("max(x == y)", None),
        ("max(x = y)", None),
        ("max(x,, y)", None),
        ("max(x) FILTER (WHERE x > 1)", agg.max("x").where("x > 1")),
        ("count(*) FILTER (WHERE kind = 'a')", agg.count().where("kind = 'a'")),
        ("max(x) FILTER (x > 1)", None),
        ("max(x) OVER ()", None),
        ("max(x) + 1", None),
        ("max(min(x))", None),
        ("agg.max(x)", None),
        ("max", None),
        ("max(x) max(y)", None),
        ("nth_smallest(x, None)", None),
        ("", None),
    ],
)
def test_aggregates_as_text(text, made):
    if made is None:
        with pytest.raises(fl.FanlightError):
            parse_aggregate(text)
    else:
        found = parse_aggregate(text)
        assert (found.label, found.columns) == (made.label, made.columns)
        assert found.conditions == made.conditions


PAGE = (ROOT / "docs/command_line.md").read_text("utf-8")
FENCES = re.findall(r"^```(toml|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_foretells_what_is_said_of_mistakes(tmp_path):
    (_, batch), (_, said), _ = FENCES
    wrong = batch.replace('"parquet"\npath = "calls"', '"parqet"\npath = "calls"')
    lines = told(tmp_path, wrong.replace("Sliding", "Slidng"))
    assert [line.removeprefix(f"{tmp_path}/") for line in lines] == said.splitlines()


def test_the_page_has_all_keys_and_no_other(tmp_path):
    """A table whose keys are all wrong says which are known."""
    table = PAGE.partition("## All keys")[2].partition("\n\nCSV")[0]
    shown = set()
    for cell in re.findall(r"^\| (.+?) \|", table, re.MULTILINE):
        shown |= set(re.findall(r"`(\w+)`", cell))
    known = set()
    text = 'zz = 1\n[source.a]\nformat = "csv"\nzz = 1\n[source.b]\nformat = "table"\nzz = 1\n'
    text += '[query]\nsql = "x"\nzz = 1\n[sink]\nformat = "kafka"\nzz = 1\n[stream]\nzz = 1\n'
    text += '[source.c]\nformat = "csv"\n[source.d]\nformat = "replay"\nzz = 1\n'
    for sink in ("kafka", "sqlite", "postgresql"):
        for line in told(tmp_path, text.replace("kafka", sink)):
            known |= set(re.findall(r"\w+", line.partition("known are ")[2]))
    tables = {"source", "query", "sink", "stream", "spark"}
    assert known - tables == shown - tables
    assert len(shown) >= 20


def test_lines_are_those_of_the_file(tmp_path):
    document = read_document(written(tmp_path))
    assert document.line_of(("spark", "sql", "shuffle", "partitions")) == line_of(RIGHT, "shuffle")
    assert document.line_of(("query", "aggregates")) == line_of(RIGHT, "[query.aggregates]")
    assert document.line_of(("sink", "none")) == line_of(RIGHT, "[sink]")
