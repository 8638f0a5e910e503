"""The benchmarks' own arithmetic: what is called met, what is called equal."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as command
from benchmarks import against, readme, report, timing
from benchmarks.cases import never_slower
from benchmarks.cases.grid import FORCED, cells
from benchmarks.queries import agree
from benchmarks.timing import DisagreementError, Entry, Result, Row, race


def row(ours, theirs, **target):
    return Row("case", "ours", ours, "theirs", theirs, **target)


@pytest.mark.parametrize(
    ("found", "ratio", "met"),
    [
        (row(2.0, 60.0, at_least=30), "30.0 x faster", True),
        (row(2.0, 59.0, at_least=30), "29.5 x faster", False),
        (row(2.0, 1.0, at_least=1), "2.0 x slower", False),
        (row(1.25, 1.0, at_most=1.25), "1.25 x the time", True),
        (row(1.26, 1.0, at_most=1.25), "1.26 x the time", False),
        (row(1.0, 3.0), "3.0 x faster", None),
    ],
)
def test_a_row_is_met_or_missed(found, ratio, met):
    assert (found.ratio, found.met) == (ratio, met)


def test_little_data_is_not_judged():
    missed = row(9.0, 1.0, at_least=2)
    assert report.cells(missed)[-1] == "missed"
    assert report.cells(missed, judged=False)[-1] == "agrees"


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        ((3, 10.0, 5.0), True),
        ((3, 10.0, 5.0 + 1e-12), True),
        ((3, 10.0, 5.00001), False),
        ((4, 10.0, 5.0), False),
        ((3, 10.0), False),
    ],
)
def test_answers_agree(other, equal):
    assert agree((3, 10.0, 5.0), other) is equal


@dataclass
class Fake:
    """A query that answers what it is told to, and notes its name when it runs."""

    name: str
    value: tuple
    ran: list = field(default_factory=list)

    def run(self):
        self.ran.append(self.name)
        time.sleep(0.001)

    def answer(self):
        self.ran.append(f"{self.name}?")
        return self.value


def bench(**given):
    fixed = {"small": "small", "table": "large", "rounds": 2, "smoke": False, "warm": 0.001}
    return SimpleNamespace(**fixed | given, say=lambda _: None)


def entries(ran, *values, **slow):
    def entry(number, value):
        name = "ab"[number]
        return Entry(name, lambda _: Fake(name, value, ran), slow=slow.get(name, False))

    return [entry(number, value) for number, value in enumerate(values)]


def test_competitors_take_turns():
    ran = []
    best = race(entries(ran, (1, 2.0), (1, 2.0)), bench())
    assert ran == ["a?", "b?", "a", "b", "a", "b", "a", "b"]
    assert best.keys() == {"a", "b"}


def test_competitors_are_warmed_up_for_a_time_not_for_a_run(monkeypatch):
    def a_second(work):
        work()
        return 1.0

    monkeypatch.setattr(timing, "seconds", a_second)
    ran = []
    race(entries(ran, (1, 2.0), (1, 2.0), b=True), bench(warm=2.5))
    assert ran == ["a?", "b?", "a", "a", "a", "a", "b", "a"]


def test_a_slow_one_runs_once():
    ran = []
    race(entries(ran, (1, 2.0), (1, 2.0), b=True), bench())
    assert ran == ["a?", "b?", "a", "a", "b", "a"]


def test_a_smoke_run_only_answers():
    ran = []
    race(entries(ran, (1, 2.0), (1, 2.0)), bench(smoke=True))
    assert ran == ["a?", "b?"]


def test_different_answers_stop_the_race():
    with pytest.raises(DisagreementError):
        race(entries([], (1, 2.0), (1, 3.0)), bench())


def test_no_answer_stops_the_race():
    with pytest.raises(DisagreementError):
        race(entries([], (0, 0.0)), bench())


def test_a_run_that_is_broken_off_leaves_what_it_has_finished(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.md")
    monkeypatch.setattr(readme, "write", lambda: pytest.fail("most of its figures are not there"))
    found = Result([row(1.0, 2.0)])
    command.write([found], ["flat"], bench(table=SimpleNamespace(rows=7)))
    page = report.RESULTS.read_text("utf-8")
    assert "benchmarks --only flat --write" in page
    assert "| case | ours | 1.00 | theirs | 2.00 | 2.0 x faster |" in page


def test_the_grid_has_every_overlap_and_aggregate():
    found = cells(smoke=False)
    assert len(set(found)) == len(found)
    assert {cell.ratio for cell in found} == {1.5, 2, 4, 7.3, 60, 1000}
    assert {cell.aggregates for cell in found} == {"count, sum", "max", "median"}
    for cell in found:
        length, slide = cell.spec.range.value, cell.spec.slide.value
        assert length / slide == pytest.approx(cell.ratio)
    assert len({cell.aggregates for cell in cells(smoke=True)}) == 3
    assert len(FORCED) == 4


def test_the_page_has_a_table_and_no_path():
    extra = ("More", ["x"], [["1"]])
    page = report.markdown([Result([row(1.0, 2.0, at_least=9)], [extra])], {"Java": "17"}, 10, 3)
    assert "| case | ours | 1.00 | theirs | 2.00 | 2.0 x faster |" in page
    assert "## More" in page
    assert not re.search(r"missed|goal|target|at least", page)  # that is for the roadmap
    assert not re.search(r"(?:^|\s)/\w", page)


def test_the_roadmap_has_the_goals_that_are_not_reached():
    rows = [row(1.0, 2.0, at_least=1), row(1.5, 1.0, at_most=1.25, why="two stages")]
    text = report.with_goals(
        f"# Roadmap\n{report.BEGIN}old\n{report.END}rest\n", [Result(rows, unreached=["8.1 GB"])]
    )
    goal = "case, ours beside theirs: 1.50 x the time; the goal is at most 1.25 x the time."
    lines = f"- {goal} Two stages\n- 8.1 GB\n"
    assert text == f"# Roadmap\n{report.BEGIN}{lines}{report.END}rest\n"
    page = report.roadmap().read_text("utf-8")
    assert report.with_goals(page, []) != page


def test_now_is_slower_only_if_both_measures_say_so():
    found = {
        "best alone": [(1.0, 1.2), (1.3, 1.25), (1.3, 1.25)],
        "both": [(1.0, 1.1), (1.0, 1.2), (1.1, 1.2)],
        "neither": [(1.0, 0.9), (1.0, 1.3), (1.0, 0.95)],
    }
    page = against.shown(found, "1.0.0")
    cases = list(page.columns[0].cells)
    assert cases == ["best alone", "both *", "neither"]
    assert list(page.columns[3].cells) == ["1.20", "1.10", "0.90"]
    assert list(page.columns[4].cells) == ["0.96", "1.10", "0.95"]


def test_a_revision_s_source_is_there(tmp_path):
    source = against.source_of("HEAD", tmp_path)
    assert (source / "fanlight" / "__init__.py").exists()
    assert not (tmp_path / "tests").exists()


def test_the_readme_shows_what_the_results_say():
    page = readme.README.read_text("utf-8")
    cells = readme.CELLS.read_text("utf-8") if readme.CELLS.exists() else ""
    assert readme.filled(page, report.RESULTS.read_text("utf-8"), cells) == page


def test_what_the_readme_says_is_in_the_results():
    results = [Result([Row(*readme.SHOWN[:2], 1.5, readme.SHOWN[2], 3.0)])]
    page = report.markdown(results, {"cores": "7 (Spark …)", "pyspark": "9.9"}, 12_345, 5)
    told = "{}: at most 1.1 times Spark's time in {} of 7, at worst {} times, on average"
    cells = "; ".join([told.format("## cold", 5, 9.1), told.format("warm", 6, 2.5)])
    made = readme.block(page, cells)
    assert "over 12,345 rows: 1.50 s instead of 3.00 s, 2.0 times faster, because" in made
    assert "(7 cores, PySpark 9.9;" in made
    assert "in 5 of 7\nfirst runs of a query and 6 of 7 later ones, and at worst takes 2.5" in made
    assert "at worst" not in readme.block(page)


def test_the_page_of_cells_says_first_where_plain_spark_is_faster():
    def cell(rows, name, ours, theirs):
        return (
            rows,
            {"name": name, "cold": 1, "warm": ours},
            {"name": name, "cold": 1, "warm": theirs},
        )

    cells = [cell(10, "a", 3, 2), cell(10, "b", 1, 2), cell(10, "c", 4, 2), cell(1000, "a", 2, 2)]
    said = never_slower._say_where_spark_is_faster(cells)
    assert said.startswith("Use plain Spark")
    assert said.endswith(":\n\n- over 10 rows: c (2.0), a (1.5)")
    assert never_slower._say_where_spark_is_faster(cells[1:2]) == never_slower.NONE
    assert "in 1 of 3, at worst 2.0 times" in never_slower._summary(cells[:3], "warm")
