"""The grammar of what stands between the brackets, and what its words are called in errors."""

from __future__ import annotations

GRAMMAR = r"""
start: part*

?part: WATTR name                       -> wattr
     | SPAN name "," name               -> span
     | PARTITION name ("," name)*       -> partition
     | TIEBREAK name ("," name)*        -> tiebreak
     | LATE WHEN                        -> late
     | USING technique hint*            -> using
     | range ("," range)*               -> sliding
     | RANGES lengths SLIDES lengths further*  -> granular
     | FRAME scheme                     -> frame
     | SESSION gap (at_most | at_least)*  -> session
     | WIDENING lengths TO length MAX NUMBER ROWS factor?  -> widening
     | FIT name PER_ROW? instant?       -> fit
     | RECURRING name COUNTS?           -> recurring
     | FILL name on by? longest?        -> fill
     | SPLIT length                     -> split
     | DETECT STRING event? result?     -> detect

technique: (NAME | MINUS)+ | STRING
hint: RATE number                       -> rate
    | GROUPS number                     -> groups
    | PARTITIONS NUMBER                 -> partitions
    | DURATION length                   -> duration
    | HEIGHT NUMBER                     -> height

range: RANGE length slide? offset?
slide: SLIDE length
offset: OFFSET length
?further: offset
        | REPORT HOW                    -> report
        | HORIZONS lengths              -> horizons
        | WEIGHTS number ("," number)*  -> weights
        | CHANGES_ONLY                  -> changes_only
factor: FACTOR NUMBER
instant: INSTANT length
on: ON name
by: BY name ("," name)*
longest: LONGEST length
event: EVENT name
result: RESULT name

?scheme: THRESHOLD sql at_least*        -> threshold
       | OPEN sql CLOSE sql at_least*   -> predicate
       | BOUNDARY cell ("," cell)* OVERLAPPING?  -> boundary
       | DELTA change ("," change)* against? CROSSING?  -> delta
       | AGGREGATE reach ("," reach)* CROSSING? MAY_FALL?  -> aggregate

?cell: name EVERY number                -> every
     | name AT "(" number ("," number)* ")"  -> at
change: name BY number
against: AGAINST AGAINST_WHAT
reach: call REACHES number
call: NAME "(" _within* ")"
at_least: MIN length
at_most: MAX length

?gap: length
    | name                              -> gap_column
    | "(" _within* ")"                  -> gap_sql

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
USING.3: /using\b(?=\s+[\w'"])/i
RATE.3: /rate\b/i
GROUPS.3: /groups\b/i
PARTITIONS.3: /partitions\b/i
DURATION.3: /duration\b/i
HEIGHT.3: /height\b/i
RANGE.3: /range\b(?=\s*['"\d.]|\s+interval\b)/i
SLIDE.3: /slide\b/i
OFFSET.3: /offset\b/i
RANGES.3: /ranges\b(?=\s*['"\d.]|\s+interval\b)/i
SLIDES.3: /slides\b/i
REPORT.3: /report\b/i
HOW: /periodic\b|continuous\b/i
HORIZONS.3: /horizons\b/i
WEIGHTS.3: /weights\b/i
CHANGES_ONLY.3: /changes\s+only\b/i
FRAME.3: /frame\b(?=\s+\w)/i
THRESHOLD.3: /threshold\b/i
OPEN.3: /open\b/i
CLOSE.3: /close\b(?=\s*[\w`('"-])/i
BOUNDARY.3: /boundary\b/i
OVERLAPPING.3: /overlapping\b/i
EVERY.3: /every\b/i
AT.3: /at\b/i
DELTA.3: /delta\b/i
BY.3: /by\b/i
AGAINST.3: /against\b/i
AGAINST_WHAT: /range\b|first\b/i
CROSSING.3: /(include|exclude)\s+crossing\b/i
AGGREGATE.3: /aggregate\b/i
REACHES.3: /reaches\b/i
MAY_FALL.3: /may\s+fall\b/i
MIN.3: /min\b(?=\s*['"\d]|\s+interval\b)/i
MAX.3: /max\b(?=\s*['"\d]|\s+interval\b)/i
SESSION.3: /session\b(?=\s*[\w`('"])/i
WIDENING.3: /widening\b(?=\s*['"\d.]|\s+interval\b)/i
TO.3: /to\b/i
FACTOR.3: /factor\b/i
FIT.3: /fit\b(?=\s+[\w`])/i
PER_ROW.3: /per\s+row\b/i
INSTANT.3: /instant\b/i
RECURRING.3: /recurring\b(?=\s+[\w`])/i
COUNTS.3: /counts\b/i
FILL.3: /fill\b(?=\s+[\w`])/i
ON.3: /on\b/i
LONGEST.3: /longest\b/i
SPLIT.3: /split\s+every\b/i
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

# What each terminal is called where it would have been right.
CALLED = {
    "NAME": "a name", "QUOTED": "a name", "NUMBER": "a number", "STRING": "a text in quotes",
    "WHEN": "OPEN or DROP", "HOW": "PERIODIC or CONTINUOUS", "AGAINST_WHAT": "RANGE or FIRST",
    "CROSSING": "INCLUDE CROSSING or EXCLUDE CROSSING", "PARTITION": "PARTITION BY",
    "SPLIT": "SPLIT EVERY", "CHANGES_ONLY": "CHANGES ONLY", "MAY_FALL": "MAY FALL",
    "PER_ROW": "PER ROW", "TO_FIELD": "TO", "LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]",
    "COMMA": "a comma", "DOT": "", "MINUS": "", "SLASH": "", "MARK": "", "$END": "the end: ]",
}  # fmt: skip

# What a word is followed by, where it is one of the language's only before that.
EXAMPLES = {
    "WATTR": "WATTR ts", "SPAN": "SPAN start, stop", "PARTITION": "PARTITION BY key",
    "TIEBREAK": "TIEBREAK id", "LATE": "LATE OPEN", "USING": "USING panes",
    "RANGE": "RANGE 4 MINUTES SLIDE 1 MINUTE",
    "RANGES": "RANGES 1 MINUTE, 1 HOUR SLIDES 1 SECOND, 1 MINUTE",
    "FRAME": "FRAME THRESHOLD speed > 50", "MIN": "MIN 20 ROWS", "MAX": "MAX 8 HOURS",
    "CLOSE": "CLOSE speed < 30", "SESSION": "SESSION 5 MINUTES",
    "WIDENING": "WIDENING 1 SECOND TO 1 DAY MAX 100 ROWS", "FIT": "FIT price",
    "RECURRING": "RECURRING host", "FILL": "FILL gps ON at", "SPLIT": "SPLIT EVERY 1 SECOND",
    "DETECT": "DETECT 'login user=u; logout user=u'", "CHANGES": "CHANGES ONLY",
    "MAY": "MAY FALL", "PER": "PER ROW", "INCLUDE": "INCLUDE CROSSING",
    "EXCLUDE": "EXCLUDE CROSSING", "INTERVAL": "INTERVAL '4' MINUTES",
}  # fmt: skip
