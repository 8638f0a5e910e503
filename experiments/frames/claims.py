"""What ``claim.md`` says, from the tables of ``results.md``."""

from __future__ import annotations

from experiments.claims import between, column, number


def said(results):
    """Phrases of ``claim.md``, each with whether it is so."""
    tables = results["results"]
    return [
        *_episodes(tables), *_scatters(tables), *_histograms(tables), *_order(tables),
        *_heat(tables), *_runs(results["on_spark"]),
    ]  # fmt: skip


def _episodes(tables):
    exact, *windows = tables["4.1 Episodes"]
    yield f"frames exact: {exact['episodes']} episodes", number(exact["rows wrong"]) == 0
    least, mean, most = windows
    yield f"the minimum misses {least['missed']}", True
    yield f"the average {mean['missed']} (and {mean['false']} false)", True
    yield f"the maximum none, but {most['false']} false", most["missed"] == "0"
    wrong = [f"{number(row['of episode rows']):.0%}".replace("%", " %") for row in windows]
    yield f"rows wrong: {', '.join(wrong)} of the episodes'", True


def _scatters(tables):
    rows = tables["4.2 Scatter plots (2)"]
    best = [
        number(row["frames"]) < min(number(row["windows"]), number(row["samples"])) for row in rows
    ]
    yield f"frames best in all {len(rows)}", all(best)
    for name, chosen in (
        ("tows", [row for row in rows if row["data"] != "glucose"]),
        ("glucose", [row for row in rows if row["data"] == "glucose"]),
    ):
        kinds = [between(column(chosen, kind)) for kind in ("frames", "windows", "samples")]
        yield f"{name} {' / '.join(kinds)}", True


def _histograms(tables):
    told = {row["tow"]: number(row["relative error"]) for row in tables["4.3 Histograms"]}
    good = sum(error > 0 for error in told.values())
    yield f"better in {good} of {len(told)}", True
    yield f"{told['tow06']:.2f} for tow06 and {told['tow13']:.2f} for tow13", True
    yield (
        "so tow06 is the best of ours and tow13 the worst",
        (told["tow06"] == max(told.values()) and told["tow13"] == min(told.values())),
    )


def _order(tables):
    title = "Figures 4 and 5: the order of tows"
    pieces = tables[f"{title} / By pieces"]
    for heading in ("900 pieces", "4,200 pieces"):
        yield f"in {heading} {between(column(pieces, heading))}", True
    falls = [[number(cell) for name, cell in row.items() if name != "tow"] for row in pieces]
    yield "every tow loses by more pieces", all(row[0] > row[-1] for row in falls)
    speeds = {(r["tow"], r["speed"]): r for r in tables[f"{title} / By speed"]}
    slow, quick = speeds["tow06", "0.5"], speeds["tow13", "4"]
    yield (
        (
            f"tow06 at half the speed has {slow['relative error']}, tow13 at four times the speed "
            f"{quick['relative error']}"
        ),
        number(slow["relative error"]) < number(quick["relative error"]),
    )
    yield f"{speeds['tow06', '1']['metres a window']} m of depth for tow06", True
    yield f"{speeds['tow13', '1']['metres a window']} m for tow13", True


def _heat(tables):
    rows = tables["4.4 Heat maps"]
    game = [row for row in rows if not row["schedule"].startswith("ride")]
    ride = [row for row in rows if row["schedule"].startswith("ride")]

    def gains(kind):
        return [1 - number(row["frames"]) / number(row[f"{kind} windows"]) for row in game]

    yield f"{between(gains('100%'))} against windows of the whole slide", True
    yield f"{between(gains('10%'))} against those of a tenth of it", min(gains("10%")) > 0
    share = [number(row["frames"]) / number(row["100% windows"]) * 100 for row in ride]
    yield f"off by {between(share, '{:.1f}')} % of what windows of the whole slide are", True


def _runs(tables):
    rows = {row[""]: row for row in tables["6.2 Run time of episodes"]}
    windows = [row for name, row in rows.items() if name != "frames"]
    yield f"frames {rows['frames']['episodes']} s", True
    yield f"windows of 400 to 10 tuples {between(column(windows, 'windows alone'))} s", True
    yield f"qualified {between(column(windows, 'episodes'))} s", True
    maps = tables["6.3 Run time and error of heat maps"]
    for schedule in ("60/1 s", "300/10 s"):
        frames, *others = [row for row in maps if row["schedule"] == schedule]
        errors, times = column(others, "error"), column(others, "seconds")
        yield (
            f"{schedule}: error {frames['error']} against {between(errors, '{:g}')}",
            (number(frames["error"]) < min(errors)),
        )
        yield f"in {frames['seconds']} s against {between(times)}", True
