"""The tokens of Spark SQL: enough to tell strings, names and brackets from each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.language.errors import refusal_at
from fanlight.language.names import unquote

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
      |(?P<symbol>.)""",
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

    def is_symbol(self, *symbols: str) -> bool:
        """Whether it is one of these brackets or other symbols."""
        return self.kind in ("open", "close", "symbol") and self.text in symbols

    @property
    def is_name(self) -> bool:
        """Whether it may be part of a name: a word, or a name in backticks."""
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """The name without backticks."""
        return unquote(self.text)

    @property
    def folded(self) -> str:
        """The name without backticks and case; the text of any other token."""
        return self.name.casefold() if self.is_name else self.text


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens; the last one, of kind ``end``, is empty.

    A bracket, string or comment that is not closed is an error that points at it.
    """
    tokens: list[Token] = []
    opened: list[int] = []
    at = 0
    while match := _TOKEN.match(text, at):
        kind, at = str(match.lastgroup), match.end()
        if kind == "comment":
            at = _end_of_comment(text, match.start())
        elif kind == "unended":
            raise _unclosed(text, match.start(), match.group())
        elif kind != "space":
            token = Token(kind, match.group(), match.start(), at)
            if kind == "open":
                opened.append(len(tokens))
                if len(opened) > _DEEPEST:
                    raise refusal_at(
                        text, token.start, token.end, token.text,
                        f"is nested more than {_DEEPEST} deep", "move parts of it into WITH",
                    )  # fmt: skip
            elif kind == "close":
                token = _close_bracket(text, token, tokens, opened)
            tokens.append(token)
    if opened:
        last = tokens[opened[-1]]
        raise refusal_at(
            text, last.start, last.end, last.text, "is never closed",
            f"write {_PAIRS[last.text]} where it ends",
        )  # fmt: skip
    return [*tokens, Token("end", "", len(text), len(text))]


def _close_bracket(text: str, token: Token, tokens: list[Token], opened: list[int]) -> Token:
    """A closing bracket with its partner, whose partner is set, too."""
    if not opened or _PAIRS[tokens[opened[-1]].text] != token.text:
        asked = f"closes nothing: there is no open {'(' if token.text == ')' else '['}"
        hint = f"write {_PAIRS[tokens[opened[-1]].text]} first" if opened else "leave it out"
        raise refusal_at(text, token.start, token.end, token.text, asked, hint)
    place = opened.pop()
    first = tokens[place]
    tokens[place] = Token(first.kind, first.text, first.start, first.end, len(tokens))
    return Token(token.kind, token.text, token.start, token.end, place)


def _end_of_comment(text: str, start: int) -> int:
    """Where a comment ends; comments may be nested."""
    depth = 0
    for match in _COMMENT.finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if not depth:
            return match.end()
    raise _unclosed(text, start, "/*")


def _unclosed(text: str, start: int, opening: str) -> Exception:
    end = "*/" if opening == "/*" else opening
    return refusal_at(
        text, start, start + len(opening), opening, f"begins a {_KINDS[opening]} that never ends",
        f"write {end} where it ends",
    )  # fmt: skip


def read_path(tokens: Sequence[Token], at: int, end: int) -> tuple[tuple[str, ...], int]:
    """The parts of the name that begins at a token, such as ``a.b``, and where it ends."""
    parts: list[str] = []
    while at < end and tokens[at].is_name:
        parts.append(tokens[at].name)
        at += 1
        if not (at + 1 < end and tokens[at].is_symbol(".") and tokens[at + 1].is_name):
            break
        at += 1
    return tuple(parts), at


def split_at_commas(
    tokens: Sequence[Token], at: int, end: int, separator: str = ","
) -> list[Place]:
    """The ranges between commas that are not inside brackets; an empty range has none."""
    parts, first = [], at
    while at < end:
        if tokens[at].partner > at:
            at = tokens[at].partner
        elif tokens[at].is_symbol(separator):
            parts.append((first, at))
            first = at + 1
        at += 1
    return [*parts, (first, end)] if first < end or parts else []
