"""Job files, checked whole before Spark starts."""

from __future__ import annotations

import re

import pytest

from fanlight.cli.jobs.document import InvalidJobError, read_document
from tests.cli.jobs import RIGHT, asking, errors_of, loaded, without, written
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
    assert job.query.columns == ("antenna", "window", "calls", "longest")
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
    (', delay = "1 minute"', "", "source.calls.watermark", "has no delay"),
    ("sql =", "sq1 =", "query.sq1", "write sql"),
    ("RANGE", "RNAGE", "query.sql", "line 2, column 22: RNAGE is not expected here; write RANGE"),
    ("MINUTE]", "MINUTE EMPTY ZERO]", "query.sql", "write EMPTY ZERO MAX 60"),
    ("MINUTE]", "MINUTE EMPTY LAST BETWEEN 1 AND 2]", "query.sql", "which is for a batch"),
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
    lines = errors_of(tmp_path, text)
    own = [line for line in lines if f": {key}: " in line]
    assert any(said in line for line in own), lines
    path, number, *_ = own[0].split(":")
    assert path == str(tmp_path / "busy.toml")
    head = key.rpartition(".")[2]
    assert head in text.splitlines()[int(number) - 1] or key in {"query", "sink"}


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_lines(tmp_path):
    text = changed("RANGE", "RNAGE").replace('"available now"', '"now"')
    text = text.replace('path = "calls"', 'path = "nowhere"')
    lines = errors_of(tmp_path, text)
    assert [line.split(": ")[1] for line in lines] == [
        "source.calls.path", "query.sql", "stream.trigger"
    ]  # fmt: skip


FIVE = [
    ('path = "calls"', 'paht = "nowhere"', "source.calls.paht"),
    ('format = "parquet"\npaht', 'format = "parqet"\npaht', "source.calls.format"),
    ('column = "ts", delay = "1 minute"', 'column = "tx", delay = "1 minit"',
     "source.calls.watermark.column"),
    ("[query]", "[quer]", "quer"),
    ("MINUTE]", "MINUTE EMPTY ZERO]", "quer.sql"),
    ('format = "parquet"\npath = "busy"', 'format = "sqlite"\nurl = 3\nkey = []', "sink.key"),
    ("[stream]", "[streams]", "streams"),
    ('trigger = "available now"', 'trigger = "now"', "streams.trigger"),
]  # fmt: skip


def test_no_mistake_hides_another(tmp_path):
    text = RIGHT
    for old, new, _ in FIVE:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    keys = [line.split(": ")[1] for line in errors_of(tmp_path, text)]
    assert set(keys) >= {key for _, _, key in FIVE}
    assert {"source.calls.watermark.delay", "sink.url", "sink"} < set(keys)


FORMER = """[query]
window = "Sliding"
range = "4 minutes"
slide = "1 minute"
time = "ts"
by = ["antenna"]
with_empty = "zero"
aggregates = { calls = "count()", longest = "max(seconds)" }
"""
AS_SQL = (
    "SELECT antenna, window, count(*) AS calls, max(seconds) AS longest "
    "FROM calls [WATTR ts PARTITION BY antenna RANGE 4 MINUTES SLIDE 1 MINUTE]"
)
PLAIN = "SELECT window, count(*) AS calls FROM calls [WATTR ts RANGE 1 HOUR SLIDE 1 MINUTE]"


@pytest.mark.parametrize(
    ("former", "write"),
    [
        (FORMER, AS_SQL),
        (
            FORMER.replace('"ts"', '["started", "ts"]').replace("Sliding", "Session"),
            AS_SQL.replace("WATTR ts", "SPAN started, ts"),
        ),
        ('[query]\naggregates = { n = "max(" }', PLAIN),
        ('[query]\nearly = true\nsource = "calls"', PLAIN),
        ("[query]\nrange = { rows = 10 }\nby = 3\ntime = []", PLAIN),
    ],
)
def test_keys_of_no_sql_are_told_once_with_the_query_to_write(tmp_path, former, write):
    """The query that is written can be read."""
    begin, end = RIGHT.index("[query]"), RIGHT.index("[sink]")
    (line,) = errors_of(tmp_path, f"{RIGHT[:begin]}{former}\n\n{RIGHT[end:]}")
    key = former.splitlines()[1].partition(" ")[0]
    assert f": query.{key}: is not a key here" in line
    assert line.endswith(f'write for example sql = "{write}"')
    assert loaded(tmp_path, asking(write))
    beside = errors_of(tmp_path, RIGHT.replace("[query]", former.rstrip()))
    assert [one.rpartition("; ")[2] for one in beside] == ["say it in the text of sql"]


def test_the_query_to_write_names_any_source(tmp_path):
    text = RIGHT.replace("[source.calls]", '[source."all calls"]')
    begin, end = text.index("[query]"), text.index("[sink]")
    (line,) = errors_of(tmp_path, f"{text[:begin]}[query]\ngap = 3\n\n{text[end:]}")
    write = PLAIN.replace("calls [", "`all calls` [")
    assert line.endswith(f'write for example sql = "{write}"')
    assert loaded(tmp_path, asking(write, text))


def keyed(sql, key, sink='format = "sqlite"\npath = "busy.db"\ntable = "busy"'):
    return asking(sql).replace('format = "parquet"\npath = "busy"', f"{sink}\nkey = {key}")


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
    lines = errors_of(tmp_path, text)
    assert [line.split(": ")[1] for line in lines] == ["sink.key"] * len(lacking)
    for line, name in zip(lines, sorted(lacking, reverse=lacking == ["x"]), strict=True):
        assert f"{name!r} is not a column of the query's result" in line


