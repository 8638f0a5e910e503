"""A kind of frame made as CONTRIBUTING.md says; see test_new_kind.

Spark's workers load this module by its name, as they load the library's own schemes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fanlight.engine.kernels.jit import FLOATS, INTS, NEW_BOOLS, VOID, kernel
from fanlight.engine.kernels.sizes import NEW_MARKS
from fanlight.engine.kinds.examples import VALUES
from fanlight.engine.kinds.kind import FRAMED, STATE, WORKERS, Example, Feature, Kind, Words
from fanlight.engine.operators.frames.marks import Marker
from fanlight.engine.plan.frames import Scheme, number_inputs
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import Frame, Input


# 1. The spec.
@dataclass(frozen=True)
class SignFrame(Frame):
    """A frame opens where the sign of a value changes; zero and null change nothing."""

    column: str

    def __post_init__(self):
        if not isinstance(self.column, str):
            raise refuse(
                f"SignFrame({self.column!r})", "does not name a column", "write SignFrame('v')"
            )

    @property
    def inputs(self):
        return (Input("column", self.column),)

    @property
    def ends(self):
        return "at the first value of the other sign"

    @property
    def guarantees(self):
        return frozenset({"unique", "drained", "non-overlapping"})


# 2. The oracle.
def sign(value):
    return 0 if value is None or math.isnan(value) else (value > 0) - (value < 0)


def framed(rows, _times, spec, _holds):
    """One after the other, each the longest that begins with a sign and does not hold the other."""
    signs = [sign(row[spec.column]) for row in rows]
    found, at = [], 0
    while starts := [i for i in range(at, len(rows)) if signs[i]]:
        begin = starts[0]
        ends = range(begin + 1, len(rows) + 1)
        at = max(end for end in ends if -signs[begin] not in signs[begin:end])
        found.append((begin, at))
    return found


# 3. The scheme.
def scheme(spec, kinds, _time_kind):
    return Scheme("signs", number_inputs(spec, kinds))


# 4. Its entry: how the query language has it, and what is drawn.
def read(reader, node):
    (column,) = reader.parts(node)
    return SignFrame(reader.column("column", column))


def write(writer, spec):
    return f"FRAME SIGNS OF {writer.name(spec.column)}"


KIND = Kind(
    SignFrame,
    FRAMED,
    SignFrame("v"),
    (Feature("frames of one sign", WORKERS, STATE),),
    Words(
        "signs",
        "FRAME SIGNS",
        "SIGNS OF name",
        read,
        write,
        terminals="SIGNS.3: /signs\\b/i\nOF.3: /of\\b/i\n",
        arguments={"column": "SIGNS OF"},
    ),
    scheme,
    make_example=lambda _: Example([(0, 8), (8, 17), (17, 24)], (0.5,), VALUES, noun="signs"),
    other_names={("signwindow",): "fl.over(df, SignFrame('v'), time='ts')"},
)


# 5. The loop, and what a key keeps between its rows.
@kernel(VOID(FLOATS, INTS, NEW_BOOLS, NEW_BOOLS, NEW_MARKS))
def signs(values, starts, opened, negative, marks):
    for g in range(len(starts) - 1):
        inside, below = opened[g], negative[g]
        for i in range(starts[g], starts[g + 1]):
            x = values[i]
            if x > 0 or x < 0:  # NaN is neither
                marks[i] = 1 if inside and (x < 0) == below else 2
                inside, below = True, x < 0
            else:
                marks[i] = 1 if inside else 0
        opened[g], negative[g] = inside, below


class Signs(Marker):
    def initial_state(self, slots):
        return {"negative": np.zeros(slots, np.bool_)}

    def write_marks(self, rows, out):
        (values,), starts, state, _ = rows  # the kind takes no limits
        if isinstance(values, tuple):
            whole, known = values
            values = np.where(known, whole, 0).astype(np.float64)
        signs(values, starts, state["opened"], state["negative"], out)
