"""The comparison on which the demo's verdict rests."""

from __future__ import annotations

import pyarrow as pa
import pytest

from demo.compare import count_differences

KEYS = ("origin", "window.start")


def table(*rows):
    return pa.table({
        "origin": [row[0] for row in rows],
        "window": [{"start": row[1], "end": row[2]} for row in rows],
        "departures": [row[3] for row in rows],
        "mean_delay": [row[4] for row in rows],
    })  # fmt: skip


ROWS = (("JFK", 0, 6, 3, 0.1), ("JFK", 6, 12, 1, None), ("LGA", 0, 6, 2, -4.0))


def test_equal_tables_have_no_difference_in_whatever_order_columns_are():
    assert count_differences(table(*ROWS), table(*ROWS), KEYS) == 0
    other = table(*ROWS).select(["mean_delay", "window", "departures", "origin"])
    assert count_differences(table(*ROWS), other, KEYS) == 0


@pytest.mark.parametrize(
    "other",
    [
        ROWS[:-1],  # a window is missing
        (*ROWS, ("LGA", 6, 12, 1, 0.0)),  # one too many
        (*ROWS[:-1], ("LGA", 0, 6, 2, -4.0000000001)),  # equal, not close
        (*ROWS[:-1], ("LGA", 0, 7, 2, -4.0)),
        (*ROWS[:-1], ("LGA", 0, 6, 2, None)),
        (*ROWS[:-1], ("LGA", 0, 6, 3, -4.0)),
    ],
)
def test_each_different_window_counts_once(other):
    assert count_differences(table(*ROWS), table(*other), KEYS) == 1
    assert count_differences(table(*other), table(*ROWS), KEYS) == 1


def test_windows_that_are_another_count_on_both_sides():
    other = (*ROWS[:-1], ("LGA", 1, 7, 2, -4.0))
    assert count_differences(table(*ROWS), table(*other), KEYS) == 2


def test_other_columns_are_no_answer():
    with pytest.raises(AssertionError, match="are not the columns"):
        count_differences(table(*ROWS), table(*ROWS).drop_columns("departures"), KEYS)
