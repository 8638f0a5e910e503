"""What ``claim.md`` says, from the tables of the pages beside it."""

from __future__ import annotations

from experiments.claims import between, column, number

OPERATIONS = ("SUM", "regression", "recurring")


def found(tables, start):
    """The table under the first heading that begins so."""
    return next(rows for key, rows in tables.items() if key.startswith(start))


def said(results):
    """Phrases of ``claim.md``, each with whether it is so."""
    tables = results["results"]
    return [
        *_figure5(tables), *_figure6(tables), *_figure7(tables), *_figure8(tables),
        *_on_spark(results["on_spark"]), *_precision(results["precision"]),
        *_streamed(results["streamed"]),
    ]  # fmt: skip


def spread(values):
    return max(values) / min(values)


def _figure5(tables):
    rows = found(tables, "Figure 5")
    rates = column(rows, "rate")
    each = {
        name: [
            ms / rate * 1e6 for ms, rate in zip(column(rows, f"{name} (ms)"), rates, strict=True)
        ]
        for name in OPERATIONS
    }
    for name, told in each.items():
        yield f"{name} {between(told)}", True
    times = [r / s for r, s in zip(each["recurring"], each["SUM"], strict=True)]
    yield f"recurring items take {between(times)} times what a sum does", True
    worst = max(spread(told) for told in each.values())
    yield f"a constant cost a record within {worst:.2f}", worst < 1.5


def _figure6(tables):
    rows = found(tables, "Figure 6")
    flat = max(spread(column(rows, f"{name} (ms)")) for name in OPERATIONS)
    yield f"one to eight levels within {flat:.2f}", flat < 1.5
    apart = [number(rows[-1][f"{n}, apart"]) / number(rows[0][f"{n}, apart"]) for n in OPERATIONS]
    yield f"separate windows {between(apart, '{:.1f}')} times as much at eight levels", True
    alone = {row["x"]: row for row in found(tables, "The chain alone") if row["what"] == "levels"}
    first, last = number(alone["1"]["SUM"]), number(alone["8"]["SUM"])
    yield f"alone takes {first:.1f} ns a timestamp for one level and {last:.1f} for eight", True
    whole = number(rows[-1]["SUM (ms)"]) * 1e6
    yield f"beside {whole:,.0f} ns for its 100,000 records", last < whole / 100


def _figure7(tables):
    rows = found(tables, "Figure 7")
    flat = max(spread(column(rows, f"{name} (ms)")) for name in OPERATIONS)
    yield f"from 192 to 15,552 timestamps within {flat:.2f}", flat < 1.5
    alone = [row for row in found(tables, "The chain alone") if row["what"] == "extent"]
    fall = column(alone, "SUM")
    yield f"from {fall[0]:.1f} to {fall[-1]:.1f} ns", fall == sorted(fall, reverse=True)
    yield (
        "1,000 records a timestamp, where the paper has 100,000",
        "1,000 records" in next(key for key in tables if key.startswith("Figure 7")),
    )


def _figure8(tables):
    rows = found(tables, "Figure 8")
    more = rows[1:]
    yield f"a sum's nodes take {between(column(more, 'SUM'), '{:,.0f}')} bytes", True
    yield f"regression's {between(column(more, 'regression'), '{:,.0f}')}", True
    same = all(row["recurring 5"] == row["recurring 10"] == row["recurring 64"] for row in rows)
    yield "5, 10 and 64 items cost the same", same
    five = next(row for row in rows if row["levels"] == "5")
    told = [five[f"recurring {n}"] for n in ("64", "128", "1,000")]
    yield f"{told[0]} bytes for 64 items, {told[1]} for 128 and {told[2]} for 1,000", True
    yield (
        f"one level alone takes {rows[0]['SUM']}",
        column(rows, "SUM")[0] > max(column(more, "SUM")),
    )


def _on_spark(tables):
    rows = found(tables, "Batches")
    levels = f"{', '.join(row['levels'] for row in rows[:-1])} and {rows[-1]['levels']} levels"
    yield f"{levels} take {', '.join(row['shared'] for row in rows)} seconds", True
    for name, words in (("apart", "each level apart"), ("F.window", "a `groupBy(window)` a level")):
        yield f"{words} {', '.join(row[name] for row in rows)}", True
    yield f"Trend lines over the filled series take {between(column(rows, 'fit'), '{:.0f}')}", True


def _precision(tables):
    rows = [row for row in found(tables, "Trend lines") if row["points"] == "kernel"]
    worst = {row["rows"]: max(number(row[n]) for n in ("slope", "intercept", "r2")) for row in rows}
    few, *_, all_ = worst.values()
    yield f"at most {few:.0e} off", True
    yield f"{all_:.0e} over all of them", True


def _streamed(tables):
    rows = found(tables, "Figure 5")
    for name in OPERATIONS:
        yield f"{name} {between(column(rows, f'{name} (ms)'), '{:.0f}')} ms", True
    rows = found(tables, "Figures 6 and 8")
    for name in OPERATIONS:
        flat = spread(column(rows, f"{name} (ms)"))
        yield f"{name} within {flat:.2f}", flat < 1.5
    apart = column(rows, "SUM, apart (ms)")
    yield f"streams apart from {apart[0]:.0f} to {apart[-1]:.0f} ms", True
    for name in OPERATIONS:
        yield f"{name} {between(column(rows, f'{name}: state'), '{:,.0f}')} rows", True
    yield f"apart {between(column(rows, 'SUM, apart: state'), '{:,.0f}')}", True
    rows = found(tables, "Figure 7")
    flat = [spread(column(rows, f"{name} (ms)")) for name in OPERATIONS]
    yield f"over extents within {max(flat):.2f}", True
