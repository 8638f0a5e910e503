"""Queries 1 to 4 of the paper, and the situations in which it says that panes may not pay."""

from __future__ import annotations

import numpy as np

import fanlight as fl
from experiments.panes import kernels
from experiments.panes.auction import MINUTE, SECOND, auction
from experiments.panes.measure import Ways, agree, alike, fastest, ratio, sure
from fanlight import agg
from fanlight.engine.kernels.ranges import range_max

TREE = "spark.sql.window.segmentTree"
SEGMENT_TREES = [
    ("segment tree off", "false", "65536"),
    ("segment tree on", "true", "65536"),
    ("segment tree on, blocks of 256 rows", "true", "256"),
]
FOUR, TEN = 4 * MINUTE, 10 * MINUTE


def compared(what, paned, windowed, runs, same=agree, **facts):
    """Both ways in the kernel: first that they agree, then how long they take."""
    sure(same(paned(), windowed()), what)
    fast, slow = fastest(runs, paned, windowed)
    return {"what": what, **facts, "paned": fast, "windowed": slow, "ratio": fast / slow}


def both(kind, stream, value=None):
    """The paned and the windowed way."""
    if kind == "max":
        return lambda: kernels.paned_max(stream, value), lambda: kernels.windowed_max(stream, value)
    return lambda: kernels.paned_count(stream), lambda: kernels.windowed_count(stream)


def hitters(answer, share):
    """What is at least ``share`` of its window, from the counts by item (Query 4)."""
    first = np.flatnonzero(np.diff(answer.window, prepend=answer.window[:1] - 1))
    total = np.add.reduceat(answer.value, first)
    of_window = np.repeat(total, np.diff(first, append=len(answer.window)))
    heavy = answer.value >= share * of_window
    window, group, value = (part[heavy] for part in answer[:3])
    return answer._replace(window=window, group=group, value=value)


def in_kernel(bids, runs):
    """Queries 1, 3 and 4 in the kernel."""
    time, item, price = bids.timestamp, bids.item_id, bids.bid_price
    one = kernels.stream(time, range=FOUR, slide=MINUTE)
    three = kernels.stream(time, item, range=FOUR, slide=MINUTE)
    four = kernels.stream(time, item, range=TEN, slide=MINUTE)
    counts = both("count", four)
    return [
        compared("Query 1: max, 4 min by 1 min", *both("max", one, price), runs),
        compared("Query 3: count by item, 4 min by 1 min", *both("count", three), runs),
        compared(
            "Query 4: heavy hitters of 5 %, 10 min by 1 min",
            *[lambda way=way: hitters(way(), 0.05) for way in counts],
            runs,
        ),
    ]


def by_tuple(bids, runs, window=1000):
    """Windows of 1000 tuples that slide by ever fewer: at one, panes gain nothing (Query 2)."""
    number, price = np.arange(len(bids.timestamp)), bids.bid_price
    rows = []
    for slide in (500, 100, 10, 2, 1):
        stream = kernels.stream(number, range=window, slide=slide)
        what = f"max, {window} tuples by {slide}"
        rows.append(compared(what, *both("max", stream, price), runs))
    ends = np.arange(1, len(number) + 1)
    starts = np.maximum(ends - window, 0)
    best, _ = range_max(price, None, starts, ends)
    scanned = kernels.windowed_max(kernels.stream(number, range=window, slide=1), price)
    whole = (scanned.window >= 0) & (scanned.window + window <= len(number))
    sure(np.array_equal(best[window - 1 :], scanned.value[whole]), "Query 2")
    (rolling,) = fastest(runs, lambda: range_max(price, None, starts, ends))
    slow = rows[-1]["windowed"]
    what = f"max, {window} tuples by 1: not panes, but each row entered and left once"
    return [
        *rows,
        {"what": what, "paned": rolling, "windowed": slow, "ratio": rolling / slow},
    ]


def situations(size, runs):
    """Many groups a pane; slow arrival; few panes a window; and 9 by 6."""
    rows = []

    def add(what, data, kind, *, groups, tuples, panes_a_window, range_, slide):
        stream = kernels.stream(
            data.timestamp, data.item_id if groups > 1 else None, range=range_, slide=slide
        )
        name = f"{what}: {kind}"
        facts = {"tuples": tuples, "groups": groups, "panes": panes_a_window}
        rows.append(compared(name, *both(kind, stream, data.bid_price), runs, **facts))

    rate = 1000.0
    for groups in (1, 10, 100, 1000, 10_000):
        data = auction(size, rate=rate, items=groups, skew=0.0)
        pane = 100 * SECOND // int(rate)
        for kind in ("max", "count"):
            add("many groups", data, kind, groups=groups, tuples=100, panes_a_window=5,
                range_=5 * pane, slide=pane)  # fmt: skip
    for tuples in (10, 1, 0.2, 0.05):
        data = auction(max(int(size * min(tuples, 1)), 1000), rate=rate, items=1)
        pane = int(tuples * SECOND / rate)
        for kind in ("max", "count"):
            add("slow arrival", data, kind, groups=1, tuples=tuples, panes_a_window=5,
                range_=5 * pane, slide=pane)  # fmt: skip
    data = auction(size, rate=rate, items=10, skew=0.0)
    pane = 100 * SECOND // int(rate)
    for panes_a_window in (1, 2, 3, 10):
        for kind in ("max", "count"):
            add("few panes", data, kind, groups=10, tuples=100, panes_a_window=panes_a_window,
                range_=panes_a_window * pane, slide=pane)  # fmt: skip
    for kind in ("max", "count"):
        add("9 by 6", data, kind, groups=10, tuples=100, panes_a_window=3,
            range_=3 * pane, slide=2 * pane)  # fmt: skip
    return rows


