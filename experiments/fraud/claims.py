"""What ``claim.md`` says, from the tables of the pages beside it."""

from __future__ import annotations

from experiments.claims import column, number
from experiments.fraud import payments as p
from experiments.fraud.engines import OURS, OVER, POLARS, TREES

WHOSE = {"results": "invented", "published": "published"}


def said(results):
    """Phrases of ``claim.md``, each with whether it is so."""
    for page, tables in results.items():
        yield from _agreement(WHOSE[page], tables)
    yield from _time(results["results"])


def _agreement(whose, tables):
    payments = next(
        row["payments"] for rows in tables.values() for row in rows if "payments" in row
    )
    yield f"{payments} {whose} payments", True
    lines = tables["Agreement"]
    values = sum(int(one) for one in column(lines, "values"))
    same = not sum(column(lines, "differing"))
    yield f"all {values:,} values agree", same and len(lines) == 12
    worst = max(number(row["greatest difference"]) for row in lines)
    yield f"means by at most {worst:.0e}", worst <= 1e-9
    ties = {row["key"]: row for row in tables["Ties"]}
    told = ties["CUSTOMER_ID"]
    yield (
        f"{told['payments with a tie']} payments share customer and instant with another",
        number(told["others differing"]) == 0,
    )
    yield f"{told['of them differing']} would differ if ties were left as they are", True
    yield (
        f"{ties['TERMINAL_ID']['payments with a tie']} that share terminal and instant",
        number(ties["TERMINAL_ID"]["of them differing"]) == 0,
    )


def _time(tables):
    means = {row["feature"]: row["mean"] for row in tables["Agreement"]}
    for name, whose in ((p.COUNTS, "customer"), (p.SEEN, "terminal")):
        one, seven, thirty = (means[f"{name}_{label}"] for label in p.DAYS)
        yield f"{one}, {seven} and {thirty} rows of a {whose}", True
    rows = tables["Time"]
    took = {row["engine"]: number(row["seconds"]) for row in rows}
    yield "All other engines give the values of fanlight", not sum(column(rows, "differing"))
    yield f"fanlight takes {took[OURS] / took[POLARS]:.1f} times what Polars does", True
    yield f"{took[OURS] / took[OVER]:.1f} times what Spark's own windows do", True
    slower = took[TREES] / took[OVER]
    yield f"Segment trees make these {slower:.1f} times slower", slower > 1