def test_what_lies_in_a_value_of_several_lines_is_no_key(tmp_path):
    text = 'note = """\n[query]\nsql = 3\n"""\n[source.calls]\nformat = "csv"\npath = "calls"\n'
    text += '[query]\nsql = [\n  1,\n]\n[sink]\nformat = "console"\n'
    lines = errors_of(tmp_path, text)
    assert lines[0].startswith(f"{tmp_path}/busy.toml:1: note: is not a key here")
    assert lines[1].startswith(f"{tmp_path}/busy.toml:9: query.sql: [1] is not")


def test_what_is_not_toml_is_told_with_its_line(tmp_path):
    lines = errors_of(tmp_path, "a = 1\nb = \n")
    assert lines[0].startswith(f"{tmp_path}/busy.toml:2: is not TOML")
    with pytest.raises(InvalidJobError, match="cannot be read"):
        read_document(tmp_path / "none.toml")


def test_an_empty_file_lacks_all_that_is_needed(tmp_path):
    lines = errors_of(tmp_path, "")
    assert [word in "\n".join(lines) for word in ("[source]", "[query]", "[sink]")] == [True] * 3


def test_a_sink_is_needed_to_run_alone(tmp_path):
    job = loaded(tmp_path, without("sink"), to_run=False)
    assert job.sink is None


def test_a_watermark_is_on_the_time_of_the_windows_over_its_source(tmp_path):
    """The watermark is on the stop of a pair; windows over a query have no time of a source."""
    source = RIGHT[RIGHT.index("[source.calls]") : RIGHT.index("[query]")]
    text = RIGHT.replace(source, source + source.replace("[source.calls]", "[source.lasting]"))
    windows = "FROM Lasting AS l [SPAN start, L.Stop RANGE 1 HOUR]"
    text = asking(
        "WITH a AS (SELECT window.end AS at, count(*) AS n FROM calls [WATTR ts RANGE 1 HOUR]) "
        f"SELECT sum(n) FROM a [WATTR at RANGE 1 DAY] UNION SELECT count(*) {windows}",
        text,
    )
    (line,) = errors_of(tmp_path, text)
    assert ": source.lasting.watermark.column: " in line
    assert "'ts' is not the time of the query; write column = 'Stop'" in line
    assert set(loaded(tmp_path, text.replace("Stop", "TS")).sources) == {"calls", "lasting"}


def test_paths_elsewhere_are_left_as_they_are(tmp_path):
    text = changed('path = "calls"', 'path = "s3a://bucket/calls"')
    assert loaded(tmp_path, text).sources["calls"].path == "s3a://bucket/calls"
    text = changed('path = "calls"', 'path = "call*/*.parquet"')
    assert loaded(tmp_path, text).sources["calls"].path == f"file://{tmp_path}/call*/*.parquet"


KAFKA = 'format = "kafka"\n[source.calls.options]\nkafka.bootstrap.servers = "h:1"\nsubscribe = "b"'


def test_options_of_a_connector_are_passed_through(tmp_path):
    query = 'sql = "SELECT * FROM calls [WATTR timestamp SESSION 1 MINUTE]"'
    text = f'[source.calls]\n{KAFKA}\n[query]\n{query}\n[sink]\nformat = "memory"\n'
    source = loaded(tmp_path, text).sources["calls"]
    assert source.options == {"kafka.bootstrap.servers": "h:1", "subscribe": "b"}
    lines = errors_of(tmp_path, text.replace('subscribe = "b"', ""))
    assert "options.subscribe" in lines[0]


PAGE = (ROOT / "docs/command_line.md").read_text("utf-8")
FENCES = re.findall(r"^```(toml|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_foretells_what_is_said_of_mistakes(tmp_path):
    (_, batch), (_, said), _ = FENCES
    wrong = batch.replace('"parquet"\npath = "calls"', '"parqet"\npath = "calls"')
    lines = errors_of(tmp_path, wrong.replace("RANGE", "RNAGE"))
    assert "\n".join(lines).replace(f"{tmp_path}/", "") == said.rstrip()


def test_the_page_has_all_keys_and_no_other(tmp_path):
    """A table whose keys are all wrong says which are known."""
    table = PAGE.partition("## All keys")[2].partition("\n\nCSV")[0]
    shown = set()
    for cell in re.findall(r"^\| (.+?) \|", table, re.MULTILINE):
        shown |= set(re.findall(r"`(\w+)`", cell))
    known = set()
    text = 'zz = 1\n[source.a]\nformat = "csv"\nzz = 1\n[source.b]\nformat = "table"\nzz = 1\n'
    text += '[query]\nsql = "SELECT 1"\n[sink]\nformat = "kafka"\nzz = 1\n[stream]\nzz = 1\n'
    text += '[source.c]\nformat = "csv"\n[source.d]\nformat = "replay"\nzz = 1\n'
    for sink in ("kafka", "sqlite", "postgresql"):
        for line in errors_of(tmp_path, text.replace("kafka", sink)):
            known |= set(re.findall(r"\w+", line.partition("known are ")[2]))
    tables = {"source", "query", "sink", "stream", "spark"}
    assert {*known, "sql"} - tables == shown - tables
    assert len(shown) >= 20


def test_lines_are_those_of_the_file(tmp_path):
    document = read_document(written(tmp_path))
    assert document.line_of(("spark", "sql", "shuffle", "partitions")) == line_of(RIGHT, "shuffle")
    assert document.line_of(("query", "sql")) == line_of(RIGHT, "sql = ")
    assert document.line_of(("sink", "none")) == line_of(RIGHT, "[sink]")
