"""Stored pieces: written, appended to, streamed, rolled up and served; and what is refused.

That rolled up they are the windows of the rows is one of the laws (tests/law/kinds/sliding.py).
"""

from __future__ import annotations

import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest

import fanlight as fl
from fanlight import agg, algebra
from tests.helpers.aggregates import EVERYTHING
from tests.helpers.compare import same
from tests.helpers.dataframes import all_of, calls, collected, frame
from tests.helpers.events import NAN
from tests.helpers.streams import finish, stream_of
from tests.law.data import minute

ROWS = [
    minute(at, n=at % 7, v=(float(at % 5), None, NAN)[at % 11 == 3], seq=at % 3, s="ab"[at % 2],
           k=("x", "y", None)[at % 3], d=at % 9, w=float(at) / 3)
    for at in [*range(40), *range(60, 90, 2), *range(30, 36)]
]  # fmt: skip
PAST = {
    "20m": fl.Trailing("20 minutes"),
    "late": fl.Trailing("1 hour", delay="10 minutes"),
    "ever": fl.Trailing(),
}
FIVE = 5 * 60_000_000
SKETCHED = {name for name, request in EVERYTHING.items() if request[0].startswith("approx")}
FITS = {name for name, request in EVERYTHING.items() if request[0] == "linear_fit"}


def windows(df, spec=None, **more):
    spec = spec or fl.Sliding("5 minutes")
    return fl.over(df, spec, **{"time": "ts", "by": "k", "tiebreak": "seq", **more})


def asks(spark):
    rows = [minute(at, k=k, n=at) for at in (-9, 0, 4, 7, 61, 62, 300) for k in ("x", None, "z")]
    exact = "ts + make_interval(0, 0, 0, 0, 0, 0, if(n = 4, 59.999999, n)) as at"
    return frame(spark, rows).selectExpr("k", exact, "n as number")


@pytest.mark.sampled(2)
def test_rows_are_answered_as_of_the_last_whole_pieces(spark, tmp_path):
    """Of the rows themselves, asked as of that time."""
    requests = {n: r for n, r in EVERYTHING.items() if n not in SKETCHED | FITS}
    df = frame(spark, ROWS)
    windows(df).pieces(**calls(requests)).write.parquet(str(tmp_path / "pieces"))
    stored = spark.read.parquet(str(tmp_path / "pieces"))
    found = fl.roll_up(stored, PAST, spine=asks(spark), time="at")
    whole = f"timestamp_micros(t - pmod(t, {FIVE}L) - 1L) as whole"
    asked = asks(spark).selectExpr("*", "unix_micros(at) + 1L as t").selectExpr("*", whole)
    wanted = windows(df, PAST).at(asked.drop("t"), time="whole").attach(**calls(requests))
    assert found.columns == [name for name in wanted.columns if name != "whole"]
    rows = zip(_by_ask(found), _by_ask(wanted.drop("whole")), strict=True)
    assert [
        (name, row["at"], row[name], other[name])
        for row, other in rows
        for name in row
        if not same(row[name], other[name], _slack(other[name]))
    ] == []


def _by_ask(df):
    return sorted(collected(df), key=lambda row: (row["at"], repr(row["k"])))


def _slack(value):
    if isinstance(value, (list, tuple)):
        return tuple(map(_slack, value))
    return 1e-9 * abs(value) if isinstance(value, float) and math.isfinite(value) else 0.0


def test_the_server_says_what_training_was_given(classic, tmp_path):
    """For every aggregate but sketches; also from the table itself, and from a DataFrame."""
    requests = {n: r for n, r in EVERYTHING.items() if n not in SKETCHED | FITS}
    folder = str(tmp_path / "pieces")
    windows(frame(classic, ROWS)).pieces(**calls(requests)).write.parquet(folder)
    stored = classic.read.parquet(folder)
    wanted = collected(fl.roll_up(stored, PAST, spine=asks(classic), time="at"))
    for pieces in (folder, pq.read_table(folder), stored):
        server = fl.serve(pieces, PAST)
        assert server.until == _instant(92)
        assert [
            (row["k"], row["at"], name, value, row[name])
            for row in wanted
            for name, value in server.ask(row["k"], at=row["at"]).items()
            if not same(_plain(value), row[name], _slack(row[name]))
        ] == []


