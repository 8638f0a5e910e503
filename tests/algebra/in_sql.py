"""The laws of an aggregate as Spark runs it: whatever the pieces, the oracle's result."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa

import fanlight as fl
from fanlight.engine.algebra.aggregate import Partials
from fanlight.engine.algebra.sql_text import fill, literal
from tests.helpers.aggregates import Asked
from tests.helpers.compare import same, tolerance
from tests.helpers.dataframes import plain
from tests.helpers.events import INF, NAN
from tests.oracle.aggregates import Rows, evaluate

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
SURE = (True, None, False, True, True, True)
COUNTER = (3.0, 4.5, None, 2.0, 2.0, 9.0)
KEYS = (2.0, 1.0, 1.0, NAN, None, 2.0)
ORDER = "named_struct('t', t, 'seq', seq)"
SCHEMA = pa.schema([
    ("k", pa.string()), ("p", pa.int64()), ("t", pa.int64()), ("seq", pa.int64()),
    ("v", pa.float64()), ("n", pa.int64()), ("d", pa.decimal128(12, 2)), ("s", pa.string()),
    ("w", pa.float64()), ("ok", pa.bool_()), ("c", pa.float32()),
])  # fmt: skip

# How the partials of pieces come together: two steps of grouping, the first over some pieces.
STEPS = {"at once": "0", "the first two first": "p < 2", "the last two first": "p > 0"}


def rows():
    """The rows of every flavour; times tie, ``seq`` does not."""
    found = []
    for flavour, doubles in DOUBLES.items():
        kinds = [doubles, WHOLE, MONEY, WORDS, KEYS, SURE, COUNTER]
        if flavour == "blank":
            kinds = [doubles] * 7
        for at in range(9):
            values = [kind[at] if at < 6 else None for kind in kinds]
            found.append((flavour, at // 3, 10 + at // 2, 9 - at, *values))
    return [dict(zip(SCHEMA.names, row, strict=True)) for row in found]


def complaints(spark, ones) -> dict[int, list[str]]:
    """Where results are not the oracle's, by the number of the sample; all in a few queries."""
    given = rows()
    spark.createDataFrame(pa.Table.from_pylist(given, schema=SCHEMA)).createOrReplaceTempView(
        "given"
    )
    cases = [case for at, one in enumerate(ones) for case in _cases(at, one)]
    found = {at: [] for at, _ in enumerate(ones)}
    for how, row in _results(spark, cases):
        inside = [r for r in given if r["k"] == row["k"]]
        for number, case in enumerate(cases):
            if f"r{number}" not in row:
                continue  # a sketch is not made row by row
            got, wanted = plain(row[f"r{number}"]), _expected(case.one, inside)
            window = SimpleNamespace(rows=inside, origin=0)
            if not same(got, wanted, tolerance(case.one.request, window, case.spec, "t")):
                said = f"{row['k']} values, {how}: {got!r}, expected {wanted!r}"
                found[case.number].append(said)
    return found


@dataclass(frozen=True)
class _Case:
    """A sample, or what stands in for its sketch."""

    number: int
    one: Asked
    partials: Partials
    spec: fl.Sliding

    @property
    def fields(self):
        """What each field keeps: the lifted value and the monoid, by the field's name."""
        arguments = dict(zip("xyz", self.one.columns, strict=False))
        return {
            name: (fill(monoid.value, time="t", order=ORDER, **arguments), monoid)
            for name, monoid in self.partials.fields.items()
        }


def _cases(number, one):
    call, types = one.entry.call(one.sample), one.sample.types
    yield _Case(number, one, call.aggregate.partials(types), fl.Sliding(10))
    if call.exact is not None:
        yield _Case(number, one, call.exact.partials(types), fl.Sliding(fl.Rows(2)))


def _expected(one, inside):
    asked = Rows(
        [tuple(row[name] for name in one.columns) for row in inside],
        [(row["t"], row["seq"]) for row in inside],
        [row["t"] for row in inside],
        start=0,
        unit=1,
    )
    return evaluate(one.entry.name, asked, one.request[1 + len(one.columns) :])


def _results(spark, cases):
    """Each way to put pieces together, with the rows it gives: ``k`` and a column a case."""
    kept = {}
    for case in cases:
        for field in case.fields.values():
            kept.setdefault(field, f"f{len(kept)}")
    joined = {field: name for field, name in kept.items() if field[1].in_python}
    parts = spark.sql(_pieces(kept, "k, p"))
    types = dict(parts.dtypes)
    parts.cache().createOrReplaceTempView("parts")
    listed = ", ".join(kept.values())
    nothing = ", ".join(f"cast(null as {types[name]}) as {name}" for name in kept.values())

    def merged(source, by):
        texts = []
        for (_, monoid), name in kept.items():
            text = monoid.combine_all(name)
            if types[name].startswith("decimal"):  # Spark widens at every sum
                text = f"cast({text} as {types[name]})"
            texts.append(f"{text} as {name}")
        return f"select {by}, {', '.join(texts)} from ({source}) group by {by}"

    ways = {"in one piece": _pieces(kept, "k"), "row by row": _pieces(joined, "k", by_row=True)}
    for how, test in STEPS.items():
        first = merged(f"select k, {test} as first, {listed} from parts", "k, first")
        ways[how] = merged(first, "k")
    ways["beside nothing"] = merged(
        f"select k, {listed} from parts union all select distinct k, {nothing} from given", "k"
    )
    ways["without rows"] = f"select 'none' as k, {nothing}"
    for how, text in ways.items():
        there = joined if how == "row by row" else kept
        columns = [
            f"{_lowered(case, kept)} as r{number}"
            for number, case in enumerate(cases)
            if all(field in there for field in case.fields.values())
        ]
        if columns:
            for row in (
                spark.sql(f"select k, {', '.join(columns)} from ({text})").toArrow().to_pylist()
            ):
                yield how, row


def _lowered(case, kept):
    texts = {name: kept[field] for name, field in case.fields.items()}
    texts |= {name: literal(text) for name, text in case.partials.strings.items()}
    kind = next(iter(case.one.sample.types), "void")
    return fill(case.partials.lower, start="0L", scale="1D", type=kind, **texts)


def _pieces(kept, by, *, by_row=False):
    """The partials of rows grouped ``by``; those that count values from rows counted by value."""
    sources = {}
    for (value, monoid), name in kept.items():
        made = monoid.combine_all(monoid.unit("v")) if by_row else monoid.lift("v")
        counted = monoid.by_value and not by_row
        if counted:
            made = monoid.lift("v", n="n")
        sources.setdefault((value, counted), []).append(f"{made} as {name}")
    texts = []
    for (value, counted), made in sources.items():
        source = f"(select {by}, {value} as v from given)"
        if counted:
            source = f"(select {by}, v, count(1) as n from {source} group by {by}, v)"
        texts.append(f"(select {by}, {', '.join(made)} from {source} group by {by})")
    return f"select * from {texts[0]}" + "".join(f" join {text} using ({by})" for text in texts[1:])
