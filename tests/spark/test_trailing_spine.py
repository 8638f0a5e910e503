"""Trailing windows over a stream, as of the rows of another stream."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.sql_text import quote
from tests.helpers.dataframes import SENTINEL, all_of, calls, collected, frame, readable
from tests.helpers.streams import finish, source, stream_of
from tests.law.data import minute
from tests.law.run import beside
from tests.oracle.trailing import features, seen_from

pytestmark = [pytest.mark.spark, pytest.mark.streaming]

POLICY = "spark.sql.streaming.multipleWatermarkPolicy"
PAST = {
    "5m": fl.Trailing("5 minutes", delay="1 minute"),
    "left": fl.Trailing("5 minutes", closed="left"),
    "ever": fl.Trailing(),
    "2": fl.Trailing(fl.Rows(2)),
}
REQUESTS = {"c": ("count",), "s": ("sum", "n"), "m": ("median", "v"), "o": ("collect_list", "n")}
WHERE = {"time": "ts", "by": ["k"], "tiebreak": ["seq"], "values": ["n", "v"]}
# A micro-batch of each stream at a time; times are minutes, of which some come before earlier ones.
EVENTS = [
    [
        minute(at, k=k, n=at, v=float(at % 5), seq=place)
        for place, at in enumerate(times)
        for k in ("x", "Y")
    ]
    for times in ([2, 0, 1, 5, 4], [9, 7, 3, 9], [12, 10, 30], [31, 29, 45], [])
]
ASKS = [
    [minute(at, k=k, n=10 * at + place) for at in times for place, k in enumerate(("X", "y", "z"))]
    for times in ([-3, 1, 0], [], [9, 8], [13, 31, 30], [46, 45])
]
ASKS[1] = [{**minute(0, k="x", n=-1), "ts": None}]
PAIRS = list(zip(EVENTS, ASKS, strict=True))
END = ([SENTINEL], [SENTINEL])


def attached(events, asks):
    """What requests are given, whose columns are called as data have them."""
    rows = events.selectExpr("collate(k, 'UTF8_LCASE') as card", "ts as paid", "n", "v", "seq")
    asks = asks.selectExpr("collate(k, 'UTF8_LCASE') as `Lane No`", "ts as `a.b`", "n as end")
    windows = fl.over(rows, PAST, time="paid", by="card", tiebreak="seq")
    return windows.at(asks, time="a.b", by="Lane No").attach(**calls(REQUESTS))


def in_micros(df):
    others = [quote(name) for name in df.columns if name not in ("Lane No", "a.b")]
    return df.selectExpr("string(`Lane No`) as k", "unix_micros(`a.b`) as at", *others)


def wanted():
    """What the oracle says of each row that asks."""
    events, made = [{**row, "k": row["k"].lower()} for rows in EVENTS for row in rows], []
    for row in (row for rows in ASKS for row in rows):
        answer = {"k": row["k"], "at": row["ts"], "end": row["n"]}
        for label, spec in PAST.items():
            found = dict.fromkeys(REQUESTS)
            if row["ts"] is not None:
                seen = seen_from({**row, "k": row["k"].lower()}, events, spec, **WHERE)
                found = features(seen, REQUESTS, "ts", ["seq"])
            answer |= {f"{name}_{label}": value for name, value in found.items()}
        made.append(answer)
    return made


def sorted_rows(rows):
    kept = [row for row in rows if row.get("at") != SENTINEL["ts"]]
    return sorted(repr(sorted(row.items())) for row in kept)


def poured(session, folder, starts, query, delays=("6 minutes", "2 minutes")):
    """The rows of two streams at the end, and how many were late; each of ``starts`` starts it."""
    late = 0
    for start in starts:
        streams = [
            stream_of(session, folder / name, batches, delay)
            for name, batches, delay in zip(("events", "asks"), zip(*start), delays)  # noqa: B905
        ]
        result = readable(query(*streams))
        late += fl.progress(finish(result, folder, "parquet")).late
    return collected(session.read.schema(result.schema).parquet(str(folder / "out"))), late


@pytest.mark.sampled(2)
def test_a_stream_is_as_a_batch_also_after_a_restart(spark, tmp_path):
    """Rows come in disorder; a request before any row, of no key, and without a time, too."""

    def query(events, asks):
        return in_micros(attached(events, asks))

    found, late = poured(spark, tmp_path, [PAIRS[:2], [*PAIRS[2:], END]], query)
    assert late == 0
    assert sorted_rows(found) == sorted_rows(wanted())
    batches = (frame(spark, [row for rows in side for row in rows]) for side in (EVENTS, ASKS))
    assert sorted_rows(collected(query(*batches))) == sorted_rows(wanted())


def test_an_as_of_join(classic, tmp_path):
    """The recipe's, written by hand: the last quote of an item at each trade of it."""
    quotes = [minute(at, k=k, n=n) for k, at, n in (("a", 1, 10), ("a", 5, 11), ("b", 2, 20))]
    trades = [
        minute(at, k=k, n=-at) for k, at in (("a", 0), ("a", 1), ("a", 4), ("a", 5), ("b", 9))
    ]
    trades.append(minute(9, k="c", n=-9))

    def joined(events, asks):
        latest = fl.over(events, fl.Trailing(), time="ts", by="k")
        bids = latest.at(asks.select("k", "ts"), time="ts").attach(bid=agg.last("n"))
        return bids.selectExpr("k", "unix_micros(ts) as at", "bid")

    wanted = [
        {"k": k, "at": minute(at)["ts"], "bid": bid}
        for k, at, bid in (
            ("a", 0, None), ("a", 1, 10), ("a", 4, 10), ("a", 5, 11), ("b", 9, 20), ("c", 9, None),
        )
    ]  # fmt: skip
    found, late = poured(classic, tmp_path, [[(quotes, trades), END]], joined)
    assert late == 0
    assert sorted_rows(found) == sorted_rows(wanted)
    batch = joined(frame(classic, quotes), frame(classic, trades))
    assert sorted_rows(collected(batch)) == sorted_rows(wanted)


