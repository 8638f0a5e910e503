"""Errors of a clause: at the word that is wrong, with advice in the words of the clause."""

from __future__ import annotations

import re

import pytest

import fanlight as fl

TABLE = """
    SELECT timestamp_seconds(id) AS ts, timestamp_seconds(id + 5) AS stop, id % 2 AS k, id AS v,
           id * 1.5D AS d, 'a' AS txt, map(1, 2) AS m, id AS n, id AS ratio,
           id AS forecast
    FROM range(20)
"""
LEVELS = "RANGES 1 HOUR, 1 DAY SLIDES 1 HOUR, 1 HOUR"
WIDE = "WIDENING 1 SECOND TO 1 DAY MAX 5 ROWS"
FOUND = "DETECT 'a; b' EVENT txt"
FRAME = "FRAME THRESHOLD v > 2"

# A clause with the wrong word marked, words of the message, and what to write for the word.
WRONG = [
    ("WATTR ^nope^ RANGE 1 HOUR", "^WATTR nope is not a column of the table; choose", "ts"),
    ("WATTR ^m^ RANGE 1 HOUR", "WATTR m is of type map", "ts"),
    ("WATTR ^`no pe`^ RANGE 1 HOUR", "WATTR `no pe` is not", "ts"),
    ("SPAN ts, ^nope^ RANGE 1 HOUR", "SPAN nope is not a column", "stop"),
    ("SPAN ^nope^, stop RANGE 1 HOUR", "SPAN nope is not a column", "ts"),
    ("SPAN ^ts, k^ RANGE 1 HOUR", "SPAN ts, k is of two types", "ts, stop"),
    ("SPAN ts, stop RANGE ^5 ROWS^", "RANGE 5 ROWS over SPAN ts, stop counts rows", "1 HOUR"),
    ("SPAN ^ts, stop^ SESSION 5 MINUTES", "SESSION is for points", None),
    ("WATTR n RANGE ^1 HOUR^", "WATTR n is a number .*; write RANGE and SLIDE as numbers", "10"),
    ("WATTR ts RANGE ^10^", "; write a duration such as 4 MINUTES, or 10 ROWS", "4 MINUTES"),
    ("WATTR ts RANGE ^0 MINUTES^", "; write for example RANGE 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts RANGE ^1 MONTH^",
     "; write 30 DAYS or the like, or .*: CALENDAR 1 MONTH ZONE 'Europe/Berlin'$", "30 DAYS"),
    ("WATTR ts CALENDAR 1 DAY ^ZONE 'Berlin'^", "ZONE 'Europe/Berlin' or .*leave ZONE out",
     "ZONE 'Europe/Berlin'"),
    ("WATTR ts RANGE ^4 MINUTS^", "unknown unit", "4 MINUTES"),
    ("WATTR ts RANGE ^0 ROWS^", "; write 1 ROW or more", "1 ROW"),
    ("WATTR ts RANGE 1 HOUR SLIDE ^0 MINUTES^", "example SLIDE 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts RANGE 1 HOUR SLIDE ^-1 MINUTE^", "example SLIDE 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts RANGE 1 HOUR SLIDE ^5^", "; give both as durations", "5 ROWS"),
    ("WATTR ts RANGE 5 SLIDE ^1 HOUR^", "; give both as durations, both as numbers", None),
    ("WATTR ts RANGE 1 HOUR OFFSET ^5 ROWS^", "; leave OFFSET out", "1 MINUTE"),
    ("WATTR ts RANGE 1 HOUR, ^RANGE 5 ROWS^", "query 1, RANGE 5 ROWS, is not", "RANGE 1 DAY"),
    ("WATTR ts RANGE 1 HOUR PARTITION BY ^nope^", "^PARTITION BY nope is not a column", "k"),
    ("WATTR ts RANGE 1 HOUR PARTITION BY k, ^m^", "^PARTITION BY m is of type map", "v"),
    ("WATTR ts RANGE 5 ROWS TIEBREAK ^nope^", "^TIEBREAK nope is not a column", "k"),
    ("WATTR ts RANGE 5 ROWS LATE ^OPEN^", "^LATE OPEN is for time windows", "DROP"),
    ("WATTR ts RANGE 1 HOUR ^EARLY^", "^EARLY is for streams: a batch has all rows; leave", ""),
    ("WATTR ts RANGE 1 HOUR ^EARLY EVERY 5 MINUTES^", "^EARLY EVERY 5 MINUTES is for str", ""),
    (f"WATTR ts {FRAME} ^EARLY EVERY INTERVAL '5' MINUTES^", "EVERY 5 MINUTES is for str", ""),
    ("WATTR ts RANGE 1 HOUR USING ^pains^", "^USING pains is .* of auto, panes, pairs", "panes"),
    ("WATTR ts RANGE 1 HOUR USING ^ranks^", "^USING ranks cannot compute this", "auto"),
    ("WATTR ts RANGE 1 HOUR USING panes ^HEIGHT 2^", "^HEIGHT is not a hint", "RATE 2"),
    ("WATTR ts RANGE 1 HOUR USING panes RATE ^0^", "RATE 0 is not .*; write RATE 100", "100"),
    ("WATTR ts RANGE 1 HOUR USING panes GROUPS ^-1^", "GROUPS -1 is .* GROUPS 100", "100"),
    ("WATTR ts RANGE 1 HOUR USING panes PARTITIONS ^0^", "example PARTITIONS 16", "16"),
    ("WATTR ts RANGES 1 HOUR, 1 DAY SLIDES ^1 MINUTE^", "2 ranges but 1", "1 MINUTE, 1 HOUR"),
    ("WATTR ts RANGES 1 HOUR, ^1 HOUR^ SLIDES 1 MINUTE, 1 MINUTE",
     "^the second range, 1 HOUR, does not exceed .*; write for example 61 MINUTES$", "61 MINUTES"),
    ("WATTR ts RANGES ^1 HOUR^, 1 DAY SLIDES 7 MINUTES, 1 HOUR", "write 63 MINUTES", None),
    ("WATTR ts RANGES 1 HOUR, 1 DAY SLIDES 1 HOUR, ^1 MINUTE^", "; write 1 HOUR or", "1 HOUR"),
    ("WATTR ts RANGES 1 DAY, 1 HOUR SLIDES ^1 MINUTE^, 1 HOUR", "; write 1 HOUR or", "1 HOUR"),
    ("WATTR ts RANGES ^1 HOUR^ SLIDES 1 MINUTE", "; write RANGE 1 HOUR SLIDE 1 MINUTE", None),
    ("WATTR ts RANGES ^0 HOUR^, 1 DAY SLIDES 1 MINUTE, 1 HOUR", "example 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts RANGES 1 HOUR, ^5 ROWS^ SLIDES 1 HOUR, 1 HOUR", "5 ROWS, is a number", "1 DAY"),
    (f"WATTR ts {LEVELS} HORIZONS ^7 MINUTES^", "; add REPORT CONTINUOUS", None),
    (f"WATTR ts {LEVELS} WEIGHTS ^1^", "; write for example WEIGHTS 1.0, 0.5", "1.0, 0.5"),
    (f"WATTR ts {LEVELS} WEIGHTS 1, ^-1^", "the second weight, -1, .* 0.5$", "0.5"),
    (f"WATTR ts {LEVELS} WEIGHTS DECAY HALF LIFE ^10^", "DECAY HALF LIFE 10 MINUTES$", "1 DAY"),
    (f"WATTR ts {LEVELS} WEIGHTS DECAY HALF LIFE ^5 ROWS^", "is a number of rows, but", "1 DAY"),
    (f"WATTR ts {LEVELS} WEIGHTS DECAY HALF LIFE ^1 MONTH^", "is in months, but", "30 DAYS"),
    (f"WATTR ts {LEVELS} WEIGHTS DECAY HALF LIFE ^INTERVAL '1' MONTH^", "30 DAYS or", "30 DAYS"),
    (f"WATTR ts {LEVELS} WEIGHTS DECAY HALF LIFE ^0 MINUTES^", "LIFE 1 MINUTE$", "1 MINUTE"),
    (f"WATTR ts {LEVELS} REPORT CONTINUOUS WEIGHTS DECAY HALF LIFE ^1 DAY^",
     "^WEIGHTS with .* leave REPORT CONTINUOUS out$", None),
    (f"WATTR ts {LEVELS} OFFSET ^2 ROWS^", "OFFSET 2 ROWS is a number of rows", "1 MINUTE"),
    (f"WATTR ts {LEVELS} FIT ^nope^", "^FIT nope is not a column", "v"),
    (f"WATTR ts {LEVELS} FIT ^txt^", "^FIT: column 'txt' is of type string", "v"),
    (f"WATTR ts {LEVELS} FIT v FILLED INSTANT ^5 ROWS^", "; write INSTANT 1 HOUR,", "1 HOUR"),
    (f"WATTR ts {LEVELS} FIT v FILLED INSTANT ^0 SECONDS^", "example INSTANT 1 MINUTE$", "1 HOUR"),
    (f"WATTR ts {LEVELS} FIT v AHEAD ^0 MINUTES^", "example AHEAD 1 MINUTE$", "1 MINUTE"),
    (f"WATTR ts {LEVELS} FIT v AHEAD ^-1 MINUTE^", "AHEAD -1 MINUTE must be pos", "1 MINUTE"),
    (f"WATTR ts {LEVELS} FIT v AHEAD ^5^", "^AHEAD 5 is a number, ", "5 MINUTES"),
    (f"WATTR ts {LEVELS} FIT v AHEAD ^5 ROWS^", "^AHEAD 5 ROWS ", "5 MINUTES"),
    (f"WATTR ts {LEVELS} FIT v AHEAD ^1 MONTH^", "write 30 DAYS or", "30 DAYS"),
    ("WATTR n RANGES 5, 10 SLIDES 5, 5 FIT v AHEAD ^1 HOUR^", "^AHEAD 1 HOUR ", "2.5"),
    ("WATTR ts RANGES 5 ROWS, 9 ROWS SLIDES 1 ROW, 1 ROW FIT v AHEAD ^5 ROWS^",
     "^AHEAD 5 ROWS with levels counted in rows asks", None),
    (f"WATTR ts {LEVELS} RECURRING ^nope^", "^RECURRING nope is not a column", "k"),
    ("WATTR ts RANGE 1 HOUR ^WIDE^", "^WIDE does not apply to these", None),
    (f"WATTR ts {LEVELS} REPORT CONTINUOUS HORIZONS 2 HOURS ^WIDE^",
     "^WIDE with HORIZONS would have", ""),
    (f"WATTR ts {LEVELS} PARTITION BY ratio ^BURSTS THRESHOLD^ 2",
     "^BURSTS by 'ratio' clashes .*; rename it in a sub-query$", None),
    (f"WATTR ts {LEVELS} PARTITION BY forecast FIT ^v^ AHEAD 1 DAY",
     "'forecast' clashes .*; rename it in a sub-query$", None),
    ("WATTR ts RANGE 1 HOUR ^BURSTS THRESHOLD^ 2", "does not apply to these", None),
    (f"WATTR ts {LEVELS} BURSTS THRESHOLD ^1^", "^BURSTS THRESHOLD 1 is not .* THRESHOLD 2,", "2"),
    (f"WATTR ts {LEVELS} BURSTS THRESHOLD ^-2^", "^BURSTS THRESHOLD -2 is not", "1.5"),
    (f"WATTR ts {LEVELS} BURSTS THRESHOLD ^1e999^", "is not a number above 1", "3/2"),
    (f"WATTR ts {LEVELS} BURSTS THRESHOLD ^2, 3^",
     "has 2 numbers for 1 of 2 levels: .* example BURSTS THRESHOLD 2, or one number", "2"),
    (f"WATTR ts {LEVELS} CHANGES ONLY ^BURSTS THRESHOLD^ 2",
     "^BURSTS with CHANGES ONLY would .*; leave CHANGES ONLY out$", None),
    (f"WATTR ts {LEVELS} WEIGHTS 1, 0.5 ^BURSTS THRESHOLD^ 2",
     "^BURSTS with WEIGHTS would .*; leave WEIGHTS out$", None),
    ("WATTR ts RANGE 1 HOUR ^FIT^ v", "^FIT does not apply to these", None),
    (f"WATTR ts {LEVELS} ^SPLIT EVERY^ 1 SECOND", "; write FRAME or SESSION before it", None),
    ("WATTR ts FRAME THRESHOLD ^nope^ > 2", "^THRESHOLD nope > 2 is not a condition", "v"),
    ("WATTR ts FRAME THRESHOLD (v > 1 AND ^nope^ > 2)", "not a condition", "v"),
    ("WATTR ts FRAME THRESHOLD v > ^>^ 2", "Syntax error", ""),
    ("WATTR ts FRAME THRESHOLD ^v^", "; compare it .*: THRESHOLD v > 0$", "v > 0"),
    (f"WATTR ts {FRAME} MIN ^0 ROWS^", "; write 1 ROW or more", "1 ROW"),
    (f"WATTR ts {FRAME} MIN ^5^", "MIN 5 is a number, .*; write .* 5 MINUTES", "5 MINUTES"),
    (f"WATTR ts {FRAME} MIN ^0 SECONDS^", "; write for example MIN 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts FRAME OPEN ^nope^ CLOSE v > 3", "^OPEN nope is not", "v > 1"),
    ("WATTR ts FRAME OPEN v > 3 CLOSE ^nope^", "^CLOSE nope is not", "v > 1"),
    ("WATTR ts FRAME OPEN v > 3 CLOSE ^v^", "CLOSE v > 0$", "v > 0"),
    ("WATTR ts FRAME BOUNDARY ^nope^ EVERY 4", "^BOUNDARY nope is not a column", "v"),
    ("WATTR ts FRAME BOUNDARY ^txt^ EVERY 4", "^BOUNDARY: column 'txt'", "v"),
    ("WATTR ts FRAME BOUNDARY v EVERY ^0^", "v EVERY 0 is not .* example 4.2$", "4.2"),
    ("WATTR ts FRAME BOUNDARY v AT (3, ^2^)", "v AT \\(3, 2\\) repeats 2", "5"),
    ("WATTR ts FRAME BOUNDARY v EVERY 4, d EVERY 1 ^OVERLAPPING^", "leave OVERLAPPING out", ""),
    ("WATTR ts FRAME DELTA ^nope^ BY 1", "^DELTA nope is not a column", "v"),
    ("WATTR ts FRAME DELTA d BY 1, v BY ^-1^", "v BY -1 is not .* example 0.05$", "0.05"),
    ("WATTR ts FRAME AGGREGATE sum(^nope^) REACHES 4", "^nope in sum\\(nope\\) is not", "v"),
    ("WATTR ts FRAME AGGREGATE sum(^txt^) REACHES 4", "needs a number", "v"),
    ("WATTR ts FRAME AGGREGATE ^avg(v)^ REACHES 4", "; write MAY FALL after it", None),
    ("WATTR ts FRAME AGGREGATE sum(v) REACHES ^0^", "for example 1000$", "1000"),
    ("WATTR ts FRAME AGGREGATE ^median(v)^ REACHES 4", "or write FRAME OPEN", "sum(v)"),
    ("WATTR ts SESSION ^0 MINUTES^", "; write for example SESSION 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts SESSION ^nope^", "^SESSION nope is not a length", "5 SECONDS"),
    ("WATTR ts SESSION ^5^", "; write a duration such as 5 MINUTES", "5 MINUTES"),
    ("WATTR ts SESSION ^5 ROWS^", "; write SESSION 5 MINUTES,", "5 MINUTES"),
    ("WATTR ts SESSION 1 MINUTE MAX ^0 HOURS^", "example MAX 1 MINUTE$", "1 MINUTE"),
    ("WATTR ts FRAME DELTA d BY 1 MAX GAP ^5 ROWS^", "; write MAX GAP 5 MINUTES,", "5 MINUTES"),
    ("WATTR ts SESSION 5 MINUTES MAX ^3^", "MAX 3 does not go with SESSION 5 MIN", "5 HOURS"),
    ("WATTR ts SESSION 5 MINUTES MIN ^0 ROWS^", "; write 1 ROW or more", "1 ROW"),
    ("WATTR ts SESSION 5 MINUTES LATE ^OPEN^", "^LATE OPEN is for", "DROP"),
    ("WATTR ts SESSION 5 MINUTES USING ^pairs^", "auto, native, arrow", "native"),
    (f"WATTR ts WIDENING 1 SECOND TO 1 DAY MAX ^0^ ROWS {FOUND}", "example MAX 100 ROWS", "100"),
    (f"WATTR ts WIDENING 1 DAY TO ^1 SECOND^ MAX 5 ROWS {FOUND}", "; write TO 1 DAY", "1 DAY"),
    (f"WATTR ts WIDENING ^0 SECONDS^ TO 1 DAY MAX 5 ROWS {FOUND}", "WIDENING 1 MINUTE", "1 MINUTE"),
    (f"WATTR ts WIDENING 1 SECOND TO ^5 ROWS^ MAX 5 ROWS {FOUND}", "TO 1 SECOND", "1 SECOND"),
    (f"WATTR ts {WIDE} FACTOR ^1^ {FOUND}", "; write FACTOR 2 or", "2"),
    (f"WATTR ts WIDENING ^5 SECONDS, 1 SECOND^ TO 1 DAY MAX 5 ROWS {FOUND}", "upwards", None),
    (f"WATTR ts {WIDE} USING ^native^ {FOUND}", "use one of auto$", "auto"),
    (f"WATTR ts {WIDE} DETECT 'a; b' EVENT ^nope^", "^DETECT 'a; b' names a column", "txt"),
    (f"WATTR ts {FRAME} SPLIT EVERY ^0 SECONDS^", "SPLIT EVERY 1 MINUTE$", "1 MINUTE"),
    (f"WATTR ts {FRAME} SPLIT EVERY ^5 ROWS^", "such as 5 MINUTES", "5 MINUTES"),
    (f"WATTR ts {FRAME} FILL t ON ^nope^", "^ON nope is not a column of the other table", "ts"),
    (f"WATTR ts {FRAME} FILL ^nobody^ ON ts", "^nobody is not a table", "t"),
    (f"WATTR ts {FRAME} FILL t ON ts BY ^k^", "FILL … BY k does not pair up", None),
    (f"WATTR ts PARTITION BY k {FRAME} FILL t ON ts BY ^nope^", "^BY nope is not", "k"),
    (f"WATTR ts {FRAME} FILL t ON ts OWN max(^nope^) AS n", "^nope in n is not", "v"),
    (f"WATTR ts {FRAME} FILL t ON ts OWN max(v) AS ^frame_id^", "another name after AS", "n"),
    (f"WATTR ts {FRAME} FILL t ON ts MAX ^0 SECONDS^", "MAX 1 MINUTE$", "1 MINUTE"),
    (f"WATTR ts {FRAME} USING ^panes^", "use one of auto, native, arrow$", "native"),
]  # fmt: skip
ENDS = "GROUP BY window_start, window_end"
WHOLE = [
    ("^SELECT^ count(*) FROM t ts RANGE 4 MINUTES", "^Spark says: (?!.*line 2).*'RANGE'", None),
    ("SELECT count(*) FROM t [^ts^ RANGE 1 HOUR]", "write WATTR ts$", "WATTR ts"),
    (f"SELECT count(*) FROM TUMBLE(TABLE t, DESCRIPTOR(^nope^), INTERVAL '1' HOUR) {ENDS}",
     "^DESCRIPTOR nope is not a column", "ts"),
    (f"SELECT count(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), ^INTERVAL '0' HOUR^) {ENDS}",
     "example INTERVAL '1' MINUTE$", "INTERVAL '1' MINUTE"),
    (f"SELECT count(*) FROM HOP(TABLE t, DESCRIPTOR(ts), ^INTERVAL '0' HOUR^, '1 hour') {ENDS}",
     "example INTERVAL '1' MINUTE$", "INTERVAL '1' MINUTE"),
    ("SELECT count(*) FROM t ^[WATTR ts CALENDAR 1 DAY]^",
     "no ZONE is for local times, .*; name the zone, for example ZONE 'Europe/Berlin'",
     "[WATTR ts CALENDAR 1 DAY ZONE 'Europe/Berlin']"),
    (f"SELECT count(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), ^INTERVAL '1' MONTH^) {ENDS}",
     "write INTERVAL '30' DAY or", "INTERVAL '30' DAY"),
    (f"SELECT count(*) FROM TUMBLE(TABLE t, DESCRIPTOR(n), ^INTERVAL '1' HOUR^) {ENDS}",
     "^INTERVAL '1' HOUR is a duration", None),
    (f"SELECT count(*) FROM SESSION(TABLE t, DESCRIPTOR(ts), ^INTERVAL '0' HOUR^) {ENDS}",
     "example INTERVAL '1' MINUTE$", "INTERVAL '1' MINUTE"),
    (f"SELECT count(*) FROM SESSION(TABLE t PARTITION BY ^nope^, DESCRIPTOR(ts), '1 hour') {ENDS}",
     "^PARTITION BY nope is not a column", "k"),
    ("SELECT count(*) FROM t [WATTR ts RANGE 1 HOUR] GROUP BY ^nope^", "^GROUP BY nope is", "k"),
    ("SELECT sum(v) + sum(^nope^) FROM t [WATTR ts RANGE 1 HOUR]", "^nope in sum", "v"),
    ("SELECT sum(v) ^IGNORE NULLS^ FROM t [WATTR ts RANGE 1 HOUR]", "; leave it out", ""),
    (f"SELECT * FROM t [WATTR ts {LEVELS} ^WIDE^]", "side by side; write an aggregate", None),
    (f"SELECT count(*) FROM t [WATTR ts {LEVELS} WIDE] HAVING ^sum(v)^ > 3",
     "has a column for each of these windows; name it, AS x, and use x_0", "year(at)"),
    (f"SELECT ^window^, count(*) FROM t [WATTR ts {LEVELS} WIDE]", "the results have at$", "at"),
    (f"SELECT count(*) FROM t [WATTR ts {LEVELS} WIDE] GROUP BY ^window^",
     "^GROUP BY window is not a column", "at"),
    (f"SELECT * FROM t [WATTR ts {LEVELS} ^BURSTS THRESHOLD^ 2]", "write an aggregate", None),
    (f"SELECT count(*), ^sum(v)^ FROM t [WATTR ts {LEVELS} BURSTS THRESHOLD 2]",
     "a second aggregate, and BURSTS compares", "count(*)"),
    (f"SELECT max(txt) FROM t [WATTR ts {LEVELS} ^BURSTS THRESHOLD^ 2]",
     "has no rate; give a count or a sum, for example count", None),
    (f"SELECT count(*) FROM (SELECT ts, v AS at FROM t) [WATTR ts {LEVELS} ^WIDE^] GROUP BY at",
     "^WIDE by 'at' clashes .* rename it in a sub-query,", None),
    (f"SELECT median(^v)^ FROM t [WATTR ts {LEVELS} WEIGHTS DECAY HALF LIFE 1 DAY]",
     "leave WEIGHTS out, or ask for count, sum or avg$", None),
    ("SELECT ^concat(txt, '-')^ FROM t [WATTR ts RANGE 1 HOUR]",
     r"as concat joins the texts of one row; write listagg\(txt, ', '\)$", "listagg(txt, ', ')"),
    ("SELECT count(*), concat(^txt^, '-') FROM t [WATTR ts RANGE 1 HOUR]",
     r"for those of all rows write listagg\(txt, ', '\)$", None),
    ("SELECT * FROM t [WATTR ts ^WIDENING^ 1 SECOND TO 1 DAY MAX 5 ROWS]", "write .* DETECT", None),
]  # fmt: skip


