"""Finds the matches of a row pattern: a backtracking search that tries no state twice.

A state is a step of the program and a row. What comes of it depends on nothing else where
definitions speak of a row and those before it alone, so a state that has led to no match leads to
none again. Where a definition depends on what was matched before, the same holds for states with
the same rows before them, and a search from one row may take :data:`MOST_TRIES` tries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fanlight.engine.kernels.jit import (
    BOOL,
    FLOAT,
    INTS,
    NEW_BOOLS,
    NEW_FLOATS,
    NEW_INTS,
    NEW_TABLE,
    array,
    jitable,
    kernel,
    named_tuple_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

MOST_TRIES = 2_000_000
NOWHERE = 2**62
# Once rows that searches saw in vain are so many times those they began from, and so many more, it
# is worked out beforehand from where a match can end in time.
VAIN, PATIENCE = 16, 1_000
BLOCK = 1_024  # rows that are computed together
NONE = -1  # a row of a match that no variable has
FOUND, FAILED, UNDECIDED, TOO_LONG = 0, 1, 2, 3

# Steps of the program.
ROW, NOT, SPLIT, JUMP, FIRST, LAST, NEVER, MATCH = range(8)
# Steps of a definition, and what follows rows: as ``plan/patterns.py`` names them.
(
    CONSTANT, UNKNOWN, COLUMN, RUNNING, AS_REAL,
    ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, NEGATE, ABS,
    EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST, SAME,
    AND, OR, INVERT, IS_NULL, IS_TRUE, IS_FALSE,
    COALESCE, GREATEST, LEAST, NULLIF,
) = range(29)  # fmt: skip
FIRST_ROWS, LAST_ROWS, COUNT, SUM, MIN, MAX = range(6)
AFTER_LAST, AFTER_FIRST_ROW, AFTER_FIRST_OF, AFTER_LAST_OF = range(4)
PLACES = 100_000
_LIMIT = 9.2e18


class Pattern(NamedTuple):
    """A pattern; see ``plan/patterns.py``. ``openers`` are the variables that may begin a match.

    ``limits`` are the maximum duration and number of rows, 0 for none; where the next match may
    begin, and by which variable; and whether only the first match counts.
    """

    steps: Ints
    alone: Bools
    depends: Bools
    openers: Ints
    ops: Ints
    begins: Ints
    constants: Floats
    wholes: Ints
    places: Ints
    followers: Ints
    limits: Ints


class Data(NamedTuple):
    """Rows: which variables each is, where that depends on no match, and columns of numbers."""

    is_a: Bools
    reals: Floats
    wholes: Ints
    known: Bools


class Groups(NamedTuple):
    """Groups of sorted rows, ``[starts[g], starts[g + 1])``.

    Rows before ``first`` are only looked back at. ``begun`` says whether ``first`` is the group's
    first row ever, ``complete`` that it has no further row, ``now`` up to when all rows are there,
    and ``found`` how many matches it had.
    """

    starts: Ints
    first: Ints
    begun: Bools
    complete: Bools
    now: Ints
    found: Ints


class Matches(NamedTuple):
    """Where the matches are put: rows ``[lo, hi)`` of a group, and whether time ends one.

    ``left`` has the first row of each group that is not decided yet; ``at`` where the labels of
    each match begin.
    """

    lo: Ints
    hi: Ints
    group: Ints
    timed: Bools
    at: Ints
    left: Ints


_FLOATS_2, _BOOLS_2 = array(FLOAT, 2), array(BOOL, 2)
PATTERN = named_tuple_of(
    Pattern, NEW_TABLE, NEW_BOOLS, NEW_BOOLS, NEW_INTS, NEW_TABLE, NEW_INTS, NEW_FLOATS, NEW_INTS,
    NEW_TABLE, NEW_TABLE, NEW_INTS,
)  # fmt: skip
DATA = named_tuple_of(Data, _BOOLS_2, _FLOATS_2, NEW_TABLE, _BOOLS_2)
GROUPS = named_tuple_of(Groups, NEW_INTS, NEW_INTS, NEW_BOOLS, NEW_BOOLS, NEW_INTS, NEW_INTS)
MATCHES = named_tuple_of(Matches, NEW_INTS, NEW_INTS, NEW_INTS, NEW_BOOLS, NEW_INTS, NEW_INTS)


@jitable
def _grow(table: Ints, needed: int) -> Ints:
    """A table with at least so many lines; new ones are 0."""
    if needed <= len(table):
        return table
    more = np.zeros((max(2 * len(table), needed), table.shape[1]), np.int64)
    for at in range(len(table)):  # slices would take far longer to compile
        for column in range(table.shape[1]):
            more[at, column] = table[at, column]
    return more


@jitable
def _grow_reals(table: Floats, needed: int) -> Floats:
    if needed <= len(table):
        return table
    more = np.zeros((max(2 * len(table), needed), table.shape[1]))
    for at in range(len(table)):
        for column in range(table.shape[1]):
            more[at, column] = table[at, column]
    return more


@jitable
def _compare(does: int, order: int, same: bool) -> bool:
    """Whether a comparison holds; ``order`` is -1, 0 or 1."""
    if does == UNEQUAL:
        return not same
    if does == LESS:
        return order < 0
    if does == AT_MOST:
        return order <= 0
    if does == GREATER:
        return order > 0
    return order >= 0 if does == AT_LEAST else same


@jitable
def _calculate(does: int, a: Any, b: Any) -> Any:
    """The sum, difference or product of two numbers."""
    if does == MULTIPLY:
        return a * b
    return a + b if does == ADD else a - b


@jitable
def _combine_reals(does: int, a: float, b: float) -> float:
    """What comes of two reals; NaN counts as null."""
    if does <= MULTIPLY:
        return float(_calculate(does, a, b))
    if does <= REMAINDER:
        if b == 0.0:
            return np.nan
        return a / b if does == DIVIDE else np.fmod(a, b)
    if does == NULLIF:
        return np.nan if a == b else a
    return max(a, b) if does == GREATEST else min(a, b)


@jitable
def _combine_wholes(does: int, a: int, b: int) -> tuple[int, bool]:
    """What comes of two whole numbers, and whether it is known: beyond 64 bits it is null."""
    if does <= MULTIPLY:
        fits = abs(_calculate(does, float(a), float(b))) < _LIMIT
        return (_calculate(does, a, b) if fits else a), fits
    if does == REMAINDER:
        if b == 0:
            return a, False
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest, True
    if does == NULLIF:
        return a, a != b
    return max(a, b) if does == GREATEST else min(a, b), True


@jitable
def _combine(sr: Floats, sw: Ints, sk: Bools, does: int, top: int, real: bool, size: int) -> None:
    """Combine the two topmost values of so many rows; null is what SQL makes of it."""
    low = top - 1
    for i in range(size):
        one, other = sk[low, i], sk[top, i]
        if AND <= does <= OR:
            decides = int(does == OR)  # what one value alone decides
            if (one and sw[low, i] == decides) or (other and sw[top, i] == decides):
                sk[low, i], sw[low, i] = True, decides
            else:
                sk[low, i], sw[low, i] = one and other, 1 - decides
        elif does == COALESCE or (GREATEST <= does <= LEAST and not (one and other)):
            if not one:
                sr[low, i], sw[low, i], sk[low, i] = (
                    sr[top, i], sw[top, i], other,
                )  # fmt: skip
        elif not (one and other):
            if does == SAME:
                sk[low, i], sw[low, i] = True, int(one == other)
            elif does != NULLIF:
                sk[low, i] = False
        elif real:
            a, b = sr[low, i], sr[top, i]
            if EQUAL <= does <= SAME:
                sw[low, i] = int(_compare(does, -1 if a < b else int(a > b), a == b))
            else:
                value = _combine_reals(does, a, b)
                sr[low, i], sk[low, i] = value, value == value  # noqa: PLR0124 - NaN
        else:
            n, m = sw[low, i], sw[top, i]
            if EQUAL <= does <= SAME:
                sw[low, i] = int(_compare(does, -1 if n < m else int(n > m), n == m))
            else:
                sw[low, i], sk[low, i] = _combine_wholes(does, n, m)


@jitable
def _change(
    sr: Floats, sw: Ints, sk: Bools, does: int, what: int, top: int, real: bool, size: int
) -> None:
    """Change the topmost value of so many rows."""
    for i in range(size):
        if does == IS_NULL:
            sk[top, i], sw[top, i] = True, int(not sk[top, i])
        elif IS_TRUE <= does <= IS_FALSE:
            wanted = int(does == IS_TRUE)
            sk[top, i], sw[top, i] = True, int(sk[top, i] and sw[top, i] == wanted)
        elif does == AS_REAL:
            sr[top, i] = sw[top, i] / 10.0**what
        elif does == INVERT:
            sw[top, i] = 1 - sw[top, i]
        elif real:
            x = sr[top, i]
            sr[top, i] = -x if does == NEGATE else abs(x)
        else:
            n = sw[top, i]
            if n < -(2**63 - 1):
                sk[top, i] = False
            else:
                sw[top, i] = -n if does == NEGATE else abs(n)


@jitable
def _compute(
    ops: Ints, begins: Ints, constants: Floats, numbers: Ints, places: Ints,
    columns: Floats, wholes: Ints, known: Bools, integers: Ints, reals: Floats,
    sr: Floats, sw: Ints, sk: Bools, v: int, line: int, row: int, size: int, earliest: int,
) -> None:  # fmt: skip
    """Compute whether so many rows from ``row`` on are a variable: the lowest of their stacks says.

    ``line`` is that of the running numbers, ``earliest`` the first row of the group at hand, and
    ``sr``, ``sw`` and ``sk`` are the stacks: reals, whole numbers, and which values are known.
    """
    top = -1
    for k in range(begins[v], begins[v + 1]):
        does, what, real = ops[k, 0], ops[k, 1], ops[k, 2] == 1
        if does == COLUMN:
            top += 1
            column, place = what // PLACES, what % PLACES
            register, back = places[place, 0], places[place, 1]
            for i in range(size):
                at = row + i if register < 0 else integers[line, register]
                if at >= 0:
                    at -= back
                if at < earliest:
                    sk[top, i] = False
                elif real:
                    x = columns[column, at]
                    sr[top, i], sk[top, i] = x, x == x  # noqa: PLR0124
                else:
                    sw[top, i], sk[top, i] = (
                        wholes[column, at], known[column, at],
                    )  # fmt: skip
        elif does == RUNNING:
            top += 1
            register, counted = what // PLACES, what % PLACES - 1
            there = counted < 0 or integers[line, counted] > 0
            for i in range(size):
                sk[top, i] = there
                if real:
                    x = reals[line, register]
                    sr[top, i] = x
                    sk[top, i] = there and x == x  # noqa: PLR0124
                else:
                    sw[top, i] = integers[line, register]
        elif does <= UNKNOWN:
            top += 1
            for i in range(size):
                sk[top, i] = does == CONSTANT
                sr[top, i], sw[top, i] = (
                    (constants[what], numbers[what]) if does == CONSTANT else (0.0, 0)
                )
        elif does == AS_REAL or NEGATE <= does <= ABS or INVERT <= does <= IS_FALSE:
            _change(sr, sw, sk, does, what, top, real, size)
        else:
            _combine(sr, sw, sk, does, top, real, size)
            top -= 1


@jitable
def _follow(
    followers: Ints, columns: Floats, wholes: Ints, known: Bools, integers: Ints, reals: Floats,
    v: int, line: int, row: int,
) -> None:  # fmt: skip
    """Write the running numbers of the line after ``line``: a row has become a variable."""
    for i in range(integers.shape[1]):
        integers[line + 1, i] = integers[line, i]
    for i in range(reals.shape[1]):
        reals[line + 1, i] = reals[line, i]
    for f in range(len(followers)):
        of = followers[f, 1]
        if of >= 0 and of != v:
            continue
        does, real, column = (
            followers[f, 0], followers[f, 2] == 1, followers[f, 3],
        )  # fmt: skip
        target, size, counted = (
            followers[f, 4], followers[f, 5], followers[f, 6],
        )  # fmt: skip
        if does == FIRST_ROWS:
            for k in range(size):
                if integers[line + 1, target + k] < 0:
                    integers[line + 1, target + k] = row
                    break
            continue
        if does == LAST_ROWS:
            for k in range(size - 1, 0, -1):
                integers[line + 1, target + k] = integers[line, target + k - 1]
            integers[line + 1, target] = row
            continue
        if real:
            x = columns[column, row]
            if x != x:  # noqa: PLR0124
                continue
            if does == COUNT:
                integers[line + 1, target] += 1
            elif does == SUM:
                reals[line + 1, target] += x
            elif integers[line, counted] == 0:
                reals[line + 1, target] = x
            elif does == MIN:
                reals[line + 1, target] = min(reals[line, target], x)
            else:
                reals[line + 1, target] = max(reals[line, target], x)
            continue
        if column >= 0 and not known[column, row]:
            continue
        n = wholes[column, row] if column >= 0 else 1
        if does == COUNT:
            integers[line + 1, target] += 1
        elif does == SUM:
            total = integers[line, target]
            if abs(float(total) + float(n)) < _LIMIT:
                integers[line + 1, target] = total + n
            else:
                integers[line + 1, counted] = -NOWHERE  # from now on it is null
        elif integers[line, counted] == 0:
            integers[line + 1, target] = n
        elif does == MIN:
            integers[line + 1, target] = min(integers[line, target], n)
        else:
            integers[line + 1, target] = max(integers[line, target], n)


@jitable
def _begin_following(followers: Ints, integers: Ints, reals: Floats) -> None:
    """Write the running numbers before the first row of a match."""
    for i in range(integers.shape[1]):
        integers[0, i] = 0
    for i in range(reals.shape[1]):
        reals[0, i] = 0.0
    for f in range(len(followers)):
        if followers[f, 0] <= LAST_ROWS:
            target = followers[f, 4]
            for k in range(followers[f, 5]):
                integers[0, target + k] = -1


@jitable
def _is_one_of(is_a: Bools, mask: int, row: int) -> bool:
    """Whether a row is any of the variables of a mask, those aside that depend on a match."""
    for v in range(len(is_a)):  # noqa: SIM110 - no generators in kernels
        if mask >> v & 1 and is_a[v, row]:
            return True
    return False


@jitable
def _is_any(
    is_a: Bools, depends: Bools, followers: Ints,
    ops: Ints, begins: Ints, constants: Floats, numbers: Ints, places: Ints,
    columns: Floats, wholes: Ints, known: Bools, integers: Ints, reals: Floats,
    sr: Floats, sw: Ints, sk: Bools, mask: int, line: int, row: int, earliest: int,
) -> bool:  # fmt: skip
    """Whether a row may be any of the variables of a mask, after what was matched before it."""
    for v in range(len(depends)):
        if mask >> v & 1:
            if not depends[v]:
                if is_a[v, row]:
                    return True
                continue
            _follow(followers, columns, wholes, known, integers, reals, v, line, row)
            _compute(
                ops, begins, constants, numbers, places, columns, wholes, known,
                integers, reals, sr, sw, sk, v, line + 1, row, 1, earliest,
            )  # fmt: skip
            if sk[0, 0] and sw[0, 0] == 1:
                return True
    return False


@kernel(array(BOOL, 2)(PATTERN, DATA, INTS, NEW_BOOLS))
def define_rows(pattern: Pattern, data: Data, starts: Ints, wanted: Bools) -> Bools:
    """Which rows are the ``wanted`` variables, where no match matters.

    ``starts`` are the first rows of the groups, and the number of rows.
    """
    integers, reals = np.zeros((1, 1), np.int64), np.zeros((1, 1))
    deep = len(pattern.ops) + 1
    sr, sw = np.zeros((deep, BLOCK)), np.zeros((deep, BLOCK), np.int64)
    sk = np.zeros((deep, BLOCK), np.bool_)
    # Arrays, as to hand on a tuple of them takes longer than a step.
    ops, begins, constants, numbers, places = (
        pattern.ops, pattern.begins, pattern.constants, pattern.wholes, pattern.places,
    )  # fmt: skip
    columns, wholes, known = data.reals, data.wholes, data.known
    found = np.zeros((len(wanted), starts[-1]), np.bool_)
    for v in range(len(wanted)):
        if not wanted[v]:
            continue
        for g in range(len(starts) - 1):
            for row in range(starts[g], starts[g + 1], BLOCK):
                size = min(BLOCK, starts[g + 1] - row)
                _compute(
                    ops, begins, constants, numbers, places, columns, wholes, known,
                    integers, reals, sr, sw, sk, v, 0, row, size, starts[g],
                )  # fmt: skip
                for i in range(size):
                    found[v, row + i] = sk[0, i] and sw[0, i] == 1
    return found


@jitable
def _next_begin(after: int, variable: int, path: Ints, begin: int, end: int) -> int:
    """Where the next match may begin after one of the rows ``[begin, end)``, if not at its end."""
    found = begin
    if after == AFTER_FIRST_OF:
        for row in range(begin, end):
            if path[row - begin, 0] >> 1 == variable:
                found = row
                break
    elif after == AFTER_LAST_OF:
        for row in range(end - 1, begin, -1):
            if path[row - begin, 0] >> 1 == variable:
                found = row
                break
    return max(found, begin + 1)


@jitable
def _find_ends(
    steps: Ints, depends: Bools, is_a: Bools, begin: int, end: int, initial: int, last: int,
    ends: Ints,
) -> None:  # fmt: skip
    """Write the least row at which a match may end from each row of ``[begin, end]`` and step.

    It is the least of all ways, whatever depends on a match or on time: no match ends before.
    """
    for row in range(end, begin - 1, -1):
        line = row - begin
        for step in range(len(steps)):
            ends[line, step] = NOWHERE
        changed = True
        while changed:  # steps that lead back take another round
            changed = False
            for step in range(len(steps) - 1, -1, -1):
                does, one, two = steps[step, 0], steps[step, 1], steps[step, 2]
                found = NOWHERE
                if does == MATCH:
                    found = row
                elif does == ROW:
                    if row < end and (depends[one] or is_a[one, row]):
                        found = ends[line + 1, step + 1]
                elif does == NOT:
                    if row < end and not _is_one_of(is_a, one, row):
                        found = ends[line + 1, step + 1]
                elif does == SPLIT:
                    found = min(ends[line, one], ends[line, two])
                elif does == JUMP:
                    found = ends[line, one]
                elif does == NEVER or row == (initial if does == FIRST else last):
                    found = ends[line, step + 1]
                if found < ends[line, step]:
                    ends[line, step] = found
                    changed = True


@kernel(NEW_INTS(PATTERN, DATA, INTS, GROUPS, MATCHES))
def find_matches(
    pattern: Pattern, data: Data, t: Ints, groups: Groups, out: Matches
) -> Ints:  # fmt: skip
    """Find the matches of each group; see :class:`Matches`.

    Returns the number of matches, the group that took too many tries or -1, and then the labels of
    the rows of all matches: twice the variable, one more if the row is left out, or ``NONE``.
    """
    steps = pattern.steps
    first_only, many = pattern.limits[4] == 1, len(pattern.steps)
    followers, varies = pattern.followers, False
    followed = len(followers) > 0
    for v in range(len(pattern.depends)):
        varies = varies or pattern.depends[v]
    is_a, depends, alone, openers = data.is_a, pattern.depends, pattern.alone, pattern.openers
    after, within, most = pattern.limits[2], pattern.limits[0], pattern.limits[1]
    integers = np.zeros((64, max(pattern.limits[5], 1)), np.int64)
    reals = np.zeros((64, max(pattern.limits[6], 1)))
    path, stamps = np.zeros((64, 1), np.int64), np.zeros((64, 1), np.int64)
    tried, waiting = np.zeros((64, many), np.int64), np.zeros((64, 2), np.int64)
    ends = np.zeros((64, many), np.int64)
    deep = len(pattern.ops) + 1
    sr, sw = np.zeros((deep, 1)), np.zeros((deep, 1), np.int64)
    sk = np.zeros((deep, 1), np.bool_)
    # Arrays, as to hand on a tuple of them takes longer than a step.
    ops, begins, constants, numbers, places = (
        pattern.ops, pattern.begins, pattern.constants, pattern.wholes, pattern.places,
    )  # fmt: skip
    columns, wholes, known = data.reals, data.wholes, data.known
    labels = np.zeros((len(t) + 2, 1), np.int64)
    size, count, number, prefix = 2, 0, 1, 1
    labels[1, 0] = -1
    for g in range(len(groups.first)):
        earliest, begin, last = groups.starts[g], groups.first[g], groups.starts[g + 1]
        initial = begin if groups.begun[g] else -1
        found, far, origin, reach = groups.found[g], begin, begin, begin
        vain, began, block, until_row, ahead_far = -PATIENCE, begin, -1, -1, begin
        number += 1
        while begin < last:
            if first_only and found > 0:
                begin = last
                break
            stop = last
            if within > 0:
                far = max(far, begin)
                until = t[begin] + within
                while far < last and t[far] < until:
                    far += 1
                stop = far
            over = stop < last or groups.complete[g]
            if within > 0:
                over = over or t[begin] + within <= groups.now[g]
            ahead_of, sure = stop, over  # where absent variables are looked for
            if 0 < most <= stop - begin:
                stop, over = begin + most, True
            if len(openers):
                opens = False
                for k in range(len(openers)):
                    opens = opens or is_a[openers[k], begin]
                if not opens:
                    begin += 1
                    continue
            if within > 0 or most > 0 or begin > reach:
                number += 1
                origin = begin
            pruned = over and vain > VAIN * (begin - began)
            if pruned and (block < 0 or stop > until_row):
                block, until_row = begin, last
                if most > 0:
                    until_row = min(last, begin + 2 * most)
                if within > 0:
                    ahead_far = max(ahead_far, stop)
                    while ahead_far < last and t[ahead_far] < t[begin] + 2 * within:
                        ahead_far += 1
                    until_row = min(until_row, max(ahead_far, stop))
                ends = _grow(ends, until_row - block + 1)
                _find_ends(steps, depends, is_a, block, until_row, initial, last, ends)
            if pruned and ends[begin - block, 0] > stop:
                begin += 1
                continue
            if followed:
                _begin_following(followers, integers, reals)
            result, timed, top, tries, seen = FAILED, False, 1, 0, 0
            waiting[0, 0], waiting[0, 1] = 0, begin
            prefix += 1
            stamps[begin - origin, 0] = prefix
            row = begin
            while top > 0 and result == FAILED:
                top -= 1
                step, row = waiting[top, 0], waiting[top, 1]
                while True:
                    if varies:
                        tries += 1
                        if tries > MOST_TRIES:
                            result = TOO_LONG
                            break
                    if pruned and ends[row - block, step] > stop:
                        break
                    sign = number if alone[step] else stamps[row - origin, 0]
                    if tried[row - origin, step] == sign:
                        break
                    tried[row - origin, step] = sign
                    does, one, two = steps[step, 0], steps[step, 1], steps[step, 2]
                    if does <= NOT:
                        if row == stop:
                            if not over:
                                result = UNDECIDED  # a preferred way may yet lead to a match
                            break
                        line = row - begin
                        if row + 1 - origin >= len(tried):
                            tried = _grow(tried, row + 2 - origin)
                            stamps = _grow(stamps, row + 2 - origin)
                        if line + 1 >= len(path):
                            path = _grow(path, line + 2)
                            integers = _grow(integers, line + 2)
                            reals = _grow_reals(reals, line + 2)
                        if does == ROW:
                            if not depends[one] and not is_a[one, row]:
                                break
                            if followed:
                                _follow(
                                    followers, columns, wholes, known, integers, reals,
                                    one, line, row,
                                )  # fmt: skip
                            if depends[one]:
                                _compute(
                                    ops, begins, constants, numbers, places, columns, wholes, known,
                                    integers, reals, sr, sw, sk, one, line + 1, row, 1, earliest,
                                )  # fmt: skip
                                if not (sk[0, 0] and sw[0, 0] == 1):
                                    break
                            path[line, 0] = 2 * one + two
                        else:
                            if not varies:
                                if _is_one_of(is_a, one, row):
                                    break
                            elif _is_any(
                                is_a, depends, followers, ops, begins, constants, numbers, places,
                                columns, wholes, known, integers, reals, sr, sw, sk,
                                one, line, row, earliest,
                            ):  # fmt: skip
                                break
                            path[line, 0] = NONE
                            if followed:
                                _follow(
                                    followers, columns, wholes, known, integers, reals,
                                    NONE, line, row,
                                )  # fmt: skip
                        step, row = step + 1, row + 1
                        reach = max(reach, row)
                        seen += 1
                        if varies:
                            prefix += 1
                            stamps[row - origin, 0] = prefix
                    elif does == SPLIT:
                        if top >= len(waiting):
                            waiting = _grow(waiting, top + 1)
                        waiting[top, 0], waiting[top, 1] = two, row
                        top += 1
                        step = one
                    elif does == JUMP:
                        step = one
                    elif does == FIRST:
                        if row != initial:
                            break
                        step += 1
                    elif does == LAST:
                        if row < last:
                            break
                        if not groups.complete[g]:
                            result = UNDECIDED
                            break
                        step += 1
                    elif does == NEVER:
                        there = False
                        for ahead in range(row, ahead_of):
                            if there:
                                break
                            if not varies:
                                there = _is_one_of(is_a, one, ahead)
                                continue
                            line = row - begin
                            if line + 1 >= len(path):
                                path = _grow(path, line + 2)
                                integers = _grow(integers, line + 2)
                                reals = _grow_reals(reals, line + 2)
                            there = _is_any(
                                is_a, depends, followers, ops, begins, constants, numbers, places,
                                columns, wholes, known, integers, reals, sr, sw, sk,
                                one, line, ahead, earliest,
                            )  # fmt: skip
                        if there:
                            break
                        if not sure:
                            result = UNDECIDED
                            break
                        timed = True
                        step += 1
                    else:
                        result = FOUND
                        break
            if result == UNDECIDED:
                break
            if result == TOO_LONG:
                labels[1, 0] = g
                break
            if result == FAILED:
                vain += seen
                begin += 1
                continue
            out.lo[count], out.hi[count], out.group[count] = begin, row, g
            out.timed[count], out.at[count] = timed, size - 2
            labels = _grow(labels, size + row - begin)
            for line in range(row - begin):
                labels[size + line, 0] = path[line, 0]
            size += row - begin
            count += 1
            found += 1
            if after == AFTER_LAST:
                begin = row
            else:
                begin = _next_begin(after, pattern.limits[3], path, begin, row)
            number += 1
            reach = begin - 1
        out.left[g] = begin
    labels[0, 0] = count
    told = np.empty(size, np.int64)
    for at in range(size):
        told[at] = labels[at, 0]
    return told
