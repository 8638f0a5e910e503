"""Row patterns as SQL:2016 writes them: text is read into a tree, and the tree becomes steps.

A pattern is a regular expression over variables, each of which a row may or may not be.
``A B+ (C | D)?`` has them in rows that follow each other. ``!B`` stands for rows that are not B, as
few as possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

from fanlight.engine.spec.errors import FanlightError, refuse

MOST_STEPS = 10_000  # of a program: what a pattern may grow to as its repetitions are written out
MOST_VARIABLES = 60
DEEPEST = 50  # brackets within each other
EXAMPLE = "write for example pattern='a b+ c'"
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<permute>permute\b(?=\s*\())
      | (?P<name>[^\W\d]\w*)
      | "(?P<quoted>(?:[^"]|"")+)"
      | (?P<braces>\{\s*(?:\d+\s*(?:,\s*\d*)?|,\s*\d*)\s*\})
      | (?P<sign>\{-|-\}|[()|*+?,^$!])
    )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Row:
    """One row that a variable matches."""

    name: str


@dataclass(frozen=True)
class Absent:
    """Any rows that none of some variables matches."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Anchor:
    """The first row of a key (``^``), or the end after its last one (``$``)."""

    at: str


@dataclass(frozen=True)
class Joined:
    """Parts one after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    """One of several parts: the first that leads to a match."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Permutation:
    """All parts in any order; the order in which they are written is preferred."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Repeated:
    """A part several times: as often as possible, or if ``reluctant`` as seldom as possible."""

    part: Part
    least: int
    most: int | None
    reluctant: bool = False


@dataclass(frozen=True)
class Excluded:
    """Rows that belong to a match, but are left out where its rows are listed."""

    part: Part


Part: TypeAlias = Row | Absent | Anchor | Joined | Choice | Permutation | Repeated | Excluded


def parse_pattern(text: str) -> Part:
    """Read a pattern, and check it; errors point at what is wrong."""
    part = _Reader(text).read()
    _check(part, text)
    return part


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = self.depth = 0

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        at, text = 0, self.text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._wrong(at, "is not part of a pattern")
            kind = str(found.lastgroup)
            yield kind, found[kind], found.start(kind)
            at = found.end()

    def _wrong(self, at: int, why: str) -> FanlightError:
        rest = self.text[at:].strip()
        where = f"{rest[:20]!r}" if rest else "its end"
        return refuse(f"pattern={self.text!r}: {where}", why, EXAMPLE)

    @property
    def _next(self) -> tuple[str, str, int]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", len(self.text))

    def _take(self, *signs: str) -> bool:
        kind, word, _ = self._next
        if kind == "sign" and word in signs:
            self.at += 1
            return True
        return False

    def _demand(self, sign: str) -> None:
        if not self._take(sign):
            raise self._wrong(self._next[2], f"stands where {sign!r} is needed")

    def read(self) -> Part:
        """The whole text."""
        part = self._choice()
        if self._next[0] != "end":
            raise self._wrong(self._next[2], "has nothing before it to go with")
        return part

    def _choice(self) -> Part:
        if self.depth == DEEPEST:
            raise self._wrong(self._next[2], f"is nested more than {DEEPEST} brackets deep")
        self.depth += 1
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Part:
        parts = []
        while (part := self._factor()) is not None:
            parts.append(part)
        return parts[0] if len(parts) == 1 else Joined(tuple(parts))

    def _factor(self) -> Part | None:
        part = self._primary()
        if part is None:
            return None
        kind, word, at = self._next
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if kind == "sign" and word in bounds:
            least, most = bounds[word]
        elif kind == "braces":
            low, comma, high = (one.strip() for one in word[1:-1].partition(","))
            least = int(low or 0)
            most = least if not comma else int(high) if high else None
            if most is not None and (most < least or most == 0):
                raise self._wrong(at, "allows no repetition")
            if least > MOST_STEPS:
                raise self._wrong(at, f"repeats more than {MOST_STEPS:,} times")
        else:
            return part
        if isinstance(part, (Anchor, Absent)):
            raise self._wrong(at, "repeats something that is not a row")
        self.at += 1
        return Repeated(part, least, most, self._take("?"))

    def _primary(self) -> Part | None:
        kind, word, at = self._next
        if kind in ("name", "quoted"):
            return Row(self._name())
        if kind == "permute":
            self.at += 1
            self._demand("(")
            parts = [self._choice()]
            while self._take(","):
                parts.append(self._choice())
            self._demand(")")
            return Permutation(tuple(parts))
        if kind != "sign" or word not in ("(", "{-", "!", "^", "$"):
            return None
        self.at += 1
        if word == "!":
            return Absent(self._absent(at))
        if word in "^$":
            return Anchor(word)
        part = self._choice()
        self._demand(")" if word == "(" else "-}")
        return part if word == "(" else Excluded(part)

    def _name(self) -> str:
        kind, word, _ = self._next
        self.at += 1
        return word.replace('""', '"') if kind == "quoted" else word

    def _absent(self, at: int) -> tuple[str, ...]:
        """The variables after ``!``: one, or several in brackets."""
        if self._next[0] in ("name", "quoted"):
            return (self._name(),)
        names = []
        if self._take("("):
            while self._next[0] in ("name", "quoted"):
                names.append(self._name())
                if not self._take("|"):
                    break
            self._demand(")")
        if not names:
            raise self._wrong(at, "is not followed by a variable that is to be absent")
        return tuple(names)


def names_in(part: Part) -> list[str]:
    """The variables of a pattern, each once, in the order in which it names them."""
    return list(dict.fromkeys(_names(part)))


def _names(part: Part) -> Iterator[str]:
    if isinstance(part, Row):
        yield part.name
    if isinstance(part, Absent):
        yield from part.names
    for inner in _inner(part):
        yield from _names(inner)


def _inner(part: Part) -> Sequence[Part]:
    if isinstance(part, (Joined, Choice, Permutation)):
        return part.parts
    return (part.part,) if isinstance(part, (Repeated, Excluded)) else ()


def may_be_empty(part: Part) -> bool:
    """Whether a match may have no row."""
    if isinstance(part, Row):
        return False
    if isinstance(part, Choice):
        return any(map(may_be_empty, part.parts))
    if isinstance(part, Repeated):
        return part.least == 0 or may_be_empty(part.part)
    return all(map(may_be_empty, _inner(part)))


def most_rows(part: Part) -> int | None:
    """The maximum number of rows of a match. None if it may have any number."""
    if isinstance(part, Row):
        return 1
    if isinstance(part, Absent):
        return None
    counts = [most_rows(one) for one in _inner(part)]
    if isinstance(part, Repeated) and part.most is None and counts != [0]:
        return None
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    if isinstance(part, Choice):
        return max(known)
    return sum(known) * (part.most or 0 if isinstance(part, Repeated) else 1)


def has_anchor(part: Part, at: str) -> bool:
    """Whether a pattern has an anchor."""
    if isinstance(part, Anchor):
        return part.at == at
    return any(has_anchor(one, at) for one in _inner(part))


def has_exclusion(part: Part) -> bool:
    """Whether rows of a match may be left out: ``{- … -}``."""
    return isinstance(part, Excluded) or any(map(has_exclusion, _inner(part)))


def ends_absent(part: Part) -> bool:
    """Whether a match may depend on what does not follow it."""
    if isinstance(part, Joined):
        return bool(part.parts) and ends_absent(part.parts[-1])
    if isinstance(part, (Choice, Permutation, Excluded)):
        return any(map(ends_absent, _inner(part)))
    return isinstance(part, Absent)


def _check(part: Part, text: str) -> None:
    """Refuse what has no meaning."""
    names = names_in(part)
    if not names:
        raise refuse(f"pattern={text!r}", "names no variable", EXAMPLE)
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.lower(), name)
        if other != name:
            raise refuse(
                f"pattern={text!r}",
                f"has both {other!r} and {name!r}, which SQL takes for one variable",
                "spell a variable in one way, or give the two different names",
            )
    if len(names) > MOST_VARIABLES:
        raise refuse(
            f"pattern={text[:60]!r}…",
            f"has {len(names)} variables, and {MOST_VARIABLES} are the most",
            "match it in several patterns",
        )
    _Absence(text).check(part)
    if may_be_empty(part):
        raise refuse(
            f"pattern={text!r}",
            "may match no row, so there would be a match everywhere",
            "let it need a row: 'a+' instead of 'a*'",
        )


class _Absence:
    """Refuses absence where it has no beginning or no end."""

    def __init__(self, text: str) -> None:
        self.about = f"pattern={text!r}: an absent variable"

    def check(self, part: Part, *, preceded: bool = False, repeated: bool = False) -> None:
        """Check a part; ``preceded`` by rows, and ``repeated`` so that it follows itself."""
        if isinstance(part, Absent):
            self._check_place(preceded=preceded, repeated=repeated)
        elif isinstance(part, Joined):
            self._check_joined(part.parts, preceded=preceded, repeated=repeated)
        elif isinstance(part, Permutation):
            if any(map(has_absence, part.parts)):
                raise refuse(
                    self.about,
                    "is permuted, so it has any place",
                    "write the orders that you want as (… | …)",
                )
        else:
            for inner in _inner(part):
                again = repeated or isinstance(part, Repeated)
                self.check(inner, preceded=preceded, repeated=again)

    def _check_place(self, *, preceded: bool, repeated: bool) -> None:
        if not preceded:
            raise refuse(
                self.about,
                "has nothing before it from which it could be absent",
                "write first what begins a match, as in 'a !b c'",
            )
        if repeated:
            raise refuse(
                self.about,
                "ends something that is repeated, and nothing says how far it goes",
                "write what follows it inside the brackets, as in '(a !b c)+'",
            )

    def _check_joined(self, parts: Sequence[Part], *, preceded: bool, repeated: bool) -> None:
        for at, one in enumerate(parts):
            rest = parts[at + 1 :]
            if ends_absent(one) and rest:
                if _begins_absent(rest[0]):
                    raise refuse(
                        self.about,
                        "follows another, and nothing says where the first one's rows end",
                        "write both together, as in 'a !(b | c) d'",
                    )
                if all(may_be_empty(other) and not has_anchor(other, "$") for other in rest):
                    raise refuse(
                        self.about,
                        "is followed by something that may be missing",
                        "end the pattern with what is absent, or with a row: 'a !b c'",
                    )
            self.check(one, preceded=preceded, repeated=repeated and not rest)
            preceded = preceded or not may_be_empty(one)


def _begins_absent(part: Part) -> bool:
    if isinstance(part, Joined):
        return bool(part.parts) and _begins_absent(part.parts[0])
    return isinstance(part, Absent) or any(map(_begins_absent, _inner(part)))


def has_absence(part: Part) -> bool:
    """Whether a pattern has rows that are not to be: ``!b``."""
    return isinstance(part, Absent) or any(map(has_absence, _inner(part)))


# A program: for each step what it does, and two numbers.
ROW, NOT, SPLIT, JUMP, FIRST, LAST, NEVER, MATCH = range(8)
Step: TypeAlias = tuple[int, int, int]


def compile_pattern(part: Part, numbers: Mapping[str, int], text: str) -> tuple[Step, ...]:
    """The steps of a pattern over numbered variables.

    ``ROW v hidden``: this row is v, and the next step sees the next row. ``NOT mask``: this row is
    none of the variables of the mask, likewise. ``SPLIT a b``: go on at step a, and if this leads
    to no match at b. ``FIRST``, ``LAST``: anchors. ``NEVER mask``: no row up to the end of the time
    of a match is one of these variables.
    """
    writer = _Writer(numbers, text)
    writer.write(part, last=True)
    writer.add(MATCH)
    return tuple(writer.steps)


class _Writer:
    def __init__(self, numbers: Mapping[str, int], text: str) -> None:
        self.steps: list[Step] = []
        self.numbers, self.text = numbers, text
        self.hidden = 0

    def add(self, does: int, one: int = 0, two: int = 0) -> int:
        """Add a step and return its number."""
        if len(self.steps) >= MOST_STEPS:
            raise refuse(
                f"pattern={self.text[:60]!r}",
                f"has more than {MOST_STEPS:,} steps once its repetitions are written out",
                "repeat less by numbers, permute fewer parts, or write * or + instead",
            )
        self.steps.append((does, one, two))
        return len(self.steps) - 1

    def write(self, part: Part, *, last: bool = False) -> None:
        """Add the steps of a part; ``last``: nothing follows it."""
        if isinstance(part, Row):
            self.add(ROW, self.numbers[part.name], int(self.hidden > 0))
        elif isinstance(part, Absent):
            self._write_absent(sum(1 << self.numbers[name] for name in part.names), last=last)
        elif isinstance(part, Anchor):
            self.add(FIRST if part.at == "^" else LAST)
        elif isinstance(part, Joined):
            for at, one in enumerate(part.parts, 1):
                self.write(one, last=last and at == len(part.parts))
        elif isinstance(part, Choice):
            self._choose([(one,) for one in part.parts], last=last)
        elif isinstance(part, Permutation):
            self._choose(permutations(part.parts), last=last)
        elif isinstance(part, Excluded):
            self.hidden += 1
            self.write(part.part, last=last)
            self.hidden -= 1
        else:
            self._repeat(part)

    def _write_absent(self, mask: int, *, last: bool) -> None:
        if last:
            self.add(NEVER, mask)
            return
        split = self.add(SPLIT)  # as few rows as possible
        self.add(NOT, mask)
        self.add(JUMP, split)
        self.steps[split] = (SPLIT, len(self.steps), split + 1)

    def _choose(self, ways: Iterator[Sequence[Part]] | list[Sequence[Part]], *, last: bool) -> None:
        jumps, split = [], -1
        for way in ways:
            if split >= 0:
                jumps.append(self.add(JUMP))
                self.steps[split] = (SPLIT, split + 1, len(self.steps))
            split = self.add(SPLIT)
            self.write(Joined(tuple(way)), last=last)
        self.steps[split] = (JUMP, split + 1, 0)  # there is no other way
        for jump in jumps:
            self.steps[jump] = (JUMP, len(self.steps), 0)

    def _repeat(self, part: Repeated) -> None:
        """Add rounds. A round without rows is the last, unless more are required."""
        splits, leaving = [], []
        for left in range(part.least, 0, -1):
            if left > 1 or part.most == part.least:
                self.write(part.part)
            else:
                leaving += self._write_round(part.part)
        if part.most is None:
            splits.append(self.add(SPLIT))
            leaving += self._write_round(part.part)
            self.add(JUMP, splits[0])
        else:
            for _ in range(part.most - part.least):
                splits.append(self.add(SPLIT))
                leaving += self._write_round(part.part)
        beyond = len(self.steps)
        for jump in leaving:
            self.steps[jump] = (JUMP, beyond, 0)
        for split in splits:
            ways = (beyond, split + 1) if part.reluctant else (split + 1, beyond)
            self.steps[split] = (SPLIT, *ways)

    def _write_round(self, part: Part) -> list[int]:
        """Add the steps of a round, and return the jumps with which one without rows leaves.

        Where it may have no rows its steps are there twice: those until its first row, each row of
        which leads to the steps after it.
        """
        begin = len(self.steps)
        self.write(part)
        if not may_be_empty(part):
            return []
        steps = self.steps[begin:]
        del self.steps[begin:]
        places = [begin]  # where each step is among those until the first row
        for does, _, _ in steps:
            places.append(places[-1] + (2 if does in (ROW, NOT) else 1))
        again = places[-1] + 1
        for at, (does, one, two) in enumerate(steps):
            if does in (ROW, NOT):
                self.add(does, one, two)
                self.add(JUMP, again + at + 1)
            elif does in (SPLIT, JUMP):
                second = places[two - begin] if does == SPLIT else two
                self.add(does, places[one - begin], second)
            else:
                self.add(does, one, two)
        leaving = self.add(JUMP)
        moved = again - begin
        for does, one, two in steps:
            if does in (SPLIT, JUMP):
                self.add(does, one + moved, two + moved if does == SPLIT else two)
            else:
                self.add(does, one, two)
        return [leaving]
