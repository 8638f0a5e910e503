"""Every kind of window that the library has; a new kind is one entry."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from tests.breakages.every import ALL as BREAKAGES
from tests.foreign import questions
from tests.helpers.sampled import read_long
from tests.law import limits
from tests.law.ask import Setting
from tests.law.data import derived
from tests.law.forgetting import forgetting
from tests.law.kinds import (
    calendar,
    frames,
    levels,
    sessions,
    sliding,
    snapshots,
    spanning,
    trailing,
    widening,
)
from tests.law.sample import sampled
from tests.law.some_rows import some_rows

KINDS = {
    kind.name: kind
    for kind in (
        sliding.KIND,
        calendar.KIND,
        levels.KIND,
        spanning.KIND,
        spanning.SEVERAL_KIND,
        snapshots.KIND,
        frames.KIND,
        sessions.KIND,
        widening.KIND,
        trailing.KIND,
    )
}

ANSI = "spark.sql.ansi.enabled"
RESERVED = "spark.sql.ansi.enforceReservedKeywords"
CASE = "spark.sql.caseSensitive"
ESCAPED = "spark.sql.parser.escapedStringLiterals"
COMPILED = "spark.sql.codegen.wholeStage"
FACTORY = "spark.sql.codegen.factoryMode"
ADAPTIVE = "spark.sql.adaptive.enabled"
ZONE = "spark.sql.session.timeZone"
PARTITIONS = "spark.sql.shuffle.partitions"
CODE = ((COMPILED, "true"), (FACTORY, "CODEGEN_ONLY"))
# Each value of each setting at least once, and no two of them always together.
SETTINGS = (
    Setting("code generation", CODE),
    Setting(
        "not ANSI, UTC, seven partitions",
        ((ANSI, "false"), (ZONE, "UTC"), (PARTITIONS, "7")),
        repartition=5,
    ),
    Setting(
        "not ANSI, escaped literals, case sensitive, Kathmandu, code generation",
        ((ANSI, "false"), (ESCAPED, "true"), (CASE, "true"), (ZONE, "Asia/Kathmandu"), *CODE),
    ),
    Setting(
        "reserved words, escaped literals, not adaptive, Lord Howe",
        (
            (ANSI, "true"), (RESERVED, "true"), (ESCAPED, "true"), (ADAPTIVE, "false"),
            (ZONE, "Australia/Lord_Howe"),
        ),
    ),
    Setting(
        "reserved words, case sensitive, one partition",
        ((ANSI, "true"), (RESERVED, "true"), (CASE, "true"), (PARTITIONS, "1")),
        repartition=3,
    ),
)  # fmt: skip
LAW = "tests/law/test_law.py::test_law"
WORDS = [one.tests[-1] for one in BREAKAGES if "-k" in one.tests]  # what each is seen by
FEW = 25  # rows of which each is a micro-batch
SEVERAL_TASKS = Setting("three tasks", ((PARTITIONS, "3"),))


def under_settings():
    """Each kind's sample, in batches and streams, under each setting."""
    return [
        ask.again(setting=setting)
        for setting in SETTINGS
        for kind in KINDS.values()
        for ask in (*kind.sample, *kind.stream_sample)
    ]


def in_several_tasks():
    """A stream of each kind whose keys are spread over tasks."""
    return [
        ask.again(setting=SEVERAL_TASKS) for kind in KINDS.values() for ask in kind.stream_sample
    ]


def row_by_row():
    """A stream of each kind in which the watermark moves with every row."""
    return [
        ask.again(
            about=f"row by row, {ask.about}",
            data=derived(ask.data, "a few", lambda rows: rows[:FEW]),
            arrivals=replace(ask.arrivals, alone=True),
        )
        for kind in KINDS.values()
        for ask in kind.stream_sample
    ]


@cache
def everything():
    """All that is asked of the library, streams first: they wait the most."""
    kinds = KINDS.values()
    found = [ask for kind in kinds for ask in kind.stream]
    found += in_several_tasks()
    found += row_by_row()
    found += [ask.again(session="connect") for kind in kinds for ask in kind.connect]
    found += [ask for kind in kinds for ask in kind.batch]
    found += limits.limited(kinds)
    found += forgetting()
    found += some_rows(kinds)
    long = read_long()
    found = [
        ask.again(thorough=ask.thorough or f"{LAW}[{ask.name}]" in long)
        for ask in (*found, *questions.ASKED, *under_settings())
    ]
    return sampled(found, in_python, WORDS)


def in_python(ask):
    return KINDS[ask.kind].in_python(ask)
