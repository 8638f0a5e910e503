"""The vocabulary of plans: strategies, lifts, roll-ups, and the ways that are made of them.

A way is how windows are computed. What it costs for a request, and why it may not fit, is in the
candidate made of it; how it runs in a batch and in a stream is registered beside it for Spark, in
:mod:`fanlight.engine.spark.way_runs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec

from fanlight.engine.spec.errors import MissingPackageError


@dataclass(frozen=True)
class Strategy:
    """A choice that ``using(...)`` takes by its name.

    ``exact``: partials are combined in Python, where sketches are exact counts. ``of_values``: it
    is for aggregates that read values; others beside them are planned as if nothing was asked for.
    """

    name: str
    exact: bool = False
    of_values: bool = False

    def __str__(self) -> str:
        return self.name


AUTO = Strategy("auto")  # the cheapest; also of candidates that cannot be asked for by a name
PANES, PAIRS = Strategy("panes"), Strategy("pairs")
EXPAND, DIFFERENTIAL = Strategy("expand"), Strategy("differential")
LIFETIMES, RANKS = Strategy("lifetimes", of_values=True), Strategy("ranks", of_values=True)
GRANULES, CHAIN = Strategy("granules"), Strategy("chain", exact=True)
SEPARATE = Strategy("separate")
LEVELS, CELLS = Strategy("levels"), Strategy("cells")
TUPLE_BUCKETS, AGGREGATE_BUCKETS = Strategy("tuple-buckets"), Strategy("aggregate-buckets")
CUMULATIVE, SELECTIVE = Strategy("cumulative-sweeping"), Strategy("selective-sweeping")
SE_SLICING, SE_ML_SLICING = Strategy("se-slicing"), Strategy("se-ml-slicing")
NATIVE, ARROW = Strategy("native"), Strategy("arrow")
CHUNKS = Strategy("chunks")
PAGES = Strategy("pages")


class Own(Enum):
    """Which results Spark's own aggregates give."""

    NONE = "none: all are lowered from partials"
    VALUES = "those that would take value counts"
    ALL = "all"


@dataclass(frozen=True)
class Lift:
    """What rows become before they are rolled up.

    ``own`` says which results are already those of Spark's own aggregates then; ``digests`` that
    results have been read off value counts.
    """

    name: str
    own: Own = Own.NONE
    digests: bool = False


PARTIALS = Lift("partials")  # one a slice
COUNTS = Lift("counts")  # of each value of a slice
ROWS = Lift("rows")  # as they are
VALUES = Lift("values", digests=True)  # in order, or as events that last
RESULTS = Lift("results", Own.VALUES)  # of windows that share no row
SPARK_WINDOWS = Lift("windows", Own.ALL)  # Spark's own windows
ENTRIES = Lift("entries")  # where an event enters, and leaves
IN_CELLS = Lift("cells")  # the events of the same windows combined
PLACED = Lift("frames")  # rows with the number of their frame


@dataclass(frozen=True)
class Rollup:
    """How pieces become windows.

    ``words`` say so in ``explain()``. ``shuffled``: by a shuffle of its own. ``short``: a window
    that has few slices is rolled up so. ``in_operator``: by a stateful operator, in Python.
    """

    name: str
    words: str = ""
    shuffled: bool = True
    short: bool = False
    in_operator: bool = False

    def __str__(self) -> str:
        return self.name


NOTHING = Rollup("", "each window is one slice", shuffled=False, short=True)
SCAN = Rollup("scan", "each window combines all of its slices (formula 3.1)", short=True)
DIFFERENCE = Rollup(
    "difference",
    "each window is a running total at its end less the one at its start (formula 3.2)",
)

SO_FAR = Rollup("so far", "each window is the one before it and a slice")


def _stacked(of: str) -> str:
    return (
        f"each window is the end of one run of {of}s and the beginning of the next, computed once "
        f"for all windows (two stacks): constant work a {of}, however long a window is"
    )


TWO_STACKS = Rollup("two stacks", _stacked("slice"))
COPIES = Rollup("copies", "the partial of each slice is copied to the windows that it is in")
DAY_COPIES = Rollup("day copies", "the partial of each day is copied to the windows that it is in")
ROW_COPIES = Rollup(
    "expand", "each row is copied into each of its windows (formula 3.3)", shuffled=False
)
RUNNING_SUM = Rollup(
    "running sum",
    "each value lasts from slice to slice, and a running sum counts those that begin and end",
)
PASS = Rollup(
    "pass", "one pass over the rows in order, each of which enters and leaves a tree of counts"
)
OPERATOR = Rollup(
    "operator",
    "a stateful operator puts rows in order, counts and combines them",
    in_operator=True,
)
DYADIC, DYADIC_RUNS = Rollup("dyadic"), Rollup("dyadic runs")
ONE_PASS, RUNNING_COUNT, BY_LEVEL = (
    Rollup("one pass"),
    Rollup("running count"),
    Rollup("by level", in_operator=True),
)


