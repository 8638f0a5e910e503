"""Sessions: frames that end with a gap."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.algebra.aggregate import INTEGRAL, base_type
from fanlight.engine.kinds.examples import TIMES, split_at_gaps
from fanlight.engine.kinds.kind import (
    FRAMED,
    STATE,
    WORKERS,
    Elsewhere,
    Example,
    Feature,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.plan.frames import InputColumn, Scheme, Timing, sizes_of, whole_length
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.session import Session

_GAP = 2.5


def _make_scheme(spec: Session, types: Sequence[str], time_kind: str) -> Scheme:
    """Every row goes on, and only time closes a session."""
    gap, longest = spec.gap, spec.max_duration
    timing = Timing(
        None if gap is None else whole_length("gap", gap, time_kind),
        None if longest is None else whole_length("max_duration", longest, time_kind),
    )
    sizes = {**sizes_of(spec, time_kind), "timing": timing}
    inputs = tuple(InputColumn(read.given, "until") for read in spec.inputs)
    for kind in types:
        if time_kind == "integer":
            fits, wanted = base_type(kind) in INTEGRAL, "a whole number, as the time is"
        else:
            fits = kind.startswith("interval") or base_type(kind) in ("string", "varchar", "char")
            wanted = "an interval, or a text such as '5 minutes'"
        if not fits:
            raise refuse(
                f"gap={spec.shown}",
                f"is of type {kind}, which is not a length of time between rows",
                f"make it {wanted}",
            )
    return Scheme("every", inputs, **sizes)


def _read(reader: Reader, node: Node) -> Session:
    (first,), sizes = reader.sizes(node)
    own = reader.rule(first) in ("gap_sql", "gap_column")
    reader.add_span("gap", first, whole=not own)
    gap = reader.sql(first) if own else reader.length(first, calendar=True)
    return Session(gap, **sizes)


def _write(writer: Writer, spec: Session) -> str:
    if spec.gap is not None:
        gap = writer.length(spec.gap, calendar=True)
    else:
        text = writer.sql(spec.own_gap, spec)
        # Days and months are kept as SQL; what is written is the text that was given.
        gap = f"({text})" if repr(text) == spec.shown else f"'{spec.shown[1:-1]}'"
    longest = f" MAX {writer.length(spec.max_duration)}" if spec.max_duration else ""
    return f"SESSION {gap}{longest}{writer.sizes(spec)}"


SESSION = Kind(
    Session,
    FRAMED,
    Session("5 minutes"),
    (Feature("sessions", WORKERS, STATE),),
    Words(
        "session",
        "SESSION",
        "SESSION gap (at_most | at_least)*",
        _read,
        _write,
        rules=(
            "?gap: length\n"
            "    | name                              -> gap_column\n"
            '    | "(" _within* ")"                  -> gap_sql\n'
        ),
        terminals="SESSION.3: /session\\b(?=\\s*[\\w`('\"])/i\n",
        examples={"SESSION": "SESSION 5 MINUTES"},
        arguments={"gap": "SESSION"},
    ),
    _make_scheme,
    make_example=lambda _: Example(split_at_gaps(_GAP), times=TIMES, noun="sessions"),
    elsewhere=(
        Elsewhere(
            "SESSION",
            ("GAP",),
            "SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
            lambda lengths: Session(lengths["GAP"]),
        ),
    ),
    other_names={("session_window",): "fl.over(df, fl.Session('5 minutes'), time='ts')"},
)

register(SESSION)
