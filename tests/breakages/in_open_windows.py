"""Breakages of windows that are given while they are open, and of stored pieces."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code

opened = seen_by("tests/operators/test_open_windows.py")
frames = seen_by("tests/operators/test_open_frames.py")
empty_windows = seen_by("tests/operators/test_empty_windows_operator.py")
unended = seen_by("tests/operators/test_unended_events.py")
clocks = seen_by("tests/operators/test_clock.py")

WITHOUT_SPARK = (
    opened(
        "a window is final before the watermark has passed its end",
        "OpenWindows._windows_of",
        Code("end <= now", "end <= now + 1"),
    ),
    opened(
        "changes are given once more",
        "OpenWindows.take",
        Code("np.zeros(self.slices.num_rows, np.int64)", "np.ones(self.slices.num_rows, np.int64)"),
    ),
    opened(
        "a key is not read when changes are to be given",
        "OpenWindows.deadlines",
        Code(
            "np.minimum.at(deadlines, changed, next_report(self.query.every, self.released))",
            "pass",
        ),
    ),
    opened(
        "pieces of windows that are final are kept",
        "OpenWindows._drop_pieces",
        Code("filter_rows(self.slices, stay)", "self.slices"),
    ),
    empty_windows(
        "a window without rows follows one more than may follow",
        "EmptyWindows._last_to_follow",
        Code("window + self.query.most", "window + self.query.most + 1"),
    ),
    empty_windows(
        "windows without rows begin anew when the next batch comes",
        "EmptyWindows.take",
        Code("pa.array(given + count)", "pa.array(window)"),
    ),
    empty_windows(
        "a key is not read when a window without rows ends",
        "EmptyWindows.deadlines",
        Code("grid.window_end(following)", "grid.window_end(following + 1)"),
    ),
    clocks(
        "a unit is passed before those before it",
        "Clock._tops",
        Code("np.maximum.accumulate(tops)", "tops"),
    ),
    frames(
        "open frames are given once more",
        "FrameOperator._give_open",
        Code("assembly.changed[:] = 0", "pass"),
    ),
    frames(
        "a key is not read when its open frame is to be given",
        "FrameOperator.deadlines",
        Code("np.minimum(report, due)", "due"),
    ),
    frames(
        "changes are given before they are asked for",
        "is_report",
        Code("before // every < now // every", "True"),
    ),
    frames(
        "open frames that are given take a number each time",
        "SeveralAssembly.open_frames",
        Code("self.ids = ids", "pass"),
    ),
    frames(
        "an open frame whose last rows may leave it is given, however small it is then",
        "Scheme.may_vanish",
        Code("self.numbers[1] > 0", "self.numbers[1] < 0"),
    ),
    unended(
        "an event without a stop is running an instant longer than it may",
        "UnendedEvents._certain_last",
        Code("self.query.longest - 1", "self.query.longest"),
    ),
    unended(
        "what says that an event has begun is newer than what says that it has ended",
        "UnendedEvents._learn",
        Code("np.where(last == RUNNING, np.int64(BEGINNING), last)", "last"),
    ),
    unended(
        "a late row is taken although nothing is known of its event",
        "UnendedEvents._learn",
        Code("np.logical_or.reduceat(~late[order], runs)", "np.ones(len(runs), np.bool_)"),
    ),
    unended(
        "an event is late if what is newest of it is",
        "UnendedEvents._learn",
        Code("np.logical_or.reduceat(~late[order], runs)", "~late[newest]"),
    ),
    unended(
        "windows that have lost their events are not given again",
        "UnendedEvents._with_traces",
        Code("given > BEGINNING", "given > RUNNING"),
    ),
    unended(
        "events that are over are kept",
        "UnendedEvents._drop_events",
        Code("filter_rows(self.slices, stay)", "self.slices"),
    ),
    unended(
        "a key is not read when an early window begins in which an event is running",
        "UnendedEvents.deadlines",
        Code("np.minimum.at(deadlines, code[running], starts + 1)", "pass"),
    ),
    unended(
        "a key is not read when changes of running events are to be given",
        "UnendedEvents.deadlines",
        Code("np.minimum.at(deadlines, changed, next_report(query.every, self.released))", "pass"),
    ),
)
