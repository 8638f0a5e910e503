"""Frames that are matches of a row pattern.

What is kept of a key are the rows from the first one on that may still begin a match which later
rows decide, as a table: their times, inputs, and partials. They are searched anew as rows come, or
time passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels import patterns as kernels
from fanlight.engine.kernels.sizes import NEVER
from fanlight.engine.operators.arrow_tables import as_array, ints, starts_of_runs
from fanlight.engine.operators.frames.assembly import Assembly, FrameNumbers, Frames
from fanlight.engine.operators.frames.marks import Searched
from fanlight.engine.operators.partials import combine_any_ranges, combine_columns
from fanlight.engine.operators.snapshots import CODE
from fanlight.engine.plan.patterns import ALWAYS, COMPUTED, Automaton
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.row_patterns import FIRST, JUMP, LAST, ROW, SPLIT

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class _Groups:
    """Rows of some keys in order: the slot of each group, and which of its rows are decided."""

    rows: pa.Table
    slots: Ints
    starts: Ints
    first: Ints


@dataclass(frozen=True)
class _Found:
    """Matches: rows ``[lo, hi)`` of a group, whether time ended one, and the labels of its rows.

    ``labels`` of a match are those from ``at`` on, ``left`` the first row of each group that is not
    decided.
    """

    lo: Ints
    hi: Ints
    group: Ints
    timed: Bools
    at: Ints
    labels: Ints
    left: Ints


class PatternAssembly(Assembly):
    """An assembly of frames that are matches of a pattern.

    ``inputs`` are the fields of the scheme's inputs; ``of`` has the variables whose rows a partial
    is of, none for all rows. If rows are ``listed``, fields are columns of theirs.
    """

    counters: tuple[str, ...] = ("ids", "last", "deadline")
    carried: ClassVar = ()  # partials are in the table of rows
    marker: Searched

    def __init__(
        self,
        marker: Searched,
        fields: Sequence[pa.Field],
        monoids: Sequence[Monoid],
        *,
        further: Sequence[str] = (),
        inputs: Sequence[pa.Field] = (),
        of: Sequence[tuple[str, ...]] = (),
        listed: bool = False,
    ) -> None:
        super().__init__(marker, fields, monoids, further=further)
        self.listed, self.of, self.fields = listed, list(of) or [()] * len(fields), list(fields)
        columns = [(CODE, pa.int64()), ("t", pa.int64())]
        columns += [(f"input{at}", field.type) for at, field in enumerate(inputs)]
        columns += [(f"part{at}", field.type) for at, field in enumerate(fields)]
        self.tables = (pa.schema(columns).empty_table(),)
        self.automaton: Automaton = self.scheme.automaton
        self.pattern = _to_kernel(self.automaton, self._within)

    @property
    def _within(self) -> int:
        timing = self.scheme.timing
        return 0 if timing is None or timing.cap is None else timing.cap

    def advance(
        self,
        t: Ints,
        inputs: list[pa.Array],
        partials: list[pa.Array],
        starts: Ints,
        slots: Ints,
        *,
        numbered: bool = False,
    ) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Take sorted rows in groups, one for each slot; return the matches that are sure."""
        (kept,) = self.tables
        new = [np.repeat(slots, np.diff(starts)), t, *inputs, *partials]
        rows = pa.table(new, kept.schema.names).cast(kept.schema)
        code = ints(kept[CODE])
        ours = np.isin(code, slots)
        self.last[slots] = t[starts[1:] - 1]
        if not ours.any():
            groups = self._group(rows, slots)
        else:
            both = pa.concat_tables([kept.filter(pa.array(ours)), rows])
            order = np.argsort(ints(both[CODE]), kind="stable")
            groups = self._group(both.take(pa.array(order)), slots)
            kept = kept.filter(pa.array(~ours))
        return self._decide(groups, np.full(len(slots), -NEVER), kept, numbered=numbered)

    def expire(self, due: Bools, now: int) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Decide what time decides up to ``now``, of these slots."""
        slots = np.flatnonzero(self.opened & due & (self.deadline <= now))
        (kept,) = self.tables
        ours = np.isin(ints(kept[CODE]), slots)
        groups = self._group(kept.filter(pa.array(ours)), slots)
        rest = kept.filter(pa.array(~ours))
        decided = self._decide(groups, np.full(len(slots), now), rest, numbered=self.listed)
        over = slots[self.deadline[slots] <= now]  # only a further row, or none, decides these
        self.deadline[over] = NEVER
        return decided

    def open_frames(self, over: Bools) -> Frames:
        """The matches that these keys have should they have no further row; nothing is decided."""
        groups = self._open_groups(over)
        found = self._search(groups, np.full(len(groups.slots), NEVER - 1), complete=True)
        ids = self.ids.copy()
        frames = self._frames_of(groups, found)
        self.ids = ids  # they are counted when they are sure
        return frames

    def early_frames(self, over: Bools) -> Frames:
        """The first open match of each key, which stays a match; later ones may yet be none."""
        found = self.open_frames(over)
        return found.take(starts_of_runs(found.slot))

    def list_rows(self, over: Bools) -> pa.Table:
        """The rows of keys that have no further row."""
        groups = self._open_groups(over)
        found = self._search(groups, np.full(len(groups.slots), NEVER - 1), complete=True)
        return self._list(groups, found, self._frames_of(groups, found).number)

    def _open_groups(self, over: Bools) -> _Groups:
        (kept,) = self.tables
        slots = np.flatnonzero(over & self.opened)
        return self._group(kept.filter(pa.array(np.isin(ints(kept[CODE]), slots))), slots)

    def _group(self, rows: pa.Table, slots: Ints) -> _Groups:
        """Rows sorted by slot, as groups."""
        rows = rows.combine_chunks()
        starts = np.append(starts_of_runs(ints(rows[CODE])), len(rows)).astype(np.int64)
        return _Groups(rows, slots, starts, starts[:-1] + self.state["context"][slots])

    def _decide(
        self, groups: _Groups, now: Ints, others: pa.Table, *, numbered: bool
    ) -> tuple[Frames, pa.Table | None]:
        """Search groups, and keep of them what is not decided; ``others`` are other keys' rows."""
        found = self._search(groups, now)
        frames = self._frames_of(groups, found)
        listing = self._list(groups, found, frames.number) if numbered else None
        slots, left, begins = groups.slots, found.left, groups.starts[:-1]
        context = np.minimum(left - begins, self.automaton.back)
        self.state["passed"][slots] |= left > begins
        self.state["context"][slots] = context
        opened = left < groups.starts[1:]
        self.state["opened"][slots] = opened
        self.deadline[slots] = NEVER
        if self._within:
            times = ints(groups.rows["t"])
            self.deadline[slots[opened]] = times[left[opened]] + self._within
        stay = np.arange(len(groups.rows)) >= np.repeat(left - context, np.diff(groups.starts))
        kept = pa.concat_tables([others, groups.rows.filter(pa.array(stay))])
        order = np.argsort(ints(kept[CODE]), kind="stable")
        self.tables = (kept.take(pa.array(order)).combine_chunks(),)
        return frames, listing

    def _search(self, groups: _Groups, now: Ints, *, complete: bool = False) -> _Found:
        """Find the matches of groups."""
        rows, slots, starts = groups.rows, groups.slots, groups.starts
        data = _read_columns(rows, self.automaton)
        data = _define_rows(self.pattern, data, self.automaton, starts)
        size = len(rows)
        out = kernels.Matches(
            np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64),
            np.empty(size, np.bool_), np.empty(size, np.int64), np.empty(len(slots), np.int64),
        )  # fmt: skip
        given = kernels.Groups(
            starts, groups.first, ~self.state["passed"][slots],
            np.full(len(slots), complete), now, self.ids[slots],
        )  # fmt: skip
        labels = kernels.find_matches(self.pattern, data, ints(rows["t"]), given, out)
        count, too_long = int(labels[0]), int(labels[1])
        if too_long >= 0:
            raise refuse(
                f"pattern={self.automaton.text!r}",
                f"takes more than {kernels.MOST_TRIES:,} tries from one row, since its definitions "
                "ask for what was matched before and its repetitions can match in many ways",
                "give a shorter within= or max_rows=, or repetitions that do not overlap",
            )
        return _Found(
            out.lo[:count], out.hi[:count], out.group[:count], out.timed[:count], out.at[:count],
            labels[2:], out.left,
        )  # fmt: skip

    def _frames_of(self, groups: _Groups, found: _Found) -> Frames:
        """Matches as frames, numbered."""
        slot, t = groups.slots[found.group], ints(groups.rows["t"])
        start = t[found.lo]
        end = np.where(found.timed, start + self._within, t[found.hi - 1] + 1)
        number = self._number_frames(slot, np.ones(len(slot), np.bool_))
        parts = [] if self.listed else self._combine_rows(groups.rows, found)
        return Frames(slot, number, start, end, found.hi - found.lo, parts)

    def _combine_rows(self, rows: pa.Table, found: _Found) -> list[pa.Array]:
        """The partials of matches, of all rows or of those of some variables."""
        numbers = {name: at for at, name in enumerate(self.automaton.variables)}
        combined: list[pa.Array] = []
        chosen: dict[tuple[str, ...], tuple[pa.Array | None, Ints, Ints]] = {}
        for at, (monoid, of) in enumerate(zip(self.monoids, self.of, strict=True)):
            if of not in chosen:
                chosen[of] = _choose_rows(found, [numbers[name] for name in of])
            which, lo, hi = chosen[of]
            column = as_array(rows[f"part{at}"])
            if which is not None:
                column = column.take(which)
            forth = len(hi) < 2 or (np.diff(hi) >= 0).all()
            combine = combine_columns if forth else combine_any_ranges
            combined += combine([column], [monoid], lo, hi)
        return combined

    def _list(self, groups: _Groups, found: _Found, numbers: Ints) -> pa.Table:
        """The decided rows of groups with the number of their match and their variable."""
        size = len(groups.rows)
        frame, label = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        lengths = found.hi - found.lo
        within = np.repeat(found.lo - found.at, lengths) + np.arange(lengths.sum())
        seen = found.labels[: len(within)]
        shown = (seen < 0) | (seen & 1 == 0)
        frame[within] = np.where(shown, np.repeat(numbers, lengths), -1)
        label[within] = np.where(shown, seen >> 1, -1)
        place = np.arange(size)
        widths = np.diff(groups.starts)
        decided = (place >= np.repeat(groups.first, widths)) & (
            place < np.repeat(found.left, widths)
        )
        at = pa.array(np.flatnonzero(decided))
        names = pa.array([*self.automaton.variables], pa.string())
        columns = {
            field.name: as_array(groups.rows[f"part{k}"]).take(at)
            for k, field in enumerate(self.fields)
        }
        frame, label = frame[decided], label[decided]
        columns["frame"] = pa.array(frame, mask=frame < 0)
        columns["classifier"] = names.take(pa.array(label, mask=label < 0))
        return pa.table(columns)


