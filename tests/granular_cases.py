"""Levels and sets of queries to test with, and whether a result is the oracle's."""

from __future__ import annotations

import fanlight as fl
from fanlight.reference import fit, granular, queries, recurring, windows
from fanlight.reference.aggregates import split
from fanlight.reference.granular import _begun, _since
from fanlight.reference.values import rank
from tests.compare import CLOSE, FEW, _difference, same, tolerance

LEVELS = (
    fl.MultiGranular(
        ["4 minutes", "9 minutes", "18 minutes"], ["1 minute", "3 minutes", "6 minutes"]
    ),
    # slides that do not divide one another
    fl.MultiGranular(["4 minutes", "9 minutes"], ["2 minutes", "3 minutes"]),
    fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "4 minutes"], offset="-25 seconds"),
)
SINCE = 1_700_000_000_000_000 - 1_700_000_000_000_000 % 60_000_000 + 120_000_000
BEGUN = fl.MultiGranular(
    ["4 minutes", "9 minutes"], ["2 minutes", "3 minutes"], offset=f"{SINCE} microseconds"
)
CONTINUOUS = fl.MultiGranular(
    ["4 minutes", "9 minutes"],
    ["2 minutes", "3 minutes"],
    report="continuous",
    horizons=["5 minutes", "30 seconds"],
)
AGED = fl.MultiGranular(
    ["4 minutes", "9 minutes", "18 minutes"],
    ["2 minutes", "3 minutes", "6 minutes"],
    weights=[1, 0.5, 0.1],
)
CHANGES = fl.MultiGranular(["4 minutes", "9 minutes"], ["1 minute", "3 minutes"], changes_only=True)
ROWS = (
    fl.MultiGranular([fl.rows(4), fl.rows(9)], [fl.rows(2), fl.rows(3)]),
    fl.MultiGranular([fl.rows(2), fl.rows(6)], [fl.rows(1), fl.rows(2)], offset=2),
)
WHOLE = fl.MultiGranular([4, 12], [2, 4], offset=-3)
REAL = fl.MultiGranular([0.3, 1.2], [0.1, 0.4])
QUERIES = (
    [
        fl.Sliding("9 minutes", "6 minutes"),
        fl.Sliding("4 minutes", "1 minute"),
        fl.Sliding("2 minutes", "5 minutes", offset="7 seconds"),
    ],
    [fl.Sliding("2 minutes", "5 minutes"), fl.Sliding("1 minute", "5 minutes", offset="1 minute")],
    [fl.Sliding("7 minutes"), fl.Sliding("10 minutes", "4 minutes"), fl.Sliding("70 seconds")],
)
ROW_QUERIES = [fl.Sliding(fl.rows(5), fl.rows(3)), fl.Sliding(fl.rows(4))]

PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
LINEAR = {
    "n": ("count",),
    "n_v": ("count", "v"),
    "s": ("sum", "v"),
    "a": ("avg", "n"),
    "d": ("sum", "d"),
}
STEADY = {"n": ("count",), "m": ("max", "v"), "least": ("min", "s"), "d": ("avg", "d")}


def place(row, label, by):
    window = row["window"]
    return tuple(rank(row[name]) for name in by), row[label], window["start"], window["end"]


def keyed(rows, label, by):
    found = {}
    for row in rows:
        assert place(row, label, by) not in found, f"{row} is reported twice"
        found[place(row, label, by)] = row
    return found


def check(got, rows, spec, requests=FEW, *, unfinished=True, **where):
    """Compare ``agg`` over levels or queries with the oracle."""
    levels = isinstance(spec, fl.MultiGranular)
    label = "level" if levels else "query"
    oracle = granular if levels else queries
    expected = oracle(rows, spec, aggregates=requests, unfinished=unfinished, **where)
    by = where.get("by", ())
    found, wanted = keyed(got, label, by), keyed(expected, label, by)
    assert found.keys() == wanted.keys(), _difference(found.keys(), wanted.keys())
    slack = _slacks(rows, spec, requests, unfinished, where)
    wrong = []
    for at, row in wanted.items():
        assert list(found[at]) == list(row)
        wrong += [
            f"{requests[name]} at {at}: got {found[at][name]!r}, expected {row[name]!r}"
            for name in requests
            if not same(found[at][name], row[name], slack[at][name])
        ]
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:12])
    return len(wanted)


def _slacks(rows, spec, requests, unfinished, where):
    """For each window how far each number may be off."""
    columns = [name for request in requests.values() for name in split(request)[1]]
    levels = isinstance(spec, fl.MultiGranular)
    several = [(one.number, one.windows) for one in spec.levels] if levels else enumerate(spec)
    kept = _since(rows, spec, where["time"]) if levels else rows
    found = {}
    for number, one in several:
        for window in windows(kept, one, values=columns, unfinished=unfinished, **where):
            members, start = _begun(window, spec) if levels else (window.rows, window.start)
            if not members:
                continue
            key = tuple(rank(part) for part in window.key), number, start, window.end
            found[key] = {}
            for name, request in requests.items():
                slack = tolerance(request, window, one, where["time"])
                if levels and spec.weights is not None:  # doubles, whatever was added
                    values = [1.0 if len(request) == 1 else row[request[1]] for row in members]
                    numbers = [1.0 if request[0] == "count" else float(v) for v in values if v]
                    slack = max(slack, CLOSE * sum(map(abs, numbers)))
                found[key][name] = slack
    return found


def check_fit(got, rows, spec, column, *, slack=1e-9, **how):
    """Compare ``fit`` with the oracle: ``slack`` of the size of the values."""
    expected = fit(rows, spec, column, **how)
    by = how.get("by", ())
    found, wanted = keyed(got, "level", by), keyed(expected, "level", by)
    assert found.keys() == wanted.keys(), _difference(found.keys(), wanted.keys())
    largest = max((abs(float(row[column])) for row in rows if row[column] is not None), default=1)
    for at, row in wanted.items():
        for name, size in (("slope", largest), ("intercept", largest), ("r2", 1.0)):
            assert same(found[at][name], row[name], slack * size), (at, name, found[at], row)
    return len(wanted)


def check_recurring(got, rows, spec, column, **how):
    """Compare ``recurring`` with the oracle."""
    expected = recurring(rows, spec, column, **how)
    by = how.get("by", ())

    def ordered(given):
        return sorted(
            (*place(row, "level", by), rank(row[column]), row.get("count")) for row in given
        )

    assert ordered(got) == ordered(expected)
    return len(expected)
