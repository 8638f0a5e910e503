"""Events that last: what Hypothesis draws for the agreement tests of windows over them."""

from __future__ import annotations

from hypothesis import strategies as st

import fanlight as fl
from tests.helpers import events
from tests.helpers.events import FLAVOURS, KEYS, ORIGINS, examples, fractions, near, values

PAIRS = {"ts": ("began", "ts"), "i": ("i0", "i"), "x": ("x0", "x")}
TIME_SPECS = events.TIME_SPECS[:6] + events.TIME_SPECS[7:]
LONG = fl.Sliding("3 minutes", "1 minute")  # beside which some events are very long


@st.composite
def lasting(draw, spec, *, most):
    """How long an event lasts: nothing, an instant, about a slide, about a window, or long."""
    length, step = int(spec.range.value), int(spec.slide.value)
    drawn = draw(
        st.sampled_from((0, 0, 1, step - 1, step, step + 1, length - 1, length, length + 1))
        | st.integers(0, length)
        | st.integers(0, most * step)
    )
    return max(drawn, 0)


@st.composite
def case(draw, spec, *, origins=ORIGINS, most=16, longest=70, broken=True):
    """Events of a few keys under one spec; some ends are null or the wrong way round."""
    flavour = draw(st.sampled_from(FLAVOURS))
    origin = draw(st.sampled_from(origins))
    number = spec.measure == "number"
    whole = number and spec.range.value.denominator == spec.slide.value.denominator == 1
    timed = spec if spec.measure == "time" else fl.Sliding("4 minutes", "1 minute")
    found = []
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True)):
        for _ in range(draw(st.sampled_from((1, most // 2, most)))):
            ts = draw(near(timed, origin))
            began = ts - draw(lasting(timed, most=longest))
            i = draw(near(spec, 0)) if whole else 0
            i0 = i - draw(lasting(spec, most=longest)) if whole else 0
            x, x0 = (draw(fractions(spec)), draw(fractions(spec))) if number else (0.0, 0.0)
            if x < x0 and draw(st.integers(0, 7)):
                x, x0 = x0, x
            how = draw(st.integers(0, 31)) if broken else 9
            row = {"k": key, "ts": ts, "began": began, "i": i, "i0": i0, "x": x, "x0": x0}
            if how < 6:
                row[("ts", "began", "i", "i0", "x", "x0")[how]] = None
            if how == 6:
                row |= {"began": ts + 1, "i0": i + 1}
            found.append({**row, **draw(values(flavour))})
    return found


def packed(spec, count, **how):
    """The rows of many cases, each told apart by its ``case``."""
    cases = examples(case(spec, **how), count)
    return [{"case": number, **row} for number, rows in enumerate(cases) for row in rows]
