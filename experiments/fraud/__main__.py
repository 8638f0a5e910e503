"""Run the experiment: ``python -m experiments.fraud [--smoke] [--folder FOLDER]``."""

from __future__ import annotations

import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path

import click
import numpy as np

from experiments import commands, draw
from experiments.fraud import agreement, engines, measure, rolling
from experiments.fraud import payments as p
from experiments.multi_granular.tables import table

FULL, SMOKE = (5_000, 10_000, 183), (60, 90, 60)
TICK = 600  # seconds, of the small sample: so that it has ties
PACKAGES = ("pyspark", "polars", "duckdb", "pandas")
TEXT = """\
# Results: {title}

{cores} cores, {memory:.0f} GiB, Python {python}, {versions}. Written by
`python -m experiments.fraud{asked}`; see claim.md.

{data}

## Agreement

fanlight beside {counterpart}: every value. Counts are compared exactly,
means and risks to {limit:g} of the value, or of 1 where it is less. A row of pandas does not see
those of its customer and its instant that come later, which fanlight sees: in such ties ours are
compared less the later rows. A terminal's windows end {kept} days before, so there ties make no
difference.

{lines}

## Ties

What differs if ties are left as they are.

{ties}

## Time

{times}

{raced}

![Seconds of each engine]({picture})
"""
HOW = f"""\
The same Parquet file read, twelve features computed, all written as Parquet. Each engine in a
process of its own with {measure.sessions.CORES} cores; it runs {measure.WARM} times, then
{measure.RUNS} times that count, in turn with the others; the least. The start of a Spark session
is in no time. *differing*: values other than fanlight's; for pandas, as above. Segment trees are
`{engines.TREE}`, which Spark has off unless told."""


def described(payments):
    """What payments there are, in a table."""
    return table([{
        "payments": len(payments),
        "customers": payments[p.CUSTOMER].nunique(),
        "terminals": payments[p.TERMINAL].nunique(),
        "days": payments[p.TIME].dt.normalize().nunique(),
        "frauds": int(payments[p.FRAUD].sum()),
    }])  # fmt: skip


def count_ties(ours, theirs):
    """For each key: rows with a tie, and how many rows and values of its features differ there."""
    found = []
    for key in (p.CUSTOMER, p.TERMINAL):
        names = [name for name in p.FEATURES if name.startswith(key)]
        ties = agreement.tied(ours, key)
        apart = ~np.isclose(ours[names], theirs[names], rtol=agreement.LIMIT, atol=agreement.LIMIT)
        found.append({
            "key": key,
            "payments with a tie": int(ties.sum()),
            "of them differing": int(apart[ties].any(axis=1).sum()),
            "others differing": int(apart[~ties].any(axis=1).sum()),
        })  # fmt: skip
    return found


def race(ours, source, targets, *, smoke):
    """The times of all engines, each with how many of its values differ."""
    told = (measure.once if smoke else measure.race)(source, targets)
    lines = []
    for name, target in targets.items():
        theirs = agreement.read_features(target)
        mine = agreement.end_at_the_row(ours, theirs) if name == engines.PANDAS else ours
        apart = agreement.differing(agreement.compare(mine, theirs))
        lines.append({"engine": name} | told[name] | {"differing": apart})
    return lines


def settle(lines, what):
    """Stop where something differs."""
    if apart := agreement.differing(lines):
        print(table(lines))
        raise SystemExit(f"{apart} values differ{what}")


@commands.command()
@commands.smoke
@click.option("--folder", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The book's pickles, one a day. Reading a pickle runs whatever code is in it: "
              "only from a source that you trust.")  # fmt: skip
def main(smoke, folder):
    """Features of card payments, beside those of their authors and beside other engines.

    Without a folder payments are invented, and the features are computed by the authors' method.
    Writes results.md, or of a folder published.md, and a figure beside this file.
    """
    if folder:
        payments = theirs = p.read_days(folder)
    else:
        payments = p.invent(*SMOKE, tick=TICK) if smoke else p.invent(*FULL)
        theirs = rolling.add_features(payments[p.GIVEN]).reset_index(drop=True)
    page = "published" if folder else "results"
    with tempfile.TemporaryDirectory() as made:
        source = Path(made) / "payments.parquet"
        payments[p.GIVEN].to_parquet(source, index=False)
        targets = {name: Path(made) / f"{n}.parquet" for n, name in enumerate(engines.ENGINES)}
        measure.once(source, {engines.OURS: targets[engines.OURS]})
        ours = agreement.read_features(targets[engines.OURS])
        lines = agreement.compare(agreement.end_at_the_row(ours, theirs), theirs)
        settle(lines, "")
        raced = race(ours, source, targets, smoke=smoke)
        settle(raced, " from those of fanlight")
    told = TEXT.format(
        title="the book's payments" if folder else "invented data",
        cores=os.cpu_count(), python=platform.python_version(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        versions=", ".join(f"{name} {version(name)}" for name in PACKAGES),
        asked=" --folder FOLDER" if folder else "", data=described(payments),
        counterpart="the features in the files" if folder else "the authors' method in pandas",
        limit=agreement.LIMIT, kept=p.KEPT, lines=table(lines),
        ties=table(count_ties(ours, theirs)), times=HOW, raced=table(raced),
        picture=f"{page}.svg",
    )  # fmt: skip
    print(told)
    draw.keep("fraud", page, told, smoke=smoke)


if __name__ == "__main__":
    main()
