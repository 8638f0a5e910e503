"""Breakages of specs, plans, algebra, oracles and pictures; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code, InText

WIDENING = "tests/operators/test_widening_operator.py"
SEARCH = "tests/operators/test_search.py"
CHAIN = "tests/operators/test_chain.py"
MONOIDS = "tests/algebra/test_monoids.py"
FACTS = "tests/foreign/test_facts.py"

notations = seen_by("tests/spec/test_notations.py")
monoids = seen_by(MONOIDS)
drawn = seen_by("tests/cli/test_plots.py")
kinds = seen_by("tests/plots/test_kinds.py")
sketches = seen_by("tests/plots/test_drawings.py")
text = seen_by("tests/test_sql_text.py")
cut = seen_by("tests/plan/test_cut.py")
choice = seen_by("tests/plan/test_choice.py")
granules = seen_by("tests/plan/test_granules.py")
levels = seen_by("tests/spec/test_widening_spec.py", SEARCH)
reports = seen_by(CHAIN)
late = seen_by("tests/plan/test_late.py")
facts = seen_by(FACTS)
templates = seen_by("tests/test_templates.py")
measured = seen_by("tests/plan/test_measured.py")
clocks = seen_by("tests/plan/test_clock_changes.py")

BREAKAGES = (
    drawn(
        "windows of several lengths are one line",
        "Result._split_by_label",
        Code("own & (lengths == length)", "own"),
    ),
    drawn(
        "levels share one distance",
        "Result.split_into_lines",
        Code("_least_step(times[where])", "_least_step(times)"),
    ),
    kinds(
        "a thinned line bridges gaps",
        "thin_line",
        Code("kept.add(begin + int(missing[begin:end].argmax()))", "pass"),
    ),
    kinds(
        "two rows at one time are a line",
        "Result._refuse_shared_times",
        Code("not len(twice)", "True"),
    ),
    kinds(
        "times without a zone stay as they are",
        "TimedTable.read_instants",
        Code(
            'to_utc(instants, self.naive or "UTC") if column.type.tz is None else instants',
            "instants",
        ),
    ),
    sketches(
        "slices of pairs are as long as the first",
        "_mark_slices",
        Code("(cut.slice_start(number + 1) - cut.grid.offset) * unit", "start + cut.head * unit"),
    ),
    monoids("moments forget a square", "Moments._combine_values", Code("delta * delta", "delta")),
    monoids(
        "a line leans the other way",
        "Comoments._combine_values",
        Code("a[5] + b[5] + dx * dy * weight", "a[5] + b[5] - dx * dy * weight"),
    ),
    monoids(
        "the smaller extreme wins",
        "ExtremeCount._combine_values",
        Code(
            "a if (key_a > key_b) == self.largest else b",
            "b if (key_a > key_b) == self.largest else a",
        ),
    ),
    text("a backtick ends a name", "in_backticks", InText("``", "`")),
    monoids("NaN is a number like others", "spark_key", Code("return (2,)", "return (1, value)")),
    cut("pairs lack the last slice", "cut_into_pairs", Code("2 * whole + 1", "2 * whole")),
    cut(
        "panes are as wide as a slide",
        "cut_into_panes",
        Code("math.gcd(grid.range, grid.slide)", "grid.slide"),
    ),
    choice(
        "the dearest way is chosen",
        "choose_candidate",
        Code(
            "min(fitting, key=lambda candidate: candidate.cost)",
            "max(fitting, key=lambda candidate: candidate.cost)",
        ),
    ),
    granules(
        "granules begin at 0, whatever the offset",
        "granules_of_bounds",
        Code("(grid.offset + length) % grid.slide", "length % grid.slide"),
    ),
    reports(
        "continuous windows start at multiples of the finest slide",
        "MultiGranular._make_windows",
        Code("-length.value % step.value", "length.value - length.value"),
    ),
    levels(
        "each level keeps one batch",
        "most_kept_rows",
        Code("[above.ratio - 1 for above in levels[1:]] + [1]", "[1 for above in levels]"),
        WIDENING,
    ),
    levels(
        "a part has as many rows as a batch of level 0",
        "most_window_rows",
        Code("max_rows if level.number == 1 else 2 * max_rows", "max_rows"),
        WIDENING,
    ),
    late(
        "copies of rows keep late ones in open windows, unasked",
        "placed:_propose_stream",
        Code("request.drops_late_rows", "request.opens_late_rows"),
    ),
    late(
        "slices are taken for open windows",
        "placed:_propose_stream",
        Code('WHOLE if shared and request.opens_late_rows else ""', '""'),
    ),
    late(
        "cells are taken for open windows",
        "events:_propose_stream",
        Code('WHOLE if request.opens_late_rows else ""', '""'),
    ),
    facts(
        "the oracle ends a session a row too early",
        "_sessions",
        Code("times[k] <= max(ends[i:k])", "times[k] < max(ends[i:k])"),
    ),
    facts(
        "the oracle keeps a row that has changed by its delta",
        "_apart",
        Code("change >= most", "change > most"),
    ),
    facts(
        "the oracle has an event in the window that begins as it stops",
        "_shares",
        Code("start < stopped", "start <= stopped"),
    ),
    facts(
        "the oracle shifts windows the wrong way",
        "bounds_near",
        Code(
            "spec.offset.value + number * spec.slide.value",
            "-spec.offset.value + number * spec.slide.value",
        ),
    ),
    clocks(
        "a window without length is one",
        "without_skipped",
        Code(
            "start == end or (start, end) == bounds(window - 1)",
            "(start, end) == bounds(window - 1)",
        ),
    ),
    clocks(
        "a window is given twice",
        "without_skipped",
        Code("start == end or (start, end) == bounds(window - 1)", "start == end"),
    ),
    clocks(
        "units within what a clock skips begin as much later",
        "with_changes",
        Code("late += [(number, change.at * 1000000) for number in within]", "pass"),
    ),
    clocks(
        "a clock is set back by one unit at most",
        "with_changes",
        Code("max(1, -(-back // unit.microseconds))", "1"),
    ),
    measured(
        "many keys are copied into their windows, which takes longer than panes",
        "slicing",
        Code("PARTIAL + 2.0 * sketch", "0.5 * PARTIAL"),
    ),
    choice(
        "copies cost nothing",
        "copies",
        Code("(COPY + sketch) * load.panes", "0.0 * load.panes"),
    ),
    notations(
        "a literal's own sign is lost",
        "as_plain_duration",
        Code('(quoted[1] == "-") != (quoted[2] == "-")', 'quoted[1] == "-"'),
    ),
    notations(
        "minutes of a day are months",
        "as_plain_duration",
        Code("_TIMES[unit.upper()]", "_DATES[unit.upper()]"),
    ),
    templates(
        "what was put into a template is filled again",
        "fill",
        Code(
            "_PLACE.sub(replace_part, template)",
            "_PLACE.sub(replace_part, _PLACE.sub(replace_part, template))",
        ),
    ),
    templates(
        "a share is rounded to one below it", "next_share", Code("near >= share", "near <= 1")
    ),
)
