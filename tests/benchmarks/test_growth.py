"""How growth is told: slopes, what is not run, what is held, and the page with its picture."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from benchmarks import __main__ as command
from benchmarks import report
from benchmarks.growth import axes, memory, page, picture, series, slopes
from benchmarks.growth.memory import Held
from benchmarks.growth.series import Grown, Point, Series
from benchmarks.timing import Entry, Result, Row

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def law(exponent, sizes=SIZES, floor=0.0):
    return [(size, floor + 0.001 * size**exponent) for size in sizes]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_the_slope_of_a_power_is_its_exponent(exponent):
    assert slopes.slope(law(exponent)) == pytest.approx(exponent)


def test_the_slope_is_that_of_the_larger_half():
    flat, steep = [(size, 1.0) for size in SIZES[:3]], law(1)[3:]
    assert slopes.slope(flat + steep) == pytest.approx(1)
    assert slopes.slope(flat[:2] + steep[:3]) == pytest.approx(1)  # of five, three
    assert slopes.slope([(1, 1.0), (10, 1.0), (100, 10.0)]) == pytest.approx(1)  # of three, two


def test_a_point_without_a_value_has_no_part_in_the_slope():
    assert slopes.slope([*law(1)[:3], (10**6, None), (10**7, 0)]) == pytest.approx(1)
    assert slopes.slope([(1, 1.0), (10, None)]) is None
    assert slopes.slope([]) is None


@pytest.mark.parametrize(
    ("points", "size", "seconds"),
    [
        ([(10, 2.0)], 100, 20),  # one point: in proportion
        ([(1, 1.0), (10, 2.0), (100, 20.0)], 1_000, 200),  # as between the last two
        ([(1, 1.0), (10, 2.0)], 100, 4),
        ([(1, 3.0), (10, 2.0)], 100, 2),  # never less than the last
    ],
)
def test_the_next_time_is_on_the_line_through_the_last_two(points, size, seconds):
    assert slopes.expected(points, size) == pytest.approx(seconds)


def test_what_takes_too_long_is_not_run():
    assert not slopes.too_long([], 10**9)
    assert not slopes.too_long([(10, 1.0)], 10 * slopes.LIMIT)
    assert slopes.too_long([(10, 1.0)], 11 * slopes.LIMIT)


class Timed:
    """A query that takes a second for each of its size."""

    def __init__(self, size, ran):
        self.size, self.ran = size, ran

    def run(self):
        self.ran.append(self.size)

    def answer(self):
        return (1, 2.0)


def test_a_competitor_stops_where_it_takes_too_long_and_fanlight_goes_on(monkeypatch):
    ran = {"fanlight": [], "theirs": []}

    def seconds(work):
        before = {name: len(sizes) for name, sizes in ran.items()}
        work()
        return next((ran[name][-1] for name in ran if len(ran[name]) > before[name]), 0.0)

    watch = SimpleNamespace(held=Held(jvm=5))
    monkeypatch.setattr(series, "seconds", seconds)
    monkeypatch.setattr(series, "Watch", lambda _: nullcontext(watch))
    entries = [
        Entry(name, lambda size, name=name: Timed(size, ran[name]), slow=name == "theirs")
        for name in ran
    ]
    bench = SimpleNamespace(spark=None, smoke=False, warm=0.0, say=lambda _: None)
    found = series.measured(bench, Series("rows", "all", (4, 40, 400), entries))
    assert ran == {"fanlight": [4] * 4 + [40, 400], "theirs": [4] * 4 + [40]}
    assert [point.seconds for point in found.points["fanlight"]] == [4, 40, 400]
    assert [point.seconds for point in found.points["theirs"]] == [4, 40, None]
    assert found.slope("fanlight") == pytest.approx(1)


def progress(*operators):
    return SimpleNamespace(stateOperators=[
        SimpleNamespace(memoryUsedBytes=used, customMetrics=files) for used, files in operators
    ])  # fmt: skip


def test_state_is_that_of_all_operators_at_its_most():
    batches = [
        progress((5, {series.ON_DISK: 70}), (6, {})),
        progress((1, {series.ON_DISK: 80}), (9, {series.ON_DISK: 1})),
    ]
    assert series.state(batches) == (11, 81)
    assert series.state([]) == (0, 0)


def test_a_process_may_be_called_anything():
    stat = f"12 (a ) b (c) R 7 {'0 ' * 19}250 0 0"
    assert memory.parsed(stat) == ("a ) b (c", 7, 250 * memory.PAGE)


def test_memory_is_told_by_process():
    found = {
        1: ("init", 0, 1), 7: ("python", 1, 10), 8: ("java", 7, 200), 9: ("python", 8, 30),
        10: ("python", 9, 40), 11: ("java", 1, 5_000), 12: ("python", 11, 6_000),
        13: ("Executor task l", 8, 200), 14: ("java", 8, 200), 15: ("sh", 7, 3),
    }  # fmt: skip
    assert memory.resident(found, 7, lambda _, size: size // 10) == (200, 7, 10)


def test_the_heap_that_is_kept_is_what_collections_leave():
    log = """\
