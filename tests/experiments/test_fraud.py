"""Features of card payments: the authors' method, the comparison, and a folder of pickles."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from experiments import claims
from experiments.fraud import agreement, engines, rolling
from experiments.fraud import payments as p
from tests.helpers.house import ROOT

WITHOUT_SPARK = {name: run for name, run in engines.ENGINES.items() if name not in engines.ON_SPARK}


@pytest.fixture(scope="module")
def few():
    """Few payments, many of them at one instant, many whole days apart."""
    return p.invent(6, 9, 45, tick=3_600)


@pytest.fixture(scope="module")
def theirs(few):
    return rolling.add_features(few).reset_index(drop=True)


@pytest.fixture(scope="module")
def ours(few):
    return by_definition(few, in_order=False)


def by_definition(rows, *, in_order):
    """The features of each row, by going through all rows; those of a tie up to itself, or all."""
    found = []
    times = rows[p.TIME].astype("int64").to_numpy() // 1_000_000
    given = list(rows.assign(t=times).itertuples())
    for at, row in enumerate(given):
        line = {}
        earlier = given[: at + 1] if in_order else given
        mine = [one for one in earlier if one.CUSTOMER_ID == row.CUSTOMER_ID]
        there = [one for one in given if one.TERMINAL_ID == row.TERMINAL_ID]
        for days in (1, 7, 30):
            first, end = row.t - days * p.DAY, row.t - 7 * p.DAY
            seen = [one.TX_AMOUNT for one in mine if first < one.t <= row.t]
            known = [one.TX_FRAUD for one in there if end - days * p.DAY < one.t <= end]
            line[f"CUSTOMER_ID_NB_TX_{days}DAY_WINDOW"] = len(seen)
            line[f"CUSTOMER_ID_AVG_AMOUNT_{days}DAY_WINDOW"] = sum(seen) / len(seen)
            line[f"TERMINAL_ID_NB_TX_{days}DAY_WINDOW"] = len(known)
            line[f"TERMINAL_ID_RISK_{days}DAY_WINDOW"] = sum(known) / max(len(known), 1)
        found.append(line)
    return pd.concat([rows[p.GIVEN], pd.DataFrame(found)], axis=1)


def differing(ours, theirs):
    return {line["feature"]: line["differing"] for line in agreement.compare(ours, theirs)
            if line["differing"]}  # fmt: skip


def write_days(payments, folder):
    """A pickle a day as the book has them: among others, IDs and whole times as objects."""
    folder.mkdir()
    columns = [*p.GIVEN[:5], "TX_TIME_SECONDS", "TX_TIME_DAYS", p.FRAUD, "TX_FRAUD_SCENARIO",
               "TX_DURING_WEEKEND", "TX_DURING_NIGHT", *p.FEATURES]  # fmt: skip
    rows = payments.assign(
        TX_DURING_WEEKEND=(payments[p.TIME].dt.weekday >= 5).astype(int),
        TX_DURING_NIGHT=(payments[p.TIME].dt.hour <= 6).astype(int),
    )[columns].astype({p.TIME: "datetime64[ns]"})
    whole = [p.CUSTOMER, p.TERMINAL, "TX_TIME_SECONDS", "TX_TIME_DAYS"]
    rows = rows.astype(dict.fromkeys(whole, object))
    for day, part in rows.groupby(rows[p.TIME].dt.strftime("%Y-%m-%d")):
        part.to_pickle(folder / f"{day}.pkl", protocol=4)


def test_the_sample_has_what_it_is_for(few):
    assert set(few["TX_FRAUD_SCENARIO"]) >= {0, 2, 3}
    assert ((few["TX_FRAUD_SCENARIO"] > 0) == few[p.FRAUD]).all()
    assert few[p.TIME].is_monotonic_increasing
    assert agreement.tied(few, p.CUSTOMER).sum() > 20
    assert agreement.tied(few, p.TERMINAL).sum() > 20
    cents = few[p.AMOUNT] * 100
    assert np.allclose(cents, cents.round(), atol=1e-6)
    again = p.invent(6, 9, 45, tick=3_600)
    pd.testing.assert_frame_equal(few, again)


def test_the_invented_payments_are_as_many_as_the_books():
    rows = p.invent(500, 1_000, 183)
    assert 160_000 < len(rows) < 190_000  # a tenth of the book's 1.75 million
    assert 0.001 < rows[p.FRAUD].mean() < 0.2
    assert set(rows["TX_FRAUD_SCENARIO"]) == {0, 1, 2, 3}
    assert rows[p.AMOUNT].min() >= 0


def test_the_authors_method_is_the_definition(few, theirs):
    assert differing(by_definition(few, in_order=True), theirs) == {}


def test_ties_alone_are_told_apart(ours, theirs):
    assert set(differing(ours, theirs)) == {name for name in p.FEATURES if "CUSTOMER" in name}
    assert differing(agreement.end_at_the_row(ours, theirs), theirs) == {}


@pytest.mark.parametrize("name", p.FEATURES)
@pytest.mark.parametrize("tie", [True, False])
def test_one_other_value_is_seen(few, ours, theirs, name, tie):
    wrong = theirs.copy()
    row = np.flatnonzero(agreement.tied(few, p.CUSTOMER) == tie)[-1]
    wrong.loc[row, name] += 1e-5 if "NB" not in name else 1
    assert name in differing(agreement.end_at_the_row(ours, wrong), wrong)
    wrong.loc[row, name] = np.nan
    assert name in differing(agreement.end_at_the_row(ours, wrong), wrong)


def test_ties_are_not_left_as_ours_has_them(ours):
    """A counterpart that sees all of its instant is not one whose windows end with its rows."""
    assert len(differing(agreement.end_at_the_row(ours, ours), ours)) == 6


def test_any_order_of_a_tie_is_taken_as_it_is(few, ours):
    """The authors sort by time alone, by which rows of a tie may come in any order."""
    rows = few.sort_values([p.TIME, p.KEY], ascending=[True, False], ignore_index=True)
    turned = by_definition(rows, in_order=True).sort_values(p.KEY, ignore_index=True)
    assert differing(agreement.end_at_the_row(ours, turned), turned) == {}


@pytest.mark.parametrize("name", WITHOUT_SPARK)
def test_engines_agree(few, ours, theirs, name, tmp_path):
    few[p.GIVEN].to_parquet(tmp_path / "payments.parquet", index=False)
    WITHOUT_SPARK[name](tmp_path / "payments.parquet", tmp_path / "found.parquet")
    found = agreement.read_features(tmp_path / "found.parquet")
    assert differing(found, theirs if name == engines.PANDAS else ours) == {}


def test_pickles_are_read_as_they_were_written(theirs, few, tmp_path):
    rows = few.merge(theirs[[p.KEY, *p.FEATURES]], on=p.KEY)
    write_days(rows, tmp_path / "days")
    assert len([*(tmp_path / "days").iterdir()]) == 45
    pd.testing.assert_frame_equal(
        p.read_days(tmp_path / "days"), rows[[*p.GIVEN, *p.FEATURES]].astype(
            dict.fromkeys(p.FEATURES, float)), check_column_type=False)  # fmt: skip


def test_folders_that_are_none_of_the_books(few, theirs, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match="no \\.pkl file"):
        p.read_days(tmp_path / "empty")
    (tmp_path / "raw").mkdir()
    few.to_pickle(tmp_path / "raw" / "a.pkl")
    with pytest.raises(SystemExit, match="have no column CUSTOMER_ID_AVG_AMOUNT_1DAY_WINDOW, "):
        p.read_days(tmp_path / "raw")
    for name in ("a.pkl", "b.pkl"):
        theirs.to_pickle(tmp_path / "empty" / name)
    with pytest.raises(SystemExit, match="TRANSACTION_ID more than once"):
        p.read_days(tmp_path / "empty")


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.parametrize("wrong", [False, True])
def test_a_folder_of_pickles_is_compared(few, theirs, tmp_path, wrong):
    """In a process of its own, as its Spark has other settings."""
    rows = few.merge(theirs[[p.KEY, *p.FEATURES]], on=p.KEY)
    rows.loc[len(rows) - 1, p.FEATURES[-1]] += 1e-6 * wrong
    write_days(rows, tmp_path / "days")
    found = subprocess.run(
        [sys.executable, "-m", "experiments.fraud", "--smoke", "--folder", str(tmp_path / "days")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == wrong, found.stderr
    tables = claims.tables(found.stdout)
    if wrong:
        assert "1 values differ" in found.stderr
        assert "Time" not in tables
    else:
        assert f"all {12 * len(rows):,} values agree" in {
            phrase for phrase, holds in _said(tables) if holds
        }
        assert {row["differing"] for row in tables["Time"]} == {"0"}
        assert [row["engine"] for row in tables["Time"]] == list(engines.ENGINES)


def _said(tables):
    from experiments.fraud.claims import _agreement

    return _agreement("published", tables)


def test_the_documentation_has_the_seconds_of_the_page():
    page = (ROOT / "docs" / "trailing.md").read_text("utf-8")
    _, results = claims.texts("fraud")
    for row in results["results"]["Time"]:
        assert f"| {row['engine']} | {row['seconds']} |" in page
