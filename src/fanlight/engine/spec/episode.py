"""Episodes: partially ordered patterns of rows with shared variables, written as one expression."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import FanlightError, explain_wrong_calls, refuse

MOST_EVENTS = 30
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*'|"[^"]*")
      |(?P<number>-?\d+)
      |(?P<arrow>=>)|(?P<equals>=)|(?P<bar>\|)|(?P<stop>[;\n])
      |(?P<word>[^\W\d][\w.\-]*))""",
    re.VERBOSE,
)
_BLANK = re.compile(r"[ \t\r]*")
# What other notations of patterns have and this one has not, and what to write instead.
_ABSENCE = (
    "an episode says which rows come, not which do not",
    "leave it out, and look at what came between the started and ended of a match",
)
_REPETITION = (
    "an episode has no repetition",
    "write the event as often as it has to come: 'fail; fail; fail'",
)
_SEQUENCE = "steps are separated by ; and what may come in any order by |"
_ELSEWHERE = {
    **dict.fromkeys(("!", "^", "not", "no", "without"), _ABSENCE),
    **dict.fromkeys(("+", "*", "?", "{"), _REPETITION),
    **dict.fromkeys((",", ">", "-", "then", "followed", "followedby"), (_SEQUENCE, "write a; b")),
    **dict.fromkeys(("&", "and", "or"), (_SEQUENCE, "write a | b")),
}


@dataclass(frozen=True)
class Variable:
    """A value that is the same wherever the variable is used; ``_`` is any value."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Literal:
    """A value written out."""

    value: str | int

    def __str__(self) -> str:
        return repr(self.value)


Term = Variable | Literal


@dataclass(frozen=True)
class Event:
    """One row of an episode: its name, and the values of its columns."""

    name: str
    terms: tuple[tuple[str, Term], ...]  # (column, term)

    def __str__(self) -> str:
        return " ".join([self.name, *(f"{column}={term}" for column, term in self.terms)])


class Episode:
    """A pattern to detect: events in order, or in any order within a step, that share values.

    An expression has steps, one per line or separated by ``;``. A step is an event, or several
    separated by ``|``, which may come in any order; all of them must come before the next step
    begins. An event is the value of the ``event`` column, then ``column=term`` for the
    values of other columns, then ``=> term`` for its ``result`` column. A term is a number, a
    string in quotes, a variable, or ``_`` for anything. A variable has the same value wherever it
    is used; a null equals nothing. Other rows may come between.

    A match is a minimal occurrence: no other one with the same shared values lies inside it. So of
    several first rows it has the latest, of several last rows the earliest. Variables that are used
    in one place only do not distinguish matches. A match spans at most ``max_rows`` rows of a key,
    and lasts at most ``max_duration``.

    Parameters
    ----------
    text
        The expression.
    event
        The column that names a row's event.
    result
        The column that ``=>`` refers to.

    Raises
    ------
    FanlightError
        If the expression cannot be read; the message shows where.

    See Also
    --------
    Tolpin, *Progressive Temporal Window Widening*, section 5; Mannila et al., 1997 (minimal
    occurrences).

    Examples
    --------
    A remote shell: a connection is accepted, becomes standard input, output and error in any order,
    and a program is run.

    >>> import fanlight as fl
    >>> shell = fl.Episode('''
    ...     accept fd=x => y
    ...     dup fd=y => 0 | dup fd=y => 1 | dup fd=y => 2
    ...     execve exe=z
    ... ''', event="call", result="returned")
    >>> shell.variables, shell.shared
    (('x', 'y', 'z'), ('y',))
    >>> fl.Episode("accept => y; dup fd=")
    Traceback (most recent call last):
    ...
    fanlight.FanlightError: Episode 'accept => y; dup fd=' cannot be read at its end: \
