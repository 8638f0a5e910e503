"""Every kind of window, asked over columns that are called anyhow: from a DataFrame and the names.

The functions stand here because Spark's workers import them by name.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.sql_text import quote

MINUTES = fl.Sliding("4 minutes", "2 minutes")
LEVELS = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"])
WIDE = fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=10)


def aggregates(c, *, most=8):
    """One of each kind of partial, of columns and results that are called anyhow."""
    asked = (
        agg.first(c("packed")),
        agg.max(c("packed")),
        agg.collect_list(c("packed")),
        agg.mode(c("packed")),
        agg.heavy_hitters(c("other"), 0.2),
        agg.count_distinct(c("packed"), c("text")),
        agg.listagg(c("text"), "'{start}`${a}\\"),
        agg.min_by(c("packed"), c("real")),
    )
    names = ("first", "most", "all", "mode", "heavy", "count", "joined", "best")
    return [one.alias(c(name)) for one, name in list(zip(asked, names, strict=True))[:most]]


def sums_of_parts(c):
    """What adds up over parts of events, of columns and results that are called anyhow."""
    return [
        agg.overlap().alias(c("first")),
        agg.mean_running().where(c.column("whole") > 2).alias(c("most")),
        agg.integral(c("real")).alias(c("all")),
        agg.time_weighted_avg(c("whole")).alias(c("mode")),
    ]


def most_at_once(c):
    found = agg.peak(), agg.peak().where(c.column("text") == "t1")
    return [one.alias(c(name)) for one, name in zip(found, ("heavy", "count"), strict=True)]


def parts(c):
    return [*sums_of_parts(c), *most_at_once(c), agg.collect_list(c("packed")).alias(c("best"))]


def parts_of_events(asked, strategy="auto", spec=MINUTES):
    def ask(df, c):
        return over(df, c, spec, ("began", "at")).using(strategy).agg(*asked(c))

    return ask


def held(df, c):
    """Values that hold until the next row."""
    return over(df, c, MINUTES).agg(
        agg.integral(c("real")).alias(c("first")),
        agg.time_weighted_avg(c("whole")).alias(c("most")),
        agg.rate(c("tie")).alias(c("all")),
    )


def over(df, c, spec, time="at", by=("key", "other"), **more):
    named = (c(time[0]), c(time[1])) if isinstance(time, tuple) else c(time)
    return fl.over(df, spec, time=named, by=[c(one) for one in by], tiebreak=c("tie"), **more)


def forgetting(spec, strategy="auto", most=3):
    def ask(df, c):
        windows = over(df, c, spec(c), forget_after="90 seconds").using(strategy)
        return windows.agg(*aggregates(c, most=most))

    return ask


def every(strategy, spec, time="at", most=8):
    def ask(df, c):
        return over(df, c, spec, time).using(strategy).agg(*aggregates(c, most=most))

    return ask


def running(df, c):
    """Events that have not ended, of which none may take when it ends."""
    windows = over(df, c, MINUTES, ("began", "at"))
    if df.isStreaming:
        windows = windows.running(id=c("tie"), max_duration="6 minutes")
    else:
        windows = windows.running(id=c("tie"), as_of="2023-11-14T22:20:00Z")
    return windows.agg(
        agg.max(c("packed")).alias(c("first")),
        agg.count_distinct(c("packed"), c("text")).alias(c("most")),
        agg.sum(c("real")).alias(c("all")),
    )


def filled(df, c):
    """Rows of another DataFrame, of the same names, in frames."""
    other = df.filter(c.column("tie") % 2 == 0)
    cut = over(df, c, fl.DeltaFrame({c("real"): 3}))
    return cut.fill(other, time=c("at")).rows()


def filled_left(df, c):
    other = df.filter(c.column("tie") % 4 == 0)
    return over(df, c, fl.DeltaFrame({c("real"): 3})).fill(other, time=c("at"), how="left").rows()


def filled_by(df, c):
    return (
        over(df, c, fl.DeltaFrame({c("real"): 3}))
        .fill(
            df,
            time=c("at"),
            by=[c("key"), c("other")],
            own={f"own {n}": call for n, call in enumerate(aggregates(c, most=3))},
        )
        .agg(*aggregates(c, most=3))
    )


def opens(row, _):
    return row[0] > 2


def closes(row, _):
    return row[0] < 1


def detected(df, c):
    """A match has the first row's nested value as the detector is given it."""
    kind = df.select(c.column("packed")).schema.fields[0].dataType
    schema = StructType([StructField(c("all"), LongType()), StructField(c("first"), kind)])

    def search(found):
        counted = pa.array([found.num_rows], pa.int64())
        return pa.table([counted, found.column(0).slice(0, 1)], names=schema.names)

    columns = [c("packed"), c("other"), c("tie")]
    return over(df, c, WIDE).detect(search, schema, columns=columns, once=c("all"))


