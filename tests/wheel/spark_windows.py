"""Spark's own windows, given as Columns, in each form in which a user may write them.

Used by what runs in the environments of `make wheels`, and by the tests of development.
"""

from __future__ import annotations

import fanlight as fl
from fanlight import agg

# The names of a time, as a DataFrame has them, and as F.col takes them.
TIMES = {
    "ts": "ts",
    "a b": "a b",
    "a.b": "`a.b`",
    "a, b": "a, b",
    "it's": "it's",
    "a`b": "`a``b`",
    "a (b": "a (b",
    "a AS b": "a AS b",
    "s.ts": "s.ts",
}
# How a user may write the windows, by the functions of a session and a time.
FORMS = {
    "plain": lambda on, time: on.window(time, "1 hour"),
    "of two units": lambda on, time: on.window(time, "1 hour 30 minutes"),
    "with slide": lambda on, time: on.window(time, "1 hour", "20 minutes"),
    "with startTime": lambda on, time: on.window(time, "1 hour", startTime="15 minutes"),
    "with all": lambda on, time: on.window(time, "1 hour", "20 minutes", "5 minutes"),
    "with a name": lambda on, time: on.window(time, "1 hour", "20 minutes").alias("w"),
    "with an odd name": lambda on, time: on.window(time, "1 hour").alias("w (x), AS"),
    "sessions": lambda on, time: on.session_window(time, "50 seconds"),
    "sessions of two units": lambda on, time: on.session_window(time, "1 minute 5 seconds"),
    "sessions with a name": lambda on, time: on.session_window(time, "50 seconds").alias("w"),
    "sessions of a literal": lambda on, time: on.session_window(time, on.lit("50 seconds")),
}
KEY = "Lane No"


def rows_of(spark):
    """Rows with a time under each of the names."""
    names = [name for name in TIMES if name != "s.ts"]
    at = "timestamp_seconds(1700000000 + id * 40 + id % 5 * 30)"
    times = ", ".join(f"{at} as `{name.replace('`', '``')}`" for name in names)
    return spark.sql(
        f"select {times}, named_struct('ts', {at}) as s, id % 2 as `{KEY}` from range(300)"
    )


def functions_of(spark):
    """``pyspark.sql.functions`` for a session."""
    if ".connect." in type(spark).__module__:
        from pyspark.sql.connect import functions
    else:
        from pyspark.sql import functions
    return functions


def forms_and_times():
    """(form, time) of each: every form over a plain name, two over each other one."""
    for form in FORMS:
        yield form, "ts"
    for time in TIMES:
        yield "with slide", time
        yield "sessions", time


def answers(spark, form, time):
    """What Spark and what fanlight say of the same windows."""
    on, df = functions_of(spark), rows_of(spark)
    column = FORMS[form](on, TIMES[time])
    theirs = df.groupBy(column.alias("window"), on.col(KEY)).agg(on.count("*").alias("n"))
    ours = fl.over(df, column, by=KEY).agg(n=agg.count())
    return [sorted(map(str, one.select("window", KEY, "n").collect())) for one in (theirs, ours)]
