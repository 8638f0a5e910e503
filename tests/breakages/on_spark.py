"""Breakages that only a run on Spark sees, by a few asks of the law each."""

from __future__ import annotations

from tests.breakages.breakage import within

LAW = "tests/law/test_law.py"
BATCH = "not stream and not connect and not sample"


def law(words):
    """Asks of the law, picked by words in their names."""
    return LAW, "-k", f"{words} and {BATCH}"


def streams(words):
    """The same of streams."""
    return LAW, "-k", f"{words} and split and not connect"


PANES = law("sliding and panes")
PAIRS = law("sliding and pairs")
EXPAND = law("sliding and expand")
EVERY = law("sliding and aggregate and panes")
BACK = law("sliding and taken")
LEVELS = law("levels and granules")
CHANGES = law("levels and changes")
AGING = law("levels and aging")
RECURRING = law("levels and recurring")
ENDING = streams("levels and recurring and continuous")
CELLS = law("spanning and cells and few")
MARKS = law("spanning and levels and few")
NATIVE = law("frames and native and natively")
LIMITS = (LAW, "-k", "sliding and limits and beyond and sample and panes and not split")
IN_PYTHON = (LAW, "-k", "spanning and limits and beyond and slicing")
GAPS = law("sessions and native")

cuts = within("spark/cuts.py", *PAIRS)
lift = within("spark/lift.py", *EVERY)
lifetimes = within("spark/placed/lifetimes.py", *law("sliding and distinct and lifetimes and 9"))
native_windows = within("spark/placed/native.py", "tests/spark/test_native_windows.py")
infinite = within("algebra/lowering.py", *law("sliding and infinite and panes"))
ranked = within("spark/ordered/ranked.py", *law("sliding and order and ranks and 9"))
rollup = within("spark/rollup.py", *PANES)
numbers = within("spark/numbers.py", *CELLS)
events = within("spark/placed/events.py", *MARKS)
dyadic = within("spark/placed/dyadic.py", *MARKS)
changes = within("spark/placed/changes.py", *CHANGES)
aging = within("spark/placed/aging.py", *AGING)
recurring = within("spark/placed/recurring.py", *RECURRING)
placed_stream = within("spark/placed/stream.py", *streams("sliding and panes and 9"))
native = within("spark/ordered/frame_native.py", *NATIVE)
points_plan = within("plan/placed.py", *streams("levels and continuous and auto"))
fingerprint = within("spark/fingerprint.py", "tests/spark/test_fingerprints.py")
fields = within("spark/fields.py", "tests/spark/test_fingerprints.py")
processor = within("spark/ordered/processor.py", *streams("frames and restarted"))
lowering = within("algebra/lowering.py", *law("sliding and shares and auto"))
quantiles = within("algebra/library/quantiles.py", *law("sliding and shares"))
totals = within("algebra/library/totals.py", *law("levels and nothing"))
source = within("spark/binding/source.py", "tests/spark/test_odd_values.py")

fill = within("spark/ordered/frame_fill.py", "tests/spark/test_frames_further.py")

exact = within("algebra/exact.py", *LIMITS)

