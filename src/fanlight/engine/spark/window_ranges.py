"""An event's windows as a range of numbers, and that range as steps, entries, or dyadic intervals.

An event is in all windows from ``from_window`` to ``to_window``. What has an exact inverse is added
where it begins and taken back where it is over (:func:`sum_steps`). For all else two facts help:

- **Entries.** Let ``power`` be the highest bit in which the two numbers differ. Then the range is
  the end of one dyadic interval of ``2**power`` windows and the beginning of the next. So an entry
  at each of its ends is enough: a window has the entries before it in a left interval (where the
  bit is 0) and those after it in a right one (where it is 1). That is two insertions whatever the
  duration; each event is once in each of its windows, and nothing is subtracted.
- **Dyadic intervals.** The same range is a sum of dyadic intervals, at most two of each order
  (``power``). A stream cannot scan along its windows, since its state has no order of windows, but
  it can push such intervals down to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fanlight.engine.algebra.sql_text import struct
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import HIGHEST, bits, next_existing, window_end, window_starts
from fanlight.engine.spark.fields import Field, combine_sql
from fanlight.engine.spark.lift import EVERY_ROW
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.rollup import total_type, widen_for_sum
from fanlight.engine.spark.sql import group_rows, over_clause, types_in

_SHORT = ("tinyint", "smallint", "int")  # their sums have room in 64 bits


def power(a: str = "from_window", b: str = "to_window") -> str:
    """SQL: the highest bit in which ``a`` and ``b`` differ; -1 where they are equal."""
    steps = [f"when {a} ^ {b} < {2**bit}L then {bit - 1}" for bit in range(HIGHEST + 1)]
    return f"case {' '.join(steps)} else {HIGHEST} end"


def _spacing(grids: Sequence[Grid]) -> int:
    """How far apart packed entries of neighbouring windows are: room for a power, and a query.

    It is at least the distance of the windows in time: Spark's hash map spreads such numbers better
    than small, consecutive ones.
    """
    return max(min(grid.slide for grid in grids), 64 << bits(len(grids)))


def pack_entry(grids: Sequence[Grid], power: str, window: str, query: int = 0) -> str:
    """SQL: an entry as one number, by which Spark groups faster than by two."""
    place = f"({power} + 1)"
    if len(grids) > 1:
        place = f"({place} * {1 << bits(len(grids))} + {query})"
    return f"({window} * {_spacing(grids)}L + {place})"


def unpack_entry(grids: Sequence[Grid], entry: str) -> tuple[str, str, str]:
    """SQL: query, power and window of a packed entry."""
    apart, among = _spacing(grids), 1 << bits(len(grids))
    place = f"({entry} % {apart}L)"
    return (
        f"cast({place} % {among}L as int)",
        f"cast({place} div {among}L as int) - 1",
        f"({entry} div {apart}L)",
    )


def pack_step(grids: Sequence[Grid], window: str, query: int, *, begins: bool) -> str:
    """SQL: a step as one number: where an event ``begins`` to be in windows, or is over."""
    return f"({window} * {_spacing(grids)}L + {2 * query + (not begins)}L)"


def unpack_step(grids: Sequence[Grid], step: str) -> tuple[str, str]:
    """SQL: query and window of a packed step."""
    apart = _spacing(grids)
    return f"cast({step} % {apart}L div 2L as int)", f"({step} div {apart}L)"


_RIGHT = "(power < 0 or (shiftright(number, power) & 1L) = 0L)"


def is_left_of_middle() -> str:
    """SQL: whether an entry (``power``, ``number``) is in a left interval: it reaches rightward."""
    return _RIGHT


def interval_of_entry() -> str:
    """SQL: the number of an entry's dyadic interval among those of its power."""
    return "if(power < 0, number, shiftright(number, power))"


def dyadics_of_range() -> str:
    """SQL: the dyadic intervals (``power``, ``dyadic``) of a range of windows.

    Such an interval begins at window ``dyadic * 2**power``, and ends where the next one begins.
    """
    middle = "shiftleft(shiftright(to_window, power), power)"
    left, right = f"({middle} - from_window)", f"(to_window + 1L - {middle})"
    both = f"concat({_suffix('from_window', left)}, {_prefix(middle, right)})"
    return f"if(power < 0, {_single('from_window')}, {both})"


