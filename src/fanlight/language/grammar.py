"""The grammar of the clause between the brackets, and what errors call its terminals.

Here is what all windows share; each kind adds rules of its own (:mod:`fanlight.engine.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fanlight.engine.kinds import Kind, list_kinds
from fanlight.engine.kinds.kind import Words
from fanlight.engine.kinds.options import Option, list_options

_COMMON = r"""
start: part*

?part: WATTR name                       -> wattr
     | SPAN name "," name               -> span
     | PARTITION name ("," name)*       -> partition
     | TIEBREAK name ("," name)*        -> tiebreak
     | LATE WHEN                        -> late
     | FORGET_AFTER length              -> forget
     | USING technique hint*            -> using
     | FRAME scheme                     -> frame
<windows>
     | FIT name FILLED? instant? ahead?  -> fit
     | RECURRING name COUNTS?           -> recurring
     | WIDE                             -> wide
     | BURSTS number ("," number)*      -> bursts
     | FILL name on by? max_duration? how? own?  -> fill
     | SPLIT length zone? SO_FAR?       -> split
     | DETECT STRING event? result?     -> detect

technique: (NAME | MINUS)+ | STRING
hint: RATE number                       -> rate
    | GROUPS number                     -> groups
    | PARTITIONS NUMBER                 -> partitions
    | DURATION length                   -> duration
    | HEIGHT NUMBER                     -> height

?edge: STRING -> edge
     | number
offset: OFFSET length
instant: INSTANT length
ahead: AHEAD length
on: ON name
by: BY (name ("," name)* | "(" ")")
max_duration: MAX length
how: JOINED JOIN
own: OWN named ("," named)*
named: (call | filtered) AS (NAME | QUOTED)
filtered: call FILTER "(" _within* ")"
event: EVENT name
result: RESULT name

_size: at_least | at_most | gap_at_most
at_least: MIN length
at_most: MAX length
gap_at_most: MAX_GAP length

lengths: length ("," length)*
?length: MINUS? NUMBER ROWS             -> rows
       | number
       | MINUS? (NUMBER NAME)+          -> duration_text
       | STRING                         -> duration_string
       | INTERVAL MINUS? STRING (NAME (TO_FIELD NAME)?)?  -> interval
       | INTERVAL MINUS? (NUMBER NAME)+  -> interval_units
number: MINUS? NUMBER ("/" NUMBER)?
name: (NAME | QUOTED) ("." (NAME | QUOTED))*

sql: _piece+
_piece: NAME | NUMBER | STRING | QUOTED | MARK | MINUS | "/" | "."
      | "(" _within* ")" | "[" _within* "]"
_within: NAME | NUMBER | STRING | QUOTED | MARK | MINUS | "/" | "." | ","
       | "(" _within* ")" | "[" _within* "]"

