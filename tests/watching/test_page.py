"""The page of a query that says what it is told to say: its numbers, its errors, what is markup."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta
from html import escape
from threading import Event

import pytest

import fanlight as fl
from fanlight.plots.figures.given import table_of
from fanlight.watching.newest_windows import NewestWindows, keep_latest
from tests.watching.queries import Query, windows
from tests.watching.served import answer_to, page_of, state_of

pytest.importorskip("starlette")
HOSTILE = "<img src=x onerror=alert(1)>\"'</script><script>wrong()</script>`x`"


def until(served, test, seconds=10.0):
    """The state of a page once something holds of it, as a page asks for it again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = state_of(served)
        if test(found):
            return found
        time.sleep(0.05)
    pytest.fail(f"it never came: {found}")


def facts(found):
    pairs = re.findall(r"<b>(.*?)</b><span>(.*?)</span>", found["parts"]["facts"])
    return {label: number for number, label in pairs}


def cells(html):
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in html.split("<tr>")[2:]]


def alt(found, part):
    return re.search(r'role="img" aria-label="([^"]*)"', found["parts"][part])[1]


def test_numbers_are_those_of_the_micro_batches():
    query = Query(3)
    query.more(25, late=4, watermark="2024-05-01T23:30:00.000Z")
    with fl.watch(query, zone="Europe/Vienna") as served:
        found = state_of(served)
    assert facts(found) == {
        "micro-batch 3": "Running", "rows a second": "12", "rows so far": "55",
        "watermark, 2024-05-02": "01:30:00", "late rows": "4", "rows of state": "10",
    }  # fmt: skip
    assert found["words"].startswith("Running: Waiting for data to arrive. 55 rows so far")
    assert "watermark 2024-05-02 01:30:00 Europe/Vienna" in found["words"]
    assert cells(found["parts"]["state"]) == [
        ["transformWithStateInPySparkExec", "keys of sessions", "10", "12.3 KB", "678 bytes", "0"]
    ]
    told = "Late rows: 4 of sessions. Groups of rows that Spark left out: 0."
    assert told in found["parts"]["state"]
    assert "of 4 micro-batches" in alt(found, "batches-figure")
    assert "late rows from 0 to 4, last 4" in alt(found, "batches-figure")


def test_a_watermark_in_the_far_future_has_its_place():
    query = Query(1)
    query.more(watermark="+12024-05-01T23:30:00.000Z")
    with fl.watch(query, zone="Europe/Vienna") as served:
        assert "watermark 12024-05-02 00:30:00 Europe/Vienna" in state_of(served)["words"]


def test_a_query_before_its_first_micro_batch():
    with fl.watch(Query(0), lambda: windows(0)) as served:
        found = until(served, lambda one: "no columns" in one["parts"]["windows-rows"])
        assert facts(found)["watermark"] == "not begun"
        assert "No micro-batch yet" in found["words"]
        assert "none yet" in alt(found, "batches-figure")
        assert "none yet" in page_of(served)


def test_until_the_first_answer_the_page_says_that_it_reads():
    answered = Event()

    def read():
        answered.wait(10)
        return table_of(windows(1)).slice(0, 0)

    with fl.watch(Query(), read) as served:
        for found in (page_of(served), state_of(served)["parts"]["windows-rows"]):
            assert "The windows are being read." in found
            assert "No window" not in found
        answered.set()
        found = until(served, lambda one: "being read" not in one["parts"]["windows-rows"])
        assert "No window has been reported yet." in found["parts"]["windows-rows"]


def test_each_micro_batch_is_counted_once_and_a_long_run_is_not_kept_whole(monkeypatch):
    monkeypatch.setattr("fanlight.watching.progress.LEAST", 0)
    monkeypatch.setattr("fanlight.watching.progress.MOST", 5)
    query = Query(2)
    with fl.watch(query) as served:
        for _ in range(10):
            query.more(1)
            query.told[-1].observedMetrics["fanlight late rows 9: sessions"] = {"rows": None}
            found = state_of(served)
        query.told.append(query.told[-1])  # nothing new
        assert facts(state_of(served)) == facts(found)
        query.more(99)
        query.told[-1].durationMs = {}  # Spark says that nothing has come
        found = state_of(served)
    assert facts(found)["rows so far"] == "30"
    assert "of 5 micro-batches" in alt(found, "batches-figure")


