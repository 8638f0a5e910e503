"""The cost model's choices beside measured times: ``python -m experiments.panes.choices``.

Each strategy is forced in turn; what ``auto`` would take, told the rate and the number of groups,
is read off ``explain()``. A full run writes ``choices.md``, which a test holds ``auto`` against;
``--replan`` keeps the times of that page and asks today's cost model what it takes;
``--again 0 --again 5`` measures those rows of it anew before.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import click

import fanlight as fl
from experiments import commands, sessions
from experiments.claims import number, tables
from experiments.panes import report
from experiments.panes.auction import SECOND, auction, parquet
from experiments.panes.measure import Ways, alike, sure
from fanlight import agg

HERE = Path(__file__).parent
RATE = 1000.0  # bids a second
BIDS = 4_000_000  # where windows are few: a job's own overhead should not count
LIMIT = 1.3  # times the best that a choice may take
CALLS = {
    "max": lambda: agg.max("bid_price"),
    "count": agg.count,
    "stddev": lambda: agg.stddev_samp("bid_price"),
}
TEXT = """\
# What `auto` takes, and what would have been fastest

{machine}. Written by `python -m experiments.panes.choices`. Generated bids in Parquet, 1000 a
second, by item where there are groups; CPU seconds of the whole query, scan included, the
least of at least {runs} runs in turn after one that compares the answers. `auto` is told the rate
and the number of groups; *auto / best* is the time of what it takes over the least.
"""


class Case(NamedTuple):
    """A workload."""

    kind: str  # the aggregate
    tuples: float  # a pane
    groups: int
    panes: int  # a window
    step: int = 1  # panes a SLIDE

    @property
    def spec(self):
        pane = int(self.tuples * SECOND / RATE)
        return fl.Sliding(f"{self.panes * pane} microseconds", f"{self.step * pane} microseconds")

    def over(self, bids):
        """The windows, with what is known of the workload."""
        by = ["item_id"] if self.groups > 1 else []
        windows = fl.over(bids, self.spec, time="timestamp", by=by)
        return windows.using("auto", rate=RATE, groups=self.groups)


CASES = (
    *(Case("max", tuples, 1, panes) for tuples, panes in (
        (0.05, 5), (0.2, 5), (1, 2), (1, 5), (1, 20), (5, 2), (5, 5), (5, 20), (20, 2), (20, 5),
        (100, 2), (100, 20),
    )),
    *(Case("max", tuples, groups, panes) for tuples, groups, panes in (
        (100, 10, 2), (100, 10, 5), (100, 10, 20), (10, 1000, 5), (100, 1000, 2), (100, 1000, 5),
        (100, 1000, 20), (1000, 1000, 5), (10_000, 1000, 5), (100, 100_000, 2), (100, 100_000, 5),
        (10_000, 100_000, 5),
    )),
    *(Case("count", tuples, groups, panes) for tuples, groups, panes in (
        (1, 1, 5), (20, 1, 5), (20, 1, 60), (100, 1, 60), (100, 1000, 5), (1000, 1000, 20),
    )),
    Case("count", 100, 10, 3, 2),
    Case("max", 100, 10, 3, 2),
    Case("max", 20, 1, 7, 5),
    Case("stddev", 20, 1, 5),
    Case("stddev", 100, 10, 10),
    Case("stddev", 100, 1000, 5),
)  # fmt: skip


def candidates(case):
    """The strategies that can compute it, one name each."""
    names = ["panes", "expand"]
    names += ["pairs"] if case.panes % case.step else []
    return names + (["differential"] if case.kind == "count" else [])


def chosen(windows, call):
    """What ``auto`` takes."""
    return re.search(r"^ *strategy +(\w+)", windows.explain(call), re.MULTILINE)[1]


def measured(spark, folder, size, runs, cases):
    rows, made = [], {}
    for case in cases:
        share = 1.0 if case.tuples >= 5 and case.groups < 100 else 0.25
        # Where panes are mostly empty there are more windows than rows.
        many = max(int(size * share * min(4 * case.tuples, 1)), 1000)
        if (many, case.groups) not in made:
            data = auction(many, rate=RATE, items=case.groups, skew=0.0)
            made[many, case.groups] = parquet(spark, folder, f"{many}_{case.groups}", data)
        windows = case.over(made[many, case.groups])
        call, names = CALLS[case.kind](), candidates(case)
        frames = {name: windows.using(name).agg(call) for name in names}
        if case.kind != "stddev":  # its last digits depend on the order of combining
            for name in names[1:]:
                sure(alike(frames[names[0]], frames[name]), f"{case}, {name}")
        taken = Ways(runs, made[many, case.groups], "timestamp").whole(*frames.values())
        times = dict(zip(names, taken, strict=True))
        pick = chosen(windows, call)
        ratio = times[pick] / min(times.values())
        row = case._asdict() | {f"{name}, s": times.get(name) for name in STRATEGIES}
        rows.append(row | {"bids": f"{many:,}", "auto": pick, "ratio": ratio})
        print(*(report.shown(value) for value in rows[-1].values()), flush=True)
    return rows


STRATEGIES = ("panes", "pairs", "expand", "differential")
HEADINGS = {
    "kind": "aggregate", "tuples": "tuples a pane", "groups": "groups", "panes": "P/W",
    "step": "panes a SLIDE", "bids": "bids", **{f"{n}, s": f"{n}, s" for n in STRATEGIES},
    "auto": "auto takes", "ratio": "auto / best",
}  # fmt: skip


def page(head, rows):
    """All of ``choices.md``."""
    worst = max(row["ratio"] for row in rows)
    foot = f"The worst choice takes {worst:.2f} times the least."
    return f"{head}\n{report.table(rows, **HEADINGS)}\n\n{foot}\n"


def replanned(spark, folder, text, again):
    """The page with the choices of the code as it stands, and some rows measured ``again``."""
    (old,) = tables(text).values()
    measured(spark, folder, BIDS, 3, [CASES[n] for n in again])  # the JVM warms up
    fresh = dict(
        zip(again, measured(spark, folder, BIDS, 3, [CASES[n] for n in again]), strict=True)
    )
    rows = []
    for place, (case, row) in enumerate(zip(CASES, old, strict=True)):
        told = {key: number(row[heading]) for key, heading in HEADINGS.items()}
        if tuple(case[1:]) != (told["tuples"], told["groups"], told["panes"], told["step"]):
            raise SystemExit(f"{case} is not what was measured: {row}")
        data = parquet(spark, folder, f"{case.groups}", auction(10, rate=RATE, items=case.groups))
        pick = chosen(case.over(data), CALLS[case.kind]())
        taken = {f"{name}, s": told[f"{name}, s"] for name in STRATEGIES}
        ratio = taken[f"{pick}, s"] / min(s for s in taken.values() if s is not None)
        kept = case._asdict() | taken | {"bids": row["bids"], "auto": pick, "ratio": ratio}
        rows.append(fresh.get(place, kept))
    return page(text[: text.index("|")].rstrip("\n") + "\n", rows)


@commands.command()
@commands.smoke
@click.option("--replan", is_flag=True, help="Ask for the choices anew, and keep the times.")
@click.option(
    "--again", type=click.IntRange(0, len(CASES) - 1), multiple=True,
    help="Measure this row of choices.md anew, from 0 on, and keep the others; repeatable.",
)  # fmt: skip
def main(smoke, replan, again):
    """What `auto` takes, beside the times of each strategy: writes choices.md beside this file."""
    size, runs, cases = (20_000, 1, CASES[:1]) if smoke else (BIDS, 3, CASES)
    spark = sessions.start("panes.choices", partitions=4)
    with tempfile.TemporaryDirectory() as folder:
        if replan or again:
            text = replanned(spark, folder, (HERE / "choices.md").read_text("utf-8"), again)
        else:
            measured(spark, folder, size, 1, cases[::5])  # the JVM warms up
            rows = measured(spark, folder, size, runs, cases)
            text = page(TEXT.format(machine=report.machine(report.java(spark)), runs=runs), rows)
    spark.stop()
    print(text)
    if not smoke:
        (HERE / "choices.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
