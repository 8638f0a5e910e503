"""Texts of the query language: windows that are right, and queries that are wrong."""

from __future__ import annotations

from datetime import timedelta

import fanlight as fl
from fanlight import agg


def column(text, path):
    return path[-1] if path else f"<{text}>"


READ = {
    "RANGE 4 MINUTES SLIDE 1 MINUTE": fl.Sliding("4 minutes", "1 minute"),
    "range 4 min slide 1 tuple": fl.Sliding("4 minutes", fl.Rows(1)),
    "RANGE 1 HOUR SLIDE 10 ROWS OFFSET 3": fl.Sliding("1 hour", fl.Rows(10), offset=3),
    "RANGE 10 ROWS SLIDE 1 HOUR OFFSET 5 MINUTES": (
        fl.Sliding(fl.Rows(10), "1 hour", offset="5 minutes")
    ),
    "RANGE 10 ROWS SLIDE 60": fl.Sliding(fl.Rows(10), 60),
    "RANGE 1 HOUR 30 MINUTES OFFSET -5 MINUTES": fl.Sliding("90 minutes", offset="-5 minutes"),
    "RANGE INTERVAL '1 02:30' DAY TO MINUTE": fl.Sliding("26 hours 30 minutes"),
    "RANGE INTERVAL 4 MINUTES": fl.Sliding("4 minutes"),
    "RANGE 'PT4M' SLIDE '60 seconds'": fl.Sliding("4 minutes", "1 minute"),
    "RANGE 10 SLIDE 2.5 OFFSET 1": fl.Sliding(10, 2.5, offset=1),
    "RANGE 1000 ROWS SLIDE 10 ROWS": fl.Sliding(fl.Rows(1000), fl.Rows(10)),
    "RANGE 1 HOUR, RANGE 1 DAY SLIDE 1 HOUR": (
        fl.Sliding("1 hour"), fl.Sliding("1 day", "1 hour")
    ),
    "RANGES 1 HOUR, 10 MINUTES, 1 MINUTE SLIDES 5 MINUTES, 1 MINUTE, 1 SECOND WEIGHTS 0, .5, 1": (
        fl.MultiGranular(["1 minute", "10 minutes", "1 hour"],
                         ["1 second", "1 minute", "5 minutes"], weights=[1, 0.5, 0])
    ),
    "RANGES 1 HOUR, 20 MIN SLIDES 1 MIN, 1 MIN WEIGHTS DECAY HALF LIFE INTERVAL '10' MINUTES": (
        fl.MultiGranular(["20 minutes", "1 hour"], ["1 minute"] * 2, weights=fl.decay("10 minutes"))
    ),
    "RANGES 10 ROWS, 20 ROWS SLIDES 1 ROW, 1 ROW WEIGHTS decay half  life 5 ROWS": (
        fl.MultiGranular([fl.Rows(10), fl.Rows(20)], [fl.Rows(1)] * 2,
                         weights=fl.decay(fl.Rows(5)))
    ),
    "RANGES 1 MONTH, 1 YEAR SLIDES 1 MONTH, 1 MONTH ZONE 'UTC' WEIGHTS DECAY HALF LIFE 1 MONTH": (
        fl.MultiGranular(["1 month", "1 year"], ["1 month"] * 2, zone="UTC",
                         weights=fl.decay("1 month"))
    ),
    "RANGES 1, 4 SLIDES 1, 1 WEIGHTS DECAY HALF LIFE .5": (
        fl.MultiGranular([1, 4], [1, 1], weights=fl.decay(0.5))
    ),
    "RANGES 1 YEAR, 1 MONTH SLIDES 1 MONTH, 1 MONTH ZONE 'UTC' WEEK STARTS SUNDAY": (
        fl.MultiGranular(["1 month", "1 year"], ["1 month", "1 month"], zone="UTC",
                         week_starts="sunday")
    ),
    "RANGES 1 DAY, 4 WEEKS SLIDES 1 DAY, 1 WEEK ZONE '+02:00'": (
        fl.MultiGranular(["1 day", "4 weeks"], ["1 day", "1 week"], zone="+02:00")
    ),
    "RANGES 1, 4 SLIDES 1, 2 OFFSET 3 REPORT CONTINUOUS HORIZONS 2, 3 CHANGES ONLY": (
        fl.MultiGranular([1, 4], [1, 2], offset=3, report="continuous", horizons=[2, 3],
                         changes_only=True)
    ),
    "FRAME THRESHOLD flsp > 0.2 MIN 20 ROWS": fl.ThresholdFrame("flsp > 0.2", min_rows=20),
    "FRAME THRESHOLD (a OR b) AND c": fl.ThresholdFrame("(a OR b) AND c"),
    "FRAME THRESHOLD late > range MIN 5 SECONDS": (
        fl.ThresholdFrame("late > range", min_duration="5 seconds")
    ),
    "FRAME OPEN speed > 50 CLOSE speed < 30": fl.PredicateFrame("speed > 50", "speed < 30"),
    "FRAME BOUNDARY x EVERY 4.2, y AT (-1, 10, 25)": (
        fl.BoundaryFrame({"x": 4.2, "y": [-1, 10, 25]})
    ),
    "FRAME BOUNDARY x EVERY 1 OVERLAPPING": fl.BoundaryFrame({"x": 1}, overlapping=True),
    "FRAME BOUNDARY x EVERY 1 OVERLAPPING MAX GAP 5 MINUTES": (
        fl.BoundaryFrame({"x": 1}, overlapping=True, max_gap="5 minutes")
    ),
    "FRAME DELTA density BY 0.01, dye BY 0.02 AGAINST FIRST INCLUDE CROSSING": (
        fl.DeltaFrame({"density": 0.01, "dye": 0.02}, against="first", include_crossing=True)
    ),
    "FRAME DELTA v BY 2 STRICT INCLUDE CROSSING": (
        fl.DeltaFrame({"v": 2}, strict=True, include_crossing=True)
    ),
    "FRAME AGGREGATE sum(bytes) REACHES 1e6, count(*) REACHES 1000 EXCLUDE CROSSING": (
        fl.AggregateFrame([agg.sum("bytes"), agg.count()], [1_000_000, 1000],
                          include_crossing=False)
    ),
    "FRAME AGGREGATE min(v) FALLS TO -3, sum(n) FALLS TO -10 EXCLUDE CROSSING": (
        fl.AggregateFrame([agg.min("v"), agg.sum("n")], [-3, -10], below=True,
                          include_crossing=False)
    ),
    "FRAME AGGREGATE avg(`a b`) REACHES 5 MAY FALL": (
        fl.AggregateFrame([agg.avg("a b")], [5], may_fall=True)
    ),
    "FRAME AGGREGATE sum(bytes) REACHES quota, count(*) REACHES (2 * `a b`) STRICT": (
        fl.AggregateFrame([agg.sum("bytes"), agg.count()], ["quota", "2 * `a b`"], strict=True)
    ),
    "FRAME AGGREGATE sum(v) REACHES (9 * abs(mean_value(5, 2))) STRICT ABSOLUTE MAX 9 ROWS": (
        fl.AggregateFrame(agg.sum("v"), "9 * abs(mean_value(5, 2))", strict=True, absolute=True,
                          max_rows=9)
    ),
    "FRAME DELTA v BY 1 MAX 9 ROWS MAX GAP 5 MINUTES MIN 2 ROWS MAX 1 DAY MIN 1 SECOND": (
        fl.DeltaFrame({"v": 1}, min_rows=2, min_duration="1 second", max_rows=9,
                      max_duration="1 day", max_gap="5 minutes")
    ),
    "FRAME THRESHOLD g < 54 ENTER FOR 15 MINUTES LEAVE (g > 70) LEAVE FOR 15 MINUTES MAX 1 DAY": (
        fl.ThresholdFrame("g < 54", enter_for="15 minutes", leave="g > 70",
                          leave_for="15 minutes", max_duration="1 day")
    ),
    "FRAME THRESHOLD leave > enter LEAVE FOR 5": fl.ThresholdFrame("leave > enter", leave_for=5),
    "FRAME STATE status": fl.StateFrame("status"),
    "FRAME STATE `a b`, (temp > 40) NULLS SKIP MAX 2 ROWS": (
        fl.StateFrame(["`a b`", "temp > 40"], nulls="skip", max_rows=2)
    ),
    "FRAME STATE state NULLS END": fl.StateFrame("state", nulls="end"),
    "FRAME STATE state NULLS CARRY MAX GAP 1 MINUTE": (
        fl.StateFrame("state", nulls="carry", max_gap="1 minute")
    ),
    "TRAILING 1 HOUR": fl.Trailing("1 hour"),
    "TRAILING ALL EXCLUDE SELF": fl.Trailing(include_self=False),
    "TRAILING 30 DAYS DELAY 7 DAYS CLOSED LEFT": (
        fl.Trailing("30 days", delay="7 days", closed="left")
    ),
    "TRAILING 10 ROWS DELAY 5 CLOSED NEITHER EXCLUDE SELF": (
        fl.Trailing(fl.Rows(10), delay=5, closed="neither", include_self=False)
    ),
    "TRAILING 1 HOUR AS 1h, TRAILING ALL EXCLUDE SELF AS `a.``b ,`": (
        {"1h": fl.Trailing("1 hour"), "a.`b ,": fl.Trailing(include_self=False)}
    ),
    "TRAILING 1 HOUR AS delay, TRAILING 2 DAYS DELAY 1 DAY AS as": (
        {"delay": fl.Trailing("1 hour"), "as": fl.Trailing("2 days", delay="1 day")}
    ),
    "TRAILING 10 ROWS AS 10": {"10": fl.Trailing(fl.Rows(10))},
    "SESSION 5 MINUTES MAX 8 HOURS MIN 3 ROWS": (
        fl.Session("5 minutes", max_duration="8 hours", min_rows=3)
    ),
    "SESSION 1 DAY": fl.Session("1 day"),
    "SESSION INTERVAL '1' DAY": fl.Session(timedelta(days=1)),
    "SESSION wait": fl.Session("wait"),
    "SESSION (CASE WHEN app = 'tv' THEN '2 hours' ELSE '5 minutes' END)": (
        fl.Session("CASE WHEN app = 'tv' THEN '2 hours' ELSE '5 minutes' END")
    ),
    "WIDENING 1 SECOND TO 1 DAY MAX 100 ROWS FACTOR 3": (
        fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=100, factor=3)
    ),
    "WIDENING 1 SECOND, 1 MINUTE, 1 HOUR TO 1 HOUR MAX 50 ROWS": (
        fl.ProgressiveWidening(
            ["1 second", "1 minute", "1 hour"], max_duration="1 hour", max_rows=50
        )
    ),
}  # fmt: skip


