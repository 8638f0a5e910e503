"""SQL's row pattern recognition: ``FROM bids MATCH_RECOGNIZE (… PATTERN (a b+) DEFINE …)``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from fanlight.engine.spec.errors import guess, list_some
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
from fanlight.language.calls import parse_number, parse_string
from fanlight.language.clause import Clause, Name
from fanlight.language.recognition_text import (
    SECTIONS,
    WORD,
    WORDS,
    RecognitionText,
    looks_like_recognition,
    name_of,
    opens_recognition,
)
from fanlight.language.spec_builder import parse_interval
from fanlight.language.tokens import (
    Place,
    Token,
    join_name,
    read_path,
    split_at_commas,
)

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
_BRACES = re.compile(r'"(?:[^"]|"")+"|\{-|-\}')


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


def parse_recognition(
    text: str, tokens: Sequence[Token], at: int, visible: tuple[tuple[str, Place], ...] = ()
) -> Recognition | None:
    """The ``MATCH_RECOGNIZE`` at a token, with the table before it; None if none is there.

    ``visible`` are the queries of WITH that the table may be.
    """
    if not looks_like_recognition(tokens, at) and not opens_recognition(tokens, at):
        return None
    return _Parser(text, tokens, at).parse(visible)


def variable_at(
    tokens: Sequence[Token], at: int, variables: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The variables that a token names before a dot, as in ``a.price``. Empty otherwise."""
    if not tokens[at + 1].is_symbol(".") or (at and tokens[at - 1].is_symbol(".")):
        return ()
    return variables.get(name_of(tokens[at]).lower(), ())


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


