"""Frames of rows that match a row pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from fanlight.engine.spec.arguments import check_choice, check_text
from fanlight.engine.spec.errors import explain_wrong_calls, guess, list_some, refuse
from fanlight.engine.spec.frames.base import (
    CONDITION,
    Frame,
    Guarantee,
    Input,
    Least,
    Most,
    read_length,
    read_most,
    read_predicate,
    set_fields,
)
from fanlight.engine.spec.frames.definitions import Definition, Definitions
from fanlight.engine.spec.frames.row_patterns import (
    EXAMPLE,
    Part,
    ends_absent,
    has_anchor,
    most_rows,
    names_in,
    parse_pattern,
)
from fanlight.types import Condition, Duration, Matches

PAST_LAST, NEXT = "past last row", "next row"
PLACES = ("first", "last")


@dataclass(frozen=True, init=False)
class PatternFrame(Frame):
    """Rows that match a pattern, as SQL's ``MATCH_RECOGNIZE`` finds them: a frame is a match.

    A pattern is a regular expression over variables, and ``define`` says which rows each of them
    matches: ``"fail{3,} ok"`` is three failures or more, then a success. Of the ways in which rows
    match, the one that SQL:2016 prefers is the match: from the earliest row, and the longest for
    ``*`` and ``+``.

    Parameters
    ----------
    pattern
        Variables one after the other; ``|`` between alternatives, the first of which is preferred;
        ``?``, ``*``, ``+``, ``{n}``, ``{n,}``, ``{,m}`` and ``{n,m}`` for repetitions, as many as
        possible, or with a further ``?`` as few; ``(…)`` for groups; ``PERMUTE(a, b)`` for any
        order; ``^`` for the first row of a key and ``$`` for the end of its rows; ``{- … -}`` for
        rows that :meth:`rows <fanlight.FrameWindows.rows>` leaves out. Besides SQL: ``a !b c``
        has rows between that are not b, as few as possible, ``!(b | d)`` that are neither, and
        ``a !b`` at the end is an a that no b follows until ``within`` is over.
    define
        For each variable a condition on its rows: SQL text or a Column. In SQL text, ``x`` is the
        current row's value, ``prev(x, 2)`` that of the second row before it (one, if no number is
        given), and of the rows matched so far, the current one included: ``a.x`` or ``last(a.x)``
        is that of the last row of a, ``first(a.x)`` of the first, ``last(a.x, 1)`` of the one
        before the last; ``count(a.*)``, ``sum(a.x)``, ``avg``, ``min`` and ``max`` are over all
        rows of a. Without a variable they are of all rows of the match. A variable without a
        definition matches every row. A condition that is null is false; around ``prev`` and
        matched rows NaN counts as null.
    within
        The maximum duration of a match: all its rows come before this time after its first row. A
        stream requires it, or ``max_rows``, if a match may have any number of rows.
    max_rows
        The maximum number of rows of a match.
    after_match
        Where the next match may begin: ``"past last row"``; ``"next row"``, the second row of the
        match; ``"first b"`` or ``"last b"``, the first or the last row of the match that is b, or
        the next row if that is not after the first one.
    matches
        ``"all"``, or only the ``"first"`` of each key.

    Raises
    ------
    FanlightError
        If the pattern cannot be read, may match no rows, or has an absent variable without a
        beginning or an end; if ``define`` has a variable that the pattern lacks, or a definition
        that is not read.

    See Also
    --------
    ISO/IEC 9075-2:2016 and TR 19075-5 (row pattern recognition).

    Examples
    --------
    >>> import fanlight as fl
    >>> logins = spark.sql("SELECT * FROM VALUES (1, 'failed'), (2, 'failed'), (3, 'ok'), "
    ...                    "(4, 'ok'), (5, 'failed'), (6, 'ok') AS t(at, outcome)")
    >>> guessed = fl.PatternFrame(
    ...     "fail{2,} ok", {"fail": "outcome = 'failed'", "ok": "outcome = 'ok'"}, within=10
    ... )
    >>> fl.over(logins, guessed, time="at").agg(tries=fl.agg.count().of("fail")).drop(
    ...     "window"
    ... ).collect()
    [Row(frame_id=0, rows=3, closed=True, tries=2)]

    """

    scheme_cause: ClassVar[str] = "pattern"
    pattern: str
    define: tuple[tuple[str, Any], ...]
    part: Part
    variables: tuple[str, ...]
    definitions: tuple[Definition | None, ...]
    computed: tuple[Any, ...]
    most: Most | None
    after_match: str
    matches: Matches

    @explain_wrong_calls(
        "fl.PatternFrame('low+ high', {'low': 'x < 1', 'high': 'x > 9'}, within='1 hour')"
    )
    def __init__(
        self,
        pattern: str,
        define: Mapping[str, Condition] | None = None,
        *,
        within: Duration | None = None,
        max_rows: int | None = None,
        after_match: str = PAST_LAST,
        matches: Matches = "all",
    ) -> None:
        if not isinstance(pattern, str) or not pattern.strip():
            raise refuse(f"pattern={pattern!r}", "is not a pattern", EXAMPLE)
        part = parse_pattern(check_text("pattern", pattern, "pattern='a b+ c'"))
        variables = tuple(names_in(part))
        definitions, computed = _read_definitions(variables, {} if define is None else define)
        most = _read_most(within, max_rows)
        if ends_absent(part) and (most is None or most.duration is None):
            raise refuse(
                f"pattern={pattern!r}",
                "ends with an absent variable, and nothing says how long it is to be absent",
                "write within='10 minutes', from the first row of a match on",
            )
        set_fields(
            self,
            pattern=pattern,
            define=tuple(
                (name, one.given)
                for name, one in zip(variables, definitions, strict=True)
                if one is not None
            ),
            part=part,
            variables=variables,
            definitions=definitions,
            computed=computed,
            most=most,
            after_match=_read_after_match(after_match, variables),
            matches=check_choice("matches", matches, get_args(Matches), "known"),
        )

    @property
    def most_rows(self) -> int | None:
        """How many rows a match has at most; None if it may have any number."""
        counts = [most_rows(self.part), self.most.rows if self.most else None]
        return min((count for count in counts if count is not None), default=None)

    @property
    def needs_end(self) -> bool:
        """Whether a match may depend on the end of a key's rows."""
        return has_anchor(self.part, "$")

    @property
    def may_be_refuted(self) -> bool:
        """Whether rows that match so far may match no longer once another row has come."""
        return self.needs_end or ends_absent(self.part)

    @property
    def overlapping(self) -> bool:
        """Whether a row may be in two matches."""
        return self.after_match != PAST_LAST and self.matches == "all"

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What definitions have Spark compute of each row."""
        alone = {one.tree.row for one in self.definitions if one and one.plain}  # type: ignore[union-attr]
        return tuple(
            Input("define", given, CONDITION if row in alone else "value of a row")
            for row, given in enumerate(self.computed)
        )

    @property
    def scheme_ends(self) -> str:
        """Where the scheme ends a frame, in words."""
        return "at the last row of a match"

    @property
    def ends(self) -> str:
        """Where a frame ends, in words that go on from 'a frame ends'."""
        most = self.most or Most()
        limits = [f"{most.rows} rows" if most.rows else "", str(most.duration or "")]
        listed = " and ".join(filter(None, limits))
        return self.scheme_ends + (f", which has at most {listed}" if listed else "")

    @property
    def scheme_guarantees(self) -> frozenset[Guarantee]:
        """Unique; matches overlap if the next may begin before the previous has ended."""
        return frozenset({"unique", "overlapping" if self.overlapping else "non-overlapping"})

    def __repr__(self) -> str:
        named = {
            name: given if isinstance(given, str) else str(given) for name, given in self.define
        }
        most = self.most or Most()
        more = {"within": most.duration, "max_rows": most.rows,
                "after_match": self.after_match != PAST_LAST and repr(self.after_match),
                "matches": self.matches != "all" and repr(self.matches)}  # fmt: skip
        shown = "".join(f", {name}={one}" for name, one in more.items() if one)
        return f"PatternFrame({self.pattern!r}, {named!r}{shown})"


def _read_definitions(
    variables: tuple[str, ...], define: Any
) -> tuple[tuple[Definition | None, ...], tuple[Any, ...]]:
    """The definition of each variable, and what they have Spark compute."""
    if not isinstance(define, Mapping):
        raise refuse(
            f"define={define!r}",
            "does not map variables to conditions",
            "write define={'a': 'x > 3'}",
        )
    known = {name.lower(): name for name in variables}
    given: dict[str, Any] = {}
    for name, condition in define.items():
        if not isinstance(name, str) or name.lower() not in known:
            near = guess(str(name), variables)
            raise refuse(
                f"define={{{name!r}: …}}",
                f"is not a variable of the pattern, which has {list_some(variables)}",
                f"write {near!r}" if near else "add it to the pattern, or leave it out",
            )
        if known[name.lower()] in given:
            raise refuse(f"define={{{name!r}: …}}", "is defined twice", "write it once")
        given[known[name.lower()]] = read_predicate(f"define[{name!r}]", condition)
    shared = Definitions(variables)
    found = {name: shared.read(name, condition) for name, condition in given.items()}
    return tuple(found.get(name) for name in variables), tuple(shared.rows)


def _read_most(within: Any, max_rows: Any) -> Most | None:
    """Read ``within`` and ``max_rows``."""
    read = read_most(max_rows, None, None, Least())
    if within is None:
        return read
    length = read_length("within", within)
    return Most(read.rows if read else None, length)


def _read_after_match(given: Any, variables: tuple[str, ...]) -> str:
    """Read ``after_match``; a variable is spelled as in the pattern."""
    words = given.split() if isinstance(given, str) else []
    joined = " ".join(words).lower()
    if joined in (PAST_LAST, NEXT):
        return joined
    known = {name.lower(): name for name in variables}
    place, _, name = " ".join(words).partition(" ")
    if place.lower() in PLACES and name.strip('"').lower() in known:
        return f"{place.lower()} {known[name.strip(chr(34)).lower()]}"
    raise refuse(
        f"after_match={given!r}",
        f"is not known for the variables {list_some(variables)}",
        f"write {PAST_LAST!r}, {NEXT!r}, or 'first {variables[0]}' or 'last {variables[0]}'",
    )