def _plain(value):
    if isinstance(value, dict):
        return tuple(map(_plain, value.values()))
    if isinstance(value, (list, tuple)):
        kind = type(value)
        return kind(map(_plain, value))
    return value


def _instant(at):
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=minute(at)["ts"])


def test_lines_are_served_as_they_are_rolled_up(classic):
    """They count time from the beginning of a window, and so need one."""
    pieces = windows(frame(classic, ROWS)).pieces(line=agg.linear_fit("w"))
    past = {"20m": PAST["20m"], "left": fl.Trailing("1 hour", closed="left")}
    for label, spec in past.items():
        wanted = collected(fl.roll_up(pieces, {label: spec}, spine=asks(classic), time="at"))
        server = fl.serve(pieces, {label: spec})
        for row in wanted:
            (got,) = server.ask(row["k"], at=row["at"]).values()
            expected = row[f"line_{label}"]
            assert same(_plain(got), expected, _slack(expected)), row
    with pytest.raises(fl.FanlightError, match="counts time from the beginning of a window"):
        fl.serve(pieces, fl.Trailing())
    with pytest.raises(fl.FanlightError, match="closed on the right and others closed on the left"):
        fl.serve(pieces, past)


def test_a_table_grows_by_days_and_by_late_rows(classic, tmp_path):
    """Rows of one key and piece that come later are a further partial of it."""
    folder = str(tmp_path / "pieces")
    asked = {"n": agg.count(), "m": agg.median("v"), "s": agg.sum("w").where("n > 2")}
    server = None
    for part in range(3):
        own = frame(classic, ROWS[part::3])
        windows(own).pieces(**asked).write.mode("append").parquet(folder)
        server = server or fl.serve(folder, PAST)
    whole, spec = frame(classic, ROWS), fl.Sliding("20 minutes", "10 minutes")
    stored = classic.read.parquet(folder)
    assert all_of(fl.roll_up(stored, spec).drop("s")) == all_of(
        windows(whole, spec).agg(**asked).drop("s")
    )
    assert server.ask("x", at=_instant(500))["n_ever"] == sum(row["k"] == "x" for row in ROWS[::3])
    server.reload()
    every = sum(row["k"] == "x" for row in ROWS)
    assert server.ask("x", at=_instant(500))["n_ever"] == every
    assert repr(server).endswith(" pieces)")


@pytest.mark.streaming
def test_a_stream_writes_each_piece_once(classic, tmp_path):
    """What a micro-batch left that never ended is not served."""
    folder, batches = tmp_path / "out", [ROWS[number::3] for number in range(3)]
    batches.append([minute(10_000, k="x", n=1)])
    rows = stream_of(classic, tmp_path, batches, "10 hours")
    pieces = windows(rows, fl.Sliding("20 minutes", "5 minutes")).pieces(
        n=agg.count(), m=agg.median("n"), dc=agg.count_distinct("s")
    )
    finish(pieces, tmp_path, "parquet")
    stored = classic.read.parquet(str(folder))
    whole = frame(classic, ROWS)
    for spec in (fl.Sliding("5 minutes"), fl.Sliding("1 hour", "15 minutes")):
        wanted = windows(whole, spec).agg(
            n=agg.count(), m=agg.median("n"), dc=agg.count_distinct("s")
        )
        assert all_of(fl.roll_up(stored, spec)) == all_of(wanted)
    before = fl.serve(folder, PAST)
    left = next(iter(folder.glob("*.parquet")))
    (folder / "part-never-ended.parquet").write_bytes(left.read_bytes())
    after = fl.serve(str(folder), PAST)
    assert repr(before) == repr(after)
    assert before.ask("x", at=_instant(95))["n_ever"] == sum(row["k"] == "x" for row in ROWS)


