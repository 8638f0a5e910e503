"""Breakages of the query language; seen without Spark."""

from __future__ import annotations

from tests.breakages.breakage import within

CLAUSE = "tests/language/test_clause.py"
QUERY = "tests/language/test_query.py"
ERRORS = "tests/language/test_mistakes.py"
FUZZ = "tests/language/test_mangled.py"

printed = within("language/printed.py", CLAUSE)
windows = within("language/windows.py", CLAUSE)
scanner = within("language/tokens.py", QUERY)
query = within("language/query.py", QUERY)
calls = within("language/calls.py", QUERY)
carets = within("language/mistake.py", ERRORS)

BREAKAGES = (
    printed(
        "a gap of hours is printed in days",
        "if calendar and extent.value",
        "if extent.value == 0 and extent.value",
    ),
    printed("an offset is not printed", "{_offset(spec.offset)}", ""),
    windows(
        "levels stay in the order of the text",
        "reverse = self._coarsest_first(lengths)",
        "reverse = not lengths",
    ),
    windows(
        "brackets around a condition stay",
        "return start + 1, end - 1",
        "return start, end",
    ),
    scanner("a quote in a string ends it", "'(?:[^'\\\\]|\\\\.|'')*'", "'[^']*'"),
    scanner(
        "comments are not nested",
        'depth += 1 if match.group() == "/*" else -1',
        "depth += 1 if match.start() == start else -1",
    ),
    query(
        "braces of the text are a format's",
        r'return re.sub(r"[{}]", r"\g<0>\g<0>", text)',
        "return text",
    ),
    query(
        "named queries see only themselves",
        "visible = (*visible, (found[at]",
        "visible = ((found[at]",
    ),
    calls("a window function is an aggregate", 'is_word("OVER")', 'is_word("NEVER")'),
    calls(
        "FILTER is forgotten",
        "if asked.filtered is not None:\n            return column(",
        "if asked.filtered is None and not text:\n            return column(",
    ),
    carets("carets are one off", '" " * (column - cut + len(dots))', '" " * (column - cut + 1)'),
    within("language/tokens.py", FUZZ)("depth has no limit", "_DEEPEST = 60", "_DEEPEST = 10**6"),
)