a value is missing; write a number, a quoted text, a variable, or _

    """

    __slots__ = ("event", "result", "steps", "text")
    text: str
    event: str
    result: str
    steps: tuple[tuple[Event, ...], ...]

    @explain_wrong_calls("fl.Episode('login; fail; fail', event='kind')")
    def __init__(self, text: str, *, event: str = "event", result: str = "result") -> None:
        if not isinstance(text, str):
            raise refuse(
                f"Episode({text!r})",
                "is not an expression",
                "write Episode('accept => y; close fd=y')",
            )
        check_text("event", event, "event='kind'")
        check_text("result", result, "result='returned'")
        set_once = object.__setattr__
        set_once(self, "text", text)
        set_once(self, "event", event)
        set_once(self, "result", result)
        set_once(self, "steps", _Reader(text, result).read_steps())

    @property
    def events(self) -> tuple[Event, ...]:
        """All events, step by step."""
        return tuple(event for step in self.steps for event in step)

    def _count_variables(self) -> Counter[str]:
        return Counter(
            term.name
            for event in self.events
            for _, term in event.terms
            if isinstance(term, Variable) and term.name != "_"
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in the order in which they appear."""
        return tuple(self._count_variables())

    @property
    def shared(self) -> tuple[str, ...]:
        """The variables that are used in more than one place."""
        return tuple(name for name, count in self._count_variables().items() if count > 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the expression names."""
        named = [column for event in self.events for column, _ in event.terms]
        return tuple(dict.fromkeys([self.event, *named]))

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"Episode is frozen: make a new one instead of setting {name}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.text, self.event, self.result)

    def __eq__(self, other: object) -> bool:
        mine = (self.steps, self.event)
        return isinstance(other, Episode) and mine == (other.steps, other.event)

    def __hash__(self) -> int:
        return hash((self.steps, self.event))

    def __repr__(self) -> str:
        steps = "; ".join(" | ".join(map(str, step)) for step in self.steps)
        return f"Episode({steps!r})"


def _restore(text: str, event: str, result: str) -> Episode:
    return Episode(text, event=event, result=result)


class _Reader:
    """A recursive-descent parser with one token of look-ahead."""

    def __init__(self, text: str, result: str) -> None:
        self.text, self.result = text, result
        self.tokens = list(self._split_tokens())
        self.at = 0

    def _split_tokens(self) -> list[tuple[str, str, int]]:
        tokens: list[tuple[str, str, int]] = []
        at, text = 0, self.text
        while True:
            blank = _BLANK.match(text, at)
            at = blank.end() if blank else at
            if at >= len(text):
                return tokens
            if text[at] in ";\n":
                tokens.append(("stop", text[at], at))
                at += 1
                continue
            token = _TOKEN.match(text, at)
            if token is None or token.lastgroup is None:
                unlike = (f"{text[at]!r} is not part of the notation", "leave it out")
                raise self._error_at(at, *_ELSEWHERE.get(text[at], unlike))
            tokens.append((token.lastgroup, token[token.lastgroup], at))
            at = token.end()

    def read_steps(self) -> tuple[tuple[Event, ...], ...]:
        steps: list[tuple[Event, ...]] = []
        while self.at < len(self.tokens):
            if self._take_stops(first=not steps):
                continue
            step = [self._read_event()]
            while self._take("bar"):
                while self._take("stop"):
                    pass  # a step may go on in the next line
                step.append(self._read_event())
            if self.at < len(self.tokens) and self._peek()[0] != "stop":
                _, wrong, where = self._peek()
                raise self._error_at(where, f"{wrong!r} is not expected", "separate steps by ;")
            steps.append(tuple(step))
        if not steps:
            raise self._error_at(
                0, "there is no event", "write for example 'accept => y; close fd=y'"
            )
        if sum(map(len, steps)) > MOST_EVENTS:
            raise self._error_at(0, f"there are more than {MOST_EVENTS} events", "write fewer")
        return tuple(steps)

    def _take_stops(self, *, first: bool) -> bool:
        """Take what separates two steps: one ``;`` at most, and ends of lines."""
        begin, semicolons = self.at, 1 if first else 0
        while self._peek()[0] == "stop":
            semicolons += self._peek()[1] == ";"
            if semicolons > 1:
                raise self._error_at(
                    self._position(), "there is no event before this ;", "leave the ; out"
                )
            self.at += 1
        return self.at > begin

    def _read_event(self) -> Event:
        name = self._take("word") or self._take("text")
        if name is None:
            raise self._error_at(self._position(), "an event's name is missing", "write one")
        terms = []
        while self._peek()[0] == "word":
            begin = self._position()
            column = self._take("word") or ""
            if self._take("equals") is None:
                hint = f"write {column}=value, or for the next step {_unquote(name)}; {column}"
                known = _ELSEWHERE.get(name.casefold()) or _ELSEWHERE.get(column.casefold())
                raise self._error_at(begin, *(known or (f"{column!r} has no = after it", hint)))
            terms.append((column, self._read_term()))
        if self._take("arrow"):
            terms.append((self.result, self._read_term()))
        return Event(_unquote(name), tuple(terms))

    def _read_term(self) -> Term:
        number = self._take("number")
        if number is not None:
            return Literal(int(number))
        text = self._take("text")
        if text is not None:
            return Literal(_unquote(text))
        word = self._take("word")
        if word is None:
            hint = "write a number, a quoted text, a variable, or _"
            raise self._error_at(self._position(), "a value is missing", hint)
        return Variable(word)

    def _peek(self) -> tuple[str, str, int]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", len(self.text))

    def _take(self, kind: str) -> str | None:
        actual, text, _ = self._peek()
        if actual != kind:
            return None
        self.at += 1
        return text

    def _position(self) -> int:
        return self._peek()[2]

    def _error_at(self, at: int, why: str, hint: str) -> FanlightError:
        rest = self.text[at : at + 20].strip()
        place = f"at {rest!r}" if rest else "at its end"
        return refuse(f"Episode {self.text!r}", f"cannot be read {place}: {why}", hint)


def _unquote(text: str) -> str:
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if text[:1] == '"' else text
