"""Searching pages: each match once, as the reference reports it, and errors that say where."""

from __future__ import annotations

import warnings
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.operators.search import DetectorError, FunctionSearch, PageFormat, Place
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spec.widening import ProgressiveWidening
from tests.helpers.shown import shown
from tests.helpers.widened import SPECS, dicts, pairs, run, streams
from tests.oracle.widening import detected

pytestmark = pytest.mark.filterwarnings("ignore:a first batch:RuntimeWarning")
RESULT = pa.schema([("what", pa.string())])
SPANNED = pa.schema([("what", pa.string()), ("began", pa.int64()), ("ended", pa.int64())])


def page_format(spec, result=RESULT, *, recorded=False):
    out = [("k0", pa.string()), ("start", pa.int64()), ("end", pa.int64())]
    out += [("level", pa.int32()), ("found", pa.int64())]
    out += [(f"m{i}", kind) for i, kind in enumerate(result.types)]
    out += [("error", pa.string())] if recorded else []
    columns = (("k", "k0", pa.string()), ("t", "t", pa.int64()), ("v", "v", pa.int64()))
    keys = (("k", "k0", pa.string()),)
    return PageFormat(
        levels_of(spec), spec.max_rows, keys, columns, result, result, pa.schema(out), recorded,
        has_timestamps=False,
    )  # fmt: skip


def searched(spec, events, size, function, **how):
    result, recorded = how.pop("result", RESULT), how.get("on_error") == "record"
    search = FunctionSearch(page_format(spec, result, recorded=recorded), function, **how)
    found = []
    for page in run(spec, events, size):
        for table in search(page):
            found += table.to_pylist()
    return found


def by_value(rows):
    values = rows["v"].to_pylist()
    return [{"what": f"{values[i] % 2}"} for i, j in pairs(values)]


def by_span(rows):
    values, times = rows["v"].to_pylist(), rows["t"].to_pylist()
    for i, j in pairs(values):
        yield {"what": f"{values[i] % 2}", "began": times[i], "ended": times[j]}


def oracle(window):
    for i, j in pairs([row["v"] for row in window]):
        yield f"{window[i]['v'] % 2}", (window[i], window[j])


def compared(found):
    return Counter((m["k0"], m["level"], m["start"], m["end"], m["found"], m["m0"]) for m in found)


def expected(spec, rows, **how):
    found = detected(dicts(rows), spec, oracle, time="t", by=["k"], tiebreak=["b", "v"], **how)
    return Counter(
        (m["k"], m["level"], m["window"]["start"], m["window"]["end"], m["found_at"], m["match"])
        for m in found
    )


@shown(120)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30), st.booleans())
def test_each_match_is_reported_once_though_its_rows_are_unknown(spec, rows, size, across):
    found = searched(spec, rows, size, by_value, across_cuts=across)
    assert compared(found) == expected(spec, rows, across_cuts=across)


@shown(120)
@given(st.sampled_from(SPECS), streams(), st.integers(1, 30), st.booleans())
def test_each_match_is_reported_once_by_its_span(spec, rows, size, across):
    how = {"result": SPANNED, "span": ("began", "ended"), "across_cuts": across}
    assert compared(searched(spec, rows, size, by_span, **how)) == expected(
        spec, rows, across_cuts=across
    )


def in_a_row(most, span):
    """A detector that finds every few rows that follow one another, named by their values."""

    def detector(rows):
        values, times = rows["v"].to_pylist(), rows["t"].to_pylist()
        for first in range(len(values)):
            for last in range(first, min(first + most, len(values))):
                found = {"what": repr(values[first : last + 1])}
                yield found | ({"began": times[first], "ended": times[last]} if span else {})

    return detector


def those_in_a_row(rows, most):
    """By brute force: the rows of a key that follow one another, and how long they take."""
    keyed = {}
    for row in sorted(rows, key=lambda row: row[1:]):
        keyed.setdefault(row[0], []).append(row)
    for key, mine in keyed.items():
        for first in range(len(mine)):
            for last in range(first, min(first + most, len(mine))):
                few = mine[first : last + 1]
                yield (key, repr([row[3] for row in few])), few[-1][1] - few[0][1]


@pytest.mark.parametrize("by_span", [False, True])
@shown(150)
@given(spec=st.sampled_from(SPECS), rows=streams(), size=st.integers(1, 30))
def test_theorem_1_holds_of_uncut_runs(spec, rows, size, by_span):
    """All patterns that the theorem promises are found, once, and none that never happened."""
    how = {"result": SPANNED, "span": ("began", "ended")} if by_span else {}
    matches = searched(spec, rows, size, in_a_row(spec.max_rows, by_span), **how)
    found = Counter((m["k0"], m["m0"]) for m in matches)
    true = dict(those_in_a_row(rows, spec.max_rows))
    assert set(found.values()) <= {1}
    assert set(found) <= set(true)
    assert {what for what, took in true.items() if took <= spec.max_duration.value} <= set(found)


NOTES = "AxCCxx___B"


def without_a_c(rows):
    notes = "".join(NOTES[at] for at in rows["v"].to_pylist())
    first, last = notes.find("A"), notes.rfind("B")
    return [{"what": notes}] if 0 <= first < last and "C" not in notes[first:last] else []


def test_rows_that_a_cut_made_neighbours_are_not_searched_together():
    """A ... B with no C between: nothing of the kind has happened."""
    events = [("a", 2 * at, "x", at) for at, note in enumerate(NOTES) if note != "_"]
    spec = ProgressiveWidening(2, max_duration=32, max_rows=2)
    assert searched(spec, events, 99, without_a_c) == []
    (found,) = searched(spec, events, 99, without_a_c, across_cuts=True)
    assert found["m0"] == "AxxxB"


