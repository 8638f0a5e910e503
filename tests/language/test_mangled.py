"""Texts that nobody wrote end in our error, or are read as what they say."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.language.query import Query
from fanlight.language.tokens import tokenize
from tests.helpers.shown import part, shown
from tests.language.specs import NAMES, SPECS, meaning
from tests.language.texts import READ, WRONG, column

TEXTS = 10_000
RIGHT = [
    *(f"SELECT k, max(x) AS m FROM t [WATTR ts {text}] GROUP BY k" for text in READ),
    """SELECT window_start, window_end, count(*) FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts),
    INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end""",
    """SELECT * FROM SESSION(TABLE b PARTITION BY a, c, DESCRIPTOR(ts), INTERVAL '5' MINUTES)
    GROUP BY ALL""",
    """WITH a AS (SELECT max(x[0]) FROM t [SPAN s, e RANGE 1 HOUR]), b AS (SELECT * FROM a)
    SELECT round(avg(y), 2) FILTER (WHERE y > 1) FROM (SELECT * FROM b) q [WATTR ts RANGE 4
    MINUTES] WHERE z IN (SELECT 1) GROUP BY q.k HAVING count(*) > 1 ORDER BY 1 UNION SELECT '{'""",
    *(marked.replace("^", "") for marked, _ in WRONG),
]
SOUP = (
    *"()[]{},;.*'\"`-/+=<>^\\", "--", "/*", "*/", "''", "\n", "\x00", "ä", "\U0001d518", "\uff10",
    "\u0663", "½", "SELECT", "FROM", "WITH", "AS", "GROUP BY", "WATTR", "SPAN", "RANGE", "RANGES",
    "SLIDE", "SLIDES", "FRAME", "THRESHOLD", "MIN", "MAX", "SESSION", "WIDENING", "TABLE", "HOP",
    "TUMBLE", "DESCRIPTOR", "ROWS", "INTERVAL", "count", "sum", "FILTER", "WHERE", "OVER", "LATE",
    "IGNORE NULLS", "1", "4.5", "1e999", "-", "9" * 500, "0", "MINUTES", "null", "PARTITION BY",
    "UNION", "DATA =>", "percentile", "array", "TRAILING", "EARLY", "EVERY",
    "CUMULATIVE", "STEP", "CLOSED RIGHT", "EMPTY ZERO", "EMPTY LAST MAX 60", "BETWEEN",
    "COMPLETE", "SINCE", "WEIGHTS", "DECAY HALF LIFE", "DECAY", "WIDE", "AHEAD",
    "BURSTS THRESHOLD", "BURSTS",
    "WITHIN GROUP", "ORDER BY", "DESC", "NULLS LAST", "listagg", "mode",
)  # fmt: skip


def mangled(rng):
    """A text with some of its words left out, doubled, swapped, or replaced by others."""
    words = re.findall(r"\s+|\w+|.", rng.choice(RIGHT), re.DOTALL)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(words))
        match rng.randrange(6):
            case 0:
                del words[at]
            case 1:
                words.insert(at, words[at])
            case 2:
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                words.insert(at, rng.choice(SOUP))
            case 4:
                words[at] = rng.choice(SOUP)
            case 5:
                del words[at:]
        words = words or ["x"]
    return "".join(words)


def read(text):
    """All that is read of a text without Spark."""
    query = Query(text)
    for one in query.selects:
        for place in (*(item.place for item in one.items), one.having or (0, 0), one.tail):
            for call in query.call_reader.find_calls(*place):
                query.call_reader.build(call, column)
        query.call_reader.one_line(*one.relation)
    query.replace_parts(
        0, query.end, {one.at: (one.end, "?") for one in query.outermost_selects(0, query.end)}
    )
    return query


def faults(texts):
    """Texts that end in something else than our error, which has a line and carets."""
    found = []
    for text in texts:
        try:
            query = read(text)
        except fl.FanlightError as error:
            lines = str(error).split("\n")
            if not (lines[0].startswith("line ") and set(lines[-1].strip()) == {"^"}):
                found.append((text, lines))
        except Exception as error:  # noqa: BLE001 - each is a finding
            found.append((text, repr(error)))
        else:
            found += [(text, "other windows") for one in query.selects if not same(one.clause)]
    return found


def same(clause):
    """Whether windows that have been read are the same once they are printed and read again."""
    try:
        text = fl.clause(clause.spec, time="ts")
    except fl.FanlightError as error:  # an option of an aggregate
        return "options" in str(error)
    (one,) = Query(f"SELECT count(*) FROM t {text}").selects
    return meaning(one.clause.spec) == meaning(clause.spec)


@pytest.mark.parametrize("seed", range(4))
def test_mangled_texts_end_in_our_error_or_are_read(seed):
    rng = random.Random(seed)
    assert faults([mangled(rng) for _ in range(part(TEXTS) // 4)]) == []


def test_many_a_mangled_text_is_right_and_many_a_one_is_wrong():
    rng, right = random.Random(0), 0
    for _ in range(400):
        try:
            right += bool(read(mangled(rng)).selects)
        except fl.FanlightError:
            continue
    assert 20 < right < 300


def spelled(rng, text):
    """The same text with other blanks, comments and cases of words, where these mean nothing."""
    parts, at = [], 0
    for one in tokenize(text):
        gap = text[at : one.start]
        if gap or rng.random() < 0.1:
            gap = rng.choice((" ", "\n", "\t ", " /* ] ' */ ", " -- [\n"))
        glued = one.is_symbol(".") or (parts and parts[-1].endswith("."))
        swapped = one.text in WORDS and rng.random() < 0.5
        word = one.text.swapcase() if swapped else one.text
        parts += ["" if glued else gap, word]
        at = one.end
    return "".join(parts)


WORDS = ("WATTR", "SPAN", "RANGE", "SLIDE", "OFFSET", "FRAME", "BOUNDARY", "DELTA", "TIEBREAK",
         "RANGES", "SLIDES", "REACHES", "ROWS", "SESSION", "WIDENING", "TO")  # fmt: skip


@shown(1000)
@given(SPECS, NAMES, st.randoms(use_true_random=False))
def test_blanks_comments_and_cases_mean_nothing(spec, name, rng):
    calculated = isinstance(spec, fl.AggregateFrame) and spec.formulas
    if calculated or isinstance(spec, (fl.ThresholdFrame, fl.PredicateFrame, fl.Session)):
        return  # their SQL is taken letter by letter
    text = spelled(rng, f"SELECT count(*) FROM t {fl.clause(spec, time=name)} WHERE x > 1")
    (one,) = Query(text).selects
    assert meaning(one.clause.spec) == meaning(spec)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 5000,
        "SELECT " + "(" * 5000 + ")" * 5000,
        "SELECT " + "max(" * 3000 + "x" + ")" * 3000 + " FROM t [WATTR ts RANGE 1 HOUR]",
        "(SELECT * FROM " * 2000 + ")" * 2000,
        "SELECT 1 FROM t [WATTR ts FRAME THRESHOLD " + "(" * 3000 + ")" * 3000 + "]",
        "SELECT " + "1, " * 20_000 + "count(*) FROM t [WATTR ts RANGE 1 HOUR]",
        "SELECT 1 " + "UNION SELECT 1 " * 3000,
        "SELECT count(*) FROM t [WATTR ts RANGE " + "1 HOUR " * 3000 + "]",
    ],
    ids=lambda text: text[:20],
)
def test_texts_of_any_depth_and_length(text):
    assert faults([text]) == []