@dataclass(frozen=True, eq=False)
class Way:
    """How windows are computed, whatever it costs; equal only to itself.

    ``words`` tell it in ``explain()`` where those of its roll-up are not enough: ``{what}`` stands
    for the name of the queries, ``{each}`` for "and" with that name, if there are several.
    ``uncut`` is what ``explain()`` says instead of a cut, and ``sliced`` that the cut is shown for
    events, too; ``tall`` with the height of a pyramid. ``copied``: each row is copied into its
    windows, so no slice is shared. ``one_by_one``: each query is asked for by itself.
    ``compiled``: rows of a batch go through compiled loops in Python workers.
    """

    lift: Lift
    rollup: Rollup
    words: str = ""
    uncut: str = ""
    sliced: bool = False
    tall: bool = False
    copied: bool = False
    one_by_one: bool = False
    compiled: bool = False

    @property
    def in_python(self) -> bool:
        """Whether rows go through Python workers."""
        return self.compiled or self.rollup.in_operator

    @property
    def how(self) -> str:
        """How it works, in words."""
        return self.words or self.rollup.words


_EVERY_ROW = "none: rows end windows, so no two rows share a slice"

UNFIT = Way(ROWS, NOTHING)  # of a candidate that is there to say why it cannot be used

# Points: one kind of windows.
SLICES = Way(PARTIALS, NOTHING)
SCANNED = Way(PARTIALS, SCAN)
ACCUMULATED = Way(PARTIALS, SO_FAR)
STACKED = Way(PARTIALS, TWO_STACKS)
SUBTRACTED = Way(PARTIALS, DIFFERENCE)
SLICE_COPIES = Way(PARTIALS, COPIES)
DAYS_COPIED = Way(PARTIALS, DAY_COPIES)
COUNT_COPIES = Way(COUNTS, COPIES)
SPARK_AGGREGATES = Way(RESULTS, NOTHING)
EXPANDED = Way(ROWS, ROW_COPIES, copied=True)
SPARK_OWN = Way(
    SPARK_WINDOWS, ROW_COPIES, copied=True,
    words="by Spark's own plan: each row is copied into each of its windows (formula 3.3)",
)  # fmt: skip
VALUE_LIFETIMES = Way(
    VALUES, RUNNING_SUM,
    uncut="slices of distinct values; a value lasts from one to the next",
)  # fmt: skip
RANKED = Way(VALUES, PASS, uncut="none: rows enter and leave windows one by one", compiled=True)
# A window at every row, and windows counted in rows of a stream.
EVERY_ROW_SCANNED = Way(ROWS, SCAN, uncut=_EVERY_ROW)
EVERY_ROW_STACKED = Way(ROWS, TWO_STACKS, _stacked("row"), uncut=_EVERY_ROW)
EVERY_ROW_SUBTRACTED = Way(ROWS, DIFFERENCE, uncut=_EVERY_ROW)
ROWS_IN_OPERATOR = Way(ROWS, OPERATOR, uncut=_EVERY_ROW)
OPEN_IN_OPERATOR = Way(
    ROWS, OPERATOR,
    "a stateful operator keeps the pieces of open windows, and gives each window that has changed",
)  # fmt: skip
# Several kinds of windows over the same rows.
_SHARED = "each {what} is made of these or of a finer one's"
SHARED_SLICES = Way(PARTIALS, NOTHING, _SHARED)
SHARED_COUNTS = Way(COUNTS, NOTHING, _SHARED)
LIFETIMES_OF_ALL = Way(
    VALUES,
    RUNNING_SUM,
    "each value lasts from slice to slice, and a running sum counts them for all in one pass",
)
RANKED_FOR_EACH = Way(
    VALUES, PASS, "one pass over the rows in order for each {what}, whose values are ranked once",
    compiled=True,
)  # fmt: skip
STAIRWISE = Way(
    PARTIALS, OPERATOR,
    "they go through the stairwise chain of core and buffer nodes, in one stateful operator",
)  # fmt: skip
ONE_BY_ONE = Way(
    PARTIALS,
    NOTHING,
    "each {what} is computed by itself; the source is read once for each",
    one_by_one=True,
)
# Events that last.
_CELLS_FIRST = "events of the same windows are combined first, then "
ENTRY_RUNS = Way(
    ENTRIES, DYADIC_RUNS,
    "each event{each} makes two entries; then one pass along the dyadic intervals of each order",
)  # fmt: skip
ENTRY_DYADICS = Way(
    ENTRIES,
    DYADIC,
    "each event{each} makes two entries, which are pushed down dyadic intervals to their windows",
)
ENTRY_SUMS = Way(
    ENTRIES, RUNNING_SUM,
    "each event{each} is added where it begins and taken back where it is over; then one running "
    "sum along the windows",
)  # fmt: skip
ENTRIES_IN_OPERATOR = Way(
    ROWS, OPERATOR, "each event makes two entries, which a Python operator turns into windows"
)
CELL_RUNS = Way(
    IN_CELLS, DYADIC_RUNS, f"{_CELLS_FIRST}one pass along the dyadic intervals of each order"
)
CELL_DYADICS = Way(IN_CELLS, DYADIC, f"{_CELLS_FIRST}pushed down dyadic intervals to their windows")
CELL_COPIES = Way(IN_CELLS, COPIES, f"{_CELLS_FIRST}copied into each of these")
EVENT_COPIES = Way(ROWS, NOTHING, "each event is copied into each of its windows")
CELL_EVENTS = Way(
    IN_CELLS, COPIES,
    "events are kept until their first window has ended, then copied into each of their windows",
)  # fmt: skip
EVENTS_IN_PANES = Way(
    IN_CELLS, SCAN,
    "events are cut at the edges of panes, and their parts are added up to panes, panes to windows",
)  # fmt: skip
EVENTS_AT_ONCE = Way(
    IN_CELLS, SCAN,
    "starts and stops in order say how many events are running, and each window takes the most of "
    "its panes",
)  # fmt: skip
EVENTS_UNITED = Way(
    IN_CELLS, SCAN,
    "events in order of their starts leave out what earlier ones have, and are cut at the edges of "
    "panes, which are added up to windows",
)  # fmt: skip
EVENTS_KEPT = Way(ROWS, OPERATOR, "each event is kept in each of its windows")
SWEPT = Way(ROWS, OPERATOR, "events enter and leave counters in order of their ends")
SWEPT_BY_HEAP = Way(
    ROWS,
    OPERATOR,
    "the events that have begun are kept in a heap, with the least or greatest on top",
)
SE_SLICED = Way(
    ROWS, OPERATOR, "each slice keeps what ends in it apart from what goes on", sliced=True
)
SE_ML_SLICED = Way(
    ROWS, OPERATOR, "slices on several levels, so that a long event enters few of them",
    sliced=True, tall=True,
)  # fmt: skip
EVENTS_ONE_BY_ONE = Way(ROWS, NOTHING, "each {what} is computed by itself", one_by_one=True)
# Frames, and progressive widening.
FRAMES_IN_A_PASS = Way(PLACED, ONE_PASS, compiled=True)
FRAMES_IN_CHUNKS = Way(
    PLACED, ONE_PASS,
    "rows are divided by ranges of key and time, each range is cut by a compiled loop, and frames "
    "that go on from one range to the next are joined",
    compiled=True,
)  # fmt: skip
FRAMES_IN_OPERATOR = Way(PLACED, OPERATOR)
FRAMES_COMPARED = Way(PLACED, RUNNING_COUNT)
SEARCHED_PAGES = Way(ROWS, BY_LEVEL)
# Trailing windows.
LOOKED_BACK = Way(ROWS, TWO_STACKS, compiled=True)
FOLDED = Way(ROWS, SCAN)
LOOKED_BACK_IN_CHUNKS = Way(
    ROWS, TWO_STACKS,
    "time is cut into chunks, each row is copied into the next one where windows there may hold it,"
    " and the rows of a key and chunk are read once, by a compiled loop",
    compiled=True,
)  # fmt: skip
LOOKED_BACK_IN_OPERATOR = Way(ROWS, OPERATOR)


PACKAGE = "numba"
INSTALL = "pip install 'fanlight[kernels]'"
# Without it Spark starts the first python3 of the PATH, also beside a driver of another Python.
SAME_PYTHON = 'os.environ["PYSPARK_PYTHON"] = sys.executable'


def has_compiler() -> bool:
    """Whether numba could be imported; it is not."""
    return find_spec(PACKAGE) is not None


def check_compiler(what: str) -> None:
    """Refuse ``what``, a plural that only Python workers compute, where numba is missing."""
    if not has_compiler():
        raise MissingPackageError(
            f"{what} need {PACKAGE}, which is not installed here; write: {INSTALL}"
        )