# A query, the part of it that carets stand under, and words of the message.
WRONG = [
    ("SELECT count(*) FROM b [WATTR ts RANGE ^4 MINUTS^]", "unknown unit"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 4 MINUTES ^SLDE^ 1 MINUTE]", "write SLIDE"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 4 MINUTES ^EVERY^ 1 MINUTE]", "write SLIDE 5"),
    ("SELECT count(*) FROM b [WATTR ts ^TUMBEL^ 1 MINUTE]", "write RANGE 1 HOUR$"),
    ("SELECT count(*) FROM b [^ts^ RANGE 4 MINUTES]", "write WATTR ts$"),
    ("SELECT count(*) FROM b ^WATTR^ ts RANGE 4 MINUTES", r"write \[WATTR ts RANGE …\]"),
    ("SELECT count(*) FROM b (^WATTR^ ts SESSION 4 MINUTES)", r"write \[WATTR ts SESSION …\]"),
    ("SELECT count(*) FROM ^TUMBLE^(a.b, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
     r"write TABLE\(TUMBLE\(TABLE a.b, DESCRIPTOR\(ts\), INTERVAL '1' HOUR\)\)"),
    ("SELECT count(*) FROM TABLE(^HOP^(b, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR))",
     r"write TABLE\(HOP\(TABLE b, DESCRIPTOR\(ts\), "),
    ("SELECT count(*) FROM b [WATTR ts ^HOP^ 1 HOUR]", "write RANGE 1 HOUR SLIDE 5 MINUTES"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^KEY^ k]", "write PARTITION BY key"),
    ("SELECT count(*) FROM b [WATTR ts RANGE ^4 MINTUES^]", "write 4 MINUTES"),
    ("^SELCT^ count(*) FROM b [WATTR ts RANGE 4 MINUTES]", "write SELECT"),
    ("SELECT count(*) AS n ^FORM^ b [WATTR ts RANGE 4 MINUTES]", "write FROM"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 4 MINUTES] ^GRUOP^ BY k", "write GROUP"),
    ("SELECT count(*) FROM TABLE(^TUMBEL^(TABLE b, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
     "write TUMBLE"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 4 MINUTES SLIDE^]^", "ends too early; .*a number"),
    ("SELECT count(*) FROM b [WATTR ts ^RANGE^]", "RANGE 4 MINUTES SLIDE 1 MINUTE"),
    ("SELECT count(*) FROM b ^[RANGE 4 MINUTES]^", "begin with WATTR"),
    ("SELECT count(*) FROM b ^[WATTR ts]^", "names no windows"),
    ("SELECT count(*) FROM b ^[]^", "is empty"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^WATTR t^]", "comes after WATTR"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^SESSION 5 MINUTES^]", "only one such part"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^RANGE 2 HOURS^]",
     "RANGE comes after RANGE, .* write a comma between them"),
    ("SELECT count(*) FROM b [WATTR ts ^RANGE^ -4 MINUTES]", "followed by a length below zero"),
    ("SELECT count(*) FROM b [WATTR ts CUMULATIVE 1 DAY SLIDE 1 HOUR, ^RANGE^ 1 DAY]",
     "is another kind of windows than CUMULATIVE, .* write a query for each"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 DAY, ^CUMULATIVE^ 1 DAY SLIDE 1 HOUR]",
     "is another kind of windows than RANGE"),
    ("SELECT count(*) FROM b [WATTR ts RANGE ^0 MINUTES^]", "must be positive"),
    ("SELECT count(*) FROM b [WATTR ts RANGE ^1 MONTH^]", "calendar unit"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES ^1^]", "2 ranges but 1 slides"),
    ("SELECT count(*) FROM b [WATTR ts FRAME ^TRESHOLD^ x > 2]", "write THRESHOLD"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE ^sum(x + 1)^ REACHES 4]", "sub-query"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE ^summ(x)^ REACHES 4]", "not an aggregate"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE ^avg(x)^ REACHES 4]", "can fall again"),
    ("SELECT count(*) FROM b [WATTR ts FRAME BOUNDARY x EVERY ^1/0^]", "not a fraction"),
    ("SELECT count(*) FROM b [WATTR ts FRAME DELTA x BY 1, ^x BY 2^]", "names a column twice"),
    ("SELECT count(*) FROM b [WATTR ts SESSION 5 MINUTES ^MAX GAP^ 3 HOURS]", "expected"),
    ("SELECT count(*) FROM b [WATTR ts FRAME DELTA v BY 1 MAX GAP ^3 ROWS^]", "counts rows"),
    ("SELECT count(*) FROM b [WATTR ts FRAME DELTA v BY 1 MIN 3 ROWS ^MIN 4 ROWS^]", "repeats"),
    ("SELECT count(*) FROM b [WATTR ts FRAME DELTA v BY 1 MAX ^0 ROWS^]", "not a positive"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE sum(v) FALLS TO ^5^]", "not below 0"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE sum(v) REACHES (^mean_rows(0)^)]",
     "not a whole number"),
    (
        "SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE min(v) FALLS TO 5, ^max(v) REACHES 3^]",
        "one limit that is reached from below",
    ),
    ("SELECT count(*) FROM b [WATTR ts FRAME THRESHOLD v > 1 ENTER FOR ^3 ROWS^]", "counts rows"),
    (
        "SELECT count(*) FROM b [WATTR ts FRAME THRESHOLD v > 1 ENTER FOR 3 ^ENTER FOR 4^]",
        "repeats",
    ),
    (
        "SELECT count(*) FROM b [WATTR ts FRAME THRESHOLD v > 1 ENTER FOR 5 MAX ^5^]",
        "^[^_]* write more after MAX, or leave ENTER FOR out",
    ),
    (
        "SELECT count(*) FROM b [WATTR ts FRAME THRESHOLD v > 1 ENTER FOR 5 MAX ^1 ROWS^]",
        "^[^_]* write MAX 2 ROWS or more, or leave ENTER FOR out",
    ),
    (
        "SELECT count(*) FROM b [WATTR ts FRAME STATE s MIN 3 ROWS MAX ^2 ROWS^]",
        "^[^_]* write MAX 3 ROWS or more, or less after MIN",
    ),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR DELAY ^-1 DAY^]", "^[^_=]*$"),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR AS h, ^TRAILING 1 DAY^]", "has no label"),
    ("SELECT count(*) FROM b [WATTR ts ^TRAILING 1 HOUR AS ``^]", "has no label; .*AS hour"),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR AS `x y`, ^TRAILING 1 DAY AS `x y`^]",
     "x y is the label of two windows"),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR AS h, TRAILING ^0 DAYS^ AS d]", "positive"),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR AS h, ^2^ HOURS AS d]", "expected TRAILING"),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR AS^]^", "expected a name"),
    ("SELECT count(*) FROM b [WATTR ts WIDENING 1 TO 9 MAX ^2.5^ ROWS]", "whole number"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^ERLY^]", "write EARLY"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^EMPTY^ ONES]", "write for example EMPTY ZERO"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR EMPTY ZERO BETWEEN 1^]^", "expected AND"),
    ("SELECT count(*) FROM b [WATTR ts SESSION 1 HOUR ^EMPTY LAST^]", "does not apply to these"),
    ("SELECT count(*) FROM b [WATTR ts SESSION 1 HOUR ^COMPLETE^]", "does not apply to these"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 COMPLETE SINCE^]^", "expected"),
    ("SELECT x FROM b [WATTR ts ^EMPTY NULL^ RANGES 1, 2 SLIDES 1, 1 FIT x]",
     "does not go with FIT"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^WEIGHTS^ DECAY HALF LIFE 1 HOUR]",
     "WEIGHTS does not apply to these windows; leave it out, or .* RANGES$"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 WEIGHTS ^DECAY^ 1]",
     "write for example DECAY HALF LIFE 10 MINUTES"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 WEIGHTS DECAY HALF LIFE^]^",
     "expected INTERVAL, a number"),
    ("SELECT x FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 WEIGHTS 1, 1 ^WEIGHTS DECAY HALF LIFE 1^]",
     "repeats"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^WIDE^]",
     "WIDE does not apply to these windows; write RANGES .*, or RANGE 1 HOUR, RANGE 1 DAY before"),
    ("SELECT count(*) FROM b [WATTR ts SESSION 1 HOUR ^WIDE^]", "does not apply to these windows"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 FIT x ^WIDE^]",
     "WIDE comes after FIT, and a clause has only one such part"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 WIDE ^EARLY^]",
     "EARLY does not go with WIDE"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 ROWS ^WIDEN^]", "write WIDE"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 WIDE ^3^]", "not expected here"),
    ("SELECT x FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 FIT x AHEAD^]^",
     "ends too early; expected INTERVAL, a number"),
    ("SELECT x FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 FIT x AHEAD ^5 MINUTS^]", "unknown unit"),
    ("SELECT x FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 FIT x AHEAD 1 ^AHEAD^ 1]",
     "AHEAD is not expected here; its place is in FIT price FILLED INSTANT 1 SECOND AHEAD 5 MIN"),
    ("SELECT x FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 FIT x AHEAD 1 DAY ^INSTANT^ 1]",
     "INSTANT is not expected here; its place is in FIT price FILLED INSTANT"),
    ("SELECT x FROM b [WATTR ts RANGE 1 HOUR ^AHEAD^ 5 MINUTES]",
     "AHEAD is not expected here; its place is in FIT price"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^BURSTS THRESHOLD^ 2]",
     "BURSTS THRESHOLD does not apply to these windows; write RANGES .* before it"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 ROW ^BURSTS^ 2]",
     "write for example BURSTS THRESHOLD 2"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 BURSTS THRESHOLD^]^",
     "expected a number"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 BURSTS THRESHOLD ^5/0^]",
     "is not a fraction"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES 1, 1 WIDE ^BURSTS THRESHOLD 2^]",
     "comes after WIDE"),
    ("SELECT count(*) FROM b [WATTR ts ^EMPTY ZERO^ RANGES 1, 2 SLIDES 1, 1 BURSTS THRESHOLD 2]",
     "does not go with BURSTS THRESHOLD"),
    *(
        (f"SELECT count(*) FROM b [SPAN s, e RANGES 1, 2 SLIDES 1, 1 ^{verb}^{rest}]",
         f"{verb} is for points in time, not for events that last; write WATTR and one column")
        for verb, rest in (("BURSTS THRESHOLD", " 2"), ("FIT", " x AHEAD 1"), ("RECURRING", " x"))
    ),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^CLOSED^]", "write CLOSED LEFT"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR EARLY ^EVRY^ 5 MINUTES]", "write EVERY"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^RUNNING ID k^]", "write SPAN start, stop"),
    ("SELECT count(*) FROM b [SPAN a, b RANGE 1 HOUR ^RUNNING^]", "example RUNNING ID call_id"),
    ("SELECT count(*) FROM b [SPAN a, b RANGE 1 HOUR RUNNING ID k ^ID l^]", "repeats what was"),
    ("SELECT count(*) FROM b [SPAN a, b RANGE 1 HOUR RUNNING MAX ^1 HUR^]", "unknown unit"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR EARLY EVERY^]^", "ends too early; .*a number"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR EARLY EVERY ^5 MINUTS^]", "unknown unit"),
    ("SELECT count(*) FROM b [WATTR ts EARLY RANGE 1 HOUR ^EARLY EVERY 5 MINUTES^]", "only one"),
    ("SELECT count(*) FROM b [WATTR ts TRAILING 1 HOUR ^EARLY^]",
     "^[^=]*does not apply to these windows; leave it out, or write RANGE, CALENDAR"),
    ("SELECT count(*) FROM b [WATTR ts WIDENING 1 TO 9 MAX 2 ROWS ^EARLY EVERY 5^]", "not apply"),
    ("SELECT x FROM b [WATTR ts SESSION 5 SPLIT EVERY 1 ^EARLY EVERY 5^]",
     "EARLY does not go with SPLIT EVERY; keep one of them"),
    ("SELECT x FROM b [WATTR ts ^EARLY^ RANGES 1, 2 SLIDES 1, 1 FIT x]", "does not go with FIT"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^USING^]", "write for example USING panes"),
    ("SELECT count(*) FROM b JOIN c ^[WATTR ts RANGE 1 HOUR]^", "join in a sub-query"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR] ^JOIN^ c", "joins windows"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR]^,^ c", "joins windows"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR] b2 ^x^", "expected WHERE"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR] ^SORT^ BY 1", "write ORDER BY"),
    ("^SELECT^ FROM b [WATTR ts RANGE 1 HOUR]", "selects nothing"),
    ("^INSERT^ INTO b SELECT 1", "not begin a query"),
    ("SELECT ^(^count(*) FROM b", "never closed"),
    ("SELECT count(*^]^ FROM b", "closes nothing"),
    ("SELECT ^'^a FROM b", "never ends"),
    ("SELECT 1 ^/*^ a /* b */", "never ends"),
    ("SELECT ^percentile_cont(0.5)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"write percentile_cont\(0.5\) WITHIN GROUP \(ORDER BY x\)"),
    ("SELECT ^percentile_cont(0.5) WITHIN GROUP (ORDER BY x DESC)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"falling order.*write -percentile_cont\(0.5\) WITHIN GROUP \(ORDER BY -x\)"),
    ("SELECT ^percentile_disc(0.5) WITHIN GROUP (ORDER BY x + 1 DESC)^ FROM b [WATTR ts RANGE 1]",
     r"write -percentile_disc\(0.5\) WITHIN GROUP \(ORDER BY -\(x \+ 1\)\)"),
    ("SELECT ^percentile_disc(0.5) WITHIN GROUP (ORDER BY x, y)^ FROM b [WATTR ts RANGE 1 HOUR]",
     "takes one share and one column"),
    ("SELECT ^percentile_disc(x, 0.5) WITHIN GROUP (ORDER BY x)^ FROM b [WATTR ts RANGE 1 HOUR]",
     "takes one share and one column"),
    ("SELECT ^percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY x)^ FROM b [WATTR ts RANGE 1]",
     "takes one share and one column"),
    ("SELECT ^mode(x) WITHIN GROUP (ORDER BY x)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"no argument and one column; write for example mode\(\) WITHIN GROUP"),
    ("SELECT ^mode() WITHIN GROUP (ORDER BY x DESC)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"for numbers write -mode\(\) WITHIN GROUP \(ORDER BY -x\)"),
    ("SELECT ^max(x) WITHIN GROUP (ORDER BY x)^ FROM b [WATTR ts RANGE 1 HOUR]", "leave it out"),
    ("SELECT ^mode() WITHIN GROUP (ORDER BY)^ FROM b [WATTR ts RANGE 1 HOUR]", "in which order"),
    ("SELECT ^listagg(x) WITHIN GROUP (x)^ FROM b [WATTR ts RANGE 1 HOUR]", "in which order"),
    ("SELECT ^listagg(x) WITHIN GROUP (ORDER BY y,,x)^ FROM b [WATTR ts RANGE 1]", "which order"),
    ("SELECT mode() WITHIN GROUP (ORDER BY ^max(x)^) FROM b [WATTR ts RANGE 1]", "is an aggregate"),
    ("SELECT ^listagg(x, '-') WITHIN GROUP (ORDER BY x)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"that of rows; write array_join\(sort_array\(collect_list\(x\)\), '-'\)"),
    ("SELECT ^listagg(DISTINCT x) WITHIN GROUP (ORDER BY x DESC)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"write array_join\(sort_array\(collect_set\(x\), false\), ''\)"),
    ("SELECT ^string_agg(x) WITHIN GROUP (ORDER BY y, z)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"transform\(sort_array\(collect_list\(struct\(y, z, x AS text\)\)\), e -> e.text\), ''\)"),
    ("SELECT ^listagg(x) WITHIN GROUP (ORDER BY y, z DESC)^ FROM b [WATTR ts RANGE 1 HOUR]",
     "leave WITHIN GROUP out"),
    ("SELECT ^listagg(x) WITHIN GROUP (ORDER BY y NULLS LAST)^ FROM b [WATTR ts RANGE 1 HOUR]",
     "leave WITHIN GROUP out"),
    ("SELECT ^hll_union_agg(x)^ FROM b [WATTR ts RANGE 1 HOUR]", "algebra.Aggregate"),
    ("SELECT ^histogram_numeric(x + 1, 9)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"the order of rows.*write approx_percentile\(x \+ 1, array\(0.25, 0.5, 0.75\)\)"),
    ("SELECT ^count_min_sketch(x, 0.1D, 0.9D, 1)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"as Spark cannot unite two of these sketches; write top_k\(x, 10\)"),
    ("SELECT ^approx_top_k(x)^ FROM b [WATTR ts RANGE 1 HOUR]", r"rows.*write top_k\(x, 10\)"),
    ("SELECT approx_top_k_estimate(^approx_top_k_accumulate(x, 9)^) FROM b [WATTR ts RANGE 1 HOUR]",
     r"the order of rows.*write top_k\(x, 10\)"),
    ("SELECT ^sum_distinct(x)^ FROM b [WATTR ts RANGE 1 HOUR]", r"write sum\(DISTINCT x\)"),
    ("SELECT ^median(DISTINCT x)^ FROM b [WATTR ts RANGE 1 HOUR]", "leave DISTINCT out"),
    ("SELECT max(^sum(x)^) FROM b [WATTR ts RANGE 1 HOUR]", "within an aggregate"),
    ("SELECT count(*) FILTER (^x^ > 1) FROM b [WATTR ts RANGE 1 HOUR]", "condition"),
    ("SELECT percentile(x, ^y^) FROM b [WATTR ts RANGE 1 HOUR]", "not a literal"),
    ("SELECT ^percentile(x, 7)^ FROM b [WATTR ts RANGE 1 HOUR]", "percentage"),
    ("SELECT ^max(x, y + 1)^ FROM b [WATTR ts RANGE 1 HOUR]",
     r"is of several columns; write max\(struct\(x, y \+ 1\)\)"),
    ("SELECT ^median(x, y)^ FROM b [WATTR ts RANGE 1 HOUR]", "argument"),
    ("SELECT 1 FROM ^CUMULATE(TABLE b, DESCRIPTOR(ts), INTERVAL '1' DAY)^", "does not say SIZE"),
    ("SELECT 1 FROM CUMULATE(TABLE b, DESCRIPTOR(ts), ^INTERVAL '5' HOUR^, INTERVAL '1' DAY)",
     "does not divide it"),
    ("SELECT count(*) FROM TABLE(^HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '1' HOUR)^)",
     "does not say SIZE"),
    ("SELECT count(*) FROM TABLE(TUMBLE(TABLE b, ^DESCRIPTOR(ts + 1)^, INTERVAL '1' HOUR))",
     "names no time column"),
    ("SELECT count(*) FROM TUMBLE(TABLE b, DESCRIPTOR(ts), ^INTERVAL 'x' HOUR^)", "not a duration"),
    ("SELECT 1 FROM TUMBLE(TABLE b, DESCRIPTOR(ts),^,^ INTERVAL '1' HOUR)", "nothing on one side"),
    ("SELECT 1 FROM SESSION(TABLE b PARTITION BY (k^,^), DESCRIPTOR(ts), INTERVAL '1' HOUR)",
     "nothing on one side"),
    ("SELECT 1 FROM TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '1' DAY, '1 hour', ^'2 hours'^)",
     "too many"),
]  # fmt: skip
