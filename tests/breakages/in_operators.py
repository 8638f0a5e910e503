"""Breakages of compiled loops, operators and their hosts in Spark's workers; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import within

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

marks = within("kernels/frames.py", FRAMES)
many = within("kernels/frames_many.py", FRAMES, FRAME_OPERATORS)
pieces = within("kernels/pieces.py", FRAME_OPERATORS)
ranges = within("kernels/ranges.py", RANGES)
ranks = within("kernels/ranks.py", "tests/kernels/test_kernel_ranks.py")
windows = within("kernels/windows.py", "tests/kernels/test_kernel_ranks.py")
compiling = within("kernels/jit.py", "tests/kernels/test_kernel_jit.py")
ranked = within("operators/ranked.py", "tests/operators/test_ranked.py")
batches = within("kernels/widening.py", WIDENING)
occurrences = within("kernels/episodes.py", EPISODES)
assembly = within("operators/frames/assembly.py", FRAME_OPERATORS)
overlapping = within("operators/frames/overlapping.py", FRAME_OPERATORS)
frame_stream = within("operators/frames/stream.py", FRAME_OPERATORS)
group = within("operators/group.py", GROUP)
waiting = within("operators/waiting.py", GROUP)
buckets = within("operators/buckets.py", GROUP)
snapshots = within("operators/snapshots.py", GROUP)
grouping = within("operators/grouping.py", GROUP)
order = within("operators/order.py", TUPLES)
seals = within("operators/seals.py", CHECKPOINTS)
processor = within("spark/ordered/processor.py", CHECKPOINTS)
keyed = within("operators/keyed.py", TUPLES, CHAIN)
tuples = within("operators/tuple_windows.py", TUPLES)
chain = within("operators/chain.py", CHAIN)
widening = within("operators/widening.py", WIDENING)
search = within("operators/search.py", SEARCH)
runs = within("operators/runs.py", SEARCH)
owners = within("operators/owners.py", OWNERS)
pages = within("operators/pages.py", SEARCH, WIDENING)
spanning = within("operators/spanning/operator.py", SPANNING)
levels = within("operators/spanning/levels.py", SPANNING)
sweeping = within("operators/spanning/sweeping.py", SPANNING)
slicing = within("operators/spanning/slicing.py", SPANNING)
packed = within("spark/ordered/packed.py", "tests/operators/test_processor.py")
workers = within("spark/ordered/workers.py", "tests/spark/test_workers.py", "-m", "not spark")

BREAKAGES = (
    compiling(
        "closures of one name share a name in compiled code",
        'told = [getattr(one, "__qualname__", repr(one)) for one in closed]',
        "told = [len(closed)]",
    ),
    compiling(
        "compiled code does not know that a function of another file has changed",
        "digest.update(_sources(str(Path(code.co_filename).parent)) or code.co_code)",
        "digest.update(Path(code.co_filename).read_bytes())",
    ),
    ranks(
        "a rank that leaves a range stays in it",
        "count(tree, wide, ranks[first], -1)",
        "count(tree, wide, ranks[first], 0)",
    ),
    ranks(
        "of ranks as frequent the last is the best",
        "at += int(tree[at] < tree[at + 1])",
        "at += int(tree[at] <= tree[at + 1])",
    ),
    ranks(
        "a rank that is back is another one",
        "int(before + more > 0) - int(before > 0)",
        "int(before + more > 0)",
    ),
    windows(
        "a window holds the row at which it ends",
        "times[hi] < start + length",
        "times[hi] <= start + length",
    ),
    windows(
        "a row just before a window is in it", "if times[lo] < start:", "if times[lo] + 1 < start:"
    ),
    ranked("what is after the last place does not count", "    upto[:, -1] = rows\n", "    pass\n"),
    ranked("a chunk ends inside a key", "last = int(begins[-1])", "last = int(begins[-1]) + 1"),
    packed(
        "pyarrow is loaded before rows come",
        '_OURS = {"fanlight", "pyarrow"}',
        '_OURS = {"fanlight"}',
    ),
    packed(
        "a function that no module holds is pickled by its name",
        "if type(obj) in _PLAIN or _is_ours(obj):",
        'if type(obj) in _PLAIN or _is_ours(obj) or hasattr(obj, "__qualname__"):',
    ),
    workers(
        "modules are looked through after each task",
        "        gc.freeze()\n",
        "",
    ),
    workers(
        "what is spared in a task is spared in a driver",
        "if len(sys.modules) > _spared and TaskContext.get() is not None:",
        "if len(sys.modules) > _spared:",
    ),
    marks(
        "a threshold frame that goes on is opened again",
        "0 if not holds[begin] else (1 if opened[g] else 2)",
        "0 if not holds[begin] else 2",
    ),
    marks(
        "a latch never closes",
        "inside = inside and not closes[i]",
        "inside = inside and True",
        FRAME_OPERATORS,
    ),
    marks(
        "a value on the boundary is in the next cell",
        "if x <= (n - 1.0) * width:",
        "if x < (n - 1.0) * width:",
    ),
    marks(
        "a cell at the end of a batch is forgotten",
        "last[g] = before\n",
        "last[g] = 0\n",
        FRAME_OPERATORS,
    ),
    marks("a sum of integers overflows", "top if x > 0 and s > top - x else s + x", "s + x"),
    marks(
        "a sum of doubles loses what rounding lost",
        "kept = c + more if abs(t) < np.inf else 0.0",
        "kept = 0.0",
    ),
    marks(
        "a spread of integers that reaches the limit goes on",
        "np.uint64(high) - np.uint64(low) >= limit",
        "np.uint64(high) - np.uint64(low) > limit",
    ),
    many(
        "one coordinate decides whether a cell is the same",
        "same = same and cells[d, i] == last[g, d]",
        "same = inside and cells[d, i] == last[g, d]",
    ),
    many(
        "a spread in several columns that reaches the limit goes on",
        "reached = reached or bool(high - low >= real_deltas[a])",
        "reached = reached or bool(high - low > real_deltas[a])",
    ),
    pieces(
        "a frame holds the row that ends it",
        "hi[p], ends[p] = i, True",
        "hi[p], ends[p] = i + 1, True",
    ),
    pieces(
        "overlapping frames do not overlap",
        "begin, other = since, present",
        "begin, other = i, present",
    ),
    ranges(
        "a row leaves a sum in part", "high -= values[first] >> 32", "high -= 0 * values[first]"
    ),
    ranges("what rounding lost is lost", "        rest += lost\n", "        rest += 0.0 * lost\n"),
    ranges(
        "NaN is not the greatest",
        "a > b or (a != a and b == b)",
        "a > b",
    ),
    batches(
        "only half of a batch's ends is kept", "if hi - lo <= 2 * most:", "if hi - lo <= most:"
    ),
    batches("the batch before is forgotten", "oldest = open_batch - 1", "oldest = open_batch"),
    occurrences(
        "an occurrence may be one row short",
        "if held[i, _FIRST] >= oldest:",
        "if held[i, _FIRST] > oldest:",
    ),
    occurrences(
        "an occurrence inside of another is not told from it",
        "if at < told and known[at, 0] >= first:",
        "if at < told and known[at, 0] > first:",
    ),
    assembly(
        "an open frame forgets its rows",
        "np.where(begins, 0, self.rows[slot])",
        "np.where(begins, 0, 0 * self.rows[slot])",
    ),
    assembly(
        "a frame ends after its last row",
        "np.minimum(end[ends], t[hi[ends]])",
        "np.minimum(end[ends], t[hi[ends] - 1] + 1)",
    ),
    assembly(
        "frames are not numbered on",
        "np.add.at(self.ids, slot[kept], 1)",
        "np.add.at(self.ids, slot[kept], 0)",
    ),
    overlapping(
        "the run of an open frame is forgotten",
        "self.run_start[at], self.run_rows[at] = run_start, run_rows",
        "self.run_start[at], self.run_rows[at] = run_start, 0 * run_rows",
    ),
    frame_stream(
        "a snapshot without counters",
        "setattr(assembly, name, ints(kept[name]).copy())",
        "setattr(assembly, name, 0 * ints(kept[name]))",
    ),
    waiting(
        "a row at the watermark waits",
        "begun = self.pieces[:, 1] <= watermark",
        "begun = self.pieces[:, 1] < watermark",
    ),
    group("a late row goes on", "only(rows, ~late)", "only(rows, late | ~late)"),
    group(
        "the watermark of a group is not kept",
        "self.groups, self.released, alarm, waiting, *size = ",
        "self.groups, _, alarm, waiting, *size = ",
    ),
    group(
        "another division of keys is taken",
        "if groups not in (None, self.groups):",
        "if not groups:",
        CHECKPOINTS,
    ),
    waiting(
        "rows that waited are used again",
        "(times > released) & (times <= watermark)",
        "times <= watermark",
    ),
    waiting(
        "a piece of which little is left is never written again",
        "> sum(written for",
        ">= 0 * sum(written for",
    ),
    order("ties are not broken", "time[places[at]], ranks[at])", "time[places[at]])"),
    buckets(
        "a bucket that is split keeps its keys",
        "wanted.update(_source(new, count) for new in range(count, through))",
        "pass",
    ),
    buckets(
        "buckets that are due are left alone", "self.deadlines <= watermark", "self.deadlines < 0"
    ),
    buckets("keys stay where they were", "self.store.remove(KEYS, number)", "pass"),
    snapshots(
        "tables of one state keep their codes",
        "moved = ints(table[CODE]) + ",
        "moved = ints(table[CODE]) + 0 * ",
    ),
    grouping(
        "tasks have groups as it comes",
        "chosen = rank < quota[tasks_of]",
        "chosen = rank < quota.max()",
    ),
    keyed("rows are numbered anew", "numbers = counts[codes] + within", "numbers = within"),
    tuples(
        "slices are dropped too early",
        "> self.released - length",
        "> self.released - length // 2",
    ),
    chain("partials shift too early", "here = place >= rear(", "here = place > rear("),
    chain(
        "a key's last window is not reported",
        "np.maximum((last - first) // grid.slide + 1, 0)",
        "np.maximum((last - first) // grid.slide, 0)",
    ),
    widening(
        "a chunk closes the instant that goes on",
        'int(ints(rows["t"])[-1]) - 1, int(prev[-1])',
        'int(ints(rows["t"])[-1]), int(prev[-1])',
    ),
    widening(
        "rows left out leave no gap",
        'gaps = np.asarray(whole(rows["gap"])) | np.append(False, ~keep[:-1])',
        'gaps = np.asarray(whole(rows["gap"]))',
        SEARCH,
    ),
    search(
        "a match in an overlap is taken away twice",
        "for sign, pieces in ((1, parts), (-1, overlaps)):",
        "for sign, pieces in ((1, parts),):",
    ),
    search(
        "of equal matches the earlier is taken for new",
        "for record in reversed(mine):",
        "for record in mine:",
    ),
    pages(
        "a page forgets what it leaves out",
        "gap = gaps[first:last] | np.append(False, ~used[:-1])",
        "gap = gaps[first:last] | np.append(False, used[:-1] & False)",
    ),
    spanning(
        "a window before the first one is not due",
        "lowest = min(lowest, *(first for first, _ in touched))",
        "lowest = touched[0][0]",
    ),
    levels(
        "an event in one window is counted twice",
        "for window in {lowest, highest}:",
        "for window in (lowest, highest):",
    ),
    levels(
        "marks that are over still count",
        "while order and order[-1] < window:",
        "if order and order[-1] < window - 1:",
    ),
    sweeping(
        "an event leaves a window too early",
        "while self.ends and self.ends[0][0] < start:",
        "while self.ends and self.ends[0][0] <= start:",
    ),
    slicing("what goes on is met in each slice", "if slice_ >= final:", "if slice_ >= final - 1:"),
    keyed(
        "a new key is kept only where keys have columns",
        "new += self.begun(len(fresh))",
        "new += self.begun(len(fresh) if names else 0)",
        "tests/operators/test_without_keys.py",
    ),
    runs(
        "rows are searched together across a cut",
        "cuts = last - first",
        "cuts = 0 * first",
    ),
    runs(
        "a run is searched by the window below only",
        "new = mine == [",
        "new = mine < [",
    ),
    owners(
        "a match belongs to a level too high",
        "near = batch - first // level.duration <= 1",
        "near = batch - first // level.duration <= 0",
    ),
    owners(
        "a match is another key's",
        'side="right", sorter=order) - 1',
        'side="right", sorter=order) * 0',
    ),
    owners(
        "a match has a window that does not reach its end",
        " & (last < highs[window])",
        "",
    ),
    seals("state of another query is taken", "if begun != asked:", "if not begun:"),
    seals(
        "the error names this query twice",
        "which was begun with {_told(begun, other)}",
        "which was begun with {_told(asked, other)}",
    ),
    seals("the format of state is not read", "if kept[0] != FORMAT:", "if kept[0] > FORMAT:"),
    processor(
        "timers without state are taken for a new group of keys",
        "if not group.begun and any(True for _ in self._handle.listTimers()):",
        "if not self._handle:",
    ),
)