def test_times_without_a_zone(classic, time_zone):
    """Whatever the session's zone, and the hour that clocks leave out."""
    time_zone("America/New_York")
    df = frame(classic, ROWS).selectExpr(
        "k", "n", "timestamp_ntz'2026-03-08 01:30:00' + make_dt_interval(0, 0, n) as at"
    )
    pieces = fl.over(df, fl.Sliding("5 minutes"), time="at", by="k").pieces(n=agg.count())
    found = collected(fl.roll_up(pieces, fl.Sliding("10 minutes")))
    last = datetime(2026, 3, 8, 3)
    server = fl.serve(pieces, fl.Trailing())
    for key in ("x", "y", None):
        number = sum(row["k"] == key for row in ROWS)
        assert sum(row["n"] for row in found if row["k"] == key) == number
        assert server.ask(key, at=last) == {"n": number}
    assert server.until == datetime(2026, 3, 8, 1, 40)


def test_own_aggregates_are_given_again(classic):
    spread = algebra.Aggregate(
        "spread", {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}, "{hi} - {lo}",
        lower_values=lambda of: None if of["hi"] is None else of["hi"] - of["lo"],
    )  # fmt: skip
    other = algebra.Aggregate(
        "spread", {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}, "{lo} - {hi}"
    )
    silent = algebra.Aggregate(
        "spread", {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")}, "{hi} - {lo}"
    )
    df = frame(classic, ROWS)
    pieces, spec = windows(df).pieces(spread=spread("n")), fl.Sliding("20 minutes", "10 minutes")
    assert all_of(fl.roll_up(pieces, spec, aggregates=[spread])) == all_of(
        windows(df, spec).agg(spread=spread("n"))
    )
    assert (
        fl.serve(pieces, PAST, aggregates=[spread]).ask("x", at=_instant(300))["spread_ever"] == 6
    )
    for given, why in (([], "which fanlight does not have"), ([other], "is not defined as the")):
        with pytest.raises(fl.FanlightError, match=why):
            fl.roll_up(pieces, spec, aggregates=given)
    with pytest.raises(fl.FanlightError, match="cannot be read in Python"):
        fl.serve(pieces, PAST, aggregates=[silent])


def test_sums_too_large_are_said(classic):
    """A sum that does not fit 64 bits is an error, as in Spark; one whose parts do is not."""
    rows = [minute(0, n=2**62), minute(1, n=2**62), minute(6, n=-(2**62))]
    pieces = windows(frame(classic, rows)).pieces(s=agg.sum("n"))
    server = fl.serve(pieces, {"5m": fl.Trailing("5 minutes"), "1h": fl.Trailing("1 hour")})
    with pytest.raises(fl.FanlightError, match=r"s: the sum 9223372036854775808 does not fit"):
        server.ask("a", at=_instant(5))
    hour = fl.serve(pieces, {"1h": fl.Trailing("1 hour")})
    assert hour.ask("a", at=_instant(10)) == {"s_1h": 2**62}


REFUSED = {
    "begin within": (fl.Sliding("5 minutes", offset="1 minute"), "begin within pieces of '5 min"),
    "end within": (fl.Sliding("7 minutes", "5 minutes"), "begin or end within pieces of '5 minu"),
    "rows": (fl.Sliding(fl.Rows(3)), "needs rows, and pieces have none"),
    "each row": (fl.Sliding("5 minutes", fl.Rows(1)), "needs rows, and pieces have none"),
    "frames": (fl.ThresholdFrame("n"), "n"),
    "no spine": (fl.Trailing("5 minutes"), "looks back from rows, and none are given"),
}


@pytest.mark.parametrize("about", REFUSED)
def test_what_pieces_cannot_tell_is_refused(classic, about):
    spec, why = REFUSED[about]
    pieces = windows(frame(classic, ROWS)).pieces(n=agg.count())
    with pytest.raises(fl.FanlightError, match=why):
        fl.roll_up(pieces, spec)


LOOKS = {
    "within": (fl.Trailing("7 minutes"), "begin or end within pieces"),
    "a delay within": (fl.Trailing("5 minutes", delay="1 minute"), "begin or end within pieces"),
    "rows": (fl.Trailing(fl.Rows(3)), "counts rows, and pieces have none"),
    "both": (fl.Trailing("5 minutes", closed="both"), "includes both of its ends"),
    "numbers": (fl.Trailing(300_000_000), "is a number, but"),
}


@pytest.mark.parametrize("about", LOOKS)
def test_what_no_whole_pieces_make_is_refused(classic, about):
    spec, why = LOOKS[about]
    pieces = windows(frame(classic, ROWS)).pieces(n=agg.count())
    with pytest.raises(fl.FanlightError, match=why):
        fl.roll_up(pieces, spec, spine=asks(classic), time="at")
    with pytest.raises(fl.FanlightError, match=why):
        fl.serve(pieces, spec)


def test_other_tables_are_refused(classic, tmp_path):
    df, spec = frame(classic, ROWS), fl.Sliding("5 minutes")
    pieces = windows(df).pieces(n=agg.count(), m=agg.approx_count_distinct("s"))
    for table, why in (
        (df, "is not a table of pieces"),
        (pieces.drop("window"), "is not a table of pieces"),
        (pieces.drop("k"), "has lost the key 'k'"),
        (pieces.drop("n", "m"), "has lost the columns of partials"),
    ):
        with pytest.raises(fl.FanlightError, match=why):
            fl.roll_up(table, spec)
        with pytest.raises(fl.FanlightError, match=why):
            fl.serve(table, fl.Trailing("5 minutes"))
    with pytest.raises(fl.FanlightError, match="'m' has sketches"):
        fl.roll_up(pieces, fl.Trailing("5 minutes"), spine=asks(classic), time="at")
    with pytest.raises(fl.FanlightError, match="'m' has partials of approx_count_distinct"):
        fl.serve(pieces, fl.Trailing("5 minutes"))
    with pytest.raises(fl.FanlightError, match="as of no row"):
        fl.roll_up(pieces, spec, spine=asks(classic), time="at")
    with pytest.raises(fl.FanlightError, match="is of type bigint, but the pieces are of timesta"):
        fl.roll_up(pieces.drop("m"), fl.Trailing("5 minutes"), spine=asks(classic), time="number")
    with pytest.raises(fl.FanlightError, match="is not a folder of Parquet"):
        fl.serve(tmp_path / "nowhere", fl.Trailing("5 minutes"))
    plain = tmp_path / "plain.parquet"
    pq.write_table(pieces.drop("m").toArrow(), plain)
    with pytest.raises(fl.FanlightError, match="files without Spark's own schema"):
        fl.serve(plain, fl.Trailing("5 minutes"))


def test_pieces_of_another_length_are_never_added_up(classic, tmp_path):
    """Two kinds of pieces in one folder: the schema tells of one."""
    df, folder = frame(classic, ROWS), str(tmp_path / "pieces")
    for spec in (fl.Sliding("5 minutes"), fl.Sliding("10 minutes")):
        windows(df, spec).pieces(n=agg.count()).write.mode("append").parquet(folder)
    stored = windows(df).pieces(n=agg.count()).limit(0)
    both = stored.unionByName(classic.read.parquet(folder))
    with pytest.raises(Exception, match="is not a piece of"):
        fl.roll_up(both, fl.Sliding("20 minutes")).collect()
    with pytest.raises(fl.FanlightError, match="has pieces of another length"):
        fl.serve(both, fl.Trailing("20 minutes"))


def test_what_a_server_cannot_answer(classic):
    df = frame(classic, ROWS)
    server = fl.serve(windows(df).pieces(n=agg.count()), fl.Trailing("5 minutes"))
    for given, why in (
        ({"key": 5, "at": _instant(3)}, "is not a key of these pieces"),
        ({"key": ("x", "y"), "at": _instant(3)}, "has 2 keys where the pieces have 1"),
        ({"at": _instant(3)}, "has 0 keys"),
        ({"key": "x", "at": datetime(2026, 1, 1)}, "has no time zone, unlike"),
        ({"key": "x", "at": "now"}, "is not a time of these pieces"),
    ):
        with pytest.raises(fl.FanlightError, match=why):
            server.ask(**given)
    both = windows(df).pieces(agg.count().alias("n"), agg.count().alias("n_a"))
    with pytest.raises(fl.FanlightError, match="has two answers of the name 'n_a_b'"):
        fl.serve(both, {"a_b": fl.Trailing("5 minutes"), "b": fl.Trailing("10 minutes")})
    assert server.ask("nobody", at=_instant(3)) == {"n": 0}
    assert server.ask("x") == {"n": 0}  # now
    empty = fl.serve(windows(df.limit(0)).pieces(n=agg.count()), fl.Trailing("5 minutes"))
    assert (empty.until, empty.ask("x")) == (None, {"n": 0})


def test_a_service_needs_neither_spark_nor_a_compiler(classic, tmp_path):
    """In a process of its own, in which both are missing."""
    folder = str(tmp_path / "pieces")
    asked = {"n": agg.count(), "m": agg.median("n"), "d": agg.stddev_samp("w")}
    windows(frame(classic, ROWS)).pieces(**asked).write.parquet(folder)
    program = f"""
import sys
sys.modules["pyspark"] = sys.modules["numba"] = None
from datetime import datetime
import fanlight as fl
server = fl.serve({folder!r}, {{"ever": fl.Trailing()}})
print(sorted(server.ask("x", at=datetime.fromisoformat("{_instant(300).isoformat()}")).items())[1:])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    n = sum(row["k"] == "x" for row in ROWS)
    assert f"('n_ever', {n})" in done.stdout, done.stderr


BY_CALENDAR = [
    fl.Calendar("1 day", zone="Europe/Athens"),
    fl.Calendar("2 months", "1 month", zone="America/New_York"),
    fl.Cumulative("1 month", "1 day", zone="Asia/Kathmandu"),
    fl.MultiGranular(["1 day", "1 week"], ["1 day", "1 week"], zone="Australia/Lord_Howe"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", BY_CALENDAR, ids=repr)
def test_windows_of_a_calendar_are_made_of_pieces(spark, spec):
    """Of the rows themselves; where late pieces are added, too."""
    df = spark.sql(
        "SELECT timestamp_seconds(1709000000 + id * 40011) AS ts, id AS n FROM range(400)"
    ).selectExpr("ts", "n", "if(n % 3 = 0, 'x', null) as k")
    asked = {"n": agg.count(), "mean": agg.avg("n"), "last": agg.last("n")}
    first, late = df.where("n % 7 > 0"), df.where("n % 7 = 0")
    stored, more = (
        fl.over(rows, fl.Sliding("15 minutes"), time="ts", by="k", tiebreak="n").pieces(**asked)
        for rows in (first, late)
    )
    expected = fl.over(df, spec, time="ts", by="k", tiebreak="n").agg(**asked)
    assert all_of(fl.roll_up(stored.unionAll(more), spec)) == all_of(expected)
    repaired = all_of(fl.roll_up_late(stored, more, spec))
    assert repaired
    assert set(repaired) <= set(all_of(expected))


def test_pieces_that_a_calendar_cuts_are_an_error(classic):
    df = classic.sql("SELECT timestamp'2025-03-01 18:20:00Z' AS ts")
    for length, words in (
        ("30 minutes", "a piece of '30 minutes'; write finer"),
        ("5 minutes", ""),
    ):
        pieces = fl.over(df, fl.Sliding(length), time="ts").pieces(agg.count())
        days = fl.roll_up(pieces, fl.Calendar("1 day", zone="Asia/Kathmandu"))
        if words:
            with pytest.raises(Exception, match=words):
                days.collect()
        else:
            assert days.count() == 1
