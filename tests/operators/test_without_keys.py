"""Every operator without keys: all rows have one, and it says what it says of a key's rows."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.filling import Filled
from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.spanning_events import TECHNIQUES
from fanlight.engine.operators.widening import Page
from fanlight.engine.plan.granules import EveryRows, LastRows, cut_into_panes
from fanlight.engine.plan.grid import Grid
from tests.helpers.frames import SEVERAL
from tests.helpers.frames import query as of_frames
from tests.helpers.grouped import Grouped
from tests.helpers.widened import SPECS as WIDENING
from tests.helpers.widened import fed
from tests.helpers.widened import query as of_widening
from tests.operators import chained, counted, fitted, spanned

TIMES = (0, 1, 1, 4, 9, 10, 26, 27, 60, 61, 200)
EVENTS = [("a", at, at % 5) for at in TIMES]
ROWS = [{"k": "a", "ts": at, "v": at / 8, "n": at % 4, "s": "xyz"[at % 3]} for at in TIMES]
FRAMES = (
    fl.DeltaFrame({"v": 0.5}),
    fl.ThresholdFrame("n >= 1", min_rows=2),
    fl.AggregateFrame([agg.count_distinct("s")], [3]),
    fl.BoundaryFrame({"v": 1.5}, overlapping=True),
    SEVERAL[3],
    fl.Session("2 microseconds", max_duration="8 microseconds"),
)


def cases():
    """An operator's query with one key, and its rows, which all have it."""
    rows = [counted.row(*event) for event in EVENTS]
    yield "windows over rows", counted.query(cut_into_panes(Grid(4, 2))), rows
    yield "at every row", counted.query(EveryRows(), Grid(12, 1)), rows
    yield "last rows", counted.query(LastRows(2), Grid(4, 4)), rows
    for spec in chained.TIME_LEVELS[:2]:
        yield f"chain {spec}", chained.query(spec), chained.granules(spec, EVENTS)
    rows = [(k, t, i, 1, i / 4, i, [at]) for at, (k, t, i) in enumerate(EVENTS)]
    yield "chain of rows", chained.query(chained.ROW_LEVELS[0], rows=True), rows
    spec = fitted.SPECS[0]
    series = {(k, t): float(i) for k, t, i in EVENTS}
    rows = [(k, t, fitted.as_tuple(p)) for k, t, p in fitted.granules(spec, series)]
    schema = pa.schema([("k", pa.string()), ("t", pa.int64()), ("f0", fitted.STRETCH)])
    yield "fit", ChainQuery(schema, 1, (Filled(),), fitted.axes(spec)), rows
    for scheme in FRAMES:
        yield f"frames {scheme}", *of_frames(ROWS, scheme)
        payload = {"numbered": True, "payload": ("t",)}
        if not getattr(scheme, "overlapping", False):
            yield f"rows of {scheme}", *of_frames(ROWS, scheme, **payload)
    yield "widening", of_widening(WIDENING[0]), [fed((k, t, "x", i)) for k, t, i in EVENTS]
    for technique in TECHNIQUES:
        asked = spanned.query(technique, 10, 4)
        yield technique, asked, [spanned.row(asked, 1.0, t, t + 7, i) for _, t, i in EVENTS]


def released(asked, rows):
    """All that goes out, the key left out; the state is packed after each row."""
    operator, found = Grouped(asked), []
    place = asked.schema.get_field_index("t")
    for row in sorted(rows, key=lambda row: row[place]):
        operator.feed(table_of_rows([row], operator.query.schema))
        found.append(operator.release(row[place] - 1))
        operator = operator.restarted()
    found.append(operator.finish())
    return [plain_rows(table) for table in found if table is not None and len(table)]


def plain_rows(table):
    if table.column_names == ["part", "page"]:
        return [searched(Page.unpack(page)) for page in table["page"].to_pylist()]
    return [
        {name: value for name, value in row.items() if name not in ("k", "k0")}
        for row in table.to_pylist()
    ]


def searched(page):
    windows = page.windows
    return page.rows["v"].to_pylist(), windows.levels.tolist(), windows.ranges.tolist()


CASES = {name: (asked, rows) for name, asked, rows in cases()}


@pytest.mark.parametrize("name", CASES)
def test_an_operator_without_keys(name):
    asked, rows = CASES[name]
    alone = replace(asked, schema=asked.schema.remove(0), keys=() if asked.keys == ("k0",) else 0)
    found = released(alone, [row[1:] for row in rows])
    assert found
    assert found == released(asked, rows)
