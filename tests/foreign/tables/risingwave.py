"""RisingWave's own tests of MATCH_RECOGNIZE, in streams: see ``trino.py`` for how they are told.

A match that is held back until further rows come is one that is not closed here.
"""

from __future__ import annotations

from tests.foreign.facts import Suite
from tests.foreign.tables.trino import Matched

FOLDER = "e2e_test/streaming/match_recognize"
SIGNS = {"A": "n > 0", "B": "n < 0"}
BEYOND = {**SIGNS, "C": "n > 100"}
STEPS = {name: f"n = {number}" for number, name in enumerate("ABCD", 1)}
GAP = {"X": "n = 7", "N": "n = 8"}


def told(file, pattern, define, values, *wanted, **more):
    suite = Suite("risingwavelabs/risingwave", f"{FOLDER}{'_' * bool(file)}{file}.slt")
    test = f"{file or 'skips'}: {pattern} of {', '.join(map(str, values))}"
    return Matched(test, pattern, define, values, wanted, suite=suite, **more)


MATCHED = (
    told("", "A B", SIGNS, (10, -5, 8, -3, 2), (1, "AB"), (3, "AB"), closed=(True, True)),
    told("", "A B", SIGNS, (5, 6, 7, -1), (3, "AB"), closed=(True,)),
    told("", "A A", {"A": "n > 0"}, (10, -5, 8, -3, 2), after="next row"),
    told("", "A A", {"A": "n > 0"}, (5, 6, 7, -1), (1, "AA"), (2, "AA"), after="next row",
         measured=(("A.n", (6, 7)),)),
    told("define_nav", "A D+ U+", {"D": "<", "U": ">"}, (5, 4, 3, 4, 6, 2), (1, "ADDUU"),
         measured=(("A.n", (5,)), ("LAST(D.n)", (3,)), ("LAST(U.n)", (6,)))),
    told("define_nav", "A B", {"A": "A.n > 0", "B": "B.n > A.n"}, (10, 15, 8, 20, 1),
         (1, "AB"), (3, "AB"), measured=(("A.n", (10, 8)), ("B.n", (15, 20)))),
    told("aggregate", "A+ B", SIGNS, (10, 20, 30, -3, 1), (1, "AAAB"),
         measured=(("COUNT(*)", (4,)), ("COUNT(A.n)", (3,)), ("MIN(A.n)", (10,)),
                   ("MAX(A.n)", (30,)), ("SUM(A.n)", (60,)), ("AVG(A.n)", (20.0,)),
                   ("B.n", (-3,)))),
    told("within", "A B", SIGNS, (5, -1, 5, -1, 9), (1, "AB"), times=(1, 2, 10, 14, 15), within=3),
    told("terminal_finality", "A B", SIGNS, (5, -1), (1, "AB"), closed=(True,)),
    told("terminal_finality", "A B+", SIGNS, (5, -1), (1, "AB"), closed=(False,)),
    told("terminal_finality", "A B+", SIGNS, (5, -1, 7), (1, "AB"), closed=(True,)),
    told("terminal_finality", "A (B | B C)", BEYOND, (5, -1), (1, "AB"), closed=(True,)),
    told("terminal_finality", "A (B C | B)", BEYOND, (5, -1), (1, "AB"), closed=(False,)),
    told("terminal_finality", "A (B C | B)", BEYOND, (5, -1, 7), (1, "AB"), closed=(True,)),
    told("preference_supersession", "A B C D | A B", STEPS, (1, 2, 3), (1, "AB"), closed=(False,)),
    told("preference_supersession", "A B C D | A B", STEPS, (1, 2, 3, 4), (1, "ABCD"),
         closed=(True,)),
    told("preference_supersession", "A B C D | A B", STEPS, (1, 2, 9), (1, "AB"), closed=(True,)),
    told("preference_supersession", "X N N | N", GAP, (7, 8), (2, "N"), closed=(False,)),
    told("preference_supersession", "X N N | N", GAP, (7, 8, 8), (1, "XNN"), closed=(True,)),
    told("preference_supersession", "X N N | N", GAP, (7, 8, 9), (2, "N"), closed=(True,)),
    told("preference_supersession", "X N N | N", GAP, (8,), (1, "N"), closed=(True,)),
)  # fmt: skip
