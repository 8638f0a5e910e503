"""Breakages of limits that are calculated."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code

OPERATORS = "tests/operators/test_frame_operators.py"

calculated = seen_by(OPERATORS)

read = seen_by("tests/spec/test_limits.py")

WITHOUT_SPARK = (
    calculated(
        "the frame before is not among those of a mean",
        "begin_frame",
        Code("means.source[m] < 0", "means.source[m] < -1"),
    ),
    calculated(
        "a mean weighs all numbers alike",
        "mean_with",
        Code("fades = 1.0 - 2.0 / (last + 1.0)", "fades = 1.0"),
    ),
    calculated(
        "a mean that is null stays null for the frame",
        "take_means",
        Code("means.known[g, m] = mean_with(means, g, m, x)", "pass"),
    ),
    calculated(
        "a limit on doubles is reached where it must be exceeded",
        "set_limits",
        Code("next_double(limit) if beyond else limit", "limit"),
    ),
    calculated(
        "a sum below 0 is never far from it",
        "whole_reached",
        Code("total <= -limit", "total < -limit - 10**9"),
    ),
    calculated(
        "what time ends makes a key forget its means",
        "Assembly.expire",
        Code("name not in self.marker.remembered", "True"),
    ),
    read(
        "a product is added up before it is multiplied",
        "_Parser.product",
        Code('("*", "/")', '("*", "/", "+")'),
    ),
)
