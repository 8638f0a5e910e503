"""The laws of an aggregate as Spark runs it: whatever the pieces, the oracle's result."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa

import fanlight as fl
from fanlight.reference.aggregates import FUNCTIONS, Rows
from tests.aggregates import Asked
from tests.compare import same, tolerance
from tests.dataframes import plain
from tests.events import INF, NAN

# Three pieces of three rows; in the last there is no value at all.
DOUBLES = {
    "finite": (1.5, None, -2.0, 1e6, -2.0, 0.25),
    "odd": (1.0, NAN, INF, -INF, NAN, -0.0),
    "negative": (-7.5, -1.25, -7.5, -3.0, None, -1e-3),
    "equal": (0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    "blank": (None,) * 6,
}
WHOLE = (3, -4, None, 2**40, 3, -4)
MONEY = (Decimal("0.10"), None, Decimal("-2.25"), Decimal("9999.99"), Decimal("0.10"), None)
WORDS = ("b", "", None, "é", "b", "a")
KEYS = (2.0, 1.0, 1.0, NAN, None, 2.0)
ORDER = "named_struct('t', t, 'seq', seq)"
SCHEMA = pa.schema([
    ("k", pa.string()), ("p", pa.int64()), ("t", pa.int64()), ("seq", pa.int64()),
    ("v", pa.float64()), ("n", pa.int64()), ("d", pa.decimal128(12, 2)), ("s", pa.string()),
    ("w", pa.float64()),
])  # fmt: skip

# How the partials of pieces come together: two steps of grouping, the first over some pieces.
STEPS = {"at once": "0", "the first two first": "p < 2", "the last two first": "p > 0"}


def rows():
    """The rows of every flavour; times tie, ``seq`` does not."""
    found = []
    for flavour, doubles in DOUBLES.items():
        kinds = [doubles, WHOLE, MONEY, WORDS, KEYS]
        if flavour == "blank":
            kinds = [doubles] * 5
        for at in range(9):
            values = [kind[at] if at < 6 else None for kind in kinds]
            found.append((flavour, at // 3, 10 + at // 2, 9 - at, *values))
    return [dict(zip(SCHEMA.names, row, strict=True)) for row in found]


def complaints(spark, one: Asked) -> list[str]:
    """Where a sample's result is not the oracle's; also that of what stands in for a sketch."""
    given = rows()
    table = pa.Table.from_pylist(given, schema=SCHEMA)
    spark.createDataFrame(table).createOrReplaceTempView("given")
    call = one.entry.call(one.sample)
    wrong = _compared(spark, one, call.aggregate, given, fl.Sliding(10))
    if call.exact is not None:
        wrong += _compared(spark, one, call.exact, given, fl.Sliding(fl.rows(2)))
    return wrong


def _compared(spark, one, aggregate, given, spec):
    partials = aggregate.partials(one.sample.types)
    wrong = []
    for row in spark.sql(_query(spark, one, partials)).toArrow().to_pylist():
        inside = [r for r in given if r["k"] == row["k"]]
        wanted = _expected(one, inside)
        got = plain(row["result"])
        window = SimpleNamespace(rows=inside, origin=0)
        if not same(got, wanted, tolerance(one.request, window, spec, "t")):
            wrong.append(
                f"{one.name} of {row['k']} values, {row['how']}: {got!r}, expected {wanted!r}"
            )
    return wrong


def _expected(one, inside):
    arguments = one.request[1 + len(one.columns) :]
    asked = Rows(
        [tuple(row[name] for name in one.columns) for row in inside],
        [(row["t"], row["seq"]) for row in inside],
        [row["t"] for row in inside],
        start=0,
        unit=1,
    )
    return FUNCTIONS[one.entry.name](asked, *arguments)


def _query(spark, one, partials):
    fields = {f"f{at}": monoid for at, monoid in enumerate(partials.fields.values())}
    names = dict(zip(partials.fields, fields, strict=True))
    lowered = partials.lower.format(start="0L", scale="1D", **names)
    slots = dict(zip("xyz", one.columns, strict=False))

    def pieces(by, lift):
        texts = []
        for name, monoid in fields.items():
            value = monoid.value.format(time="t", order=ORDER, **slots)
            source = f"(select {by}, {value} as v from given)"
            if monoid.by_value and lift == "lift":
                source = f"(select {by}, v, count(1) as n from {source} group by {by}, v)"
            made = monoid.lift("v", n="n") if monoid.by_value else monoid.lift("v")
            if lift == "unit":
                made = monoid.merge(monoid.unit("v"))
            texts.append(f"(select {by}, {made} as {name} from {source} group by {by})")
        return f"select * from {' join '.join(texts)}" + f" using ({by})" * (len(texts) > 1)

    types = dict(spark.sql(pieces("k, p", "lift")).dtypes)

    def merged(source, by):
        texts = []
        for name, monoid in fields.items():
            text = monoid.merge(name)
            if types[name].startswith("decimal"):  # Spark widens at every sum
                text = f"cast({text} as {types[name]})"
            texts.append(f"{text} as {name}")
        return f"select {by}, {', '.join(texts)} from ({source}) group by {by}"

    lifted = pieces("k, p", "lift")
    nothing = ", ".join(f"cast(null as {types[name]}) as {name}" for name in fields)
    listed = ", ".join(fields)
    found = {"lifted": pieces("k", "lift")}
    for how, test in STEPS.items():
        found[how] = merged(
            merged(f"select k, {test} as first, {listed} from ({lifted})", "k, first"), "k"
        )
    empty = f"select distinct k, {nothing} from given"
    found["beside nothing"] = merged(f"{empty} union all select k, {listed} from ({lifted})", "k")
    found["row by row"] = pieces("k", "unit") if all(m.joins for m in fields.values()) else empty
    if not all(m.joins for m in fields.values()):
        del found["row by row"]
    selects = [
        f"select '{how}' as how, k, {lowered} as result from ({text})"
        for how, text in found.items()
    ]
    selects.append(
        f"select 'without rows' as how, 'none' as k, {lowered} as result from (select {nothing})"
    )
    return " union all ".join(selects)
