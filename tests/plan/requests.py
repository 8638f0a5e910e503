"""Requests for plans, as the tests of choices ask for them."""

from __future__ import annotations

from dataclasses import replace

from fanlight.engine.plan import candidate, placed, ways
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.late_rows import Release
from fanlight.engine.plan.request import Event, FieldFacts, Queries, Query, Request, Workload

STRATEGIES = {one.name: one for one in vars(ways).values() if isinstance(one, ways.Strategy)}
MINUTE = 60_000_000
COUNT = FieldFacts("count(1)", running=True, invertible=True)
SUM = FieldFacts("sum(v)", running=True, invertible=True)
MAX = FieldFacts("max(v)", running=True, invertible=False, why_not="has no inverse", selective=True)
MEDIAN = FieldFacts("median(v)", running=False, invertible=False, why_not="has no inverse")
DISTINCT = FieldFacts("count(DISTINCT v)", running=False, invertible=False,
                      why_not="has no inverse", counted=True)  # fmt: skip
COUNTED = replace(DISTINCT, label="median(v)")
SKETCH = replace(MAX, label="approx_percentile(v, 0.5)", selective=False, running=False,
                 sketch=524_280)  # fmt: skip


def request(grids, fields, *, name="", labels=None, work=None, kind="timestamp",
            event=Event.POINT, streaming=False, late="drop", **how):  # fmt: skip
    grids = [grids] if isinstance(grids, Grid) else list(grids)
    labels = range(len(grids)) if labels is None else labels
    queries = Queries(tuple(Query(*pair) for pair in zip(labels, grids, strict=True)), name)
    release = Release.of(late, streaming=streaming)
    work = work or Workload()
    return Request(Coordinate(kind), queries, fields, work, event, release, **how)


def plan_placed(asked, strategy="auto"):
    """The plan of a request by the name of a strategy."""
    return placed.plan_placed(asked, STRATEGIES[strategy])


def plan_apart(whole, parts, strategy="auto"):
    """Plans of parts by the name of a strategy."""
    return placed.plan_in_parts(whole, parts, STRATEGIES[strategy])


def frame_plan(scheme, *, strategy="auto", **how):
    """The plan of frames by the name of a strategy."""
    return candidate.plan_frames(scheme, strategy=STRATEGIES[strategy], **how)
