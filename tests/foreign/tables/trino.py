"""Trino's own tests of MATCH_RECOGNIZE: rows of one key, a pattern, and the matches.

Their rows are numbers in order; of a match each letter is the variable of a row, in small letters
if the pattern leaves the row out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.foreign.facts import Suite
from tests.helpers.patterned import text_of

COMPARED = ("<", "<=", "=", ">=", ">")
SUITE = Suite(
    "trinodb/trino", "core/trino-main/src/test/java/io/trino/sql/query/TestRowPatternMatching.java"
)


@dataclass(frozen=True)
class Matched:
    """A pattern as text, or as a tuple (see ``tests/oracle/patterns.py``), and its matches.

    ``define`` says of variables how a value is compared with that of the row before, or SQL;
    ``wanted`` has for each match its first row, from 1 on, and its variables: a dot where their
    test does not tell which. ``measured`` are measures as SQL writes them, with what each is of
    every match, and ``closed`` is which matches are emitted before further rows come.
    """

    test: str
    pattern: Any
    define: dict[str, str]
    values: tuple[int | None, ...]
    wanted: tuple[tuple[int, str], ...]
    after: str = "past last row"
    suite: Suite = SUITE
    ours: tuple[tuple[int, str], ...] | None = None
    why: str = ""
    texts: tuple[str | None, ...] = ()
    times: tuple[int, ...] = ()
    within: int | None = None
    subset: str = ""
    measured: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    closed: tuple[bool, ...] | None = None

    @property
    def expected(self) -> tuple[tuple[int, str], ...]:
        return self.wanted if self.ours is None else self.ours

    @property
    def name(self) -> str:
        return f"{self.suite.repository.split('/')[1]}: {self.test}"

    @property
    def text(self) -> str:
        return self.pattern if isinstance(self.pattern, str) else text_of(self.pattern)

    @property
    def definitions(self) -> dict[str, str]:
        """The definitions as SQL."""
        return {
            name: f"n {said} PREV(n)" if said in COMPARED else said
            for name, said in self.define.items()
        }

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of one key, a unit of time apart if it is not said when they are."""
        count = len(self.values)
        given = zip(
            self.times or range(1, count + 1), self.values, self.texts or ("x",) * count,
            strict=True,
        )  # fmt: skip
        return [
            {"k": "p", "t": at, "seq": number, "n": value, "v": 1.0, "s": text}
            for number, (at, value, text) in enumerate(given, 1)
        ]

    def disagrees(self, told: dict[int, tuple[int | None, str | None]]) -> dict[int, Any]:
        """Where rows, by their time, are told to have another match or variable than they have."""
        rows = [row["t"] for row in self.rows]
        wanted: dict[int, Any] = dict.fromkeys(rows, (None, None))
        for number, (begin, names) in enumerate(self.expected):
            for at, name in zip(rows[begin - 1 :], names, strict=False):
                wanted[at] = (None, None) if name.islower() else (number, name)
        return {
            at: (told.get(at), one)
            for at, one in wanted.items()
            if told.get(at) != one and not (one[1] == "." and told.get(at, (None,))[0] == one[0])
        }


A, B, C, D, X = (("row", name) for name in "ABCDX")


def seq(*parts):
    return ("seq", *parts)


def either(*parts):
    return ("or", *parts)


def out(part):
    return ("out", part)


def many(part, least=0, most=None, *, reluctant=False):
    return ("many", part, least, most, reluctant)


