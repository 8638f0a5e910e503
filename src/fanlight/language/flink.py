"""Flink's windowing table functions: ``TABLE(HOP(TABLE bids, DESCRIPTOR(ts), …))``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

from fanlight.engine.kinds import list_kinds
from fanlight.engine.kinds.kind import Elsewhere
from fanlight.engine.spec.errors import guess
from fanlight.language.calls import parse_string
from fanlight.language.clause import Clause, Name, Spec
from fanlight.language.error_translation import FLINK, ArgumentSpan, translate_errors
from fanlight.language.spec_builder import parse_interval
from fanlight.language.tokens import Place, Token, join_name, read_path, refusal_at, split_at_commas

_ARGUMENTS = {
    "SIZE": ("range",),
    "SLIDE": ("slide",),
    "STEP": ("slide",),
    "OFFSET": ("offset",),
    "GAP": ("gap",),
}


def flink_windows() -> dict[str, Elsewhere]:
    """The windows of Flink that fanlight has, by Flink's names."""
    return {one.name: one for kind in list_kinds() for one in kind.elsewhere}


@dataclass(frozen=True)
class Windowing:
    """A windowing table function: where its table's name is, its windows, and where it ends."""

    relation: Place
    clause: Clause
    after: int


def parse_windowing(text: str, tokens: Sequence[Token], at: int) -> Windowing | None:
    """Flink's windowing function that begins at a token; None if none does."""
    first = at
    if tokens[at].is_word("TABLE") and tokens[at + 1].text == "(":
        at += 2
    known = flink_windows()
    if tokens[at + 1].text != "(":
        return None
    one, inside = tokens[at], tokens[at + 2 : tokens[at + 1].partner]
    bare = not tokens[at + 2].is_word("TABLE", "DATA")
    if bare and one.is_word(*known) and any(word.is_word("DESCRIPTOR") for word in inside):
        comma = next((w.start for w in inside if w.is_symbol(",")), inside[-1].end)
        form = known[one.text.upper()].form.replace("bids", text[inside[0].start : comma])
        hint = f"write TABLE({form})"
        raise refusal_at(text, one.start, one.end, one.text, "has no TABLE before its table", hint)
    if bare:
        return None
    if not tokens[at].is_word(*known):
        if near := guess(tokens[at].text, known) if at > first else "":
            one = tokens[at]
            hint = f"write {near}"
            raise refusal_at(text, one.start, one.end, one.text, "is not a window of Flink", hint)
        return None
    reading = _Parser(text, tokens, at)
    after = tokens[at + 1].partner + 1 if at == first else tokens[first + 1].partner + 1
    if at > first and tokens[at + 1].partner + 1 != tokens[first + 1].partner:
        reading.refuse(
            (tokens[at + 1].partner + 1, after - 1),
            "is not expected after the windows",
            "leave it out",
        )
    return reading.parse(after)


