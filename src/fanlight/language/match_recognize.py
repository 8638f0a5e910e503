"""SQL's row pattern recognition: ``FROM bids MATCH_RECOGNIZE (… PATTERN (a b+) DEFINE …)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from fanlight.engine.spec.errors import FanlightError, guess, list_some
from fanlight.engine.spec.frames.pattern import PAST_LAST, PLACES, PatternFrame
from fanlight.engine.spec.frames.row_patterns import (
    Choice,
    Excluded,
    Joined,
    Part,
    Permutation,
    Repeated,
    Row,
    has_absence,
    has_exclusion,
    may_be_empty,
    names_in,
    parse_pattern,
)
from fanlight.language.calls import CallReader, parse_number, parse_string
from fanlight.language.clause import Clause, Name
from fanlight.language.error_translation import FLINK, ArgumentSpan, locate, translate
from fanlight.language.spec_builder import parse_interval
from fanlight.language.tokens import (
    Place,
    Token,
    error_at,
    has_position,
    join_name,
    read_path,
    refusal_at,
    split_at_commas,
)

WORD = "MATCH_RECOGNIZE"
FORM = (
    "write MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(b.x) AS x "
    "ONE ROW PER MATCH PATTERN (a b+) DEFINE b AS x > PREV(x))"
)
# What errors call the arguments of the API.
WORDS = {**FLINK, "time": "ORDER BY", "tiebreak": "ORDER BY", "within": "WITHIN",
         "pattern": "PATTERN", "define": "DEFINE", "after_match": "AFTER MATCH SKIP"}  # fmt: skip
_SECTIONS = (
    "PARTITION BY", "ORDER BY", "MEASURES", "ONE ROW PER MATCH", "ALL ROWS PER MATCH",
    "AFTER MATCH SKIP", "PATTERN", "WITHIN", "SUBSET", "DEFINE",
)  # fmt: skip
_NEEDED = ("ORDER BY", "PATTERN")
_BEFORE = ("FROM", "JOIN", "TABLE", "LATERAL", "ON", "USING")
_UNMATCHED = "WITH UNMATCHED ROWS"
# A pattern needs a row, so that empty matches, which may be shown or not, are none.
_OPTIONS = ("SHOW EMPTY MATCHES", "OMIT EMPTY MATCHES", _UNMATCHED)
# What no name of a measure is without AS: the ends of expressions, and what stands before values.
_ENDS = ("END", "NULL", "NULLS", "TRUE", "FALSE")
_BEFORE_VALUES = (
    "AND", "OR", "NOT", "IS", "IN", "LIKE", "ILIKE", "RLIKE", "BETWEEN", "DIV", "CASE", "WHEN",
    "THEN", "ELSE", "FROM", "DISTINCT", "INTERVAL",
)  # fmt: skip
_AFTER_MEASURES = ("ONE", "ALL", "AFTER", "PATTERN")
_BRACES = re.compile(r'"(?:[^"]|"")+"|\{-|-\}')
# Messages of the API in the words of SQL.
_PHRASES: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"pattern=(['\"])((?:(?!\1).)*)\1"), r"PATTERN (\2)"),
    (re.compile(r"define=\{'([^']+)': .*?\}(?= )", re.DOTALL), r"the definition of \1"),
    (re.compile(r" or max_rows=\d+"), ""),  # for which SQL has no words
    (re.compile(r"^rows\(\) adds"), "ALL ROWS PER MATCH adds"),
    (re.compile(r"rename yours first: df\..*"), "rename yours in a sub-query"),
    (re.compile(r"in the DataFrame"), "in the table"),
    (re.compile(r"^([\w`]+\.[\w`.]+)='([^']+)' is"), r"\2 in \1 is"),
    (
        re.compile(r"\bwithin='([^ ']+) (\w+?)s?'"),
        lambda of: f"WITHIN INTERVAL '{of[1]}' {of[2].upper()} after PATTERN (…)",
    ),
)


@dataclass(frozen=True)
class Measure:
    """A measure: where its expression stands, and its name."""

    place: Place
    name: str


@dataclass(frozen=True)
class Recognition:
    """A ``MATCH_RECOGNIZE`` with the table before it; ``clause`` has its pattern, time and keys.

    ``variables`` are those that a name stands for, in small letters: itself, or those of a SUBSET.
    """

    at: int
    end: int
    word: int
    relation: Place
    alias: str
    clause: Clause
    measures: tuple[Measure, ...]
    all_rows: bool
    unmatched: bool  # of all rows, those of no match, too
    variables: Mapping[str, tuple[str, ...]]
    visible: tuple[tuple[str, Place], ...]
    where: Place | None = None  # rows are chosen before: FROM (SELECT … WHERE …)
    left_out: tuple[str, ...] = ()  # of all rows, those of these variables are not listed


def opens_recognition(tokens: Sequence[Token], at: int) -> bool:
    """Whether a ``MATCH_RECOGNIZE (…)`` begins at a token."""
    return tokens[at].is_word(WORD) and tokens[at + 1].text == "("


def looks_like_recognition(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is meant to begin a ``MATCH_RECOGNIZE (…)``."""
    one = tokens[at]
    return (
        one.kind == "word"
        and one.text.upper().startswith("MATCH_RECOG")
        and tokens[at + 1].text == "("
        and tokens[at + 2].is_word("PARTITION", "ORDER", "MEASURES", "PATTERN", "ONE", "ALL")
    )


