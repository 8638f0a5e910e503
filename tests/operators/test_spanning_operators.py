"""Every technique for events that last: the definition, any split, the paper's own examples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.algebra.monoids import Count, Max
from fanlight.engine.operators.arrow_tables import ints, numbers_between, table_of_rows
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.operators.spanning_events import PHI, TECHNIQUES, VARPHI, SpanningQuery
from fanlight.engine.plan.granules import cut_into_pairs
from fanlight.engine.plan.grid import Grid
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.operators.spanned import FIELDS, query, row

LATEST = 2**60


def folded(name, values):
    known = [value for value in values if value is not None]
    if not known:
        return None
    if name == "values":
        return sorted((value, known.count(value)) for value in set(known))
    return {"sum": sum, "max": lambda xs: float(max(xs)), "min": min}[name](known)


def defined(asked, events):
    axis, found = asked.cut.grid, {}
    for key, start, stop, value in events:
        for m in range(-400, 400):
            low = axis.offset + m * axis.slide
            high = low + axis.range
            inside = low <= start < high if start == stop else start < high and low < stop
            if inside:
                found.setdefault((repr(key), low), []).append(value)
    return {
        place: tuple(folded(name, values) for name in FIELDS[asked.technique])
        for place, values in found.items()
    }


def listed(asked, tables):
    found = {}
    for table in tables:
        for one in table.to_pylist() if table is not None else ():
            place = (repr(one["k"]), one["start"])
            assert place not in found, "released twice"
            values = one.get("values")
            tally = {}
            for entry in values or ():
                tally[entry["v"]] = tally.get(entry["v"], 0) + entry["n"]
            one["values"] = sorted(tally.items()) or None
            found[place] = tuple(one[name] for name in FIELDS[asked.technique])
    return found


events = st.lists(
    st.tuples(
        st.sampled_from([1.0, float("nan"), None]),
        st.integers(-40, 60),
        st.sampled_from((0, 0, 1, 4, 25)) | st.integers(0, 90),
        st.none() | st.integers(-5, 5),
    ),
    max_size=25,
)


@pytest.mark.parametrize("technique", TECHNIQUES)
@given(
    given=events,
    grid=st.tuples(st.integers(1, 14), st.integers(1, 14), st.integers(0, 4)),
    height=st.integers(1, 6),
    cuts=st.lists(st.integers(0, 25), max_size=3),
    resumed=st.booleans(),
)
@shown(80)
def test_any_split_gives_the_definition(technique, given, grid, height, cuts, resumed):
    """Events come in order of their stop and are cut into batches; state is packed between."""
    asked = query(technique, *grid, height)
    known = sorted(((k, s, s + lasts, v) for k, s, lasts, v in given), key=lambda e: e[2])
    ttp = max((stop - start for _, start, stop, _ in known), default=0) + 1
    operator, released = Grouped(asked), []
    edges = [0, *sorted(min(cut, len(known)) for cut in cuts), len(known)]
    for low, high in pairwise(edges):
        operator.feed(
            table_of_rows([row(asked, *event) for event in known[low:high]], operator.query.schema)
        )
        if high:
            released.append(operator.release(known[high - 1][2] - ttp))
        if resumed:
            operator = operator.restarted()
    released.append(operator.release(LATEST))
    assert listed(asked, released) == defined(asked, known)
    assert not operator.opened().keys
    assert operator.next_time is None


@pytest.mark.slow
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_state_does_not_grow_with_what_is_past(technique):
    asked, operator = query(technique, 10, 5), None
    operator = Grouped(asked)
    sizes = []
    # Levels hold more for a while and then less, so it takes long to see that they do not grow.
    count, after = (1000, 250) if technique == "levels" else (200, 20)
    for at in range(0, 3 * count, 3):
        operator.feed(table_of_rows([row(asked, 1.0, at - 20, at, at)], operator.query.schema))
        operator.release(at - 25)
        sizes.append(operator.size)
    allowed = 1.1 if technique == "levels" else 1
    assert max(sizes[2 * after :]) <= allowed * max(sizes[after : 2 * after])


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_silence_of_years_has_no_windows(technique):
    """Else the operator would visit each of them: 10 million million."""
    asked = query(technique, 10, 5)
    operator = Grouped(asked)
    later, events = 10**14, [(1.0, 0, 3, 4), (1.0, 7, 10, 5)]
    both = [*events, *((key, later + a, later + b, value) for key, a, b, value in events)]
    operator.feed(table_of_rows([row(asked, *event) for event in both], asked.schema))
    found = listed(asked, [operator.release(10**13), operator.restarted().finish()])
    once = defined(asked, events)
    assert found == once | {(key, later + start): values for (key, start), values in once.items()}


def test_structs_may_come_as_dicts():
    """As Spark's stateful operators give them; after a snapshot they are tuples."""
    asked = query("se-slicing", 10, 5)
    operator = Grouped(asked)
    for at in (0, 1):
        *rest, entries = row(asked, 1.0, at, at + 30, at)
        told = [{"v": value, "n": count} for value, count in entries]
        operator.feed(table_of_rows([(*rest, told)], operator.query.schema))
        operator = operator.restarted()
    found = listed(asked, [operator.release(LATEST)])
    assert found["1.0", 0] == (1, 1.0, 0, [(0, 1), (1, 1)])