def dyadics_of_entry() -> str:
    """SQL: the dyadic intervals that an entry (``power``, ``number``) reaches."""
    end = "shiftleft(shiftright(number, power) + 1L, power)"
    begin = "shiftleft(shiftright(number, power), power)"
    reached = f"if({_RIGHT}, {_suffix('number', f'({end} - number)')}, "
    reached += f"{_prefix(begin, f'(number + 1L - {begin})')})"
    return f"if(power < 0, {_single('number')}, {reached})"


def _single(window: str) -> str:
    return f"array(named_struct('power', 0, 'dyadic', {window}))"


def _suffix(start: str, length: str) -> str:
    """``length`` windows from ``start`` to the end of an interval: small ones first."""
    low = f"({length} & (shiftleft(1L, j) - 1L))"
    return _setbits(length, f"shiftright({start} + {low}, j)")


def _prefix(start: str, length: str) -> str:
    """``length`` windows from the beginning of an interval: large ones first."""
    high = f"shiftleft(shiftright(shiftright({length}, j), 1), 1)"
    return _setbits(length, f"shiftright({start}, j) + {high}")


def _setbits(length: str, number: str) -> str:
    bits = f"filter(sequence(0, power), j -> (shiftright({length}, j) & 1L) = 1L)"
    return f"transform({bits}, j -> named_struct('power', j, 'dyadic', {number}))"


def first_of_dyadic() -> str:
    """SQL: the first window of a dyadic interval."""
    return "shiftleft(dyadic, power)"


def windows_of_dyadic() -> str:
    """SQL: the windows of a dyadic interval."""
    return f"explode(sequence({first_of_dyadic()}, shiftleft(dyadic + 1L, power) - 1L))"


def copy_runs(entered: Relation, which: Sequence[str]) -> Relation:
    """Copy the entries of a batch (place: ``which``, ``power``, ``number``) to their windows.

        power      |---- left ----|---- right ---|     from_window left, to_window right
        entries          e1   e2      e3     e4
        partials         [1] [1+2  ][3+4][4    ]        running from both outer ends to the middle

    Within an interval the running partial changes only at an entry, so each run of windows between
    two entries is one row; then each window combines one row of each power. Nothing is subtracted.
    """
    keys, names = [*entered.keys, *which], entered.names
    way = f"if({is_left_of_middle()}, 1L, -1L)"
    # One shuffle by key serves all that follows.
    together = entered.df.repartition(*keys) if keys else entered.df
    placed = together.selectExpr("*", f"{interval_of_entry()} as dyadic", f"{way} as way")
    placed = placed.selectExpr("*", "number * way as place")
    along, types = over_clause([*keys, "power", "dyadic"], "place"), entered.types()
    running = [f"{combine_sql(f, types[f.name], along)} as {f.name}" for f in entered.fields]
    between = placed.selectExpr(
        *keys, "power", "dyadic", "way", "place", f"lead(place) {along} as ahead", *running
    )
    edge = "if(way > 0, shiftleft(dyadic + 1L, power) - 1L, -shiftleft(dyadic, power))"
    upto = f"coalesce(ahead - 1L, if(power < 0, place, {edge}))"
    spread = between.selectExpr(*keys, "way", f"explode(sequence(place, {upto})) as here", *names)
    windows = spread.selectExpr(*keys, "here * way as number", *names)
    return entered.with_df(windows, *which, "number")