def parse_recognition(
    text: str, tokens: Sequence[Token], at: int, visible: tuple[tuple[str, Place], ...] = ()
) -> Recognition | None:
    """The ``MATCH_RECOGNIZE`` at a token, with the table before it; None if none is there.

    ``visible`` are the queries of WITH that the table may be.
    """
    if not looks_like_recognition(tokens, at) and not opens_recognition(tokens, at):
        return None
    return _Parser(text, tokens, at).parse(visible)


def name_quoted(text: str, tokens: Sequence[Token]) -> str:
    """A text with ``"name"`` in backticks where a ``MATCH_RECOGNIZE`` gives a column that name.

    Spark takes ``"name"`` for a text; where a query calls a column so, all of it means the column.
    """
    inside = [
        (tokens[n + 1].start, tokens[tokens[n + 1].partner].end)
        for n in range(len(tokens) - 1)
        if opens_recognition(tokens, n)
    ]
    names = {
        one.text
        for before, one, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if one.text.startswith('"') and before.is_word("AS")
        and (after.text in (",", ")") or after.is_word(*_AFTER_MEASURES))
        and any(first < one.start < last for first, last in inside)
        and not re.search(r"[`\\]", one.text)
    }  # fmt: skip
    letters, at = list(text), 0
    while at < len(tokens):
        one = tokens[at]
        if one.text in names:
            letters[one.start] = letters[one.end - 1] = "`"
        pattern = one.is_word("PATTERN") and tokens[at + 1].text == "("
        at = tokens[at + 1].partner if pattern else at + 1
    return "".join(letters)


