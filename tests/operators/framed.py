"""Frame operators, fed by hand: rows, how they arrive, and the frames by definition."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.arrow_tables import table_of_rows
from tests.helpers import events
from tests.helpers.events import MINUTE
from tests.helpers.frames import HOLDS, REQUESTS
from tests.helpers.grouped import Grouped
from tests.helpers.shown import part
from tests.oracle.frames import frames

TIMES = fl.Sliding("4 minutes", "1 minute")
TODAY = (1_700_000_000_000_000,)
CASES = 30


def cases(origins=(0, *TODAY), count=CASES):
    return events.examples(events.case(TIMES, origins=origins, most=10), count)


ROWS = cases()
# Each case in pieces of a size, and whole; of these the last ones, which are larger.
HALF = part(CASES // 2)
PIECES = {1: ROWS[::2][:HALF], 3: ROWS[1::2][:HALF], 100: ROWS[-part(CASES) :]}


def expected(rows, spec, *, unfinished=True):
    found = frames(
        rows, spec, time="ts", by=["k"], aggregates=REQUESTS, holds=HOLDS, unfinished=unfinished
    )
    return sorted(
        (
            (
                spark_key(row["k"]), row["frame_id"], row["window"]["start"], row["window"]["end"],
                row["rows"], row["closed"], row["f0"], row["f1"], row["f2"],
            )
            for row in found
        ),
        key=lambda row: row[:2],
    )  # fmt: skip


def got(tables):
    rows = [row for table in tables for row in table.to_pylist()]
    return sorted(
        (
            (
                spark_key(row["k0"]), row["frame"], row["start"], row["ending"], row["rows"],
                row.get("closed", True), row["f0"], row["f1"], row["f2"],
            )
            for row in rows
        ),
        key=lambda row: row[:2],
    )  # fmt: skip


def with_lives(rows):
    """Rows in order, each with the number of its key's life: one begins after a minute."""
    made, last, life = [], {}, {}
    for row in sorted((row for row in rows if row["ts"] is not None), key=lambda row: row["ts"]):
        key, at = row["k"], row["ts"]
        if key in last and at - last[key] > MINUTE:
            life[key] = life.get(key, 0) + 1
        last[key] = at
        made.append({**row, "life": life.get(key, 0)})
    return made


def in_order(asked, made):
    names = asked.schema.names
    places = [names.index(name) for name in ("t", *asked.order)]
    return sorted(made, key=lambda row: [spark_key(row[at]) for at in places])


def arrow(asked, made):
    columns = [
        pa.array([row[at] for row in made], field.type) for at, field in enumerate(asked.schema)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=asked.schema)


@st.composite
def releases(draw, rows):
    """Rows in any order, in micro-batches, each with a watermark that no later row is behind."""
    order = draw(st.permutations(range(len(rows))))
    parts = draw(st.integers(1, 4))
    size = -(-len(rows) // parts) if rows else 1
    pieces = [[rows[i] for i in order[at : at + size]] for at in range(0, len(rows), size)]
    marks = []
    for number in range(len(pieces)):
        later = [row[1] for piece in pieces[number + 1 :] for row in piece]
        marks.append(min(later) - 1 if later else 2**61)
    return list(zip(pieces, marks, strict=True))


def streamed(asked, plan, *, restart=True):
    operator, found = Grouped(asked), []
    for rows, watermark in plan:
        operator.feed(table_of_rows(rows, operator.query.schema))
        out = operator.release(watermark)
        if out is not None:
            found.append(out)
        if restart:
            operator = operator.restarted()
    return operator, found
