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
        "_moving",
        Code("count(tree, wide, ranks[first], -1)", "count(tree, wide, ranks[first], 0)"),
    ),
    ranks(
        "of ranks as frequent the last is the best",
        "ranks:_best",
        Code("tree[at] < tree[at + 1]", "tree[at] <= tree[at + 1]"),
    ),
    ranks(
        "a rank that is back is another one",
        "_in_counts",
        Code("int(before + more > 0) - int(before > 0)", "int(before + more > 0)"),
    ),
    ranks(
        "a window holds the row at which it ends",
        "windows:_windows",
        Code("times[hi] < start + length", "times[hi] <= start + length"),
    ),
    ranks(
        "a row just before a window is in it",
        "windows:_windows",
        Code("times[lo] < start", "times[lo] + 1 < start"),
    ),
    ranked(
        "what is after the last place does not count",
        "_at_shares",
        Code("upto[:, -1] = rows", "pass"),
    ),
    ranked(
        "a chunk ends inside a key",
        "whole_keys",
        Code("last = int(begins[-1])", "last = int(begins[-1]) + 1"),
    ),
    packed(
        "pyarrow is loaded before rows come",
        "packed:_OURS",
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
        "modules are looked through after each task", "spare_modules", Code("gc.freeze()", "pass")
    ),
    workers(
        "what is spared in a task is spared in a driver",
        "spare_modules",
        Code(
            "len(sys.modules) > _spared and TaskContext.get() is not None",
            "len(sys.modules) > _spared",
        ),
    ),
    marks(
        "a threshold frame that goes on is opened again",
        "flags",
        Code("1 if opened[g] else 2", "2"),
    ),
    marks("a latch never closes", "latches", Code("not closes[i]", "True"), FRAME_OPERATORS),
    marks(
        "a value on the boundary is in the next cell",
        "multiples",
        Code("x <= (n - 1.0) * width", "x < (n - 1.0) * width"),
    ),
    marks(
        "a cell at the end of a batch is forgotten",
        "cells",
        Code("last[g] = before", "last[g] = 0"),
        FRAME_OPERATORS,
    ),
    marks(
        "a sum of integers overflows",
        "running:whole_added",
        Code("x > 0 and total > TOP - x", "False"),
    ),
    marks(
        "a sum of integers that falls below 64 bits is large",
        "running:whole_added",
        Code("x < 0 and total < BOTTOM - x", "False"),
    ),
    marks(
        "a sum of doubles loses what rounding lost",
        "running:added",
        Code("lost + less if abs(more) < np.inf else 0.0", "0.0"),
    ),
    marks(
        "a spread of integers that reaches the limit goes on",
        "running:wholes_apart",
        Code(
            "np.uint64(high) - np.uint64(low) >= np.uint64(delta)",
            "np.uint64(high) - np.uint64(low) > np.uint64(delta)",
        ),
    ),
    marks(
        "a value that the frame before had is no new one",
        "running:with_value",
        Code("met[value] != frame", "met[value] == 0"),
    ),
    frames(
        "the distinct values of an open frame are forgotten",
        "DistinctValues.__init__",
        Code("met[held] = 1", "met[held] = 0"),
    ),
    many(
        "one coordinate decides whether a cell is the same",
        "grid_cells",
        Code("same and cells[d, i] == last[g, d]", "inside and cells[d, i] == last[g, d]"),
    ),
    many(
        "a spread of doubles that reaches the limit goes on",
        "running:apart",
        Code("high - low >= delta", "high - low > delta"),
    ),
    frames(
        "a frame holds the row that ends it",
        "pieces:_pieces",
        Code("hi[p], ends[p] = i, True", "hi[p], ends[p] = i + 1, True"),
    ),
    frames(
        "overlapping frames do not overlap",
        "double_pieces",
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
        "Assembly.advance",
        Code("self.rows[slot]", "0 * self.rows[slot]"),
    ),
    frames(
        "a frame ends after its last row",
        "Assembly.advance",
        Code("np.minimum(end[ends], t[hi[ends]])", "np.minimum(end[ends], t[hi[ends] - 1] + 1)"),
    ),
    frames(
        "frames are not numbered on",
        "Assembly._numbered",
        Code("np.add.at(self.ids, slot[kept], 1)", "np.add.at(self.ids, slot[kept], 0)"),
    ),
    frames(
        "the run of an open frame is forgotten",
        "OverlappingAssembly.advance",
        Code(
            "self.run_start[at], self.run_rows[at] = run_start, run_rows",
            "self.run_start[at], self.run_rows[at] = run_start, 0 * run_rows",
        ),
    ),
    frames(
        "a snapshot without counters",
        "FrameStream.restore",
        Code("ints(kept[name]).copy()", "0 * ints(kept[name])"),
    ),
    group(
        "a row at the watermark waits",
        "Waiting.due",
        Code("self.pieces[:, 1] <= watermark", "self.pieces[:, 1] < watermark"),
    ),
    group(
        "a late row goes on", "Group.feed", Code("only(rows, ~late)", "only(rows, late | ~late)")
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
        "Waiting.due",
        Code("(times > released) & (times <= watermark)", "times <= watermark"),
    ),
    group(
        "a piece of which little is left is never written again",
        "Waiting.due",
        Code(
            "2 * sum(len(rows) for *_, rows in left) > sum(written for _, _, written, _ in left)",
            "0 <= sum(written for _, _, written, _ in left)",
        ),
    ),
    tuples(
        "ties are not broken",
        "in_order",
        Code(
            "(code[places[at]], time[places[at]], ranks[at])",
            "(code[places[at]], time[places[at]])",
        ),
    ),
    group(
        "a bucket that is split keeps its keys",
        "Buckets.open",
        Code("wanted.update(_source(new, count) for new in range(count, through))", "pass"),
    ),
    group(
        "buckets that are due are left alone",
        "Buckets.open",
        Code("self.deadlines <= watermark", "self.deadlines < 0"),
    ),
    group(
        "keys stay where they were",
        "Buckets.close",
        Code("self.store.remove(KEYS, number)", "pass"),
    ),
    group(
        "tables of one state keep their codes",
        "joined",
        Code(
            "np.repeat(shifts, [len(one) for one in some])",
            "0 * np.repeat(shifts, [len(one) for one in some])",
        ),
    ),
    group(
        "tasks have groups as it comes",
        "grouping:numbers_of",
        Code("rank < quota[tasks_of]", "rank < quota.max()"),
    ),
    keyed("rows are numbered anew", "Keyed.numbered", Code("counts[codes] + within", "within")),
    tuples(
        "slices are dropped too early",
        "TupleWindows._ending",
        Code("self.released - length", "self.released - length // 2"),
    ),
    chain(
        "partials shift too early",
        "ChainWindows._shifted",
        Code(
            "place >= rear(self.query.nodes[k], now)[code]",
            "place > rear(self.query.nodes[k], now)[code]",
        ),
    ),
    chain(
        "a key's last window is not reported",
        "chain:_completed",
        Code("last - first + 1", "last - first"),
    ),
    widening(
        "a chunk closes the instant that goes on",
        "_chunk",
        Code('int(ints(rows["t"])[-1]) - 1', 'int(ints(rows["t"])[-1])'),
    ),
    widening(
        "rows left out leave no gap",
        "left",
        Code(
            'np.asarray(whole(rows["gap"])) | np.append(False, ~keep[:-1])',
            'np.asarray(whole(rows["gap"]))',
        ),
        SEARCH,
    ),
    search(
        "a match in an overlap is taken away twice",
        "_Run._unseen",
        Code("((1, parts), (-1, overlaps))", "((1, parts),)"),
    ),
    search(
        "of equal matches the earlier is taken for new",
        "_Run._unseen",
        Code("reversed(mine)", "mine"),
    ),
    pages(
        "a page forgets what it leaves out",
        "_page",
        Code("np.append(False, ~used[:-1])", "np.append(False, used[:-1] & False)"),
    ),
    spanning(
        "a window before the first one is not due",
        "_Key.extend",
        Code("min(lowest, *(first for first, _ in touched))", "touched[0][0]"),
    ),
    spanning(
        "an event in one window is counted twice",
        "Levels.insert",
        Code("{lowest, highest}", "(lowest, highest)"),
    ),
    spanning(
        "marks that are over still count",
        "Levels._after",
        Code(
            ("while order and order[-1] < window:\n    del marks[order.pop()]"),
            ("if order and order[-1] < window - 1:\n    del marks[order.pop()]"),
        ),
    ),
    spanning(
        "an event leaves a window too early",
        "_Sweeping.release",
        Code("self.ends[0][0] < start", "self.ends[0][0] <= start"),
    ),
    spanning(
        "what goes on is met in each slice",
        "SeMlSlicing._read",
        Code("slice_ >= final", "slice_ >= final - 1"),
    ),
    keyed(
        "a new key is kept only where keys have columns",
        "Keyed.codes_of",
        Code("self.begun(len(fresh))", "self.begun(len(fresh) if names else 0)"),
        "tests/operators/test_without_keys.py",
    ),
    search("rows are searched together across a cut", "runs_of", Code("last - first", "0 * first")),
    search(
        "a run is searched by the window below only",
        "Runs.new",
        Code(
            "mine == [windows.levels[self.owners], windows.batches[self.owners]]",
            "mine < [windows.levels[self.owners], windows.batches[self.owners]]",
        ),
    ),
    owners(
        "a match belongs to a level too high",
        "owners",
        Code("batch - first // level.duration <= 1", "batch - first // level.duration <= 0"),
    ),
    owners(
        "a match is another key's",
        "owned",
        Code(
            'np.searchsorted(begins, wished * rows + first[asked], side="right", sorter=order) - 1',
            'np.searchsorted(begins, wished * rows + first[asked], side="right", sorter=order) * 0',
        ),
    ),
    owners(
        "a match has a window that does not reach its end",
        "owned",
        Code(
            "(window >= 0) & same & (lows[window] <= first) & (last < highs[window])",
            "(window >= 0) & same & (lows[window] <= first)",
        ),
    ),
    checkpoints(
        "state of another query is taken", "seals:opened", Code("begun != asked", "not begun")
    ),
    checkpoints(
        "the error names this query twice",
        "seals:opened",
        Code("_told(begun, other)", "_told(asked, other)"),
    ),
    checkpoints(
        "the format of state is not read",
        "seals:opened",
        Code("kept[0] != FORMAT", "kept[0] > FORMAT"),
    ),
    checkpoints(
        "timers without state are taken for a new group of keys",
        "GroupProcessor._group",
        Code(
            "not group.has_state and any(True for _ in self._handle.listTimers())", "not self._handle"
        ),
    ),
)
