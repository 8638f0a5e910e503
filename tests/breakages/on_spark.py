"""Breakages that only a run on Spark sees, by a few asks of the law each."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code, InText

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

caused = seen_by("tests/spark/test_cause.py")
cuts = seen_by(*PAIRS)
recognized = seen_by("tests/spark/test_recognized_rows.py")
lift = seen_by(*EVERY)
lifetimes = seen_by(*law("sliding and distinct and lifetimes and 9"))
native_windows = seen_by("tests/spark/test_native_windows.py")
infinite = seen_by(*law("sliding and infinite and panes"))
ranked = seen_by(*law("sliding and order and ranks and 9"))
rollup = seen_by(*PANES)
numbers = seen_by(*CELLS)
marks = seen_by(*MARKS)
steps = seen_by(*law("spanning and exact and levels"))
changes = seen_by(*CHANGES)
aging = seen_by(*AGING)
recurring = seen_by(*RECURRING)
placed_stream = seen_by(*streams("sliding and panes and 9"))
native = seen_by(*NATIVE)
points_plan = seen_by(*streams("levels and continuous and auto"))
fingerprints = seen_by("tests/spark/test_fingerprints.py")
processor = seen_by(*streams("frames and restarted"))
lowering = seen_by(*law("sliding and shares and auto"))
quantiles = seen_by(*law("sliding and shares"))
totals = seen_by(*law("levels and nothing"))
source = seen_by("tests/spark/test_odd_values.py")
growing = seen_by(*law("calendar and growing and panes"))
growing_months = seen_by(*law("calendar and growing and month and panes"))
ends = seen_by(*law("calendar and ends and both"))
empty = seen_by("tests/spark/test_empty_windows.py")
complete = seen_by("tests/spark/test_complete_windows.py")
months_back = seen_by("tests/spark/test_calendar_years.py")
chunks = seen_by("tests/spark/test_frame_chunks.py")
copies = seen_by("tests/spark/test_trailing_chunks.py")
months_ago = seen_by(*law("trailing and calendar and arrow"))
parts_by_calendar = seen_by("tests/spark/test_split_by_calendar.py")
clock_is_set = seen_by("tests/spark/test_calendar.py")
pieces_by_calendar = seen_by("tests/spark/test_pieces.py")
early_by_calendar = seen_by("tests/spark/test_early.py")
by_rows = seen_by(*law("sliding and slid and expand"))
last_rows = seen_by(*law("sliding and last and rows and expand"))
collected = seen_by(*streams("sliding and collected"))

fill = seen_by("tests/spark/test_frames_further.py")

beats = seen_by("tests/spark/test_heartbeat.py")

some_rows = seen_by("tests/spark/test_where.py")

equality = seen_by("tests/spark/test_collations.py")
exact = seen_by(*LIMITS)
repaired = seen_by("tests/spark/test_repair.py")
cut_again = seen_by("tests/spark/test_repaired_frames.py")
running = seen_by("tests/spark/test_running_streams.py")
spark_aggregates = seen_by("tests/spark/test_handed.py")
translated = seen_by("tests/spark/test_translated.py")

BREAKAGES = (
    beats(
        "a filter that Spark understands is moved to before the watermark",
        "heartbeat",
        InText(" or spark_partition_id() < 0", ""),
    ),
    beats("beats do not lag", "heartbeat", InText("(timestamp) - ", "(timestamp) + ")),
    some_rows(
        "a row whose condition is null is one of those asked for",
        "_value_if",
        InText("if({where}, ", "if({where} is not false, "),
    ),
    some_rows(
        "Spark counts the rows of a window whatever the condition",
        "Partials.of_some_rows",
        Code("fill(self.native, **some) if skips_nulls else ''", "fill(self.native, **some)"),
    ),
    some_rows(
        "one condition is for all aggregates",
        "Fields.add_condition",
        Code("are_same(argument.written, given)", "argument.written"),
    ),
    some_rows(
        "a condition may vary, or have an aggregate where rows are aggregated before",
        "_name_condition",
        Code('df.filter(test).join(nothing, test, "left_semi")', "df.filter(test)"),
    ),
    exact(
        "longs are added whole",
        "split_sum_of",
        Code("Longs()", "None"),
        LAW,
        "-k",
        "sliding and limits and back and sample",
    ),
    exact(
        "decimals are added whole",
        "split_sum_of",
        Code("Decimals(scale) if precision > 28 else None", "None"),
    ),
    exact(
        "a sum of 38 digits is refused", "Decimals.sum_sql", Code("38 - _DIGITS", "37 - _DIGITS")
    ),
    exact(
        "a mean is cut off where it should be rounded",
        "mean_sql",
        Code(
            "f\"concat(if({_negative('total')}, '-', ''), {quotient}, 'E-{scale + _CHUNK}')\"",
            "f\"concat(if({_negative('total')}, '-', ''), left({quotient}, 46), 'E-{scale + 4}')\"",
        ),
    ),
    seen_by(*IN_PYTHON)(
        "Python rounds decimals to 28 digits",
        "monoids:_EXACT",
        Code("Context(prec=80)", "Context(prec=28)"),
    ),
    seen_by(*IN_PYTHON)(
        "what a legacy setting makes of the size of null is counted",
        "_make_distinct",
        InText("coalesce(array_size(", "coalesce(size("),
    ),
    seen_by(LAW, "-k", "sliding and limits and minutes and rows and not split")(
        "two stacks drop the last of 38 digits",
        "roll_up_by_two_stacks",
        Code("before, after = widen_for_sum(before, kind), widen_for_sum(after, kind)", "pass"),
    ),
    cuts("an instant where pairs meet is in the first", "slice_start", InText(" >= ", " > ")),
    cuts(
        "an instant at the end of a window is in it",
        "has_window",
        InText(" < ", " <= "),
        *law("sliding and auto and 1 and 4"),
    ),
    cuts(
        "an instant is in one window too many",
        "first_start",
        Code("grid.range - 1", "grid.range - 1 + grid.slide", nth=2),
        *law("sliding and every and strategy and rows and 4 and expand"),
    ),
    cuts(
        "windows are one slice too early",
        "start_of_run",
        Code("cut.span - 1", "cut.span"),
        *PANES,
    ),
    cuts(
        "granules end at the last of all edges",
        "slice_end",
        InText("least", "greatest"),
        *streams("levels and every and granules"),
    ),
    lift(
        "rows that are counted twice count twice",
        "copy_for_columns",
        InText("if(column_number = 0, ", "if(column_number >= 0, "),
        *law("sliding and together and panes"),
    ),
    lift("counts of values are counted", "Relation.combine", InText("sum(n)", "count(n)")),
    native_windows(
        "Spark's windows begin without the offset",
        "_window_of",
        Code("grid.offset % grid.slide", "0 % grid.slide"),
    ),
    infinite(
        "a value's share of a distance is added to the other neighbour",
        "quantile",
        InText("cast(w.lo as double) + ", "cast(w.hi as double) - "),
    ),
    lifetimes(
        "a value that is seen again counts twice",
        "_lifetime_ends",
        Code("next_start(grid, ended)", "previous_start(grid, ended)"),
    ),
    lifetimes(
        "a value lasts through a gap between windows",
        "_lifetime_ends",
        Code("not grid.has_gaps", "True"),
        *law("levels and distinct and 6 and 7 and seconds"),
    ),
    lifetimes(
        "no value is a value",
        "count_lasting_values",
        Code('f"c{number} is not null"', '"true"'),
    ),
    lifetimes(
        "a window without a value is left out",
        "count_lasting_values",
        InText("true", "c0 is not null"),
    ),
    ranked(
        "nulls have a rank",
        "ranked_values:read_windows",
        Code(
            'f"if({column} is null, null, dense_rank() {order} - 1) as r{n}"',
            'f"if(false, null, dense_rank() {order} - 1) as r{n}"',
        ),
    ),
    ranked(
        "another row of a key is its first", "ranked_values:read_windows", InText(" = 1 ", " = 2 ")
    ),
    seen_by(*law("sliding and distinct and beside"))(
        "results of other parts are left out", "put_beside", InText(", true)", ")")
    ),
    seen_by("tests/plan/test_apart.py")(
        "apart costs nothing in addition",
        "plan_in_parts",
        Code(
            "sum(plan.chosen.cost for plan in plans) + joined * len(parts)",
            "sum(plan.chosen.cost for plan in plans)",
        ),
    ),
    rollup(
        "a window with rows ends in a gap and is not filled in",
        "fill_gaps",
        Code(
            'f"least(coalesce(ahead - 1L, slice + {span - 1}L), slice + {span - 1}L)"',
            'f"least(coalesce(ahead - 1L, slice), slice + {span - 1}L)"',
        ),
    ),
    rollup(
        "the runs of two stacks are too short",
        "roll_up_by_two_stacks",
        Code(
            'f"-((upto - pmod(upto, {span}L)) div {span}L)"',
            'f"-((upto - pmod(upto, {span // 2}L)) div {span // 2}L)"',
        ),
        *law("sliding and many and 20 and panes and not limits"),
    ),
    rollup(
        "a window without a value has a sum",
        "roll_up_by_difference",
        InText(" > 0, ", " >= 0, "),
        *BACK,
    ),
    rollup(
        "what is a RANGE ago is taken back one slice late",
        "roll_up_by_difference",
        Code(
            'f"range between unbounded preceding and {span}L preceding"',
            'f"range between unbounded preceding and {span + 1}L preceding"',
        ),
        *BACK,
    ),
    rollup("windows are reported at every slice", "roll_up_cut", InText("L) = 0", "L) >= 0")),
    numbers(
        "an event is in a window that ends where it begins",
        "first_number",
        Code("grid.slide - grid.offset - grid.range", "grid.slide - grid.offset - grid.range - 1"),
    ),
    marks("an event in one window has two marks", "make_entries", InText(" >= to", " > to")),
    steps("an event is over one window late", "make_steps", InText(" + 1L)", " + 2L)")),
    marks(
        "a stretch of windows ends one late",
        "copy_runs",
        InText(
            "coalesce(ahead - 1L, if(power < 0, place, ", "coalesce(ahead, if(power < 0, place, "
        ),
    ),
    changes(
        "a change after a gap is no change",
        "keep_changed_rows",
        Code(
            'f"was is null or was <> {slide_ago} or not ({stays})"',
            'f"was is null or not ({stays})"',
        ),
        *law("levels and changes and weights"),
    ),
    aging(
        "a finer level's rows weigh as a coarser one's",
        "weight_of",
        Code(
            'f"array({weights})[{level_of_piece(bound, place, end)}]"',
            'f"array({weights})[greatest({level_of_piece(bound, place, end)}, 1)]"',
        ),
    ),
    aging(
        "rear bounds go by where windows start",
        "latest_start",
        Code("(grid.offset + grid.range) % grid.slide", "grid.offset % grid.slide"),
        *ENDING,
    ),
    recurring(
        "an item of one level is recurring",
        "find_recurring",
        Code('f"bits = {2**levels - 1}L"', 'f"bits > 0L"'),
    ),
    placed_stream(
        "a row is late when the watermark has passed its time",
        "Placed.late_after",
        Code('first_end(self.queries.deciding_grids, "t")', '"t"'),
        *streams("sliding and late and panes"),
    ),
    placed_stream(
        "times from before 1970 are late",
        "with_event_time",
        Code(
            'f"timestamp_micros(greatest({microseconds}, {_FIRST}L))"',
            'f"timestamp_micros({microseconds})"',
        ),
        *streams("sliding and late and open"),
    ),
    seen_by(*streams("late and levels and separate"))(
        "queries apart have rules of their own for late rows",
        "PlacedWindows._compute_one_by_one",
        Code("Queries((query,), asked=bound.grids)", "Queries((query,))"),
    ),
    native(
        "natively, rows of one time are ordered by the state that is carried",
        "_prepare",
        Code('f"o{name}" if name in rows.carried else name', "name"),
        "tests/spark/test_state_carry.py",
    ),
    native(
        "a native frame goes on where its cell has changed",
        "_find_runs",
        Code(
            'f"cell is not null and not (cell <=> lag(cell) {in_order})"',
            'f"cell is not null and not (lag(cell) {in_order} is not null)"',
        ),
        *law("frames and natively and boundaryframe"),
    ),
    native(
        "a native frame that is too small is reported",
        "frame_native:_is_large_enough",
        Code(
            'f"{rows} >= {scheme.min_rows} and {length} >= {scheme.min_duration}L"',
            'f"{rows} >= 0 and {length} >= {scheme.min_duration}L"',
        ),
        *law("frames and natively and min_rows"),
    ),
    native(
        "native frames that are left out are counted",
        "drop_small_frames",
        Code(
            'framed.selectExpr(*keys, again, "start", "ending", "rows", "closed", *names)',
            'framed.selectExpr(*keys, "frame", "start", "ending", "rows", "closed", *names)',
        ),
    ),
    native(
        "a session ends where its gap ends, and not a moment later",
        "_find_runs",
        InText("coalesce(t > max(", "coalesce(t >= max("),
        *GAPS,
    ),
    recognized(
        "running measures are of all rows of a match",
        "RowsOfMatch._over",
        Code("final", "True"),
    ),
    recognized(
        "the rows of a variable before its last one are counted from the first",
        "RowsOfMatch.place",
        InText("get(reverse(collect_list(", "get((collect_list("),
    ),
    caused(
        "a frame that reaches its greatest duration is said to be ended by its scheme",
        "FrameBound.cause",
        InText("ending = start + ", "ending = start - "),
    ),
    caused(
        "a frame that is open yet is said to be forgotten",
        "FrameBound.cause",
        Code('f"if({FINAL}, {given_up}, null)"', "given_up"),
    ),
    caused(
        "what each row says of its gap is not known where Spark groups the rows",
        "ordered.frames:_group_in_spark",
        Code("*bound.place_columns", "'t'"),
    ),
    processor(
        "the state of a group is not kept",
        "GroupProcessor.put",
        Code("self._variables[variable].updateValue((number,), (value,))", "pass"),
    ),
    processor(
        "what is from before 1970 is released before the watermark moves",
        "GroupRun._watermark",
        Code("milliseconds > 0", "milliseconds >= 0"),
        *streams("sliding and late and rows"),
    ),
    fill(
        "the rows that fill frames have a second event time",
        "_select_other",
        Code("row.cast(without_event_time(df.schema)) if df.isStreaming else row", "row"),
    ),
    fill(
        "what a frame has of its own is that of any row",
        "_aggregate",
        Code(
            'f"{fields.add_argument(kept)} as kept"',
            'f"if(t is null, null, {fields.add_argument(kept)}) as kept"',
        ),
    ),
    points_plan(
        "levels go through Python in a stream, and need RocksDB",
        "points:chain",
        Code("2 * together", "-3 * together"),
        *streams("levels and continuous and horizons and auto and not recurring"),
    ),
    collected(
        "a late row misses windows that end elsewhere",
        "_missed_windows",
        Code('shown_bounds(query.grid, "s")', 'shown_bounds(query.grid, "s + 1L")'),
    ),
    collected(
        "an event is late once the watermark has passed its last instant",
        "Lasting.late_after",
        Code("first_event_end(self.queries.deciding_grids)", '"last_at"'),
        *streams("spanning and late and events"),
    ),
    fingerprints(
        "durations are told as they are written",
        "_extent",
        Code("write_duration(int(value.value))", "value.text"),
    ),
    fingerprints(
        "arguments of aggregates are told by their place",
        "fingerprint",
        Code("texts.get(match[0], match[0])", "match[0]"),
    ),
    fingerprints(
        "fields are in the order in which aggregates are listed",
        "build_fields",
        Code("sorted(bindings, key=_label_without_name)", "bindings"),
    ),
    lowering("a value at the share is no heavy hitter", "reaches", InText(">= ", "> ")),
    quantiles(
        "a percentile of longs goes through doubles",
        "_sketch_for",
        Code(
            'Quantiles("cast({x} as bigint)", size, "bigint")',
            'Quantiles("cast({x} as double)", size)',
        ),
    ),
    totals(
        "a mean of rows that weigh nothing is divided by zero",
        "_avg_partials",
        InText("cast({s} as double) / nullif({n}, 0)", "cast({s} as double) / {n}"),
    ),
    source(
        "names of fields stand in a type without quotes",
        "bind_calls",
        Code("type_text(column.dataType)", "column.dataType.simpleString()"),
    ),
    seen_by("tests/spark/test_trailing.py")(
        "of windows by labels all columns are those of the first",
        "SelectRun._render_item",
        Code("self.source.render(at, end, replacements)", "self.source.render(at, end, first)"),
    ),
    equality(
        "keys are equal by their bytes", "spark.lift:select_rows", Code("bound.normal_forms", "{}")
    ),
    equality(
        "values that Python compares are equal by their bytes",
        "_fill_value",
        Code("list(kinds)", "[]"),
    ),
    repaired(
        "the first windows with a late row lack what is stored of them",
        "reach",
        Code("first_start(grid, t)", "last_start(grid, t)"),
    ),
    repaired(
        "windows without a late row are given",
        "roll_up_late",
        InText(" is not null", " is not null or true"),
    ),
    repaired(
        "what is stored of a key that is null is left out of a repair",
        "_pieces_near",
        InText(" <=> ", " = "),
    ),
    repaired(
        "what a late row reaches in a second block of time is left out",
        "_pieces_near",
        Code(
            "[block_of_reach(bound.grids, one) for one in ends]",
            "[block_of_reach(bound.grids, one) for one in ends[:1]]",
        ),
    ),
    cut_again(
        "frames that are gone are not said to be",
        "frame_repair:_compare",
        InText("after is null", "false"),
    ),
    cut_again(
        "frames that late rows do not change are given, too",
        "frame_repair:_compare",
        InText("not (", "true or not ("),
    ),
    cut_again(
        "frames are cut again from behind the late row",
        "_starts",
        InText("begin <= ", "begin > "),
    ),
    growing(
        "a row is in the cumulative windows of the next size, too",
        "last_start",
        Code("grid.range if begins else grid.slide", "grid.slide"),
    ),
    growing(
        "a cumulative window begins with its last step",
        "first_place",
        Code(
            "after_edge(last, grid.offset, grid.range)", "after_edge(last, grid.offset, grid.slide)"
        ),
    ),
    growing_months(
        "months begin a month late",
        "_month_edge",
        Code(
            "month_of(_day_of(t, months.a_day), months.day)",
            'f"({month_of(_day_of(t, months.a_day), months.day)} + 1L)"',
        ),
    ),
    chunks(
        "frames of two chunks are joined whatever they are of",
        "frame_chunks:_number",
        InText("cell is not null and cell <=> lag(cell) ", "cell is not null or '' = lag(cell) "),
    ),
    chunks(
        "frames of two chunks are joined however far they are apart",
        "frame_chunks:_number",
        Code("gap is None", "True"),
    ),
    chunks(
        "a chunk forgets the frames of a key that has none open at its end",
        "FrameChunks.results",
        Code("many if highest is None else highest + 1", "0 if highest is None else highest + 1"),
    ),
    chunks(
        "a frame that a chunk left open ends with its last row",
        "frame_chunks:_join",
        Code('"(closed or following is not null) as closed"', '"closed"'),
    ),
    chunks(
        "the key with which a chunk ends is taken for another",
        "_are_of",
        Code("codes == 0", "codes > 0"),
    ),
    copies(
        "a window sees the rows of its chunk alone",
        "copy_into_chunks",
        InText("sequence(own, last)", "array(own)"),
    ),
    copies(
        "a copy is a result, too",
        "Trailer._which_ask",
        Code("return ~flags(rows[COPIED]) if self.query.copied else None", "return None"),
    ),
    copies(
        "the time furthest from the others says how long chunks are",
        "_find_width",
        InText("[4] * ", "[8] * "),
    ),
    months_ago(
        "a month back is as long as this one",
        "months_before",
        Code("_lesser(first, first_day(month - count + 1) - 1)", "first"),
    ),
    months_ago(
        "a window by the calendar begins at its first row, whatever its ends",
        "Trailer._find_ranges",
        Code("since + horizon.opened", "since"),
    ),
    parts_by_calendar(
        "what a clock skips begins as if it did not",
        "LocalClock.instant",
        Code(
            "np.maximum(local - self._offsets[which], begins[which])",
            "local - self._offsets[which]",
        ),
    ),
    parts_by_calendar(
        "a day that a clock shows twice begins twice",
        "LocalSteps.number",
        Code("range(1, unit.repeated + 1)", "range(1, 1)"),
    ),
    clock_is_set(
        "a month that has no 31st begins with the next",
        "spark.calendars:first_day",
        InText("least(", "greatest("),
    ),
    clock_is_set(
        "windows that a clock skips are given",
        "Placed.keep_existing",
        Code("not any(asked)", "True"),
    ),
    clock_is_set(
        "an event that stops as a clock is set is in what is skipped",
        "unit_before",
        Code("of.calendar is None or not of.calendar.together", "True"),
    ),
    months_back(
        "a day that a month lacks is the first of the next",
        "_last_end",
        InText("least(", "greatest("),
    ),
    months_back(
        "windows of months by days are those before the last",
        "last_start",
        Code("_last_end(months, t)", 'f"({_last_end(months, t)} - 1L)"'),
    ),
    pieces_by_calendar(
        "pieces that a calendar cuts are taken for whole",
        "PieceTable.refuse_cut",
        InText("raise_error(", "coalesce({start}, "),
    ),
    early_by_calendar(
        "a row is late when the number of a unit is passed",
        "as_instant",
        Code("coordinate.calendar is not None", "False"),
    ),
    ends(
        "a window is shown to end where the next coordinate is",
        "shown_bounds",
        Code('f"({end} - {grid.closed}L)"', 'f"({end} - 0L)"'),
    ),
    ends(
        "windows with both ends lack the second",
        "_close",
        Code("grid.range + closed - opened", "grid.range - opened"),
    ),
    empty(
        "a key's windows are filled up to the next one that has rows, with it",
        "fill_empty",
        Code('f"coalesce(ahead - {step}, {last})"', 'f"coalesce(ahead, {last})"'),
    ),
    by_rows(
        "a window ends where a row is that ends none",
        "_keep_ends",
        Code(
            'f" and now - pmod(now, {ends.every}L) > before"',
            'f" and now - pmod(now, {ends.every}L) >= before"',
        ),
    ),
    last_rows(
        "the last rows are given at each row of a slide",
        "_keep_last_of_slides",
        InText("ahead is null or ahead <> start", "true"),
    ),
    complete(
        "windows begin with the first row of any key",
        "_add_first_rows",
        Code("', '.join(map(quote, bound.names))", "'1'"),
    ),
    complete(
        "a window that an initiation time has cut short is complete",
        "keep_complete",
        Code("bound.since is not None and not complete.counted", "False"),
    ),
    cut_again(
        "frames that are too small are cut again from one of those before",
        "_starts_afresh",
        Code("scheme.drops_small_frames", "False"),
        "tests/spark/test_repaired_frames.py",
    ),
    cut_again(
        "a frame is cut again without the state that was known before it",
        "_starts_afresh",
        Code('scheme.nulls == "carry"', "False"),
        "tests/spark/test_state_carry.py",
    ),
    running(
        "an event that lies between two windows is over when the first has ended",
        "_give_running",
        Code("longest_slide(bound.grids)", "0"),
    ),
    running(
        "a row without a stop is of an event even if it does not say of which",
        "Lasting.rejections",
        Code('f"{self.unended.stop_sql} is null and {self.unended.id_sql} is null"', '"false"'),
    ),
    running(
        "an aggregate may ask when an event ends that has not",
        "_give_running",
        Code('{"time", "order", "begins", "ends"}', '{"begins", "ends"}'),
    ),
    spark_aggregates(
        "Spark is handed what fanlight has",
        "find_handed",
        Code("_is_ours(bound.df, own)", "False"),
    ),
    spark_aggregates(
        "columns of windows take the names of columns of rows",
        "aggregate_placed",
        Code("free_name(name, rows.columns)", "name"),
    ),
    spark_aggregates(
        "rows of no frame are a frame",
        "aggregate_frames",
        Code('rows.filter("frame_id is not null")', "rows"),
    ),
    translated(
        "what Spark shows of an aggregate is all that it is",
        "_find_sql",
        Code("df.select(column).sameSemantics(df.select(expr(df, text)))", "True"),
    ),
    translated(
        "aggregates of a subquery are taken for those of the query",
        "_without_subqueries",
        Code("_SUBQUERY.search(text)", "None"),
    ),
    translated(
        "what is around aggregates may have others",
        "translation:_read",
        Code('f"({around.write(names)}) is null"', '"true"'),
    ),
    translated(
        "fields of a struct of aggregates lose their names",
        "translation:_result_of",
        Code("'struct<' in kind", "False"),
    ),
    translated(
        "a name with braces around aggregates is taken for an argument",
        "SqlExpression.write_sql",
        Code("replace(self, texts=tuple(map(escape, self.texts)))", "self"),
    ),
)
