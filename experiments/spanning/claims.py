"""What ``claim.md`` says, from the tables of ``results.md``."""

from __future__ import annotations

from experiments.claims import between, column, number

PAPERS = ("tuple-buckets", "aggregate-buckets", "sweeping", "se-slicing")


def panels(tables, figure):
    """The panels of a figure: title, then {technique: {x: rate}} with None where not run."""
    found = {}
    for key, rows in tables.items():
        if key.startswith(f"Figure {figure}:") and " / " in key and "(2)" not in key:
            head = next(iter(rows[0]))
            found[key.split(" / ")[1]] = {
                row[head]: {x: number(cell) for x, cell in row.items() if x != head} for row in rows
            }
    return found


def cells(panel):
    """{x: {technique: rate}} of a panel, less what was not run."""
    found = {}
    for name, rates in panel.items():
        for x, rate in rates.items():
            if rate is not None:
                found.setdefault(x, {})[name] = rate
    return found


def best(cell, names):
    return max((name for name in names if name in cell), key=cell.get)


def ratios(panel, one, other):
    return [cell[one] / cell[other] for cell in cells(panel).values() if {one, other} <= {*cell}]


def said(results):
    """Phrases of ``claim.md``, each with whether it is so."""
    tables = results["results"]
    return [
        *_flat(tables), *_figure10(tables), *_figure11(tables), *_figure12(tables),
        *_figure13(tables), *_figure14(tables), *_figure15(tables),
    ]  # fmt: skip


def _flat(tables):
    rows = tables["Flat in the duration"]
    ours = column(rows, "levels, M events/s")
    rates = f"{min(ours):.0f} to {max(ours):.0f} million events a second of CPU time"
    yield f"levels take {rates}: within {max(ours) / min(ours):.2f}", True
    told = {row["slices an event"]: row for row in rows}
    for slices, row in told.items():
        yield f"{row['ratio']} times at {slices}", True
    yield "At 50 slices it is not three times", number(told["50"]["ratio"]) < 3


def _figure10(tables):
    found = [cell for panel in panels(tables, 10).values() for cell in cells(panel).values()]
    first = sum(best(cell, PAPERS) == "se-slicing" for cell in found)
    ours = [cell["levels"] for cell in found]
    swept = [cell["sweeping"] for cell in found]
    yield f"SE-Slicing is first of the paper's in {first} of {len(found)} cells", True
    yield f"sweeping is constant ({between(swept, '{:.1f}')} million events/s)", True
    yield f"levels take {between(ours, '{:.0f}')} million", True


def _figure11(tables):
    found = panels(tables, 11)
    for title, panel in found.items():
        told = cells(panel)
        tall = [
            max((n for n in cell if n.startswith("d=")), key=cell.get) for cell in told.values()
        ]
        yield f"{title}: {', '.join(tall)}", True
    counted = [cell for panel in found.values() for cell in cells(panel).values()]
    ahead = sum(
        all(cell[n] > cell["d=1"] for n in cell if n.startswith("d=") and n != "d=1")
        for cell in counted
    )
    yield f"every height above 1 is ahead of 1 in {ahead} of {len(counted)} cells", True


def _figure12(tables):
    found = panels(tables, 12)
    told = [
        (title, x, best(cell, PAPERS))
        for title, panel in found.items()
        for x, cell in cells(panel).items()
    ]
    swept = [(title, x) for title, x, name in told if name == "sweeping"]
    first = sum(name == "se-slicing" for *_, name in told)
    yield f"SE-Slicing is first of the paper's in {first} of {len(told)} cells", True
    yield f"sweeping in {len(swept)}, all of ω/β = 500", all("= 500," in t for t, _ in swept)
    cost = []
    for mean in ("500", "5,000"):
        whole = cells(found[f"ω/β = 5, μ = {mean}"])
        pair = cells(found[f"ω/β = 5.5, μ = {mean}"])
        cost += [pair[x]["se-slicing"] / whole[x]["se-slicing"] for x in whole]
    yield f"two slices a step leave it {between(cost)} of its rate", True
    ours = [
        ratio
        for title, panel in found.items()
        if "5.5" in title
        for ratio in ratios(panel, "levels", "se-slicing")
    ]
    yield f"levels there are {between(ours)} of SE-Slicing", True


def _figure13(tables):
    for title, panel in panels(tables, 13).items():
        if "= 50," in title:
            tall = [
                max((n for n in cell if n.startswith("d=")), key=cell.get)
                for cell in cells(panel).values()
            ]
            yield f"{title}: {', '.join(tall)}", True
        if "= 500," in title:
            found = list(cells(panel).values())
            flat = sum(all(c["d=1"] >= c[n] for n in c if n.startswith("d=")) for c in found)
            yield f"{title}: height 1 in {flat} of {len(found)}", True


def _figure14(tables):
    found = panels(tables, 14)
    single, tall = found["single-level"], cells(found["heights"])
    for name in PAPERS[:-1]:
        yield f"{between(ratios(single, 'se-slicing', name), '{:.1f}')} times {name}", True
    gains = {
        x: max(c[n] for n in c if n.startswith("d=")) / c["se-slicing"] for x, c in tall.items()
    }
    pays = [x for x, gain in gains.items() if gain > 1.2]
    yield (
        f"heights pay at {pays[0]} to {pays[-1]} minutes, up to {max(gains.values()):.1f} times",
        True,
    )
    least = {
        x: c["levels"] / max(r for n, r in c.items() if n != "levels") for x, c in tall.items()
    }
    x = min(least, key=least.get)
    yield f"levels fall to {least[x]:.2f} of the best height at {x} minutes", True


def _figure15(tables):
    rows = tables["Figure 15: who is best"]
    told = column(rows, "levels / best")
    name = "best of the paper's"
    good = sum(ratio >= 0.8 for ratio in told)
    share = f"Levels are at least 0.8 of the best of them in {good} of {len(told)} cells"
    yield f"{share}, and {between(told)} times it in all", True
    top = rows[told.index(max(told))]
    where = f"μ = {number(top['μ']):,.0f}, ω/β = {top['ω/β']}, ω = {top['ω']}"
    yield f"the most at {where}, over {top[name]}", True
    for technique in ("se-slicing", "se-ml-slicing", "sweeping", "aggregate-buckets"):
        count = sum(row[name].startswith(technique) for row in rows)
        yield f"{technique} in {count}", True
    few = [
        number(row["μ"]) * number(row["ω/β"]) / number(row["ω"])
        for row, ratio in zip(rows, told, strict=True)
        if ratio < 0.8
    ]
    yield f"in the other {len(few)} events span {between(few, '{:.1f}')} slices", True
    missing = {row["not run"] for row in rows} - {"–"}
    yield "only tuple buckets were not run everywhere", missing <= {"tuple-buckets"}
