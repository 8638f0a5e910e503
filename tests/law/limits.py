"""Numbers at the limits of their types: what is asked of them, and what Spark makes of the result.

Doubles have infinities, of which percentiles are asked; other numbers have sums. The limit is that
of the result. Sums are larger than it in windows without ANSI mode, where longs wrap around and
decimals are null; in ANSI mode they are so only on the way, from row to row.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from tests.law.ask import PLAIN, Setting
from tests.law.data import derived
from tests.oracle.aggregates import split

LONG = 2**63 - 1
WIDE = Decimal("9" * 28 + "." + "9" * 10)  # the largest decimal(38,10)
LEAST = WIDE.copy_negate()  # a minus sign would round it to 28 digits
MEAN = Decimal("9" * 24 + "." + "9" * 14)  # the largest decimal(38,14)
LONGS = (LONG, LONG, None, -LONG - 1, 5, LONG, -3)
WIDES = (WIDE, None, WIDE, Decimal("0.0000000001"), LEAST, WIDE, Decimal(1) / 8)
REQUESTS = {
    "whole": ("sum", "n"),
    "wide": ("sum", "b"),
    "mean": ("avg", "b"),
    "near": ("avg", "n"),
    "greatest": ("max", "b"),
    "none": ("count_distinct", "w"),
}
EXACT = {name: REQUESTS[name] for name in ("whole", "wide", "mean", "near")}
MIDDLES = {"middle": ("median", "v"), "low": ("percentile", "v", 0.25)}
DOUBLES = (float("-inf"), 0.0, None, float("inf"), 1e308, -1e308, float("nan"), 1.0)
NOT_ANSI = Setting("not ANSI", (("spark.sql.ansi.enabled", "false"),))
ANSI = Setting("ANSI", (("spark.sql.ansi.enabled", "true"),))


def beyond(rows):
    """Windows of several rows pass the limits; no row has a ``w``."""
    return [
        {**row, "n": LONGS[at % len(LONGS)], "b": WIDES[at % len(WIDES)], "w": None}
        for at, row in enumerate(rows)
    ]


def there_and_back(rows):
    """Each row five times: what four of them add up to passes the limits, and is nothing."""
    limits = ((LONG, WIDE), (LONG, WIDE), (-LONG, LEAST), (-LONG, LEAST))
    return [
        {**row, "n": n, "b": b, "w": None}
        for at, row in enumerate(rows)
        for n, b in (*limits, (at - 7, Decimal(at - 7) / 8))
    ]


def infinite(rows):
    """Half-way from a value to an infinite one is nowhere, or NaN."""
    return [{**row, "v": DOUBLES[at % len(DOUBLES)]} for at, row in enumerate(rows)]


def limited(kinds):
    """Each kind's samples that have sums, in batches and streams; one of each has infinities."""
    found = []
    for kind in kinds:
        sample = _summing(kind.sample)
        sample += _summing(ask for ask in kind.batch if ask.about == "many slices")[:2]
        found += [_of(ask, NOT_ANSI, beyond) for ask in sample]
        found += [_of(ask, ANSI, there_and_back) for ask in sample if not _counted(ask)]
        found += [
            _of(ask, setting, change, EXACT)
            for ask in kind.batch if ask.about == "exact"
            for setting, change in ((NOT_ANSI, beyond), (ANSI, there_and_back))
        ]  # fmt: skip
        found += [_of(ask, NOT_ANSI, beyond) for ask in _summing(kind.stream_sample)]
        found += [_of(ask, PLAIN, infinite, MIDDLES) for ask in _apart(kind.sample, "v")[:1]]
    return found


def refused(kinds):
    """An ask of each kind that Spark answers with an error, for each sum."""
    return [
        _of(ask, ANSI, beyond).again(requests={name: REQUESTS[name]})
        for kind in kinds
        for ask in _summing(kind.sample)[:1]
        for name in ("whole", "wide", "mean")
    ]


def _summing(sample):
    return _apart(sample, "n|w")


def _apart(sample, columns):
    """Those whose windows do not depend on the columns that are changed."""
    return [
        ask for ask in sample
        if ask.action == "agg" and ask.strategy != "differential"
        and not re.search(rf"\b({columns})\b", repr(ask.spec))
    ]  # fmt: skip


def _counted(ask):
    """Windows counted in rows have some of the five, and windows at every row have them all."""
    return "Rows(" in repr(ask.spec).replace("Rows(1)", "")


def _of(ask, setting, change, requests=REQUESTS):
    name = f"limits, {change.__name__.replace('_', ' ')}"
    return ask.again(
        about=f"{ask.about}, {name}",
        data=derived(ask.data, name, change),
        requests=requests,
        setting=setting,
    )


def as_spark(ask, wanted):
    """The oracle's exact answer as Spark has it without ANSI mode."""
    if dict(ask.setting.conf).get("spark.sql.ansi.enabled") != "false":
        return wanted
    return [replace(one, row={n: _fit(ask, n, v) for n, v in one.row.items()}) for one in wanted]


def _fit(ask, name, value):
    if name not in ask.requests or value is None:
        return value
    function, columns, _ = split(ask.requests[name])
    if function == "sum" and columns == ("n",) and isinstance(value, int):
        return (value + 2**63) % 2**64 - 2**63
    if function in ("sum", "avg") and columns == ("b",) and isinstance(value, Decimal):
        limit = WIDE if function == "sum" else MEAN
        return value if value.copy_abs() <= limit else None
    return value
