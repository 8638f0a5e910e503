"""Slices: the pieces into which time is cut, so that every window is a run of whole slices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fanlight.plan.axis import Axis

Technique = Literal["panes", "pairs"]


@dataclass(frozen=True)
class Cut:
    """Slices numbered in order of time; window ``m`` is slices ``m*step`` to ``m*step + span - 1``.

    ``panes``: slices of equal width, the greatest common divisor of RANGE and SLIDE (Li et al.,
    3.1). ``pairs``: two slices a SLIDE, of RANGE mod SLIDE and the rest, hence never more than two
    a SLIDE however small the divisor. Where windows do not overlap, each window is one slice.

        RANGE 9, SLIDE 6     0     3     6     9    12    15
        panes (3 | 3 | …)    |--0--|--1--|--2--|--3--|--4--|
        windows                [0 ------------- 9)
                                         [6 ------------ 15)
    """

    technique: Technique
    axis: Axis
    head: int  # width of a slice; of the first of each pair
    span: int  # slices a window
    step: int  # slices a SLIDE

    @property
    def gaps(self) -> bool:
        """Whether rows may lie in no window (SLIDE longer than RANGE)."""
        return self.axis.slide > self.axis.range

    def slice_of(self, coordinate: int) -> int | None:
        """The slice that a coordinate lies in; None in a gap."""
        slide, rest = divmod(coordinate - self.axis.offset, self.axis.slide)
        if self.span == 1:
            return slide if rest < self.axis.range else None
        if self.technique == "pairs":
            return 2 * slide + (rest >= self.head)
        return (coordinate - self.axis.offset) // self.head

    def start_of(self, number: int) -> int:
        """The coordinate at which a slice begins."""
        if self.span == 1:
            return self.axis.offset + number * self.axis.slide
        if self.technique == "pairs":
            return self.axis.offset + number // 2 * self.axis.slide + number % 2 * self.head
        return self.axis.offset + number * self.head


def panes(axis: Axis) -> Cut:
    """Slices as wide as the greatest common divisor of RANGE and SLIDE."""
    if axis.slide >= axis.range:
        return Cut("panes", axis, axis.slide, 1, 1)
    width = math.gcd(axis.range, axis.slide)
    return Cut("panes", axis, width, axis.range // width, axis.slide // width)


def pairs(axis: Axis) -> Cut:
    """At most two slices a SLIDE."""
    whole, head = divmod(axis.range, axis.slide)
    if axis.slide >= axis.range or head == 0:
        cut = panes(axis)
        return Cut("pairs", axis, cut.head, cut.span, cut.step) if cut.span == 1 else cut
    return Cut("pairs", axis, head, 2 * whole + 1, 2)
