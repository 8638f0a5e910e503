"""The twelve features of one engine beside those of another: every value."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.fraud import payments as p

LIMIT = 1e-9  # of the value, or of 1 where the value is less: a sum keeps what rounding has left
COUNTED = tuple(name for name in p.FEATURES if "_NB_TX_" in name)


def read_features(path):
    """What an engine wrote, in order of TRANSACTION_ID."""
    return pd.read_parquet(path).sort_values(p.KEY, ignore_index=True)


def compare(ours, theirs):
    """For each feature: how many values, their mean, how many are not 0 and differ, and by what."""
    for column in p.GIVEN:
        if not ours[column].equals(theirs[column]):
            raise SystemExit(f"{column} has come back as something else")
    return [_compare_feature(name, ours[name], theirs[name]) for name in p.FEATURES]


def _compare_feature(name, ours, theirs):
    ours, theirs = (one.to_numpy(np.float64, na_value=np.nan) for one in (ours, theirs))
    away = np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1)
    apart = ~(away <= (0 if name in COUNTED else LIMIT))  # a missing value differs, too
    return {
        "feature": name,
        "values": len(theirs),
        "mean": float(theirs.mean()),
        "not 0": int(np.count_nonzero(theirs)),
        "differing": int(np.count_nonzero(apart)),
        "greatest difference": f"{away.max(initial=0.0):.0e}" if away.any() else "0",
    }


def differing(lines):
    return sum(line["differing"] for line in lines)


def tied(rows, key):
    """Which rows share key and time with another."""
    return rows.duplicated([key, p.TIME], keep=False).to_numpy()


def end_at_the_row(ours, theirs):
    """Ours as they would be if a customer's windows ended with their row, as those of pandas do.

    Of a tie of customer and time a row does not see those that come later. Which do is read off
    one column of theirs, how many payments of the last day each row sees; so this column must be
    some order of the tie, and all other values must be those of the same order.
    """
    found = ours.copy()
    rows = ours.assign(seen=theirs[f"{p.COUNTS}_{next(iter(p.DAYS))}"])
    rows = rows[tied(ours, p.CUSTOMER)].sort_values([p.CUSTOMER, p.TIME, "seen"])
    ties = rows.groupby([p.CUSTOMER, p.TIME])
    later = ties.cumcount(ascending=False)
    amount = ties[p.AMOUNT].transform("sum") - ties[p.AMOUNT].cumsum()
    for label in p.DAYS:
        count, mean = f"{p.COUNTS}_{label}", f"{p.MEANS}_{label}"
        left = rows[count] - later
        found[mean] = ((rows[mean] * rows[count] - amount) / left).combine_first(ours[mean])
        found[count] = left.combine_first(ours[count])
    return found
