"""When a row arrives, in Python's own whole numbers, from the published SplitMix64."""

from __future__ import annotations

from fractions import Fraction

ALL = 2**64


def mixed(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % ALL
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % ALL
    return value ^ (value >> 31)


def draw(seed, use, row):
    begin = mixed((seed % ALL) ^ (use * 0x9E3779B97F4A7C15 % ALL))
    return mixed((begin + (row + 1) * 0x9E3779B97F4A7C15) % ALL) >> 11


def whole(number, below):
    """As floats have it: a product of two of them is rounded."""
    return min(int(number * 2.0**-53 * below), below - 1)


def arrival(time, row, disorder):
    late = Fraction(draw(disorder.seed, 2, row), 2**53) < Fraction(disorder.late)
    if late:
        return time + disorder.most + 1 + whole(draw(disorder.seed, 3, row), disorder.late_by)
    return time + whole(draw(disorder.seed, 1, row), disorder.most + 1)
