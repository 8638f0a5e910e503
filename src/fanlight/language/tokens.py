"""The tokens of Spark SQL: enough to tell strings, names and brackets from each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.language.mistake import wrong
from fanlight.language.names import bare

_COMMENT = re.compile(r"/\*|\*/")
_TOKEN = re.compile(
    r"""(?P<space>\s+|--(?:\\\n|[^\n])*)
      |(?P<comment>/\*)
      |(?P<string>[rR]'[^']*'|[rR]"[^"]*"|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
      |(?P<quoted>`(?:[^`]|``)*`)
      |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:L|S|Y|F|D|BD)?(?!\w))
      |(?P<word>\w+)
      |(?P<open>[(\[])
      |(?P<close>[)\]])
      |(?P<unended>['"`])
      |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
Place = tuple[int, int]  # a range of tokens: its first, and the one after its last
_DEEPEST = 60  # levels of nested brackets
_PAIRS = {"(": ")", "[": "]"}
_KINDS = {"'": "string", '"': "string", "`": "quoted name", "/*": "comment"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, name, number, string, bracket or other symbol, and where it stands."""

    kind: str
    text: str
    start: int
    end: int
    partner: int = -1  # of a bracket: the number of the token that is its other half

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, given in capitals."""
        return self.kind == "word" and self.text.upper() in words

    def is_mark(self, *marks: str) -> bool:
        """Whether it is one of these brackets or other symbols."""
        return self.kind in ("open", "close", "mark") and self.text in marks

    @property
    def named(self) -> bool:
        """Whether it may be part of a name: a word, or a name in backticks."""
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """The name without backticks."""
        return bare(self.text)

    @property
    def plain(self) -> str:
        """The name without backticks and case; the text of a token that is no name."""
        return self.name.casefold() if self.named else self.text


def tokens(text: str) -> list[Token]:
    """Split a text into tokens; the last one, of kind ``end``, is empty.

    A bracket, string or comment that is not closed is an error that points at it.
    """
    found: list[Token] = []
    opened: list[int] = []
    at = 0
    while match := _TOKEN.match(text, at):
        kind, at = str(match.lastgroup), match.end()
        if kind == "comment":
            at = _after_comment(text, match.start())
        elif kind == "unended":
            raise _unended(text, match.start(), match.group())
        elif kind != "space":
            token = Token(kind, match.group(), match.start(), at)
            if kind == "open":
                opened.append(len(found))
                if len(opened) > _DEEPEST:
                    raise wrong(
                        text, token.start, token.end, token.text,
                        f"is nested more than {_DEEPEST} deep", "move parts of it into WITH",
                    )  # fmt: skip
            elif kind == "close":
                token = _closing(text, token, found, opened)
            found.append(token)
    if opened:
        last = found[opened[-1]]
        raise wrong(
            text, last.start, last.end, last.text, "is never closed",
            f"write {_PAIRS[last.text]} where it ends",
        )  # fmt: skip
    return [*found, Token("end", "", len(text), len(text))]


def _closing(text: str, token: Token, found: list[Token], opened: list[int]) -> Token:
    """A closing bracket with its partner, whose partner is set, too."""
    if not opened or _PAIRS[found[opened[-1]].text] != token.text:
        asked = f"closes nothing: there is no open {'(' if token.text == ')' else '['}"
        hint = f"write {_PAIRS[found[opened[-1]].text]} first" if opened else "leave it out"
        raise wrong(text, token.start, token.end, token.text, asked, hint)
    place = opened.pop()
    first = found[place]
    found[place] = Token(first.kind, first.text, first.start, first.end, len(found))
    return Token(token.kind, token.text, token.start, token.end, place)


def _after_comment(text: str, start: int) -> int:
    """Where a comment ends; comments may be nested."""
    depth = 0
    for match in _COMMENT.finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if not depth:
            return match.end()
    raise _unended(text, start, "/*")


def _unended(text: str, start: int, mark: str) -> Exception:
    end = "*/" if mark == "/*" else mark
    return wrong(
        text, start, start + len(mark), mark, f"begins a {_KINDS[mark]} that never ends",
        f"write {end} where it ends",
    )  # fmt: skip


def path(found: Sequence[Token], at: int, end: int) -> tuple[tuple[str, ...], int]:
    """The parts of the name that begins at a token, such as ``a.b``, and where it ends."""
    parts: list[str] = []
    while at < end and found[at].named:
        parts.append(found[at].name)
        at += 1
        if not (at + 1 < end and found[at].is_mark(".") and found[at + 1].named):
            break
        at += 1
    return tuple(parts), at


def split(found: Sequence[Token], at: int, end: int, mark: str = ",") -> list[Place]:
    """The ranges between commas that are not inside brackets; an empty range has none."""
    parts, first = [], at
    while at < end:
        if found[at].partner > at:
            at = found[at].partner
        elif found[at].is_mark(mark):
            parts.append((first, at))
            first = at + 1
        at += 1
    return [*parts, (first, end)] if first < end or parts else []
