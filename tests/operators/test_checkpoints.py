"""A processor goes on from the state of its own query, and from no other, whatever the operator."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

import pyarrow as pa
import pytest
from pyspark.sql import Row

import fanlight as fl
from fanlight.engine.algebra.filling import Filled
from fanlight.engine.algebra.monoids import Count, Max, Sum
from fanlight.engine.algebra.ordering import Distinct
from fanlight.engine.operators.arrow_tables import pack, table_of_rows
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.early_windows import DIRTY, OpenQuery, UnendedQuery
from fanlight.engine.operators.empty_windows import EmptyWindowsQuery
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.running_events import RunningQuery
from fanlight.engine.operators.spanning_events import SpanningQuery
from fanlight.engine.operators.stored_state import FORMAT, LAYOUT, add_header, check_header
from fanlight.engine.operators.trailing import TrailingQuery
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.operators.widening import WideningQuery
from fanlight.engine.plan.granules import LastRows, cut_into_panes
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.trailing import EVER, Horizon
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spark.ordered.processor import GroupProcessor
from fanlight.engine.spec.formats import RELEASE
from tests.helpers.frames import OVERLAPPING, RECOVERY, SPECS, query
from tests.helpers.house import ROOT
from tests.helpers.kept import Kept

GRID = Grid(4, 2, 0)
KEYED = [("k", pa.string()), ("t", pa.int64())]
PARTIAL = pa.schema([*KEYED, ("f0", pa.int64())])
SPANS = pa.schema([*KEYED, ("first_at", pa.int64()), ("last_at", pa.int64()), ("f0", pa.int64())])
HASHED = pa.schema([*KEYED, ("hash", pa.int64())])
WIDENING = levels_of(fl.ProgressiveWidening(2, max_duration=8, max_rows=5))
FRAMES, _ = query([], fl.ThresholdFrame("v > 1"))
# An operator of each family. All that differs from one of its queries to another is what it is
# asked for: partials have the same types, so nothing but the fingerprint tells.
FAMILIES = {
    "windows over rows": lambda monoid: TupleQuery(
        PARTIAL, 1, (monoid,), cut_into_panes(GRID), GRID
    ),
    "windows in a chain": lambda monoid: ChainQuery(PARTIAL, 1, (monoid,), (GRID, Grid(8, 4, 0))),
    "frames": lambda monoid: FrameQuery(
        FRAMES.scheme, FRAMES.schema, FRAMES.keys, FRAMES.order, FRAMES.inputs,
        FRAMES.partials, (monoid, Count(), Max()),
    ),
    "events": lambda monoid: SpanningQuery(SPANS, 1, (monoid,), cut_into_panes(GRID), "se-slicing"),
    "widening": lambda _: WideningQuery(HASHED, 1, 0, WIDENING, 5),
}  # fmt: skip


def fingerprint_of(family, aggregate):
    return {"windows": family, "aggregates": aggregate}


def processor(kept, family, monoid, aggregate):
    """The processor of a query that has just been started over what Spark has kept."""
    query = FAMILIES[family](monoid)
    made = GroupProcessor(query, fingerprint_of(family, aggregate), pa.schema([]))
    made.init(kept)
    return made


def rows(family, time, groups=1):
    """A row that every family takes, packed."""
    schema = FAMILIES[family](Sum()).schema
    values = {f.name: "a" if f.type == pa.string() else 1 for f in schema}
    values |= {f.name: True for f in schema if f.type == pa.bool_()}
    values |= {f.name: 1.5 for f in schema if f.type == pa.float64()}
    values |= {"t": time} | dict.fromkeys({"first_at", "last_at"} & set(schema.names), time - 4)
    packed = pack([table_of_rows([tuple(values.values())], schema)])
    return iter([Row(groups=groups, rows=packed)])


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def begun(family):
    """What a query that sums has left after a micro-batch: state, and a timer."""
    kept = Kept()
    made = processor(kept, family, Sum(), "Sum() of v")
    assert not list(made.handleInputRows(0, rows(family, 5_000), kept))
    assert kept.timers
    return kept


def test_the_same_query_goes_on(begun, family):
    made = processor(begun, family, Sum(), "Sum() of v")
    begun.watermark = 1_000_000
    before = dict(begun.variables)
    list(made.handleExpiredTimer(0, begun, None))
    assert begun.variables["state"] != before["state"]
    assert ("waiting", 0) not in begun.variables


@pytest.mark.parametrize("come", ["row", "timer"])
def test_another_query_is_refused_with_both(begun, family, come):
    made = processor(begun, family, Max(), "Max() of v")
    coming = {
        "row": made.handleInputRows(0, rows(family, 9_000), begun),
        "timer": made.handleExpiredTimer(0, begun, None),
    }
    with pytest.raises(fl.FanlightError) as caught:
        list(coming[come])
    said = str(caught.value)
    assert "a query with aggregates: Max() of v cannot go on" in said
    assert "begun with aggregates: Sum() of v;" in said
    assert "checkpointLocation" in said


@pytest.mark.parametrize(("before", "now"), permutations(FAMILIES, 2))
def test_another_kind_finds_the_state_and_is_refused(before, now):
    kept = Kept()
    first = processor(kept, before, Sum(), "Sum() of v")
    list(first.handleInputRows(0, rows(before, 5_000), kept))
    second = processor(kept, now, Sum(), "Sum() of v")
    with pytest.raises(fl.FanlightError, match=f"windows: {now} cannot.*windows: {before};"):
        list(second.handleInputRows(0, rows(now, 5_000), kept))


def written(number, release):
    """State as a release writes it, with the number of its format."""
    data = add_header(b"state", {"windows": "frames"}).replace(RELEASE.encode(), release.encode())
    return bytes([number]) + data[1:]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        *[(state, f"format {state[0]}, written by a fanlight before 0.1.0")
          for state in (b"\x01", b"\x02", b"\x03and more", b"\x04")],
        (written(FORMAT + 1, "0.3.7"), f"format {FORMAT + 1}, written by fanlight 0.3.7"),
        (bytes([FORMAT + 1]), f"format {FORMAT + 1}, written by an unknown release"),
        (bytes([FORMAT + 1]) + b"no header", f"format {FORMAT + 1}, written by an unknown release"),
    ],
)  # fmt: skip
def test_state_of_another_format_is_refused(family, state, told):
    kept = Kept()
    kept.variables["state"] = (state,)
    made = processor(kept, family, Sum(), "Sum() of v")
    with pytest.raises(fl.FanlightError) as caught:
        list(made.handleInputRows(0, rows(family, 5_000), kept))
    assert f"state of {told}" in str(caught.value)
    assert (
        f"fanlight {fl.__version__} reads format {FORMAT}: finish the query with the release"
        in str(caught.value)
    )
    assert "a checkpointLocation of its own and replay its source" in str(caught.value)


def test_state_of_another_layout_of_one_operator_is_refused_as_a_format_is():
    with pytest.raises(fl.FanlightError) as caught:
        check_header(written(FORMAT, "0.0.7"), {"windows": "frames", LAYOUT: "2"})
    assert "state of layout 1, written by fanlight 0.0.7, and" in str(caught.value)
    assert "reads layout 2: finish the query with the release that wrote it" in str(caught.value)
    with pytest.raises(fl.FanlightError, match="a query with windows: events, layout: 2 cannot"):
        check_header(written(FORMAT, "0.0.7"), {"windows": "events", LAYOUT: "2"})


def test_state_of_another_release_in_the_same_format_is_read():
    told = {"windows": "frames"}
    assert check_header(written(FORMAT, "0.1.7"), told) == b"state"
    assert check_header(add_header(b"state", told), told) == b"state"


def test_another_number_of_groups_is_refused(begun, family):
    """Else keys would not find their state."""
    made = processor(begun, family, Sum(), "Sum() of v")
    with pytest.raises(fl.FanlightError, match=r"8 partitions of keys cannot .* begun with 1;"):
        list(made.handleInputRows(0, rows(family, 9_000, groups=8), begun))


def test_timers_without_state_are_of_a_version_of_before(family):
    """It kept its state under other names."""
    kept = Kept()
    kept.timers.add(5)
    made = processor(kept, family, Sum(), "Sum() of v")
    with pytest.raises(
        fl.FanlightError, match=r"an earlier format, written by .* finish the query"
    ):
        list(made.handleInputRows(0, rows(family, 5_000), kept))


def test_a_seal_takes_any_text():
    told = {"spec": "ThresholdFrame(predicate=a = ': \n{c}' or b = \"ü\")", "by": ""}
    assert check_header(add_header(b"state", told), told) == b"state"


FORGETTING = {"forget_after": 9}
FILLED = pa.schema([*KEYED, ("f0", pa.struct([("v", pa.float64())]))])
PIECES = pa.schema([*KEYED, ("piece", pa.int64()), ("f0", pa.int64()), ("dirty", pa.int64())])
KNOWN = pa.schema([
    *KEYED, *[(name, pa.int64()) for name in ("known", "place", "last")], ("id", pa.string()),
    ("f0", pa.int64()),
])  # fmt: skip
WINDOWS = pa.schema([*KEYED, *[(name, pa.int64()) for name in ("query", "start", "x0")]])
TIED = pa.schema([*KEYED, ("tie0", pa.int64()), ("hash", pa.int64()), ("x0", pa.int64())])
VALUES = pa.schema([*KEYED, ("x0", pa.int64())])
EVER_BEFORE = (Horizon(EVER, 0, include_self=True),)


def trailing(*ranked, **more):
    return TrailingQuery(
        VALUES, 1, (Sum(),), EVER_BEFORE, ("x0",), ("x0",), ranked,
        partials=("f0",), sources=("x0",), **more,
    )  # fmt: skip


def framed(spec, **more):
    return query([], spec, **more)[0]


# Queries of each operator, by its name in STATE.md: together they have all columns that may be.
STATES = {
    "chain": lambda: [
        *(ChainQuery(PARTIAL, 1, (Sum(),), (GRID,), **more) for more in ({}, FORGETTING)),
        ChainQuery(FILLED, 1, (Filled(),), (GRID,)),
    ],
    "tuple windows": lambda: [
        TupleQuery(PARTIAL, 1, (Sum(),), cut_into_panes(GRID), GRID, **FORGETTING),
        TupleQuery(PARTIAL, 1, (Sum(),), LastRows(3), GRID),
    ],
    "open windows": lambda: [OpenQuery(PIECES, 1, (Sum(), DIRTY), (GRID,))],
    "unended events": lambda: [UnendedQuery(KNOWN, 1, (Sum(),), (GRID,))],
    "running events": lambda: [RunningQuery(SPANS, 1, (Sum(),), merges=True)],
    "trailing": lambda: [trailing(), trailing(("m0", "x0", Distinct()), **FORGETTING)],
    "empty windows": lambda: [
        EmptyWindowsQuery(WINDOWS, 1, (), (GRID,), rule, 3, (True,)) for rule in ("last", "null")
    ],
    "events by a technique": lambda: [
        SpanningQuery(SPANS, 1, (Sum(),), cut_into_panes(GRID), "se-slicing")
    ],
    "widening": lambda: [
        WideningQuery(TIED, 1, 1, WIDENING, 5, 9), WideningQuery(HASHED, 1, 0, WIDENING, 5),
    ],
    "frames": lambda: [
        *(framed(spec) for spec in (*SPECS, *OVERLAPPING)),
        framed(SPECS[0], early=0, every=5, **FORGETTING),
        replace(framed(SPECS[0]), numbered=True, partials=(), monoids=(), payload=("x0",)),
    ],
    "frames, any number for a key": lambda: [
        framed(RECOVERY, **more) for more in ({}, {"early": 0, **FORGETTING})
    ],
}  # fmt: skip


def tables_on_the_page():
    """The columns of each table that STATE.md names, by the operator."""
    page = (ROOT / "src/fanlight/engine/operators/STATE.md").read_text("utf-8")
    rows = [line.strip("|").split(" | ") for line in page.splitlines() if "`key…`" in line]
    named = [(row[0].strip(), [re.findall(r"`(\S+?)`", cell) for cell in row[1:]]) for row in rows]
    return {
        name: [cell for cell in cells if cell and cell[0] in ("key…", "code")]
        for name, cells in named
    }


NAMED = {
    "key": "k0?",
    "part": r"f\d|part\d",
    "known": r"known\d",
    "tie": r"tie\d",
    "value": r"x\d",
    "state": r"\w+\.\d+",
}


def is_made_of(columns, told):
    """Whether a table has the columns that the page tells of, in that order."""
    parts = []
    for word in told:
        name = word.rstrip("…?")
        text = f"(?:(?:{NAMED[name]}) )+" if "…" in word else f"{name} "
        parts.append(f"(?P<c{len(parts)}>{text})" + "?" * word.endswith("?"))
    return re.fullmatch("".join(parts), "".join(f"{one} " for one in columns))


@pytest.mark.parametrize("operator", STATES)
def test_the_page_has_the_columns_of_each_operator(operator):
    told = tables_on_the_page()[operator]
    made = [one.start().snapshot().tables for one in STATES[operator]()]
    assert {len(tables) for tables in made} == {len(told)}
    for words, tables in zip(told, zip(*made, strict=True), strict=True):
        found = [is_made_of(table.column_names, words) for table in tables]
        assert all(found), (words, [table.column_names for table in tables])
        for at, word in enumerate(words):
            there = {bool(one[at + 1]) for one in found}
            assert there == ({True, False} if word.endswith("?") else {True}), word


def test_the_page_has_each_operator():
    assert tables_on_the_page().keys() == STATES.keys()
