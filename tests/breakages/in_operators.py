"""Breakages of compiled loops, operators and their hosts in Spark's workers; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code

FRAMES = "tests/kernels/test_kernel_frames.py"
FRAME_OPERATORS = "tests/operators/test_frame_operators.py"
RANGES = "tests/kernels/test_kernel_ranges.py"
WIDENING = "tests/operators/test_widening_operator.py"
SEARCH = "tests/operators/test_search.py"
EPISODES = "tests/operators/test_episodes.py"
OWNERS = "tests/operators/test_owners.py"
TUPLES = "tests/operators/test_tuple_windows.py"
GROUP = "tests/operators/test_group.py"
CHECKPOINTS = "tests/operators/test_checkpoints.py"
CHAIN = "tests/operators/test_chain.py"
SPANNING = "tests/operators/test_spanning_operators.py"

marks = seen_by(FRAMES)
many = seen_by(FRAMES, FRAME_OPERATORS)
frames = seen_by(FRAME_OPERATORS)
parts = seen_by("tests/operators/test_parts.py")
ranges = seen_by(RANGES)
ranks = seen_by("tests/kernels/test_kernel_ranks.py")
compiling = seen_by("tests/kernels/test_kernel_jit.py")
ranked = seen_by("tests/operators/test_ranked.py")
widening = seen_by(WIDENING)
occurrences = seen_by(EPISODES)
group = seen_by(GROUP)
tuples = seen_by(TUPLES)
checkpoints = seen_by(CHECKPOINTS)
keyed = seen_by(TUPLES, CHAIN)
chain = seen_by(CHAIN)
search = seen_by(SEARCH)
owners = seen_by(OWNERS)
pages = seen_by(SEARCH, WIDENING)
spanning = seen_by(SPANNING)
packed = seen_by("tests/operators/test_processor.py")
workers = seen_by("tests/spark/test_workers.py", "-m", "not spark")

BREAKAGES = (
    compiling(
        "closures of one name share a name in compiled code",
        "_own_name",
        Code('[getattr(one, "__qualname__", repr(one)) for one in closed]', "[len(closed)]"),
    ),
    compiling(
        "compiled code does not know that a function of another file has changed",
        "_own_name",
        Code(
            "_sources(str(Path(code.co_filename).parent)) or code.co_code",
            "Path(code.co_filename).read_bytes()",
        ),
    ),
    ranks(
        "a rank that leaves a range stays in it",
        "_make_mover",
        Code("count(tree, wide, ranks[first], -1)", "count(tree, wide, ranks[first], 0)"),
    ),
    ranks(
        "of ranks as frequent the last is the best",
        "_find_modes",
        Code("tree[at] < tree[at + 1]", "tree[at] <= tree[at + 1]"),
    ),
    ranks(
        "a rank that is back is another one",
        "_add_to_counts",
        Code("int(before + more > 0) - int(before > 0)", "int(before + more > 0)"),
    ),
    ranks(
        "a window holds the row at which it ends",
        "windows:_write_windows",
        Code("times[hi] < start + length", "times[hi] <= start + length"),
    ),
    ranks(
        "a row just before a window is in it",
        "windows:_write_windows",
        Code("times[lo] < start", "times[lo] + 1 < start"),
    ),
    ranked(
        "what is after the last place does not count",
        "_count_at_shares",
        Code("upto[:, -1] = rows", "pass"),
    ),
    ranked(
        "a chunk ends inside a key",
        "chunks_of_whole_keys",
        Code("last = int(begins[-1])", "last = int(begins[-1]) + 1"),
    ),
    packed(
        "pyarrow is loaded before rows come",
        "pickled:_OURS",
        Code('{"fanlight", "pyarrow"}', '{"fanlight"}'),
    ),
    packed(
        "a function that no module holds is pickled by its name",
        "_Pickler.persistent_id",
        Code(
            "type(obj) in _PLAIN or _is_ours(obj)",
            'type(obj) in _PLAIN or _is_ours(obj) or hasattr(obj, "__qualname__")',
        ),
    ),
    workers(
        "modules are looked through after each task", "freeze_modules", Code("gc.freeze()", "pass")
    ),
    workers(
        "what is spared in a task is spared in a driver",
        "freeze_modules",
        Code(
            "len(sys.modules) > _spared and TaskContext.get() is not None",
            "len(sys.modules) > _spared",
        ),
    ),
    marks(
        "a threshold frame that goes on is opened again",
        "mark_flags",
        Code("1 if opened[g] else 2", "2"),
    ),
    marks("a latch never closes", "_mark_latches", Code("not closes[i]", "True"), FRAME_OPERATORS),
    marks(
        "a value on the boundary is in the next cell",
        "find_cells",
        Code("x <= (n - 1.0) * width", "x < (n - 1.0) * width"),
    ),
    marks(
        "a cell at the end of a batch is forgotten",
        "mark_cells",
        Code("last[g] = before", "last[g] = 0"),
        FRAME_OPERATORS,
    ),
    marks(
        "a sum of integers overflows",
        "add_int",
        Code("x > 0 and total > TOP - x", "False"),
    ),
    marks(
        "a sum of integers that falls below 64 bits is large",
        "add_int",
        Code("x < 0 and total < BOTTOM - x", "False"),
    ),
    marks(
        "a sum of doubles loses what rounding lost",
        "add_float",
        Code("lost + less if abs(more) < np.inf else 0.0", "0.0"),
    ),
    marks(
        "a spread of integers that reaches the limit goes on",
        "ints_differ_by",
        Code(
            "np.uint64(high) - np.uint64(low) >= np.uint64(delta)",
            "np.uint64(high) - np.uint64(low) > np.uint64(delta)",
        ),
    ),
    marks(
        "a value that the frame before had is no new one",
        "count_with_value",
        Code("met[value] != frame", "met[value] == 0"),
    ),
    frames(
        "the distinct values of an open frame are forgotten",
        "DistinctValues.__init__",
        Code("met[held] = 1", "met[held] = 0"),
    ),
    many(
        "one coordinate decides whether a cell is the same",
        "mark_grid_cells",
        Code("same and cells[d, i] == last[g, d]", "inside and cells[d, i] == last[g, d]"),
    ),
    many(
        "a spread of doubles that reaches the limit goes on",
        "floats_differ_by",
        Code("high - low >= delta", "high - low > delta"),
    ),
    frames(
        "a run that lasts exactly long enough opens no frame",
        "_dwell_pieces",
        Code("t[i] - at >= enter_for", "t[i] - at > enter_for"),
    ),
    frames(
        "the run that closes a frame is in it",
        "DwellAssembly._find_stretches",
        Code("self.run_start[rows.slots]", "self.last[rows.slots]"),
    ),
    frames(
        "a row after the greatest number of rows joins its frame",
        "exceeds_size",
        Code("sizes.rows[g] >= sizes.most", "sizes.rows[g] > sizes.most"),
    ),
    frames(
        "a row at the longest duration joins its frame",
        "comes_late",
        Code("t >= sizes.began[g] + sizes.cap", "t > sizes.began[g] + sizes.cap"),
    ),
    frames(
        "a delta goes on from a frame that was cut short",
        "_mark_deltas",
        Code("inside, full = False, False", "full = False"),
    ),
    frames(
        "a run that a limit ends goes on towards its frame",
        "_dwell_pieces",
        Code(
            "sizes is not None and (within or current == ENTERS) and exceeds_size(sizes, g, i)",
            "sizes is not None and within and exceeds_size(sizes, g, i)",
        ),
    ),
    frames(
        "the limits of a frame that begins with a run count from its next row",
        "_double_pieces",
        Code("sizes.t[since]", "sizes.t[i]"),
    ),
    frames(
        "a double-boundary frame that a limit ends shares rows with the next",
        "_double_pieces",
        Code("inside = False", "pass"),
    ),
    frames(
        "a run that has not lasted is a frame when time ends it",
        "Assembly.expire",
        Code("at[self._has_frame()[at]]", "at"),
    ),
    frames(
        "a frame that was cut short goes on with a null",
        "cut_by_size",
        Code("2 if opens[i] else 0", "2"),
    ),
    frames(
        "the state of an open frame is forgotten",
        "States.write_marks",
        Code('text[~opened] = ""', 'text[:] = ""'),
    ),
    frames(
        "a state is carried from one key to the next",
        "LastKnown.fill",
        Code("last >= np.repeat(firsts, lengths)", "last >= 0"),
    ),
    seen_by("tests/operators/test_carried_states.py")(
        "a state that no frame has had is forgotten",
        "FrameOperator._drop_idle_keys",
        Code("~idle | self.known.is_there(len(idle))", "~idle"),
    ),
    frames(
        "a frame holds the row that ends it",
        "_pieces",
        Code("hi[p], ends[p] = i, True", "hi[p], ends[p] = i + 1, True"),
    ),
    frames(
        "overlapping frames do not overlap",
        "_double_pieces",
        Code("begin, other = since, present", "begin, other = i, present"),
    ),
    ranges(
        "a row leaves a sum in part", "_sum_ints", Code("values[first] >> 32", "0 * values[first]")
    ),
    ranges("what rounding lost is lost", "_sum_floats", Code("rest += lost", "rest += 0.0 * lost")),
    ranges("NaN is not the greatest", "_beats", Code("a > b or (a != a and b == b)", "a > b")),
    widening(
        "only half of a batch's ends is kept",
        "_add_ends",
        Code("hi - lo <= 2 * most", "hi - lo <= most"),
    ),
    widening(
        "the batch before is forgotten",
        "keep_rows",
        Code("oldest = open_batch - 1", "oldest = open_batch"),
    ),
    occurrences(
        "an occurrence may be one row short",
        "_occurrences",
        Code("held[i, _FIRST] >= oldest", "held[i, _FIRST] > oldest"),
    ),
    occurrences(
        "an occurrence inside of another is not told from it",
        "_occurrences",
        Code("known[at, 0] >= first", "known[at, 0] > first"),
    ),
    frames(
        "an open frame forgets its rows",
        "Assembly._store_open_frames",
        Code("frames.rows[left]", "0 * frames.rows[left]"),
    ),
    frames(
        "a frame ends after its last row",
        "Assembly.advance",
        Code("np.minimum(deadline, until)", "np.minimum(deadline, last + 1)"),
    ),
    frames(
        "frames are not numbered on",
        "Assembly._number_frames",
        Code("np.add.at(self.ids, slot[reported], 1)", "np.add.at(self.ids, slot[reported], 0)"),
    ),
    parts(
        "a part has the rows at its report time",
        "_ends_of_parts",
        Code(
            'np.searchsorted(place, np.arange(len(parts.piece)), "right")',
            'np.searchsorted(place, np.arange(len(parts.piece)) + 1, "right")',
        ),
    ),
    parts(
        "the part of an open frame begins where the frame does",
        "PartAssembly._close_frames",
        Code("self.since[frames.slot]", "self.start[frames.slot]"),
    ),
    parts(
        "a part is given only once its frame is closed",
        "PartAssembly.report",
        Code("self.next_report <= until", "self.next_report > until"),
    ),
    parts(
        "a frame goes on in parts after its key is forgotten",
        "FrameOperator._report",
        Code("np.minimum(until, assembly.last + forget_after)", "until"),
    ),
    frames(
        "the run of an open frame is forgotten",
        "OverlappingAssembly._store_open_frames",
        Code("hi - first", "0 * first"),
    ),
    frames(
        "an open frame forgets what it has had, where several may be open",
        "SeveralAssembly.advance",
        Code("pa.array(kept, mask=kept == NOT_KEPT)", "pa.array(kept, mask=kept == kept)"),
    ),
    frames(
        "open is not told of the frames that are open",
        "several_step",
        Code("[state for state in after if state is not None]", "[]"),
    ),
    frames(
        "open frames stay with the numbers of keys that are dropped",
        "_move_rows",
        Code("moved[ints(table[CODE])]", "ints(table[CODE])"),
    ),
    tuples(
        "the last rows are given before their slide has ended",
        "TupleWindows._last_rows",
        Code("until <= self.released", "until <= self.released + 2"),
    ),
    tuples(
        "a row of a slide that goes on ends it",
        "TupleWindows._last_rows",
        Code("until[1:] != until[:-1]", "number[1:] != number[:-1]"),
    ),
    tuples(
        "the rows that end windows are counted from the first, whatever the offset",
        "TupleWindows._windows_ending_at_rows",
        Code("numbers + 1 - by.shift", "numbers + 1"),
    ),
    tuples(
        "ranges inside of each other are combined in one sequence",
        "_sequences_of",
        Code("bisect_left(ends, end)", "min(len(ends), 0)"),
    ),
    frames(
        "a snapshot without counters",
        "FrameOperator.restore",
        Code("ints(keys[name]).copy()", "0 * ints(keys[name])"),
    ),
    group(
        "a row at the watermark waits",
        "WaitingRows.pop_due",
        Code("self.pieces[:, 1] <= watermark", "self.pieces[:, 1] < watermark"),
    ),
    group(
        "a late row goes on",
        "Group.feed",
        Code("filter_rows(rows, ~late)", "filter_rows(rows, late | ~late)"),
    ),
    group(
        "the watermark of a group is not kept",
        "Group.__init__",
        Code(
            "self.groups, self.released, alarm, waiting, *size",
            "self.groups, _, alarm, waiting, *size",
        ),
    ),
    group(
        "another division of keys is taken",
        "Group.__init__",
        Code("groups not in (None, self.groups)", "not groups"),
        CHECKPOINTS,
    ),
    group(
        "rows that waited are used again",
        "WaitingRows.pop_due",
        Code("(times > released) & (times <= watermark)", "times <= watermark"),
    ),
    group(
        "a piece of which little is left is never written again",
        "WaitingRows.pop_due",
        Code(
            "2 * sum(len(rows) for *_, rows in left) > sum(written for _, _, written, _ in left)",
            "0 <= sum(written for _, _, written, _ in left)",
        ),
    ),
    tuples(
        "ties are not broken",
        "argsort_rows",
        Code(
            "(code[places[at]], time[places[at]], ranks[at])",
            "(code[places[at]], time[places[at]])",
        ),
    ),
    group(
        "a bucket that is split keeps its keys",
        "Buckets.load",
        Code("wanted.update(_parent_bucket(new, count) for new in range(count, through))", "pass"),
    ),
    group(
        "buckets that are due are left alone",
        "Buckets.load",
        Code("self.deadlines <= watermark", "self.deadlines < 0"),
    ),
    group(
        "keys stay where they were",
        "Buckets.save",
        Code("self.store.remove(KEYS, number)", "pass"),
    ),
    group(
        "tables of one state keep their codes",
        "concatenate_snapshots",
        Code(
            "np.repeat(shifts, [len(one) for one in some])",
            "0 * np.repeat(shifts, [len(one) for one in some])",
        ),
    ),
    group(
        "tasks have groups as it comes",
        "balanced_group_numbers",
        Code("rank < quota[tasks_of]", "rank < quota.max()"),
    ),
    keyed(
        "rows are numbered anew",
        "KeyedOperator.number_rows",
        Code("counts[codes] + within", "within"),
    ),
    tuples(
        "slices are dropped too early",
        "TupleWindows._windows_ending_at_rows",
        Code("self.released - length", "self.released - length // 2"),
    ),
    chain(
        "partials shift too early",
        "ChainWindows._shift_partials",
        Code(
            "place >= start[code]",
            "place > start[code]",
        ),
    ),
    chain(
        "a key's last window is not reported",
        "_windows_ended",
        Code("numbers_between(code, first, last)", "numbers_between(code, first, last - 1)"),
    ),
    widening(
        "a chunk closes the instant that goes on",
        "_cut_chunk",
        Code('int(ints(rows["t"])[-1]) - 1', 'int(ints(rows["t"])[-1])'),
    ),
    widening(
        "rows left out leave no gap",
        "drop_unneeded_rows",
        Code('flags(rows["gap"]) | np.append(False, ~keep[:-1])', 'flags(rows["gap"])'),
        SEARCH,
    ),
    search(
        "a match in an overlap is taken away twice",
        "_PageSearch._filter_unseen",
        Code("((1, parts), (-1, overlaps))", "((1, parts),)"),
    ),
    search(
        "of equal matches the earlier is taken for new",
        "_PageSearch._filter_unseen",
        Code("reversed(mine)", "mine"),
    ),
    pages(
        "a page forgets what it leaves out",
        "_make_page",
        Code("np.append(False, ~used[:-1])", "np.append(False, used[:-1] & False)"),
    ),
    spanning(
        "a window is due for the last of its events alone",
        "SpanningOperator.deadlines",
        Code(
            'np.minimum.at(deadlines, ints(self.slices["code"]), ends)',
            'deadlines[ints(self.slices["code"])] = ends',
        ),
    ),
    spanning(
        "windows of events that overlap are given twice",
        "each_once",
        Code("np.cumsum(more[order]) == 0", "more[order] < 0"),
    ),
    spanning(
        "an event in one window is counted twice",
        "DyadicIntervals.pieces",
        Code("low < high", "low <= high"),
    ),
    spanning(
        "marks that are over still count",
        "DyadicIntervals.windows",
        Code("np.where(right, place, place | inside)", "place | inside"),
    ),
    spanning(
        "an event leaves a window too early",
        "_sweep",
        Code("hi[end[ended]] <= place", "hi[end[ended]] <= place + 1"),
    ),
    spanning(
        "what goes on is met in each slice",
        "SeMlSlicing.windows",
        Code("self.cut.span - 1", "self.cut.span - 2"),
    ),
    keyed(
        "a new key is kept only where keys have columns",
        "KeyedOperator.codes_of",
        Code(
            "self.new_key_columns(len(fresh))", "self.new_key_columns(len(fresh) if names else 0)"
        ),
        "tests/operators/test_without_keys.py",
    ),
    search("rows are searched together across a cut", "runs_of", Code("last - first", "0 * first")),
    search(
        "a run is searched by the window below only",
        "Runs.new_runs",
        Code(
            "mine == [windows.levels[self.owners], windows.batches[self.owners]]",
            "mine < [windows.levels[self.owners], windows.batches[self.owners]]",
        ),
    ),
    owners(
        "a match belongs to a level too high",
        "owning_windows",
        Code("batch - first // level.duration <= 1", "batch - first // level.duration <= 0"),
    ),
    owners(
        "a match is another key's",
        "owned_matches",
        Code(
            'np.searchsorted(begins, wished * rows + first[asked], side="right", sorter=order) - 1',
            'np.searchsorted(begins, wished * rows + first[asked], side="right", sorter=order) * 0',
        ),
    ),
    owners(
        "a match has a window that does not reach its end",
        "owned_matches",
        Code(
            "(window >= 0) & same & (lows[window] <= first) & (last < highs[window])",
            "(window >= 0) & same & (lows[window] <= first)",
        ),
    ),
    checkpoints(
        "state of another query is taken",
        "check_header",
        Code("stored != fingerprint", "not stored"),
    ),
    checkpoints(
        "the error names this query twice",
        "check_header",
        Code("_describe(stored, other)", "_describe(fingerprint, other)"),
    ),
    checkpoints(
        "the format of state is not read",
        "check_header",
        Code("data[0] != FORMAT", "data[0] > FORMAT"),
    ),
    checkpoints(
        "state of another release is another query's",
        "check_header",
        Code("stored.pop(_WRITER, None)", "None"),
    ),
    checkpoints(
        "an unknown format does not say who wrote it",
        "_writer_of",
        Code("data[0] < _FIRST", "data[0] != FORMAT"),
    ),
    checkpoints(
        "timers without state are taken for a new group of keys",
        "GroupRun._open_group",
        Code("not group.has_state and self._has_timer()", "False"),
    ),
)
