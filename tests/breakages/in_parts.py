"""Breakages of what is of parts of events, and of values that hold until the next row."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code, InText
from tests.breakages.on_spark import law, streams

added_up = seen_by(*law("spanning and added and up"))
whole_times = seen_by(*law("spanning and whole and times"))
at_once = seen_by(*law("spanning and most and once"))
covered = seen_by(*law("spanning and covered and not points"))
points = seen_by(*law("spanning and most and points"))
parts = seen_by("tests/spark/test_parts_of_events.py")
held = seen_by("tests/spark/test_held.py")

carried = seen_by(*law("sliding and held and numbers"))
arriving = seen_by(*streams("sliding and held"))

ON_SPARK = (
    carried(
        "a reading holds for ten thousand times as long as it may",
        "held:_Walk._held",
        InText("L) - ", "0000L) - "),
    ),
    carried(
        "the reading before a piece is the last one in it",
        "settle",
        InText("unbounded preceding and 1 preceding", "current row and current row"),
    ),
    carried(
        "no piece without rows has what holds",
        "_pieces_held",
        Code('f"array_distinct({both})" if len(runs) > 2 else both', "runs[0]"),
    ),
    carried(
        "a counter is compared with a reading however old",
        "held:_Walk._pass",
        InText("e.t - a.t <= ", "e.t - a.t + 1L > "),
    ),
    arriving(
        "rows before a window are counted in it",
        "_copy_carried",
        InText("if(piece >= begun, ", "if(true, "),
    ),
    arriving(
        "what lies between the readings of a piece is left out",
        "held:_Walk._pass",
        InText("when e.sum is not null then if(e.t >= ", "when e.sum is not null then if(e.t < "),
    ),
    whole_times(
        "an event that begins in a pane counts twice in it",
        "_by_running_sums",
        InText("unbounded preceding and 1 preceding", "unbounded preceding and current row"),
    ),
    whole_times(
        "an event of one pane goes on after it",
        "_cut_ends",
        InText("if(last_pane > first_pane, 1, 0)", "1"),
    ),
    whole_times(
        "the next pane with an end is also one of those before it",
        "panes_until_following",
        InText("L, ", "L * 0, "),
    ),
    added_up(
        "an event is whole in the pane in which it ends, too",
        "_bind_inside",
        InText("last_pane as high", "last_pane + 1L as high"),
    ),
    parts(
        "doubles are added up and taken back",
        "areas:add_up",
        Code("all(field.monoid.whole for field in fields.all)", "True"),
    ),
    at_once(
        "what is running where a pane begins is what runs in the next",
        "_most_of_panes",
        InText("unbounded preceding and 1 preceding", "unbounded preceding and current row"),
    ),
    at_once(
        "the most is told with its last instant",
        "_since",
        Code('f"-{at}"', "at"),
    ),
    points(
        "an event without duration begins and stops at once",
        "_mark_edges",
        InText("last_at * 2L + 1L", "(last_at - 1L) * 2L + 1L"),
    ),
    at_once(
        "the most of a pane is of the pane alone",
        "_most_of_panes",
        Code('f"before{of} + {n}"', "n"),
    ),
    at_once(
        "the most of a pane is told with its last instant",
        "areas:_pack",
        InText(") - ", ") + "),
    ),
    covered(
        "of an event the next one leaves out nothing",
        "_leave_out_counted",
        InText("unbounded preceding and 1 preceding", "unbounded preceding and 2 preceding"),
    ),
    covered(
        "an event of another kind has counted already",
        "_leave_out_counted",
        InText("max(if(", "max(if(true or "),
    ),
    parts(
        "an event without duration ends before it begins",
        "overlaps:_EDGES",
        InText("if(w.begins = w.ends, 2, 0)", "0"),
    ),
    parts(
        "a copy of an event lasts beyond its window",
        "lift_copies",
        InText("least(", "greatest("),
    ),
    parts(
        "windows share what is of parts of events",
        "plan.events:list_candidates",
        Code("one.way in OF_PARTS", "True"),
    ),
    held("readings are taken as they come", "_pass", InText("sort_array({p})", "{p}")),
    held(
        "what holds for no time is multiplied by it",
        "held:_area",
        InText("e.t > a.t", "e.t >= a.t"),
    ),
    held(
        "a counter that began anew is counted from before",
        "_rise",
        InText("else cast(e.v as ", "else cast(e.v - a.v as "),
    ),
)
