"""Payments by card: those of the book's files, or invented ones of the same shape.

The book is *Reproducible Machine Learning for Credit Card Fraud Detection* by Le Borgne, Siblini,
Lebichot and Bontempi. Its files, a pickle a day, hold the payments with twelve features that the
authors computed. None of them is here.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

DAYS = {"1DAY_WINDOW": 1, "7DAY_WINDOW": 7, "30DAY_WINDOW": 30}
KEPT = 7  # days after which it is known of a payment whether it was fraud
KEY, TIME, CUSTOMER, TERMINAL = "TRANSACTION_ID", "TX_DATETIME", "CUSTOMER_ID", "TERMINAL_ID"
AMOUNT, FRAUD = "TX_AMOUNT", "TX_FRAUD"
GIVEN = [KEY, TIME, CUSTOMER, TERMINAL, AMOUNT, FRAUD]
COUNTS, MEANS = f"{CUSTOMER}_NB_TX", f"{CUSTOMER}_AVG_AMOUNT"
SEEN, RISKS = f"{TERMINAL}_NB_TX", f"{TERMINAL}_RISK"
NAMES = (COUNTS, MEANS, SEEN, RISKS)
FEATURES = [f"{name}_{label}" for name in NAMES for label in DAYS]

START = "2018-04-01"
DAY = 86_400
NEAR = 80  # terminals that a customer pays at, about


def read_days(folder):
    """The payments of a folder of pickles, one a day, with the features that they came with.

    A pickle can run any code when it is read: only from a source that you trust.
    """
    files = sorted(folder.glob("*.pkl"))
    if not files:
        raise SystemExit(f"{folder} has no .pkl file")
    found = pd.concat([pd.read_pickle(file) for file in files], ignore_index=True)  # noqa: S301
    if missing := {*GIVEN, *FEATURES} - {*found.columns}:
        raise SystemExit(f"the files of {folder} have no column {', '.join(sorted(missing))}")
    if found[KEY].duplicated().any():
        raise SystemExit(f"the files of {folder} have a {KEY} more than once")
    types = dict.fromkeys([KEY, CUSTOMER, TERMINAL, FRAUD], "int64")
    types |= dict.fromkeys([AMOUNT, *FEATURES], "float64") | {TIME: "datetime64[us]"}
    return found[[*GIVEN, *FEATURES]].astype(types).sort_values(KEY, ignore_index=True)


def invent(customers, terminals, days, *, tick=1, seed=0):
    """Invented payments, in order of time, with the columns of the book's files but the features.

    A customer has a home, a mean amount and a number of payments a day, and pays by day at the
    terminals nearby. Fraud is a high amount, or any payment at some terminals for four weeks, or a
    third of some customers' payments for two, of five times the amount. Times are multiples of
    ``tick`` seconds.
    """
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.uniform(0, 4, customers)[:, None], (customers, days))
    customer, day = (np.repeat(one.ravel(), counts.ravel()) for one in np.indices(counts.shape))
    second = rng.normal(DAY / 2, 20_000, len(day)).astype(np.int64)
    awake = (second > 0) & (second < DAY)
    customer, day, second = customer[awake], day[awake], (day * DAY + second // tick * tick)[awake]
    amount = _amounts(rng, rng.uniform(5, 100, customers)[customer])
    terminal = _terminals(rng, np.bincount(customer, minlength=customers), terminals)
    order = np.argsort(second, kind="stable")
    found = pd.DataFrame({
        TIME: pd.Timestamp(START) + pd.to_timedelta(second, unit="s"),
        CUSTOMER: customer, TERMINAL: terminal, AMOUNT: amount,
        "TX_TIME_SECONDS": second, "TX_TIME_DAYS": day,
    }).iloc[order].reset_index(drop=True)  # fmt: skip
    found[TIME] = found[TIME].astype("datetime64[us]")
    found.insert(0, KEY, np.arange(len(found)))
    return _defraud(rng, found, customers, terminals, days)


def _amounts(rng, mean):
    """Whole cents around a mean; one below nothing is drawn again, between 0 and twice the mean."""
    drawn = rng.normal(mean, mean / 2)
    return np.where(drawn < 0, rng.uniform(0, 2 * mean), drawn).round(2)


def _terminals(rng, counts, terminals):
    """For each payment of each customer a terminal, of those near the customer's home."""
    spots = rng.uniform(0, 1, (terminals, 2))
    near = min(NEAR, terminals)
    found = []
    for home, count in zip(rng.uniform(0, 1, (len(counts), 2)), counts, strict=True):
        far = ((spots - home) ** 2).sum(axis=1)
        found.append(rng.choice(np.argpartition(far, near - 1)[:near], count))
    return np.concatenate(found)


def _defraud(rng, payments, customers, terminals, days):
    """The payments with what of them is fraud, and by which of three ways."""
    day, amount = payments["TX_TIME_DAYS"].to_numpy(), payments[AMOUNT].to_numpy().copy()
    customer, terminal = payments[CUSTOMER].to_numpy(), payments[TERMINAL].to_numpy()
    way = np.where(amount > 220, 1, 0)
    for first in range(days):
        begin, month, fortnight = np.searchsorted(day, [first, first + 28, first + 14])
        rows = begin + np.flatnonzero(np.isin(terminal[begin:month], rng.choice(terminals, 2)))
        way[rows] = 2
        mine = np.isin(customer[begin:fortnight], rng.choice(customers, 3))
        mine &= (way[begin:fortnight] < 3) & (rng.uniform(size=len(mine)) < 1 / 3)
        rows = begin + np.flatnonzero(mine)
        amount[rows], way[rows] = (5 * amount[rows]).round(2), 3
    return payments.assign(**{AMOUNT: amount, FRAUD: np.minimum(way, 1), "TX_FRAUD_SCENARIO": way})
