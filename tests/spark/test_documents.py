"""The examples in the documents, run as they stand, from the top of each page to its end.

Pages that make no data of their own go on from the first example of `Getting started`, which makes
`calls`. A result that a page leaves to the reader must have rows.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

import fanlight as fl
from fanlight import agg
from tests.helpers.house import ROOT
from tests.spark.documents import FENCE, START, examples, run, start_of

OWN_DATA = [
    "README.md",
    START,
    "docs/start.md",
    "docs/bars.md",
    "docs/calendar.md",
    "docs/patterns.md",
]
FURTHER = [
    "sliding", "multi_granular", "spanning", "frames", "session", "trailing", "as_of", "snapshots",
    "windows_over_windows", "early", "pieces", "cumulative", "suggest", "widening", "plots", "sql",
    "sources_and_sinks", "watching", "what_needs_what", "recipes", "dataframes", "names", "held",
]  # fmt: skip
PAGES = [*OWN_DATA, *(f"docs/{name}.md" for name in FURTHER)]
MADE = "SparkSession.builder"  # in the first example of a page: whoever begins there has only that
ZONES = ["UTC", "America/New_York"]
COMPARED = "docs/replace.md"  # run by test_replace.py, which compares its pairs

# Blocks that nothing can run, by what their fence says they are.
NOT_RUN = {
    "README.md": {"sh", "diff"},
    # its job files: tests/cli
    "docs/command_line.md": {"sh", "toml"},
    # its project: tests/packaging/test_dbt.py, and its model: test_dbt_model.py
    "docs/dbt.md": {"py", "yaml", "sql"},
    "docs/airflow.md": {"py"},  # needs Airflow
    "docs/sail.md": {"sh"},
    "docs/getting_started.md": {"sh"},
    "docs/how_it_works.md": {"drawing", "notation"},
    "docs/multi_granular.md": {"plan"},
    "docs/session.md": {"drawing"},
    "docs/replace.md": {"py"},
    "docs/spanning.md": {"drawing", "py"},  # its stream: test_running_streams.py
    "docs/sources_and_sinks.md": {"toml"},  # its job: tests/cli
    "docs/start.md": {"sh"},
    "docs/watching.md": {"sh"},
    # its pipeline: test_pipelines.py
    "docs/what_needs_what.md": {"told", "py", "yaml"},
    "docs/widening.md": {"drawing", "notation"},
    "docs/windows_over_windows.md": {"drawing", "py"},  # law/test_compositions.py postpones
    "docs/sql.md": {"sh", "sql"},  # each query is run by test_sql.py
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("page_session", ZONES, indirect=True)
def test_page(page, page_session):
    """On a session that nobody has configured but the page itself: it says all that it needs."""
    text = (ROOT / page).read_text("utf-8")
    names: dict = {"__name__": "__page__"}
    if page not in OWN_DATA:
        run(START, start_of((ROOT / START).read_text("utf-8")), names)
    assert examples(text)
    if MADE in examples(text)[0].source:
        page_session()
    assert run(page, text, names) == []


def test_every_page_with_examples_is_run():
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    texts = {page: (ROOT / page).read_text("utf-8") for page in ["README.md", *pages]}
    assert {page for page, text in texts.items() if examples(text)} == {*PAGES, COMPARED}
    kinds = {page: {fence[1] for fence in FENCE.finditer(text)} for page, text in texts.items()}
    told = {"python", "text", "pycon"}  # pycon: the docstrings' own, which test_doctests.py runs
    unrun = {page: found - told for page, found in kinds.items()}
    assert {page: found for page, found in unrun.items() if found} == NOT_RUN
    assert {page for page, found in kinds.items() if "pycon" in found} == {"docs/aggregates.md"}
    assert {page: indented(text) for page, text in texts.items() if indented(text)} == {}


def indented(text: str) -> list[str]:
    """Lines of code without a fence, of which nothing says whether they run."""
    return re.findall(r"(?<=\n\n) {4}.+", FENCE.sub("", text))


def test_code_without_a_fence_is_seen():
    assert indented("a\n\n    code\n\nb\n    more\n") == ["    code"]
    assert indented("a\n\n```python\nif x:\n\n    y\n```\n") == []


def stream_of(session, of="timestamp"):
    stream = session.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    return stream.selectExpr("timestamp", f"{of} as ts", "value as v")


def in_mode(mode, **more):
    def start(session, tmp_path):
        sliding = fl.Sliding("1 hour", "5 minutes")
        stream = session.readStream.schema("ts timestamp").parquet(str(tmp_path))
        windows = fl.over(stream.withWatermark("ts", "1 minute"), sliding, time="ts", **more)
        writer = windows.agg(agg.count()).writeStream.outputMode(mode).format("noop")
        writer.option("checkpointLocation", str(tmp_path / "to")).trigger(once=True).start().stop()

    return start


def of_running(one):
    return lambda session, _: (
        fl.over(stream_of(session), fl.Sliding("1 hour"), time=("ts", "timestamp"))
        .running(id="v", max_duration="6 hours")
        .agg(one)
    )


def of_rows(session):
    return fl.over(stream_of(session), fl.Sliding(fl.Rows(3)), time="ts")


# What pages say is missing or refused: their words, and attempts, each of which has to fail.
MISSING = {
    ("ROADMAP.md", "when an event ends, such as `agg.overlap` and `agg.peak`"): [
        of_running(agg.overlap()), of_running(agg.peak()),
    ],
    ("ROADMAP.md", "Streams over times without time zone and over numbers"): [
        lambda session, _: fl.over(
            stream_of(session, of="cast(timestamp as timestamp_ntz)"), fl.Sliding("1 hour"),
            time="ts",
        ).agg(agg.count()),
        lambda session, _: fl.over(stream_of(session), fl.Sliding(10), time="v").agg(agg.count()),
    ],
    ("docs/comparison.md", "the output mode `complete` where windows overlap"): [
        in_mode("complete"),
    ],
    ("docs/replace.md", "The output mode is `append`; for `update`"): [in_mode("update")],
    ("docs/comparison.md", "and no quantifiers"): [
        lambda *_: fl.Episode("busy+; answered", event="outcome"),
    ],
    ("docs/comparison.md", "interpolation between rows, and speed"): [
        lambda *_: agg.interpolate, lambda *_: fl.interpolate,
    ],
    ("docs/replace.md", "going back from the next value fanlight does not have"): [
        lambda session, _: fl.over(session.range(9), fl.Sliding(2), time="id").with_empty("next"),
    ],
    ("docs/frames.md", "`max_rows`, `max_duration` and `max_gap` are refused"): [
        *(lambda session, _, limit=limit: native(session, fl.StateFrame("x", **{limit: 3}))
          for limit in ("max_rows", "max_duration", "max_gap")),
    ],
    ("docs/pieces.md", "is refused: store both"): [
        lambda session, _: fl.over(rare(session), fl.Sliding(3), time="at").pieces(
            agg.sum("x") / agg.count()
        ),
    ],
    ("docs/trailing.md", '`"left"` and `"both"` are refused'): [
        *(lambda *_, closed=closed: fl.Trailing(fl.Rows(10), closed=closed)
          for closed in ("left", "both")),
    ],
    ("docs/getting_started.md", "minutes and less are for `fl.Sliding`"): [
        *(lambda *_, unit=unit: fl.Calendar(f"1 {unit}", zone="UTC")
          for unit in ("minute", "second", "millisecond", "microsecond")),
    ],
    ("docs/early.md", "| windows counted in rows, or that end at every row | refused"): [
        lambda session, _: of_rows(session).early().agg(agg.count()),
    ],
    ("docs/early.md", "| features as of a row, progressive widening | there is no `early()` |"): [
        lambda session, _: fl.over(stream_of(session), fl.Trailing(), time="ts").early(),
        lambda session, _: fl.over(
            stream_of(session), fl.ProgressiveWidening("1 hour", max_duration="1 day", max_rows=9),
            time="ts",
        ).early(),
    ],
}  # fmt: skip
# What pages say of rare cases: their words, and two questions that have one answer.
ZIGZAG = (
    "array(1, 11, 2, 12, 25, 12)"  # of cells of ten; a fifth row is in neither of the first two
)


def rare(session):
    return session.sql(f"select at, at % 2 as k, x from (select posexplode({ZIGZAG}) as (at, x))")


def lists(session, spec):
    rows = fl.over(rare(session), spec, time="at")
    return [row.l for row in rows.agg(l=agg.collect_list("x")).orderBy("window").collect()]


def zigzag(session, **limits):
    return lists(session, fl.BoundaryFrame({"x": 10}, overlapping=True, **limits))


def native(session, spec, strategy="native"):
    frames = fl.over(rare(session), spec, time="at", by="k").using(strategy).frames()
    return sorted(map(str, frames.collect()))


def by_rows(session, spec):
    found = fl.over(rare(session), spec, time="at").attach(l=agg.collect_list("x"))
    return [row.l for row in found.orderBy("at").collect()]


SAID = {
    ("docs/sliding.md", "`offset=fl.Rows(3)` is `offset=fl.Rows(1)`"): lambda session: [
        lists(session, fl.Sliding(fl.Rows(4), fl.Rows(2), offset=fl.Rows(n))) for n in (1, 3)
    ],
    ("docs/frames.md", "`max_rows` leaves that to the scheme"): lambda session: [
        zigzag(session, max_rows=4)[:2], [[1, 11, 2, 12], [12, 25, 12]],
    ],
    ("docs/frames.md", "`max_duration` comes first, and they share none"): lambda session: [
        zigzag(session, max_duration=4)[:2], [[1, 11, 2, 12], [25, 12]],
    ],
    ("docs/frames.md", "with `min_rows` and `min_duration`, too"): lambda session: [
        native(session, fl.ThresholdFrame("x > 5", min_rows=2, min_duration=1), strategy)
        for strategy in ("native", "arrow")
    ],
    ("docs/spanning.md", "meets its `.where`, `running` is 0 and `at` null"): lambda session: [
        fl.over(rare(session), fl.Sliding(10), time=("at", "x"))
        .agg(p=agg.peak().where("x > 99")).first().p.asDict(),
        {"running": 0, "at": None},
    ],
    ("docs/pieces.md", "store both, and divide what `roll_up` gives"): lambda session: [
        [row.r for row in fl.roll_up(
            fl.over(rare(session), fl.Sliding(3), time="at").pieces(s=agg.sum("x"), n=agg.count()),
            fl.Sliding(6),
        ).selectExpr("s / n as r").collect()],
        [row.r for row in fl.over(rare(session), fl.Sliding(6), time="at")
         .agg(r=agg.sum("x") / agg.count()).collect()],
    ],
    ("docs/trailing.md", 'with `closed="neither"` any time before `t`'): lambda session: [
        by_rows(session, fl.Trailing(fl.Rows(2), closed="neither")),
        [[], [1], [1, 11], [11, 2], [2, 12], [12, 25]],
    ],
}  # fmt: skip
# Further lines of the roadmap, of what is there and could cost less.
COSTS = {"Snapshots of counts", "A detector that is asked", "Stateful operators that cost less"}


@pytest.mark.parametrize(("page", "words"), MISSING)
def test_what_is_said_to_be_missing_is(classic, tmp_path, page, words):
    assert words in (ROOT / page).read_text("utf-8")
    for attempt in MISSING[page, words]:
        with pytest.raises((fl.FanlightError, AnalysisException, AttributeError)):
            attempt(classic, tmp_path)


@pytest.mark.parametrize(("page", "words"), SAID)
def test_what_is_said_of_rare_cases_is_so(classic, page, words):
    assert words in (ROOT / page).read_text("utf-8")
    one, other = SAID[page, words](classic)
    assert one == other != []


def test_calendars_count_the_units_that_pages_name():
    assert "It counts hours, days and weeks, or these" in (ROOT / START).read_text("utf-8")
    for unit in ("hour", "day", "week", "month", "quarter", "year"):
        assert repr(fl.Calendar(f"1 {unit}", zone="UTC")) == f"Calendar('1 {unit}', zone='UTC')"


def test_each_line_of_the_roadmap_is_held_to_be_missing():
    text = (ROOT / "ROADMAP.md").read_text("utf-8")
    later = re.search(r"## Later\n\n(.+?)\n\n", text, re.DOTALL)[1]
    known = {*COSTS, *(words for page, words in MISSING if page == "ROADMAP.md")}
    lines = later.removeprefix("- ").split("\n- ")
    found = [[words for words in known if words in " ".join(line.split())] for line in lines]
    assert [len(one) for one in found] == [1] * len(lines) == [1] * len(known)


def test_what_is_beside_is_there(classic, tmp_path):
    """So attempts fail for what is missing. docs/comparison.md says so of the mode."""
    in_mode("complete", late="open")(classic, tmp_path)
    of_running(agg.count())(classic, tmp_path)


def test_pages_share_their_data():
    made = r"(?ms)^calls = .+?^\"\"\"\)$"
    texts = {page: (ROOT / page).read_text("utf-8") for page in PAGES}
    assert re.findall(made, texts["README.md"]) == re.findall(made, texts[START]) != []
    for page, text in texts.items():
        assert page in OWN_DATA or f"({Path(START).name}#a-batch)" in text, page
        _, _, further = text.partition("\n```\n")  # the first example makes what it needs
        assert page in OWN_DATA or not re.search(r"spark\.sql\(|createDataFrame", further), page


def test_what_a_page_foretells_is_compared():
    page = "a\n```python\nx = 1\nprint(x)\n```\nThis prints\n\n```text\n2\n```\n"
    assert run("page", page) == ["page:3 prints\n1\n"]
    assert run("page", page.replace("\n2\n", "\n1\n")) == []


def test_a_result_without_rows_is_seen(classic):
    page = "```python\nspark.range(n)\n```\n"
    assert run("page", page, {"spark": classic, "n": 0}) == ["page:2 has no rows"]
    assert run("page", page, {"spark": classic, "n": 1}) == []


def test_an_error_names_the_line_of_the_page():
    with pytest.raises(NameError) as raised:
        run("page", "a\n\n```python\nx = 1\ny\n```\n")
    assert raised.traceback[-1].lineno == 4  # counted from 0


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(([^)#\s]+)[)#]", (ROOT / page).read_text("utf-8"))
    assert links
    assert [link for link in links if not (folder / link).exists()] == []
