"""The kinds of windows, each in one entry, which all rooms read."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.kinds import placed  # isort: skip
from fanlight.engine.kinds import predicates  # isort: skip
from fanlight.engine.kinds import boundary, delta, aggregate, states, session, widening  # isort: skip
from fanlight.engine.kinds import pattern, trailing, snapshot  # isort: skip
from fanlight.engine.kinds.kind import Kind, forget, kind_of, list_kinds, output_columns, register
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.spec.frames.base import Frame

__all__ = [
    "Kind", "aggregate", "boundary", "delta", "forget", "kind_of", "list_kinds", "output_columns",
    "pattern", "placed", "predicates", "register", "scheme_of", "session", "snapshot", "states",
    "trailing", "widening",
]  # fmt: skip


def scheme_of(spec: Frame, types: Sequence[str], time_kind: str) -> Scheme:
    """The scheme of a frame whose inputs have these Spark types; errors name the column."""
    kind = kind_of(spec)
    if kind is None or kind.scheme is None:
        raise TypeError(spec)
    return kind.scheme(spec, types, time_kind)
