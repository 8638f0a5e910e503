"""What the experiments claim is what their own tables say."""

from __future__ import annotations

import re

import pytest

from experiments import claims


@pytest.mark.parametrize("name", claims.NAMES)
def test_claims_are_the_tables(name):
    assert claims.wrong(name, *claims.texts(name)) == []


@pytest.mark.parametrize("name", claims.NAMES)
def test_another_figure_in_a_claim_is_seen(name):
    """Each phrase is looked for: with its digits changed, none is found."""
    claim, results = claims.texts(name)
    other = re.sub(r"\d", "#", claim)
    found = claims.wrong(name, other, results)
    said = [phrase for phrase, _ in claims.said(name, results)]
    assert found == [phrase for phrase in said if re.search(r"\d", phrase)]
    assert len(found) >= 3


PAGE = """\
# Page

## A

| x | y | z |
|---|---|---|
| 1,000 | 2.5* | – |
| p | 31 ms | 0.41 s |

**B**, more

| x | y | y |
| --- | --- | --- |
| a | -1.5e-3 | 7 |

Text.

| x |
|---|
| 29 % |
"""


def test_tables_of_a_page():
    found = claims.tables(PAGE)
    assert found["A"][0] == {"x": "1,000", "y": "2.5*", "z": "–"}
    assert list(found) == ["A", "A / B", "A / B (2)"]
    assert claims.numbers(found["A"][0]) == [1000.0, 2.5]
    assert claims.numbers(found["A"][1], "z") == [pytest.approx(0.031)]
    assert claims.column(found["A / B"], "y") == [-0.0015]
    assert claims.column(found["A / B"], "y (2)") == [7.0]
    assert claims.column(found["A / B (2)"], "x") == [pytest.approx(0.29)]
    assert claims.between([1.0, 2.0], "{:.0f}") == "1 to 2"


def test_what_is_not_so_is_wrong(monkeypatch):
    monkeypatch.setattr(claims, "said", lambda _, __: [("it is 3", True), ("it falls", False)])
    assert claims.wrong("x", "it is\n3; it falls", {}) == ["it falls (it is not so)"]
    assert claims.wrong("x", "it is 4", {}) == ["it is 3", "it falls (it is not so)"]
