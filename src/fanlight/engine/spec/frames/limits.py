"""Limits that rows, or the earlier frames of their key, decide: read from SQL text.

``coalesce(mean_rows(3), 1000) * abs(mean_value(500)) + slack`` is arithmetic over three means and a
column. What needs no mean is left to Spark as SQL of the row; the rest becomes a list of steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import refuse

MEANS = ("mean_rows", "mean_value")
FUNCTIONS = {"abs": 1, "greatest": 2, "least": 2, "coalesce": 2}
DEEPEST = 30  # brackets and signs within each other, at most
LONGEST = 1_000_000
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_TOKEN = re.compile(
    r"""\s*(?: (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
             | (?P<name>(?:`(?:[^`]|``)+`|[^\W\d]\w*)(?:\.(?:`(?:[^`]|``)+`|[^\W\d]\w*))*)
             | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
             | (?P<comment>--|/\*)
             | (?P<other>\S))""",
    re.VERBOSE | re.DOTALL,
)
_EXAMPLE = "write for example limit='coalesce(mean_rows(3), 1000) * abs(mean_value(500))'"


@dataclass(frozen=True)
class Mean:
    """The exponential mean of the last ``last`` numbers of a key, null before there are ``least``.

    ``of``: of the ``"rows"`` of its earlier frames, or of each ``"value"`` that is watched.
    """

    of: Literal["rows", "value"]
    last: int
    least: int


class Step(NamedTuple):
    """A step of a calculation on a stack: a word, and the number or the index that goes with it."""

    does: str
    what: float = 0.0


@dataclass(frozen=True)
class Formula:
    """A limit that is calculated: ``text`` as it was given, SQL or a Column.

    ``rows`` are what Spark calculates of each row, SQL or a Column; ``means`` and ``steps`` what is
    made of them. Without means, the limit is the only one of ``rows``.
    """

    text: Any
    rows: tuple[Any, ...]
    means: tuple[Mean, ...] = ()
    steps: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        return repr(self.text) if isinstance(self.text, str) else str(self.text)


def read_formula(given: Any) -> Formula:
    """Read a limit given as SQL text or as a Column."""
    if not isinstance(given, str):
        return Formula(given, (given,))
    if not given.strip():
        raise refuse("limit=''", "is empty", "write limit='quota', or a number")
    tokens = list(_TOKEN.finditer(given))
    called = any(
        (one["name"] or "").lower() in MEANS and after[0].strip() == "("
        for one, after in pairwise(tokens)
    )
    return _Parser(given, tokens).formula() if called else Formula(given, (given,))


class _Part(NamedTuple):
    """A part of a formula: its place, and its steps. Without steps, Spark calculates it."""

    begin: int
    end: int
    steps: tuple[Step, ...] | None


class _Parser:
    """Reads sums, products, signs, calls and brackets, from left to right."""

    def __init__(self, text: str, tokens: list[re.Match[str]]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = self.depth = 0
        self.rows: dict[str, int] = {}
        self.means: dict[Mean, int] = {}

    def formula(self) -> Formula:
        """The whole text."""
        steps = self.steps_of(self.sum())
        if self.at < len(self.tokens):
            raise self.refuse(f"has {self.next!r} where a sign, or its end, should be")
        return Formula(self.text, tuple(self.rows), tuple(self.means), steps)

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.at][0].strip() if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> re.Match[str]:
        """Take the next token."""
        if self.at == len(self.tokens):
            raise self.refuse(f"ends where {wanted!r} should be" if wanted else "ends too early")
        if wanted and self.next != wanted:
            raise self.refuse(f"has {self.next!r} where {wanted!r} should be")
        self.at += 1
        return self.tokens[self.at - 1]

    def sum(self) -> _Part:
        """Products that are added or subtracted."""
        part = self.product()
        while self.next in ("+", "-"):
            part = self.operation(part, self.product)
        return part

    def product(self) -> _Part:
        """Factors that are multiplied or divided."""
        part = self.factor()
        while self.next in ("*", "/"):
            part = self.operation(part, self.factor)
        return part

    def operation(self, left: _Part, operand: Any) -> _Part:
        """A sign between two parts; Spark calculates it if it calculates both."""
        sign = self.take()[0].strip()
        right = operand()
        if left.steps is None and right.steps is None:
            return _Part(left.begin, right.end, None)
        steps = (*self.steps_of(left), *self.steps_of(right), Step(_OPERATORS[sign]))
        return _Part(left.begin, right.end, steps)

    def factor(self) -> _Part:
        """A number, a name, a call, something in brackets, or one of these with a sign."""
        if self.depth == DEEPEST:
            raise self.refuse("nests too deeply")
        self.depth += 1
        part = self.operand()
        self.depth -= 1
        return part

    def operand(self) -> _Part:
        """See :meth:`factor`."""
        token = self.take()
        begin, word = token.end() - len(token[0].lstrip()), token[0].strip()
        if word in ("-", "+"):
            part = self.factor()
            signed = None if part.steps is None else part.steps
            if signed is not None and word == "-":
                signed = (*signed, Step("negate"))
            return _Part(begin, part.end, signed)
        if word == "(":
            part = self.sum()
            return _Part(begin, self.take(")").end(), part.steps)
        if token.lastgroup == "name" and self.next == "(":
            return self.call(begin, word)
        if token.lastgroup in ("other", "comment"):
            raise self.refuse(f"has {word!r} where a number, a name or a bracket should be")
        return _Part(begin, token.end(), None)

    def call(self, begin: int, name: str) -> _Part:
        """A call: of a mean, of a function over means, or of one that Spark calculates."""
        self.take("(")
        if name.lower() in MEANS:
            return self.mean(begin, name.lower())
        parts = [] if self.next == ")" else [self.sum()]
        while self.next == ",":
            self.take(",")
            parts.append(self.sum())
        end = self.take(")").end()
        if all(part.steps is None for part in parts):
            return _Part(begin, end, None)
        known = FUNCTIONS.get(name.lower())
        if known is None or len(parts) < known or (known == 1 and len(parts) > 1):
            raise self.refuse(
                f"asks {name} of {len(parts)} numbers with {' or '.join(MEANS)} among them"
            )
        steps = self.steps_of(parts[0])
        for part in parts[1:]:
            steps = (*steps, *self.steps_of(part), Step(name.lower()))
        return _Part(begin, end, (*steps, Step("abs")) if known == 1 else steps)

    def mean(self, begin: int, name: str) -> _Part:
        """A mean of the last numbers, and how many there must be."""
        counts = [self.count(name)]
        if self.next == ",":
            self.take(",")
            counts.append(self.count(name))
        end = self.take(")").end()
        mean = Mean("rows" if name == "mean_rows" else "value", counts[0], (*counts, 1)[1])
        return _Part(begin, end, (Step("mean", self.means.setdefault(mean, len(self.means))),))

    def count(self, name: str) -> int:
        """A whole number of rows or frames."""
        word = self.take()[0].strip()
        if not word.isdecimal() or not 1 <= int(word) <= LONGEST:
            raise self.refuse(
                f"asks {name} of {word!r}, which is not a whole number from 1 to {LONGEST:,}"
            )
        return int(word)

    def steps_of(self, part: _Part) -> tuple[Step, ...]:
        """The steps of a part; of one that Spark calculates, to take it from the row."""
        if part.steps is not None:
            return part.steps
        text = self.text[part.begin : part.end]
        try:
            return (Step("number", float(text)),)
        except ValueError:
            return (Step("row", self.rows.setdefault(text, len(self.rows))),)

    def refuse(self, why: str) -> Exception:
        """The error about the whole text."""
        return refuse(
            f"limit={self.text!r}",
            f"{why}; around {' and '.join(MEANS)} it may have + - * / and {', '.join(FUNCTIONS)}",
            _EXAMPLE,
        )


Watched = Literal[
    "", "count", "sum", "max", "distinct", "avg", "var_samp", "var_pop", "stddev_samp",
    "stddev_pop", "min",
]  # fmt: skip


@dataclass(frozen=True)
class Running:
    """What is known of a running value.

    ``falls``: it can fall again as rows come in. ``positive``: it is never below 0, so its limit
    must be above 0. ``why_not`` says why no limit can watch it, empty if one can; ``instead`` is
    what the error suggests before the usual. ``below`` is what is watched of the negated column
    instead where a limit is to be reached from above; empty if none can be. ``absolute``: the limit
    may be on how far the value is from 0.
    """

    falls: bool = False
    positive: bool = False
    below: Watched = ""
    absolute: bool = False
    why_not: str = ""
    instead: str = ""


RUNNING: Mapping[Watched, Running] = {
    # A count of rows, or of values; a sum of values that are not negative.
    "count": Running(positive=True),
    "sum": Running(positive=True, below="sum", absolute=True),
    "max": Running(),
    "distinct": Running(positive=True),
    "avg": Running(falls=True, below="avg", absolute=True),
    "var_samp": Running(falls=True),
    "var_pop": Running(falls=True),
    "stddev_samp": Running(falls=True),
    "stddev_pop": Running(falls=True),
    "min": Running(
        why_not="only falls as rows come in",
        instead="pass below=True, or ",
        below="max",
    ),
    "": Running(why_not="is not followed row by row"),
}


def check_watched(about: str, watched: str, arity: int) -> None:
    """Refuse a ``watched`` that is unknown, or is for another number of columns than ``arity``."""
    check_choice(f"{about} watched", watched, list(RUNNING), "known")
    if watched in ("", "distinct"):
        fits, wanted = not watched or arity > 0, "one to three columns"
    else:
        fewest = 0 if watched == "count" else 1
        fits, wanted = fewest <= arity <= 1, "one column" if fewest else "one column at most"
    if not fits:
        raise refuse(
            f"{about} watched={watched!r}",
            f"is for {wanted}, but the aggregate has {arity}",
            "leave watched out; no limit can watch the aggregate then",
        )
