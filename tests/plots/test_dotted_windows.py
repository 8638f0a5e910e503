"""Windows that are still open look it: dotted, and named so when hovering."""

from __future__ import annotations

import numpy as np
import pytest

from fanlight import plots
from tests.plots.results import MINUTE, NOON, frames, levels, sliding, table

pytest.importorskip("plotly")
SAID = "Windows that are still open are dotted"


def marked(rows, last):
    """The rows with ``final``, true of windows that end at a minute or before it."""
    told = [{**row, "final": row["window"]["end"] <= NOON + last * MINUTE} for row in rows]
    return [{"window": row.pop("window"), **row} for row in told]


def shown(line):
    """The points that hovering names, and the others."""
    hover = line.hoverinfo if line.hoverinfo is not None else ["all"] * len(line.x)
    return [
        (int((x - np.datetime64(NOON)) / np.timedelta64(1, "m")), y, how)
        for x, y, how in zip(np.asarray(line.x), line.y, hover, strict=True)
        if not np.isnan(y)
    ]


def test_a_line_is_dotted_from_its_last_final_window_on():
    figure = plots.draw(table(marked(sliding((3, 5, 4, 6)), 5)))
    opened, final = figure.data
    assert (final.line.dash, opened.line.dash) == (None, "dot")
    assert opened.name == f"{final.name}, still open"
    assert shown(final) == [(4, 3, "all"), (5, 5, "all")]
    assert shown(opened) == [(5, 5, "skip"), (6, 4, "all"), (7, 6, "all")]
    assert opened.legendgroup == final.legendgroup
    assert SAID in figure.layout.meta["alt"]


def test_all_open_and_none_open():
    (_, empty), whole = plots.draw(marked(sliding((3, 5, 4)), 0)).data, marked(sliding(), 99)
    assert len(empty.x) == 0
    (line,) = plots.draw(whole).data
    assert line.line.dash is None
    assert SAID not in plots.draw(whole).layout.meta["alt"]


def test_a_gap_in_the_dotted_part_is_a_gap():
    rows = marked([*sliding((3, 5, 4, 6, 7))[:3], sliding((3, 5, 4, 6, 7, 8))[5]], 5)
    opened, _ = plots.draw(rows).data
    assert np.isnan(opened.y).any()
    filled, _ = plots.draw(rows, empty=0).data
    assert 0 in list(filled.y)


def test_final_is_no_value_to_draw_but_a_number_of_this_name_is():
    rows = marked(sliding((3, 5, 4)), 5)
    assert plots.draw(rows).layout.yaxis.title.text == "n"
    numbers = [{"window": one["window"], "final": 7.0} for one in sliding()]
    assert plots.draw(numbers).layout.yaxis.title.text == "final"
    assert SAID not in plots.draw(numbers).layout.meta["alt"]


def test_each_level_has_its_dotted_part():
    figure = plots.draw(table(marked(levels(), 24)))
    dotted = [line for line in figure.data if line.line.dash == "dot"]
    assert [line.yaxis for line in dotted] == ["y", "y2"]
    assert [line.name for line in dotted] == ["level 0, still open", "level 1, still open"]
    assert [min(x for x, _, how in shown(line) if how == "all") for line in dotted] == [25, 25]


def test_an_open_frame_is_a_fainter_box_with_dotted_edges():
    rows = [{**row, "mean": 2.0, "low": 1.0, "high": 3.0} for row in frames()]
    figure = plots.draw(table(marked(rows, 14)), "mean", low="low", high="high")
    dotted = [one for one in figure.data if one.line.dash == "dot" and len(one.x)]
    assert len(dotted) == 2
    for one in dotted:
        assert one.name.endswith("still open")
        assert np.asarray(one.x).min() == np.datetime64(NOON + 20 * MINUTE)
    tints = {
        one.line.dash: float(one.fillcolor.split(",")[-1].rstrip(")"))
        for one in figure.data if one.fillcolor and len(one.x)
    }  # fmt: skip
    assert tints["dot"] < tints[None]
    assert SAID in figure.layout.meta["alt"]
