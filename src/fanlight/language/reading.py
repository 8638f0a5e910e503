"""Reading a clause: from the text between the brackets, by its grammar, to a ``Clause``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.kinds import Kind, kind_of, kinds
from fanlight.engine.spec.errors import FanlightError
from fanlight.language.calls import string
from fanlight.language.clause import Clause, Spec, Verb
from fanlight.language.grammar import called, examples, grammar
from fanlight.language.mistake import wrong
from fanlight.language.names import given
from fanlight.language.spoken import Mark, clause_words
from fanlight.language.tokens import tokens
from fanlight.language.windows import Windows

_VERBS = ("fit", "recurring", "fill", "split", "detect")
_FIRST = {
    "fit": "column", "recurring": "column", "fill": "other", "split": "every", "detect": "text",
}  # fmt: skip
# The windows that each verb applies to, as one writes them.
_LEVELS, _CUT = "RANGES 1 MINUTE, 1 HOUR SLIDES 1 MINUTE, 1 MINUTE", "FRAME or SESSION"
_ASKED_OF = {
    "fit": _LEVELS, "recurring": _LEVELS, "fill": _CUT, "split": _CUT,
    "detect": "WIDENING 1 SECOND TO 1 DAY MAX 100 ROWS",
}  # fmt: skip
_FILLING = {"time": "ON", "by": "BY", "longest": "LONGEST"}
_EXAMPLE = "write for example [WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE]"


@cache
def _parser(known: tuple[Kind, ...]) -> Lark:
    return Lark(
        grammar(known),
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _windows() -> tuple[str, ...]:
    """The rules of the grammar that are windows."""
    return ("frame", *(kind.words.rule for kind in kinds() if not kind.words.in_frame))


def read(text: str, start: int, end: int, own: Mapping[str, Aggregate] | None = None) -> Clause:
    """The clause at ``text[start:end]``, brackets included.

    ``own`` are the user's own aggregates by name.
    """
    return _Reader(text, start, end, own or {}).clause(_parsed(text, start, end))


def _parsed(text: str, start: int, end: int) -> Tree[Token]:
    letters = list(" " * (end - 1))  # comments become blanks, so that positions stay
    for one in tokens(" " * (start + 1) + text[start + 1 : end - 1]):
        letters[one.start : one.end] = one.text
    inner = "".join(letters)
    if not inner.strip():
        raise wrong(text, end - 2, end, "[]", "is empty", _EXAMPLE)
    parser = _parser(kinds()).parse_interactive(inner)
    try:
        for _ in parser.iter_parse():
            pass
        tree: Tree[Token] = parser.feed_eof()  # type: ignore[no-untyped-call]
    except UnexpectedInput as error:
        accepted = parser.accepts()  # type: ignore[no-untyped-call]
        token = getattr(error, "token", None)
        at = token.start_pos if token is not None and token.type != "$END" else None
        if at is None:
            at = error.pos_in_stream if token is None else None
        raise _unexpected(text, at, str(token or ""), end, sorted(accepted)) from error
    return tree


def _unexpected(
    text: str, at: int | None, found: str, end: int, accepted: list[str]
) -> FanlightError:
    """The error about a word that the grammar does not allow; it lists what was expected."""
    names, shown = called(), examples()
    words = list(dict.fromkeys(filter(None, (names.get(one, one) for one in accepted))))
    listed = ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else "".join(words)
    if at is None:
        return wrong(text, end - 1, end, "]", "ends too early", f"expected {listed}")
    if found.upper() in shown:
        why = "is not followed by what it needs"
        hint = f"write for example {shown[found.upper()]}"
        return wrong(text, at, at + len(found), found, why, hint)
    near = get_close_matches(found.upper(), words, 1)
    hint = f"write {near[0]}" if near else f"expected {listed}"
    return wrong(text, at, at + max(len(found), 1), found or text[at], "is not expected here", hint)


class _Reader:
    """Builds a clause from its syntax tree."""

    def __init__(self, text: str, start: int, end: int, own: Mapping[str, Aggregate]) -> None:
        self.text, self.start, self.end = text, start, end
        self.windows = Windows(text, own)

    def clause(self, tree: Tree[Token]) -> Clause:
        parts = self._once(tree)
        place = parts.get("wattr") or parts.get("span")
        if place is None:
            raise self._missing("names no time column", "begin with WATTR and the time column, or "
                                "with SPAN and two of them for events that last")  # fmt: skip
        node = next((parts[name] for name in _windows() if name in parts), None)
        if node is None:
            *words, last = dict.fromkeys(kind.words.begins.split()[0] for kind in kinds())
            hint = "RANGE 4 MINUTES SLIDE 1 MINUTE"
            raise self._missing(
                "names no windows", f"write {', '.join(words)} or {last}, for example {hint}"
            )
        with self.windows.speaking(node):
            spec = self.windows.spec(node)
        late = parts.get("late")
        if late is not None:
            self._mark("late", late.children[1])
        verb = next((parts[name] for name in _VERBS if name in parts), None)
        if verb is not None:
            self._check_verb(verb, spec)
        strategy, hints = self._using(parts.get("using"))
        return Clause(
            spec,
            self._time(place),
            self._names(parts.get("partition"), "by"),
            self._names(parts.get("tiebreak"), "tiebreak"),
            "drop" if late is None else str(late.children[1]).lower(),
            strategy,
            hints,
            None if verb is None else self._verb(verb),
            start=self.start,
            end=self.end,
            marks=tuple(self.windows.marks),
            words=self._words(place, verb),
        )

    def _time(self, node: Tree[Token]) -> tuple[tuple[str, ...], ...]:
        """The time column or the pair of them; where they stand is recorded."""
        names, nodes = self._names(node, "time"), list(_trees(node))
        if len(nodes) > 1:
            start, end = nodes[0].meta.start_pos, nodes[-1].meta.end_pos
            pair = repr(tuple(map(given, names)))
            self.windows.marks.append(Mark("time", start, end, pair))
        return names

    @staticmethod
    def _words(place: Tree[Token], verb: Tree[Token] | None) -> dict[str, str]:
        """The words that this clause has for arguments of the API."""
        filling = _FILLING if verb is not None and verb.data == "fill" else {}
        return {**clause_words(), **({"time": "SPAN"} if place.data == "span" else {}), **filling}

    def _mark(self, argument: str, node: Any) -> None:
        self.windows.mark(argument, node)

    def _check_verb(self, verb: Tree[Token], spec: Spec) -> None:
        """Refuse a verb that these windows do not have."""
        word, name, kind = verb.children[0], str(verb.data), kind_of(spec)
        asked = kind is not None and name in kind.family.verbs
        if not asked and isinstance(word, Token):
            instead = _ASKED_OF[name]
            start = int(word.start_pos or 0)
            raise wrong(
                self.text, start, start + len(word), str(word).upper(),
                "does not apply to these windows", f"write {instead} before it",
            )  # fmt: skip

    def _missing(self, why: str, instead: str) -> FanlightError:
        return wrong(
            self.text, self.start, self.end, self.text[self.start : self.end], why, instead
        )

    def _once(self, tree: Tree[Token]) -> dict[str, Tree[Token]]:
        """The parts by grammar rule; two parts that answer the same question are refused."""
        found: dict[str, Tree[Token]] = {}
        for node in _trees(tree):
            kind = str(node.data)
            for alike in (_windows(), _VERBS, ("wattr", "span"), (kind,)):
                before = next((one for one in alike if kind in alike and one in found), None)
                if before is not None:
                    word = str(node.children[0]) if isinstance(node.children[0], Token) else kind
                    raise wrong(
                        self.text, node.meta.start_pos, node.meta.end_pos, word.upper(),
                        f"comes after {before.upper()}, and a clause can have only one of the two",
                        "keep one of them, or write a query for each",
                    )  # fmt: skip
            found[kind] = node
        return found

    def _names(self, node: Tree[Token] | None, argument: str) -> tuple[tuple[str, ...], ...]:
        if node is None:
            return ()
        return tuple(self.windows.named(argument, one) for one in _trees(node))

    def _using(self, node: Tree[Token] | None) -> tuple[str, dict[str, Any]]:
        if node is None:
            return "auto", {}
        technique, *hints = _trees(node)
        self._mark("using", technique)
        words = [str(token) for token in technique.children]
        joined = "".join(words).lower()
        strategy = string(words[0]) if words[0][-1] in "'\"" else joined
        found: dict[str, Any] = {}
        for hint in hints:
            value: Any = hint.children[1]
            self._mark(str(hint.data), value)
            self._mark(f"{str(hint.children[0]).upper()} is not a hint", hint)
            if isinstance(value, Tree):
                number = value.data == "number"
                value = self.windows.number(value) if number else self.windows.length(value)
                found[str(hint.data)] = float(value) if number else value
            else:
                found[str(hint.data)] = self.windows.whole_number(value)
        return strategy, found

    def _verb(self, node: Tree[Token]) -> Verb:
        kind, (first, *rest) = str(node.data), node.children[1:]
        self._mark(_FIRST[kind] if kind in ("fill", "split") else kind, first)
        if kind == "detect" and isinstance(first, Token):
            self.windows.mark("Episode(", first, whole=False)
        if kind == "fit":
            self._mark("slope: ", first)
        if isinstance(first, Tree):
            value = self.windows.length(first) if kind == "split" else self.windows.name(first)
        else:
            value = string(str(first))
        found: dict[str, Any] = {_FIRST[kind]: value}
        for one in rest:
            if isinstance(one, Token):
                found["per_row" if one.type == "PER_ROW" else "counts"] = True
            elif one.data in ("instant", "longest"):
                length = next(_trees(one))
                self._mark(str(one.data), length)
                found[str(one.data)] = self.windows.length(length)
            else:
                filling = {"on": "fill(other, …): time", "by": "fill(other, …): by"}
                names = self._names(one, filling.get(str(one.data), str(one.data)))
                if one.data == "by":
                    self.windows.mark("fill(by=", next(_trees(one)))
                found[str(one.data)] = names if one.data == "by" else names[0]
        return Verb(kind, found)


def _trees(node: Tree[Token]) -> Iterator[Tree[Token]]:
    return (one for one in node.children if isinstance(one, Tree))
