"""Months in a coordinate of days, by Python's own dates."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

import numpy as np
import pytest

from fanlight.engine.plan.grid import Months, MonthsBack

EPOCH = date(1970, 1, 1)
NEAR = 1500  # days before and after 1970


def of(number):
    return EPOCH + timedelta(number)


def earlier(day, months):
    """The same day so many months earlier, or the last of that month."""
    count = day.year * 12 + day.month - 1 - months
    year, month = count // 12, count % 12 + 1
    return day.replace(
        year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1])
    )


@pytest.mark.parametrize("months", [1, 2, 11, 12])
@pytest.mark.parametrize("a_day", [1, 4])
def test_so_many_months_before_each_day(months, a_day):
    back = MonthsBack(months, a_day)
    starts = {n: (earlier(of(n), months) - EPOCH).days for n in range(-NEAR, NEAR)}
    lasts = np.array(list(starts)) * a_day - 1
    assert (back.first_place(lasts) // a_day).tolist() == list(starts.values())
    for day in range(-900, 900, 7):
        last = max(end for end in range(day, day + 31 * months + 5) if starts[end] <= day)
        for at in (day * a_day, day * a_day + a_day - 1):
            assert back.last_end(at) == last * a_day


@pytest.mark.parametrize("count", [1, 3, 12])
def test_months_that_begin_together(count):
    months = Months(count, 2, 1)
    for day in range(-150_000, 200_000, 17):
        month = (of(day).year - 1970) * 12 + of(day).month - 1
        first = month - (month - 2) % count
        begins = date(1970 + first // 12, first % 12 + 1, 1)
        after = date(1970 + (first + count) // 12, (first + count) % 12 + 1, 1)
        assert months.first_place(day) == (begins - EPOCH).days
        assert months.last_end(day) == (after - EPOCH).days
