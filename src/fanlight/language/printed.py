"""Specs as the query language writes them: what is printed can be read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.spec.arguments import choice, names
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.frames import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    Frame,
    PredicateFrame,
    Session,
    ThresholdFrame,
)
from fanlight.engine.spec.frames.base import Least
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import MICROSECONDS, Extent, spell
from fanlight.engine.spec.watched import WAYS
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.language.clause import Spec
from fanlight.language.names import told
from fanlight.language.reading import read

_HOUR = MICROSECONDS["hour"]


def clause(
    spec: Spec | Sequence[Sliding],
    *,
    time: str | tuple[str, str],
    by: str | Sequence[str] = (),
    tiebreak: str | Sequence[str] = (),
    late: str = "drop",
) -> str:
    """Windows as :func:`fanlight.sql` writes them, between their brackets.

    Parameters
    ----------
    spec
        The windows, as for :func:`fanlight.over`. Conditions have to be SQL text: a Column or a
        Python function cannot be written down.
    time, by, tiebreak
        As for :func:`fanlight.over`; columns by name.
    late
        As for :func:`fanlight.over`.

    Returns
    -------
    str
        The clause, to stand after the name of a table. Read again, it is the same windows.

    Raises
    ------
    FanlightError
        If the windows have a part that the language cannot write.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.clause(fl.Sliding("4 minutes", "1 minute"), time="ts")
    '[WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE]'
    >>> fl.clause(fl.ThresholdFrame("flsp > 0.2", min_rows=20), time="ts", by="probe")
    '[WATTR ts PARTITION BY probe FRAME THRESHOLD (flsp > 0.2) MIN 20 ROWS]'

    """
    place = _place(time)
    keys, breaks = names("by", by, "by='key'"), names("tiebreak", tiebreak, "tiebreak='id'")
    if keys:
        place += f" PARTITION BY {_listed(keys)}"
    windows = written = _windows(spec)
    if breaks:
        written += f" TIEBREAK {_listed(breaks)}"
    if choice("late", late, ("drop", "open"), "a rule for late rows") != "drop":
        written += " LATE OPEN"
    text = f"[{place} {written}]"
    try:
        same = _windows(read(text, 0, len(text)).spec) == windows
    except FanlightError as error:
        raise refuse(
            f"{spec!r}", f"cannot be written as a clause ({error})", "use fl.over(…)"
        ) from error
    if not same:
        raise refuse(
            f"{spec!r}", "has SQL text whose brackets do not match", "use fl.over(…) for it"
        )
    return text


def _place(time: Any) -> str:
    if isinstance(time, str):
        return f"WATTR {told(time)}"
    if isinstance(time, (tuple, list)) and len(time) == 2 and all(isinstance(t, str) for t in time):
        return f"SPAN {_listed(time)}"
    raise refuse(
        f"time={time!r}", "is neither a column's name nor a pair of them", "write time='ts'"
    )


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(told, columns))


def _windows(spec: Any) -> str:
    if isinstance(spec, Sliding):
        return _sliding(spec)
    if isinstance(spec, (list, tuple)) and spec and all(isinstance(s, Sliding) for s in spec):
        return ", ".join(map(_sliding, spec))
    if isinstance(spec, MultiGranular):
        return _granular(spec)
    if isinstance(spec, Session):
        return _session(spec)
    if isinstance(spec, Frame):
        return f"FRAME {_frame(spec)}"
    if isinstance(spec, ProgressiveWidening):
        return _widening(spec)
    raise refuse(f"clause({spec!r})", "is not a window that fanlight knows", "pass a spec, for "
                 "example fl.Sliding('1 hour', '1 minute')")  # fmt: skip


def _length(extent: Extent, *, calendar: bool = False) -> str:
    """A length; with ``calendar``, hours are the longest unit that always lasts the same."""
    if extent.measure == "rows":
        return f"{int(extent.value)} ROW" + "S" * (extent.value != 1)
    if extent.measure == "number":
        return _number(extent.value)
    if calendar and extent.value % _HOUR == 0:
        return f"{extent.value // _HOUR} HOURS"
    return spell(int(extent.value)).upper()


def _number(value: Any) -> str:
    """A number that is the same when it is read again."""
    exact = Fraction(repr(value) if isinstance(value, float) else value)
    if exact.denominator == 1:
        return str(int(exact))
    shown = repr(float(exact))
    return shown.upper() if Fraction(shown) == exact else f"{exact.numerator}/{exact.denominator}"


def _sliding(spec: Sliding) -> str:
    slide = "" if spec.tumbling else f" SLIDE {_length(spec.slide)}"
    return f"RANGE {_length(spec.range)}{slide}{_offset(spec.offset)}"


def _offset(offset: Extent) -> str:
    if not offset.value:
        return ""
    return f" OFFSET {_number(offset.value) if offset.measure == 'rows' else _length(offset)}"


def _granular(spec: MultiGranular) -> str:
    lengths = ", ".join(map(_length, spec.ranges))
    found = f"RANGES {lengths} SLIDES {', '.join(map(_length, spec.slides))}"
    if spec.offset is not None:
        found += _offset(spec.offset) or " OFFSET 0"
    if spec.report != "periodic":
        found += f" REPORT {spec.report.upper()}"
    if spec.horizons:
        found += f" HORIZONS {', '.join(map(_length, spec.horizons))}"
    if spec.weights is not None:
        found += f" WEIGHTS {', '.join(map(_number, spec.weights))}"
    return found + (" CHANGES ONLY" if spec.changes_only else "")


def _session(spec: Session) -> str:
    if spec.gap is not None:
        gap = _length(spec.gap, calendar=True)
    else:
        text = _text(spec.own_gap, spec)
        given = spec.shown[1:-1]
        # Days and months are kept as SQL, of which the text that was given is shown.
        gap = f"({text})" if repr(text) == spec.shown else f"'{given}'"
    longest = f" MAX {_length(spec.max_duration)}" if spec.max_duration else ""
    return f"SESSION {gap}{longest}{_least(spec.least)}"


def _least(least: Least) -> str:
    count = f" MIN {least.rows} ROWS" if least.rows > 1 else ""
    return count + (f" MIN {_length(least.duration)}" if least.duration else "")


def _widening(spec: ProgressiveWidening) -> str:
    lengths = ", ".join(map(_length, spec.first))
    factor = f" FACTOR {spec.factor}" if spec.factor != 2 else ""
    return f"WIDENING {lengths} TO {_length(spec.longest)} MAX {spec.max_rows} ROWS{factor}"


def _text(given: Any, spec: Frame) -> str:
    if not isinstance(given, str):
        raise refuse(
            f"{spec!r}",
            "has a part that is not SQL text, and only text can be written down",
            "write the condition as SQL text",
        )
    return given


def _frame(spec: Frame) -> str:
    if isinstance(spec, ThresholdFrame):
        return f"THRESHOLD ({_text(spec.predicate, spec)}){_least(spec.least)}"
    if isinstance(spec, PredicateFrame):
        opens, closes = _text(spec.open, spec), _text(spec.close, spec)
        return f"OPEN ({opens}) CLOSE ({closes}){_least(spec.least)}"
    if isinstance(spec, BoundaryFrame):
        cells = ", ".join(f"{told(name)} {_cells(given)}" for name, given in spec.cells)
        return f"BOUNDARY {cells}{' OVERLAPPING' if spec.overlapping else ''}"
    if isinstance(spec, DeltaFrame):
        deltas = ", ".join(f"{told(name)} BY {_number(delta)}" for name, delta in spec.deltas)
        against = " AGAINST FIRST" if spec.against == "first" else ""
        crossing = " INCLUDE CROSSING" if spec.include_crossing else ""
        return f"DELTA {deltas}{against}{crossing}"
    if isinstance(spec, AggregateFrame):
        pairs = zip(spec.aggregates, spec.limits, strict=True)
        limits = ", ".join(f"{_call(call, spec)} REACHES {_number(limit)}" for call, limit in pairs)
        crossing = "" if spec.include_crossing else " EXCLUDE CROSSING"
        falls = any(WAYS[call.aggregate.watched].falls for call in spec.aggregates)
        return f"AGGREGATE {limits}{crossing}{' MAY FALL' if falls else ''}"
    raise refuse(f"{spec!r}", "is a frame of your own", "use fl.over(…) for it")


def _cells(given: Any) -> str:
    if isinstance(given, tuple):
        return f"AT ({', '.join(map(_number, given))})"
    return f"EVERY {_number(given)}"


def _call(call: Call, spec: Frame) -> str:
    name, columns = call.aggregate.name, [_text(one, spec) for one in call.columns]
    if name not in AGGREGATES:
        raise refuse(f"{spec!r}", "watches an aggregate of your own", "use fl.over(…) for it")
    usual = AGGREGATES[name].function(*columns)
    if replace(call, name=None) != replace(usual, name=None):
        why = f"watches a {name} with options, which are not kept as they were given"
        raise refuse(f"{spec!r}", why, "write it without them, or use fl.over(…)")
    return f"{name}({', '.join(map(told, columns)) or '*'})"