def episode(df, c):
    what = fl.Episode("t0 => t1", event=c("text"), result=c("whole"))
    return over(df, c, WIDE).detect(what)


KINDS = {
    **{f"sliding, {how}": every(how, MINUTES) for how in ("panes", "pairs", "expand")},
    "windows over rows": every("auto", fl.Sliding(fl.Rows(4), fl.Rows(2))),
    "forgetting, rows": forgetting(lambda _: fl.Sliding(fl.Rows(4), fl.Rows(2))),
    "forgetting, frames": forgetting(lambda c: fl.DeltaFrame({c("real"): 3})),
    "forgetting, native": forgetting(lambda c: fl.BoundaryFrame({c("real"): 2}), "native"),
    "at every row": every("auto", fl.Sliding("2 minutes", fl.Rows(1))),
    "at every third row": every("auto", fl.Sliding("2 minutes", fl.Rows(3))),
    "last rows": every("auto", fl.Sliding(fl.Rows(3), "2 minutes")),
    **{f"levels, {how}": every(how, LEVELS) for how in ("granules", "separate")},
    "fit": lambda df, c: over(df, c, LEVELS).fit(c("real"), filled=True),
    "fit by row": lambda df, c: over(df, c, LEVELS).fit(c("real")),
    "recurring": lambda df, c: over(df, c, LEVELS).recurring(c("text"), counts=True),
    "calendar": every("auto", fl.Calendar("1 day", "1 hour", zone="Europe/Berlin")),
    "cumulative": every("auto", fl.Cumulative("1 month", "1 day", zone="Europe/Berlin")),
    "list": every("auto", [MINUTES, fl.Sliding("1 minute")]),
    **{
        f"events, {how}": every(how, MINUTES, ("began", "at"))
        for how in ("levels", "cells", "aggregate-buckets", "se-slicing")
    },
    "events, several": every("auto", LEVELS, ("began", "at")),
    "events, parts": parts_of_events(parts),
    "events, parts of several": parts_of_events(parts, spec=LEVELS),
    "events, parts in panes": parts_of_events(sums_of_parts, "panes"),
    "events, most in panes": parts_of_events(most_at_once, "panes"),
    "events, running": running,
    "held": held,
    "snapshots": lambda df, c: over(df, c, fl.Snapshot(), ("began", "at")).agg(*aggregates(c)),
    "delta frames": lambda df, c: over(df, c, fl.DeltaFrame({c("real"): 3})).agg(*aggregates(c)),
    "threshold frames": lambda df, c: over(df, c, fl.ThresholdFrame(c.column("real") > 1)).agg(
        *aggregates(c)
    ),
    "state frames": lambda df, c: over(df, c, fl.StateFrame([c("text"), c("packed")])).agg(
        *aggregates(c)
    ),
    "pattern frames": lambda df, c: over(
        df,
        c,
        fl.PatternFrame(
            "low+ high",
            {"low": c.column("real") < 1, "high": c.column("real") >= 1},
            within="5 minutes",
        ),
    ).agg(*aggregates(c)),
    "dwelling frames": lambda df, c: over(
        df,
        c,
        fl.ThresholdFrame(c.column("real") > 1, enter_for="1 minute", leave=c.column("real") < 0),
    ).agg(*aggregates(c, most=3)),
    "frames cut short": lambda df, c: over(
        df, c, fl.DeltaFrame({c("real"): 3}, max_rows=2, max_gap="1 minute")
    ).agg(*aggregates(c)),
    "native frames": lambda df, c: (
        over(df, c, fl.BoundaryFrame({c("real"): 2, c("whole"): [3]}))
        .using("native")
        .agg(*aggregates(c))
    ),
    "overlapping frames": lambda df, c: over(
        df, c, fl.BoundaryFrame({c("whole"): 2}, overlapping=True)
    ).agg(*aggregates(c, most=3)),
    "distinct frames": lambda df, c: over(
        df, c, fl.AggregateFrame(agg.count_distinct(c("packed"), c("text")), 4)
    ).agg(*aggregates(c, most=3)),
    "limits of rows": lambda df, c: over(
        df,
        c,
        fl.AggregateFrame(
            [agg.sum(c("real")), agg.count()],
            [quote(c("whole")), c.column("whole") * 2],
            strict=True,
        ),
    ).agg(*aggregates(c)),
    "functions": lambda df, c: over(
        df, c, fl.PredicateFrame(opens, closes, columns=[c("real"), c("packed")])
    ).frames(),
    "several at once": lambda df, c: over(
        df,
        c,
        fl.PredicateFrame(opens, closes, columns=[c("real"), c("packed")], overlapping=True),
    ).agg(*aggregates(c, most=3)),
    "rows of frames": lambda df, c: over(df, c, fl.DeltaFrame({c("real"): 3})).rows(),
    "fill": filled,
    "fill, left": filled_left,
    "fill, aggregated": filled_by,
    "split": lambda df, c: over(df, c, fl.DeltaFrame({c("real"): 3})).split(
        "30 seconds", *aggregates(c, most=3)
    ),
    "split, so far": lambda df, c: over(df, c, fl.DeltaFrame({c("real"): 3})).accumulate(
        "30 seconds", *aggregates(c, most=3)
    ),
    "features": lambda df, c: over(
        df, c, {c("long"): fl.Trailing("2 minutes"), c("all"): fl.Trailing()}
    ).attach(*aggregates(c, most=3)),
    "features of others": lambda df, c: (
        over(df, c, fl.Trailing("2 minutes"))
        .at(df, time=c("at"))
        .attach(*(one.alias(c(f"of {n}")) for n, one in enumerate(aggregates(c, most=3))))
    ),
    "pieces": lambda df, c: fl.roll_up(
        over(df, c, MINUTES).pieces(*aggregates(c)), fl.Sliding("6 minutes", "2 minutes")
    ),
    "pieces, repaired": lambda df, c: fl.roll_up_late(
        *2 * [over(df, c, MINUTES).pieces(*aggregates(c))], fl.Sliding("6 minutes", "2 minutes")
    ),
    "pieces, asked by others": lambda df, c: fl.roll_up(
        over(df, c, MINUTES).pieces(
            *(one.alias(c(f"of {n}")) for n, one in enumerate(aggregates(c, most=3)))
        ),
        {c("long"): fl.Trailing("4 minutes")},
        spine=df,
        time=c("at"),
    ),
    "sessions": lambda df, c: over(df, c, fl.Session("30 seconds")).agg(*aggregates(c)),
    "own gaps": lambda df, c: over(
        df, c, fl.Session(F.make_dt_interval(secs=c.column("whole") * 10))
    ).rows(),
    "detect": detected,
    "episode": episode,
    "rejected": lambda df, c: over(df, c, MINUTES, ("at", "began")).rejected().drop("reason"),
}
