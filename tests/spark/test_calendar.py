"""Calendar windows: what Python's own calendar and time zones say of each row, one by one."""

from __future__ import annotations

import calendar
import random
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.binding import placed
from tests.helpers.refusals import refused
from tests.helpers.streams import gather, stream_of
from tests.law.data import minute
from tests.oracle.calendars import bounds_near

HOUR = 3_600_000_000
KEYS = ("a", None)
# Clocks change by an hour, at midnight, by half an hour, and never.
ZONES = ("Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu")
FIRST = datetime(2023, 12, 20)
COUNT = 900  # days


def instant(local, zone):
    """The first instant, in microseconds, at which the clock of a zone shows a time."""
    return round(local.replace(tzinfo=ZoneInfo(zone), fold=0).timestamp() * 1_000_000)


def rows_of(seed, zone, count=400):
    """Instants anywhere, and close to where clocks change and days and months begin."""
    chosen = random.Random(seed)
    days = [FIRST + timedelta(days=day) for day in range(10, 800)]
    changes = [
        day for day in days if ZoneInfo(zone).utcoffset(day) != ZoneInfo(zone).utcoffset(day - ONE)
    ]
    near = [day for day in days if day.day in (1, 5, 28, 29, 30, 31)] + changes * 5
    found = []
    for _ in range(count):
        day = chosen.choice(near if chosen.random() < 0.7 else days)
        local = day + timedelta(minutes=chosen.randrange(-180, 300))
        found.append((chosen.choice(KEYS), instant(local, zone) + chosen.choice((-1, 0, 1))))
    return found


ONE = timedelta(days=1)
DAYS = [FIRST + timedelta(days=day) for day in range(COUNT)]


