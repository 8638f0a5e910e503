"""Episodes: the matcher against every way to choose rows, and one search a page against many."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.episodes import EpisodeSearch, Matcher
from fanlight.engine.operators.search import PageFormat
from fanlight.engine.operators.widening import WideningQuery
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spec import Episode, FanlightError, ProgressiveWidening
from fanlight.engine.spec.episode import Literal, Variable
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.helpers.widened import owner, pages_in

SCHEMA = pa.schema(
    [("event", pa.string()), ("fd", pa.int32()), ("result", pa.int64()), ("exe", pa.string())]
)
SHELL = """
accept fd=x => y
dup fd=y => 0 | dup fd=y => 1 | dup fd=y => 2
execve exe=z
"""


def table(rows):
    columns = list(zip(*rows, strict=True)) or [[]] * 4
    return pa.table(
        [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def search(text, rows, most=100, begins=()):
    matcher = Matcher.compile(Episode(text), SCHEMA, most)
    flags = np.zeros(len(rows), np.bool_)
    flags[[0, *begins] if rows else []] = True
    data = table(rows)
    found = matcher.search(data, flags)
    names = matcher.episode.variables
    captured = [column.to_pylist() for column in matcher.variable_values(data, found)]
    return [
        (first, last, dict(zip(names, values, strict=True)))
        for first, last, *values in zip(
            found.first.tolist(), found.last.tolist(), *captured, strict=True
        )
    ]


PAPER = [
    ("accept", 5, 6, None),
    ("dup", 6, 2, None),
    ("dup", 6, 1, None),
    ("dup", 6, 0, None),
    ("execve", None, None, "sh"),
]


def test_the_papers_episode():
    assert search(SHELL, PAPER) == [(0, 4, {"x": 5, "y": 6, "z": "sh"})]


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))), ids=str)
def test_events_of_a_step_come_in_any_order(order):
    rows = [PAPER[0], *(PAPER[i] for i in order), PAPER[4]]
    assert len(search(SHELL, rows)) == 1


@pytest.mark.parametrize(
    "rows",
    [
        [PAPER[0], PAPER[1], PAPER[2], PAPER[4]],  # one is missing
        [PAPER[1], PAPER[0], PAPER[2], PAPER[3], PAPER[4]],  # one is too early
        [PAPER[0], PAPER[1], PAPER[2], ("dup", 7, 0, None), PAPER[4]],  # of another connection
        [PAPER[0], PAPER[1], PAPER[2], ("dup", None, 0, None), PAPER[4]],  # null equals nothing
        [("accept", 5, None, None), *PAPER[1:]],
        [*PAPER[:4], ("execve", None, None, None)],
        [*PAPER[:4], ("execv", None, None, "sh")],
    ],
    ids=str,
)
def test_what_is_no_occurrence(rows):
    assert search(SHELL, rows) == []


def test_other_rows_may_come_between_and_two_episodes_may_cross():
    other = [(name, None if fd is None else fd + 10, r, exe) for name, fd, r, exe in PAPER]
    other[0] = ("accept", 15, 16, None)
    rows = [row for both in zip(PAPER, other, strict=True) for row in (*both, ("read", 6, 0, "sh"))]
    found = search(SHELL, rows)
    assert [(first, last, v["y"]) for first, last, v in found] == [(0, 12, 6), (1, 12, 16)]


def test_a_run_ends_where_rows_are_missing():
    assert search(SHELL, PAPER, begins=[2]) == []


def test_an_occurrence_spans_at_most_max_rows():
    assert len(search(SHELL, PAPER, most=5)) == 1
    assert search(SHELL, PAPER, most=4) == []


def test_only_the_innermost_occurrence_counts():
    rows = [("a", 1, 0, None), ("a", 2, 0, None), ("b", 9, 0, None), ("b", 8, 0, None)]
    assert search("a fd=x; b fd=y", rows) == [(1, 2, {"x": 2, "y": 9})]


PATTERNS = (
    "a fd=x; b fd=x",
    "a fd=x => y; b fd=y | c fd=x; a",
    "a | a | b; c",
    "a fd=x | b fd=x | c fd=y; a fd=y",
    "a fd=x => x; b",
    "a exe=z; b exe=z | b exe='q'",
    "a fd=_; b fd=1 => y; c => y",
    "a | b",
)


def fits(event, row, bound):
    """The values that the row gives the event's variables, or None if it does not fit."""
    names = dict(zip(SCHEMA.names, row, strict=True))
    if names["event"] != event.name:
        return None
    bound = dict(bound)
    for column, term in event.terms:
        value = names[column]
        if isinstance(term, Literal):
            if value != term.value:
                return None
        elif term.name == "_":
            continue
        elif value is None or bound.setdefault(term.name, value) != value:
            return None
    return bound


def by_hand(text, rows, most):
    """(first, last, shared values) of every minimal occurrence: all choices of rows are tried."""
    episode = Episode(text)
    spans = set()
    events = episode.events
    steps = [n for n, step in enumerate(episode.steps) for _ in step]
    for chosen in combinations(range(len(rows)), len(events)):
        if chosen[-1] - chosen[0] >= most:
            continue
        parts, at = [], 0
        for step in episode.steps:
            parts.append(list(permutations(chosen[at : at + len(step)])))
            at += len(step)
        for order in product(*parts):
            bound = {}
            for event, row in zip(events, [r for part in order for r in part], strict=True):
                bound = fits(event, rows[row], bound)
                if bound is None:
                    break
            if bound is not None:
                shared = tuple(bound[name] for name in episode.shared)
                spans.add((chosen[0], chosen[-1], shared))
    del steps
    return Counter(
        one
        for one in spans
        if not any(
            other != one and other[2] == one[2] and one[0] <= other[0] and other[1] <= one[1]
            for other in spans
        )
    )