WATTR.3: /wattr\b(?=\s+[\w`])/i
SPAN.3: /span\b(?=\s+[\w`])/i
PARTITION.3: /partition\s+by\b/i
TIEBREAK.3: /tiebreak\b(?=\s+[\w`])/i
LATE.3: /late\b(?=\s+(open|drop)\b)/i
WHEN: /open\b|drop\b/i
FORGET_AFTER.3: /forget\s+after\b(?=\s*['"\d]|\s+interval\b)/i
USING.3: /using\b(?=\s+[\w'"])/i
RATE.3: /rate\b/i
GROUPS.3: /groups\b/i
PARTITIONS.3: /partitions\b/i
DURATION.3: /duration\b/i
HEIGHT.3: /height\b/i
OFFSET.3: /offset\b/i
FRAME.3: /frame\b(?=\s+\w)/i
BY.3: /by\b/i
CROSSING.3: /(include|exclude)\s+crossing\b/i
MIN.3: /min\b(?=\s*['"\d]|\s+interval\b)/i
MAX.3: /max\b(?=\s*['"\d]|\s+interval\b)/i
MAX_GAP.3: /max\s+gap\b(?=\s*['"\d]|\s+interval\b)/i
TO.3: /to\b/i
FIT.3: /fit\b(?=\s+[\w`])/i
FILLED.3: /filled\b/i
INSTANT.3: /instant\b/i
AHEAD.3: /ahead\b/i
RECURRING.3: /recurring\b(?=\s+[\w`])/i
COUNTS.3: /counts\b/i
BURSTS.3: /bursts\s+threshold\b/i
WIDE.3: /wide\b(?!\s*[^\s\w`'"\]])/i
FILL.3: /fill\b(?=\s+[\w`])/i
ON.3: /on\b/i
JOINED.3: /how\b/i
JOIN.3: /(left|inner)\b/i
OWN.3: /own\b/i
FILTER.3: /filter\b/i
AS.3: /as\b/i
SPLIT.3: /split\s+every\b/i
SO_FAR.3: /so\s+far\b/i
DETECT.3: /detect\b(?=\s*['"])/i
EVENT.3: /event\b/i
RESULT.3: /result\b/i
ROWS.3: /(rows?|tuples?)\b/i
INTERVAL.3: /interval\b(?=\s*['"\d-])/i
TO_FIELD.4: /to\b(?=\s+(second|minute|hour|day|month|year)s?\b)/i

NUMBER.2: /(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?!\w)/i
STRING.4: /r'[^']*'|r"[^"]*"|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"/is
QUOTED: /`(?:[^`]|``)*`/s
NAME: /\w+/
MINUS: "-"
MARK.-1: /[^\s\w`'"()\[\],.\/-]/

%ignore /\s+/
"""

# What errors call a terminal that was expected.
_CALLED = {
    "NAME": "a name", "QUOTED": "a name", "NUMBER": "a number", "STRING": "a string in quotes",
    "WHEN": "OPEN or DROP", "JOINED": "HOW", "JOIN": "LEFT or INNER",
    "CROSSING": "INCLUDE CROSSING or EXCLUDE CROSSING",
    "PARTITION": "PARTITION BY", "SPLIT": "SPLIT EVERY", "SO_FAR": "SO FAR",
    "BURSTS": "BURSTS THRESHOLD",
    "TO_FIELD": "TO",
    "MAX_GAP": "MAX GAP", "FORGET_AFTER": "FORGET AFTER",
    "LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]",
    "COMMA": "a comma", "DOT": "", "MINUS": "", "SLASH": "", "MARK": "", "$END": "the end: ]",
}  # fmt: skip

# Keywords that are keywords only before certain tokens, each with an example of these.
_EXAMPLES = {
    "WATTR": "WATTR ts", "SPAN": "SPAN start, stop", "PARTITION": "PARTITION BY key",
    "TIEBREAK": "TIEBREAK id", "LATE": "LATE OPEN", "FORGET": "FORGET AFTER 30 DAYS",
    "USING": "USING panes",
    "FRAME": "FRAME THRESHOLD speed > 50", "MIN": "MIN 20 ROWS", "MAX": "MAX 8 HOURS",
    "FIT": "FIT price", "RECURRING": "RECURRING host", "FILL": "FILL gps ON at",
    "SPLIT": "SPLIT EVERY 1 SECOND", "DETECT": "DETECT 'login user=u; logout user=u'",
    "BURSTS": "BURSTS THRESHOLD 2", "SO": "SO FAR", "INCLUDE": "INCLUDE CROSSING",
    "EXCLUDE": "EXCLUDE CROSSING", "INTERVAL": "INTERVAL '4' MINUTES",
}  # fmt: skip

# Where words stand that are parts of another one.
PLACES = dict.fromkeys(
    ("FILLED", "INSTANT", "AHEAD"), "FIT price FILLED INSTANT 1 SECOND AHEAD 5 MINUTES"
)


# What Flink, Beam and others call what has another word here.
OTHERS = {
    **dict.fromkeys(("TUMBLE", "TUMBLING", "SIZE", "WINDOW", "LENGTH"), "RANGE 1 HOUR"),
    **dict.fromkeys(("HOP", "HOPPING", "SLIDING"), "RANGE 1 HOUR SLIDE 5 MINUTES"),
    **dict.fromkeys(("STEP", "EVERY", "ADVANCE", "PERIOD"), "SLIDE 5 MINUTES"),
    "CUMULATE": "CUMULATIVE 1 DAY SLIDE 1 HOUR",
    **dict.fromkeys(("ROLLING", "OVER"), "TRAILING 1 HOUR"),
    **dict.fromkeys(("GAP", "TIMEOUT"), "SESSION 5 MINUTES"),
    **dict.fromkeys(("TIME", "ON", "DESCRIPTOR"), "WATTR ts"),
    **dict.fromkeys(("KEY", "BY", "GROUP"), "PARTITION BY key"),
}


def build_grammar(known: Sequence[Kind], options: Sequence[Option]) -> str:
    """The grammar in lark's notation, with the rules of these kinds and options of windows."""
    kinds = [kind.words for kind in known]
    asked = [option.words for option in options if option.words is not None]
    words = [*kinds, *asked]
    parts = [f"     | {one.form} -> {one.rule}\n" for one in words if not one.in_frame]
    schemes = [f"{one.form} -> {one.rule}\n" for one in kinds if one.in_frame]
    return "".join([
        "".join(parts).join(_COMMON.split("<windows>\n")),
        "?scheme: " + "       | ".join(schemes),
        *(one.rules for one in words),
        *(one.terminals for one in words),
    ])  # fmt: skip


def terminal_names() -> Mapping[str, str]:
    """What errors call each terminal that was expected."""
    return {**_CALLED, **_merge(words.terminal_names for words in _all_words())}


def word_examples() -> Mapping[str, str]:
    """An example of each keyword that is one only before certain tokens."""
    return {**_EXAMPLES, **_merge(words.examples for words in _all_words())}


def argument_words() -> Mapping[str, str]:
    """The language's words for the arguments of the classes of windows."""
    return _merge(kind.words.arguments for kind in reversed(list_kinds()))


def _all_words() -> list[Words]:
    """The words of all kinds and options."""
    asked = (option.words for option in list_options())
    return [*(kind.words for kind in list_kinds()), *(one for one in asked if one is not None)]


def _merge(several: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {name: text for one in several for name, text in one.items()}
