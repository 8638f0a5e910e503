"""Sums whose partials cannot overflow: each value is split in two parts, each with room to spare.

Spark adds longs in 64 bits and decimals in 38 digits. A partial that does not fit would be an
error, or null, which means "no value", although the sum of the window may fit. So values are split
by a divisor, the sums of both parts are partials, and only the result can be too large. It then is
what Spark's own sum is: an error in ANSI mode, otherwise null for decimals, and for longs the
lowest 64 bits.

SQL texts here mean the same in every configuration: no decimal is the result of ``+``, ``-``, ``*``
or ``/``, since Spark drops digits from such results where 38 are not enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from fanlight.engine.algebra.aggregate import digits_of
from fanlight.engine.algebra.lowering import let

_DIGITS = 29  # digits of the lower part of a decimal; nine more are left for a sum of 10**9 rows
_CHUNK = 6  # digits divided at a time; with a divisor of up to 10**12 they fit 64 bits
_LARGEST = "9223372036854775807L"
_MEAN = 4  # further digits of a mean after the point, as in Spark


def power_of_ten(exponent: int) -> str:
    """A power of ten as an SQL decimal.

    >>> power_of_ten(2), power_of_ten(0), power_of_ten(-3)
    ('100BD', '1BD', '0.001BD')
    """
    if exponent >= 0:
        return "1" + "0" * exponent + "BD"
    return "0." + "0" * (-exponent - 1) + "1BD"


def _negative(decimal: str) -> str:
    """SQL: whether a decimal is negative; Spark would round it to compare it with 0."""
    return f"cast({decimal} as double) < 0D"


class SplitSum(ABC):
    """How values of one type are split, and how a sum is made of the sums of their parts."""

    @property
    @abstractmethod
    def divisor(self) -> str:
        """SQL: the divisor; the quotient is the upper part, the remainder the lower one."""

    @abstractmethod
    def sum_sql(self, upper: str, lower: str) -> str:
        """SQL: the sum, from the sums of the parts."""

    @abstractmethod
    def sum_values(self, upper: Any, lower: Any) -> Any:
        """The sum in Python; a ValueError where it does not fit its type."""

    @abstractmethod
    def double_sum_sql(self, upper: str, lower: str) -> str:
        """SQL: the sum as a double, from weighted sums of the parts, which are doubles."""

    def split(self, value: str) -> tuple[str, str]:
        """SQL: the upper and the lower part of a value."""
        return f"({value}) div {self.divisor}", f"({value}) % {self.divisor}"


@dataclass(frozen=True)
class Longs(SplitSum):
    """Whole numbers of 64 bits: two halves."""

    divisor = "4294967296L"

    def sum_sql(self, upper: str, lower: str) -> str:
        """SQL: a long; a sum that does not fit wraps around, or is the error of Spark's ``+``."""
        high, low = f"({upper} + shiftright({lower}, 32))", f"({lower} & 4294967295L)"
        whole = f"shiftleft({high}, 32) + {low}"
        refused = f"0L * ({_LARGEST} + ({low} | 1L))"
        return f"if({high} between -2147483648L and 2147483647L, {whole}, {whole} + {refused})"

    def sum_values(self, upper: Any, lower: Any) -> Any:
        """A whole number of 64 bits."""
        whole = upper * 2**32 + lower
        if not -(2**63) <= whole < 2**63:
            raise ValueError(whole)
        return whole

    def double_sum_sql(self, upper: str, lower: str) -> str:
        """SQL: the sum as a double."""
        return f"({upper} * 4294967296D + {lower})"


