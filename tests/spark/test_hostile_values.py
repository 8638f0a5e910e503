"""Whatever value a row has, a stream goes on, and answers as a batch over the same rows.

All rows are of 1969 and before, so that the watermark stays where Spark begins it, until a row of
the far future comes: with that one the stream ends, and what comes after it is late.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal

import pytest

import fanlight as fl
from tests.helpers import frames
from tests.helpers.dataframes import collected, frame, readable
from tests.helpers.events import MINUTE
from tests.helpers.sparks import PROVIDER, ROCKSDB
from tests.helpers.streams import finish, patiently, stream_of
from tests.helpers.widened import every_row
from tests.law.ask import Ask, Data
from tests.law.limits import ANSI, NOT_ANSI, WIDE
from tests.law.run import ONE_TASK, over, plainly, query

DAY = 1440 * MINUTE
BEGIN = -30 * DAY
LONG = 2**63 - 1
YEAR = 365 * DAY + DAY // 4
LEAST, YEAR_1 = -LONG - 1, -1969 * YEAR
YEAR_9999, ENDLESS = 8029 * YEAR, LONG
NUMBERS = (
    math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308,
    None,
)  # fmt: skip
HOSTILE = {
    "ts": (LEAST, LEAST + 1, -(2**62), -(2**62) + 1, YEAR_1 - DAY, YEAR_1 + DAY, None),
    "k": ("", "x" * 2**20, "\x00", None),
    "v": NUMBERS,
    "w": NUMBERS,
    "n": (LONG, LEAST, LEAST + 1, 2**53 + 1, 0, None, -1),
    "d": (Decimal("9999999999.99"), Decimal("-9999999999.99"), None),
    "b": (WIDE, WIDE.copy_negate(), Decimal("1e-10"), None),
    "s": ("", "y" * 2**20, "\x00", None),
    "began": (LEAST, -(2**62), YEAR_1, LONG, BEGIN + 9 * DAY, None),
}
FUTURE = (YEAR_9999, 2**62 - 1, 2**62, ENDLESS - 1, ENDLESS)
GAP = (
    "case when n is null then null when n = 9223372036854775807 then interval '106751990' day "
    "when n < -1 then interval '-106751990' day else least(n, 99) * interval '1' minute end"
)
MONTHS = (
    "case when n is null then null when n = 9223372036854775807 then make_interval(178000000) "
    "when n < -1 then make_interval(-178000000) else make_interval(0, 0, 0, 0, 0, int(n % 99)) end"
)
TEXTS = "case when n = 9223372036854775807 then 'no gap' when n < 0 then s else '3 minutes' end"
REQUESTS = {
    "count": ("count",), "least": ("min", "v"), "most": ("max", "n"), "wide": ("max", "b"),
    "near": ("min", "d"), "values": ("count_distinct", "n"),
}  # fmt: skip
PAIR = ("began", "ts")
CENTURY = "36524 days"


def row(at, **more):
    ts = BEGIN + int(at * MINUTE)
    plain = {"case": 0, "k": "a", "ts": ts, "seq": int(at * 60), "v": 1.0, "n": 1, "d": Decimal(1),
             "b": Decimal(1), "s": "x", "w": 1.0, "began": ts - 2 * MINUTE}  # fmt: skip
    return {**plain, **more}


def numbered(rows):
    return [{**one, "seq": number} for number, one in enumerate(rows)]


SEEN = [row(at, n=at % 4, v=at * 0.75) for at in range(4)]
ODD = [
    row(4 + at / 3 + place / 100, **{name: value})
    for at, (name, values) in enumerate(HOSTILE.items())
    for place, value in enumerate(values)
]
LAST = [
    *(row(9 + at) for at in range(3)),
    *(row(12, ts=ts, began=ts - DAY if ts < 2**61 else BEGIN) for ts in FUTURE),
]
LATE = [row(2), row(3, n=LONG), row(4, ts=YEAR_1), *(row(5, v=value) for value in NUMBERS)]


def hostile_ask(
    kind, spec, requests=REQUESTS, *, action="agg", by=("case", "k"), time="ts", **more
):
    return Ask(
        kind,
        "hostile values",
        spec,
        Data("none", list),
        requests,
        more.pop("strategy", "auto"),
        time,
        by=by,
        tiebreak=("seq",),
        action=action,
        **more,
    )


FOUR = fl.Sliding("4 minutes", "1 minute")
MOVING = fl.Sliding(CENTURY)
PLACED = {
    "sliding": hostile_ask("sliding", FOUR),
    "sliding, keys NaN": hostile_ask("sliding", FOUR, by=("case", "w")),
    "sliding, pairs": hostile_ask(
        "sliding", fl.Sliding("7 minutes", "3 minutes"), by=(), strategy="pairs"
    ),
    "sliding, open": hostile_ask("sliding", FOUR, late="open"),
    "calendar": hostile_ask("calendar", fl.Calendar("1 day", "1 hour", zone="Australia/Lord_Howe")),
    "months": hostile_ask("calendar", fl.Calendar("3 months", "1 month", zone="America/Sao_Paulo")),
    "cumulative": hostile_ask("calendar", fl.Cumulative("4 minutes", "1 minute")),
    "month to date": hostile_ask(
        "calendar", fl.Cumulative("1 month", "1 day", zone="Europe/Athens")
    ),
    "levels": hostile_ask(
        "levels", fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"])
    ),
    "levels, begun": hostile_ask(
        "levels",
        fl.MultiGranular(
            ["1 minute", "4 minutes"], ["1 minute", "2 minutes"], offset="-43197 minutes"
        ),
    ),
    "events": hostile_ask("spanning", MOVING, time=PAIR),
    "events, levels": hostile_ask(
        "several", fl.MultiGranular([CENTURY, "73048 days"], [CENTURY] * 2), time=PAIR
    ),
}
# Sums of whole numbers at their limits are errors of Spark in ANSI mode.
OF_SUMS = [spec for spec in frames.AGGREGATES if "sum(n)" not in repr(spec)]
ORDERED = {
    "snapshots": hostile_ask("snapshots", fl.Snapshot(), time=PAIR),
    "rows": hostile_ask("sliding", fl.Sliding(fl.Rows(3), fl.Rows(2))),
    "rows, keys NaN": hostile_ask("sliding", fl.Sliding(fl.Rows(3)), by=("case", "w")),
    "every row": hostile_ask("sliding", fl.Sliding("5 minutes", fl.Rows(1))),
    "trailing": hostile_ask("trailing", fl.Trailing("4 minutes"), action="attach"),
    "trailing, all": hostile_ask("trailing", fl.Trailing(), action="attach", by=()),
    "trailing, rows": hostile_ask(
        "trailing", fl.Trailing(fl.Rows(2), delay="1 minute"), action="attach"
    ),
    "widening": hostile_ask(
        "widening",
        fl.ProgressiveWidening("1 minute", max_duration="9 minutes", max_rows=9),
        {},
        action="detect",
    ),
    "session": hostile_ask("sessions", fl.Session("1 minute")),
    "session, longest": hostile_ask("sessions", fl.Session("1 minute", max_duration="2 minutes")),
    "session, gaps": hostile_ask("sessions", fl.Session(GAP)),
    "session, gaps in months": hostile_ask("sessions", fl.Session(MONTHS)),
    "session, gaps as texts": hostile_ask("sessions", fl.Session(TEXTS)),
    "session, gaps, longest": hostile_ask("sessions", fl.Session(GAP, max_duration="4 minutes")),
    **{
        f"{type(spec).__name__}, {name} {number}": hostile_ask("frames", spec)
        for name, specs in (
            ("plain", (*frames.THRESHOLDS[:5], *frames.BOUNDARIES, *frames.DELTAS, *frames.STATES)),
            ("of sums", OF_SUMS),
            ("overlapping", frames.OVERLAPPING[:3]),
            ("dwelling", (*frames.DWELLING[:2], frames.DWELLING[3])),
        )
        for number, spec in enumerate(specs)
    },
}


def counted_rows(ask, rows):
    """A batch shows the last window over rows, and an open frame, too; a stream waits."""
    counted = isinstance(ask.spec, fl.Sliding) and ask.spec.range.measure == "rows"
    least = ask.spec.range.value if counted else 0
    return Counter(
        repr(sorted(one.items()))
        for one in rows
        if (not least or one["count"] >= least) and one.get("closed", True)
    )


def answer(ask, df):
    if ask.action != "detect":
        return readable(query(ask, df))
    return plainly(over(ask, df).detect(every_row, "n bigint"))


def answers(ask, runner, folder):
    session = runner.session(ask, (PROVIDER, ROCKSDB), ONE_TASK)
    files = [numbered(part) for part in (SEEN, ODD, LAST, [row(4, ts=None)], LATE)]
    result = answer(ask, stream_of(session, folder, [*files, []], "1 minute"))
    query = finish(result, folder, "parquet")
    found = collected(session.read.schema(result.schema).parquet(str(folder / "out")))
    rows = [one for part in files[:-1] for one in part]
    wanted = patiently(lambda: collected(answer(ask, frame(session, rows))))
    return counted_rows(ask, found), counted_rows(ask, wanted), fl.progress(query).late


@pytest.mark.streaming
@pytest.mark.sampled(7)
@pytest.mark.parametrize("setting", [ANSI, NOT_ANSI], ids=["strict", "lenient"])
@pytest.mark.parametrize("name", [*PLACED, *ORDERED])
def test_no_value_stops_a_stream_or_hides_a_row(runner, tmp_path, name, setting):
    ask = {**PLACED, **ORDERED}[name].again(setting=setting)
    found, wanted, late = answers(ask, runner, tmp_path)
    assert wanted
    wrong = [f"not in the batch: {one[:300]}" for one in found - wanted]
    wrong += [f"not in the stream: {one[:300]}" for one in wanted - found]
    assert not wrong, "\n".join(wrong[:6])
    session = runner.session(ask, (PROVIDER, ROCKSDB), ONE_TASK)
    rows = frame(session, numbered(LATE))
    rejected = fl.over(rows, ask.spec, time=ask.time, by=list(ask.by)).rejected().count()
    assert late == (None if name in PLACED else len(LATE) - rejected)