Using G1
GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(254M) 2.101ms
GC(1) Pause Full (System.gc()) 60M->21M(80M) 20.000ms
GC(2) Concurrent Mark Cycle
GC(2) Pause Remark 90M->90M(254M) 1.5ms
"""
    assert memory.left(log) == 21 << 20
    assert memory.left("") == 0


@pytest.mark.skipif(not memory.PROC.exists(), reason="this system has no /proc")
def test_this_process_is_there():
    found = memory.processes()
    assert found[os.getpid()][1] == os.getppid()
    assert memory.resident(found, os.getpid())[2] > 1e6
    whole = found[os.getpid()][2]
    assert 0 < memory.proportional(os.getpid(), whole) < 2 * whole
    assert memory.proportional(-1, 5) == 5  # there is no such process


@pytest.mark.parametrize("wanted", [1e-4, 0.01, 0.2])
def test_threshold_frames_are_as_many_as_asked(wanted):
    inside = 1 - float(axes.above(wanted).removeprefix("v > ")) / axes.SPREAD
    assert inside * (1 - inside) == pytest.approx(wanted, rel=0.01)


def grown(name="keys", **points):
    given = Series(name, "all else", (1, 10, 100), [])
    return Grown(given, points or {
        "fanlight": [
            Point(size, size / 2, Held(10**6 * size, 10**6, 0, 10**7, 2 * 10**6 * size), 10**7)
            for size in given.sizes
        ],
        "Spark": [Point(1, 1.0, Held(10**6)), Point(10, 10.0, Held(10**6)), Point(100)],
    })  # fmt: skip


def test_a_table_has_a_line_a_size_and_the_slopes():
    title, header, lines = page.table(grown())
    assert title == "keys: all else"
    assert header == [
        *("keys", "fanlight, s", "JVM, MB", "heap kept, MB", "Python driver, MB", "state, MB"),
        *("Spark, s", "JVM, MB"),
    ]
    assert lines == [
        ["1", "0.50", "1", "1", "10", "10", "1.00", "1"],
        ["10", "5.00", "10", "1", "10", "10", "10.00", "1"],
        ["100", "50.00", "100", "1", "10", "10", "not run", ""],
        ["slope", "1.00", "1.00", "0.00", "0.00", "0.00", "1.00", "0.00"],
    ]


def test_what_grows_by_what_is_a_line_a_series():
    _, header, (line,) = page.what_by_what([grown()])
    assert len(header) == len(line)
    assert line[:5] == ["keys", "all else", "1 to 100", "1.00", "1.00"]
    assert line[-1] == "1.00 (Spark), up to 10"


def test_a_stream_is_within_its_memory_or_not():
    def point(together):
        return [("delta frames", Point(1_000_000, 2.0, Held(together=int(together))))]

    _, header, (line,) = page.held(point(8e9))
    assert len(header) == len(line)
    assert line[-1] == "8,000"
    assert page.over(point(8e9)) == page.over(point(0)) == []  # nothing was measured
    (told,) = page.over(point(8.1e9))
    assert told.endswith("of 1,000,000 keys: 8,100 MB; the goal is at most 8,000 MB")


def test_the_page_shows_its_picture_and_no_path():
    result = Result(tables=[page.table(grown())], page=page.page([grown()]))
    files = report.own(result, {"Java": "17"})
    assert files.keys() == {"growth.md", "growth.svg"}
    text = files["growth.md"]
    assert text.startswith("# Growth\n")
    assert "](growth.svg)" in text
    assert "| 100 | 50.00 |" in text
    assert not re.search(r"(?:^|\s)/\w", text)


def panels(*found):
    """The panels of the picture, line by line."""
    assert ET.fromstring(page.page(found).pictures["growth.svg"]).tag.endswith("svg")  # noqa: S314
    return picture.svg.__wrapped__(page.drawn(found)).axes


def lines(ax):
    """What is drawn in a panel: names, and the values of each."""
    return {line.get_label(): [*zip(*line.get_data(), strict=True)] for line in ax.lines}


def test_the_picture_has_a_line_for_each_query_and_each_part_of_memory():
    times, held, more, _ = panels(grown(), grown("rows"))
    assert lines(times) == {
        "fanlight: 1.00": [(1, 0.5), (10, 5.0), (100, 50.0)],
        "Spark: 1.00": [(1, 1.0), (10, 10.0)],
        "slope 1": [(1, 0.5), (100, 50.0)],
    }
    assert lines(held).keys() == {
        *("JVM", "heap kept", "Python driver", "state", "JVM, Spark", "slope 1")
    }
    assert lines(held)["state"] == [(1, 10.0), (10, 10.0), (100, 10.0)]
    assert lines(more) == lines(times)
    assert (times.get_title("left"), times.get_xlabel()) == ("seconds by keys", "keys\nall else")
    assert more.get_ylim() == times.get_ylim()
    assert {one.get_xscale() for one in (times, held)} == {"log"}


def test_a_series_of_one_point_can_be_drawn():
    times, held = panels(grown(fanlight=[Point(1, 0.5, Held(10**6))]))
    assert lines(times)["fanlight"] == [(1, 0.5)]
    assert lines(held)["JVM"] == [(1, 1.0)]


def test_a_page_of_its_own_leaves_the_other_results(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.md")
    bench = SimpleNamespace(table=SimpleNamespace(rows=7), rounds=2, say=lambda _: None)
    shared = Result([Row("case", "ours", 1.0, "theirs", 2.0)])
    growth = Result(tables=[page.table(grown())], page=page.page([grown()]))
    command.write([shared], ["flat"], bench)
    before = report.RESULTS.read_text("utf-8")
    for _ in range(2):
        command.write([growth], ["growth"], bench)
    after = report.RESULTS.read_text("utf-8")
    assert report.links(after) == ["growth"]
    assert after.replace("On a page of its own: [growth](growth.md).\n\n", "", 1) == before
    command.write([shared], ["flat"], bench)
    assert report.RESULTS.read_text("utf-8") == after  # the link stays
    assert (tmp_path / "growth.svg").exists()
    command.write([shared, growth], ["flat", "growth"], bench)
    text = report.RESULTS.read_text("utf-8")
    assert "--only flat --write" in text
    assert "| 100 | 50.00 |" not in text
