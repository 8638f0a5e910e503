"""Formulas 3.1 to 3.4: what they say a window touches, against what is counted in the loops."""

from __future__ import annotations

import math

import numpy as np

from experiments.panes import kernels
from experiments.panes.auction import even

CASES = [  # RANGE and SLIDE (minutes in the paper), tuples a unit of time, groups
    (4, 1, 20, 1),
    (4, 1, 200, 50),
    (9, 6, 20, 1),
    (9, 6, 60, 10),
    (60, 1, 20, 5),
    (10, 10, 20, 5),
]


def model(tuples, panes_a_window, groups, range_, slide):
    """The four formulas with a = b = c = a' = 1, as they are printed."""
    a_slide = slide // math.gcd(range_, slide)
    return {
        "3.1": tuples / panes_a_window + groups + panes_a_window * groups,
        "3.2": tuples / panes_a_window + groups + 2 * groups * a_slide,
        "3.3": tuples,
        "3.4": 2 * slide * tuples / range_,
    }


def touches(bids=200_000):
    """For each case what a window in the middle of the stream touches, counted and by formula."""
    rows = []
    for range_, slide, rate, groups in CASES:
        size = bids - bids % (range_ * slide * rate)  # whole panes, and nothing over
        data = even(size, groups)
        stream = kernels.stream(
            data.timestamp, data.item_id, range=range_ * rate, slide=slide * rate
        )
        start = stream.window * stream.slide
        whole = (start >= stream.slide) & (start + stream.range <= size)
        pane = stream.pane
        t, p = stream.range, stream.range // pane
        printed = model(t, p, groups, range_, slide)
        a_slide = slide * rate // pane
        plq = [(t // p) * a_slide, groups * a_slide]  # what a window really asks of the PLQ
        wanted = {
            "3.1": [*plq, p * groups],
            "3.2": [*plq, 2 * groups * a_slide],
            "3.3": [0, 0, t],
            "3.4": [0, 0, 2 * slide * rate],
        }
        ways = {
            "3.1": kernels.paned_max(stream, data.bid_price),
            "3.2": kernels.paned_count(stream),
            "3.3": kernels.windowed_max(stream, data.bid_price),
            "3.4": kernels.windowed_count(stream),
        }
        for formula, answer in ways.items():
            counted = counted_in(answer, whole, stream, size)
            rows.append(
                {
                    "range": range_, "slide": slide, "T": t, "P": p, "G": groups,
                    "formula": formula, "printed": printed[formula],
                    "counted": counted, "exact": counted == wanted[formula],
                }
            )  # fmt: skip
    return rows


def counted_in(answer, whole, stream, bids):
    """[a, b, c] of one whole window; [0, 0, a'] where there are no panes."""
    each = np.unique(answer.touches[whole])
    if len(each) != 1:
        raise SystemExit(f"whole windows touch {each} tuples: they should all touch the same")
    pane_count = bids // stream.pane
    a_slide = stream.slide // stream.pane
    a, b = (n * a_slide / pane_count for n in (answer.lifted, answer.partials))
    return [a, b, int(each[0])]
