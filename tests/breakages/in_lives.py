"""Breakages of keys that are forgotten."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code, InText

OPERATORS = "tests/operators/test_lives.py"
LAW = "tests/law/test_law.py"

lives = seen_by(OPERATORS)

WITHOUT_SPARK = (
    lives(
        "a row at the very end of the silence begins a life",
        "split_lives",
        Code("first - before > forget_after", "first - before >= forget_after"),
    ),
    lives(
        "a life that another has followed is not over",
        "split_lives",
        Code("now[previous[begins]] = OVER", "now[previous[begins]] = UNSEEN"),
    ),
    lives(
        "a key is forgotten an instant late",
        "complete_lives",
        Code("seen + forget_after <= watermark", "seen + forget_after < watermark"),
    ),
    lives(
        "the open frames of a forgotten key are lost",
        "FrameOperator._forget",
        Code("self._end(over) if over.any() else []", "[]"),
    ),
    lives(
        "a forgotten key is due only when its frame is",
        "FrameOperator.deadlines",
        Code(
            "due if forget_after is None else np.minimum(due, assembly.seen + forget_after)", "due"
        ),
    ),
)
ON_SPARK = (
    seen_by(LAW, "-k", "sliding and forgetting and split and rows")(
        "windows that wait for the rows of a forgotten key are lost",
        "TupleWindows._unfinished_windows",
        Code("np.maximum(cut.grid.last_window(rows - 1), ended)", "ended"),
    ),
    seen_by(LAW, "-k", "levels and forgetting and stream and not lines")(
        "levels that wait for the rows of a forgotten key are lost",
        "ChainWindows.take",
        Code("np.where(self.complete_lives, COMPLETE >> 1, now)", "now"),
    ),
    seen_by(LAW, "-k", "levels and forgetting and lines and split")(
        "a line goes on with the value before the silence",
        "ChainWindows._add_granules",
        Code("self.begin_lives(codes[order], *rows)", "codes[order]"),
    ),
    seen_by(LAW, "-k", "frames and forgetting and natively")(
        "natively, a row at the end of the silence begins a life",
        "divide_into_lives",
        InText(" > ", " >= "),
    ),
)
