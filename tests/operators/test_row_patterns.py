"""Row patterns against their definition: random ones over random rows, in batches and streams."""

from __future__ import annotations

import math
import random
import re

import pytest

from fanlight.engine.kernels import patterns as kernels
from fanlight.engine.operators import protocol
from fanlight.engine.plan import patterns as plan
from fanlight.engine.spec.errors import FanlightError
from fanlight.engine.spec.frames import row_patterns
from tests.helpers.grouped import Grouped
from tests.helpers.patterned import (
    Said,
    ask,
    batch,
    expected,
    expected_rows,
    got,
    keyed,
    query,
    question,
    some_rows,
    text_of,
)
from tests.helpers.shown import part
from tests.kernels.both import only_in_python, without_waiting

TODAY = 1_700_000_000_000_000


def by_other_ways(monkeypatch, rng):
    """Where a match may end is worked out at once or late, and few rows are computed together."""
    only_in_python(monkeypatch)
    always = rng.random() < 0.5
    monkeypatch.setattr(kernels, "PATIENCE", -1 if always else 1_000)
    monkeypatch.setattr(kernels, "VAIN", 0 if always else 16)
    monkeypatch.setattr(kernels, "BLOCK", 2 if always else 1_024)


def now_of(asked):
    """Up to when the rows of a batch are known, at its end."""
    return math.inf if asked.options["within"] is not None else -math.inf


def test_plan_and_kernel_number_what_definitions_do_alike():
    """Neither may import the other."""
    words = {
        "constant": "CONSTANT", "unknown": "UNKNOWN", "column": "COLUMN", "running": "RUNNING",
        "as real": "AS_REAL", "+": "ADD", "-": "SUBTRACT", "*": "MULTIPLY", "/": "DIVIDE",
        "%": "REMAINDER", "- of": "NEGATE", "=": "EQUAL", "<>": "UNEQUAL", "<": "LESS",
        "<=": "AT_MOST", ">": "GREATER", ">=": "AT_LEAST", "<=>": "SAME", "not": "INVERT",
    }  # fmt: skip
    for names in (plan.DOES, plan.FOLLOWS):
        told = [words.get(name, name.upper().replace(" ", "_")) for name in names]
        assert [vars(kernels)[name] for name in told] == list(range(len(names)))
    shared = {
        row_patterns: ("ROW", "NOT", "SPLIT", "JUMP", "FIRST", "LAST", "NEVER", "MATCH"),
        plan: ("AFTER_LAST", "AFTER_FIRST_ROW", "AFTER_FIRST_OF", "AFTER_LAST_OF", "PLACES"),
    }
    for module, names in shared.items():
        assert {name: vars(module)[name] == vars(kernels)[name] for name in names} == dict.fromkeys(
            names, True
        )


@pytest.mark.parametrize("seed", range(part(60)))
def test_a_batch_has_the_matches_that_the_definition_has(monkeypatch, seed):
    rng, seen = random.Random(seed), 0
    for _ in range(10):
        asked = question(rng)
        by_other_ways(monkeypatch, rng)
        for size in (None, 1, 3):
            monkeypatch.setattr(protocol, "PART", 1 if size else 1 << 20)
            rows = some_rows(rng)
            by_key = [row for mine in keyed(rows).values() for row in mine]
            told = expected(asked, rows, now_of(asked))
            assert got(batch(asked, by_key, size)) == told, (asked.spec, rows)
            seen += len(told)
    assert seen


@pytest.mark.parametrize("seed", range(part(60)))
def test_rows_have_the_number_of_their_match_and_their_variable(seed):
    rng = random.Random(seed)
    for _ in range(10):
        asked = question(rng)
        if asked.spec.overlapping:
            continue
        rows = some_rows(rng)
        by_key = [row for mine in keyed(rows).values() for row in mine]
        found = batch(asked, by_key, numbered=True, payload=("k0", "t", "seq"))
        told = [row for table in found for row in table.to_pylist()]
        assert len(told) == len(rows)
        listed = {row["seq"]: (row["frame"], row["classifier"]) for row in told}
        assert listed == expected_rows(asked, rows), (asked.spec, rows)


def arrivals(rng, made):
    """Rows in any order, in micro-batches, each with a watermark that no later row is behind."""
    order = rng.sample(range(len(made)), len(made))
    size = rng.randrange(1, 6)
    pieces = [[made[i] for i in order[at : at + size]] for at in range(0, len(made), size)]
    for number, piece in enumerate(pieces):
        later = [row[1] for rest in pieces[number + 1 :] for row in rest]
        yield piece, min(later, default=14) - 1
    for late in (16, 20, 40):
        yield [], late


@pytest.mark.parametrize("seed", range(part(60)))
def test_a_stream_has_at_each_watermark_the_matches_that_are_closed_by_then(monkeypatch, seed):
    rng = random.Random(seed)
    for _ in range(6):
        asked = question(rng)
        by_other_ways(monkeypatch, rng)
        rows = some_rows(rng)
        asked_for, made = query(asked, rows)
        operator, found = Grouped(asked_for), []
        for piece, now in arrivals(rng, made):
            operator.feed(piece)
            out = operator.release(now)
            found += [out] if out is not None else []
            seen = [row for row in rows if row["t"] <= now]
            told = [one for one in expected(asked, seen, now) if one[5]]
            assert got(found) == told, (asked.spec, rows, now)
            operator = operator.restarted()


