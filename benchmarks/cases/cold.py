"""The first query of a fresh process, beside Spark's own first one."""

from __future__ import annotations

from benchmarks.cases.spans import table
from benchmarks.first import KINDS, fresh
from benchmarks.queries import agree
from benchmarks.timing import DisagreementError, Result

FIRST = 12  # kinds of windows; after them come aggregates in sliding windows
SMOKED = ("tumbling", "boundary")
NATIVE, WORKERS = 1.0, 4.0  # seconds over Spark's own, at most, without and with Python workers


def cold(bench):
    """A process each, and no kernel compiled yet: the seconds from the first import to the end."""
    folder = table(bench.spark, bench.small.rows, 5, spread=1, keys=10, files=2).folder
    lines, unreached = [], []
    for name in SMOKED if bench.smoke else list(KINDS)[:FIRST]:
        kind, best, said = KINDS[name], {}, {}
        for _ in range(1 if bench.smoke else min(bench.rounds, 3)):
            for whose in ("ours", "theirs"):
                (found,) = fresh([name], whose, folder)
                said[whose] = found["answer"]
                best[whose] = min(found["cold"], best.get(whose, found["cold"]))
                bench.say(f"  {name}, {whose}: {found['cold']:.2f} s")
        if not kind.alone and not agree(said["ours"], said["theirs"]):
            raise DisagreementError(f"{name}: {said}")
        over, most = best["ours"] - best["theirs"], WORKERS if kind.workers else NATIVE
        if over > most and not bench.smoke:
            unreached.append(
                f"cold, {name}: {over:.2f} s over Spark's own; the goal is at most {most:g} s"
            )
        times = [f"{seconds:.2f}" for seconds in (best["ours"], best["theirs"], over)]
        lines.append([name, *times])
    head = ["windows", "fanlight, s", "Spark's own, s", "over"]
    shown = ("The first query of a process, nothing compiled yet", head, lines)
    return Result([], [shown], unreached)
