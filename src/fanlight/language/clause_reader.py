"""Reading a clause: from the text between the brackets, by its grammar, to a ``Clause``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.kinds import Kind, kind_of, list_kinds
from fanlight.engine.kinds.kind import LEVELLED
from fanlight.engine.kinds.options import Option, list_options
from fanlight.engine.spec.calendar import has_months
from fanlight.engine.spec.errors import MOST_LISTED, FanlightError, guess, list_some
from fanlight.engine.spec.sliding import Sliding
from fanlight.language.calls import parse_string
from fanlight.language.clause import Clause, Spec, Verb
from fanlight.language.error_translation import ArgumentSpan
from fanlight.language.grammar import OTHERS, PLACES, build_grammar, terminal_names, word_examples
from fanlight.language.spec_builder import SpecBuilder
from fanlight.language.tokens import join_name, refusal_at, tokenize

_VERBS = ("fit", "recurring", "wide", "bursts", "fill", "split", "detect")
_FIRST = {
    "fit": "column", "recurring": "column", "fill": "other", "split": "every", "detect": "text",
}  # fmt: skip
# The windows that each verb applies to, as one writes them.
_LEVELS, _CUT = "RANGES 1 MINUTE, 1 HOUR SLIDES 1 MINUTE, 1 MINUTE", "FRAME or SESSION"
_ASKED_OF = {
    "fit": _LEVELS, "recurring": _LEVELS, "bursts": _LEVELS,
    "wide": "RANGES 1 MINUTE, 1 HOUR SLIDES 1 MINUTE, 1 MINUTE, or RANGE 1 HOUR, RANGE 1 DAY",
    "fill": _CUT, "split": _CUT,
    "detect": "WIDENING 1 SECOND TO 1 DAY MAX 100 ROWS",
}  # fmt: skip
_FILLING = {"time": "ON", "by": "BY", "max_duration": "MAX", "own": "OWN"}
_EXAMPLE = "write for example [WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE]"


@cache
def _make_parser(known: tuple[Kind, ...], options: tuple[str, ...]) -> Lark:  # noqa: ARG001 - the key
    return Lark(
        build_grammar(known, list_options()),
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _window_rules() -> tuple[str, ...]:
    """The rules of the grammar that are windows."""
    return ("frame", *(kind.words.rule for kind in list_kinds() if not kind.words.in_frame))


def read_clause(
    text: str, start: int, end: int, own: Mapping[str, Aggregate] | None = None
) -> Clause:
    """The clause at ``text[start:end]``, brackets included.

    ``own`` are the user's own aggregates by name.
    """
    return _ClauseBuilder(text, start, end, own or {}).build(_parse(text, start, end))


def _parse(text: str, start: int, end: int) -> Tree[Token]:
    letters = list(" " * (end - 1))  # comments become blanks, so that positions stay
    for one in tokenize(" " * (start + 1) + text[start + 1 : end - 1]):
        letters[one.start : one.end] = one.text
    inner = "".join(letters)
    if not inner.strip():
        raise refusal_at(text, end - 2, end, "[]", "is empty", _EXAMPLE)
    parser = _make_parser(
        list_kinds(), tuple(one.verb for one in list_options())
    ).parse_interactive(inner)
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
        raise _unexpected_word(text, at, str(token or ""), end, sorted(accepted)) from error
    return tree


def _unexpected_word(
    text: str, at: int | None, word: str, end: int, accepted: list[str]
) -> FanlightError:
    """The error about a word that the grammar does not allow; it lists what was expected."""
    names, examples = terminal_names(), word_examples()
    words = list(dict.fromkeys(filter(None, (names.get(one, one) for one in accepted))))
    listed = (
        list_some(words)
        if len(words) > MOST_LISTED
        else " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
    )
    if at is None:
        return refusal_at(text, end - 1, end, "]", "ends too early", f"expected {listed}")
    if word.upper() in examples:
        why = "is not followed by what it needs"
        hint = f"write for example {examples[word.upper()]}"
        windows = [one.begins.split()[0] for one in (kind.words for kind in list_kinds())]
        first = next((one for one in text[:at].upper().split() if one in windows), "")
        if text[at + len(word) : end].lstrip().startswith("-"):
            why = "is followed by a length below zero"
        elif text[:at].rstrip().endswith(",") and first not in ("", word.upper()):
            why = f"is another kind of windows than {first}, and a list in SQL is of one kind"
            hint = "write a query for each, or pass fl.over a list of windows"
        return refusal_at(text, at, at + len(word), word, why, hint)
    kinds = [kind.words for kind in list_kinds()]
    owners = [one.begins for one in kinds if word.upper() in one.arguments.values()]
    if owners and owners[0] not in text[:at].upper().split():
        later = owners[0] in text[at:end].upper().split()
        hint = f"leave it out, or write windows that have it, with {owners[0]}"
        hint = f"write it after {owners[0]} and its length" if later else hint
        return refusal_at(
            text, at, at + len(word), word.upper(), "does not apply to these windows", hint
        )
    begun = {one.split()[0] for one in words}
    others = [one for one, written in OTHERS.items() if written.split()[0] in begun]
    other = word.upper() if word.upper() in OTHERS else ""
    if near := "" if other else guess(word, words):
        hint = f"write {near}"
    else:
        other = other or guess(word, others, 0.75)
        hint = f"write {OTHERS[other]}" if other else f"expected {listed}"
        hint += ", after RANGE and its length" if other and other not in others else ""
    if text[:at].endswith("[") and [*text[at + len(word) : end].split(), ""][0].upper() in begun:
        hint = f"write WATTR {word}"
    if word.upper() in PLACES:
        hint = f"its place is in {PLACES[word.upper()]}"
    return refusal_at(
        text, at, at + max(len(word), 1), word or text[at], "is not expected here", hint
    )


class _ClauseBuilder:
    """Builds a clause from its syntax tree."""

    def __init__(self, text: str, start: int, end: int, own: Mapping[str, Aggregate]) -> None:
        self.text, self.start, self.end = text, start, end
        self.builder = SpecBuilder(text, own)

    def build(self, tree: Tree[Token]) -> Clause:
        parts = self._parts_by_rule(tree)
        place = parts.get("wattr") or parts.get("span")
        if place is None:
            raise self._incomplete(
                "names no time column",
                "begin with WATTR and the time column; for events that last, with SPAN and two",
            )
        node = next((parts[name] for name in _window_rules() if name in parts), None)
        if node is None:
            *words, last = dict.fromkeys(kind.words.begins.split()[0] for kind in list_kinds())
            hint = "RANGE 4 MINUTES SLIDE 1 MINUTE"
            raise self._incomplete(
                "names no windows", f"write {', '.join(words)} or {last}, for example {hint}"
            )
        spec = self.builder.build_spec(node)
        late = parts.get("late")
        if late is not None:
            self._add_span("late", late.children[1])
        forget = parts.get("forget")
        if forget is not None:
            self._add_span("forget_after", forget.children[1])
        verb = next((parts[name] for name in _VERBS if name in parts), None)
        if verb is not None:
            self._check_verb(verb, spec, place)
        strategy, hints = self._read_using(parts.get("using"))
        return Clause(
            spec,
            self._read_time(place),
            self._read_names(parts.get("partition"), "by"),
            self._read_names(parts.get("tiebreak"), "tiebreak"),
            "drop" if late is None else str(late.children[1]).lower(),
            None if forget is None else self.builder.length(next(_subtrees(forget))),
            self._read_options(parts, verb, spec, place),
            strategy,
            hints,
            None if verb is None else self._read_verb(verb),
            start=self.start,
            end=self.end,
            spans=tuple(self.builder.spans),
            words=self._argument_words(place, verb),
        )

    def _read_time(self, node: Tree[Token]) -> tuple[tuple[str, ...], ...]:
        """Return the time column or the pair of them, and record where they stand."""
        names, nodes = self._read_names(node, "time"), list(_subtrees(node))
        if len(nodes) > 1:
            start, end = nodes[0].meta.start_pos, nodes[-1].meta.end_pos
            pair = repr(tuple(map(join_name, names)))
            self.builder.spans.append(ArgumentSpan("time", start, end, pair))
        return names

    def _argument_words(self, place: Tree[Token], verb: Tree[Token] | None) -> dict[str, str]:
        """The words that this clause has for arguments of the API."""
        filled = _FILLING if verb is not None and verb.data == "fill" else {}
        pair = {"time": "SPAN"} if place.data == "span" else {}
        return {**self.builder.argument_words, **pair, **filled}

    def _add_span(self, argument: str, node: Any) -> None:
        self.builder.add_span(argument, node)

    def _add_token_span(self, argument: str, token: Token) -> None:
        start = token.start_pos or 0
        self.builder.spans.append(ArgumentSpan(argument, start, start + len(token)))

    def _check_verb(self, verb: Tree[Token], spec: Spec, place: Tree[Token]) -> None:
        """Refuse a verb that these windows do not have."""
        word, name, kind = str(verb.children[0]), str(verb.data), kind_of(spec)
        wrong = None
        alone = name == "wide" and isinstance(spec, Sliding)
        if kind is None or name not in kind.family.verbs or alone:
            wrong = "does not apply to these windows", f"write {_ASKED_OF[name]} before it"
        elif kind.family is LEVELLED and place.data == "span" and name != "wide":
            wrong = "is for points in time, not for events that last", "write WATTR and one column"
        if wrong is not None:
            start = verb.meta.start_pos
            raise refusal_at(self.text, start, start + len(word), word.upper(), *wrong)

    def _read_options(
        self,
        parts: Mapping[str, Tree[Token]],
        verb: Tree[Token] | None,
        spec: Spec,
        place: Tree[Token],
    ) -> dict[str, dict[str, Any]]:
        """The options of windows, by their verbs."""
        found = {}
        for option in list_options():
            node = None if option.words is None else parts.get(option.words.rule)
            if option.words is None or node is None:
                continue
            wrong = _why_not_asked(option, verb, spec, place)
            if wrong is not None:
                start, end = node.meta.start_pos, node.meta.end_pos
                raise refusal_at(self.text, start, end, option.words.begins, *wrong)
            self._add_span(option.verb, node)
            self.builder.add_words(option.words)
            found[option.verb] = option.words.read(self.builder, node)
        return found

    def _incomplete(self, why: str, instead: str) -> FanlightError:
        return refusal_at(
            self.text, self.start, self.end, self.text[self.start : self.end], why, instead
        )

    def _parts_by_rule(self, tree: Tree[Token]) -> dict[str, Tree[Token]]:
        """The parts by grammar rule; two parts that answer the same question are refused."""
        parts: dict[str, Tree[Token]] = {}
        for node in _subtrees(tree):
            kind = str(node.data)
            for alike in (_window_rules(), _VERBS, ("wattr", "span"), (kind,)):
                before = next((one for one in alike if kind in alike and one in parts), None)
                if before is not None:
                    word, other = (self._first_word(one) for one in (node, parts[before]))
                    several = "write a comma between them" if word == other else "keep one of them"
                    raise refusal_at(
                        self.text, node.meta.start_pos, node.meta.end_pos, word,
                        f"comes after {other}, and a clause has only one such part",
                        f"{several}, or write a query for each",
                    )  # fmt: skip
            parts[kind] = node
        return parts

    def _first_word(self, node: Tree[Token]) -> str:
        """The word with which a part begins."""
        return self.text[node.meta.start_pos : node.meta.end_pos].split()[0].upper()

    def _read_names(self, node: Tree[Token] | None, argument: str) -> tuple[tuple[str, ...], ...]:
        if node is None:
            return ()
        return tuple(self.builder.read_name(argument, one) for one in _subtrees(node))

    def _read_using(self, node: Tree[Token] | None) -> tuple[str, dict[str, Any]]:
        if node is None:
            return "auto", {}
        technique, *hints = _subtrees(node)
        self._add_span("using", technique)
        words = [str(token) for token in technique.children]
        joined = "".join(words).lower()
        strategy = parse_string(words[0]) if words[0][-1] in "'\"" else joined
        values: dict[str, Any] = {}
        for hint in hints:
            value: Any = hint.children[1]
            self._add_span(str(hint.data), value)
            self._add_span(f"{str(hint.children[0]).upper()} is not a hint", hint)
            if isinstance(value, Tree):
                number = value.data == "number"
                value = self.builder.number(value) if number else self.builder.length(value)
                values[str(hint.data)] = float(value) if number else value
            else:
                values[str(hint.data)] = self.builder.parse_integer(value)
        return strategy, values

    def _read_verb(self, node: Tree[Token]) -> Verb:
        if node.data in ("wide", "bursts"):
            return self._read_compared(node)
        kind, (first, *rest) = str(node.data), node.children[1:]
        self._add_span(_FIRST[kind] if kind in ("fill", "split") else kind, first)
        if kind == "detect" and isinstance(first, Token):
            self.builder.add_span("Episode(", first, whole=False)
        if kind == "fit":
            self._add_span("slope: ", first)
        if isinstance(first, Tree):
            value = (
                self._read_steps(first, rest) if kind == "split" else self.builder.name_parts(first)
            )
        else:
            value = parse_string(str(first))
        arguments: dict[str, Any] = {_FIRST[kind]: value}
        for one in rest:
            arguments |= self._read_argument(one)
        return Verb("accumulate" if arguments.pop("so_far", False) else kind, arguments)

    def _read_argument(self, node: Any) -> dict[str, Any]:
        """What stands after the first argument of a verb: a flag, or an argument with a value."""
        if isinstance(node, Token):
            return {node.type.lower(): True}
        name = str(node.data)
        if name == "zone":
            self._add_span(name, node)
            return {name: self.builder.string(node)}
        if name == "own":
            return {name: self._read_own(node)}
        if name == "how":
            return {name: str(node.children[1]).lower()}
        if name in ("instant", "ahead", "max_duration"):
            length = next(_subtrees(node))
            self._add_span(name, length)
            return {name: self.builder.length(length)}
        filling = {"on": "fill(other, …): time", "by": "fill(other, …): by"}
        names = self._read_names(node, filling.get(name, name))
        if name == "by":
            self.builder.add_span("fill(by=", next(_subtrees(node), node))
        return {name: names if name == "by" else names[0]}

    def _read_steps(self, length: Tree[Token], rest: list[Any]) -> Any:
        """The distance of report times; of a calendar, if there is a zone, or in months."""
        local = any(isinstance(one, Tree) for one in rest)
        local = local or has_months("every", self.builder.length(length, calendar=True))
        return self.builder.length(length, calendar=local)

    def _read_compared(self, node: Tree[Token]) -> Verb:
        """WIDE or BURSTS; thresholds are one for all levels, or a list, the finest first."""
        name, nodes = str(node.data), list(_subtrees(node))
        for said in (f"{name} ", "levels compared by"):
            self._add_span(said, node.children[0])
        if not nodes:
            return Verb(name)
        start, end = nodes[0].meta.start_pos, nodes[-1].meta.end_pos
        self.builder.spans.append(ArgumentSpan("threshold", start, end))
        numbers = [float(self.builder.number(one)) for one in nodes]
        if len(numbers) == 1:
            return Verb(name, {"threshold": numbers[0]})
        numbers = numbers[::-1] if self.builder.coarsest_first else numbers
        return Verb(name, {"threshold": numbers})

    def _read_own(self, node: Tree[Token]) -> dict[str, Call]:
        """The aggregates of the frames' own rows, by name."""
        calls: dict[str, Call] = {}
        for one in _subtrees(node):
            place = next(_subtrees(one))
            (name,) = self.builder.name_parts(Tree("name", one.children[2:]))
            if name in calls:
                raise refusal_at(
                    self.text, one.meta.start_pos, one.meta.end_pos, name,
                    "is the name of two aggregates", "name each of them",
                )  # fmt: skip
            calls[name] = self.builder.aggregate(place)
            for said in (f"{name}=", f"the output name {name!r}"):
                self.builder.add_span(f"fill(own=…): {said}", one, whole=False)
        return calls


def _why_not_asked(
    option: Option, verb: Tree[Token] | None, spec: Spec, place: Tree[Token]
) -> tuple[str, str] | None:
    """Why a clause cannot ask for an option, and what to write instead; None if it can."""
    kind = kind_of(spec)
    if option.terminals is not None and verb is not None and verb.data not in option.terminals:
        return f"does not go with {str(verb.children[0]).upper()}", "keep one of them"
    if option.lasting and place.data != "span":
        return "is of events that last", "leave it out, or write SPAN start, stop"
    if kind is not None and kind.family not in option.families:
        begun = (one.words for one in list_kinds() if one.family in option.families)
        *words, last = dict.fromkeys(one.begins.split()[0] for one in begun)
        these = f"{', '.join(words)} or {last}" if words else last
        return "does not apply to these windows", f"leave it out, or write {these}"
    return None


def _subtrees(node: Tree[Token]) -> Iterator[Tree[Token]]:
    return (one for one in node.children if isinstance(one, Tree))