@pytest.mark.parametrize("seed", range(part(40)))
def test_rows_of_a_stream_come_once_they_are_decided(seed):
    rng = random.Random(seed)
    for _ in range(6):
        asked = question(rng)
        if asked.spec.overlapping:
            continue
        rows = some_rows(rng)
        asked_for, made = query(asked, rows, numbered=True, payload=("k0", "t", "seq"))
        operator, listed = Grouped(asked_for), {}
        for piece, now in arrivals(rng, made):
            operator.feed(piece)
            out = operator.release(now)
            told = [] if out is None else out.to_pylist()
            assert not {row["seq"] for row in told} & set(listed)
            listed |= {row["seq"]: (row["frame"], row["classifier"]) for row in told}
            operator = operator.restarted()
        every = expected_rows(asked, rows, math.inf)
        assert listed.items() <= every.items(), (asked.spec, rows)
        if asked.options["within"] and asked.tree[-1][0] != "last":
            assert listed == every


@pytest.mark.parametrize("seed", range(part(60)))
def test_matches_given_early_are_those_of_the_rows_so_far(seed):
    rng = random.Random(seed)
    for _ in range(6):
        asked = question(rng)
        rows = some_rows(rng)
        if asked.spec.may_be_refuted:
            continue
        asked_for, made = query(asked, rows, early=0)
        operator, before = Grouped(asked_for), -1
        for piece, now in arrivals(rng, made):
            operator.feed(piece)
            out = operator.release(now)
            told = [] if out is None else [r for r in out.to_pylist() if not r["final"]]
            seen = [row for row in rows if row["t"] <= now]
            still_open = [one for one in expected(asked, seen, now) if not one[5]]
            touched = {row["k"] for row in seen if row["t"] > before}
            given = {(row["k0"], row["frame"], row["start"], row["rows"]) for row in told}
            first = {one[0]: one for one in sorted(still_open, reverse=True)}
            wanted = {(one[0], one[1], one[2], one[4]) for one in first.values()}
            assert given == {one for one in wanted if one[0] in touched}, (asked.spec, rows, now)
            before = now
            operator = operator.restarted()


@pytest.mark.parametrize("seed", range(part(24)))
def test_compiled_and_plain_python_find_the_same(seed):
    rng = random.Random(seed)
    with without_waiting(both=True):
        for _ in range(10):
            asked = question(rng)
            rows = some_rows(rng)
            by_key = [row for mine in keyed(rows).values() for row in mine]
            assert got(batch(asked, by_key)) == expected(asked, rows, now_of(asked))


@pytest.mark.parametrize(
    ("said", "holds"),
    {
        "a.n is null": True, "a.n is not null": False, "coalesce(a.n, 7) = 7": True,
        "a.n <=> null": True, "greatest(a.n, 3) = 3": True, "a.n > 1 or n = 1": True,
        "(a.n > 1) is true": False, "not ((a.n > 1) is true)": True, "a.n > 1": False,
        "a.n in (1, 2)": False, "nvl(a.n, 0) = 0": True,
        "ifnull(a.n, 7) = 0": False, "last(a.n is null)": False, "abs(a.n) is null": True,
    }.items(),
)  # fmt: skip
def test_a_column_of_a_variable_without_rows_is_null(said, holds):
    tree = ("seq", ("many", ("row", "a"), 0, 1, False), ("row", "b"))
    asked = ask(tree, {"a": Said("n > 5", None), "b": Said(said, None)})
    rows = [{"k": "p", "t": 0, "seq": 0, "n": 1, "v": 1.0, "s": "x"}]
    assert bool(got(batch(asked, rows))) is holds


def test_functions_that_make_something_of_null_are_not_called_on_a_variable():
    for said in ("nvl2(a.n, 1, 0) = 0", "if(a.n > 1, true, true)", "isnull(a.n)"):
        with pytest.raises(FanlightError, match="of a variable, which may have no row"):
            ask(("seq", ("row", "a"), ("row", "b")), {"b": Said(said, None)})


# Regular expressions: rows that are letters, and variables that each are one of them.
LETTERS = "abc"
IS = {name: Said(f"s = '{name}'", lambda rows, at, s=name: rows[at[-1][0]]["s"] == s)
      for name in LETTERS}  # fmt: skip


def expression(rng, depth=0):
    """A regular expression, as a pattern; rounds without rows end a repetition in both."""
    how = rng.randrange(10 if depth < 4 else 3)
    if how < 3:
        return ("row", rng.choice(LETTERS))
    if how < 6:
        least = rng.choice((0, 0, 1, 2))
        most = rng.choice((None, max(least, 1), least + 2))
        return ("many", expression(rng, depth + 1), least, most, rng.random() < 0.4)
    kind = "seq" if how < 8 else "or"
    return (kind, *(expression(rng, depth + 1) for _ in range(rng.randrange(2, 4))))


