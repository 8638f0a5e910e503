"""Names as data has them, and rows whose columns and fields are called so.

Names change no value: a query over columns with plain names, and the same over columns under others
must agree, place by place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

MARK = "fanlight.injected"  # what the names below would set in the JVM
RUNS = f"if(java_method('java.lang.System', 'setProperty', '{MARK}', 'yes') is null, 0, 0)"
INJECTED = (
    f"a', cast({RUNS} as int), 'b",
    f"a`: int>), {RUNS}, cast(null as struct<`b",
    f"a`, {RUNS} as `b",
    f"a: int>), {RUNS}, cast(null as struct<b",
    f"a {RUNS}",
)
MARKS = (
    *("", " ", "a b", " a", "a.b", "a..b", ".", "a`b", "`", "``", "`a`", "`a`.`b`", "'", "''"),
    *("a'b", '"', "\\", "\\'", "\\n", "\n", "\t", "/", "a/b", ":", ",", ";", "(", ")", "<", ">"),
    *("[0]", "*", "-", "--", "/*", "%s", "$", "${a}", "${env:HOME}", "@", "#", "?", "{", "}"),
    *("{}", "{{", "{0}", "{x}", "{v}", "{p}", "{start}", "{order}", "{time}", "{scale}", "{end}"),
    *("\u00e4", "\u2603", "\U0001f600", "\u0130", "1", "1a", "_", "__class__", "a, b", "a as b"),
)
WORDS = (
    *("select", "from", "order", "group by", "case", "null", "true", "as", "interval", "timestamp"),
    *("current_date", "user", "map<", "array<struct<a:int>>", "variant", "void", "double"),
    *("decimal(1,1)", "interval year", "class", "def", "over", "inline", "explode"),
)
OWN = (
    *("k0", "b0", "x0", "v0", "f0", "r0", "c0", "t", "n", "at", "start", "stop", "end", "ending"),
    *("until", "exact", "piece", "slice", "upto", "number", "entry", "frame", "bucket", "watched"),
    *("state", "page", "part", "hash", "gap", "match0", "item", "bits", "row", "own", "moment"),
    *("step", "latest", "other0", "stamp", "key0", "value", "element", "input0", "column_number"),
    *("power", "first_at", "ahead", "begins", "length", "closing_row", "found", "carry", "code"),
    *("place", "length_", "k0_", "number_", "e", "acc", "p", "w", "every", "item0", "x", "es"),
    *("pane", "first_pane", "last_pane", "side", "came", "went", "inside", "following", "here"),
    *("now", "later", "before", "taken", "instant", "ends", "soonest", "events", "low", "high"),
)
NAMES = (*INJECTED, *MARKS, *WORDS, *OWN)
COLUMNS = ("at", "began", "key", "other", "tie", "real", "whole", "text", "packed", "nested")
RESULTS = ("first", "most", "all", "mode", "heavy", "count", "joined", "best")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True)
class Called:
    """What columns, results and fields are called; what is not said has its plain name."""

    names: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()

    def __call__(self, name: str) -> str:
        return self.names.get(name, name)

    def column(self, name: str) -> Any:
        """The column, as Spark is asked for one whatever it is called."""
        return F.col(quoted(self(name)))

    def renamed(self, df: Any) -> Any:
        """Columns, and the fields in them, under these names."""
        return df.select(*[
            F.col(one.name).cast(self.kind(one.dataType)).alias(self(one.name))
            for one in df.schema.fields
        ])  # fmt: skip

    def kind(self, kind: DataType) -> DataType:
        if isinstance(kind, StructType):
            names = self.fields or kind.names
            parts = [
                (name, self.kind(f.dataType)) for name, f in zip(names, kind.fields, strict=False)
            ]
            return StructType([StructField(*part) for part in parts])
        if isinstance(kind, ArrayType):
            return ArrayType(self.kind(kind.elementType))
        if isinstance(kind, MapType):
            return MapType(kind.keyType, self.kind(kind.valueType))
        return kind


PLAIN = Called()


def turns(width: int = len(COLUMNS) + len(RESULTS)) -> Iterator[Called]:
    """Every name as a column or a result, each time another lot; all of them as fields."""
    for at in range(0, len(NAMES), width):
        names = [NAMES[(at + n) % len(NAMES)] for n in range(width)]
        fields = (*NAMES[at:], *NAMES[:at])
        yield Called(dict(zip((*COLUMNS, *RESULTS), names, strict=True)), fields)


FIELDS = 24
KINDS = (
    "{n} + id % 3",
    "if(id % 5 = 0, null, timestamp_seconds({n} + id % 2))",
    "'x' || {n} || id % 2",
    "date_add(date'2024-01-01', int({n} + id % 2))",
    "named_struct('a', timestamp_seconds(id % 2), 'b', {n})",
    "array(named_struct('a', date'2024-01-01', 'b', id % 2))",
)
ROWS = 24


def rows(spark: Any) -> Any:
    """Rows with plain names; ``packed`` has a field for each name, of one kind after the other."""
    parts = ", ".join(f"'f{n}', {KINDS[n % len(KINDS)].format(n=n)}" for n in range(FIELDS))
    return spark.range(ROWS).selectExpr(
        "timestamp_seconds(1700000000 + id * 20) as at",
        "timestamp_seconds(1700000000 + id * 20 - id % 7 * 30) as began",
        "'k' || id % 2 as key",
        "named_struct('a', id % 2, 'b', date'2024-01-01') as other",
        "id as tie",
        "double(id * 7 % 5) as real",
        "id * 5 % 7 as whole",
        "'t' || id % 3 as text",
        f"named_struct({parts}) as packed",
        "map('m', array(named_struct('a', timestamp_seconds(id % 2), 'b', id))) as nested",
    )


def values(found: Any) -> Any:
    """Values by place, without names."""
    if isinstance(found, (Row, tuple, list)):
        return tuple(values(part) for part in found)
    if isinstance(found, dict):
        return tuple(values(part) for pair in sorted(found.items()) for part in pair)
    return found


def answer(df: Any) -> list[str]:
    return answers(df.collect())


def answers(rows: Iterable[Any]) -> list[str]:
    return sorted(repr(values(row)) for row in rows)
