"""Rows into Spark and results out of it: the same for batch and stream, classic and Connect."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import fanlight as fl
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.arrow import to_arrow
from tests.helpers.aggregates import call
from tests.helpers.sparks import VERSION
from tests.oracle.values import instant

SCHEMA = pa.schema([
    ("case", pa.int64()),
    ("k", pa.string()),
    ("ts", pa.int64()),
    ("i", pa.int64()),
    ("x", pa.float64()),
    ("seq", pa.int64()),
    ("v", pa.float64()),
    ("n", pa.int64()),
    ("d", pa.decimal128(12, 2)),
    ("s", pa.string()),
    ("w", pa.float64()),
    ("began", pa.int64()),  # of events that last: their start, where ts, i or x is the stop
    ("i0", pa.int64()),
    ("x0", pa.float64()),
    ("b", pa.decimal128(38, 10)),  # as wide as decimals can be
    ("ok", pa.bool_()),
    ("c", pa.float32()),  # a counter: never below 0
])  # fmt: skip
BLANK = dict.fromkeys(SCHEMA.names)
FAR = 4_000_000_000_000_000  # 2096: closes every window of a stream
SENTINEL = {**BLANK, "case": -1, "k": "~", "ts": FAR, "began": FAR}
TYPES = {
    "int64": "bigint",
    "double": "double",
    "float": "float",
    "string": "string",
    "bool": "boolean",
    "decimal128(12, 2)": "decimal(12,2)",
    "decimal128(38, 10)": "decimal(38,10)",
}


def table(rows):
    """Rows (dicts, times in microseconds) as an Arrow table; what a row lacks is null."""
    return pa.Table.from_pylist([{**BLANK, **row} for row in rows], schema=SCHEMA)


def frame(spark, rows):
    """Rows as a batch DataFrame, ``ts`` as a timestamp."""
    return timed(from_arrow(spark, table(rows)))


def from_arrow(spark, given):
    """An Arrow table as a DataFrame; before Spark 4.0 by a file."""
    if VERSION >= (4, 0):
        return spark.createDataFrame(given, schema=ddl())
    path = Path(tempfile.mkdtemp(prefix="fanlight-rows-")) / "rows.parquet"
    pq.write_table(given, path)
    return spark.read.schema(ddl()).parquet(str(path))


def ddl():
    return ", ".join(f"`{field.name}` {TYPES[str(field.type)]}" for field in SCHEMA)


def timed(df):
    others = [f"`{name}`" for name in SCHEMA.names if name not in ("ts", "began")]
    times = [f"timestamp_micros({name}) as {name}" for name in ("ts", "began")]
    return df.selectExpr(*times, *others)


def calls(requests):
    """The aggregates of ``fanlight.agg`` for the oracle's requests."""
    return {name: call(request) for name, request in requests.items()}


def readable(df):
    """The same DataFrame with ``window`` in microseconds where it is in timestamps."""
    types = dict(df.dtypes)
    if "timestamp" not in types.get("window", ""):
        return df
    bounds = [
        f"unix_micros(cast(window.`{part}` as timestamp)) as `{part}`" for part in ("start", "end")
    ]
    window = f"struct({', '.join(bounds)}) as `window`"
    return df.selectExpr(*(window if name == "window" else quote(name) for name in df.columns))


def plain(value):
    """Structs as tuples and times in them as numbers, as the oracle gives them."""
    if isinstance(value, dict):
        return tuple(instant(plain(part)) for part in value.values())
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value


def collected(df):
    """The rows of a result as dicts; ``window`` stays a dict."""
    rows = to_arrow(readable(df)).to_pylist()
    return [
        {name: value if name == "window" else plain(value) for name, value in row.items()}
        for row in rows
    ]


def over(df, spec, requests, *, strategy="auto", time="ts", by=("case", "k"), tiebreak=("seq",)):
    """The library's answer, as a DataFrame."""
    windowed = fl.over(df, spec, time=time, by=list(by), tiebreak=list(tiebreak))
    return windowed.using(strategy).agg(**calls(requests))


def all_of(found):
    """The rows of a DataFrame, or of a list, as texts in one order."""
    return sorted(map(repr, found.collect() if hasattr(found, "collect") else found))
