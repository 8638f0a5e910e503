"""The twelve features by the authors' method, pandas' ``rolling``, with nothing of fanlight.

A row's window ends with that row: of payments of one key at one instant an earlier row does not see
a later one. What a terminal was known for some days ago is a difference of two windows that both
end now.
"""

from __future__ import annotations

import pandas as pd

from experiments.fraud import payments as p


def add_features(payments):
    """The payments, in order of time and ID, with their features."""
    known = [p.KEPT + days for days in p.DAYS.values()]
    spent = _rolled(payments, p.CUSTOMER, p.AMOUNT, p.DAYS.values())
    risky = _rolled(payments, p.TERMINAL, p.FRAUD, [p.KEPT, *known])
    unknown, fraud = risky[p.KEPT]
    found = {}
    for label, days in p.DAYS.items():
        count, total = spent[days]
        found[f"{p.COUNTS}_{label}"] = count
        found[f"{p.MEANS}_{label}"] = total / count
        count, total = risky[p.KEPT + days]
        found[f"{p.SEEN}_{label}"] = count - unknown
        found[f"{p.RISKS}_{label}"] = ((total - fraud) / (count - unknown)).fillna(0.0)
    return payments.set_index(p.KEY, drop=False).assign(**found)[[*payments, *p.FEATURES]]


def _rolled(payments, key, column, spans):
    """By days: how many payments of a key, and the sum of a column, each by TRANSACTION_ID."""
    rows = payments.sort_values([key, p.TIME, p.KEY], ignore_index=True)
    found = {}
    for days in spans:
        windows = rows.groupby(key).rolling(f"{days}D", on=p.TIME)[column]
        both = (windows.count(), windows.sum())
        found[days] = tuple(pd.Series(one.to_numpy(), index=rows[p.KEY]) for one in both)
    return found