def as_expression(tree):
    kind, *rest = tree
    if kind == "row":
        return rest[0]
    if kind == "many":
        _, least, most, reluctant = rest
        return (
            f"(?:{as_expression(rest[0])}){{{least},{'' if most is None else most}}}"
            + "?" * reluctant
        )
    return f"(?:{('|' if kind == 'or' else '').join(map(as_expression, rest))})"


def lettered(text):
    return [
        {"k": "p", "t": at, "seq": at, "n": at, "v": 1.0, "s": letter}
        for at, letter in enumerate(text)
    ]


def spans(asked, text):
    found = got(batch(asked, lettered(text)))
    return [(start, start + rows) for _, _, start, _, rows, *_ in found]


@pytest.mark.parametrize("seed", range(part(80)))
def test_patterns_of_letters_are_regular_expressions(seed):
    rng, seen = random.Random(seed), 0
    while seen < 40:
        tree = expression(rng)
        compiled = re.compile(as_expression(tree))
        if compiled.match(""):
            continue  # it needs no row
        names = set(re.findall("[abc]", as_expression(tree)))
        asked = ask(tree, {name: IS[name] for name in names})
        text = "".join(rng.choices("abc", (3, 2, 1), k=rng.randrange(4, 20)))
        told = [found.span() for found in compiled.finditer(text)]
        assert spans(asked, text) == told, (as_expression(tree), text)
        seen += 1


A, B, C = (("row", name) for name in LETTERS)


def many(part_, least=0, most=None, *, reluctant=False):
    return ("many", part_, least, most, reluctant)


def seq(*parts):
    return ("seq", *parts)


ENDLESS = [
    seq(many(many(A)), B),
    seq(many(many(A, 1), 1), B),
    seq(many(("or", A, A)), B),
    seq(many(("or", A, C, seq(A, C))), B),
    seq(many(seq(many(A, 0, 1), many(A, 0, 1))), B),
    seq(*(many(A, 0, 1) for _ in range(25)), *(A for _ in range(25)), B),
    seq(many(many(many(A, reluctant=True), reluctant=True), 1), B),
    seq(many(("or", seq(A, A), A)), many(A), many(A), B),
]


@pytest.mark.parametrize("tree", ENDLESS, ids=text_of)
def test_patterns_that_match_in_many_ways_try_each_row_once(tree):
    """Exponential or worse for a search that tries every way; no match is found to the end."""
    names = set(re.findall(r"\b[abc]\b", text_of(tree)))
    asked = ask(tree, {name: IS[name] for name in names})
    length = 3_000
    with without_waiting(both=False):
        assert spans(asked, "a" * length) == []
        assert spans(asked, "a" * length + "b")[-1][1] == length + 1


@pytest.mark.parametrize("tree", ENDLESS, ids=text_of)
def test_running_definitions_end_with_a_match_or_a_refusal(tree):
    said = {"a": "s = 'a' and count(a.*) > 0", "b": "s = 'b' and count(*) > 1", "c": "s = 'c'"}
    names = set(re.findall(r"\b[abc]\b", text_of(tree)))
    asked = ask(tree, {name: Said(said[name], None) for name in names})
    for text in ("a" * 60, "a" * 60 + "b"):
        try:
            with without_waiting(both=False):
                found = spans(asked, text)
        except FanlightError as error:
            if "tries from one row" not in str(error):
                raise
        else:
            assert found == ([(0, 61)] if "b" in text else [])


def test_rows_that_are_computed_together_look_back_across_their_ends():
    asked = ask(A, {"a": Said("prev(s, 3) = 'b' and s < prev(s)", None)})
    text = "".join(random.Random(1).choices("abc", k=3 * kernels.BLOCK))
    found = [at for at in range(3, len(text)) if text[at - 3] == "b" and text[at] < text[at - 1]]
    with without_waiting(both=True):
        assert spans(asked, text) == [(at, at + 1) for at in found]


def test_after_the_first_row_of_a_match_the_next_one_begins_at_its_second():
    tree = many(("or", A, B), 3, 3)
    for after, told in (
        ("first a", [(0, 3), (1, 4), (2, 5)]),
        ("last a", [(0, 3), (2, 5)]),
        ("next row", [(0, 3), (1, 4), (2, 5)]),
    ):
        asked = ask(tree, {name: IS[name] for name in "ab"}, after=after)
        assert spans(asked, "ababa") == told


@pytest.mark.parametrize(
    ("said", "rows_of_match"),
    [
        ("sum(a.n) is not null", 1),
        ("sum(a.n) is null or count(a.n) = 1", 4),
        ("avg(a.n) is not null", 1),
    ],
)
def test_a_sum_that_64_bits_do_not_hold_is_null(said, rows_of_match):
    """And stays null, whatever follows; the count of its values does not change."""
    large = 9 * 10**18
    rows = [
        {"k": "p", "t": at, "seq": at, "n": n, "v": 1.0, "s": "x"}
        for at, n in enumerate([large, large, -large, 5])
    ]
    asked = ask(("many", ("row", "a"), 1, None, False), {"a": Said(said, None)})
    assert got(batch(asked, rows))[0][4] == rows_of_match
