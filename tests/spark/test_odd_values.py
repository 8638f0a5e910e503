"""Aggregates of values that are not simple: odd names in structs, wide numbers, odd texts."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg, algebra
from fanlight.engine.algebra.sql_text import fill, literal
from tests.helpers.aggregates import REGISTRY
from tests.helpers.dataframes import all_of, collected
from tests.helpers.sparks import configured
from tests.law.registry import ESCAPED

NAMES = ("a b", "it's", '"', "`", "{start}", "{", "}}", "x.y", "map<", "variant", "interval",
         "void", "ø", "select", "\\", "${spark.app.name", "-- ", "/*")  # fmt: skip
SPECS = (fl.Sliding("1 hour"), fl.Sliding("2 hours", "1 hour"), fl.Sliding(fl.Rows(60)),
         fl.Sliding("1 hour", fl.Rows(1)), fl.ThresholdFrame("at is not null"))  # fmt: skip
TEXTS = ("", "'", "''", "\\", "\\'", "\\n", "\n", "\t", "\u00e9", "{start}", "{0}",
         "${spark.app.name}", "${env:HOME}",
         "%s", "$", "--", "/*", '"', "`", "?", ":x", "\x00", "a" * 999)  # fmt: skip


@pytest.fixture
def escaped(classic):
    """A function that sets how the parser reads backslashes, until the test ends."""
    before = classic.conf.get(ESCAPED)
    yield lambda value: classic.conf.set(ESCAPED, value)
    classic.conf.set(ESCAPED, before)


def structs(spark):
    """60 rows of an hour; the struct has two values, the first 40 times."""
    # Nullable: PySpark's toArrow() cannot hold a struct that is null and whose fields are not.
    fields = [F.when(F.col("id") < 40, 1).when(F.col("id") < 99, 0).alias(name) for name in NAMES]
    at = F.timestamp_seconds(F.col("id") * 60).alias("at")
    return spark.range(60).select(at, "id", F.struct(*fields).alias("st"))


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_struct_may_have_fields_of_any_name(classic, spec):
    windows = fl.over(structs(classic), spec, time="at")
    asked = {
        "mode": agg.mode("st"), "hit": agg.heavy_hitters("st", 0.5), "most": agg.max_count("st"),
        "least": agg.min("st"), "n": agg.count_distinct("st"), "end": agg.last("st"),
        "by": agg.max_by("st", "id"), "second": agg.nth_smallest("st", 2),
        "all": agg.collect_list("st"),
    }  # fmt: skip
    found = max(collected(windows.agg(**asked)), key=lambda row: len(row["all"]))
    one, none = (1,) * len(NAMES), (0,) * len(NAMES)
    assert Counter(found.pop("all")) == {one: 40, none: 20}
    assert {name: found[name] for name in asked if name != "all"} == {
        "mode": one, "hit": [(one, 40)], "most": 40, "least": none, "n": 2, "end": none,
        "by": none, "second": none,
    }  # fmt: skip


def test_a_struct_with_such_fields_may_be_a_key_and_an_item(classic):
    spec = fl.MultiGranular(["1 hour", "2 hours"], ["1 hour", "1 hour"])
    keyed = fl.over(structs(classic), fl.Sliding("1 hour"), time="at", by="st").agg(n=agg.count())
    assert {row["st"][0]: row["n"] for row in collected(keyed)} == {1: 40, 0: 20}
    assert fl.over(structs(classic), spec, time="at").recurring("st").schema["st"]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_the_greatest_of_several_columns_goes_by_the_first_then_by_the_next(classic, spec):
    """As Spark has it: a null within a struct is less than all values, no struct is no value."""
    df = classic.range(60).selectExpr(
        "timestamp_seconds(id * 60) as at", "if(id % 3 = 0, null, id * 7 % 5) as a",
        "if(id % 4 = 0, null, id * 11 % 7) as b", "id % 5 > 0 as there",
    )  # fmt: skip
    both = F.when(F.col("there"), F.struct("a", "b"))
    asked = {"most": agg.max(both), "least": agg.min(both), "all": agg.collect_list(both)}
    rows = collected(fl.over(df, spec, time="at").agg(**asked))
    assert max(len(row["all"]) for row in rows) > 10
    for row in rows:
        ordered = sorted(row["all"], key=lambda pair: [(one is not None, one or 0) for one in pair])
        ends = (ordered[0], ordered[-1]) if ordered else (None, None)
        assert (row["least"], row["most"]) == ends


WIDE = {
    "bigint": [-(2**63), -(2**53) - 1, 2**53 + 1, 2**63 - 2, 2**63 - 1],
    "tinyint": [-128, -1, 0, 1, 127],
    "decimal(18,18)": [Decimal(f"0.{n:018}") for n in (0, 1, 2, 10**17 + 1, 10**18 - 1)],
    "decimal(18,0)": [Decimal(n) for n in (1 - 10**18, -1, 0, 2**53 + 1, 10**18 - 1)],
    "decimal(19,1)": [Decimal(n).scaleb(-1) for n in (1 - 10**19, -1, 0, 2**54 + 1, 10**19 - 1)],
    "decimal(38,10)": [
        Decimal(f"{n}.0123456789") for n in (-(10**27), 1, 10**27, 10**27 + 1, 10**27 + 2)
    ],
    "decimal(38,38)": [Decimal(f"0.{n:038}") for n in (0, 1, 2, 10**37, 10**38 - 1)],
    "double": [-1.7e308, -5e-324, 0.1, 1.5, 1.7e308],
}  # fmt: skip


@pytest.mark.parametrize("spec", SPECS[:3], ids=repr)
def test_an_approximate_percentile_is_a_value_that_occurs_whatever_the_type(classic, spec):
    rows = [(at, *(str(values[at]) for values in WIDE.values())) for at in range(5)]
    texts = [f"cast(_{n + 2} as {kind}) as v{n}" for n, kind in enumerate(WIDE)]
    df = classic.createDataFrame(rows).selectExpr("timestamp_seconds(_1) as at", *texts)
    shares = [0.0, 0.2, 0.5, 0.8, 1.0]
    asked = {f"v{n}": agg.approx_percentile(f"v{n}", shares) for n, _ in enumerate(WIDE)}
    found = fl.over(df, spec, time="at").agg(**asked)
    assert dict(found.drop("window").dtypes) == {f"v{n}": f"array<{k}>" for n, k in enumerate(WIDE)}
    row = max(collected(found), key=lambda row: row["v0"][-1])
    for n, (kind, values) in enumerate(WIDE.items()):
        assert row[f"v{n}"] == [values[at] for at in (0, 0, 2, 3, 4)], kind


@pytest.mark.parametrize("way", ["true", "false"])
def test_a_text_is_what_it_is_whatever_the_parser_makes_of_backslashes(classic, escaped, way):
    escaped(way)
    (row,) = classic.range(1).selectExpr(*map(literal, TEXTS)).collect()
    assert tuple(row) == TEXTS
    df = classic.sql("select * from values (0, 'a'), (1, 'b') as t(at, s)")
    asked = {f"t{n}": agg.listagg("s", text) for n, text in enumerate(TEXTS)}
    found = fl.over(df, fl.Sliding(10), time="at").agg(**asked).first()
    assert [found[f"t{n}"] for n, _ in enumerate(TEXTS)] == [f"a{text}b" for text in TEXTS]


def test_a_text_in_an_aggregate_of_one_s_own_is_not_filled(classic):
    own = algebra.Aggregate(
        "own", {"p": algebra.Max("{x}")}, "concat({p}, '{{start}}', '{{{{p}}}}')", accepts="string"
    )
    df = classic.sql("select * from values (0, '{p}'), (1, '{start}') as t(at, s)")
    found = fl.over(df, fl.Sliding(10), time="at").agg(own=own("s")).first()
    assert found.own == "{start}{start}{{p}}"


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_line_through_an_infinite_value_is_none(classic, at):
    """Wherever it is: which of the moments become NaN on the way depends on that."""
    values = [f"({n}, {'-double(`Infinity`)' if n == at else n})".replace("`", "'")
              for n in range(3)]  # fmt: skip
    df = classic.sql(f"select * from values {', '.join(values)} as t(at, y)").coalesce(1)
    levels = fl.MultiGranular([8, 16], [4, 8])
    found = [
        fl.over(df, levels, time="at").fit("y", filled=True).select("slope", "intercept", "r2")
    ]
    for spec in (fl.Sliding(8, 4), levels):
        windows = fl.over(df, spec, time="at").agg(line=agg.linear_fit("y"))
        found.append(windows.select("line.*"))
    for lines in found:
        values = {str(value) for row in lines.collect() for value in row}
        assert values == {"nan"}


# The least and the greatest value of each type, and one between.
ENDS = {
    "tinyint": ("-128", "127", "0"), "smallint": ("-32768", "32767", "1"),
    "int": ("-2147483648", "2147483647", "7"),
    "bigint": ("-9223372036854775808", "9223372036854775807", "9223372036854775806"),
    "decimal(38,0)": (f"-{'9' * 38}", "9" * 38, "1"),
    "decimal(38,38)": (f"-0.{'9' * 38}", f"0.{'9' * 38}", f"0.{'0' * 37}1"),
    "decimal(10,2)": ("-99999999.99", "99999999.99", "0.01"),
    "float": ("-3.4028235e38", "3.4028235e38", "1.4e-45"),
    "double": ("-1.7976931348623157e308", "1.7976931348623157e308", "5e-324"),
    "string": ("", "\\0", "zz"), "boolean": ("false", "true", "false"),
    "date": ("0001-01-01", "9999-12-31", "1970-01-01"),
    "timestamp": ("0001-01-02T00:00:00Z", "9999-12-30T00:00:00Z", "1970-01-01T00:00:00Z"),
    "binary": ("", "\\0", "z"),
}  # fmt: skip
ORDER = (0, 1, 1, 2, None, 0, 0, 1, 2, 1)
# Doubles whose sum depends on the order in which they are added.
ADDED = ("sum", "avg", "mean", "try_sum", "try_avg", "product", "skewness", "kurtosis")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ENDS)
def test_aggregates_at_both_ends_of_a_type_are_those_of_spark(classic, kind):
    """Every aggregate that Spark has, too; without ANSI mode sums beyond the end are no error."""
    values = (f"cast({'null' if at is None else repr(ENDS[kind][at])} as {kind})" for at in ORDER)
    rows = (f"(timestamp_seconds({37 * at}), {at}, {one})" for at, one in enumerate(values))
    ours, theirs = {}, {}
    for name, entry in REGISTRY.items():
        types = entry.samples[0].types
        if len(types) != 1 or "sketch" in name or (name in ADDED and kind in ("float", "double")):
            continue
        call = entry.function("x", **dict(entry.samples[0].options))
        try:
            native = call.aggregate.partials((kind,)).native
            fl.over(classic.sql(f"select timestamp'1970-01-01' ts, cast(null as {kind}) x"),
                    fl.Sliding("1 day"), time="ts").agg(call)  # fmt: skip
        except fl.FanlightError:
            continue  # not of this type
        if native:
            ours[name], theirs[name] = call, fill(native, x="x")
    with configured(classic, "spark.sql.ansi.enabled", "false"):
        df = classic.sql(f"select * from values {', '.join(rows)} as t(ts, seq, x)")
        windows = fl.over(df, fl.Sliding("4 minutes", "1 minute"), time="ts", tiebreak="seq")
        found = windows.using("panes").agg(**ours).orderBy("window").collect()
        window = F.window("ts", "4 minutes", "1 minute")
        wanted = df.groupBy(window).agg(*(F.expr(text).alias(n) for n, text in theirs.items()))
        wanted = wanted.orderBy("window").collect()
    assert len(ours) >= 3
    for one, other in zip(found, wanted, strict=True):
        for name in ours:
            got, value = one[name], other[name]
            if isinstance(value, float):
                both = math.isfinite(value) or math.isfinite(got)
                assert not both or math.isclose(got, value, rel_tol=1e-9, abs_tol=1e-9), name
            elif isinstance(value, list):
                assert all_of(got) == all_of(value), name
            else:
                assert repr(got) == repr(value), name
