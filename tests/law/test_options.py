"""Every option with every kind of windows, every last method and every other option.

The cells are those of the tables of kinds and options. Each works, and then its answer is the one
that the option's sentence makes of the answer without it; or it is refused, with the reason that
stands in the table. A new option is a row of ``MEANINGS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.options import METHODS as METHODS_OF_TABLE
from fanlight.engine.kinds.options import find_option, list_options
from fanlight.engine.spark.options import ASKED
from fanlight.engine.spark.over import _OPENED as WINDOWS
from fanlight.engine.spec.errors import MissingError
from tests.helpers import streams
from tests.helpers.events import MINUTE
from tests.helpers.public import METHODS

POINTS, EVENTS = {"time": "ts", "by": "k"}, {"time": ("ts", "stop"), "by": "k"}
LEVELS = fl.MultiGranular(["2 minutes", "6 minutes"], ["2 minutes", "2 minutes"])
OPENED = {
    "sliding": (fl.Sliding("4 minutes", "2 minutes"), POINTS),
    "several": ([fl.Sliding(f"{n} minutes", "2 minutes") for n in (4, 6)], POINTS),
    "calendar": (fl.Calendar("1 hour", zone="Asia/Kathmandu"), POINTS),
    "cumulative": (fl.Cumulative("8 minutes", "2 minutes"), POINTS),
    "levels": (LEVELS, POINTS),
    "events": (fl.Sliding("4 minutes", "2 minutes"), EVENTS),
    "levels of events": (LEVELS, EVENTS),
    "frames": (fl.ThresholdFrame("v > 1"), POINTS),
    "sessions": (fl.Session("3 minutes"), POINTS),
    "snapshots": (fl.Snapshot(), EVENTS),
    "trailing": (fl.Trailing("4 minutes"), POINTS),
    "widening": (fl.ProgressiveWidening("2 minutes", max_duration="8 minutes", max_rows=9), POINTS),
}  # fmt: skip
ROWS = [
    (k, minute, v, f"{k}{minute}")
    for k, minutes in (("a", (1, 3, 4, 5, 11, 12, 31)), ("b", (6, 7)), ("c", (20,)))
    for minute, v in zip(minutes, (0.0, 2.0, 3.0, 2.0, 5.0, 0.0, 4.0), strict=False)
]
# What each last method is asked; what it gives begins with the columns that tell rows apart.
LAST = {
    "agg": lambda windows: windows.agg(count=agg.count()),
    "wide": lambda windows: windows.wide(count=agg.count()),
    "fit": lambda windows: windows.fit("v"),
    "reversals": lambda windows: windows.reversals("v"),
    "recurring": lambda windows: windows.recurring("v"),
    "bursts": lambda windows: windows.bursts(1.01, count=agg.count()),
    "pieces": lambda windows: windows.pieces(count=agg.count()),
    "frames": lambda windows: windows.frames(),
    "rows": lambda windows: windows.rows(),
    "split": lambda windows: windows.split("2 minutes", count=agg.count()),
    "accumulate": lambda windows: windows.accumulate("2 minutes", count=agg.count()),
    "repair": lambda windows: windows.repair(
        windows._bound.df, type(windows)(windows._bound).frames()
    ),
    "attach": lambda windows: windows.attach(count=agg.count()),
    "detect": lambda windows: windows.detect(fl.Episode("up; up", event="state")),
}


def same(_, plain, found):
    assert found == plain


def with_those_between(name, plain, found):
    """Windows with rows stay as they are; the others are 0, and lie between two of their key."""
    if name == "wide":
        assert {one[:2] for one in plain} <= {one[:2] for one in found}
        return
    assert set(plain) <= set(found)
    for one in set(found) - set(plain):
        own = [row[1] for row in plain if row[0] == one[0]]
        assert one[-1] == 0
        assert min(own) < one[1] < max(own)


def that_began_later(name, plain, found):
    """Windows that began at or after the first row of their key."""
    first = {k: min(m for key, m, *_ in ROWS if key == k) for k, *_ in ROWS}
    if name == "wide":
        assert {one[:2] for one in found} <= {one[:2] for one in plain}
        return
    began = [one for one in plain if one[1].start.timestamp() >= 60 * first[one[0]]]
    if name in ("bursts", "reversals"):  # a coarser window that is compared began later, too
        assert set(found) <= set(began)
    else:
        assert found == began


def the_final_ones(_, plain, found):
    assert sorted(one for one in found if one) == plain


@dataclass(frozen=True)
class Meaning:
    """What an option makes of an answer: its arguments in a batch and in a stream, and its check.

    ``arguments`` may be a function of the rows. None: it is not for a batch, or not for a stream.
    """

    check: Callable[[str, list[Any], list[Any]], None]
    batch: Any
    stream: Any


def other(df):
    return {"other": df, "time": "ts"}


def spine(df):
    return {"spine": df, "time": "ts"}


BEGAN = "1970-01-01T00:04:00Z"
MEANINGS = {
    "running": Meaning(same, {"id": "id", "as_of": "1970-01-02T00:00:00Z"}, {"id": "id"}),
    "postpone": Meaning(same, {"wait": "1 minute"}, {"wait": "1 minute"}),
    "early": Meaning(the_final_ones, None, {"every": None}),
    "with_empty": Meaning(with_those_between, {"values": "zero"}, {"values": "zero", "most": 2}),
    "complete_only": Meaning(that_began_later, {"side": "start"}, {"since": BEGAN}),
    "fill": Meaning(same, other, lambda df: {**other(df), "max_duration": "1 hour"}),
    "at": Meaning(same, spine, spine),
}  # fmt: skip


ENDED = [*ROWS, *((k, 10**6, 0.0, f"{k}, at its end") for k in "abc")]  # also all frames
END = [("~", 2 * 10**6, 0.0, "~")]  # ends all windows
PARTS = (ROWS[:2] + ROWS[7:], ROWS[2:7], ENDED[len(ROWS) :], END)  # micro-batches of a stream


def rows_of(spark, rows=ROWS):
    made = spark.createDataFrame(rows, "k string, minute long, v double, id string")
    return made.selectExpr(
        "k", f"timestamp_micros(minute * {MINUTE}) as ts", "v", "id",
        f"timestamp_micros(minute * {MINUTE}) as start",
        f"timestamp_micros((minute + 3) * {MINUTE}) as stop", "if(v > 1, 'up', 'down') as state",
    )  # fmt: skip


def arriving(spark, folder, name):
    """The rows as a stream, and one that ends it."""
    last = OPENED[name][1]["time"]
    column = last[-1] if isinstance(last, tuple) else last
    parts = [rows_of(spark, rows) for rows in PARTS]
    return streams.stream_of(spark, folder, parts, "40 minutes", column)


def stream_of(spark):
    rows = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    return rows.selectExpr(
        "string(value % 2) as k", "timestamp as stop", "timestamp - interval 3 minutes as start",
        "timestamp as ts", "double(value) as v", "string(value) as id", "string(value) as state",
    )  # fmt: skip


def opened(name, df, **more):
    spec, place = OPENED[name]
    if df.isStreaming and isinstance(place["time"], tuple):
        place = {**place, "time": ("start", "stop")}
    return fl.over(df, spec, **place, **more)


def with_option(windows, verb, arguments):
    given = arguments(windows._bound.df) if callable(arguments) else arguments
    return getattr(windows, verb)(**given)


def family_of(name):
    spec, _ = OPENED[name]
    kind = kind_of(spec[0] if isinstance(spec, list) else spec)
    return kind.family


def windows_of(name):
    """The class of windows."""
    return WINDOWS[family_of(name), isinstance(OPENED[name][1]["time"], tuple)][0]


def is_of(option, name):
    """Whether windows have the option."""
    lasting = isinstance(OPENED[name][1]["time"], tuple)
    return family_of(name) in option.families and (lasting or not option.lasting)


def sorted_rows(df):
    return sorted(map(tuple, df.collect()), key=repr)


def without_the_end(df):
    """The rows of all keys but the one that ends a stream, to twelve digits."""
    if "final" in df.columns:
        df = df.where("final").drop("final")
    rows = [tuple(rounded(value) for value in row) for row in df.collect()]
    return sorted((row for row in rows if "~" not in row), key=repr)


def rounded(value):
    return float(f"{value:.12g}") if isinstance(value, float) else value


def test_every_option_has_a_meaning_and_every_last_method_is_asked():
    assert [*MEANINGS] == [option.verb for option in list_options()]
    assert {*METHODS_OF_TABLE} == {*LAST, "explain", "rejected", "using"}
    verbs = {*MEANINGS, "explain", "rejected", "using"}
    assert {*LAST} == {name for names in METHODS.values() for name in names} - verbs


@pytest.mark.parametrize("verb", MEANINGS)
def test_windows_have_the_options_of_their_family(classic, verb):
    df = rows_of(classic)
    for name in OPENED:
        windows, option = opened(name, df), find_option(verb)
        if is_of(option, name):
            assert verb in METHODS[type(windows)]
        elif not hasattr(windows, verb):
            with pytest.raises(MissingError, match=verb):
                getattr(windows, verb)
        else:
            assert verb in ("with_empty", "complete_only"), "another class has it"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", MEANINGS)
@pytest.mark.parametrize("name", OPENED)
def test_each_last_method_gives_what_the_option_means_or_says_why_not(classic, name, verb):
    option, meaning, df = find_option(verb), MEANINGS[verb], rows_of(classic)
    if not is_of(option, name):
        return
    if meaning.batch is None:
        with pytest.raises(fl.FanlightError, match="is for streams"):
            with_option(opened(name, df), verb, meaning.stream)
        return
    windows = with_option(opened(name, df), verb, meaning.batch)
    seen = 0
    for last in sorted(METHODS[type(windows)] & LAST.keys()):
        if option.terminals is not None and last not in option.terminals:
            with pytest.raises(fl.FanlightError) as caught:
                LAST[last](windows)
            assert option.why in str(caught.value)
            continue
        without = refusal(lambda last=last: LAST[last](opened(name, df)))
        if without:  # whether with the option or without it
            assert refusal(lambda last=last: LAST[last](windows)) == without
            continue
        seen += 1
        if verb not in ("fill", "at"):  # whose answers the law asks
            plain = sorted_rows(LAST[last](opened(name, df)))
            meaning.check(last, plain, sorted_rows(LAST[last](windows)))
    assert seen


IN_SQL = [
    pytest.param(name, verb, id=f"{name}, {verb}")
    for name, verb in product(OPENED, MEANINGS)
    if is_of(find_option(verb), name) and "agg" in METHODS[windows_of(name)]
    if isinstance(MEANINGS[verb].batch, dict)
    if not isinstance(OPENED[name][0], list)  # a clause has one kind of windows
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "verb"), IN_SQL)
def test_words_of_sql_ask_the_same(classic, name, verb):
    (spec, place), df, given = OPENED[name], rows_of(classic), {verb: MEANINGS[verb].batch}
    windows = with_option(opened(name, df), verb, given[verb]).agg(count=agg.count())
    shown = ", ".join(one for one in windows.columns if one != "count")
    clause = fl.clause(spec, **place, options=given)
    found = fl.sql(f"SELECT {shown}, count(*) AS count FROM df {clause}", df=df)
    assert sorted_rows(found) == sorted_rows(windows.select(found.columns))


@pytest.mark.parametrize("verb", MEANINGS)
def test_a_stream_takes_them_or_says_why_not(classic, verb):
    """A stream can be planned; what it answers is asked by one of the next tests."""
    option, meaning, df = find_option(verb), MEANINGS[verb], stream_of(classic)
    for name in OPENED:
        if not is_of(option, name):
            continue
        if name in NOT_IN_A_STREAM.get(verb, ()):
            assert refusal(lambda name=name: with_option(opened(name, df), verb, meaning.stream))
            continue
        windows = with_option(opened(name, df), verb, meaning.stream)
        for last in sorted(METHODS[type(windows)] & LAST.keys() - {"repair"}):
            if option.terminals is not None and last not in option.terminals:
                with pytest.raises(fl.FanlightError) as caught:
                    LAST[last](windows)
                assert option.why in str(caught.value)
                continue
            without = refusal(lambda last=last, name=name: LAST[last](opened(name, df)))
            found = refusal(lambda last=last, windows=windows: LAST[last](windows))
            assert found == without, (name, last)


NOT_IN_A_STREAM = {"running": ("snapshots",)}  # of which stops are not known


def cells():
    """Windows, an option of theirs, and a last method that it goes with."""
    for name, verb, last in product(OPENED, MEANINGS, sorted(LAST.keys() - {"repair"})):
        option = find_option(verb)
        goes = last in METHODS[windows_of(name)] and last in (option.terminals or LAST)
        if is_of(option, name) and name not in NOT_IN_A_STREAM.get(verb, ()) and goes:
            yield pytest.param(name, verb, last, id=f"{name}, {verb}, {last}")


@pytest.mark.streaming
@pytest.mark.sampled(17)
@pytest.mark.parametrize(("name", "verb", "last"), cells())
def test_a_stream_gives_what_a_batch_gives(classic, tmp_path, name, verb, last):
    meaning, batch = MEANINGS[verb], opened(name, rows_of(classic, [*ENDED, *END]))
    if verb != "early":
        batch = with_option(batch, verb, meaning.stream)
    stream = with_option(opened(name, arriving(classic, tmp_path, name)), verb, meaning.stream)
    if not refusal(lambda: LAST[last](stream)):  # or without the option, too
        found = without_the_end(streams.ended(LAST[last](stream), tmp_path))
        assert found == without_the_end(LAST[last](batch))


def refusal(call):
    """The first part of the error that a call raises, or an empty text."""
    try:
        call()
    except fl.FanlightError as error:
        return str(error).partition(";")[0]
    return ""


@pytest.mark.parametrize("kind", ["batch", "stream"])
@pytest.mark.parametrize("name", OPENED)
def test_two_options_go_together_or_the_table_says_why_not(classic, name, kind):
    df = rows_of(classic) if kind == "batch" else stream_of(classic)
    given = {
        verb: getattr(meaning, kind)
        for verb, meaning in MEANINGS.items()
        if is_of(find_option(verb), name)
        and getattr(meaning, kind) is not None
        and not (kind == "stream" and name in NOT_IN_A_STREAM.get(verb, ()))
    }
    for first, second in permutations(given, 2):
        windows = with_option(opened(name, df), first, given[first])
        why = find_option(first).excludes.get(second) or find_option(second).excludes.get(first)
        if why is None:
            with_option(windows, second, given[second])
            continue
        with pytest.raises(fl.FanlightError) as caught:
            with_option(windows, second, given[second])
        assert why in str(caught.value)
    for verb, arguments in given.items():
        once = with_option(opened(name, df), verb, arguments)
        with pytest.raises(fl.FanlightError, match="asked for twice"):
            with_option(once, verb, arguments)


SAID = {
    "late='open'": {"late": "open"}, "late='collect'": {"late": "collect"},
    "forget_after": {"forget_after": "2 hours"},
}  # fmt: skip


def test_what_is_said_of_over_goes_with_an_option_or_the_table_says_why_not(classic):
    assert SAID.keys() == ASKED.keys() - {"changes_only", "weights"}  # of levels, in their law
    df, seen = stream_of(classic), 0
    for name, (said, more), verb in product(OPENED, SAID.items(), MEANINGS):
        option = find_option(verb)
        if not is_of(option, name) or name in NOT_IN_A_STREAM.get(verb, ()):
            continue
        if refusal(lambda more=more, name=name: opened(name, df, **more)):
            continue  # frames are not open to late rows
        excluded = {**option.excludes, **option.excludes_in_stream}
        windows = opened(name, df, **more)
        if said not in excluded:
            with_it = refusal(
                lambda windows=windows, verb=verb: with_option(windows, verb, MEANINGS[verb].stream)
            )
            assert not with_it or verb == "early", with_it
            continue
        seen += 1
        with pytest.raises(fl.FanlightError) as caught:
            with_option(windows, verb, MEANINGS[verb].stream)
        assert excluded[said] in str(caught.value)
    assert seen > len(SAID)
