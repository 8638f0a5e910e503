"""Time windows: sliding windows, one kind or a list of them, and levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from fanlight.engine.kinds.kind import (
    LEVELLED,
    NATIVE,
    PLACED,
    STATE,
    WORKERS,
    Elsewhere,
    Feature,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.spec.calendar import WEEKDAYS, Calendar, has_months, read_units
from fanlight.engine.spec.cumulative import Cumulative
from fanlight.engine.spec.decay import Decay, decay
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import (
    Extent,
    read_extent,
    write_duration,
    write_units,
)

_Read = Callable[[Reader, Node], Any]
_Write = Callable[[Writer, Any], str]

_OVER_TIME = Feature(
    "sliding, calendar and cumulative windows, lists and levels, over time", NATIVE, NATIVE
)
_OVERLAPPING = Feature(
    "exact percentiles, frequent and distinct values of overlapping windows", WORKERS, NATIVE
)
_OPEN = Feature("early results of windows over time", NATIVE, STATE)
_SILENCES = Feature("empty windows over time", NATIVE, STATE)
_OVER_ROWS = Feature("windows over rows, windows that rows end", NATIVE, STATE)


def _read_each(
    read: Callable[[Reader, Node, Node, Sequence[Node]], Sliding], argument: str = "range"
) -> _Read:
    """Make a reader of a window spec or a list of specs, from ``read``, which reads one spec.

    ``argument`` is what the length is called in Python.
    """

    def read_all(reader: Reader, node: Node) -> Any:
        windows: list[Sliding] = []
        for one in reader.parts(node):
            length, *rest = reader.parts(one)
            reader.add_span(f"query {len(windows)},", one)
            reader.add_span(argument, length)
            windows.append(read(reader, one, length, rest))
        return windows[0] if len(windows) == 1 else tuple(windows)

    return read_all


def _write_each(write: _Write) -> _Write:
    """What writes one kind of windows, or a list of them."""

    def write_all(writer: Writer, spec: Any) -> str:
        several = spec if isinstance(spec, (list, tuple)) else [spec]
        return ", ".join(write(writer, one) for one in several)

    return write_all


def _read_sliding(reader: Reader, node: Node, length: Node, rest: Sequence[Node]) -> Sliding:
    values = {reader.rule(part): reader.parts(part)[0] for part in rest}
    for argument, value in values.items():
        reader.add_span(argument, value)
    more = {argument: reader.length(value) for argument, value in values.items()}
    if "CLOSED" in reader.words(node):
        more["closed"] = _last_word(reader, node, "CLOSED")
    with reader.translate_errors(node):
        return Sliding(reader.length(length), more.pop("slide", None), **more)


def _last_word(reader: Reader, node: Node, keyword: str) -> str:
    """What a keyword of several words says with the last of them."""
    return reader.words(node)[keyword].split()[-1].lower()


def _write_sliding(writer: Writer, spec: Any) -> str:
    slide = "" if spec.tumbling else f" SLIDE {writer.length(spec.slide)}"
    closed = "" if spec.closed == "left" else f" CLOSED {spec.closed.upper()}"
    return f"RANGE {writer.length(spec.range)}{slide}{_write_offset(writer, spec.offset)}{closed}"


def _write_offset(writer: Writer, offset: Extent) -> str:
    if not offset.value:
        return ""
    rows_ = offset.measure == "rows"
    return f" OFFSET {writer.number(offset.value) if rows_ else writer.length(offset)}"


SLIDING = Kind(
    Sliding,
    PLACED,
    Sliding("4 minutes", "1 minute"),
    (
        _OVER_TIME,
        _OPEN,
        _SILENCES,
        Feature("events that last", NATIVE, NATIVE),
        Feature("recurring items, trend lines with one point per row", NATIVE, NATIVE),
        _OVERLAPPING,
        _OVER_ROWS,
    ),
    Words(
        "sliding",
        "RANGE",
        'range ("," range)*',
        _read_each(_read_sliding),
        _write_each(_write_sliding),
        rules="range: RANGE length slide? offset? CLOSED?\nslide: SLIDE length\n",
        terminals=(
            "RANGE.3: /range\\b(?=\\s*['\"\\d.]|\\s+interval\\b)/i\n"
            "SLIDE.3: /slide\\b/i\n"
        ),
        examples={"RANGE": "RANGE 4 MINUTES SLIDE 1 MINUTE"},
        arguments={"range": "RANGE", "slide": "SLIDE", "closed": "CLOSED"},
    ),
    elsewhere=(
        Elsewhere(
            "TUMBLE",
            ("SIZE", "OFFSET"),
            "TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
            lambda lengths: Sliding(lengths["SIZE"], None, offset=lengths.get("OFFSET", 0)),
        ),
        Elsewhere(
            "HOP",
            ("SLIDE", "SIZE", "OFFSET"),
            "HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
            lambda lengths: Sliding(
                lengths["SIZE"], lengths["SLIDE"], offset=lengths.get("OFFSET", 0)
            ),
        ),
    ),
    other_names={
        ("window", "windows", "hopping", "hop", "slide", "groupbydynamic"):
            "fl.over(df, fl.Sliding('1 hour', '5 minutes'), time='ts')",
        ("tumbling", "tumble", "fixed", "time", "resample", "grouper", "timebucket"):
            "fl.over(df, fl.Sliding('1 hour'), time='ts')",
        ("count", "row"): "fl.over(df, fl.Sliding(fl.Rows(100)), time='ts')",
    },
)  # fmt: skip


def _read_calendar(reader: Reader, node: Node, length: Node, rest: Sequence[Node]) -> Calendar:
    more = _read_local(reader, node, rest, calendar=True)
    with reader.translate_errors(node):
        return Calendar(reader.length(length, calendar=True), **{"zone": None, **more})


def _read_local(
    reader: Reader, node: Node, rest: Sequence[Node], *, calendar: bool
) -> dict[str, Any]:
    """What stands after the length of windows that a calendar may place."""
    more: dict[str, Any] = {}
    if "WEEK_STARTS" in reader.words(node):
        more["week_starts"] = _last_word(reader, node, "WEEK_STARTS")
    if "MONTH_STARTS" in reader.words(node):
        more["day"] = int(_last_word(reader, node, "MONTH_STARTS"))
        reader.add_word_span("day", node, "MONTH_STARTS")
    for part in rest:
        name = reader.rule(part)
        reader.add_span(name, part)
        if name == "zone":
            more[name] = reader.string(part)
        else:
            (value,) = reader.parts(part)
            more[name] = reader.length(value, calendar=calendar)
    return more


def _write_calendar(writer: Writer, spec: Any) -> str:  # noqa: ARG001 - as of every kind
    written = f"CALENDAR {write_calendar_length(spec.range)}"
    if not spec.tumbling:
        written += f" SLIDE {write_calendar_length(spec.slide)}"
    return written + _write_local(spec)


def _write_local(spec: Calendar | Cumulative) -> str:
    """What stands after the lengths of windows that a calendar places."""
    parts = [write_calendar_length(spec.offset)] if spec.offset.value else []
    parts += [write_duration(spec.shift).upper()] if spec.shift else []
    offset = f" OFFSET {' '.join(parts)}" if parts else ""
    month = f" MONTH STARTS {spec.day}" if spec.day else ""
    return write_zone(spec.zone) + offset + _write_first_day(spec.week_starts) + month


def write_zone(zone: str | None) -> str:
    """The zone of windows in the query language, with a space before it."""
    return "" if zone is None else f" ZONE '{zone}'"


def _write_first_day(week_starts: str) -> str:
    return "" if week_starts == "monday" else f" WEEK STARTS {week_starts.upper()}"


def write_calendar_length(length: Extent) -> str:
    """A length of a calendar, in months or hours, in the query language."""
    return write_units(int(length.value), in_months=length.measure == "months").upper()


_EACH_MONTH = "fl.over(df, fl.Calendar('1 month', zone='Europe/Berlin'), time='ts')"

CALENDAR = Kind(
    Calendar,
    PLACED,
    Calendar("3 months", "1 month", zone="Europe/Berlin"),
    (_OVER_TIME, _SILENCES),
    Words(
        "calendar",
        "CALENDAR",
        'of_calendar ("," of_calendar)*',
        _read_each(_read_calendar),
        _write_each(_write_calendar),
        rules=(
            "of_calendar: CALENDAR length slide? zone? offset? WEEK_STARTS? MONTH_STARTS?\n"
            "zone: ZONE STRING\n"
        ),
        terminals=(
            "CALENDAR.3: /calendar\\b(?=\\s*['\"\\d]|\\s+interval\\b)/i\n"
            "ZONE.3: /zone\\b(?=\\s*['\"])/i\n"
            f"WEEK_STARTS.3: /week\\s+starts\\s+({'|'.join(WEEKDAYS)})\\b/i\n"
            "MONTH_STARTS.3: /month\\s+starts\\s+\\d+\\b/i\n"
        ),
        terminal_names={"WEEK_STARTS": "WEEK STARTS MONDAY", "MONTH_STARTS": "MONTH STARTS 31"},
        examples={"CALENDAR": "CALENDAR 1 MONTH", "ZONE": "ZONE 'Europe/Berlin'"},
        arguments={
            "range": "CALENDAR",
            "zone": "ZONE",
            "week_starts": "WEEK STARTS",
            "day": "MONTH STARTS",
        },
    ),
    other_names={("calendar", "monthly", "month", "daily"): _EACH_MONTH},
)


def _read_cumulative(reader: Reader, node: Node, length: Node, rest: Sequence[Node]) -> Cumulative:
    local = _is_local(reader, length, rest)
    more = _read_local(reader, node, rest, calendar=local)
    with reader.translate_errors(node):
        return Cumulative(reader.length(length, calendar=local), **more)


def _is_local(reader: Reader, length: Node, rest: Sequence[Node]) -> bool:
    """Whether days are days of a calendar: there is a zone, or a range in months."""
    if any(reader.rule(part) == "zone" for part in rest):
        return True
    return has_months("range", reader.length(length, calendar=True))


def _write_cumulative(writer: Writer, spec: Any) -> str:
    if spec.local is None:
        lengths = f"{writer.length(spec.range)} SLIDE {writer.length(spec.slide)}"
        return f"CUMULATIVE {lengths}{_write_offset(writer, spec.offset)}"
    length, step = map(write_calendar_length, (spec.range, spec.slide))
    return f"CUMULATIVE {length} SLIDE {step}{_write_local(spec)}"


CUMULATIVE = Kind(
    Cumulative,
    PLACED,
    Cumulative("1 day", "1 hour"),
    (_OVER_TIME, _OPEN, _SILENCES),
    Words(
        "cumulative",
        "CUMULATIVE",
        'of_cumulative ("," of_cumulative)*',
        _read_each(_read_cumulative, "range"),
        _write_each(_write_cumulative),
        rules="of_cumulative: CUMULATIVE length slide zone? offset? WEEK_STARTS? MONTH_STARTS?\n",
        terminals="CUMULATIVE.3: /cumulative\\b(?=\\s*['\"\\d.]|\\s+interval\\b)/i\n",
        examples={"CUMULATIVE": "CUMULATIVE 1 DAY SLIDE 1 HOUR"},
        arguments={"range": "CUMULATIVE", "slide": "SLIDE"},
    ),
    elsewhere=(
        Elsewhere(
            "CUMULATE",
            ("STEP", "SIZE", "OFFSET"),
            "CUMULATE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
            lambda lengths: Cumulative(
                lengths["SIZE"], lengths["STEP"], offset=lengths.get("OFFSET", 0)
            ),
        ),
    ),
    other_names={
        ("cumulate", "sofar", "expanding"):
            "fl.over(df, fl.Cumulative('1 day', '1 hour'), time='ts')",
    },
)  # fmt: skip


def _read_levels(reader: Reader, node: Node) -> MultiGranular:
    ranges, slides, *rest = reader.parts(node)
    local = all(_is_local(reader, one, rest) for one in reader.parts(ranges))
    lengths, steps = (reader.lengths(one, calendar=local) for one in (ranges, slides))
    backwards = _is_coarsest_first(lengths, local=local)  # as the paper lists them
    more: dict[str, Any] = {}
    for one in rest:
        kind, parts = reader.rule(one), reader.parts(one)
        reader.refuse_repeated(one, more)
        reader.add_span(kind, parts[0] if parts else one)
        if kind == "offset":
            more[kind] = reader.length(parts[0])
        elif kind == "horizons":
            more[kind] = reader.lengths(parts[0], calendar=local)
        elif kind == "zone":
            more[kind] = reader.string(one)
        elif kind == "week_starts":
            more[kind] = _last_word(reader, one, "WEEK_STARTS")
        elif kind == "weights":
            more[kind] = _read_weights(reader, one, backwards=backwards)
        else:
            more[kind] = kind == "changes_only" or reader.words(one)["HOW"].lower()
    for name, one in (("range", ranges), ("slide", slides)):
        reader.add_level_spans(name, one, backwards=backwards)
    if backwards:
        lengths, steps = lengths[::-1], steps[::-1]
    return MultiGranular(lengths, steps, **more)


def _read_weights(reader: Reader, node: Node, *, backwards: bool) -> list[float] | Decay:
    """A weight for each level, the finest first, or weights that halve with age."""
    parts = reader.parts(node)
    if "DECAY" not in reader.words(node):
        reader.add_level_spans("weight", node, backwards=backwards)
        weights = [float(reader.number(part)) for part in parts]
        return weights[::-1] if backwards else weights
    reader.add_span("half_life", parts[0])
    with reader.translate_errors(parts[0]):
        return decay(reader.length(parts[0], calendar=True))


def _is_coarsest_first(lengths: list[Any], *, local: bool) -> bool:
    sizes = [
        read_units("length", one) if local else read_extent("length", one, positive=False)
        for one in lengths
    ]
    alike = len({one.measure for one in sizes}) == 1 < len(sizes)
    return alike and all(a.value > b.value for a, b in pairwise(sizes))


def _write_levels(writer: Writer, spec: MultiGranular) -> str:
    write = writer.length if spec.week_starts is None else write_calendar_length
    lengths, steps = (", ".join(map(write, one)) for one in (spec.ranges, spec.slides))
    text = f"RANGES {lengths} SLIDES {steps}"
    if spec.offset is not None:
        text += _write_offset(writer, spec.offset) or " OFFSET 0"
    if spec.report != "periodic":
        text += f" REPORT {spec.report.upper()}"
    if spec.horizons:
        text += f" HORIZONS {', '.join(map(write, spec.horizons))}"
    if spec.weights is not None:
        text += f" WEIGHTS {', '.join(map(writer.number, spec.weights))}"
    text += " CHANGES ONLY" if spec.changes_only else ""
    return text + write_zone(spec.zone) + _write_first_day(spec.week_starts or "monday")


LEVELS = Kind(
    MultiGranular,
    LEVELLED,
    MultiGranular(["1 minute", "10 minutes", "1 hour"], ["10 seconds", "1 minute", "5 minutes"]),
    (
        _OVER_TIME,
        _OPEN,
        _SILENCES,
        _OVERLAPPING,
        _OVER_ROWS,
        Feature("trend lines over a filled series", NATIVE, STATE),
    ),
    Words(
        "granular",
        "RANGES",
        "RANGES lengths SLIDES lengths further*",
        _read_levels,
        _write_levels,
        rules=(
            "?further: offset\n"
            "        | REPORT HOW                    -> report\n"
            "        | HORIZONS lengths              -> horizons\n"
            '        | WEIGHTS number ("," number)*  -> weights\n'
            "        | WEIGHTS DECAY length          -> weights\n"
            "        | CHANGES_ONLY                  -> changes_only\n"
            "        | zone\n"
            "        | WEEK_STARTS                   -> week_starts\n"
        ),
        terminals=(
            "RANGES.3: /ranges\\b(?=\\s*['\"\\d.]|\\s+interval\\b)/i\n"
            "SLIDES.3: /slides\\b/i\n"
            "REPORT.3: /report\\b/i\n"
            "HOW: /periodic\\b|continuous\\b/i\n"
            "HORIZONS.3: /horizons\\b/i\n"
            "WEIGHTS.3: /weights\\b/i\n"
            "DECAY.3: /decay\\s+half\\s+life\\b/i\n"
            "CHANGES_ONLY.3: /changes\\s+only\\b/i\n"
        ),
        terminal_names={
            "HOW": "PERIODIC or CONTINUOUS",
            "CHANGES_ONLY": "CHANGES ONLY",
            "DECAY": "DECAY HALF LIFE",
        },
        examples={
            "RANGES": "RANGES 1 MINUTE, 1 HOUR SLIDES 1 SECOND, 1 MINUTE",
            "DECAY": "DECAY HALF LIFE 10 MINUTES",
            "CHANGES": "CHANGES ONLY",
        },
        arguments={
            "ranges": "RANGES",
            "slides": "SLIDES",
            "report": "REPORT",
            "horizons": "HORIZONS",
            "weights": "WEIGHTS",
            "half_life": "DECAY HALF LIFE",
        },
    ),
)

register(SLIDING)
register(CALENDAR)
register(CUMULATIVE)
register(LEVELS)
