"""For how long at least one event is running: each counts for what no earlier one has counted.

    events        b===========e
                     b====e           counted already
                          b======e    counts from where the first one ends
    counted       ===============

So what is left of events overlaps nowhere, and panes add it up.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.algebra.library.overlaps import TIME
from fanlight.engine.algebra.sql_text import fill, struct
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.fields import BEGINS, ENDS_AT, Fields
from fanlight.engine.spark.placed.areas import RunPlan, add_up, columns_of
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.selected_events import ENDS, select_to_copy
from fanlight.engine.spark.sql import over_clause

_PARTS = ("t", "one")  # ``one``: of which events, by number


def add_up_united(bound: Lasting, fields: Fields, run_plan: RunPlan) -> DataFrame:
    """Windows with how long an event is running, as a partial of one part that lasts as long."""
    columns = columns_of(fields)
    kinds = list(dict.fromkeys(["", *columns.values()]))
    own, times = Fields(), {}
    for of in dict.fromkeys(columns.values()):
        label = next(field.facts.label for field in fields.all if columns[field.name] == of)
        names = []
        for monoid in (TIME["high"], TIME["low"]):
            time = fill(monoid.value, begins=BEGINS, ends=ENDS_AT)
            value = f"if(one = {kinds.index(of)}, {time}, null)"
            names.append(own.add_field(value, monoid, label).name)
        high, low = names
        times[of] = f"cast({high} as bigint) * 1048576L + cast({low} as bigint)"
    found = add_up(bound, _leave_out_counted(bound, fields, kinds), own, run_plan)
    texts = [
        f"array({struct([('begins', '0L'), ('ends', times[of]), ('n', '1L')])}) as {name}"
        for name, of in columns.items()
    ]
    return found.selectExpr(*bound.keys, *bound.query_columns, "start", *texts)


def _leave_out_counted(bound: Lasting, fields: Fields, kinds: list[str]) -> Relation:
    """Events from where no earlier one of their kind is running; instants stay where none is.

    Of all events, whether asked for or not, as a window is there if one of them is.
    """
    rows = select_to_copy(bound, fields).df
    rows = rows.selectExpr("*", f"first_at as {BEGINS}", f"greatest(first_at, t) as {ENDS_AT}")
    values = {of: name for name, of in columns_of(fields).items()}
    lifted = {field.name: field.value for field in fields.all}
    rows = rows.selectExpr("*", *fields.lifting)
    taken = {of: f"{lifted[values[of]]} is not null" if of else "true" for of in kinds}
    before = over_clause(bound.keys, "first_at", "rows between unbounded preceding and 1 preceding")
    starts = [
        f"greatest(first_at, max(if({test}, {ENDS_AT}, null)) {before}) as low{of}"
        for of, test in taken.items()
    ]
    rows = rows.selectExpr("*", *starts)
    left = {of: f"{test} and low{of} < {ENDS_AT}" for of, test in taken.items()}
    left[""] = f"(low < {ENDS_AT} or (low = first_at and first_at = {ENDS_AT}))"
    if len(kinds) == 1:
        rows = rows.filter(left[""]).selectExpr(
            *bound.keys, "low as first_at", "last_at", "t", "0 as one"
        )
        return Relation.of_rows(rows, bound.keys, ENDS, _PARTS)
    found = ", ".join(
        f"if({left[of]}, {struct([('first_at', f'low{of}'), ('one', str(number))])}, null)"
        for number, of in enumerate(kinds)
    )
    rows = rows.selectExpr(*bound.keys, "last_at", "t", f"inline(array_compact(array({found})))")
    return Relation.of_rows(rows, bound.keys, ENDS, _PARTS)