@dataclass(frozen=True)
class Decimals(SplitSum):
    """Decimals of so many digits that a sum of them may have more than 38."""

    scale: int

    @property
    def divisor(self) -> str:
        """SQL: a power of ten."""
        return power_of_ten(_DIGITS - self.scale)

    def sum_sql(self, upper: str, lower: str) -> str:
        """SQL: a decimal of 38 digits, cast from text; null or an error if it has more."""
        by = self.divisor

        def upper_with_carry(of: str) -> str:
            borrowed = f"if({_negative(f'{of}.lower % {by}')}, 1L, 0L)"
            return f"({of}.upper + {of}.lower div {by} - {borrowed})"

        low = f"pmod(one.lower, {by})"
        middle = power_of_ten(15 - self.scale)
        text = (
            f"cast({upper_with_carry('one')} as string), "
            f"lpad(cast({low} div {middle} as string), {_DIGITS - 15}, '0'), "
            f"lpad(cast({low} % {middle} div {power_of_ten(-self.scale)} as string), 15, '0')"
        )
        text = f"concat(if(below, '-', ''), {text}, 'E-{self.scale}')"
        # The error of Spark's +, or of a text that is not a number, whose cast is null.
        refused = f"concat('not ', cast({_LARGEST} + {upper_with_carry('one')} as string))"
        text = f"if({upper_with_carry('one')} < {10 ** (38 - _DIGITS)}L, {text}, {refused})"
        total = f"cast({text} as decimal(38,{self.scale}))"
        opposite = "named_struct('upper', -sums.upper, 'lower', -sums.lower)"
        total = let("one", f"if(below, {opposite}, sums)", total)
        total = let("below", f"{upper_with_carry('sums')} < 0L", total)
        return let("sums", f"named_struct('upper', {upper}, 'lower', {lower})", total)

    def sum_values(self, upper: Any, lower: Any) -> Any:
        """A decimal of 38 digits."""
        whole = Context(prec=80).fma(Decimal(upper), Decimal(10) ** (_DIGITS - self.scale), lower)
        if abs(whole).scaleb(self.scale) >= 10**38:
            raise ValueError(whole)
        return whole

    def double_sum_sql(self, upper: str, lower: str) -> str:
        """SQL: the sum as a double."""
        return f"({upper} * 1e{_DIGITS - self.scale}D + {lower})"


def split_sum_of(kind: str) -> SplitSum | None:
    """How values of a type are split for their sum; ``None`` where no sum of them overflows.

    >>> split_sum_of("int"), split_sum_of("decimal(28,2)"), split_sum_of("decimal(29,2)")
    (None, None, Decimals(scale=2))
    """
    if kind == "bigint":
        return Longs()
    if kind.startswith("decimal("):
        precision, scale = digits_of(kind)
        return Decimals(scale) if precision > 28 else None
    return None


@dataclass(frozen=True)
class Part:
    """A part of an aggregate's partial: the column of a field, or the two of a ``split`` type."""

    names: tuple[str, ...]
    split: str = ""

    def sql(self, *, weighted: bool = False) -> str:
        """SQL: what it stands for in a template."""
        sums = split_sum_of(self.split)
        if sums is None:
            return self.names[0]
        return sums.double_sum_sql(*self.names) if weighted else sums.sum_sql(*self.names)

    @property
    def kept(self) -> str:
        """SQL: what is written of it in a table of partials."""
        if not self.split:
            return self.names[0]
        upper, lower = self.names
        return f"named_struct('upper', {upper}, 'lower', {lower})"


def mean_type(decimal: str) -> str:
    """The type of the mean of a decimal, as Spark has it: four more digits."""
    precision, scale = digits_of(decimal)
    wide = min(38, precision + _MEAN)
    return f"decimal({wide},{min(scale + _MEAN, wide)})"


def mean_sql(total: str, count: str, decimal: str) -> str:
    """SQL: the mean of decimals of a type, rounded half up, from their sum and their number.

    It is long division, ``_CHUNK`` digits at a time.
    """
    precision, scale = digits_of(decimal)
    chunks: list[str] = []
    for first in range(0, min(38, precision + 10), _CHUNK):
        rest = (
            "total" if first + _CHUNK >= 38 else f"total % {power_of_ten(first + _CHUNK - scale)}"
        )
        chunks.insert(0, f"abs({rest} div {power_of_ten(first - scale)})")
    step = f"(acc.rest * {10**_CHUNK}L + chunk)"
    quotient = (
        f"aggregate(array({', '.join(chunks)}, 0L), named_struct('rest', 0L, 'found', ''), "
        f"(acc, chunk) -> named_struct('rest', {step} % number, 'found', "
        f"concat(acc.found, lpad(cast({step} div number as string), {_CHUNK}, '0'))), "
        "acc -> acc.found)"
    )
    text = f"concat(if({_negative('total')}, '-', ''), {quotient}, 'E-{scale + _CHUNK}')"
    mean = f"if(total is null, null, cast({text} as {mean_type(decimal)}))"
    return let("number", f"nullif({count}, 0L)", let("total", total, mean))