def on_spark(bids, runs):
    """Queries 1, 3 and 4 through ``fl.over``, by panes and as Spark does it."""
    cases = [
        ("Query 1: max, 4 min by 1 min", "4 minutes", [], agg.max("bid_price")),
        ("Query 3: count by item, 4 min by 1 min", "4 minutes", ["item_id"], agg.count()),
        (
            "Query 4: heavy hitters of 5 %, 10 min by 1 min",
            "10 minutes", [], agg.heavy_hitters("item_id", 0.05),
        ),
    ]  # fmt: skip
    rows = []
    for what, length, by, call in cases:
        columns = ["timestamp", "bid_price" if call.label.startswith("max") else "item_id"]
        ways = Ways(runs, bids, *columns)
        windows = fl.over(bids, fl.Sliding(length, "1 minute"), time="timestamp", by=by)
        paned, expanded = (windows.using(way).agg(call) for way in ("panes", "expand"))
        sure(alike(paned, expanded), what)
        frames = [paned, expanded]
        if not call.label.startswith("heavy"):
            own = spark_window(bids, length, by, call.label)
            sure(alike(paned, own), f"{what}, window()")
            frames.append(own)
        scan, fast, slow, *rest = ways.seconds(*frames)
        rows.append({"what": what, "paned": fast, "windowed": slow, "ratio": ratio(fast, slow),
                     "window()": rest[0] if rest else None, "scan": scan})  # fmt: skip
    return rows


def spark_window(bids, length, by, label):
    """Spark's ``window()``, as a user would write it."""
    from pyspark.sql import functions as F

    call = F.max("bid_price") if label.startswith("max") else F.count(F.lit(1))
    window = F.window("timestamp", length, "1 minute").alias("window")
    return bids.groupBy(window, *by).agg(call.alias(label))


def query_2(spark, bids, runs):
    """The highest bid of the past 4 minutes at every bid: fl.over, and Spark's OVER twice."""
    spec = fl.Sliding("4 minutes", fl.Rows(1))
    ways = Ways(runs, bids, "timestamp", "bid_price")
    windows = fl.over(bids, spec, time="timestamp").using(rate=1e4)
    ours = windows.agg(agg.max("bid_price"))
    text = (
        "max(bid_price) over (order by unix_micros(timestamp) "
        f"range between {FOUR - 1} preceding and current row)"
    )
    over = bids.selectExpr("timestamp", f"{text} as best")
    distinct = over.distinct().selectExpr(
        f"named_struct('start', timestamp - interval '{FOUR - 1}' microsecond, "
        "'end', timestamp + interval '1' microsecond) as window",
        "best as `max(bid_price)`",
    )
    rows = []
    for what, enabled, block in SEGMENT_TREES:
        spark.conf.set(f"{TREE}.enabled", enabled)
        spark.conf.set(f"{TREE}.blockSize", block)
        sure(alike(ours, distinct), f"Query 2, {what}")
        scan, own, ours_took = ways.seconds(over, ours)
        rows.append(
            {
                "what": what,
                "over": own,
                "fanlight": ours_took,
                "ratio": ratio(ours_took, own),
                "scan": scan,
            }
        )
    for setting in ("enabled", "blockSize"):
        spark.conf.unset(f"{TREE}.{setting}")
    return rows


def situations_on_spark(make_frame, size, runs, *, smoke=False):
    """The same situations through ``fl.over``: ``make_frame(name, bids)`` gives the DataFrame."""
    rate = 1000.0
    cases = [  # what, tuples a pane, groups, panes a window, panes a slide
        ("many groups: max", 100, 10, 5, 1),
        ("many groups: max", 100, 1000, 5, 1),
        ("many groups: max", 100, 100_000, 5, 1),
        ("slow arrival: max", 0.2, 1, 5, 1),
        ("slow arrival: max", 0.05, 1, 5, 1),
        ("few panes: max", 100, 10, 1, 1),
        ("few panes: max", 100, 10, 2, 1),
        ("9 by 6: count", 100, 10, 3, 2),
    ]
    rows = []
    for n, (what, tuples, groups, p, a_slide) in enumerate(cases[:1] if smoke else cases):
        some = size // 2 if groups > 100 else size  # many groups: many rows in the answer
        bids = auction(max(int(some * min(tuples, 1)), 1000), rate=rate, items=groups, skew=0.0)
        frame = make_frame(f"situation{n}", bids)
        pane = int(tuples * SECOND / rate)
        spec = fl.Sliding(f"{p * pane} microseconds", f"{a_slide * pane} microseconds")
        by = ["item_id"] if groups > 1 else []
        call = agg.count() if what.endswith("count") else agg.max("bid_price")
        columns = ["timestamp", *by, *([] if what.endswith("count") else ["bid_price"])]
        ways = Ways(runs, frame, *columns)
        windows = fl.over(frame, spec, time="timestamp", by=by)
        names = ["panes", "expand"] + (["differential"] if what.endswith("count") else [])
        frames = [windows.using(name).agg(call) for name in names]
        for other in frames[1:]:
            sure(alike(frames[0], other), what)
        scan, *taken = ways.seconds(*frames)
        times = dict(zip(names, taken, strict=True))
        slow = times.pop("expand")
        for name, fast in times.items():
            label = what if name == "panes" else f"{what}, differential"
            rows.append({"what": label, "tuples": tuples, "groups": groups, "panes": p,
                         "paned": fast, "windowed": slow, "ratio": ratio(fast, slow),
                         "scan": scan})  # fmt: skip
    return rows
