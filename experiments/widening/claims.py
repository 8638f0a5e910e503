"""What ``claim.md`` says, from the tables of ``results.md``."""

from __future__ import annotations

from experiments.claims import between, column, number

WIN = 0.05  # of the fixed windows' work: less apart is a tie, not a win


def said(results):
    """Phrases of ``claim.md``, each with whether it is so."""
    tables = results["results"]
    return [*_delay(tables), *_work(tables), *_others(tables)]


def _delay(tables):
    one = tables["Figure 5: one stream, a call a second"]
    many = tables["Figure 5 by process: from ten seconds to a day"]
    yield f"{between(column(one, 'delay / duration'))} of it in one stream", True
    yield f"{between(column(many, 'delay / duration'))} by process", True
    yield "every hidden episode found once", all(r["injected"] == r["found"] for r in one + many)


def _work(tables):
    rows = tables["Figure 6: work against the first batch's duration"]
    below = all(
        number(row[work]) < number(row[bound])
        for row in rows
        for work, bound in (("R(n)=n", "bound"), ("R(n)=n²", "bound (2)"))
    )
    yield "below at every setting", below
    first, last = rows[0], rows[-1]
    yield f"{first['R(n)=n']} rows a unit against {number(first['bound']):.0f} at t = 1", True
    yield f"{last['R(n)=n']} against {number(last['bound']):.0f} at t = 100", True
    yield "where R(n) = n never", all(number(r["R(n)=n"]) > number(r["fixed"]) for r in rows)
    shares = {row["t"]: number(row["R(n)=n²"]) / number(row["fixed (2)"]) - 1 for row in rows}
    won = [t for t, share in shares.items() if share < -WIN]
    yield "where R(n) = n² no better either", not won
    level = [t for t, share in shares.items() if abs(share) <= WIN]
    yield (
        f"from t = {level[0]} on it is a tie, {between(_percents(shares, level), '{:.1f}')} %",
        (level == list(shares)[list(shares).index(level[0]) :]),
    )
    early = [share for t, share in shares.items() if t not in level]
    yield f"before that {between([s * 100 for s in early], '{:.0f}')} % more", True


def _percents(shares, chosen):
    return [shares[t] * 100 for t in chosen]


def _others(tables):
    found = [row for key in tables for row in tables[key] if key.startswith("Guessed passwords")]
    yield "every guesser found once", all(r["guessers"] == r["found"] for r in found)