SPEC = ProgressiveWidening(10, max_duration=80, max_rows=5)
EVENTS = [("a", at, "x", at) for at in range(0, 200, 3)]


def test_once_by_some_columns():
    def tries(rows):
        count = sum(value % 4 == 0 for value in rows["v"].to_pylist())
        return [{"what": "x", "n": count}] if count >= 3 else []

    result = pa.schema([("what", pa.string()), ("n", pa.int64())])
    slow = EVENTS[::4]
    for across in (False, True):
        how = {"result": result, "across_cuts": across}
        every = searched(SPEC, slow, 99, tries, **how)
        once = searched(SPEC, slow, 99, tries, once=("what",), **how)
        assert 0 < len(once) < len(every)


def test_the_same_whatever_the_rows_come_as():
    def of_dicts(rows):
        return [{"what": f"{rows[i]['v'] % 2}"} for i, j in pairs([row["v"] for row in rows])]

    def of_pandas(rows):
        import pandas as pd

        assert isinstance(rows, pd.DataFrame)
        values = rows["v"].tolist()
        return pd.DataFrame({"what": [f"{values[i] % 2}" for i, _ in pairs(values)]}, dtype="str")

    def of_arrow(rows):
        return pa.Table.from_pylist(by_value(rows), schema=RESULT)

    wanted = compared(searched(SPEC, EVENTS, 7, by_value))
    assert wanted
    assert compared(searched(SPEC, EVENTS, 7, of_dicts, rows="dicts")) == wanted
    assert compared(searched(SPEC, EVENTS, 7, of_pandas, rows="pandas")) == wanted
    assert compared(searched(SPEC, EVENTS, 7, of_arrow)) == wanted


@pytest.mark.parametrize("how", ["dicts", "pandas"])
def test_a_detector_that_changes_its_input_changes_nothing(how):
    def spoils(rows):
        values = [row["v"] for row in rows] if how == "dicts" else rows["v"].tolist()
        found = [{"what": f"{values[i] % 2}"} for i, j in pairs(values)]
        if how == "dicts":
            for row in rows:
                row["v"] = -1
            rows.clear()
        else:
            rows["v"] = -1
            rows.drop(rows.index, inplace=True)
        return found

    wanted = compared(searched(SPEC, EVENTS, 7, by_value))
    assert compared(searched(SPEC, EVENTS, 7, spoils, rows=how)) == wanted


@pytest.mark.parametrize("across", [False, True])
def test_the_detector_is_told_where_it_is(across):
    told = []

    def looks(rows, place):
        assert isinstance(place, Place)
        assert all(place.start <= t < place.end for t in rows["t"].to_pylist())
        times = rows["t"].to_pylist()
        steps = [i for i in range(1, len(times)) if times[i] - times[i - 1] > 3]
        assert list(place.cuts) == steps
        told.append(place)
        return []

    assert searched(SPEC, EVENTS, 99, looks, context=True, across_cuts=across) == []
    # With a row every 3 units, no run of a longer window holds what no shorter window held.
    assert {place.level for place in told} == ({0, 1, 2, 3} if across else {0, 1})
    assert any(place.cuts for place in told) == across
    assert all(dict(place.key) == {"k": "a"} for place in told)


def fails(rows):
    if 30 in rows["v"].to_pylist():
        raise KeyError("no such thing")
    return by_value(rows)


def test_an_exception_says_where():
    with pytest.raises(DetectorError, match=r"k='a', level 0, window \[20, 40\): KeyError"):
        searched(SPEC, EVENTS, 99, fails)


def test_an_exception_is_recorded_and_loses_no_other_match():
    found = searched(SPEC, EVENTS, 99, fails, on_error="record")
    bad = [m for m in found if m["error"] is not None]
    assert all(m["m0"] is None and "KeyError" in m["error"] for m in bad)
    assert {m["level"] for m in bad} >= {0, 1}
    assert len(bad) == len({(m["level"], m["start"]) for m in bad})
    whole = compared(searched(SPEC, EVENTS, 99, by_value))
    failed = {(m["level"], m["start"]) for m in bad}
    kept = Counter({m: n for m, n in whole.items() if (m[1], m[2]) not in failed})
    assert compared([m for m in found if m["error"] is None]) == kept


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "returned nothing"),
        ("text", "returned str"),
        ({"what": "x"}, "returned dict"),
        (5, "returned int"),
        ([5], "a match is int"),
        ([{"what": "x", "more": 1}], "has .'more'.*schema"),
        ([{}], "lacks .'what'"),
        ([{"what": 5}], "'what' is not of type string"),
        (pa.table({"other": ["x"]}), "lacks .'what'"),
        (pa.table({"what": [b"\xff"]}), "'what' is not of type string"),
    ],
    ids=str,
)
def test_what_the_schema_does_not_say(returned, said):
    with pytest.raises(DetectorError, match=said) as caught:
        searched(SPEC, EVENTS, 99, lambda _: returned)
    assert "level 0" in str(caught.value)


def test_a_span_outside_of_the_window():
    def wrong(rows):
        return [{"what": "x", "began": rows["t"][0].as_py(), "ended": 10**9}]

    with pytest.raises(DetectorError, match="began and ended from"):
        searched(SPEC, EVENTS, 99, wrong, result=SPANNED, span=("began", "ended"))


def test_a_first_batch_that_is_too_long_is_told():
    dense = [("a", at // 40, "x", at) for at in range(800)]
    with pytest.warns(RuntimeWarning, match="a first batch holds 400 rows.*max_rows=5"):
        searched(SPEC, dense, 999, lambda _: [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        searched(SPEC, EVENTS, 999, lambda _: [])