def query_with(clause):
    """A query with the clause: of windows that give all columns, all of them."""
    whole = any(word in clause for word in ("FIT", "RECURRING", "DETECT", "FILL ^", "SPLIT"))
    return f"SELECT {'*' if whole else 'count(*)'} FROM t [{clause}]"


CASES = [*((query_with(clause), said, mended) for clause, said, mended in WRONG), *WHOLE]
# A call or an argument of Python's.
PYTHON = re.compile(r"\w=['\"\d\[{(]|\bfl\.|rows\(|timedelta|\b\w+Frame\b|\bSliding|DataFrame\b")


@pytest.fixture(scope="module")
def table(sessions):
    return sessions["classic"].sql(TABLE)


@pytest.mark.spark
@pytest.mark.parametrize(("marked", "words", "mended"), CASES, ids=[one for one, _, _ in CASES])
def test_the_word_is_pointed_at_and_what_is_advised_is_right(table, marked, words, mended):
    before, part, after = marked.split("^")
    with pytest.raises(fl.FanlightError) as raised:
        fl.sql(before + part + after, t=table)
    message, line, carets = str(raised.value).split("\n")
    assert message.startswith(f"line 1, column {len(before) + 1}: "), message
    assert line[carets.index("^") :][: carets.count("^")] == part
    said = message.partition(": ")[2]
    assert re.search(words, said), said
    if "is not a table" not in said:
        assert not PYTHON.search(said), said
    if mended is not None:
        assert fl.sql(before + mended + after, t=table).columns