rows_of_few = st.lists(
    st.tuples(
        st.sampled_from("aabbcx"),
        st.sampled_from((1, 2, None)),
        st.sampled_from((1, 2, None)),
        st.sampled_from(("q", "r", None)),
    ),
    max_size=11,
)


@shown(300)
@given(st.sampled_from(PATTERNS), rows_of_few, st.integers(2, 11))
def test_the_matcher_finds_all_minimal_occurrences_and_no_other(text, rows, most):
    shared = Episode(text).shared
    found = Counter(
        (first, last, tuple(values[name] for name in shared))
        for first, last, values in search(text, rows, most)
    )
    assert found == by_hand(text, rows, most)


# Through the operator: the search of pages that hold each row once.

PAGED = pa.schema([("k0", pa.string()), ("t", pa.int64()), ("hash", pa.int64())])
for _at, _field in enumerate(SCHEMA):
    PAGED = PAGED.append(pa.field(f"p{_at}", _field.type))


def through_pages(text, spec, rows, keys, times, size):
    kinds = dict(zip(SCHEMA.names, SCHEMA.types, strict=True))
    matcher = Matcher.compile(Episode(text), SCHEMA, spec.max_rows)
    fields = [(name, kinds[column]) for name, column in matcher.variable_columns.items()]
    fields += [("started", pa.int64()), ("ended", pa.int64()), ("rows", pa.int64())]
    result = pa.schema(fields)
    out = [("k0", pa.string()), ("start", pa.int64()), ("end", pa.int64())]
    out += [("level", pa.int32()), ("found", pa.int64())]
    out += [(f"m{i}", kind) for i, kind in enumerate(result.types)]
    columns = tuple((n, f"p{i}", kinds[n]) for i, n in enumerate(SCHEMA.names))
    levels = levels_of(spec)
    named = (("k", "k0", pa.string()),)
    form = PageFormat(
        levels, spec.max_rows, named, columns, result, result, pa.schema(out),
        records_errors=False, has_timestamps=False,
    )  # fmt: skip
    operator = Grouped(WideningQuery(PAGED, 1, 0, levels, spec.max_rows))
    pages = []
    for at in range(0, len(rows), size):
        part = list(zip(keys, times, range(len(rows)), rows, strict=True))[at : at + size]
        operator.feed(
            table_of_rows([(k, t, n, *row) for k, t, n, row in part], operator.query.schema)
        )
        after = times[at + size] if at + size < len(rows) else times[-1]
        pages += pages_in([operator.release(after - 1)])
    pages += pages_in([operator.finish()])
    found = EpisodeSearch(form, matcher, spec.max_duration.value)
    tables = [table.to_pylist() for page in pages for table in found(page)]
    return Counter(
        (m["k0"], m["level"], m["end"], m[f"m{len(fields) - 3}"], m[f"m{len(fields) - 2}"])
        for part in tables
        for m in part
    )


@pytest.mark.filterwarnings("ignore:a first batch:RuntimeWarning")
@shown(150)
@given(
    st.sampled_from(PATTERNS),
    rows_of_few,
    st.lists(st.sampled_from((0, 1, 1, 2, 5, 17)), min_size=11, max_size=11),
    st.lists(st.sampled_from("kkkm"), min_size=11, max_size=11),
    st.integers(1, 11),
    st.sampled_from((2, 3, 5)),
    st.sampled_from((2, 3)),
)
def test_a_page_is_searched_once_for_all_its_windows(text, rows, steps, keys, size, most, factor):
    spec = ProgressiveWidening(1, max_duration=20, max_rows=most, factor=factor)
    times = np.cumsum(steps).tolist()[: len(rows)]
    keys = keys[: len(rows)]
    wanted = Counter()
    for key in "km":
        mine = [n for n, one in enumerate(keys) if one == key]
        for first, last, _ in by_hand(text, [rows[n] for n in mine], most):
            low, high = times[mine[first]], times[mine[last]]
            place = owner(levels_of(spec), low, high)
            if high - low <= spec.max_duration.value:
                end = (place[1] + 1) * spec.durations[place[0]]
                wanted[key, place[0], end, low, high] += 1
    assert through_pages(text, spec, rows, keys, times, size) == wanted


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("accept nope=1", "'nope'"),
        ("accept fd='x'", "'fd'"),
        ("accept exe=5", "'exe'"),
        ("accept fd=x; execve exe=x", "'x'"),
    ],
)
def test_what_does_not_fit_the_columns(text, named):
    with pytest.raises(FanlightError, match=named):
        Matcher.compile(Episode(text), SCHEMA, 5)


def test_the_event_column_is_text():
    with pytest.raises(FanlightError, match="event='fd'"):
        Matcher.compile(Episode("a", event="fd"), SCHEMA, 5)


def test_numbers_beyond_64_bits_equal_nothing():
    assert search(f"a fd={2**70}", [("a", 1, 1, None)]) == []


def test_a_variable_is_read():
    (event,) = Episode("accept fd=x exe='it''s' => _").events
    assert event.terms == (
        ("fd", Variable("x")), ("exe", Literal("it's")), ("result", Variable("_"))
    )  # fmt: skip