FALLS = {"B": "<", "C": ">"}
V_SHAPED = (90, 80, 70, 80, 90, 50, 40, 60)
FEW = (90, 80, 70, 70)
BS, CS = many(B, 1), many(C, 1)
QUANTIFIERS = {
    "B+": (many(B, 1), ((2, "BBB"),)),
    "B+?": (many(B, 1, reluctant=True), ((2, "B"), (3, "B"), (4, "B"))),
    "B{1,}": (many(B, 1), ((2, "BBB"),)),
    "B{2,}": (many(B, 2), ((2, "BBB"),)),
    "B{2,}?": (many(B, 2, reluctant=True), ((2, "BB"),)),
    "B{5,}": (many(B, 5), ()),
    "B{1,1}": (many(B, 1, 1), ((2, "B"), (3, "B"), (4, "B"))),
    "B{1,5}": (many(B, 1, 5), ((2, "BBB"),)),
    "B{1,5}?": (many(B, 1, 5, reluctant=True), ((2, "B"), (3, "B"), (4, "B"))),
    "B{5,7}": (many(B, 5, 7), ()),
    "B{1}?": (many(B, 1, 1, reluctant=True), ((2, "B"), (3, "B"), (4, "B"))),
    "B{2}": (many(B, 2, 2), ((2, "BB"),)),
    "B{5}": (many(B, 5, 5), ()),
}
EXCLUSIONS = {
    "A {- B+ -} C+": (seq(A, out(BS), CS), ((1, "AbbCC"), (6, "AbC"))),
    "{- A -} {- B+ -} C+": (seq(out(A), out(BS), CS), ((1, "abbCC"), (6, "abC"))),
    "A {- {- B+ -} C+ -}": (seq(A, out(seq(out(BS), CS))), ((1, "Abbcc"), (6, "Abc"))),
    "{- A B+ C+ -}": (out(seq(A, BS, CS)), ((1, "abbcc"), (6, "abc"))),
    "A B+ {- ()* -} C+": (seq(A, BS, out(many(seq())), CS), ((1, "ABBCC"), (6, "ABC"))),
    "A {- B -}+ {- C -}+": (seq(A, many(out(B), 1), many(out(C), 1)), ((1, "Abbcc"), (6, "Abc"))),
    "A {- B -}* {- C -}*": (seq(A, many(out(B)), many(out(C))), ((1, "Abbcc"), (6, "Abc"))),
    "A {- B -}{1,2} {- C -}{1,2}": (
        seq(A, many(out(B), 1, 2), many(out(C), 1, 2)), ((1, "Abbcc"), (6, "Abc")),
    ),
    "A {- C -}{2,3} {- B -}{2,3}": (
        seq(A, many(out(C), 2, 3), many(out(B), 2, 3)), ((3, "Accbb"),),
    ),
}  # fmt: skip
# After a match of rows 1 to 4 of these; that of D, which there is none of, and of A they refuse.
SKIPS = {
    "past last row": ((1, "ABBC"),),
    "next row": ((1, "ABBC"), (2, "ABC"), (4, "ABC")),
    "first C": ((1, "ABBC"), (4, "ABC")),
    "last B": ((1, "ABBC"), (4, "ABC")),
}
BEYOND = "where there is no such row, or it is the first one, the next match may begin at the next"
PLACED = "PREV(LAST(A.n), 3) + FIRST(A.n) + PREV(LAST(B.n), 2)"

MATCHED = (
    Matched("testSimpleQuery", seq(A, BS, CS), FALLS, V_SHAPED, ((1, "ABBCC"), (6, "ABC"))),
    Matched("testRowPattern: ^A", seq(("first",), A), {}, FEW, ((1, "A"),)),
    Matched("testRowPattern: A^", seq(A, ("first",)), {}, FEW, ()),
    Matched("testRowPattern: ^A^", seq(("first",), A, ("first",)), {}, FEW, ()),
    Matched("testRowPattern: A$", seq(A, ("last",)), {}, FEW, ((4, "A"),)),
    Matched("testRowPattern: $A", seq(("last",), A), {}, FEW, ()),
    Matched("testRowPattern: $A$", seq(("last",), A, ("last",)), {}, FEW, ()),
    Matched("testRowPattern: A B C", seq(A, B, C), {"B": "<", "C": "="}, FEW, ((2, "ABC"),)),
    Matched("testRowPattern: B | C | A", either(B, C, A), {"B": "<", "C": "<="}, FEW,
            ((1, "A"), (2, "B"), (3, "B"), (4, "C"))),
    Matched("testRowPattern: PERMUTE(B, C)", ("permute", B, C), {"B": "<", "C": "<"}, FEW,
            ((2, "BC"),)),
    Matched("testRowPattern: ((A) (B (C)))", seq(seq(A), seq(B, seq(C))), {"B": "<", "C": "="}, FEW,
            ((2, "ABC"),)),
    *(Matched(f"testPatternQuantifiers: {name}", pattern, {"B": "<="}, FEW, wanted)
      for name, (pattern, wanted) in QUANTIFIERS.items()),
    *(Matched(f"testExclusionSyntax: {name}", pattern, FALLS, V_SHAPED, wanted)
      for name, (pattern, wanted) in EXCLUSIONS.items()),
    *(Matched(f"testAfterMatchSkip: {after}", seq(A, BS, CS, many(D, 0, 1)),
              {**FALLS, "D": "false"}, (90, 80, 70, 80, 70, 80), wanted, after)
      for after, wanted in SKIPS.items()),
    *(Matched(f"testAfterMatchSkip: {after}", seq(A, BS, CS, many(D, 0, 1)),
              {**FALLS, "D": "false"}, (90, 80, 70, 80, 70, 80), (), after,
              ours=SKIPS["next row"], why=BEYOND)
      for after in ("last A", "last D")),
    Matched("testEmptyMatches", seq(A, many(B, 2, 2)), {"B": "<"}, (100, 100, 90, 80, 70, 100),
            ((2, "ABB"), (3, "ABB")), "next row"),
    Matched("testBackReference: A", seq(many(either(A, B)), X), {"X": "n = A.n"}, (1, 1),
            ((1, "AX"),)),
    Matched("testBackReference: B", seq(many(either(A, B)), X), {"X": "n = B.n"}, (1, 1),
            ((1, "BX"),)),
    Matched("testBackReference: places", seq(many(either(A, B)), X), {"X": f"n = {PLACED}"},
            (1, 2, 3, 4, 5, 6), ((1, "BAAABX"),)),
)  # fmt: skip