def test_only_the_newest_windows_are_shown_and_the_newest_of_all_first():
    with fl.watch(Query(), lambda: windows(30), newest=20) as served:
        found = until(served, lambda one: one["parts"]["windows-figure"])
        rows = cells(found["parts"]["windows-rows"])
        assert len(rows) == 12
        assert rows[0] == ["north", "2024-05-01 12:29:00", "2024-05-01 12:30:00", "841"]
        assert "The newest 12 of the 20 windows" in found["parts"]["windows-rows"]
        assert "20 windows from 2024-05-01 12:10:00 to" in alt(found, "windows-figure")


def test_a_window_that_is_given_again_is_shown_once_and_an_open_one_as_open():
    """A log of what came, in order: the last of each window, and none after its final one."""
    log = []
    for calls, ended in ((1, 0), (2, 1), (3, 2)):
        log += [{**row, "calls": calls, "final": False} for row in windows(3 + ended)[ended:]]
        log += [{**row, "calls": 10 * calls, "final": True} for row in windows(1, ended)]
    other = [{**row, "antenna": "south", "final": False} for row in windows(1)]
    with fl.watch(Query(), lambda: log + other) as served:
        found = until(served, lambda one: one["parts"]["windows-figure"])
        rows = cells(found["parts"]["windows-rows"])
    got = {(row[0], row[2][11:16]): (row[3], row[4]) for row in rows}
    assert len(got) == len(rows)
    assert got == {
        ("north", "12:01"): ("10", "yes"), ("north", "12:02"): ("20", "yes"),
        ("north", "12:03"): ("30", "yes"), ("north", "12:04"): ("3", "still open"),
        ("north", "12:05"): ("3", "still open"), ("south", "12:01"): ("0", "still open"),
    }  # fmt: skip
    assert "windows that were read, of which 3 are still open." in found["parts"]["windows-rows"]
    assert "still open are dotted" in alt(found, "windows-figure")


def test_an_open_frame_is_replaced_by_its_number_as_its_window_grows():
    def frame(length, number, *, final, calls):
        (row,) = windows(1)
        end = row["window"]["start"] + timedelta(minutes=length)
        row["window"] = {**row["window"], "end": end}
        return {"antenna": "a", "window": row["window"], "frame_id": number, "rows": calls,
                "closed": final, "final": final, "calls": calls}  # fmt: skip

    log = [
        frame(1, 0, final=False, calls=1), frame(2, 0, final=False, calls=2),
        frame(3, 0, final=True, calls=3), frame(4, 1, final=False, calls=4),
        frame(5, 1, final=False, calls=5),
        frame(6, 0, final=False, calls=6),  # of a key that was forgotten: another frame 0
    ]  # fmt: skip
    kept = keep_latest(table_of(log))
    assert kept["calls"].to_pylist() == [3, 5, 6]


def test_windows_are_read_while_somebody_looks_and_once_after_the_end(monkeypatch):
    read = []

    def there():
        read.append(query.isActive)
        return windows(3 + len(read))

    monkeypatch.setattr("fanlight.watching.newest_windows.SHARE", 0)
    query = Query()
    with fl.watch(query, there, every="10 milliseconds") as served:
        time.sleep(0.3)
        assert read == []
        until(served, lambda _: len(read) > 1)
        query.end()
        found = until(served, lambda one: one["ended"])
        assert found["state"] == "Ended"
        assert read[-1] is False
        assert f"{3 + len(read)} windows from" in alt(found, "windows-figure")
        count = len(read)
        for _ in range(5):
            assert state_of(served)["ended"]
        time.sleep(0.1)
        assert len(read) == count


def test_reading_takes_a_tenth_of_the_time_at_most():
    def slow():
        time.sleep(0.1)
        return windows(3)

    reading = NewestWindows(slow, lambda: True, 10, 0.01, {"zone": "UTC"})
    reading.read()
    assert reading.latest.seconds > 0.1
    assert reading._next - time.monotonic() > 9 * reading.latest.seconds