class _Parser:
    def __init__(self, text: str, tokens: Sequence[Token], at: int) -> None:
        self.text, self.tokens, self.at = text, tokens, at
        self.kind = tokens[at].text.upper()
        self.known = flink_windows()
        self.whole = (at, tokens[at + 1].partner + 1)
        self.spans: list[ArgumentSpan] = []

    def add_span(self, argument: str, place: Place, value: str = "") -> None:
        """Record where an argument of the API stands in the text."""
        start, end = self.tokens[place[0]].start, self.tokens[place[1] - 1].end
        self.spans.append(ArgumentSpan(argument, start, end, value or self.text[start:end]))

    def refuse(self, place: Place, why: str, instead: str) -> NoReturn:
        at, end = place
        start, stop = self.tokens[at].start, self.tokens[end - 1].end
        raise refusal_at(self.text, start, stop, self.text[start:stop], why, instead)

    def parse(self, after: int) -> Windowing:
        data, time, lengths = self._parse_arguments()
        table, keys = self._parse_table(data)
        start, end = self.tokens[self.whole[0]].start, self.tokens[self.whole[1] - 1].end
        with translate_errors(self.text, self.spans, start, end, FLINK):
            spec = self._build_spec(lengths)
        clause = Clause(
            spec, (time,), keys, bounds=True, start=start, end=end, spans=tuple(self.spans),
            words=FLINK,
        )  # fmt: skip
        return Windowing(table, clause, after)

    def _parse_arguments(self) -> tuple[Place, Name, dict[str, timedelta]]:
        """The table with its keys, the time column, and the lengths by name."""
        tokens, form = self.tokens, f"write {self.known[self.kind].form}"
        parts = self._split_at_commas(self.at + 2, self.whole[1] - 1)
        named: dict[str, Place] = {}
        listed: list[Place] = []
        for at, end in parts:
            if end - at > 3 and tokens[at + 1].is_symbol("=") and tokens[at + 2].is_symbol(">"):
                named[tokens[at].text.upper()] = (at + 3, end)
            elif list(named) == ["DATA"]:  # one more key of PARTITION BY
                named["DATA"] = (named["DATA"][0], end)
            else:
                listed.append((at, end))
        time = next((n for n, (at, _) in enumerate(listed) if tokens[at].is_word("DESCRIPTOR")), 0)
        if listed and not named and time:  # the keys of PARTITION BY may be several arguments
            named = {"DATA": (listed[0][0], listed[time - 1][1]), "TIMECOL": listed[time]}
            if len(listed) - time - 1 > len(self.known[self.kind].arguments):
                self.refuse(listed[-1], "is one length too many", form)
            named |= dict(zip(self.known[self.kind].arguments, listed[time + 1 :], strict=False))
        elif listed:
            why = "has arguments that are in the wrong order or form"
            why = "passes some arguments by name and others by position" if named else why
            self.refuse(self.whole, why, form)
        allowed = {"DATA", "TIMECOL", *self.known[self.kind].arguments}
        for name, place in named.items():
            if name not in allowed:
                self.refuse(place, f"is passed as {name}, which {self.kind} does not have", form)
        missing = sorted(allowed - {*named, "OFFSET"})
        if missing:
            self.refuse(self.whole, f"does not say {', '.join(missing)}", form)
        column = self._parse_time_column(named.pop("TIMECOL"))
        data = named.pop("DATA")
        return (
            data,
            column,
            {name: self._parse_length(name, place) for name, place in named.items()},
        )

    def _split_at_commas(self, at: int, end: int) -> list[Place]:
        """The ranges of tokens between commas; an empty one is refused."""
        parts = split_at_commas(self.tokens, at, end)
        for begin, last in parts:
            if begin == last:
                comma = begin if begin < end else begin - 1
                form = f"write {self.known[self.kind].form}"
                self.refuse((comma, comma + 1), "has nothing on one side", form)
        return parts

    def _parse_length(self, name: str, place: Place) -> timedelta:
        for argument in _ARGUMENTS[name]:
            self.add_span(argument, place)
        tokens = self.tokens[place[0] : place[1]]
        with translate_errors(self.text, [], tokens[0].start, tokens[-1].end, FLINK):
            if len(tokens) == 1 and tokens[0].kind == "string":
                return parse_interval(parse_string(tokens[0].text))
            return parse_interval(" ".join(one.text for one in tokens))

    def _parse_time_column(self, place: Place) -> Name:
        at, end = place
        parts, after = read_path(self.tokens, at + 2, end - 1)
        if not self.tokens[at].is_word("DESCRIPTOR") or after != end - 1 or not parts:
            self.refuse(place, "names no time column", "write DESCRIPTOR(ts)")
        self.add_span("time", (at + 2, end - 1), join_name(parts))
        return parts

    def _parse_table(self, place: Place) -> tuple[Place, tuple[Name, ...]]:
        """The table, and the columns of PARTITION BY."""
        at, end = place
        tokens = self.tokens
        at += tokens[at].is_word("TABLE")
        stop = next((n for n in range(at, end) if tokens[n].is_word("PARTITION")), end)
        if stop == at:
            self.refuse(place, "names no table", f"write {self.known[self.kind].form}")
        keys = []
        if stop < end:
            first = stop + 2
            if first < end and tokens[first].text == "(":
                first, end = first + 1, end - 1
            for begin, last in self._split_at_commas(first, end):
                parts, after = read_path(tokens, begin, last)
                if after != last:
                    self.refuse((begin, last), "is not a column", "name a column")
                self.add_span("by", (begin, last), join_name(parts))
                keys.append(parts)
        return (at, stop), tuple(keys)

    def _build_spec(self, lengths: dict[str, timedelta]) -> Spec:
        spec: Spec = self.known[self.kind].make(lengths)
        return spec
