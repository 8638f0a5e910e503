"""Breakages of windows that are given while they are open, and of stored pieces."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code

opened = seen_by("tests/operators/test_open_windows.py")

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
        Code("np.minimum.at(deadlines, changed, report)", "pass"),
    ),
    opened(
        "pieces of windows that are final are kept",
        "OpenWindows._drop_pieces",
        Code("not stay.all()", "False"),
    ),
)
