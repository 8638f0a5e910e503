"""What a stream's Python workers unpickle, and what that loads."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
from pyspark.serializers import CloudPickleSerializer

from fanlight.algebra.monoids import Count
from fanlight.operators.tuple_windows import TupleQuery
from fanlight.spark.ordered.processor import BucketProcessor

DECLARE = """
import sys
from pyspark.serializers import CloudPickleSerializer

class Handle:
    def getValueState(self, name, schema):
        return print(name, schema.names)

processor = CloudPickleSerializer().loads(sys.stdin.buffer.read())
processor.init(Handle())
print({'numpy', 'pandas', 'pyarrow', 'numba'} & set(sys.modules))
print(processor._query.range, 'numba' in sys.modules)
"""


def test_declaring_state_is_light():
    """The first batch of a stream starts a worker only to ask what state there will be."""
    schema = pa.schema([("t", pa.int64()), ("f0", pa.int64())])
    processor = BucketProcessor(
        TupleQuery(schema, 0, (Count(),), None, 5), {"windows": "over rows"}
    )
    pickled = CloudPickleSerializer().dumps(processor)
    ran = subprocess.run(
        [sys.executable, "-c", DECLARE], input=pickled, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.decode().splitlines() == ["state ['state']", "set()", "5 True"]
