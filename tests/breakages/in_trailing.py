"""Breakages of trailing windows."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code

trailing = seen_by("tests/operators/test_trailing_operator.py")

WITHOUT_SPARK = (
    trailing(
        "a row at the later end of a window is not in it",
        "find_ranges",
        Code("times[end] <= t - last", "times[end] < t - last"),
    ),
    trailing(
        "a row at the earlier end of a window is not in it",
        "find_ranges",
        Code("times[begin] < t - first", "times[begin] <= t - first"),
    ),
    trailing(
        "rows that a later one looks back at are dropped",
        "Trailer._drop_rows",
        Code("hi if horizon.whole else lo", "hi"),
    ),
    trailing(
        "all rows before are forgotten instead of combined",
        "Trailer._drop_rows",
        Code("not self.query.is_whole", "True"),
    ),
    trailing(
        "a row is among those that it looks back at without itself",
        "Trailer._combine",
        Code("(own >= lo) & (own < hi)", "(own >= lo) & (own < lo)"),
    ),
    trailing(
        "a row that asks breaks a silence of its key",
        "Trailer._by_lives",
        Code(
            'self.begin_lives(codes, ints(rows["t"]), last)',
            'self.begin_lives(codes, ints(rows["t"]), ints(rows["t"]))',
        ),
    ),
    trailing(
        "a key that is only asked about stays in the state",
        "Trailer._drop_rows",
        Code('ints(self.keys["seen"]) < UNSEEN', "True"),
    ),
    seen_by("tests/operators/test_ranked.py")(
        "ranks are not in the order of values",
        "rank_values",
        Code(
            "rank_of[ints(order)] = np.arange(len(values))", "rank_of[:] = np.arange(len(values))"
        ),
    ),
    trailing(
        "rows of one time are cut apart by a chunk",
        "BatchOperator._parts",
        Code("int(np.searchsorted(times, max(int(times[-1]), BEGINNING + 1)))", "len(times)"),
    ),
)