def test_what_fails_is_told_in_words_and_what_was_there_stays(monkeypatch):
    answers = [windows(4), ValueError("[NOT_THERE] no such table\n\tat org.apache.X(Y.scala:1)\n")]

    def there():
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("fanlight.watching.newest_windows.SHARE", 0)
    with fl.watch(Query(), there, every="10 milliseconds") as served:
        found = until(served, lambda one: "no such table" in one["parts"]["windows-rows"])
        assert (
            "could not be read or drawn: [NOT_THERE] no such table<"
            in (found["parts"]["windows-rows"])
        )
        assert "Y.scala" not in json.dumps(found)
        assert len(cells(found["parts"]["windows-rows"])) == 4
        assert "4 windows from" in alt(found, "windows-figure")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (lambda: [{"a": 1}], "no column &#x27;window&#x27;"),
        (lambda: 3, "an int cannot be drawn"),
        (
            lambda: [{"window": one["window"], "name": "x"} for one in windows(3)],
            "column of numbers",
        ),
    ],
    ids=["no window", "no table", "no number"],
)
def test_what_cannot_be_drawn_is_told(rows, told):
    with fl.watch(Query(), rows) as served:
        found = until(served, lambda one: "could not be" in one["parts"]["windows-rows"])
        assert told.replace("&#x27;", "'") in found["parts"]["windows-rows"]


def test_a_query_that_fails_says_why_and_stays():
    query = Query()
    with fl.watch(query) as served:
        query.end(RuntimeError(f"[BROKEN] {HOSTILE}\n\tat org.apache.X"))
        found = until(served, lambda one: one["ended"])
        assert found["state"] == "Failed"
        assert "The query has failed" in found["parts"]["status"]
        assert "[BROKEN] &lt;img" in found["parts"]["status"]
        assert "alarm" in page_of(served)


def test_a_query_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr("fanlight.watching.progress.LEAST", 0)
    query = Query()
    with fl.watch(query) as served:
        assert state_of(served)["parts"]["status"] == ""
        query.exception = lambda: 1 / 0
        found = state_of(served)
        assert "The query does not answer" in found["parts"]["status"]
        assert "division by zero" in found["parts"]["status"]
        assert facts(found)["rows so far"] == "30"
        del query.exception
        assert state_of(served)["parts"]["status"] == ""


def test_no_text_of_a_user_is_markup():
    rows = [
        {HOSTILE: HOSTILE, "window": one["window"], f"n{HOSTILE}": 1 + k, "text": HOSTILE}
        for k, one in enumerate(windows(4))
    ]
    query = Query(name=HOSTILE)
    query.status = {"message": HOSTILE}
    query.told[-1].stateOperators[0].operatorName = HOSTILE
    query.told[-1].observedMetrics = {f"fanlight late rows 1: {HOSTILE}": {"rows": 2}}
    with fl.watch(query, lambda: rows) as served:
        found = until(served, lambda one: one["parts"]["windows-figure"])
        page = page_of(served)
    for text in [page, *found["parts"].values()]:
        assert "<img" not in text
        assert "<script>wrong" not in text
    assert f"<title>{escape(HOSTILE)}</title>" in page
    assert found["parts"]["windows-rows"].count("&lt;img") >= 8
    assert page.count("</script>") == page.count("<script")


def test_a_version_that_is_shown_already_is_not_sent_again():
    query = Query()
    with fl.watch(query) as served:
        first = state_of(served)
        again = json.loads(answer_to(served, f"/state?version={first['version']}").text)
        assert first["parts"]
        assert again["parts"] == {}
        assert again["version"] == first["version"]
        assert again["words"] == first["words"]


def test_what_a_notebook_and_a_terminal_show():
    with fl.watch(Query()) as served:
        assert str(served) == f"watch it at {served.url}"
        assert served._repr_html_().startswith(f'<a href="{served.url}"')
        assert served.running
    assert not served.running
    assert str(served) == f"{served.url} is no longer served"
    assert "<a" not in served._repr_html_()
    served.stop()  # again: nothing happens


def test_stop_waits_for_a_page_that_is_open_to_show_the_end():
    query = Query()
    served = fl.watch(query)
    begin = time.monotonic()
    state_of(served)
    query.end()
    served.stop(linger=0.5)
    assert time.monotonic() - begin > 0.4
    other = fl.watch(query)
    begin = time.monotonic()
    other.stop(linger=20)  # nobody looks
    assert time.monotonic() - begin < 5


def test_times_between_seconds_are_told_whole():
    rows = windows(2)
    rows[1]["window"]["end"] += timedelta(microseconds=1)
    with fl.watch(Query(), lambda: rows) as served:
        found = until(served, lambda one: one["parts"]["windows-figure"])
    assert cells(found["parts"]["windows-rows"])[0][2] == "2024-05-01 12:02:00.000001"
