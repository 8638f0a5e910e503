"""Whole queries, drawn by Hypothesis: a spec of any kind, its rows, its aggregates, its setting.

Each is an ask of the law, so it runs as all others do, and the law's oracles know the answer.
"""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import fanlight as fl
from tests.fuzz import extreme
from tests.helpers import events, spans
from tests.helpers.aggregates import EACH, EXACT, OF_EVENTS, TIMELESS
from tests.helpers.dataframes import SCHEMA
from tests.helpers.events import MINUTE
from tests.helpers.frames import (
    AGGREGATES,
    BOUNDARIES,
    DELTAS,
    DWELLING,
    OVERLAPPING,
    OWN_GAP,
    SIZED,
    STATES,
    THRESHOLDS,
)
from tests.helpers.granular_cases import LINEAR, STEADY
from tests.helpers.names import NAMES
from tests.law.ask import Ask, Data, Setting
from tests.law.kinds import widening
from tests.law.kinds.sliding import STRATEGIES
from tests.law.kinds.spanning import NATIVE
from tests.law.registry import (
    ADAPTIVE,
    ANSI,
    CASE,
    CODE,
    ESCAPED,
    PARTITIONS,
    RESERVED,
    SETTINGS,
    ZONE,
)

CHAINED = ("chain", "chain")
HOW = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
UNITS = {"microseconds": 1, "seconds": 1_000_000, "minutes": MINUTE, "hours": 60 * MINUTE}
ZONES = ("America/New_York", "Europe/Athens", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC")
YEAR_1, YEAR_9999 = -62_135_596_800_000_000 + 90 * events.DAY, 253_370_764_800_000_000
NIGHTS = (  # in which clocks change, elsewhere: Athens, and half an hour on Lord Howe
    1_711_846_800_000_000, 1_729_990_800_000_000, 1_712_415_600_000_000, 1_728_142_200_000_000,
)  # fmt: skip
ORIGINS = (*events.ORIGINS, *NIGHTS, YEAR_1, YEAR_9999)
WIDEST = 40  # slides a window, at most
# Each with a session of its own: few, so that a long run does not make thousands.
ROOMS = (
    *SETTINGS,
    *(
        Setting(
            f"room {number}",
            (
                (ANSI, str(number % 2 == 0).lower()),
                (RESERVED, str(number % 4 == 0).lower()),
                (CASE, str(number % 3 == 0).lower()),
                (ESCAPED, str(number % 5 == 0).lower()),
                (ADAPTIVE, str(number % 3 != 1).lower()),
                (ZONE, ZONES[number % len(ZONES)]),
                (PARTITIONS, str(1 + number % 4)),
                *(CODE if number % 4 == 3 else ()),
            ),
        )
        for number in range(8)
    ),
)


def some(requests, most=4):
    """A few of the aggregates."""
    names = st.lists(st.sampled_from(sorted(requests)), min_size=1, max_size=most, unique=True)
    return names.map(lambda chosen: {name: requests[name] for name in chosen})


def framed(requests):
    """Frames have a column ``rows`` of their own."""
    return {"every" if name == "rows" else name: asked for name, asked in requests.items()}


@st.composite
def grids(draw, units=tuple(UNITS)):
    """Sliding windows over time; lengths that divide each other or not, any offset."""
    unit = draw(st.sampled_from(units))
    slide = draw(st.integers(1, 12))
    length = draw(st.integers(1, 3 * slide) | st.integers(1, WIDEST * slide))
    offset = draw(st.just(0) | st.integers(-100, 100))
    return fl.Sliding(f"{length} {unit}", f"{slide} {unit}", offset=f"{offset} {unit}")


@st.composite
def whole_grids(draw):
    slide = draw(st.integers(1, 12))
    return fl.Sliding(draw(st.integers(1, 60)), slide, offset=draw(st.integers(-9, 9)))


@st.composite
def row_grids(draw):
    length, slide = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    offset = draw(st.integers(0, 4))
    return fl.Sliding(fl.Rows(length), fl.Rows(slide), offset=offset)


def at_rows():
    """Windows that end at every row, or at every so many."""
    return st.builds(
        lambda n, every, offset: fl.Sliding(
            f"{n} minutes", fl.Rows(every), offset=offset if every > 1 else 0
        ),
        st.integers(1, 20), st.sampled_from((1, 1, 2, 5)), st.integers(-2, 3),
    )  # fmt: skip


def last_rows():
    return st.builds(
        lambda n, slide: fl.Sliding(fl.Rows(n), f"{slide} minutes"),
        st.integers(1, 9), st.integers(1, 12),
    )  # fmt: skip


@st.composite
def levels(draw):
    """Two to four levels, of a few minutes."""
    slide = length = 0
    lengths, slides = [], []
    for _ in range(draw(st.integers(2, 4))):
        slide += draw(st.integers(0 if slide else 1, 3))
        length = slide * draw(st.integers(length // slide + 1, length // slide + 4))
        lengths.append(f"{length} minutes")
        slides.append(f"{slide} minutes")
    offset = draw(st.sampled_from((None, "-25 seconds", "90 seconds")))
    how = draw(st.sampled_from(("", "", "continuous", "weights", "changes")))
    more = {
        "": {},
        "continuous": {"report": "continuous", "horizons": ["30 seconds"]},
        "weights": {"weights": [1, 0.5, 0.25, 0][: len(lengths)]},
        "changes": {"changes_only": True},
    }[how]
    return fl.MultiGranular(lengths, slides, offset=offset, **more)


def lists():
    return st.lists(grids(("minutes",)), min_size=2, max_size=3, unique_by=repr)


def sessions():
    """Also with a gap of each row's own."""
    gap = st.integers(1, 300).map(lambda n: f"{n} seconds") | st.just(OWN_GAP)
    longest = st.none() | st.integers(6, 30).map(lambda n: f"{n} minutes")
    return st.builds(fl.Session, gap, max_duration=longest, min_rows=st.integers(1, 3))


class Drawn(Data):
    """Rows that are there already, and are not kept for longer than their query."""

    @property
    def rows(self):
        return self.draw()


FRAMES = (*THRESHOLDS, *BOUNDARIES, *DELTAS, *AGGREGATES, *OVERLAPPING, *SIZED, *STATES, *DWELLING)


def frames():
    """Those of the law, and others by their parameters."""
    tenth = st.integers(1, 60).map(lambda n: n / 10)
    columns = st.sampled_from(("v", "n"))
    return st.one_of(
        st.sampled_from(FRAMES),
        st.builds(
            lambda name, by, how, crossing: fl.DeltaFrame(
                {name: by}, against=how, include_crossing=crossing
            ),
            columns, tenth, st.sampled_from(("range", "first")), st.booleans(),
        ),
        st.builds(
            lambda name, cells: fl.BoundaryFrame({name: cells}),
            columns, tenth | st.lists(tenth, min_size=1, max_size=4, unique=True).map(sorted),
        ),
    )  # fmt: skip


@st.composite
def rows_of(draw, spec, origins, *, lasting=False, most=12):
    """Two or three cases."""
    if lasting:
        case = spans.case(spec, origins=origins, most=most, longest=20)
    else:
        case = events.case(spec, origins=origins, most=most)
    cases = draw(st.lists(case, min_size=2, max_size=3))
    return [{"case": number, **row} for number, rows in enumerate(cases) for row in rows]


DRAWN = fl.Sliding("9 minutes", "3 minutes")  # where rows lie about, for specs of other kinds


@st.composite
def placed_points(draw, origins, *, streamed):
    """Sliding windows, levels or lists, over points: (kind, spec, time, rows, requests, ways)."""
    many = ("time", "time", "rows", "at rows", "last rows", "levels", "list")
    which = draw(st.sampled_from(many if streamed else (*many, "whole")))  # no watermark on numbers
    if which in ("levels", "list"):
        spec = draw(levels() if which == "levels" else lists())
        rows = draw(rows_of(DRAWN, origins))
        requests = EACH
        if which == "levels" and spec.weights is not None:
            requests = LINEAR
            rows = [row for row in rows if row["v"] is None or abs(row["v"]) < 1e6]
        elif which == "levels" and spec.changes_only:
            requests = STEADY
        ways = ("auto", "auto", "granules", "separate")
        return "levels", spec, "ts", rows, requests, ways
    spec = draw({"time": grids(), "whole": whole_grids(), "rows": row_grids(),
                 "at rows": at_rows(), "last rows": last_rows()}[which])  # fmt: skip
    rows = draw(rows_of(spec, origins))
    requests = EACH if which != "whole" else TIMELESS
    ways = dict.fromkeys(("at rows", "last rows"), ("auto", "expand"))
    return (
        "sliding", spec, "i" if which == "whole" else "ts", rows, requests,
        ways.get(which, (*STRATEGIES, "differential")),
    )  # fmt: skip


@st.composite
def placed_events(draw, origins):
    """Sliding windows, levels or lists, over events that last."""
    several = draw(st.booleans())
    if not several:
        spec = draw(grids(("seconds", "minutes")))
        rows = draw(rows_of(spec, origins, lasting=True))
        return "spanning", spec, ("began", "ts"), rows, OF_EVENTS, NATIVE
    spec = draw(levels().filter(lambda s: s.weights is None and not s.changes_only) | lists())
    rows = draw(rows_of(DRAWN, origins, lasting=True))
    return "several", spec, ("began", "ts"), rows, OF_EVENTS, (*NATIVE[:3], "auto", "separate")


@st.composite
def cut_by_rows(draw, origins):
    """Frames and sessions."""
    kind = draw(st.sampled_from(("frames", "frames", "sessions")))
    spec = draw(frames() if kind == "frames" else sessions())
    rows = draw(rows_of(DRAWN, origins))
    return kind, spec, "ts", rows, framed(EACH), ("auto", "auto", "arrow", "native")


@st.composite
def widened(draw, origins):
    spec = draw(st.sampled_from(widening.SPECS))
    cases = draw(st.lists(widening.case(draw(st.sampled_from(origins))), min_size=1, max_size=3))
    rows = [{**row, "case": number} for number, rows in enumerate(cases) for row in rows]
    return "widening", spec, "ts", rows, {}, ("auto",)


def anything(origins, *, streamed):
    """Any kind of windows."""
    many = [placed_points(origins, streamed=streamed), placed_events(origins), cut_by_rows(origins)]
    return st.one_of(*many, *many, widened(origins))


KEYS = st.sampled_from((("case", "k"), ("case", "k"), ("case",), ()))
# What the columns and results below are called no spec says in SQL text.
RENAMED = ("case", "k", "seq", "ts", "began")
TAKEN = {*SCHEMA.names, "window", "level", "query", "frame_id", "rows", "closed", "found_at"}
CALLED = [name for name in NAMES if name and name.lower() not in {*TAKEN, "what", "every", "at"}]


@st.composite
def names(draw, requests):
    """What columns and results are called: as data has it, or plainly.

    A result that shares its name with a column keeps it: the column would be renamed, too.
    """
    if draw(st.booleans()):
        return {}
    plain = (*RENAMED, *(name for name in requests if name not in SCHEMA.names))
    one = st.sampled_from(CALLED)
    called = draw(st.lists(one, min_size=len(plain), max_size=len(plain), unique_by=str.lower))
    return dict(zip(plain, called, strict=True))


@st.composite
def asked(draw, origins, *, streamed):
    """A query over rows, wherever they come from."""
    placed = draw(anything(origins, streamed=streamed))
    kind, spec, time, rows, requests, ways = placed
    setting = draw(st.sampled_from(ROOMS))
    strategy = draw(st.sampled_from((*ways, *CHAINED) if streamed and kind == "levels" else ways))
    by = draw(KEYS)
    if not by:  # one series of all cases would reach from one origin to another
        rows = [{**row, "k": None} for row in rows if row["case"] == 0]
    if strategy == "differential":
        requests = {name: asked for name, asked in EXACT.items() if name in requests}
    chosen = draw(some(requests)) if requests else {}
    if extreme.may_be(kind, spec, strategy) and draw(st.integers(0, 4)) == 0:
        rows, chosen = extreme.made(rows, setting, spec), draw(some(extreme.REQUESTS))
    action = "detect" if kind == "widening" else "agg"
    if kind in ("frames", "sessions"):
        action = draw(st.sampled_from(("agg", "agg", "agg", "frames", "rows")))
    if action != "agg":
        chosen = {}
    return Ask(
        kind, "drawn", spec, Drawn("drawn", lambda: rows), chosen, strategy, time, by=by,
        action=action, setting=setting, names=draw(names(chosen)),
    )  # fmt: skip


def batches():
    """A query over a batch."""
    return asked(ORIGINS, streamed=False)
