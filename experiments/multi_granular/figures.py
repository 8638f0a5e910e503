"""What is measured for each figure: seconds a timestamp, and bytes."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from experiments.multi_granular import chain, chain_states
from experiments.multi_granular.connections import connections

# Levels whose widest spans 40 timestamps, by their number.
BY_COUNT = {
    1: ([40], [1]),
    2: ([8, 40], [1, 8]),
    3: ([8, 24, 40], [1, 8, 8]),
    4: ([4, 8, 24, 40], [1, 2, 8, 8]),
    5: ([4, 8, 16, 24, 40], [1, 2, 4, 8, 8]),
    6: ([2, 4, 8, 16, 24, 40], [1, 1, 2, 4, 8, 8]),
    8: ([2, 4, 6, 8, 16, 24, 32, 40], [1, 1, 2, 2, 4, 8, 8, 8]),
}
# Five levels of twelve granules each, the slides growing by a factor.
BY_EXTENT = {
    12 * f**4: ([12 * f**k for k in range(5)], [f**k for k in range(5)]) for f in (2, 3, 4, 6)
}
OPERATIONS = ("SUM", "regression", "recurring")
ITEMS = (5, 10, 64, 128, 1000)  # how many can recur; the paper plots 5 and 10


def fastest(works, runs):
    """The least CPU seconds of each, run in turn: other work on the machine is no part of them."""
    best = [float("inf")] * len(works)
    for _ in range(runs):
        for number, work in enumerate(works):
            began = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - began)
    return best


def lifted(records, operation):
    """A partial a timestamp, from all its records: node δ_0 takes them in."""
    begins = np.arange(0, len(records.timestamp), records.rate)
    if operation == "SUM":
        return np.add.reduceat(records.duration, begins)
    if operation == "regression":
        return np.add.reduceat(records.duration, begins) / records.rate
    return chain_states.gathered(records.protocol, records.rate)


def rolled(partials, levels, operation):
    """The chain over the partials: all levels at all their slides."""
    if operation == "SUM":
        return chain.chained(partials, levels, "sum").levels
    if operation == "regression":
        return chain_states.fitted(partials, levels)
    return chain_states.recurring(partials, levels)


def maintained(records, given, operation):
    """The multi-granular window."""
    return rolled(lifted(records, operation), chain.stairs(*given), operation)


def apart(records, given, operation):
    """A sliding window for each level, with partials of its own."""
    return [
        rolled(lifted(records, operation), chain.stairs([span], [pace]), operation)
        for span, pace in zip(*given, strict=True)
    ]


def check(records, given):
    """Both give the same answers, and they are right."""
    for operation in ("SUM", "regression"):
        together, alone = maintained(records, given, operation), apart(records, given, operation)
        for one, (other,) in zip(together, alone, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    sets = lifted(records, "recurring")
    found = maintained(records, given, "recurring")
    spans, pace = given[0], given[1][-1]
    for number, row in enumerate(found):
        end = (number + 1) * pace
        cuts = [end, *(max(end - span, 0) for span in spans)]
        rings = [np.bitwise_or.reduce(sets[low:high]) for high, low in pairwise(cuts)]
        expected = np.bitwise_and.reduce(rings)
        if not np.array_equal(row, expected):
            raise SystemExit(f"recurring items at {end}: {row} is not {expected}")


def cost(records, given, operation, runs):
    """Milliseconds a timestamp: multi-granular, and separate sliding windows."""
    count = len(records.timestamp) // records.rate
    works = [lambda way=way: way(records, given, operation) for way in (maintained, apart)]
    return [seconds / count * 1000 for seconds in fastest(works, runs)]


def figure_5(rates, timestamps, runs):
    """Cost against arrival rate, 5 levels, 40 timestamps."""
    rows = []
    for rate in rates:
        records = connections(max(timestamps // rate, 60), rate)
        check(records, BY_COUNT[5])
        rows += [
            {"x": rate, "operation": name, "cost": c, "apart": a}
            for name in OPERATIONS
            for c, a in [cost(records, BY_COUNT[5], name, runs)]
        ]
    return rows


def figure_6(rate, timestamps, runs):
    """Cost against the number of levels, 40 timestamps."""
    records = connections(timestamps, rate)
    rows = []
    for count, given in BY_COUNT.items():
        check(records, given)
        rows += [
            {"x": count, "operation": name, "cost": c, "apart": a}
            for name in OPERATIONS
            for c, a in [cost(records, given, name, runs)]
        ]
    return rows


def figure_7(rate, timestamps, runs):
    """Cost against the extent, 5 levels of 12 granules."""
    records = connections(timestamps, rate)
    rows = []
    for extent, given in BY_EXTENT.items():
        check(records, given)
        rows += [
            {"x": extent, "operation": name, "cost": c, "apart": a}
            for name in OPERATIONS
            for c, a in [cost(records, given, name, runs)]
        ]
    return rows


def chain_alone(granules, runs):
    """Figures 6 and 7 without the rows: ns a granule, by levels and by extent."""
    values = np.random.default_rng(5).normal(size=granules)
    sets = chain_states.words(np.arange(granules), np.arange(granules) % 10, granules, 10)
    rows = []
    for what, table in (("levels", BY_COUNT), ("extent", BY_EXTENT)):
        for x, given in table.items():
            levels = chain.stairs(*given)
            timed = {
                "SUM": lambda levels=levels: chain.chained(values, levels, "sum"),
                "MAX": lambda levels=levels: chain.chained(values, levels, "max"),
                "MAX, searched": lambda levels=levels: chain.searched(values, levels, "max"),
                "regression": lambda levels=levels: chain_states.fitted(values, levels),
                "recurring": lambda levels=levels: chain_states.recurring(sets, levels),
            }
            for work in timed.values():
                work()
            taken = fastest(list(timed.values()), runs)
            rows.append(
                {"what": what, "x": x}
                | {n: t / granules * 1e9 for n, t in zip(timed, taken, strict=True)}
            )
    return rows


def extremes(granules, runs):
    """Max over values in order: two stacks beside the paper's search."""
    values = np.random.default_rng(6).normal(size=granules)
    orders = {
        "random": values,
        "ascending": np.sort(values),
        "descending": np.sort(values)[::-1].copy(),
    }
    rows = []
    for mu in (6, 60, 600):
        levels = chain.stairs([mu, 10 * mu], [1, mu])
        for order, given in orders.items():
            row = {"granules": mu, "order": order}
            ways = {"stacks": chain.chained, "search": chain.searched}
            touched = [way(given, levels, "max").touched for way in ways.values()]
            works = [lambda w=w, g=given, s=levels: w(g, s, "max") for w in ways.values()]
            for name, seconds, n in zip(ways, fastest(works, runs), touched, strict=True):
                row |= {name: seconds / granules * 1e9, f"{name} touches": n / granules}
            rows.append(row)
    return rows


def figure_8():
    """Bytes of nodes against the number of levels, extent 40: counted, not timed."""
    rows = []
    for count, given in BY_COUNT.items():
        levels = chain.stairs(*given)
        separate = [chain.stairs([span], [pace]) for span, pace in zip(*given, strict=True)]
        rows.append(
            {"levels": count, "SUM": chain.allocated(levels)}
            | {"regression": chain_states.fitted_bytes(levels)}
            | {f"recurring {n:,}": chain_states.recurring_bytes(levels, n) for n in ITEMS}
            | {"SUM, separate": sum(chain.allocated(one) for one in separate)}
            | {"paper's bound, partials": levels.held}
        )
    return rows
