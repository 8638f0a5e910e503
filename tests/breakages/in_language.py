"""Breakages of the query language; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import seen_by
from tests.breakages.change import Code, InText

CLAUSE = "tests/language/test_clause.py"
QUERY = "tests/language/test_query.py"
ERRORS = "tests/language/test_mistakes.py"
FUZZ = "tests/language/test_mangled.py"

clause = seen_by(CLAUSE)
query = seen_by(QUERY)
carets = seen_by(ERRORS)

BREAKAGES = (
    clause(
        "a gap of hours is printed in days",
        "_Writer.length",
        Code(
            "calendar and length.value % _HOUR == 0",
            "length.value == 0 and length.value % _HOUR == 0",
        ),
    ),
    clause(
        "an offset is not printed",
        "_write_sliding",
        Code("_write_offset(writer, spec.offset)", "''"),
    ),
    clause(
        "a label is a path of names",
        "kinds.trailing:_write",
        Code("writer.name(in_backticks(label))", "writer.name(label)"),
    ),
    carets(
        "two windows have one label", "kinds.trailing:_read", Code("label in labelled", "False")
    ),
    clause(
        "levels stay in the order of the text",
        "_read_levels",
        Code("_is_coarsest_first(lengths, local=local)", "not lengths"),
    ),
    clause(
        "brackets around a condition stay",
        "SpecBuilder._without_brackets",
        Code("start + 1, end - 1", "start, end"),
    ),
    query(
        "a quote in a string ends it", "tokens:_TOKEN", InText(r"'(?:[^'\\]|\\.|'')*'", r"'[^']*'")
    ),
    query(
        "comments are not nested",
        "_end_of_comment",
        Code('match.group() == "/*"', "match.start() == start"),
    ),
    query(
        "braces of the text are a format's",
        "escape_braces",
        Code('re.sub(r"[{}]", r"\\g<0>\\g<0>", text)', "text"),
    ),
    query(
        "named queries see only themselves",
        "Query._read_with",
        Code(
            "(*visible, (tokens[at].folded, (at, tokens[body].partner + 1)))",
            "(tokens[at].folded, (at, tokens[body].partner + 1))",
        ),
    ),
    query("a window function is an aggregate", "CallReader._parse_call", InText("OVER", "NEVER")),
    query(
        "FILTER is forgotten",
        "CallReader._build_call",
        Code("call.where(self.text_of(*parsed.condition)) if parsed.condition else call", "call"),
    ),
    carets("carets are one off", "error_at", Code("column - cut + len(dots)", "column - cut + 1")),
    seen_by(FUZZ)("depth has no limit", "_DEEPEST", Code("60", "10**6")),
)