class _Parser(RecognitionText):
    """Reads a ``MATCH_RECOGNIZE``."""

    def parse(self, visible: tuple[tuple[str, Place], ...]) -> Recognition:
        """Read it all."""
        at = self.at
        if not self.tokens[at].is_word(WORD):
            self.refuse((at, at + 1), "is not expected here", f"write {WORD}")
        begin, relation, alias = self._read_table()
        sections = self.find_sections()
        time, tiebreak = self._read_order(sections["ORDER BY"])
        by = self._read_keys(sections.get("PARTITION BY"))
        keys, order = (", ".join(map(join_name, names)) for names in (by, (time, *tiebreak)))
        self.over = f"OVER ({f'PARTITION BY {keys} ' if keys else ''}ORDER BY {order})"
        all_rows, unmatched = self._read_rows_per_match(sections)
        pattern, names = self._read_pattern(sections["PATTERN"])
        known = {name.lower(): (name,) for name in names}
        subsets = self._read_subsets(sections.get("SUBSET"), known)
        define = self._read_definitions(sections.get("DEFINE"), known, subsets)
        options = self._read_options(sections, known, subsets)
        spec = self._build_spec(pattern, define, options)
        if unmatched and has_exclusion(spec.part):
            self.refuse(
                sections["ALL ROWS PER MATCH"],
                "lists the rows of no match, and the pattern leaves out rows of a match by {- -}",
                "leave out WITH UNMATCHED ROWS, or write the pattern without {- and -}",
            )
        left_out = _left_out(spec.part) if all_rows else ()
        if left_out:
            pattern = _BRACES.sub(lambda of: {"{-": "(", "-}": ")"}.get(of[0], of[0]), pattern)
            spec = self._build_spec(pattern, define, options)
        some = unmatched or has_absence(spec.part) or has_exclusion(spec.part)
        if all_rows and spec.after_match != PAST_LAST and some:
            self.refuse(
                self.with_word(sections, "AFTER MATCH SKIP"),
                "may put a row into several matches, and some rows here are of no variable",
                "write AFTER MATCH SKIP PAST LAST ROW, or ONE ROW PER MATCH",
            )
        measures = self._read_measures(sections.get("MEASURES"), by)
        if not (by or measures or all_rows):
            self.refuse((at, at + 1), "gives no columns", "write MEASURES, or PARTITION BY")
        start, end = self.tokens[at].start, self.tokens[self.whole[1] - 1].end
        silence = sections.get("FORGET AFTER")
        forget_after = self._read_length(silence, "forget_after") if silence else None
        clause = Clause(
            spec, (time,), by, tiebreak, forget_after=forget_after, start=start, end=end,
            spans=tuple(self.spans), words=WORDS,
        )  # fmt: skip
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

    def _read_column(self, place: Place, argument: str) -> Name:
        parts, after = read_path(self.tokens, *place)
        name = name_of(self.tokens[place[0]])
        if name and not parts:
            self.refuse(place, "is a text in Spark's SQL", f"write `{name}` for the column")
        if not parts or after != place[1]:
            self.refuse_misspelt(after if parts else place[0], place[1])
            self.refuse(place, "is not a column", "name a column; compute others in a sub-query")
        self.add_span(argument, place, join_name(parts))
        return parts

    def _read_keys(self, place: Place | None) -> tuple[Name, ...]:
        parts = self.split(place, "PARTITION BY a, b") if place else []
        return tuple(self._read_column(one, "by") for one in parts)

    def _read_order(self, place: Place) -> tuple[Name, tuple[Name, ...]]:
        """The time, and the columns that order rows of the same time."""
        columns = []
        for number, (at, end) in enumerate(self.split(place, "ORDER BY ts")):
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
                    "leave it out, or write one of the parts " + ", ".join(SECTIONS),
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
        for at, end in self.split(place, "SUBSET u = (a, b)") if place else ():
            tokens, name = self.tokens, name_of(self.tokens[at])
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
            for first, last in self.split((opened + 1, end - 1), "SUBSET u = (a, b)"):
                asked = name_of(tokens[first]) if last == first + 1 else ""
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
        for at, end in self.split(place, "DEFINE a AS x > 3") if place else ():
            tokens, name = self.tokens, name_of(self.tokens[at])
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
            if n > place[0] and not depth and after.is_word("AS") and name_of(one).lower() in known:
                self.refuse((n, n + 2), "begins another definition, with no comma before it",
                            f"write , {one.text} AS …")  # fmt: skip
            if one.is_word("LAG") and after.text == "(":
                parts = split_at_commas(self.tokens, n + 2, after.partner)
                if len(parts) > 2:
                    before, other = self.one_line(n, parts[1][1]), self.one_line(*parts[2])
                    self.refuse((n, after.partner + 1), "has a value for where no row is before",
                                f"write COALESCE({before}), {other})")  # fmt: skip
            if one.is_word("NEXT", "LEAD") and after.text == "(":
                self._refuse_row_beside(
                    n, "or give the condition to the variable of the later row, with PREV of this "
                    "one",
                )  # fmt: skip
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

    def _refuse_row_beside(self, n: int, other: str) -> NoReturn:
        """Refuse ``NEXT(a.price)``: only a window function around the table knows that row."""
        after = self.tokens[n + 1].partner
        word = "lead" if self.tokens[n].is_word("NEXT", "LEAD") else "lag"
        name = "next_x" if word == "lead" else "previous_x"
        self.refuse(
            (n, after + 1), "is the value of a row beside those that match",
            f"write {name}, or a.{name}, of FROM (SELECT *, {word}(x) {self.over} AS {name} FROM …)"
            f", in a batch; {other}",
        )  # fmt: skip

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
        self, pattern: str, define: dict[str, str], options: Mapping[str, Any]
    ) -> PatternFrame:
        with self.translated(self.whole):
            return PatternFrame(pattern, define, **options)

    def _read_options(
        self,
        sections: Mapping[str, Place],
        known: Mapping[str, tuple[str, ...]],
        subsets: Mapping[str, tuple[str, ...]],
    ) -> dict[str, Any]:
        """The options of the pattern as the API takes them."""
        more: dict[str, Any] = {}
        if "WITHIN" in sections:
            more["within"] = self._read_length(sections["WITHIN"], "within")
        if "MAX" in sections:
            at, end = sections["MAX"]
            if end - at != 2:
                self.refuse((at + 2, end), "is not expected after MAX … ROWS", "leave it out")
            self.add_span("max_rows", (at, end), self.tokens[at].text)
            more["max_rows"] = parse_number(self.tokens[at].text)
        if "AFTER MATCH SKIP" in sections:
            more["after_match"] = self._read_after_match(sections, known, subsets)
        return more

    def _read_length(self, place: Place, argument: str) -> Any:
        self.add_span(argument, place)
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
        name = name_of(self.tokens[end - 1])
        if several := subsets.get(name.lower()):
            self.refuse((end - 1, end), "is a SUBSET, and the next match begins at one variable",
                        f"write one of its variables: {' or '.join(several)}")  # fmt: skip
        name = self._variables_of(name, (end - 1, end), known)[0]
        return f"{words[1] if end - at > 2 else 'last'} {name}"

    def _read_measures(self, place: Place | None, by: Sequence[Name]) -> tuple[Measure, ...]:
        """The measures; no two columns have one name."""
        measures: list[Measure] = []
        taken = [name[-1].lower() for name in by]
        for at, end in self.split(place, "MEASURES LAST(a.x) AS x") if place else ():
            name = name_of(self.tokens[end - 1])
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
                self._refuse_row_beside(
                    n, "or give that row a variable of its own in the pattern, and write LAST(v.x)"
                )
