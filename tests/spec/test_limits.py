"""Limits as SQL text: what Spark is left to calculate, and what is made of means."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spec.frames.limits import Mean, read_formula


def words(text):
    formula = read_formula(text)
    return [step.does if step.does in ("add", "subtract", "multiply", "divide", "negate", "abs",
                                       "greatest", "least", "coalesce")
            else f"{step.does} {step.what:g}" for step in formula.steps]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "quota", "2 * quota", "mean_rows", "a.mean_rows * 2", "'mean_rows(3)'", "`mean_rows(3)`",
        "CASE WHEN a THEN 1 ELSE 2 END", 'concat("mean_value(", x)',
    ],
)  # fmt: skip
def test_what_asks_for_no_mean_is_left_to_spark(text):
    formula = read_formula(text)
    assert (formula.rows, formula.steps, formula.means) == ((text,), (), ())


@pytest.mark.parametrize(
    ("text", "rows", "steps"),
    [
        ("mean_rows(3)", (), ["mean 0"]),
        ("MEAN_ROWS ( 3 , 2 )", (), ["mean 0"]),
        ("1 + 2 * mean_rows(3)", (), ["number 1", "number 2", "mean 0", "multiply", "add"]),
        ("(1 + x) * mean_rows(3)", ("(1 + x)",), ["row 0", "mean 0", "multiply"]),
        ("x - y - mean_rows(3)", ("x - y",), ["row 0", "mean 0", "subtract"]),
        ("mean_rows(3) - x - x", ("x",), ["mean 0", "row 0", "subtract", "row 0", "subtract"]),
        ("mean_rows(3) - (x - y)", ("(x - y)",), ["mean 0", "row 0", "subtract"]),
        ("-mean_rows(3) / -x", ("-x",), ["mean 0", "negate", "row 0", "divide"]),
        ("+mean_rows(3)", (), ["mean 0"]),
        ("f(a, 'b)', \"c(\") + abs(mean_value(2))", ("f(a, 'b)', \"c(\")",),
         ["row 0", "mean 0", "abs", "add"]),
        ("coalesce(mean_rows(1), `a b`.c, 7)", ("`a b`.c",),
         ["mean 0", "row 0", "coalesce", "number 7", "coalesce"]),
        ("least(x + 1, greatest(mean_rows(1), mean_rows(1), mean_value(1)))", ("x + 1",),
         ["row 0", "mean 0", "mean 0", "greatest", "mean 1", "greatest", "least"]),
    ],
)  # fmt: skip
def test_the_rest_are_steps_in_the_order_of_arithmetic(text, rows, steps):
    assert read_formula(text).rows == rows
    assert words(text) == steps


def test_means_say_of_how_many_and_from_when_on():
    assert read_formula("mean_rows(3) + mean_value(9, 20)").means == (
        Mean("rows", 3, 1),
        Mean("value", 9, 20),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("mean_rows(0)", "asks mean_rows of '0'"),
        ("mean_rows(x)", "asks mean_rows of 'x'"),
        ("mean_rows(1.5)", "asks mean_rows of '1.5'"),
        ("mean_rows()", "asks mean_rows of"),
        ("mean_rows(3, 0)", "asks mean_rows of '0'"),
        ("mean_rows(3, 2, 1)", "where ')' should be"),
        ("mean_rows(9999999)", "1 to 1,000,000"),
        ("mean_rows(3", "ends where ')' should be"),
        ("2 * mean_rows(3) +", "ends too early"),
        ("mean_rows(3) > 2", "has '>' where a sign"),
        ("mean_rows(3) x", "has 'x' where a sign"),
        ("sqrt(mean_rows(3))", "asks sqrt of 1 numbers with"),
        ("greatest(mean_rows(3))", "asks greatest of 1 numbers with"),
        ("abs(mean_rows(3), 2)", "asks abs of 2 numbers with"),
        ("if(x > 1, mean_rows(3), 2)", "where ')' should be"),
        ("CASE WHEN x THEN mean_rows(3) END", "has 'WHEN' where a sign"),
        ("mean_rows(3) -- and more", "has '--' where a sign"),
        ("x[0] * mean_rows(3)", "has '[' where a sign"),
        ("-" * 9_999 + "mean_rows(3)", "has '--' where"),
        ("- " * 9_999 + "mean_rows(3)", "nests too deeply"),
        ("(x + " * 40 + "mean_rows(3)" + ")" * 40, "nests too deeply"),
    ],
)  # fmt: skip
def test_what_cannot_be_calculated_is_refused(text, says):
    with pytest.raises(fl.FanlightError) as raised:
        fl.AggregateFrame(agg.sum("v"), text)
    assert says in str(raised.value)


@pytest.mark.parametrize("counted", [agg.count(), agg.count("v"), agg.count_distinct("v")])
def test_what_is_counted_has_no_mean_value(counted):
    with pytest.raises(fl.FanlightError, match="mean of values"):
        fl.AggregateFrame(counted, "mean_value(3)")
    assert fl.AggregateFrame(counted, "mean_rows(3)").formulas


def test_how_far_a_value_is_from_zero_is_for_sums_and_means():
    assert fl.AggregateFrame(agg.sum("v"), 3, absolute=True).absolute
    for more in ({"below": True}, {"limit": -1}, {"aggregate": agg.max("v")}):
        with pytest.raises(fl.FanlightError):
            fl.AggregateFrame(**{"aggregate": agg.sum("v"), "limit": 3, "absolute": True, **more})
