"""A processor goes on from the state of its own query, and from no other, whatever the operator."""

from __future__ import annotations

from itertools import permutations

import pyarrow as pa
import pytest
from pyspark.sql import Row

import fanlight as fl
from fanlight.engine.algebra.monoids import Count, Max, Sum
from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.chain import ChainQuery
from fanlight.engine.operators.frames.stream import FrameStreamQuery
from fanlight.engine.operators.spanning import SpanningQuery
from fanlight.engine.operators.state_header import FORMAT, add_header, check_header
from fanlight.engine.operators.table_bytes import pack
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.operators.widening import WideningQuery
from fanlight.engine.plan.cut import cut_into_panes
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spark.ordered.processor import GroupProcessor
from fanlight.engine.spec.formats import RELEASE
from tests.helpers.frames import query
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
    "frames": lambda monoid: FrameStreamQuery(
        FRAMES.scheme, FRAMES.schema, FRAMES.keys, FRAMES.order, FRAMES.inputs,
        FRAMES.partials, (monoid, Count(), Max()),
    ),
    "events": lambda monoid: SpanningQuery(SPANS, 1, (monoid,), cut_into_panes(GRID), "se-slicing"),
    "widening": lambda _: WideningQuery(HASHED, 1, 0, WIDENING, 5),
}  # fmt: skip


def asked(family, aggregate):
    return {"windows": family, "aggregates": aggregate}


def processor(kept, family, monoid, aggregate):
    """The processor of a query that has just been started over what Spark has kept."""
    query = FAMILIES[family](monoid)
    made = GroupProcessor(query, asked(family, aggregate), pa.schema([]))
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