def _choose_rows(found: _Found, variables: Sequence[int]) -> tuple[pa.Array | None, Ints, Ints]:
    """The rows of some variables, and the range of each match's among them; None: all rows."""
    if not variables:
        return None, found.lo, found.hi
    lengths = found.hi - found.lo
    within = np.repeat(found.lo - found.at, lengths) + np.arange(lengths.sum())
    labels = found.labels[: len(within)]
    ours = (labels >= 0) & np.isin(labels >> 1, variables)
    before = np.append(0, np.cumsum(ours))
    return pa.array(within[ours]), before[found.at], before[found.at + lengths]


def _to_kernel(automaton: Automaton, within: int) -> kernels.Pattern:
    """An automaton as the kernel takes it."""

    def table(lines: Sequence[Sequence[int]], width: int) -> Ints:
        return np.array(lines, np.int64).reshape(-1, width)

    return kernels.Pattern(
        table(automaton.steps, 3),
        np.array(automaton.alone, np.bool_),
        np.array(automaton.depends, np.bool_),
        np.array(_find_openers(automaton), np.int64),
        table(automaton.ops, 3),
        np.array(automaton.begins, np.int64),
        np.array([float(one) for one in automaton.constants]),
        np.array([one if isinstance(one, int) else 0 for one in automaton.constants], np.int64),
        table(automaton.places, 2),
        table(automaton.followers, 7),
        np.array(
            [
                within,
                automaton.most_rows,
                automaton.after,
                automaton.after_variable,
                automaton.first_only,
                automaton.integers,
                automaton.reals,
            ],
            np.int64,
        ),
    )


