"""Windows over events that last, beside what a Spark user writes today."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.data import BEGIN, DAY, cache, write
from benchmarks.queries import Batch, Stream
from benchmarks.timing import Entry, Result, Row, race

MINUTE = 60_000_000
RANGE = 60  # slides; a slide is a minute
SCHEMA = "start timestamp, stop timestamp, k int, v double, n int"
AGGREGATES = "count(1) as n, sum(v) as s, max(v) as m"
MEANS = (1, 50, 1000)  # durations in slides


@dataclass(frozen=True)
class Spans:
    """Parquet files whose rows, and whose order of modification, follow the stop."""

    folder: str
    rows: int
    delay: str

    def read(self, spark):
        return spark.read.schema(SCHEMA).parquet(self.folder)

    def stream(self, spark):
        source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return source.parquet(self.folder).withWatermark("stop", self.delay)


def table(spark, rows, mean, *, spread=10, keys=1, files=10):
    """Events of a day by their stop; durations N(mean, spread) in slides, at least a second."""
    folder = cache() / f"spans-{rows}-{mean}-{spread}-{keys}-{files}"
    found = Spans(str(folder), rows, f"{mean + 8 * spread} minutes")
    if folder.exists():
        return found
    uniform = [f"(pmod(xxhash64(id, {seed}), 1000003) + 1) / 1000004.0D" for seed in (5, 6)]
    normal = f"sqrt(-2.0D * ln({uniform[0]})) * cos(2.0D * pi() * {uniform[1]})"
    made = spark.range(0, rows, 1, files).selectExpr(
        f"{BEGIN}000000 + id * {DAY} div {rows} as t",
        f"greatest(cast(({mean} + {spread} * {normal}) * {MINUTE} as bigint), 1000000L) as lasts",
        f"cast(pmod(xxhash64(id), {keys}) as int) as k",
        "pmod(xxhash64(id, 1), 1000003) / 1000.0D as v",
        "cast(pmod(xxhash64(id, 2), 1000) as int) as n",
    )
    made = made.selectExpr(
        "timestamp_micros(t - lasts) as start", "timestamp_micros(t) as stop", "k", "v", "n"
    )
    write(made, folder)
    return found


def ours(df, strategy="auto", by="k"):
    """The query through fanlight."""
    import fanlight as fl
    from fanlight import agg

    spec = fl.Sliding(f"{RANGE} minutes", "1 minute")
    windows = fl.over(df, spec, time=("start", "stop"), by=by).using(strategy)
    found = windows.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("v"))
    return found.selectExpr("window.start as start", "n", "s", "m")


def tumbling(df, by="k"):
    """What the same rows cost as points, each in one window."""
    import fanlight as fl
    from fanlight import agg

    windows = fl.over(df, fl.Sliding("1 minute"), time="stop", by=by)
    found = windows.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("v"))
    return found.selectExpr("window.start as start", "n", "s", "m")


def exploded(df):
    """Each event into each of its windows."""
    first = f"timestamp_micros((unix_micros(start) div {MINUTE} - {RANGE - 1}) * {MINUTE})"
    last = f"timestamp_micros((unix_micros(stop) - 1) div {MINUTE} * {MINUTE})"
    windows = f"explode(sequence({first}, {last}, interval 1 minute)) as start"
    copies = df.selectExpr("k", windows, "v")
    return _grouped(copies)


def joined(df):
    """Events joined with a table of windows by range."""
    spark = df.sparkSession
    low = (BEGIN // 60 - RANGE - 2000) * 60
    windows = spark.range(0, 1440 + RANGE + 2100, 1, 1).selectExpr(
        f"timestamp_seconds({low} + id * 60) as ws",
        f"timestamp_seconds({low} + (id + {RANGE}) * 60) as we",
    )
    df.createOrReplaceTempView("spans")
    windows.createOrReplaceTempView("windows")
    pairs = spark.sql(
        "select /*+ broadcast(windows) */ k, ws as start, v from spans join windows "
        "on spans.start < windows.we and windows.ws < spans.stop"
    )
    return _grouped(pairs)


def _grouped(copies):
    copies.createOrReplaceTempView("copies")
    grouped = f"select k, start, {AGGREGATES} from copies group by k, start"
    return copies.sparkSession.sql(grouped).select("start", "n", "s", "m")


CELLS = (
    "an event is counted in the cell of its key, its first and its last slice; with 100 keys there "
    "are about as many cells as events, so little is gained before the shuffle; two sums an event "
    "would do for what can be subtracted, which a maximum and a sum of doubles cannot"
)


def lasting(bench):
    """Events of 50 slides on average, 60 slides a window, in a batch."""
    rows = []
    for keys in (1, 100):
        given = _tables(bench, 50, keys=keys)

        def batch(make, **how):
            return lambda spans: Batch(make(spans.read(bench.spark), **how))

        entries = [Entry("fanlight", batch(ours)), Entry("tumbling", batch(tumbling), alone=True)]
        if keys == 1:
            entries += [
                Entry("explode + groupBy", batch(exploded), slow=True),
                Entry("range join", batch(joined), slow=True),
            ]
        best = race(entries, given)
        case = f"spans, {keys} key{'s' if keys > 1 else ''}"
        rows.append(_row(case, best, "tumbling", at_most=2, why=CELLS))
        if keys == 1:
            rows.append(_row(case, best, "explode + groupBy", at_least=20, why=CELLS))
            rows.append(_row(case, best, "range join", at_least=20))
    return Result(rows)


def lasting_stream(bench):
    """Longer and longer events, in a stream."""
    best = {}
    for mean in MEANS:
        given = _tables(bench, mean)
        entry = Entry("fanlight", lambda s: Stream(ours(s.stream(bench.spark))), alone=True)
        best[mean] = race([entry], given, rounds=min(bench.rounds, 2))["fanlight"]
    lines = [[f"{mean:,}", f"{best[mean]:.1f}"] for mean in MEANS]
    longest = Row("spans, stream", f"{MEANS[-1]} slides an event", best[MEANS[-1]],
                  f"{MEANS[0]}", best[MEANS[0]], at_most=1.3)  # fmt: skip
    return Result([longest], [("Stream, longer and longer events", ["slides", "s"], lines)])


def _tables(bench, mean, keys=1):
    small = table(bench.spark, bench.small.rows, mean, keys=keys, files=2)
    large = small if bench.smoke else table(bench.spark, bench.table.rows, mean, keys=keys)
    return replace(bench, small=small, table=large)


def _row(case, best, other, **target):
    return Row(case, "fanlight", best["fanlight"], other, best[other], **target)


def snapshots(bench):
    """Snapshots of events of 100 keys, compared with their windows of a minute."""
    rows = 20_000 if bench.smoke else bench.table.rows
    data = {name: table(bench.spark, size, 50, keys=100)
            for name, size in (("small", 20_000), ("large", rows))}  # fmt: skip

    import fanlight as fl
    from fanlight import agg

    def taken(df, spec):
        found = fl.over(df, spec, time=("start", "stop"), by="k").agg(n=agg.count())
        return found.selectExpr("k", "window.start as start", "n")

    made, specs = [], {"snapshots": fl.Snapshot(), "a minute": fl.Sliding("1 minute")}
    for how, ask in (
        ("batch", lambda of, spec: Batch(taken(of.read(bench.spark), spec))),
        ("stream", lambda of, spec: Stream(taken(of.stream(bench.spark), spec))),
    ):
        entries = [
            Entry(name, lambda of, ask=ask, spec=spec: ask(of, spec), alone=True)
            for name, spec in specs.items()
        ]
        best = race(entries, replace(bench, small=data["small"], table=data["large"]))
        times = [part for name in specs for part in (name, best[name])]
        made.append(Row(f"snapshots of {rows:,} events, {how}", *times, at_most=3))
    return Result(made)


def parts(bench):
    """What is of the parts of events in windows of an hour every minute, beside their count."""
    from fanlight import agg

    rows = 20_000 if bench.smoke else min(bench.table.rows, 1_000_000)
    data = {name: table(bench.spark, size, 50, keys=100)
            for name, size in (("small", 20_000), ("large", rows))}  # fmt: skip
    asked = {
        "count": agg.count(), "sum": agg.sum("v"), "overlap": agg.overlap(), "peak": agg.peak(),
        "integral": agg.integral("v"),
    }  # fmt: skip
    entries = [
        Entry(name, lambda of, one=one: Batch(_of_parts(of.read(bench.spark), one)), alone=True)
        for name, one in asked.items()
    ]
    best = race(entries, replace(bench, small=data["small"], table=data["large"]))
    beside = {"overlap": "count", "peak": "count", "integral": "sum"}
    return Result([
        Row(f"{name} of {rows:,} events", name, best[name], other, best[other], at_most=most)
        for (name, other), most in zip(beside.items(), (1.3, 1.3, None), strict=True)
    ])  # fmt: skip


def _of_parts(df, one):
    """The windows, with a number for each: of a peak, how many."""
    import fanlight as fl

    windows = fl.over(df, fl.Sliding("1 hour", "1 minute"), time=("start", "stop"), by="k")
    number = "a.running as a" if one.aggregate.name == "peak" else "a"
    return windows.agg(a=one).selectExpr("k", "window.start as start", number)
