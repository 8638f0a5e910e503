"""Progressive widening: windows of growing durations."""

from __future__ import annotations

from fanlight.engine.kinds.kind import (
    STATE,
    WIDENED,
    WORKERS,
    Feature,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.spec.widening import ProgressiveWidening


def _read(reader: Reader, node: Node) -> ProgressiveWidening:
    lengths, longest, *rest = reader.parts(node)
    durations = reader.lengths(lengths)
    reader.add_span("first", lengths)
    reader.add_span("max_duration", longest)
    reader.add_word_span("max_rows", node, "NUMBER")
    reader.add_word_span("WIDENING", node, "WIDENING")
    for one in rest:
        reader.add_word_span("factor", one, "NUMBER")
    more = {reader.rule(one): reader.only_integer(one) for one in rest}
    return ProgressiveWidening(
        durations if len(durations) > 1 else durations[0],
        max_duration=reader.length(longest),
        max_rows=reader.only_integer(node),
        **more,
    )


def _write(writer: Writer, spec: ProgressiveWidening) -> str:
    lengths = ", ".join(map(writer.length, spec.first))
    factor = f" FACTOR {spec.factor}" if spec.factor != 2 else ""
    return (
        f"WIDENING {lengths} TO {writer.length(spec.max_duration)} MAX {spec.max_rows} ROWS{factor}"
    )


WIDENING = Kind(
    ProgressiveWidening,
    WIDENED,
    ProgressiveWidening("1 minute", max_duration="1 day", max_rows=100),
    (Feature("progressive widening", WORKERS, STATE),),
    Words(
        "widening",
        "WIDENING",
        "WIDENING lengths TO length MAX NUMBER ROWS factor?",
        _read,
        _write,
        rules="factor: FACTOR NUMBER\n",
        terminals=(
            "WIDENING.3: /widening\\b(?=\\s*['\"\\d.]|\\s+interval\\b)/i\n"
            "FACTOR.3: /factor\\b/i\n"
        ),
        examples={"WIDENING": "WIDENING 1 SECOND TO 1 DAY MAX 100 ROWS"},
        arguments={
            "first": "WIDENING",
            "max_duration": "TO",
            "max_rows": "MAX",
            "factor": "FACTOR",
        },
    ),
)  # fmt: skip

register(WIDENING)
