"""What other systems' own tests say, as data: rows in, windows out, and where it is written.

The tables hold facts only: no test of theirs is copied. A case says which windows of fanlight
correspond to theirs; where these differ on purpose, ``ours`` is what fanlight gives instead, and
``why`` the reason, which the documentation gives, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from tests.helpers.dataframes import BLANK

SECOND = 1_000_000
MILLISECOND = 1_000
TODAY = 20_000 * 86_400 * SECOND  # a whole number of all windows of the streams
CLOCK = 1_459_107_540 * SECOND  # 2016-03-27 19:39, where Spark's tests of windows take place
TIMES = ("ts", "began", "start", "end", "last")
# Every column that a table of results may have, as the aggregate of fanlight that it is.
REQUESTS = {
    "count": ("count",),
    "known": ("count", "s"),
    "sum": ("sum", "n"),
    "least": ("min", "n"),
    "most": ("max", "n"),
    "mean": ("avg", "n"),
    "first_v": ("first", "v"),
    "last_v": ("last", "v"),
    "mean_v": ("avg", "v"),
    "last": ("max", "i"),
}
BY = ["case", "k"]
CLOSE = 1e-5  # to which share the suites give means

Rows = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Suite:
    """Where facts come from."""

    repository: str
    file: str


@dataclass(frozen=True)
class Case:
    """One test of another project: rows, and the windows that must come of them.

    ``unless`` is SQL for rows that their query skips, ``having`` for results that it leaves out:
    a user of fanlight writes ``where`` before and after. A ``step`` of a stream is the rows of a
    micro-batch and the watermark after it.
    """

    suite: Suite
    test: str
    spec: Any
    rows: Rows
    wanted: Rows
    ours: Rows | None = None
    why: str = ""
    time: Any = "ts"
    unless: str | None = None
    having: str | None = None
    steps: tuple[tuple[Rows, int], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.suite.file.rsplit('/', 1)[-1]}: {self.test}"

    @property
    def expected(self) -> Rows:
        return self.wanted if self.ours is None else self.ours


def facts(header, *lines, unit=SECOND, base=0):
    """Lines of values under the names of the header; times are ``base`` and so many units."""
    names = header.split()
    return tuple(
        {
            name: base + value * unit if name in TIMES and value is not None else value
            for name, value in zip(names, line, strict=True)
        }
        for line in lines
    )


def given(header, *lines, unit=SECOND, base=0):
    """Rows of input: every column of the tests' schema, and the time once more as a number."""
    found = facts(header, *lines, unit=unit, base=base)
    return tuple({**BLANK, "i": row["ts"], **row} for row in found)


def steps(rows, *parts):
    """Micro-batches: of ``(how many rows, the watermark after them)``, in order."""
    found, at = [], 0
    for count, watermark in parts:
        found.append((rows[at : at + count], watermark))
        at += count
    assert at == len(rows)
    return tuple(found)


def shifted(row, by):
    """A row or a result, so much later."""
    moved = {name: row[name] + by for name in (*TIMES, "i") if row.get(name) is not None}
    return {**row, **moved}


def later(case):
    """The same far from 1970, where Spark's watermark begins."""

    def move(rows):
        return tuple(shifted(row, TODAY) for row in rows)

    return replace(
        case,
        rows=move(case.rows),
        wanted=move(case.wanted),
        ours=None if case.ours is None else move(case.ours),
        steps=tuple((move(rows), mark + TODAY) for rows, mark in case.steps),
    )


def differences(got, wanted, name):
    """What is wrong with results, in words; only the columns that a case names are compared."""
    columns = list(wanted[0]) if wanted else ["start"]
    floats = [column for column in columns if isinstance(wanted and wanted[0][column], float)]

    def key(row):
        return tuple((str(type(row[c])), row[c]) for c in columns if c not in floats)

    ours = sorted(({c: row[c] for c in columns} for row in got), key=key)
    theirs = sorted(wanted, key=key)
    if [key(row) for row in ours] != [key(row) for row in theirs]:
        return [f"{name}:\n  got      {ours}\n  expected {theirs}"]
    return [
        f"{name}: {column} is {row[column]!r}, expected {other[column]!r}"
        for row, other in zip(ours, theirs, strict=True)
        for column in floats
        if row[column] is None or not math.isclose(row[column], other[column], rel_tol=CLOSE)
    ]


def flat(row):
    """A result with its bounds as columns."""
    return {**row, "start": row["window"]["start"], "end": row["window"]["end"]}
