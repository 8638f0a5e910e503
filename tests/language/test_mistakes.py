"""Errors of the query language: the word that is wrong, what is wrong with it, what to write."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight.language.query import Query
from tests.language.test_query import column

# A query, the part of it that carets stand under, and words of the message.
WRONG = [
    ("SELECT count(*) FROM b [WATTR ts RANGE ^4 MINUTS^]", "unknown unit"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 4 MINUTES ^SLDE^ 1 MINUTE]", "write SLIDE"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 4 MINUTES SLIDE^]^", "ends too early; .*a number"),
    ("SELECT count(*) FROM b [WATTR ts ^RANGE^]", "RANGE 4 MINUTES SLIDE 1 MINUTE"),
    ("SELECT count(*) FROM b ^[RANGE 4 MINUTES]^", "begin with WATTR"),
    ("SELECT count(*) FROM b ^[WATTR ts]^", "names no windows"),
    ("SELECT count(*) FROM b ^[]^", "says nothing"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^WATTR t^]", "comes after WATTR"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^SESSION 5 MINUTES^]", "says this already"),
    ("SELECT count(*) FROM b [WATTR ts RANGE ^0 MINUTES^]", "must be positive"),
    ("SELECT count(*) FROM b [WATTR ts RANGE ^1 MONTH^]", "calendar unit"),
    ("SELECT count(*) FROM b [WATTR ts RANGES 1, 2 SLIDES ^1^]", "2 ranges but 1 slides"),
    ("SELECT count(*) FROM b [WATTR ts FRAME ^TRESHOLD^ x > 2]", "write THRESHOLD"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE ^sum(x + 1)^ REACHES 4]", "sub-query"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE ^summ(x)^ REACHES 4]", "not an aggregate"),
    ("SELECT count(*) FROM b [WATTR ts FRAME AGGREGATE ^avg(x)^ REACHES 4]", "can fall again"),
    ("SELECT count(*) FROM b [WATTR ts FRAME BOUNDARY x EVERY ^1/0^]", "not a fraction"),
    ("SELECT count(*) FROM b [WATTR ts FRAME DELTA x BY 1, ^x BY 2^]", "names a column again"),
    ("SELECT count(*) FROM b [WATTR ts SESSION 5 MINUTES ^MIN 3 HOURS^]", "number of rows"),
    ("SELECT count(*) FROM b [WATTR ts WIDENING 1 TO 9 MAX ^2.5^ ROWS]", "whole number"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR ^USING^]", "write for example USING panes"),
    ("SELECT count(*) FROM b JOIN c ^[WATTR ts RANGE 1 HOUR]^", "join in a sub-query"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR] ^JOIN^ c", "joins windows"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR]^,^ c", "joins windows"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR] b2 ^x^", "here may stand WHERE"),
    ("SELECT count(*) FROM b [WATTR ts RANGE 1 HOUR] ^SORT^ BY 1", "write ORDER BY"),
    ("^SELECT^ FROM b [WATTR ts RANGE 1 HOUR]", "selects nothing"),
    ("^INSERT^ INTO b SELECT 1", "begins no query"),
    ("SELECT ^(^count(*) FROM b", "never closed"),
    ("SELECT count(*^]^ FROM b", "closes nothing"),
    ("SELECT ^'^a FROM b", "never ends"),
    ("SELECT 1 ^/*^ a /* b */", "never ends"),
    ("SELECT ^collect_set(x)^ FROM b [WATTR ts RANGE 1 HOUR]", r"array_distinct\(collect_list\(x"),
    ("SELECT ^bool_or(x > 1)^ FROM b [WATTR ts RANGE 1 HOUR]", r"write max\(x > 1\)"),
    ("SELECT ^count_if(x)^ FROM b [WATTR ts RANGE 1 HOUR]", "CASE WHEN x THEN 1 END"),
    ("SELECT ^corr(x, y)^ FROM b [WATTR ts RANGE 1 HOUR]", "agg.Aggregate"),
    ("SELECT ^sum(DISTINCT x)^ FROM b [WATTR ts RANGE 1 HOUR]", "leave DISTINCT out"),
    ("SELECT max(^sum(x)^) FROM b [WATTR ts RANGE 1 HOUR]", "within an aggregate"),
    ("SELECT ^first(x) FILTER (WHERE y)^ FROM b [WATTR ts RANGE 1 HOUR]", "WHERE"),
    ("SELECT count(*) FILTER (^x^ > 1) FROM b [WATTR ts RANGE 1 HOUR]", "condition"),
    ("SELECT percentile(x, ^y^) FROM b [WATTR ts RANGE 1 HOUR]", "written out"),
    ("SELECT ^percentile(x, 7)^ FROM b [WATTR ts RANGE 1 HOUR]", "percentage"),
    ("SELECT ^max(x, y, z)^ FROM b [WATTR ts RANGE 1 HOUR]", "argument"),
    ("SELECT 1 FROM ^CUMULATE^(TABLE b, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
     "write TUMBLE"),
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


def read(text):
    query = Query(text)
    for one in query.selects:
        for item in one.items:
            for call in query.reader.aggregates(*item.place):
                query.reader.made(call, column)


def refused(text):
    with pytest.raises(fl.FanlightError) as raised:
        read(text)
    return str(raised.value)


@pytest.mark.parametrize(("marked", "words"), WRONG, ids=[text for text, _ in WRONG])
def test_errors_point_at_the_word(marked, words):
    before, part, after = marked.split("^")
    message, line, carets = refused(before + part + after).split("\n")
    assert message.startswith(f"line 1, column {len(before) + 1}: ")
    at = carets.index("^")
    width = carets.count("^")
    assert line[at : at + width] == part[: len(line) - at]
    assert re.search(words, message), message


def test_the_line_and_its_column_are_those_of_a_text_of_many_lines():
    said = refused("SELECT count(*)\n-- b\n\tFROM b [WATTR ts\n  RANGE 4 MINUTS]").split("\n")
    assert said[0].startswith("line 4, column 9: ")
    assert said[1:] == ["      RANGE 4 MINUTS]", "            ^^^^^^^^"]


def test_a_long_line_is_cut_to_what_is_around_the_word():
    _, line, carets = refused(f"SELECT {'x, ' * 100}1 FROM b [WATTR ts RANGE 4 MINUTS]").split("\n")
    assert len(line) < 120
    assert line[carets.index("^") :].startswith("4 MINUTS")
