"""Levels and queries over events that last: is a result the oracle's?"""

from __future__ import annotations

import fanlight as fl
from fanlight.reference import spanning_several, spans_of_several
from tests.compare import _difference, same, tolerance
from tests.granular_cases import keyed, place


def check(got, rows, spec, requests, **where):
    """Compare ``agg`` over levels or queries with the oracle."""
    label = "level" if isinstance(spec, fl.MultiGranular) else "query"
    by, time = where.get("by", ()), where["time"]
    expected = spanning_several(rows, spec, aggregates=requests, **where)
    found, wanted = keyed(got, label, by), keyed(expected, label, by)
    assert found.keys() == wanted.keys(), _difference(found.keys(), wanted.keys())
    slack = {}
    for number, windows, seen in spans_of_several(rows, spec, time=time, by=by):
        for window in seen:
            named = dict(zip(by, window.key, strict=True))
            row = {**named, "window": {"start": window.start, "end": window.end}, label: number}
            slack[place(row, label, by)] = {
                name: tolerance(request, window, windows, time[1])
                for name, request in requests.items()
            }
    wrong = []
    for at, row in wanted.items():
        assert list(found[at]) == list(row)
        wrong += [
            f"{requests[name]} at {at}: got {found[at][name]!r}, expected {row[name]!r}"
            for name in requests
            if not same(found[at][name], row[name], slack[at][name])
        ]
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:12])
    return len(wanted)
