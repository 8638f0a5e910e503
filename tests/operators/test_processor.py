"""What a stream's Python workers unpickle, and what that loads."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pyarrow as pa
import pytest
from pyspark.serializers import CloudPickleSerializer

import fanlight as fl
from fanlight.engine.algebra.monoids import Count
from fanlight.engine.kinds import scheme_of
from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.granules import EveryRows
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.ordered.pickled import Pickled
from fanlight.engine.spark.ordered.processor import GroupProcessor

DECLARE = """
import sys
from pyspark.serializers import CloudPickleSerializer

class Handle:
    def getValueState(self, name, schema):
        return print(name, schema.names)

    def getMapState(self, name, key, value):
        return print(name, key.names, value.names)

processor = CloudPickleSerializer().loads(sys.stdin.buffer.read())
processor.init(Handle())
print({'numpy', 'pandas', 'pyarrow', 'numba'} & set(sys.modules))
print(processor._setup[0].grid.range, 'pyarrow' in sys.modules)
"""


@pytest.mark.slow
def test_declaring_state_is_light():
    """The first batch of a stream starts a worker only to ask what state there will be."""
    schema = pa.schema([("t", pa.int64()), ("f0", pa.int64())])
    processor = GroupProcessor(
        TupleQuery(schema, 0, (Count(),), EveryRows(), Grid(5, 1)), {"windows": "over rows"}, schema
    )
    pickled = CloudPickleSerializer().dumps(processor)
    ran = subprocess.run(
        [sys.executable, "-c", DECLARE], input=pickled, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.decode().splitlines() == [
        "state ['state']",
        "waiting ['number'] ['state']",
        "keys ['number'] ['state']",
        "set()",
        "5 True",
    ]


ELSEWHERE = """
import sys
from pyspark.serializers import CloudPickleSerializer

scheme = CloudPickleSerializer().loads(sys.stdin.buffer.read()).value()
opens, closes, update = scheme.functions
print(opens(3, {}), closes(7, {}), update(2, {}), scheme.names)
"""


def mine():
    """Functions as a notebook has them: no module holds them."""
    limit = 3

    class Closer:
        def __init__(self, at):
            self.at = at

        def __call__(self, row, state):
            return row == self.at and not state

    def seen(step, row, state):
        return {**state, "seen": row + step}

    return (lambda row, _: row >= limit), Closer(7), partial(seen, 10)


def test_a_users_functions_come_along():
    opens, closes, update = mine()
    spec = fl.PredicateFrame(opens, closes, columns=["n"], update=update)
    packed = CloudPickleSerializer().dumps(Pickled(scheme_of(spec, ["bigint"], "timestamp")))
    ran = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=packed, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.decode().split() == ["True", "True", "{'seen':", "12}", "('n',)"]


def by_name(value):
    return value


@pytest.mark.parametrize(
    "value",
    [
        *(None, -1.5, 2**70, "`", b"\0", (1, [2, {"a": {3}}]), frozenset({1})),
        *(pa.schema([("t", pa.int64())]), pa.timestamp("us", tz="UTC"), Count(), fl.Sliding(4, 2)),
        *(by_name, partial(by_name, 1).func, sys, Count, str, len),
    ],
    ids=repr,
)
def test_a_value_is_the_same_again(value):
    assert Pickled(value).value() == value


def test_what_is_ours_is_bytes_alone():
    """Else it would be loaded before it is needed."""
    schema = pa.schema([("t", pa.int64()), ("f0", pa.decimal128(10, 2))])
    assert vars(Pickled(TupleQuery(schema, 0, (Count(),), EveryRows(), Grid(5, 1))))["_users"] == []
