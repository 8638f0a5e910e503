"""Pattern frames: matches of a row pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fanlight.engine.kinds.examples import VALUES
from fanlight.engine.kinds.kind import (
    FRAMED,
    FRAMES,
    Example,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.plan.frames import Scheme, Timing, whole_length
from fanlight.engine.plan.patterns import build_automaton
from fanlight.engine.spec.frames.pattern import NEXT, PAST_LAST, PatternFrame

_RISE = 3
_AFTER = re.compile(r"^after\s+match\s+skip\s+(to\s+)?", re.IGNORECASE)


def _make_scheme(spec: PatternFrame, types: Sequence[str], time_kind: str) -> Scheme:
    automaton, inputs = build_automaton(spec, types)
    within = spec.most.duration if spec.most else None
    cap = None if within is None else whole_length("within", within, time_kind)
    return Scheme(
        "pattern",
        inputs,
        overlapping=spec.overlapping,
        timing=Timing.of(None, cap),
        automaton=automaton,
    )


def _read(reader: Reader, node: Node) -> PatternFrame:
    pattern, *others = reader.parts(node)
    reader.add_inner_span("pattern", pattern)
    define: dict[str, str] = {}
    more: dict[str, Any] = {}
    for one in others:
        rule = reader.rule(one)
        if rule == "definition":
            (condition,) = reader.parts(one)
            words = reader.words(one)
            name = words.get("NAME") or words["STRING"][1:-1].replace('""', '"')
            reader.add_span("define", condition, whole=False)
            define[name] = reader.sql(condition)
            continue
        reader.refuse_repeated(one, more)
        if rule == "within":
            (length,) = reader.parts(one)
            reader.add_span("within", length)
            more[rule] = reader.length(length)
        elif rule == "max_rows":
            more[rule] = reader.only_integer(one)
        elif rule == "after_match":
            (said,) = reader.words(one).values()
            more[rule] = " ".join(_AFTER.sub("", said).split())
        else:
            more["matches"] = "first"
    return PatternFrame(reader.sql(pattern), define, **more)


def _write(writer: Writer, spec: PatternFrame) -> str:
    named = zip(spec.variables, spec.definitions, strict=True)
    define = ", ".join(
        f"{_quote(name)} AS ({writer.sql(one.given, spec)})" for name, one in named if one
    )
    most = spec.most
    return "".join([
        f"FRAME PATTERN ({spec.pattern})",
        f" DEFINE {define}" if define else "",
        f" WITHIN {writer.length(most.duration)}" if most and most.duration else "",
        f" MAX {most.rows} ROWS" if most and most.rows else "",
        "" if spec.after_match == PAST_LAST else f" AFTER MATCH SKIP TO {_write_after(spec)}",
        " FIRST MATCH" if spec.matches == "first" else "",
    ])  # fmt: skip


def _write_after(spec: PatternFrame) -> str:
    if spec.after_match == NEXT:
        return NEXT.upper()
    place, _, name = spec.after_match.partition(" ")
    return f"{place.upper()} {_quote(name)}"


def _quote(name: str) -> str:
    """A variable, in quotes where it needs them."""
    return name if re.fullmatch(r"\w+", name) else '"' + name.replace('"', '""') + '"'


def _draw_example(_: Any) -> Example:
    """Two rising steps or more, then a fall."""
    spans, begin = [], 0
    for at in range(1, len(VALUES)):
        if VALUES[at] > VALUES[at - 1]:
            continue
        if at - begin >= _RISE:
            spans.append((begin, at + 1))
        begin = at
    return Example(spans, (), VALUES)


PATTERN = Kind(
    PatternFrame,
    FRAMED,
    PatternFrame("low+ high", {"low": "signal < 0.2", "high": "signal > 0.8"}, within="10 minutes"),
    FRAMES,
    Words(
        "pattern",
        "FRAME PATTERN",
        'PATTERN pattern_sql (DEFINE definition ("," definition)*)? _pattern_part*',
        _read,
        _write,
        rules=(
            'pattern_sql: "(" _within* ")"\n'
            "definition: (NAME | STRING) AS pattern_sql\n"
            "_pattern_part: within | max_rows | after_match | first_match\n"
            "within: WITHIN length\n"
            "max_rows: MAX NUMBER ROWS\n"
            "after_match: AFTER_MATCH\n"
            "first_match: FIRST_MATCH\n"
        ),
        terminals=(
            "PATTERN.3: /pattern\\b(?=\\s*\\()/i\n"
            'DEFINE.3: /define\\b(?=\\s+[\\w"])/i\n'
            "WITHIN.3: /within\\b(?=\\s*['\"\\d]|\\s+interval\\b)/i\n"
            "AFTER_MATCH.3: /after\\s+match\\s+skip\\s+(past\\s+last\\s+row\\b|to\\s+next\\s+row\\b"
            '|to\\s+(first|last)\\s+(\\w+|"(?:[^"]|"")+"))/i\n'
            "FIRST_MATCH.3: /first\\s+match\\b/i\n"
        ),
        terminal_names={
            "AFTER_MATCH": "AFTER MATCH SKIP TO NEXT ROW",
            "FIRST_MATCH": "FIRST MATCH",
        },
        examples={
            "PATTERN": "PATTERN (a b+)",
            "DEFINE": "DEFINE a AS (x > 3)",
            "WITHIN": "WITHIN 10 MINUTES",
            "AFTER": "AFTER MATCH SKIP TO NEXT ROW",
            "FIRST": "FIRST MATCH",
        },
        arguments={
            "pattern": "PATTERN",
            "define": "DEFINE",
            "within": "WITHIN",
            "after_match": "AFTER MATCH",
            "matches": "FIRST MATCH",
        },
    ),
    _make_scheme,
    make_example=_draw_example,
    other_names={
        ("MatchRecognize", "match_recognize", "CEP", "Pattern"): (
            "fl.over(df, fl.PatternFrame('a b+', {'a': 'x > 3', 'b': 'x < 1'}), time='ts')"
        )
    },
)

register(PATTERN)
