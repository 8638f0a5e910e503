"""Every kind of window that the library has; a new kind is one entry."""

from __future__ import annotations

from tests.foreign import questions
from tests.law.ask import Setting
from tests.law.kinds import frames, levels, sessions, sliding, spanning, widening

KINDS = {
    kind.name: kind
    for kind in (
        sliding.KIND,
        levels.KIND,
        spanning.KIND,
        spanning.SEVERAL_KIND,
        frames.KIND,
        sessions.KIND,
        widening.KIND,
    )
}

SETTINGS = (
    Setting("not ANSI", (("spark.sql.ansi.enabled", "false"),)),
    Setting("case sensitive", (("spark.sql.caseSensitive", "true"),)),
    Setting(
        "reserved words",
        (("spark.sql.ansi.enabled", "true"), ("spark.sql.ansi.enforceReservedKeywords", "true")),
    ),
    Setting("escaped literals", (("spark.sql.parser.escapedStringLiterals", "true"),)),
    Setting(
        "no code generation",
        (
            ("spark.sql.codegen.wholeStage", "false"),
            ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
        ),
    ),
    Setting("not adaptive", (("spark.sql.adaptive.enabled", "false"),)),
    Setting("UTC", (("spark.sql.session.timeZone", "UTC"),)),
    Setting("Kathmandu", (("spark.sql.session.timeZone", "Asia/Kathmandu"),)),
    Setting("Lord Howe", (("spark.sql.session.timeZone", "Australia/Lord_Howe"),)),
    Setting("seven partitions", (("spark.sql.shuffle.partitions", "7"),), repartition=5),
    Setting("one partition", (("spark.sql.shuffle.partitions", "1"),), repartition=3),
)


def under_settings():
    """Each kind's sample in a batch under each setting; a stream of one kind, in turn."""
    kinds = list(KINDS.values())
    found = []
    for at, setting in enumerate(SETTINGS):
        found += [ask.again(setting=setting) for kind in kinds for ask in kind.sample]
        streamed = kinds[at % len(kinds)]
        found += [ask.again(setting=setting) for ask in streamed.stream_sample]
    return found


def everything():
    """All that is asked of the library, streams first: they wait the most."""
    kinds = KINDS.values()
    found = [ask for kind in kinds for ask in kind.stream]
    found += [ask.again(session="connect") for kind in kinds for ask in kind.connect]
    found += [ask for kind in kinds for ask in kind.batch]
    return [*found, *questions.ASKED, *under_settings()]
