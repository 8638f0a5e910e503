"""Breakages of specs, plans, algebra, oracles and pictures; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import within

WIDENING = "tests/operators/test_widening_operator.py"
SEARCH = "tests/operators/test_search.py"
CHAIN = "tests/operators/test_chain.py"
MONOIDS = "tests/laws/test_monoids.py"
FACTS = "tests/foreign/test_facts.py"

notations = within("spec/notations.py", "tests/spec/test_notations.py")
monoids = within("algebra/monoids.py", MONOIDS)
ordering = within("algebra/ordering.py", MONOIDS)
drawn = within("plots/result.py", "tests/cli/test_plots.py")
thinned = within("plots/thinned.py", "tests/plots/test_kinds.py")
tables = within("plots/result.py", "tests/plots/test_kinds.py")
cuts = within("plan/drawing.py", "tests/plots/test_drawings.py")
text = within("algebra/text.py", "tests/test_sql_text.py")
cut = within("plan/cut.py", "tests/plan/test_cut.py")
choice = within("plan/candidate.py", "tests/plan/test_choice.py")
granules = within("plan/granules.py", "tests/plan/test_granules.py")
levels_plan = within("plan/widening.py", "tests/spec/test_widening_spec.py", SEARCH)
reports = within("spec/granular.py", CHAIN)
points_late = within("plan/placed.py", "tests/plan/test_late.py")
events_late = within("plan/events.py", "tests/plan/test_late.py")
sessions = within("reference/frames.py", FACTS)
events = within("reference/spanning.py", FACTS)
extents = within("reference/sliding.py", FACTS)
cost = within("plan/cost.py", "tests/plan/test_choice.py")
template = within("algebra/template.py", "tests/test_templates.py")
lowering = within("algebra/lowering.py", "tests/test_templates.py")
measured = within("plan/cost.py", "tests/plan/test_measured.py")

BREAKAGES = (
    drawn(
        "windows of several lengths are one line",
        "there & (lengths == length)",
        "there",
    ),
    drawn(
        "levels share one distance",
        "apart = _apart(times[where])",
        "apart = _apart(times)",
    ),
    thinned(
        "a thinned line bridges gaps",
        "kept.add(begin + int(missing[begin:end].argmax()))",
        "pass",
    ),
    tables(
        "two rows at one time are a line",
        "if not len(twice):",
        "if True:",
    ),
    tables(
        "times without a zone stay as they are",
        'return in_utc(instants, self.naive or "UTC") if column.type.tz is None else instants',
        "return instants",
    ),
    cuts(
        "slices of pairs are as long as the first",
        "after = (cut.start_of(number + 1) - cut.grid.offset) * unit",
        "after = start + cut.head * unit",
    ),
    monoids(
        "moments forget a square",
        "a[2] + b[2] + delta * delta * (a[0] * share)",
        "a[2] + b[2] + delta * (a[0] * share)",
    ),
    monoids(
        "a line leans the other way",
        "a[5] + b[5] + dx * dy * weight",
        "a[5] + b[5] - dx * dy * weight",
    ),
    monoids(
        "the smaller extreme wins",
        "return a if (key_a > key_b) == self.largest else b",
        "return b if (key_a > key_b) == self.largest else a",
    ),
    text(
        "a backtick ends a name",
        'name.replace("`", "``")',
        'name.replace("`", "`")',
    ),
    ordering("NaN is a number like others", "        return (2,)\n", "        return (1, value)\n"),
    cut("pairs lack the last slice", "head, 2 * whole + 1, 2)", "head, 2 * whole, 2)"),
    cut(
        "panes are as wide as a slide",
        "width = math.gcd(grid.range, grid.slide)",
        "width = grid.slide",
    ),
    choice("the dearest way is chosen", "chosen = min(fitting, key", "chosen = max(fitting, key"),
    granules(
        "granules begin at 0, whatever the offset",
        "_fewest([((grid.offset + length) % grid.slide, grid.slide)",
        "_fewest([(length % grid.slide, grid.slide)",
    ),
    reports(
        "continuous windows start at multiples of the finest slide",
        "ahead := -length.value % step.value",
        "ahead := length.value - length.value",
    ),
    levels_plan(
        "each level keeps one batch",
        "complete = [above.ratio - 1 for above in levels[1:]] + [1]",
        "complete = [1 for above in levels]",
        WIDENING,
    ),
    levels_plan(
        "a part has as many rows as a batch of level 0",
        "part = max_rows if level.number == 1 else 2 * max_rows",
        "part = max_rows",
        WIDENING,
    ),
    points_late(
        "copies of rows keep late ones in open windows, unasked",
        "EACH if shared and request.dropping",
        "EACH if shared and request.opening",
    ),
    points_late(
        "slices are taken for open windows",
        'whole = WHOLE if shared and request.opening else ""',
        'whole = ""',
    ),
    events_late(
        "cells are taken for open windows",
        'WHOLE if request.opening else ""',
        '""',
    ),
    sessions(
        "the oracle ends a session a row too early",
        "times[k] <= max(ends[i:k])",
        "times[k] < max(ends[i:k])",
    ),
    sessions(
        "the oracle keeps a row that has changed by its delta",
        "abs(a - b) >= float(delta)",
        "abs(a - b) > float(delta)",
    ),
    events(
        "the oracle has an event in the window that begins as it stops",
        "began < end and start < stopped",
        "began < end and start <= stopped",
    ),
    extents(
        "the oracle shifts windows the wrong way",
        "start = spec.offset.value + m * spec.slide.value",
        "start = -spec.offset.value + m * spec.slide.value",
    ),
    measured(
        "many keys are copied into their windows, which takes longer than panes",
        "PARTIAL = 860.0",
        "PARTIAL = 430.0",
    ),
    cost("copies cost nothing", "COPY * load.panes * load.groups", "0 * COPY * load.panes"),
    notations(
        "a literal's own sign is lost",
        '(quoted[1] == "-") != (quoted[2] == "-")',
        'quoted[1] == "-"',
    ),
    notations("minutes of a day are months", "_TIMES[unit.upper()]", "_DATES[unit.upper()]"),
    template(
        "what was put into a template is filled again",
        "return _PART.sub(text, template)",
        "return _PART.sub(text, _PART.sub(text, template))",
    ),
    lowering("a share is rounded to one below it", "if near >= share:", "if near <= 1:"),
)
