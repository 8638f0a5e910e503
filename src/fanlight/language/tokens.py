"""The tokens of Spark SQL: enough to tell strings, names and brackets from each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fanlight.engine.algebra.sql_text import in_backticks, split_path
from fanlight.engine.spec.errors import FanlightError

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


_PLAIN = re.compile(r"[^\W\d]\w*")
# A part of a name that the API takes without backticks.
_BARE = re.compile(r"[^.`]+")


def quote_name(name: str) -> str:
    """A name of the API in the query language: parts that are not plain words get backticks."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else in_backticks(part) for part in split_path(name)
    )


def unquote(word: str) -> str:
    """A name without the backticks that it may stand in."""
    return word[1:-1].replace("``", "`") if word[:1] == "`" else word


def join_name(path: tuple[str, ...]) -> str:
    """The parts of a name, joined as the API takes it: ``a.b``."""
    return ".".join(part if _BARE.fullmatch(part) else in_backticks(part) for part in path)


_POINTS = re.compile(r"line \d+, column \d+: ")
_SHOWN = 100  # characters around the word that are printed of a longer line


def error_at(text: str, start: int, end: int, message: str) -> FanlightError:
    """An error about ``text[start:end]``: line, column, the line, and carets below the word."""
    start = min(start, len(text))
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].split("\n", 1)[0].replace("\t", " ").rstrip("\r")
    column = start - begin
    width = max(min(end - start, len(line) - column), 1)
    cut = max(0, column - _SHOWN // 2)
    excerpt, dots = line[cut : cut + _SHOWN], "…" if cut else ""
    width = max(min(width, len(excerpt) - (column - cut)), 1)
    number = text.count("\n", 0, start) + 1
    carets = " " * (column - cut + len(dots)) + "^" * width
    return FanlightError(
        f"line {number}, column {column + 1}: {message}\n    {dots}{excerpt}\n    {carets}"
    )


def has_position(error: FanlightError) -> bool:
    """Whether the message of an error already names a line and column."""
    return _POINTS.match(str(error)) is not None


@contextmanager
def point_at(text: str, start: int, end: int) -> Iterator[None]:
    """An error raised inside points at ``text[start:end]``, unless it already has a position."""
    try:
        yield
    except FanlightError as error:
        if has_position(error):
            raise
        raise error_at(text, start, end, str(error)) from error


def refusal_at(
    text: str, start: int, end: int, asked: str, why: str, instead: str
) -> FanlightError:
    """Make an error with a position: the request, why it is refused, and what to write instead."""
    return error_at(text, start, end, f"{asked} {why}; {instead}")