def sum_steps(
    grids: Sequence[Grid], steps: Relation, fields: Sequence[Field], which: Sequence[str]
) -> Relation:
    """Windows (place: ``which``, ``number``) of a batch from the steps of events (place: ``step``).

        events      |===e1===|            in windows 2, 3, 4
                         |===e2===|       in windows 4, 5
        number      2    4   5    6
        begun       1    1
        over                 1    1
        running     1    2   1    0       a window has what has begun less what is over

    Exact types only. Totals are decimals in which those of all rows of a key have room.
    """
    own, keys = [*steps.keys, "step"], [*steps.keys, *which]
    parts = steps.df.selectExpr(
        *steps.keys, "step - step % 2L as step", "step % 2L = 0L as begins", *steps.parts
    )
    # How many rows there are, and how many have a value: a sum of none is null.
    every = next((f.name for f in fields if f.monoid == EVERY_ROW), "running")
    seen = {f.value: f.name for f in fields if f.monoid.counts}
    values = dict.fromkeys(f.value for f in fields if f.value not in seen)
    more = {value: f"n{n}" for n, value in enumerate(values)}
    seen |= more
    if every == "running":
        more["true"] = every
    kinds, lifts = types_in(parts), []
    for side, test in (("begun", "begins"), ("over", "not begins")):
        lifts += [
            (f"{side}_{name}", f"count(if({test}, {value}, null))") for value, name in more.items()
        ]
        lifts += [
            (f"{side}_{f.name}", f.monoid.lift(f"if({test}, {f.value}, null)")) for f in fields
        ]
    summed = group_rows(parts, own, lifts)
    query, number = unpack_step(grids, "step")
    texts = [f"{query} as query"] if which else []
    # One shuffle by key serves all that follows.
    together = summed.repartition(*steps.keys) if steps.keys else summed
    placed = together.selectExpr(
        *steps.keys, *texts, f"{number} as number", *(name for name, _ in lifts)
    )
    along = over_clause(keys, "number", "rows between unbounded preceding and current row")
    types = types_in(summed)
    running = [_running_net(name, "", along) for name in more.values()]
    for field in fields:
        has_room = field.monoid.counts or kinds[field.value] in _SHORT
        wide = "" if has_room else types[f"begun_{field.name}"]
        running.append(_running_net(field.name, wide, along))
    ahead = f"lead(number) {over_clause(keys, 'number')} as ahead"
    totals = placed.selectExpr(*keys, "number", ahead, *running).filter(f"{every} > 0")
    results = [
        f.name if f.monoid.counts else f"if({seen[f.value]} > 0, {f.name}, null) as {f.name}"
        for f in fields
    ]
    spread = totals.selectExpr(*keys, "explode(sequence(number, ahead - 1L)) as number", *results)
    return Relation.of_partials(spread, steps.keys, [*which, "number"], fields)


def _running_net(name: str, kind: str, along: str) -> str:
    """SQL: what has begun less what is over, so far; through decimals if a ``kind`` is given."""
    begun, over = f"begun_{name}", f"over_{name}"
    if not kind:
        return f"sum(coalesce({begun}, 0L) - coalesce({over}, 0L)) {along} as {name}"
    wide = total_type(kind)
    totals = (f"coalesce(sum(cast({one} as {wide})) {along}, 0)" for one in (begun, over))
    begun, over = (widen_for_sum(one, wide) for one in totals)
    return f"cast({begun} - {over} as {kind}) as {name}"


def copy_to_dyadics(parts: Relation, which: Sequence[str]) -> Relation:
    """Copy entries, or ranges of windows with their power, to their dyadic intervals."""
    dyadics = dyadics_of_entry() if "number" in parts.place else dyadics_of_range()
    return parts.with_places(*which, f"inline({dyadics})", place=[*which, "power", "dyadic"])


def push_to_windows(dyadics: Relation, which: Sequence[str]) -> Relation:
    """Copy dyadic intervals to their windows: place ``which`` and ``number``."""
    return dyadics.with_places(*which, f"{windows_of_dyadic()} as number", place=[*which, "number"])


More = Callable[[str, int, str], Mapping[str, str]]


def copy_pieces(
    bound: Placed, pieces: Relation, last: str, more: More | None = None, *, ahead: int = 0
) -> Relation:
    """Copy each piece to each of its windows: place ``query`` (of several) and ``start``.

    ``last`` is the piece's last coordinate. ``ahead`` adds the first window that begins after it.
    ``more`` gives further columns of a copy, as SQL, for a window's start, the number of its query,
    and its end. They are in the place of the copies, and so are the columns of the piece's own.
    """
    if not bound.query_columns and more is None:
        starts = f"explode({window_starts(bound.grid, last)}) as start"
        return pieces.with_places(starts, place=["start"])
    arrays, names = [], ["query", "start"]
    for number, grid in enumerate(bound.grids):
        each = window_starts(grid, last)
        if grid.has_gaps:
            each = f"filter({each}, w -> {last} < {window_end(grid, 'w')})"
        if ahead:
            each = f"concat({each}, array({next_existing(grid, f'element_at({each}, -1)')}))"
        made = {"query": str(number), "start": "w"}
        made |= more("w", number, f"({window_end(grid, 'w')})") if more else {}
        names = list(made)
        arrays.append(f"transform({each}, w -> {struct(made.items())})")
    windows = arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"
    own = pieces.place if more else ()
    return pieces.with_places(*own, f"inline({windows})", place=[*own, *names])