def _find_openers(automaton: Automaton) -> list[int]:
    """The variables that may begin a match. Empty if a search has to compute one of them."""
    seen: set[int] = set()
    found: list[int] = []
    steps = [0]
    while steps:
        at = steps.pop()
        if at in seen:
            continue
        seen.add(at)
        does, one, two = automaton.steps[at]
        if does == ROW:
            if automaton.depends[one]:
                return []
            found.append(one)
        elif does in (SPLIT, JUMP):
            steps += [one, two] if does == SPLIT else [one]
        elif does in (FIRST, LAST):
            steps.append(at + 1)
    return sorted(set(found))


def _read_columns(rows: pa.Table, automaton: Automaton) -> kernels.Data:
    """The inputs of rows as the kernel takes them."""
    size = len(rows)
    reals = np.zeros((len(automaton.real_inputs), size))
    wholes = np.zeros((len(automaton.whole_inputs), size), np.int64)
    known = np.zeros((len(automaton.whole_inputs), size), np.bool_)
    texts = _rank_texts([as_array(rows[f"input{at}"]) for at in automaton.text_inputs])
    ranks = dict(zip(automaton.text_inputs, texts, strict=True))
    for at, row in enumerate(automaton.real_inputs):
        column = as_array(rows[f"input{row}"])
        reals[at] = column.to_numpy(zero_copy_only=False)
    for at, row in enumerate(automaton.whole_inputs):
        column = ranks.get(row, as_array(rows[f"input{row}"]))
        known[at] = column.is_valid().to_numpy(zero_copy_only=False)
        wholes[at] = _to_wholes(column)
    is_a = np.zeros((len(automaton.flags), size), np.bool_)
    for variable, flag in enumerate(automaton.flags):
        if flag == ALWAYS:
            is_a[variable] = True
        elif flag != COMPUTED:
            column = as_array(rows[f"input{flag}"]).fill_null(False)  # noqa: FBT003
            is_a[variable] = column.to_numpy(zero_copy_only=False)
    return kernels.Data(is_a, reals, wholes, known)


def _define_rows(
    pattern: kernels.Pattern, data: kernels.Data, automaton: Automaton, starts: Ints
) -> kernels.Data:
    """Data with which rows are the variables that are computed of rows before them alone."""
    pairs = zip(automaton.flags, automaton.depends, strict=True)
    wanted = np.array([flag == COMPUTED and not depends for flag, depends in pairs], np.bool_)
    if not wanted.any():
        return data
    found = kernels.define_rows(pattern, data, starts, wanted)
    return data._replace(is_a=data.is_a | found)


def _to_wholes(column: pa.Array) -> Ints:
    """Values as whole numbers: those of times and durations in microseconds."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_date(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int64())
    wholes: Ints = column.fill_null(0).to_numpy(zero_copy_only=False)
    return wholes.astype(np.int64, copy=False)


def _rank_texts(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """The place of each text among all texts of the columns, in the order of their bytes."""
    if not columns:
        return []
    texts = [column.cast(pa.binary()) for column in columns]
    values = pa.concat_arrays(texts).unique().drop_null()
    order = values.take(pa.compute.sort_indices(values))
    return [pa.compute.index_in(text, order) for text in texts]