# The worked examples of sections 3 and 4.3.1, number by number. Slices of 5 minutes.

WINDOW = Grid(15, 5)
NUMBERS = pa.schema([(name, pa.int64()) for name in ("t", "first_at", "last_at", "f0")])


class Slices:
    """An operator of one key, whose slices and levels have been given their partials."""

    def __init__(self, monoid, grid=WINDOW, height=1, partials=()):
        name = "se-slicing" if height == 1 else "se-ml-slicing"
        asked = SpanningQuery(NUMBERS, 0, (monoid,), cut_into_pairs(grid), name, height)
        self.operator = asked.start()
        rows = [(0, slice_, 2 * level + part, value) for slice_, level, part, value in partials]
        self.operator.slices = table_of_rows(rows, self.operator.slices.schema)
        self.operator.keys = pa.table({"rows": [0]})

    def insert(self, first, last, value):
        self.operator.take(table_of_rows([(0, first, last, value)], NUMBERS), BEGINNING)

    @property
    def levels(self):
        """Phi and varphi of each level of a slice."""
        found = {}
        for one in self.operator.slices.to_pylist():
            both = found.setdefault((one["place"], one["reach"] // 2), [None, None])
            both[one["reach"] % 2] = one["f0"]
        return found

    def read(self, window):
        """What is read to release a window: slice, level, phi or varphi."""
        place, reach = (ints(self.operator.slices[name]) for name in ("place", "reach"))
        low, high = self.operator.technique.windows(place, reach)
        rows = zip(place, reach // 2, reach % 2, (low <= window) & (window <= high), strict=True)
        return {tuple(map(int, one)) for *one, there in rows if there}

    def release(self, window):
        start = WINDOW.window_start(window)
        windows = self.operator.take(NUMBERS.empty_table(), WINDOW.window_end(window)).to_pylist()
        return next(one["f0"] for one in windows if one["start"] == start)


def test_54_devices():
    """Section 3.2.2: the pairs of seven slices, one call of 18 minutes at 34, window [0, 15)."""
    phi, varphi = (8, 19, 15, 18, 14, 12, 16), (25, 18, 12, 14, 11, 19, 16)
    given = [(at, 1, part, n) for part, row in ((PHI, phi), (VARPHI, varphi))
             for at, n in enumerate(row)]  # fmt: skip
    made = Slices(Count(), partials=given)
    made.insert(16, 33, 1)
    table = made.levels
    assert table[6, 1] == [17, 16]
    assert [table[slice_, 1] for slice_ in (3, 4, 5)] == [[18, 15], [14, 12], [12, 20]]
    assert [table[slice_, 1] for slice_ in (0, 1, 2)] == [[8, 25], [19, 18], [15, 12]]
    assert made.read(0) == {(0, 1, PHI), (1, 1, PHI), (2, 1, PHI), (2, 1, VARPHI)}
    assert made.release(0) == 8 + 19 + 15 + 12 == 54


def test_longest_call():
    """Section 3.2.1: maxima need one structure; the call of 18 changes slices 3 to 6."""
    longest = (20, 63, 19, 33, 12, 47, 14)
    made = Slices(Max(), partials=[(at, 1, PHI, value) for at, value in enumerate(longest)])
    made.insert(16, 33, 18)
    found = [max(part for part in made.levels[at, 1] if part is not None) for at in range(7)]
    assert found == [20, 63, 19, 33, 18, 47, 18]
    assert made.release(0) == 63


LEVELS = {  # slice: (phi, varphi) of levels 1, 2, 3
    10: ((5, 6), (5, 2), (4, 3)),
    11: ((3, 5), (7, 4), (5, 6)),
    12: ((6, 9), (4, 5), (5, 7)),
    13: ((5, 7), (3, 4), (4, 3)),
    14: ((5, 4), (5, 4), (4, 7)),
    15: ((5, 5), (4, 3), (5, 6)),
}


def test_91_devices():
    """Section 4.3.1: three levels, a call [61, 79), window [50, 65)."""
    before = {(s, k): list(both) for s, pairs in LEVELS.items() for k, both in enumerate(pairs, 1)}
    given = [(s, k, part, both[part]) for (s, k), both in before.items() for part in (PHI, VARPHI)]
    made = Slices(Count(), height=3, partials=given)
    made.insert(61, 78, 1)
    table = made.levels
    assert table[15, 3] == [6, 6]
    assert table[12, 1] == [6, 10]
    assert {place for place in before if before[place] != table[place]} == {(15, 3), (12, 1)}
    read = made.read(10)
    phis = {(slice_, level) for slice_, level, part in read if part == PHI}
    assert phis == set(_read_at(10, 12, 3))
    assert sum(table[place][PHI] for place in phis) == 55
    assert sum(table[s, k][VARPHI] for s, k, part in read if part == VARPHI) == 36
    assert made.release(10) == 91


def _read_at(lowest, final, height):
    """Figure 9: all levels of the window's slices, and those of later ones that reach back."""
    return [
        (slice_, level)
        for slice_ in range(lowest, final + height)
        for level in range(1, height + 1)
        if slice_ - level + 1 <= final
    ]


def test_hops_of_figure_8():
    """An event over seven slices at height 4: level 4 of slice 8, level 3 of slice 4."""
    made = Slices(Count(), Grid(1, 1), 4)
    made.insert(2, 8, 1)
    assert made.levels == {(8, 4): [1, None], (4, 3): [None, 1]}


def test_what_each_technique_keeps_of_an_event_and_reads_for_a_window():
    """The work of table 4: pieces of an event in windows -2 to 6, that is in slices 0 to 6."""
    kept = {}
    for name, made in TECHNIQUES.items():
        technique = made(cut_into_pairs(WINDOW), 3)
        _, place, reach = technique.pieces(np.array([0]), np.array([34]))
        low, high = technique.windows(place, reach)
        kept[name] = len(place)
        _, windows = numbers_between(place, low, high)
        assert sorted(windows.tolist()) == list(range(-2, 7)), name
    assert kept == {
        "tuple-buckets": 9, "aggregate-buckets": 9, "cumulative-sweeping": 1,
        "selective-sweeping": 1, "se-slicing": 7, "se-ml-slicing": 3, "levels": 2,
    }  # fmt: skip