BREAKAGES = (
    exact(
        "longs are added whole",
        "return Longs()",
        "return None",
        LAW,
        "-k",
        "sliding and limits and back and sample",
    ),
    exact(
        "decimals are added whole",
        "return Decimals(scale) if precision > 28 else None",
        "return None",
    ),
    exact(
        "a sum of 38 digits is refused",
        "{10 ** (38 - _DIGITS)}L, {found}",
        "{10 ** (37 - _DIGITS)}L, {found}",
    ),
    exact(
        "a mean is cut off where it should be rounded",
        "found = f\"concat(if({_below('total')}, '-', ''), {quotient}, 'E-{scale + _CHUNK}')\"",
        "found = f\"concat(if({_below('total')}, '-', ''), left({quotient}, 46), "
        "'E-{scale + 4}')\"",
    ),
    within("algebra/monoids.py", *IN_PYTHON)(
        "Python rounds decimals to 28 digits", "Context(prec=80)", "Context(prec=28)"
    ),
    within("algebra/library/distinct.py", *IN_PYTHON)(
        "what a legacy setting makes of the size of null is counted",
        "coalesce(array_size(",
        "coalesce(size(",
    ),
    within("spark/rollup.py", LAW, "-k", "sliding and limits and minutes and rows and not split")(
        "two stacks drop the last of 38 digits",
        "before, after = _room(before, kind), _room(after, kind)",
        "pass",
    ),
    cuts(
        "an instant where pairs meet is in the first",
        "({t} - if({into} >= {head}L, {into} - {head}L, {into}))",
        "({t} - if({into} > {head}L, {into} - {head}L, {into}))",
    ),
    cuts(
        "an instant at the end of a window is in it",
        "pmod({moved}, {grid.slide}L) < {grid.range}L",
        "pmod({moved}, {grid.slide}L) <= {grid.range}L",
        *law("sliding and auto and 1 and 4"),
    ),
    cuts(
        "an instant is in one window too many",
        'return f"({t} - {grid.range - 1}L + pmod',
        'return f"({t} - {grid.range - 1 + grid.slide}L + pmod',
        *EXPAND,
    ),
    cuts("windows are one slice too early", "{cut.span - 1}L)", "{cut.span}L)", *PANES),
    cuts(
        "granules end at the last of all edges",
        '_extreme("least", [',
        '_extreme("greatest", [',
        *streams("levels and every and granules"),
    ),
    lift(
        "rows that are counted twice count twice",
        'values += [f"if(column_number = 0, {v}, null) as {v}"',
        'values += [f"if(column_number >= 0, {v}, null) as {v}"',
        *law("sliding and together and panes"),
    ),
    lift(
        "counts of values are counted", 'texts = [("n", "sum(n)")]', 'texts = [("n", "count(n)")]'
    ),
    native_windows(
        "Spark's windows begin without the offset", "grid.offset % grid.slide", "0 % grid.slide"
    ),
    infinite(
        "a value's share of a distance is added to the other neighbour",
        "if(w.lo <=> w.hi, cast(w.lo as double), cast(w.lo as double) + ",
        "if(w.lo <=> w.hi, cast(w.lo as double), cast(w.hi as double) - ",
    ),
    lifetimes(
        "a value that is seen again counts twice",
        "{last_start(grid, 'before')} + {after}L <",
        "{last_start(grid, 'before')} - {after}L <",
    ),
    lifetimes(
        "a value lasts through a gap between windows",
        "after = 0 if grid.gaps else grid.slide",
        "after = grid.slide",
        *law("levels and distinct and 6 and 7 and seconds"),
    ),
    lifetimes("no value is a value", 'f"c{number} is not null"', '"true"'),
    lifetimes(
        "a window without a value is left out",
        '("there", _counted("true", 0, len(values)))',
        '("there", _counted("c0 is not null", 0, len(values)))',
    ),
    ranked("nulls have a rank", "if({column} is null, null,", "if(false, null,"),
    ranked(
        "another row of a key is its first", "row_number() {order} = 1", "row_number() {order} = 2"
    ),
    within("spark/placed/beside.py", *law("sliding and distinct and beside"))(
        "results of other parts are left out", "first({name}, true)", "first({name})"
    ),
    within("plan/apart.py", "tests/plan/test_apart.py")(
        "apart costs nothing in addition", "for plan in found) + joined", "for plan in found)"
    ),
    rollup(
        "a window with rows ends in a gap and is not filled in",
        'f"least(coalesce(ahead - 1L, slice + {span - 1}L), slice + {span - 1}L)"',
        'f"least(coalesce(ahead - 1L, slice), slice + {span - 1}L)"',
    ),
    rollup(
        "the runs of two stacks are too short",
        "-((upto - pmod(upto, {span}L)) div {span}L)",
        "-((upto - pmod(upto, {span // 2}L)) div {span // 2}L)",
        *law("sliding and many and panes"),
    ),
    rollup(
        "a window without a value has a sum",
        "if({seen} > 0, {left}, null)",
        "if({seen} >= 0, {left}, null)",
        *BACK,
    ),
    rollup(
        "what is a RANGE ago is taken back one slice late",
        'before = over(keys, "upto", f"range between unbounded preceding and {span}L',
        'before = over(keys, "upto", f"range between unbounded preceding and {span + 1}L',
        *BACK,
    ),
    rollup(
        "windows are reported at every slice",
        'f"pmod(upto - {cut.span - 1}L, {cut.step}L) = 0"',
        'f"pmod(upto - {cut.span - 1}L, {cut.step}L) >= 0"',
    ),
    numbers(
        "an event is in a window that ends where it begins",
        "grid.slide - grid.offset - grid.range, among)",
        "grid.slide - grid.offset - grid.range - 1, among)",
    ),
    events(
        "an event in one window has two marks",
        "if(from{n} >= to{n}, null, {right})",
        "if(from{n} > to{n}, null, {right})",
    ),
    dyadic(
        "a stretch of windows ends one late",
        "coalesce(ahead - 1L, if(power < 0, place, {edge}))",
        "coalesce(ahead, if(power < 0, place, {edge}))",
    ),
    changes(
        "a change after a gap is no change",
        "was is null or was <> start - {bound.slides} or not ({stays})",
        "was is null or not ({stays})",
    ),
    aging(
        "a finer level's rows weigh as a coarser one's",
        'return f"array({weights})[{ring(bound, place, end)}]"',
        'return f"array({weights})[greatest({ring(bound, place, end)}, 1)]"',
    ),
    aging(
        "rear bounds go by where windows start",
        "phase = (grid.offset + grid.range) % grid.slide",
        "phase = grid.offset % grid.slide",
        *ENDING,
    ),
    recurring(
        "an item of one level is recurring",
        'f"bits = {2**levels - 1}L"',
        'f"bits > 0L"',
    ),
    placed_stream(
        "a row is late when its slice ends",
        'first_end(bound.queries.deciding, "t")',
        'slice_end(cut, "t")',
        *streams("sliding and late and panes"),
    ),
    placed_stream(
        "events from before 1970 are late",
        'f"greatest({end}, {FIRST + bound.queries.place}L)"',
        'f"{end}"',
        *streams("sliding and late and open"),
    ),
    within("spark/windows/placed.py", *streams("late and levels and separate"))(
        "queries apart have rules of their own for late rows", "asked=bound.grids, ", ""
    ),
    native(
        "a native frame goes on where its cell has changed",
        "not (cell <=> lag(cell) {in_order})",
        "not (lag(cell) {in_order} is not null)",
    ),
    native(
        "a native frame that is too small is reported",
        "{rows} >= {scheme.min_rows} and",
        "{rows} >= 0 and",
    ),
    native(
        "native frames that are left out are counted",
        'selectExpr(*keys, again, "start"',
        'selectExpr(*keys, "frame", "start"',
    ),
    native(
        "a session ends where its gap ends, and not a moment later",
        "coalesce(t > max(following) {before}, true) as begins",
        "coalesce(t >= max(following) {before}, true) as begins",
        *GAPS,
    ),
    processor(
        "the state of a group is not kept",
        "self._variables[variable].updateValue((number,), (value,))",
        "pass",
    ),
    processor(
        "what is from before 1970 is released before the watermark moves",
        "if watermark > 0 else None",
        "if watermark >= 0 else None",
        *streams("sliding and late and rows"),
    ),
    fill(
        "the rows that fill frames have a second event time",
        "row.cast(unmarked(df.schema)) if df.isStreaming else row",
        "row",
    ),
    points_plan(
        "levels go through Python in a stream, and need RocksDB",
        "cost.FILL * work.groups + 2 * shared",
        "cost.FILL * work.groups - shared",
    ),
    fingerprint(
        "durations are told as they are written",
        "return spell(int(value.value))",
        "return value.text",
    ),
    fingerprint(
        "arguments of aggregates are told by their place",
        "texts.get(found[0], found[0])",
        "found[0]",
    ),
    fields(
        "fields are in the order in which aggregates are listed",
        "in sorted(bindings, key=_unnamed):",
        "in bindings:",
    ),
    lowering("a value at the share is no heavy hitter", ">= cast({total}", "> cast({total}"),
    quantiles(
        "a percentile of longs goes through doubles",
        'return Quantiles("cast({x} as bigint)", size, "bigint"), "q"',
        'return Quantiles("cast({x} as double)", size), "q"',
    ),
    totals(
        "a mean of rows that weigh nothing is divided by zero",
        '"cast({s} as double) / nullif({n}, 0)"',
        '"cast({s} as double) / {n}"',
    ),
    source(
        "names of fields stand in a type without quotes",
        "types = [type_text(column.dataType) for column in columns]",
        "types = [column.dataType.simpleString() for column in columns]",
    ),
)