def variable_at(
    tokens: Sequence[Token], at: int, variables: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The variables that a token names before a dot, as in ``a.price``. Empty otherwise."""
    if not tokens[at + 1].is_symbol(".") or (at and tokens[at - 1].is_symbol(".")):
        return ()
    return variables.get(_name_of(tokens[at]).lower(), ())


def last_variables(part: Part) -> list[str]:
    """The variables that the last row of a match may be, each once."""
    if isinstance(part, Row):
        return [part.name]
    if isinstance(part, (Repeated, Excluded)):
        return last_variables(part.part)
    names: list[str] = []
    if isinstance(part, (Joined, Choice, Permutation)):
        for one in reversed(part.parts):
            names += last_variables(one)
            if isinstance(part, Joined) and not may_be_empty(one):
                break
    return list(dict.fromkeys(names))


def _left_out(part: Part) -> tuple[str, ...]:
    """The variables in ``{- -}``, unless one of them stands outside, too."""
    inside = _names_excluded(part)
    outside = _names_excluded(part, excluded=False)
    return () if set(inside) & set(outside) else tuple(inside)


def _names_excluded(part: Part, *, excluded: bool = True, within: bool = False) -> list[str]:
    """The variables whose rows are left out; or those of the other rows."""
    if isinstance(part, Row):
        return [part.name] if within == excluded else []
    parts = part.parts if isinstance(part, (Joined, Choice, Permutation)) else ()
    if isinstance(part, (Repeated, Excluded)):
        parts, within = (part.part,), within or isinstance(part, Excluded)
    found = [_names_excluded(one, excluded=excluded, within=within) for one in parts]
    return list(dict.fromkeys(name for names in found for name in names))


def _name_of(one: Token) -> str:
    """A name as it is, or in quotes of either kind; an empty text of any other token."""
    if one.kind == "string" and one.text.startswith('"'):
        return parse_string(one.text)
    return one.name if one.is_name else ""


class _Parser:
    """Reads what is between the brackets."""

    def __init__(self, text: str, tokens: Sequence[Token], at: int) -> None:
        self.text, self.tokens, self.at = text, tokens, at
        self.whole = (at, tokens[at + 1].partner + 1)
        self.spans: list[ArgumentSpan] = []
        self.one_line = CallReader(text, tokens, {}).one_line

    def refuse(self, place: Place, why: str, instead: str) -> NoReturn:
        """Raise an error that points at a range of tokens."""
        at, end = place
        start, stop = self.tokens[at].start, self.tokens[max(end - 1, at)].end
        raise refusal_at(self.text, start, stop, self.one_line(at, end), why, instead)

    def add_span(self, argument: str, place: Place, value: str = "", *, whole: bool = True) -> None:
        """Record where an argument of the API stands in the text."""
        start, end = self.tokens[place[0]].start, self.tokens[place[1] - 1].end
        value = value or self.text[start:end]
        self.spans.append(ArgumentSpan(argument, start, end, value, whole))

    def parse(self, visible: tuple[tuple[str, Place], ...]) -> Recognition:
        """Read it all."""
        at = self.at
        if not self.tokens[at].is_word(WORD):
            self.refuse((at, at + 1), "is not expected here", f"write {WORD}")
        begin, relation, alias = self._read_table()
        sections = self._find_sections()
        time, tiebreak = self._read_order(sections["ORDER BY"])
        by = self._read_keys(sections.get("PARTITION BY"))
        all_rows, unmatched = self._read_rows_per_match(sections)
        pattern, names = self._read_pattern(sections["PATTERN"])
        known = {name.lower(): (name,) for name in names}
        subsets = self._read_subsets(sections.get("SUBSET"), known)
        define = self._read_definitions(sections.get("DEFINE"), known, subsets)
        spec = self._build_spec(pattern, define, sections, known, subsets)
        if unmatched and has_exclusion(spec.part):
            self.refuse(
                sections["ALL ROWS PER MATCH"],
                "lists the rows of no match, and the pattern leaves out rows of a match by {- -}",
                "leave out WITH UNMATCHED ROWS, or write the pattern without {- and -}",
            )
        left_out = _left_out(spec.part) if all_rows else ()
        if left_out:
            pattern = _BRACES.sub(lambda of: {"{-": "(", "-}": ")"}.get(of[0], of[0]), pattern)
            spec = self._build_spec(pattern, define, sections, known, subsets)
        some = unmatched or has_absence(spec.part) or has_exclusion(spec.part)
        if all_rows and spec.after_match != PAST_LAST and some:
            self.refuse(
                self._with_word(sections, "AFTER MATCH SKIP"),
                "may put a row into several matches, and some rows here are of no variable",
                "write AFTER MATCH SKIP PAST LAST ROW, or ONE ROW PER MATCH",
            )
        measures = self._read_measures(sections.get("MEASURES"), by)
        if not (by or measures or all_rows):
            self.refuse((at, at + 1), "gives no columns", "write MEASURES, or PARTITION BY")
        start, end = self.tokens[at].start, self.tokens[self.whole[1] - 1].end
        clause = Clause(
            spec, (time,), by, tiebreak, start=start, end=end, spans=tuple(self.spans), words=WORDS
        )
        return Recognition(
            begin, self.whole[1], at, relation, alias, clause, measures, all_rows,
            unmatched, {**known, **subsets}, visible, left_out=left_out,
        )  # fmt: skip

    # The table before the word.

    def _read_table(self) -> tuple[int, Place, str]:
        """Where the table begins, its place, and its alias."""
        tokens, end, alias = self.tokens, self.at, ""
        last = tokens[end - 1] if end else None
        if last is None or not (last.is_name or last.text == ")") or last.is_word(*_BEFORE):
            self.refuse((self.at, self.at + 1), "follows no table", f"write FROM bids {WORD} (…)")
        if end >= 4 and tokens[end - 3].is_word("TIMESTAMP") and tokens[end - 2].is_word("BY"):
            self.refuse((end - 3, end), "is not how rows are ordered here",
                        f"write ORDER BY {last.text} in the brackets")  # fmt: skip
        if last.is_name and end >= 2:
            before = tokens[end - 2]
            if before.is_word("AS"):
                alias, end = last.text, end - 2
            elif before.text == ")" or (before.is_name and not before.is_word(*_BEFORE)):
                alias, end = last.text, end - 1
        begin = self._begin_of_table(end)
        return begin, (begin, end), alias

    def _begin_of_table(self, end: int) -> int:
        """Where the table that ends before a token begins: a name, a sub-query or a function."""
        tokens, at = self.tokens, end - 1
        if tokens[at].text == ")":
            at = tokens[at].partner
            before = tokens[at - 1] if at else None
            if before is None or not before.is_name or before.is_word(*_BEFORE):
                return at
            at -= 1
            if tokens[at - 1].is_word("AS"):  # names of columns: (SELECT …) AS t(a, b)
                return self._begin_of_table(at - 1)
        while at >= 2 and tokens[at - 1].is_symbol(".") and tokens[at - 2].is_name:
            at -= 2
        return at

    # The parts between the brackets.

    def _find_sections(self) -> dict[str, Place]:
        """The parts by the words with which they begin, without these."""
        at, end = self.at + 2, self.whole[1] - 1
        begins: list[tuple[str, int, int]] = []
        while at < end:
            found = self._section_at(at, end)
            if found is not None:
                if found[0] in [one[0] for one in begins]:
                    self.refuse((at, found[1]), "is written twice", "write it once")
                begins.append((found[0], at, found[1]))
                at = found[1]
                continue
            bounds = self.tokens[at].is_word("LIMIT") and self.tokens[at + 1].is_word("DURATION")
            if bounds or not begins:
                self._refuse_first(at)
            at = max(self.tokens[at].partner, at) + 1
        stops = [one[1] for one in begins[1:]] + [end]
        sections = {
            name: (first, stop) for (name, _, first), stop in zip(begins, stops, strict=True)
        }
        for name in _NEEDED:
            if name not in sections:
                self.refuse((self.at, self.at + 1), f"has no {name}", FORM)
        for (name, first, begin), stop in zip(begins, stops, strict=True):
            if begin == stop and not name.endswith("PER MATCH"):
                self.refuse((first, begin), "has nothing after it", FORM)
        both = [name for name in sections if name.endswith("PER MATCH")]
        if len(both) > 1:
            self.refuse(self._with_word(sections, both[1]), f"contradicts {both[0]}", "write one")
        return sections

    def _refuse_first(self, at: int) -> NoReturn:
        """Refuse what stands before all parts."""
        if self.tokens[at].is_word("LIMIT") and self.tokens[at + 1].is_word("DURATION"):
            self.refuse(
                (at, max(self.tokens[at + 2].partner, at + 1) + 1), "stands after the pattern here",
                "write PATTERN (…) WITHIN INTERVAL '1' MINUTE, and ORDER BY the time",
            )  # fmt: skip
        near = guess(self.tokens[at].text.upper(), [one.split()[0] for one in _SECTIONS], 0.7)
        self.refuse((at, at + 1), "is not expected here", f"write {near}" if near else FORM)

    def _section_at(self, at: int, end: int) -> tuple[str, int] | None:
        """The part that begins at a token, and where its words end."""
        tokens, before = self.tokens, self.tokens[at - 1]
        first = at == self.at + 2
        inside = before.kind in ("symbol", "open") and not before.is_symbol(",")
        if not first and (inside or before.is_word("AS")):
            return None
        for name in _SECTIONS:
            words = name.split()
            last = at + len(words)
            if last > end or not all(tokens[at + n].is_word(word) for n, word in enumerate(words)):
                continue
            after = tokens[last]
            follows = {
                "MEASURES": not (before.is_symbol(",") or after.is_symbol(".", ",", ")")),
                "PATTERN": after.text == "(",
                "WITHIN": after.is_word("INTERVAL") or after.kind in ("string", "number"),
                "SUBSET": tokens[last + 1].is_symbol("="),
                "DEFINE": tokens[last + 1].is_word("AS"),
            }
            if follows.get(name, True):
                return name, last
        return None

    def _with_word(self, sections: Mapping[str, Place], name: str) -> Place:
        """A part with the words with which it begins."""
        at, end = sections[name]
        return at - len(name.split()), end

    def _split(self, place: Place, what: str) -> list[Place]:
        """The ranges between commas; an empty one is refused."""
        parts = split_at_commas(self.tokens, *place)
        for begin, last in parts:
            if begin == last:
                comma = begin if begin < place[1] else begin - 1
                self.refuse((comma, comma + 1), "has nothing on one side", f"write {what}")
        return parts

    def _read_column(self, place: Place, argument: str) -> Name:
        parts, after = read_path(self.tokens, *place)
        name = _name_of(self.tokens[place[0]])
        if name and not parts:
            self.refuse(place, "is a text in Spark's SQL", f"write `{name}` for the column")
        if not parts or after != place[1]:
            self.refuse(place, "is not a column", "name a column; compute others in a sub-query")
        self.add_span(argument, place, join_name(parts))
        return parts

    def _read_keys(self, place: Place | None) -> tuple[Name, ...]:
        parts = self._split(place, "PARTITION BY a, b") if place else []
        return tuple(self._read_column(one, "by") for one in parts)

    def _read_order(self, place: Place) -> tuple[Name, tuple[Name, ...]]:
        """The time, and the columns that order rows of the same time."""
        columns = []
        for number, (at, end) in enumerate(self._split(place, "ORDER BY ts")):
            stop = end
            for n in range(at, end):
                if self.tokens[n].is_word("DESC"):
                    self.refuse(
                        (at, end), "is in falling order, and matches are found as time goes on",
                        "leave DESC out, and write the pattern in the order of time",
                    )  # fmt: skip
                if self.tokens[n].is_word("NULLS") and n > at:
                    self.refuse(
                        (n, end), "orders nulls, and their place is always the same",
                        "leave it out, or replace the nulls in a sub-query",
                    )  # fmt: skip
            if end - at > 1 and self.tokens[end - 1].is_word("ASC"):
                stop = end - 1
            columns.append(self._read_column((at, stop), "tiebreak" if number else "time"))
        return columns[0], tuple(columns[1:])

    def _read_rows_per_match(self, sections: Mapping[str, Place]) -> tuple[bool, bool]:
        """Whether all rows of a match are asked for, and whether those of no match are."""
        unmatched = False
        for name in ("ONE ROW PER MATCH", "ALL ROWS PER MATCH"):
            at, end = sections.get(name, (0, 0))
            if at == end:
                continue
            said = " ".join(one.text.upper() for one in self.tokens[at:end])
            of_all = name.startswith("ALL")
            if not (of_all and said in _OPTIONS):
                self.refuse(
                    (at, end), f"is not expected after {name}",
                    "leave it out, or write one of the parts " + ", ".join(_SECTIONS),
                )  # fmt: skip
            unmatched = said == _UNMATCHED
        return "ALL ROWS PER MATCH" in sections, unmatched

    def _read_pattern(self, place: Place) -> tuple[str, list[str]]:
        """The pattern, and its variables."""
        tokens, (at, end) = self.tokens, place
        close = tokens[at].partner
        if close + 1 != end:
            self.refuse(
                (close + 1, end), "is not expected after the pattern",
                "write WITHIN INTERVAL '1' HOUR, SUBSET u = (a, b), or DEFINE a AS …",
            )  # fmt: skip
        for n in range(at, close):
            if tokens[n].text == "(" and tokens[n + 1].is_symbol("?"):
                self.refuse(
                    (n, tokens[n].partner + 1),
                    "is of regular expressions over letters, and no row pattern",
                    "write !b for rows that are not b, and (…) for a group",
                )
        pattern = self.one_line(at + 1, close)
        self.add_span("pattern", (at + 1, close), pattern)
        with self.translated((at, close + 1)):
            return pattern, names_in(parse_pattern(pattern))

    def _read_subsets(
        self, place: Place | None, known: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """The variables of each SUBSET, by its name in small letters."""
        subsets: dict[str, tuple[str, ...]] = {}
        for at, end in self._split(place, "SUBSET u = (a, b)") if place else ():
            tokens, name = self.tokens, _name_of(self.tokens[at])
            opened = at + 2
            if not (
                name and end - at > 3
                and tokens[at + 1].is_symbol("=")
                and tokens[opened].text == "(" and tokens[opened].partner == end - 1
            ):  # fmt: skip
                self.refuse((at, end), "is not a subset", "write SUBSET u = (a, b)")
            if name.lower() in known or name.lower() in subsets:
                self.refuse((at, at + 1), "is already a variable", "give it another name")
            names: list[str] = []
            for first, last in self._split((opened + 1, end - 1), "SUBSET u = (a, b)"):
                asked = _name_of(tokens[first]) if last == first + 1 else ""
                names += self._variables_of(asked, (first, last), known)
            subsets[name.lower()] = tuple(dict.fromkeys(names))
        return subsets

    def _variables_of(
        self, name: str, place: Place, known: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """The variables that a name stands for; any other name is refused."""
        if name.lower() not in known:
            names = [one for several in known.values() for one in several]
            near = guess(name, names)
            self.refuse(
                place, f"is not a variable of the pattern, which has {list_some(names)}",
                f"write {near}" if near else "add it to the pattern, or leave it out",
            )  # fmt: skip
        return known[name.lower()]

    def _read_definitions(
        self,
        place: Place | None,
        known: Mapping[str, tuple[str, ...]],
        subsets: Mapping[str, tuple[str, ...]],
    ) -> dict[str, str]:
        """The condition of each variable, as text."""
        define: dict[str, str] = {}
        for at, end in self._split(place, "DEFINE a AS x > 3") if place else ():
            tokens, name = self.tokens, _name_of(self.tokens[at])
            if not name or end - at < 3 or not tokens[at + 1].is_word("AS"):
                self.refuse((at, end), "is not a definition", "write DEFINE a AS x > 3, b AS …")
            if name.lower() in subsets:
                self.refuse((at, at + 1), "is a SUBSET, and takes no definition",
                            "define its variables")  # fmt: skip
            (variable,) = self._variables_of(name, (at, at + 1), known)
            if variable in define:
                self.refuse((at, at + 1), "is defined twice", "write it once")
            self._check_condition((at + 2, end), known, subsets)
            define[variable] = self._write_condition((at + 2, end))
            self.add_span(f"define={{{variable!r}", (at + 2, end))
        if place:
            self.add_span("define", place)
        return define

    def _check_condition(
        self,
        place: Place,
        known: Mapping[str, tuple[str, ...]],
        subsets: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Refuse what no definition can have, by name."""
        depth = 0
        for n in range(*place):
            one, after = self.tokens[n], self.tokens[n + 1]
            depth += {"open": 1, "close": -1}.get(one.kind, 0)
            if (
                n > place[0]
                and not depth
                and after.is_word("AS")
                and _name_of(one).lower() in known
            ):
                self.refuse((n, n + 2), "begins another definition, with no comma before it",
                            f"write , {one.text} AS …")  # fmt: skip
            if one.is_word("LAG") and after.text == "(":
                parts = split_at_commas(self.tokens, n + 2, after.partner)
                if len(parts) > 2:
                    before, other = self.one_line(n, parts[1][1]), self.one_line(*parts[2])
                    self.refuse((n, after.partner + 1), "has a value for where no row is before",
                                f"write COALESCE({before}), {other})")  # fmt: skip
            if one.is_word("OVER") and after.text == "(":
                self.refuse(
                    (n, after.partner + 1), "makes a window function, which no definition has",
                    "compute it in a sub-query: FROM (SELECT *, avg(x) OVER (…) AS m FROM …)",
                )  # fmt: skip
            if one.text == "(" and self.tokens[n + 1].is_word("SELECT", "WITH"):
                self.refuse((n, one.partner + 1), "is a sub-query in a definition",
                            "join it to the table before: FROM (SELECT …)")  # fmt: skip
            if named := variable_at(self.tokens, n, subsets):
                most = ", ".join(f"max({name}.x)" for name in named)
                rows = " + ".join(f"count({name}.*)" for name in named)
                self.refuse(
                    (n, n + 3), "is of a SUBSET, which only MEASURES may use",
                    f"name its variables: {named[0]}.x" if len(named) == 1 else
                    f"name its variables: greatest({most}) for a maximum, {rows} for a number of "
                    "rows",
                )  # fmt: skip
            called = self.tokens[n + 1].is_name and self.tokens[n + 2].text == "("
            if one.is_word("FINAL") and called:
                self.refuse((n, n + 2), "asks for a value that is known at the end of the match",
                            "leave FINAL out")  # fmt: skip

    def _write_condition(self, place: Place) -> str:
        """The text of a definition, without RUNNING before calls, and with PREV for LAG."""
        tokens, parts, first = self.tokens, [], place[0]
        for n in range(*place):
            running = tokens[n].is_word("RUNNING") and tokens[n + 1].is_name
            lag = tokens[n].is_word("LAG") and tokens[n + 1].text == "("
            if lag or (running and tokens[n + 2].text == "("):
                parts += [self.one_line(first, n), "PREV" if lag else ""]
                first = n + 1
        return " ".join([*filter(None, parts), self.one_line(first, place[1])]).strip()

    def _build_spec(
        self,
        pattern: str,
        define: dict[str, str],
        sections: Mapping[str, Place],
        known: Mapping[str, tuple[str, ...]],
        subsets: Mapping[str, tuple[str, ...]],
    ) -> PatternFrame:
        more: dict[str, Any] = {}
        if "WITHIN" in sections:
            more["within"] = self._read_length(sections["WITHIN"])
        if "AFTER MATCH SKIP" in sections:
            more["after_match"] = self._read_after_match(sections, known, subsets)
        with self.translated(self.whole):
            return PatternFrame(pattern, define, **more)

    def _read_length(self, place: Place) -> Any:
        self.add_span("within", place)
        tokens = self.tokens[place[0] : place[1]]
        with self.translated(place):
            if len(tokens) == 1 and tokens[0].kind == "string":
                return parse_interval(parse_string(tokens[0].text))
            if len(tokens) == 1 and tokens[0].kind == "number":
                return parse_number(tokens[0].text)  # of a time that is a number
            return parse_interval(" ".join(one.text for one in tokens))

    def _read_after_match(
        self,
        sections: Mapping[str, Place],
        known: Mapping[str, tuple[str, ...]],
        subsets: Mapping[str, tuple[str, ...]],
    ) -> str:
        """``after_match`` as the API takes it."""
        at, end = sections["AFTER MATCH SKIP"]
        said = " ".join(one.text.lower() for one in self.tokens[at:end])
        if said in ("past last row", "to next row"):
            return said.removeprefix("to ")
        words = said.split()
        if words[0] != "to" or end - at != 2 + (words[1:2] in [[one] for one in PLACES]):
            self.refuse(
                (at, end), "is not where the next match may begin",
                "write AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST a or TO LAST a",
            )  # fmt: skip
        name = _name_of(self.tokens[end - 1])
        if several := subsets.get(name.lower()):
            self.refuse((end - 1, end), "is a SUBSET, and the next match begins at one variable",
                        f"write one of its variables: {' or '.join(several)}")  # fmt: skip
        name = self._variables_of(name, (end - 1, end), known)[0]
        return f"{words[1] if end - at > 2 else 'last'} {name}"

    def _read_measures(self, place: Place | None, by: Sequence[Name]) -> tuple[Measure, ...]:
        """The measures; no two columns have one name."""
        measures: list[Measure] = []
        taken = [name[-1].lower() for name in by]
        for at, end in self._split(place, "MEASURES LAST(a.x) AS x") if place else ():
            name = _name_of(self.tokens[end - 1])
            stop = end - 2 if end - at > 2 and self.tokens[end - 2].is_word("AS") else end - 1
            if not name or (stop == end - 1 and not self._ends_with_name(at, end)):
                self.refuse((at, end), "has no name", f"write {self.one_line(at, end)} AS x")
            if name.lower() in taken:
                self.refuse(
                    (end - 1, end), "is the name of another column of the matches",
                    "give it another name",
                )  # fmt: skip
            taken.append(name.lower())
            self._check_measure((at, stop))
            measures.append(Measure((at, stop), name))
        return tuple(measures)

    def _ends_with_name(self, at: int, end: int) -> bool:
        """Whether the last token of a measure is its name, without AS."""
        before, last = self.tokens[end - 2], self.tokens[end - 1]
        if end - at < 2 or last.is_word(*_ENDS) or before.is_word(*_BEFORE_VALUES):
            return False
        if before.kind in ("string", "number"):
            return not self.tokens[end - 3].is_word("INTERVAL")
        return before.is_name or before.text == ")"

    def _check_measure(self, place: Place) -> None:
        for n in range(*place):
            one, after = self.tokens[n], self.tokens[n + 1]
            if one.text == "(" and after.is_word("SELECT", "WITH"):
                self.refuse((n, one.partner + 1), "is a sub-query in a measure",
                            "join it in a query around this one")  # fmt: skip
            if one.is_word("PER") and after.is_word("MATCH"):
                self.refuse((max(n - 2, place[0]), n + 2), "is not expected here",
                            "write ONE ROW PER MATCH, or ALL ROWS PER MATCH")  # fmt: skip
            if one.is_word("OVER") and after.text == "(":
                self.refuse((n, after.partner + 1), "is not of one match",
                            "compute it of the measures in a query around this one")  # fmt: skip
            if one.is_word("PREV", "NEXT", "LAG", "LEAD") and after.text == "(":
                self.refuse(
                    (n, after.partner + 1), "is the value of a row beside the match's rows",
                    "give that row a variable of its own in the pattern, and write LAST(v.x)",
                )  # fmt: skip

    @contextmanager
    def translated(self, place: Place) -> Iterator[None]:
        """An error raised inside is translated, and points at its word, or at a range of tokens."""
        start, end = self.tokens[place[0]].start, self.tokens[place[1] - 1].end
        with translate_recognition_errors(self.text, self.spans, start, end):
            yield


@contextmanager
def translate_recognition_errors(
    text: str, spans: Sequence[ArgumentSpan], start: int, end: int
) -> Iterator[None]:
    """Context manager: errors raised inside are told in the words of ``MATCH_RECOGNIZE``."""
    try:
        yield
    except FanlightError as error:
        if has_position(error):
            raise
        message = str(error)
        place = _place_of_value(text, spans, message) or locate(text, spans, message)
        for phrase, other in _PHRASES:
            message = phrase.sub(other, message)
        raise error_at(text, *(place or (start, end)), translate(message, WORDS)) from error


def _place_of_value(
    text: str, spans: Sequence[ArgumentSpan], message: str
) -> tuple[int, int] | None:
    """Where the part of a definition stands that Spark does not understand, if it is but once."""
    said = re.match(r"define=(['\"])(.*?)\1 is ", message, re.DOTALL)
    span = next((one for one in spans if one.argument == "define"), None)
    if said is None or span is None or text.count(said[2], span.start, span.end) != 1:
        return None
    first = text.index(said[2], span.start, span.end)
    return first, first + len(said[2])