def test_a_request_comes_once_both_streams_are_past_it(classic, tmp_path):
    """Which later windows rely on: the time goes on with its watermark."""
    found, _ = poured(classic, tmp_path, [PAIRS], lambda *both: in_micros(attached(*both)))
    # The events are at 45 minutes, less 6; the requests at 46, less 2.
    assert {row["end"] for row in found} == {
        row["n"] for row in wanted_requests() if row["ts"] is None or row["n"] < 390
    }

    def counted(events, asks):
        windows = fl.over(attached(events, asks), fl.Sliding("10 minutes"), time="a.b")
        return windows.agg(n=agg.count(), most=agg.max("c_ever"))

    found, _ = poured(classic, tmp_path / "further", [[*PAIRS, END]], counted)
    batches = (frame(classic, [row for rows in side for row in rows]) for side in (EVENTS, ASKS))
    assert all_of(found) == all_of(collected(counted(*batches)))


def wanted_requests():
    return [row for rows in ASKS for row in rows]


@pytest.mark.parametrize(("policy", "dropped"), [("min", 0), ("max", 2)])
def test_late_rows_are_dropped_and_counted(classic, tmp_path, policy, dropped):
    """By the slower of the two streams, or by the faster one, as Spark is set."""
    session = beside(classic, (POLICY, policy))
    events, asks = ([range(5), range(5, 10), [9]], [[1, 30], [31], [9, 32]])
    pairs = [
        ([minute(at) for at in here], [minute(at, n=at) for at in there])
        for here, there in zip(events, asks, strict=True)
    ]

    def query(events, asks):
        found = (
            fl.over(events, fl.Trailing(), time="ts", by="k")
            .at(asks.select("k", "ts", "n"), time="ts")
            .attach(seen=agg.count())
        )
        return found.selectExpr("n", "seen")

    found, late = poured(session, tmp_path, [[*pairs, END]], query, ["1 minute"] * 2)
    everything = {(1, 2), (9, 11), (30, 11), (31, 11), (32, 11)}
    without = {(1, 2), (30, 10), (31, 10), (32, 10)}
    seen = {(row["n"], row["seen"]) for row in found if row["n"] is not None}
    assert (seen, late) == (without if dropped else everything, dropped)


def test_another_question_does_not_go_on_from_its_checkpoint(classic, tmp_path):
    def by(column):
        return lambda events, asks: (
            fl.over(events, fl.Trailing("5 minutes"), time="ts", by="k")
            .at(asks.select("k", "s", "ts"), time="ts", by=column)
            .attach(seen=agg.count())
        )

    poured(classic, tmp_path, [PAIRS[:2]], by("k"))
    with pytest.raises(PySparkException, match=r"spine.s by: \[s\] .* with spine.s by: \[k\]"):
        poured(classic, tmp_path, [PAIRS[2:]], by("s"))


def test_what_cannot_be_asked(classic, tmp_path):
    rows, stream = frame(classic, EVENTS[0]), source(classic, tmp_path, "1 minute")
    windows = {df: fl.over(df, PAST, time="ts", by="k") for df in (rows, stream)}
    unmarked = stream.selectExpr("k", "ts + interval 1 second as ts")
    for of, asks, says in (
        (stream, rows, r"at\(spine\) of a batch to windows over a stream .*; read both as"),
        (rows, stream, r"at\(spine\) of a stream to windows over a batch .*; read both as"),
        (rows, unmarked, "foreachBatch"),
        (stream, unmarked, r"at\(spine, …\): time='ts' has no watermark.*spine\.withWater"),
    ):
        with pytest.raises(fl.FanlightError, match=says):
            windows[of].at(asks, time="ts").attach(agg.count())
    assert "at(…) keeps them" in windows[stream].explain()
    assert "at(…)" not in windows[rows].explain()
