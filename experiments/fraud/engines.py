"""The twelve features by several engines: each reads one Parquet file and writes another."""

from __future__ import annotations

import fanlight as fl
from experiments import sessions
from experiments.fraud import payments as p
from experiments.fraud import rolling
from fanlight import agg

TREE = "spark.sql.window.segmentTree.enabled"
OURS, OVER, TREES, DUCKDB, POLARS, PANDAS = (
    "fanlight", "Spark, OVER RANGE", "Spark, OVER RANGE, segment trees", "DuckDB, OVER RANGE",
    "Polars, rolling_…_by", "pandas, rolling",
)  # fmt: skip
ON_SPARK = {OURS, OVER, TREES}
RISKS = [f"{p.RISKS}_{label}" for label in p.DAYS]


def on_spark(source, target):
    """Two calls of fanlight, one for each key."""
    past = {label: fl.Trailing(f"{days} days") for label, days in p.DAYS.items()}
    known = {
        label: fl.Trailing(f"{days} days", delay=f"{p.KEPT} days") for label, days in p.DAYS.items()
    }
    df = sessions.start("fraud").read.parquet(str(source))
    df = fl.over(df, past, time=p.TIME, by=p.CUSTOMER).attach(
        **{p.COUNTS: agg.count(), p.MEANS: agg.avg(p.AMOUNT)}
    )
    df = fl.over(df, known, time=p.TIME, by=p.TERMINAL).attach(
        **{p.SEEN: agg.count(), p.RISKS: agg.avg(p.FRAUD)}
    )
    df.fillna(0.0, RISKS).write.mode("overwrite").parquet(str(target))


def window_functions(second):
    """The features as window functions in SQL; ``second`` is the text of a time in seconds."""
    found = []
    for key, count, mean, column, late in (
        (p.CUSTOMER, p.COUNTS, p.MEANS, p.AMOUNT, 0),
        (p.TERMINAL, p.SEEN, p.RISKS, p.FRAUD, p.KEPT),
    ):
        for label, days in p.DAYS.items():
            end = f"{late * p.DAY} PRECEDING" if late else "CURRENT ROW"
            frame = f"RANGE BETWEEN {(late + days) * p.DAY - 1} PRECEDING AND {end}"
            over = f"OVER (PARTITION BY {key} ORDER BY {second} {frame})"
            found += [
                f"count(*) {over} AS {count}_{label}",
                f"coalesce(avg({column}) {over}, 0.0) AS {mean}_{label}",
            ]
    return found


def over_range(source, target, *, trees=False):
    """Spark's own window functions."""
    spark = sessions.start("fraud")
    spark.conf.set(TREE, str(trees).lower())
    df = spark.read.parquet(str(source))
    # Once as a column, or Spark makes it anew for each window.
    df = df.selectExpr("*", f"unix_seconds(CAST({p.TIME} AS TIMESTAMP)) AS second")
    df = df.selectExpr(*p.GIVEN, *window_functions("second"))
    df.write.mode("overwrite").parquet(str(target))


def segment_trees(source, target):
    """The same with the setting by which Spark keeps a tree of partials."""
    over_range(source, target, trees=True)


def duckdb(source, target):
    import duckdb

    asked = ", ".join([*p.GIVEN, *window_functions(f"epoch_us({p.TIME}) // 1000000")])
    with duckdb.connect(config={"threads": sessions.CORES}) as database:
        rows = database.sql(f"SELECT {asked} FROM read_parquet('{source}')")
        rows.write_parquet(str(target))


def polars(source, target):
    import polars as pl

    def rolled(column, days, key):
        return pl.col(column).rolling_sum_by(p.TIME, f"{days}d").over(key)

    rows = pl.scan_parquet(source).sort(p.TIME).with_columns(one=pl.lit(1, pl.Int64))
    unknown, fraud = rolled("one", p.KEPT, p.TERMINAL), rolled(p.FRAUD, p.KEPT, p.TERMINAL)
    found = {}
    for label, days in p.DAYS.items():
        count = rolled("one", days, p.CUSTOMER)
        seen = rolled("one", p.KEPT + days, p.TERMINAL) - unknown
        risky = rolled(p.FRAUD, p.KEPT + days, p.TERMINAL) - fraud
        found[f"{p.COUNTS}_{label}"] = count
        found[f"{p.MEANS}_{label}"] = rolled(p.AMOUNT, days, p.CUSTOMER) / count
        found[f"{p.SEEN}_{label}"] = seen
        found[f"{p.RISKS}_{label}"] = (risky / seen).fill_nan(0.0)
    rows.select(*p.GIVEN, **found).collect().write_parquet(target)


def pandas(source, target):
    import pandas as pd

    rolling.add_features(pd.read_parquet(source)).to_parquet(target, index=False)


ENGINES = {
    OURS: on_spark, OVER: over_range, TREES: segment_trees, DUCKDB: duckdb, POLARS: polars,
    PANDAS: pandas,
}  # fmt: skip
