"""Figure 3: time of the paned over time of the windowed approach, for max without groups."""

from __future__ import annotations

import fanlight as fl
from experiments.panes import kernels
from experiments.panes.auction import SECOND
from experiments.panes.measure import Ways, agree, alike, fastest, ratio, sure
from fanlight import agg

PANES = (2, 5, 10, 20)  # P/W, the columns of each group in the paper's figure
TUPLES = (1, 2, 5, 10, 20, 50, 100, 200)  # a pane
TUPLES_ON_SPARK = (1, 5, 20, 100)


def predicted(tuples, panes_a_window):
    """Formula 3.1 over formula 3.3, a = b = c = a' and G = 1."""
    return (tuples + 1 + panes_a_window) / (tuples * panes_a_window)


def in_kernel(bids, runs, tuples=TUPLES, panes_a_window=PANES):
    """Both approaches as loops over arrays; the input is in memory, so no scan is taken off."""
    rows = []
    for n in tuples:
        for p in panes_a_window:
            pane = max(round(n * SECOND / bids.rate), 1)
            stream = kernels.stream(bids.timestamp, range=p * pane, slide=pane)
            price = bids.bid_price
            sure(
                agree(kernels.paned_max(stream, price), kernels.windowed_max(stream, price)),
                f"{n} tuples a pane, {p} panes a window",
            )
            paned, windowed = fastest(
                runs,
                lambda s=stream, v=price: kernels.paned_max(s, v),
                lambda s=stream, v=price: kernels.windowed_max(s, v),
            )
            rows.append(row(n, p, paned, windowed))
    return rows


def on_spark(frame, rate, runs, tuples=TUPLES_ON_SPARK, panes_a_window=PANES):
    """Both approaches through ``fl.over``, less the scan of the two columns they read."""
    ways = Ways(runs, frame, "timestamp", "bid_price")
    rows = []
    for n in tuples:
        for p in panes_a_window:
            pane = max(round(n * SECOND / rate), 1)
            spec = fl.Sliding(f"{p * pane} microseconds", f"{pane} microseconds")
            windows = fl.over(frame, spec, time="timestamp")
            paned, windowed = (
                windows.using(way).agg(agg.max("bid_price")) for way in ("panes", "expand")
            )
            sure(alike(paned, windowed), f"{n} tuples a pane, {p} panes a window")
            scan, *times = ways.seconds(paned, windowed)
            rows.append(row(n, p, *times, ratio(*times)) | {"scan": scan})
    return rows


def row(tuples, panes_a_window, paned, windowed, divided=None):
    return {
        "tuples": tuples,
        "panes": panes_a_window,
        "paned": paned,
        "windowed": windowed,
        "ratio": paned / windowed if divided is None else divided,
        "predicted": predicted(tuples, panes_a_window),
    }
