"""Asks mlfinpy for the bars of the invented trades, in an environment that has it.

    python tests/foreign/bars/record.py > tests/foreign/bars/recorded.json

mlfinpy 0.1.2 asks for older releases of numpy, numba and pandas than fanlight's tests run on, so it
has an environment of its own: ``pip install mlfinpy==0.1.2 scikit-learn setuptools``.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import mlfinpy.data_structure as bars
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

from ticks import FEWEST, FRAMES, LIMITS, MOST, ROWS, VALUES, ticks

QUIET = {"verbose": False, "batch_size": 10**9}


def ask() -> dict[str, list[int]]:
    """Each kind of bars, with the number of rows of each bar."""
    given = pd.DataFrame(ticks())
    given["at"] = pd.to_datetime(given["at"], unit="s")
    given.columns = ["date_time", "price", "volume"]
    made = {
        kind: getattr(bars, f"get_{kind}_bars")(given, threshold=limit, **QUIET)
        for kind, limit in LIMITS.items()
    }
    expected = {"expected_imbalance_window": VALUES, "exp_num_ticks_init": ROWS, **QUIET}
    for kind in LIMITS:
        ema = getattr(bars, f"get_ema_{kind}_imbalance_bars")
        const = getattr(bars, f"get_const_{kind}_imbalance_bars")
        made[f"{kind} imbalance"], _ = ema(
            given, num_prev_bars=FRAMES, exp_num_ticks_constraints=[FEWEST, MOST], **expected
        )
        made[f"{kind} imbalance, constant"], _ = const(given, **expected)
    return {kind: [int(n) for n in found["cum_ticks"]] for kind, found in made.items()}


if __name__ == "__main__":
    print(json.dumps({"by": f"mlfinpy {version('mlfinpy')}", "bars": ask()}, indent=1))
