"""Rows of one key, in one task and in chunks: one core, two, and two workers of a cluster."""

from __future__ import annotations

import json
import shutil

from benchmarks.cases.cluster import MORE, ONE, ROUNDS, TWO, everywhere
from benchmarks.data import SMALL, table
from benchmarks.on_master import HOLDS, KINDS_OF_ONE_KEY, PARTS, WAYS
from benchmarks.sessions import BATCH_BYTES, UNCOUNTED
from benchmarks.timing import DisagreementError, Page, Result, Row

ARROW, CHUNKS = WAYS
PAPER, CORES = 1_000_000_000, (1, 10, 100, 400)
JOINING = 64  # tasks that join seams, at most
LONG = ("threshold", "sessions", "trailing hour")  # kinds that are asked of so many times the rows
TEXT = f"""\
All rows are of one key, without `by`. *arrow* is how fanlight computes such windows otherwise: one
task puts all rows in order. *chunks* is `using("chunks")`: tasks have ranges of time. Rows are made
up, in Parquet files: a timestamp, a double and an int, over one day. *threshold* is frames of rows
for which `{HOLDS}`, each some half seconds long; *sessions* are of the rows for
which that is so, with a gap of 400 milliseconds; *short frames* have two rows on average; *trailing
hour* is each row with the hour before it. All have count, sum and max. In all but *bytes counted*,
`{BATCH_BYTES}` is {UNCOUNTED}, as `fl.doctor` advises.

`local[1]` is on one core of the machine, which Spark and its Python worker share. `local[2]` has
two cores; there the one task of *arrow* uses both, Spark one and Python the other. *Two workers* is
a standalone cluster of two workers, each on a core of its own, with an executor of one core and
1 GB of heap; its driver, which runs no task, is on the same two cores.

Seconds are from the call of `over` until a checksum of the result is there: how many rows it has,
and the sum of the hashes of these rows. All must have the same checksum, in every round, or nothing
is written. The best of {ROUNDS} rounds counts; {MORE} times as many rows have one round. *MB of a
Python worker* is the most that one of them held, of which about 150 are libraries. It holds the
open frame's partials, or the rows of the longest window: an hour has {MORE} times as many rows if
the day has.

*On paper* is what would happen on more cores, from the seconds for which tasks ran on one core, in
proportion to rows. *sample*: Spark reads all rows once before, and keeps some times, to find the
ranges or their length. *divide*: it reads them again, and sends each to the task of its range.
*cut*: tasks sort their rows and cut them, in *arrow* a single one. *join*: frames at seams are
joined and all are numbered, in at most {JOINING} tasks. *fixed* is what is left of the seconds:
planning, starting tasks, and waiting. It is assumed that time is divided evenly, that no core waits
for a disk or the network, and that *fixed* stays as it is; none of these is quite so. More cores
do not help where the rest takes less than *fixed*, nor with very short frames beyond {JOINING}
cores, nor with trailing windows beyond half as many cores as windows fit into the data."""


def hot_key(bench):
    """Frames, sessions and features of rows, all with the same key: in a single task, in chunks."""
    rows = SMALL if bench.smoke else bench.table.rows
    asked = [(kind, way, rows) for kind in KINDS_OF_ONE_KEY for way in WAYS]
    if not bench.smoke:
        asked += [(LONG[0], ARROW, MORE * rows), *((kind, CHUNKS, MORE * rows) for kind in LONG)]
    tables = {number: table(bench.spark, number, keys=1) for _, _, number in asked}
    queries = {
        (f"{kind}, {way}", number, 0): f"{kind}, {way}:{ROUNDS if number == rows else 1}"
        f":{tables[number].folder}"
        for kind, way, number in asked
    }
    try:
        found = everywhere(bench, queries, pinned=True)
    finally:
        for number, made in tables.items():
            if number > rows:
                shutil.rmtree(made.folder)
    return compared(asked, {where: {one[:2]: told for one, told in of.items()}
                            for where, of in found.items()})  # fmt: skip


def compared(asked, found):
    """The seconds of all queries, and how many times as fast more cores and chunks make them."""
    listed, rows = [], []
    for kind, way, number in asked:
        one = (f"{kind}, {way}", number)
        other = (f"{kind}, {ARROW}", number)
        answers = {json.dumps(of[each]["answer"]) for of in found.values()
                   for each in (one, other) if each in of}  # fmt: skip
        if len(answers) > 1 or not all(of[one]["same"] for of in found.values()):
            raise DisagreementError(f"{one}: {answers}")
        taken = {where: of[one]["seconds"] for where, of in found.items()}
        more = [f"{taken[ONE] / taken[where]:.2f}" for where in taken if where != ONE]
        held = max(of[one]["worker"] for of in found.values()) / 1e6
        listed.append([kind, way, f"{number:,}", *(f"{one:.1f}" for one in taken.values()),
                       *more, f"{held:,.0f}"])  # fmt: skip
        if way == CHUNKS:
            case = f"one key, {kind}, {number:,} rows"
            rows += [
                Row(case, f"chunks, {where}", taken[where], f"chunks, {ONE}", taken[ONE],
                    at_least=1.7)
                for where in taken if where != ONE
            ]  # fmt: skip
            if TWO in found and other in found[TWO]:
                theirs = found[TWO][other]["seconds"]
                rows.append(Row(case, f"chunks, {TWO}", taken[TWO], f"arrow, {TWO}", theirs))
    tables = [_seconds(found, listed), _on_paper(asked, found[ONE])]
    return Result(rows, tables, page=Page("hot-key", "One key that has all rows", TEXT, {}))


def _seconds(found, listed):
    masters = list(found)
    head = ["windows", "way", "rows", *(f"{where}, s" for where in masters),
            *(f"{where}, times as fast" for where in masters if where != ONE),
            "MB of a Python worker"]  # fmt: skip
    return ("Seconds, and how many times as fast as on one core", head, listed)


def _on_paper(asked, first):
    """What a billion rows would take on many cores, from what each part took on one."""
    lines = []
    for kind, way, number in asked:
        told = first[f"{kind}, {way}", number]
        parts = {part: taken * PAPER / number for part, taken in told["parts"].items()}
        fixed = max(told["seconds"] - sum(told["parts"].values()), 0)
        shared = parts["sample"] + parts["divide"] + (parts["cut"] if way == CHUNKS else 0)
        alone = 0 if way == CHUNKS else parts["cut"]

        def taken(cores, shared=shared, alone=alone, joined=parts["join"], fixed=fixed):
            return fixed + alone + shared / cores + joined / min(cores, JOINING)

        each = (f"{parts[part]:,.0f}" for part in parts)
        lines.append([kind, way, f"{number:,}", *each, f"{fixed:.1f}",
                      *(f"{taken(cores):,.0f}" for cores in CORES)])  # fmt: skip
    head = ["windows", "way", "measured with rows", *(f"{part}, s" for part in PARTS), "fixed, s",
            *(f"on {cores:,} core{'s' * (cores > 1)}, s" for cores in CORES)]  # fmt: skip
    return (f"On paper: {PAPER:,} rows of one key", head, lines)