def months(day=1):
    """When months begin: on a day, or on their last if they have fewer."""
    begins = [(2022 + n // 12, 1 + n % 12) for n in range(72)]
    return [datetime(*month, min(day, calendar.monthrange(*month)[1])) for month in begins]


SPECS = {
    "days": (("1 day",), {}, lambda: DAYS, 1, 1),
    "three days, every day": (("3 days", "1 day"), {}, lambda: DAYS, 3, 1),
    "from six to six": (
        ("1 day",), {"offset": "6 hours"}, lambda: [day + timedelta(hours=6) for day in DAYS], 1, 1,
    ),
    "weeks": (("1 week",), {}, lambda: [day for day in DAYS if day.weekday() == 0], 1, 1),
    "weeks from Sunday": (
        ("1 week",), {"week_starts": "sunday"},
        lambda: [day for day in DAYS if day.weekday() == 6], 1, 1,
    ),
    "months": (("1 month",), {}, months, 1, 1),
    "three months, every month": (("3 months", "1 month"), {}, months, 3, 1),
    **{
        f"months from day {day}": (("1 month",), {"day": day}, partial(months, day), 1, 1)
        for day in (5, 28, 29, 30, 31)
    },
    "two months from day 31 at six, every month": (
        ("2 months", "1 month"), {"day": 31, "offset": "6 hours"},
        lambda: [day + timedelta(hours=6) for day in months(31)], 2, 1,
    ),
    "years from April": (
        ("1 year",), {"offset": "3 months"}, lambda: [at for at in months() if at.month == 4], 1, 1,
    ),
}  # fmt: skip


def made(about, zone):
    given, more, locals_, length, step = SPECS[about]
    begins = [instant(local, zone) for local in locals_()]
    windows = [(begins[at], begins[at + length]) for at in range(0, len(begins) - length, step)]
    return fl.Calendar(*given, zone=zone, **more), windows


def frame(spark, rows):
    df = spark.createDataFrame(rows, "k string, at bigint")
    return df.selectExpr("k", "at", "timestamp_micros(at) as ts")


def counts_of(df):
    """Key and window of each row of a result, with its counts."""
    rows = df.selectExpr(
        "k", "unix_micros(window.start) as a", "unix_micros(window.end) as b", "n"
    ).collect()
    return sorted((tuple(row) for row in rows), key=repr)


def counted(rows, windows):
    found = {}
    for key, at in rows:
        for begin, end in windows:
            if begin <= at < end:
                found[key, begin, end] = found.get((key, begin, end), 0) + 1
    return sorted(((*place, n) for place, n in found.items()), key=repr)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("zone", ZONES)
def test_each_row_is_in_the_windows_of_its_calendar(classic, zone):
    """Whatever the session's time zone."""
    rows = rows_of(zone, zone)
    df = frame(classic, rows)
    for about in SPECS:
        spec, windows = made(about, zone)
        found = fl.over(df, spec, time="ts", by="k").agg(n=agg.count())
        assert counts_of(found) == counted(rows, windows), about


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_hours_are_those_that_the_clock_shows(classic, zone):
    rows = rows_of("hours", zone)
    hours = sorted(
        {instant(day + timedelta(hours=hour), zone) for day in DAYS for hour in range(24)}
    )
    found = fl.over(frame(classic, rows), fl.Calendar("1 hour", zone=zone), time="ts", by="k")
    assert counts_of(found.agg(n=agg.count())) == counted(rows, list(pairwise(hours)))


def test_local_times_need_no_zone(classic):
    """They are read as they are; so windows agree with ``date_trunc``."""
    df = classic.sql(
        "select timestamp_ntz'2025-03-28 22:00:00' + make_dt_interval(0, id * 7) as ts "
        "from range(99)"
    )
    for unit in ("day", "week", "month", "quarter", "year", "hour"):
        found = fl.over(df, fl.Calendar(f"1 {unit}", zone=None), time="ts").agg(n=agg.count())
        theirs = df.groupBy(F.date_trunc(unit, "ts").cast("timestamp_ntz").alias("start")).count()
        ours = found.select("window.start", "n")
        assert sorted(map(tuple, ours.collect())) == sorted(map(tuple, theirs.collect()))


def a_month_before(day, months=1):
    count = day.year * 12 + day.month - 1 - months
    year, month = count // 12, count % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def months_of(first, last):
    """The months between two days, of the last one only if it is not the first of a month."""
    found = [first.replace(day=1)]
    while a_month_before(found[-1], -1) < last:
        found.append(a_month_before(found[-1], -1))
    return found


ZONED = ("America/New_York", "Pacific/Auckland", "-03:00", None)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("zone", ZONED)
def test_dates_are_days_of_the_calendar(classic, zone):
    """Each date is in its own day and month, whatever the session's time zone."""
    rows = "select date_add(date'2025-01-20', cast(id * 3 as int)) as day, id from range(40)"
    df = classic.sql(rows)
    spans = df.selectExpr("day as began", "date_add(day, 40) as day", "id")
    months = fl.over(df, fl.Calendar("1 month", zone=zone), time="day")
    local = "date(window.start)"
    if zone:
        shown = f"unix_micros(from_utc_timestamp(window.start, '{zone}'))"
        local = f"date_from_unix_date(cast({shown} div 86400000000 as int))"
    found = months.agg(n=agg.count(), first=agg.min("day"))
    got = sorted(tuple(row) for row in found.selectExpr(local, "n", "first").collect())
    dates = [row.day for row in df.collect()]
    begins = sorted({day.replace(day=1) for day in dates})
    assert got == [
        (month, len(own), min(own))
        for month in begins
        for own in [[day for day in dates if day.replace(day=1) == month]]
    ]
    between = (date(2025, 1, 1), date(2025, 5, 1))
    filled = months.with_empty("zero", between=between).agg(n=agg.count())
    assert filled.count() == 4
    running = fl.over(spans, fl.Calendar("1 month", zone=zone), time=("began", "day"))
    held = [m for day in dates for m in months_of(day, day + timedelta(days=40))]
    counts = sorted(row.n for row in running.agg(n=agg.count()).collect())
    assert counts == sorted(held.count(month) for month in set(held))
    back = fl.over(df, fl.Trailing("1 month", zone=zone), time="day").attach(n=agg.count())
    assert {row.day: row.n for row in back.collect()} == {
        day: sum(a_month_before(day) < other <= day for other in dates) for day in dates
    }


@pytest.mark.streaming
def test_a_stream_gives_what_a_batch_gives(classic, tmp_path):
    """Each window once its end has passed; and late rows, with the windows that they missed."""
    zone = "Europe/Berlin"
    spec, windows = made("days", zone)
    noon = instant(datetime(2025, 3, 29, 12), zone)
    hours = ((0, 1, 14), (30, 13, 36), (80, 60), (), (-30, 81), (300,), ())
    parts = [[noon + hour * HOUR for hour in some] for some in hours]
    batches = [[{**minute(0, k="a"), "ts": at} for at in some] for some in parts]
    df = stream_of(classic, tmp_path, batches, "2 hours")
    found = fl.over(df, spec, time="ts", by="k", late="collect").agg(n=agg.count())
    shown = found.selectExpr(
        "k", "unix_micros(window.start) as a", "unix_micros(window.end) as b", "n",
        "unix_micros(late.row.ts) as at",
        "transform(late.windows, w -> unix_micros(w.end)) as missed",
    )  # fmt: skip
    given = gather(shown, tmp_path)
    late = noon - 30 * HOUR
    on_time = [("a", at) for some in parts[:-2] for at in some if at != late]
    ours = [(row["k"], row["a"], row["b"], row["n"]) for row in given if row["a"] is not None]
    assert sorted(ours, key=repr) == counted(on_time, windows)
    (missed,) = [row for row in given if row["a"] is None]
    assert (missed["at"], missed["k"]) == (late, "a")
    assert missed["missed"] == [end for begin, end in windows if begin <= late < end]


def test_what_a_calendar_cannot_do_is_told(classic):
    df = frame(classic, rows_of(0, "UTC", 3)).selectExpr(
        "*", "cast(ts as timestamp_ntz) as local", "at as i"
    )
    day = fl.Calendar("1 day", zone="UTC")
    mistakes = [
        (lambda: fl.over(df, day, time="local"), "its times are local already"),
        (lambda: fl.over(df, fl.Calendar("1 day", zone=None), time="ts"), "name the zone"),
        (lambda: fl.over(df, day, time="i"), "is for timestamps"),
        (lambda: fl.over(df, [day, fl.Calendar("1 month", zone="UTC")], time="ts"), "not measured"),
        (
            lambda: fl.over(df, [day, fl.Calendar("1 day", zone="Asia/Tokyo")], time="ts"),
            "shares no pieces",
        ),
        (lambda: fl.over(df, day, time="ts").pieces(agg.count()), "in pieces of one length"),
        (lambda: fl.over(df, day, time="ts").agg(agg.linear_fit("i")), "no calendar"),
        (lambda: fl.Calendar("1 day", zone="Europe/Berln"), "is not a time zone"),
        (lambda: fl.Calendar("1 month", "2 days", zone="UTC"), "mixes months"),
        (lambda: fl.Calendar("1 month", "6 hours", zone="UTC"), "months may slide by '1 day'"),
        (lambda: fl.Calendar("1 month", "1 day", zone="UTC", offset="1 month"), "is in months"),
        (lambda: fl.Calendar("90 minutes", zone="UTC"), "has the unit minute"),
        (lambda: fl.Calendar("1 month", zone="UTC", day=32), "is not a day of a month"),
        (lambda: fl.Calendar("1 month", zone="UTC", day=True), "is not a day of a month"),
        (lambda: fl.Calendar("1 day", zone="UTC", day=31), "is of months, but range='1 day'"),
        (lambda: fl.Cumulative("1 day", "1 hour", zone="UTC", day=31), "is of months, but range="),
        (lambda: fl.Calendar("1 month", "1 day", zone="UTC", day=31), "one ends every day"),
        (
            lambda: fl.over(
                df, [fl.Calendar("1 month", zone="UTC", day=n) for n in (30, 31)], time="ts"
            ),
            "shares no pieces",
        ),
    ]
    for act, words in mistakes:
        with pytest.raises(fl.FanlightError, match=words):
            act()


def test_the_same_in_sql_and_its_page(classic):
    df = frame(classic, rows_of(1, "Europe/Berlin", 50))
    spec = fl.Calendar("3 weeks", "1 week", zone="Europe/Berlin", offset="6 hours",
                       week_starts="sunday")  # fmt: skip
    text = fl.clause(spec, time="ts")
    assert "CALENDAR 3 WEEKS SLIDE 1 WEEK ZONE 'Europe/Berlin' OFFSET 6 HOURS" in text
    found = fl.sql(f"SELECT count(*) AS n FROM df {text}", df=df)
    assert sorted(map(tuple, found.select("n").collect())) == sorted(
        map(tuple, fl.over(df, spec, time="ts").agg(n=agg.count()).select("n").collect())
    )
    assert "every 1 week" in str(fl.over(df, spec, time="ts").explain(verbose=True))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("day", [29, 31])
@pytest.mark.parametrize("slide", ["1 day", "6 hours", "1 month"])
def test_months_so_far_begin_on_a_day(classic, slide, day):
    """Windows from the day on which a bill begins, or from the last day of a shorter month."""
    zone = "Europe/Berlin"
    rows = rows_of(day, zone, 60)
    size = "2 months" if slide == "1 month" else "1 month"
    spec = fl.Cumulative(size, slide, zone=zone, day=day)
    bounds = {one for _, at in rows for one in bounds_near(spec, at, at)}
    found = fl.over(frame(classic, rows), spec, time="ts", by="k").agg(n=agg.count())
    assert counts_of(found) == counted(rows, bounds)
    text = fl.clause(spec, time="ts", by="k")
    assert f"MONTH STARTS {day}" in text
    query = f"SELECT k, window, count(*) AS n FROM df {text}"
    assert counts_of(fl.sql(query, df=frame(classic, rows))) == counted(rows, bounds)


# About when a clock skips, or shows again, an hour, two, a day or half an hour.
SET = {
    "Europe/Berlin": datetime(2025, 3, 30, 1, tzinfo=UTC),
    "Antarctica/Troll": datetime(2025, 3, 30, 1, tzinfo=UTC),
    "Antarctica/Troll, back": datetime(2025, 10, 26, 1, tzinfo=UTC),
    "Pacific/Apia": datetime(2011, 12, 30, 10, tzinfo=UTC),
    "Australia/Lord_Howe": datetime(2024, 10, 5, 15, 30, tzinfo=UTC),
    "Australia/Lord_Howe, back": datetime(2024, 4, 6, 15, tzinfo=UTC),
}
ASKED = (
    lambda zone: fl.Calendar("1 hour", zone=zone),
    lambda zone: fl.Calendar("1 day", "1 hour", zone=zone),
    lambda zone: fl.Cumulative("1 day", "1 hour", zone=zone),
    lambda zone: fl.Calendar("1 hour", "2 hours", zone=zone),
    lambda zone: fl.Calendar("1 day", zone=zone),
)
EVENTS = "k string, a bigint, b bigint"


def around(about):
    """The zone, and events of 50 minutes and of some hours about when its clock is set."""
    at, drawn = round(SET[about].timestamp()) * 1_000_000, random.Random(about)
    begins = [at + n * HOUR // 3 for n in range(-3 * 27, 3 * 27)]
    long = [(one, one + HOUR * drawn.randrange(1, 30)) for one in drawn.sample(begins, 20)]
    return about.split(",")[0], [(one, one + 5 * HOUR // 6) for one in begins] + [
        *long,
        (at, at),
        (at - HOUR, at),
    ]


def windows_by_definition(specs, events):
    """Query and bounds of each window, with how many events are in it and, on average, running."""
    found = {}
    for number, spec in enumerate(specs):
        for begin, stop in events:
            for start, end in set(bounds_near(spec, begin, stop)):
                if begin < end and (stop > start or begin == stop >= start):
                    n, share = found.get((number, start, end), (0, 0))
                    part = min(stop, end) - max(begin, start)
                    found[number, start, end] = n + 1, share + part / (end - start)
    return found


def shown_windows(found, *more):
    """The same of a result, of which no two windows are equal."""
    ends = ("unix_micros(window.start) as a", "unix_micros(window.end) as b")
    rows = [tuple(row) for row in found.selectExpr("query", *ends, *more).collect()]
    windows = {row[:3]: row[3:] for row in rows}
    assert len(windows) == len(rows)
    return windows


@pytest.mark.sampled(6)
@pytest.mark.parametrize("about", SET)
@pytest.mark.parametrize("many", [0, 10**6], ids=["looked up", "asked one by one"])
def test_windows_where_a_clock_is_set(classic, monkeypatch, about, many):
    """A window has what lies between its instants; none is without length, none is twice."""
    monkeypatch.setattr(placed, "MANY_ROWS", many)
    zone, events = around(about)
    specs = [made(zone) for made in ASKED]
    points = [(begin, begin) for begin, _ in events]
    df = classic.createDataFrame([("a", *ends) for ends in events], EVENTS)
    df = df.selectExpr("k", "timestamp_micros(a) as began", "timestamp_micros(b) as ts")
    counts = {place: (n,) for place, (n, _) in windows_by_definition(specs, points).items()}
    rows = fl.over(df, specs, time="began")
    assert shown_windows(rows.agg(n=agg.count()), "n") == counts
    for number, spec in enumerate(specs[:3]):
        for strategy in ("expand", "panes") if number else ("expand",):
            one = fl.over(df, spec, time="began").using(strategy).agg(n=agg.count())
            own = {place: n for place, n in counts.items() if place[0] == number}
            assert shown_windows(one.selectExpr(f"{number} as query", "*"), "n") == own
    lasting = fl.over(df, specs, time=("began", "ts"))
    found = shown_windows(lasting.agg(n=agg.count(), r=agg.mean_running()), "n", "r")
    wanted = windows_by_definition(specs, events)
    assert found == {place: pytest.approx(own) for place, own in wanted.items()}
    assert shown_windows(lasting.agg(n=agg.count()), "n") == {
        p: (n,) for p, (n, _) in wanted.items()
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("about", SET)
def test_windows_without_rows_where_a_clock_is_set(classic, about):
    zone, events = around(about)
    specs = [made(zone) for made in ASKED[:3]]
    first, last = events[0][0], events[161][0]
    df = classic.createDataFrame([("a", first, first), ("a", last, last)], EVENTS)
    windows = fl.over(df.selectExpr("k", "timestamp_micros(a) as ts"), specs, time="ts", by="k")
    every = windows_by_definition(specs, [(first, last), (last, last)])
    filled = shown_windows(windows.with_empty("zero").agg(n=agg.count()), "n")
    assert set(filled) == set(every)
    few = windows.with_empty("zero", most=30).agg(n=agg.count())
    wanted = set()
    for number in range(len(specs)):
        mine = sorted((end, start) for of, start, end in every if of == number)
        held = [end for end, start in mine if start <= first < end]
        upto = mine.index((held[-1], max(s for e, s in mine if e == held[-1]))) + 31
        wanted |= {(number, start, end) for end, start in mine[:upto]}
    before_last = {p for p in shown_windows(few, "n") if not p[1] > last and p[2] <= last}
    assert before_last == {place for place in wanted if place[2] <= last}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("about", SET)
def test_levels_where_a_clock_is_set(classic, about):
    """All that is asked of levels is about the same windows, each with what lies in it."""
    zone, events = around(about)
    lengths = [["2 hours", "1 day"], ["1 hour", "1 hour"]]
    specs = [fl.Calendar(*both, zone=zone) for both in zip(*lengths, strict=True)]
    times = [begin for begin, _ in events]
    df = classic.createDataFrame([("a", *ends) for ends in events], EVENTS)
    df = df.selectExpr("k", "timestamp_micros(a) as ts")
    counts = windows_by_definition(specs, [(at, at) for at in times])
    counts = {place: (n,) for place, (n, _) in counts.items()}

    def shown(found, *more):
        return shown_windows(found.withColumnRenamed("level", "query"), *more)

    levels = fl.over(df, fl.MultiGranular(*lengths, zone=zone), time="ts")
    assert shown(levels.agg(n=agg.count()), "n") == counts
    noon = SET[about].replace(minute=0)
    for since, given in ((min(times), None), (round(noon.timestamp()) * 1_000_000, noon)):
        whole = {p: n for p, n in counts.items() if p[1] >= since and p[2] <= max(times)}
        assert shown(levels.complete_only(given).agg(n=agg.count()), "n") == whole

    # Of windows that end together, where a clock skips their ends, the longest is shown.
    beside = {}
    for (level, _, end), (n,) in sorted(counts.items(), reverse=True):
        beside.setdefault(end, [None, None])[level] = n
    wide = levels.wide(n=agg.count()).selectExpr("unix_micros(at) as a", "n_0", "n_1").collect()
    assert sorted(map(tuple, wide)) == sorted((end, *ns) for end, ns in beside.items())

    changed = fl.MultiGranular(*lengths, zone=zone, changes_only=True)
    wanted = {}
    for level in (0, 1):
        mine = sorted(place for place in counts if place[0] == level)
        for before, place in pairwise([None, *mine]):
            follows = before is not None and place[1] <= before[1] + 3 * HOUR
            if not (follows and counts[before] == counts[place]):
                wanted[place] = counts[place]
    assert shown(fl.over(df, changed, time="ts").agg(n=agg.count()), "n") == wanted

    recur = shown(levels.recurring("k").drop("k"))
    for level, start, end in counts:
        shorter = [low for other, low, up in counts if (other, up) == (0, end)]
        if level == 1 and len(shorter) == 1:
            older = any(start <= at < shorter[0] for at in times)
            assert ((1, start, end) in recur) == older


@pytest.mark.streaming
@pytest.mark.parametrize("about", ["Pacific/Apia", "Europe/Berlin", "Antarctica/Troll"])
def test_a_stream_where_a_clock_is_set(classic, tmp_path, about):
    zone, events = around(about)
    specs = [made(zone) for made in ASKED]
    day = 24 * HOUR
    first, last = min(events)[0], max(events)[0]
    end = last + 60 * day
    turns = [first + n * 18 * HOUR for n in range(4)]
    parts = [[one for one in events if low <= one[0] < high] for low, high in pairwise(turns)]
    batches = [[{**minute(0, k="a"), "ts": at} for at, _ in some] for some in parts]
    batches += [[{**minute(0, k="a"), "ts": end}], []]
    df = stream_of(classic, tmp_path, batches, "2 days")
    found = fl.over(df, specs, time="ts").agg(n=agg.count())
    ends = ("unix_micros(window.start) as a", "unix_micros(window.end) as b")
    given = gather(found.selectExpr("query", *ends, "n"), tmp_path)
    ours = [(row["query"], row["a"], row["b"], row["n"]) for row in given]
    wanted = windows_by_definition(specs, [(at, at) for at, _ in events])
    assert sorted(ours) == sorted((*place, n) for place, (n, _) in wanted.items())
    spec = fl.Calendar("1 hour", zone=zone)
    filled = fl.over(df, spec, time="ts").with_empty("zero", most=40).agg(n=agg.count())
    given = gather(filled.selectExpr(*ends, "n"), tmp_path)
    ours = sorted((row["a"], row["b"], row["n"]) for row in given)
    assert all(start < end for start, end, _ in ours)
    assert [n for *_, n in ours] == [n for *_, n in ours if n] + [0] * 40
    assert all(a[1] == b[0] for a, b in pairwise(ours))


def test_a_zone_that_spark_does_not_know_is_refused(spark):
    """Python has zones that are not named after a place."""
    df = spark.sql("select timestamp'2024-05-01T12:00:00Z' as ts, now() as stop")
    for zone in ("Factory", "ROC"):
        days = fl.Calendar("1 day", zone=zone), "ts"
        months = fl.Cumulative("1 month", "1 day", zone=zone), ("ts", "stop")
        for spec, time in (days, months):
            refused(
                lambda spec=spec, time=time: fl.over(df, spec, time=time).agg(agg.count()),
                f"zone='{zone}' is a time zone that Python knows",
                "zone='Asia/Taipei'",
            )
    for zone in ("Asia/Taipei", "+08:00"):
        assert fl.over(df, fl.Calendar("1 day", zone=zone), time="ts").agg(agg.count()).count() == 1
