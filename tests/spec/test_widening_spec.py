"""What is asked for: durations that grow, and expressions that can be read."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

import fanlight as fl
from fanlight.engine.plan.candidate import plan_widening
from fanlight.engine.plan.explain import About, explain_widening
from fanlight.engine.plan.widening import bound_on_work, density_warning, levels_of

SECOND = 1_000_000


def widening(first="1 second", **more):
    return fl.ProgressiveWidening(first, **{"max_duration": "1 minute", "max_rows": 10, **more})


def test_durations_double_until_a_batch_is_as_long_as_the_longest_pattern():
    """Lemma 1 asks for a batch, not a window, as long as the longest pattern."""
    assert widening().durations == tuple(SECOND * 2**i for i in range(7))
    assert widening(max_duration="64 seconds").durations[-1] == 64 * SECOND
    assert widening(max_duration="65 seconds").durations[-1] == 128 * SECOND
    assert widening(max_duration="1 second").durations == (SECOND,)


def test_other_growth():
    assert widening(factor=10).durations == (SECOND, 10 * SECOND, 100 * SECOND)
    listed = fl.ProgressiveWidening(
        ["1 second", "20 seconds"], max_duration="15 seconds", max_rows=1
    )
    assert listed.durations == (SECOND, 20 * SECOND)
    assert fl.ProgressiveWidening(1, max_duration=5, max_rows=1).durations == (1, 2, 4, 8)


def test_equal_specs_are_equal_and_travel():
    one = widening(timedelta(seconds=1))
    assert one == widening() == pickle.loads(pickle.dumps(one))  # noqa: S301
    assert hash(one) == hash(widening())
    assert one != widening(factor=4)
    assert eval(repr(widening()), {"ProgressiveWidening": fl.ProgressiveWidening}) == one  # noqa: S307
    with pytest.raises(AttributeError, match="frozen"):
        one.max_rows = 5


BAD = [
    (lambda: widening(max_duration="1 millisecond"), "is below first="),
    (lambda: widening(factor=1), "factor=1"),
    (lambda: widening(factor=0.5), "factor=0.5"),
    (lambda: widening(factor=-2), "factor=-2"),
    (lambda: widening(factor=1.5), "not a whole number"),
    (lambda: widening(factor="2"), "factor='2'"),
    (lambda: widening(factor=True), "factor=True"),
    (lambda: widening(max_rows=0), "max_rows=0"),
    (lambda: widening(max_rows=-1), "max_rows=-1"),
    (lambda: widening(max_rows=1.5), "max_rows=1.5"),
    (lambda: widening(max_rows=None), "max_rows=None"),
    (lambda: widening("0 seconds"), "first='0 seconds'"),
    (lambda: widening("1 month"), "calendar"),
    (lambda: widening("soon"), "first='soon'"),
    (lambda: widening(5), "mixes"),
    (lambda: widening(fl.Rows(5)), "Rows(5)"),
    (lambda: widening(0.5, max_duration=5), "not a whole number"),
    (lambda: widening(["1 second", "3 seconds", "7 seconds"]), "multiple"),
    (lambda: widening(["1 second", "2 seconds"]), "Lemma 1"),
    (lambda: widening(["1 second"]), "Lemma 1"),
    (lambda: widening(["1 second", "1 second"]), "does not grow"),
    (lambda: widening(["2 minutes", "1 minute"]), "is below first="),
    (lambda: widening(["1 second", "1 minute"], factor=3), "with a list"),
    (lambda: widening([]), "first=[]"),
    (lambda: widening(max_duration="2000000 weeks"), "overflow"),
]


@pytest.mark.parametrize(("make", "named"), BAD, ids=[named for _, named in BAD])
def test_bad_specs_are_refused_when_made(make, named):
    with pytest.raises(fl.FanlightError) as caught:
        make()
    assert named in str(caught.value)
    assert ";" in str(caught.value)


WRONG = [
    ("", "no event"),
    (" ; ;\n", "no event"),
    ("accept fd", "has no = after it"),
    ("accept fd=", "value is missing"),
    ("accept =>", "value is missing"),
    ("accept |", "event's name is missing"),
    ("| accept", "event's name is missing"),
    ("accept fd=1 2", "'2' is not expected"),
    ("accept fd=x%", "'%' is not part of the notation"),
    ("accept 'open", "is not part of the notation"),
    ("a;" * 31, "more than 30"),
    ("a; not b", "which rows come, not which do not"),
    ("a; !b", "which rows come, not which do not"),
    ("a+; b", "no repetition; write the event as often"),
    ("a, b", "separated by ; and what may come in any order by |; write a; b"),
    ("a -> b", "write a; b"),
    ("a then b", "write a; b"),
    ("a and b", "write a | b"),
    ("a b", "write b=value, or for the next step a; b"),
    ("a;; b", "no event before this ;; leave the ; out"),
    ("; a", "no event before this ;"),
]


@pytest.mark.parametrize(("text", "why"), WRONG, ids=[text for text, _ in WRONG])
def test_expressions_that_cannot_be_read(text, why):
    with pytest.raises(fl.FanlightError) as caught:
        fl.Episode(text)
    assert why in str(caught.value)


def test_what_is_no_expression():
    with pytest.raises(fl.FanlightError, match="not an expression"):
        fl.Episode(5)


def test_an_episode_is_a_value():
    text = "accept fd=x => y\n dup fd=y |\n dup fd=0; 'two words' exe=\"z\""
    one = fl.Episode(text)
    assert one == pickle.loads(pickle.dumps(one)) != fl.Episode("accept")  # noqa: S301
    assert hash(one) == hash(fl.Episode(text))
    assert [len(step) for step in one.steps] == [1, 2, 1]
    assert one.events[-1].name == "two words"
    assert one.columns == ("event", "fd", "result", "exe")
    with pytest.raises(AttributeError, match="frozen"):
        one.text = "x"


def test_the_bound_of_theorem_2():
    levels = levels_of(fl.ProgressiveWidening(1, max_duration=2**40, max_rows=10))
    assert bound_on_work(levels, 10) <= 2 * 4 * 10
    assert bound_on_work(levels, 10, lambda rows: rows**2) <= 2 * (4 * 10) ** 2
    assert bound_on_work(levels, 10) == pytest.approx(20 + 40)


def page_of(spec, *, state="", rate=None):
    plan = plan_widening(levels_of(spec), spec.max_rows)
    about = About(spec, "ts", ("host",), bool(state), state)
    return explain_widening(spec, plan, about, density_warning(spec, rate, None))


def test_explain_names_levels_and_bounds():
    text = page_of(widening(), state="in RocksDB")
    assert "stream" in text
    assert text.count("second") > 7
    assert "Theorem 2" in text
    assert "warning" not in text
    assert "watermark" in text
    wide = fl.ProgressiveWidening(1, max_duration=64, max_rows=4, factor=8)
    text = page_of(wide)
    assert "at most 96 rows per key\n" in text
    assert [line.split()[-1] for line in text.splitlines() if " 128 " in line] == ["72"]
    assert density_warning(widening(), 1000, 1) is not None
    assert density_warning(widening(), 1000, 100) is None
    dense = page_of(widening(), rate=1000)
    assert "about 1,000 rows" in dense
