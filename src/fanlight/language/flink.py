"""Flink's windowing table functions: ``TABLE(HOP(TABLE bids, DESCRIPTOR(ts), …))``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

from fanlight.engine.kinds import kinds
from fanlight.engine.kinds.kind import Elsewhere
from fanlight.language.calls import string
from fanlight.language.clause import Clause, Name, Spec
from fanlight.language.mistake import wrong
from fanlight.language.names import given
from fanlight.language.spoken import FLINK, Mark, speaking
from fanlight.language.tokens import Place, Token, path, split
from fanlight.language.windows import interval

CUMULATE = "CUMULATE"  # fanlight does not have it; an error says what to write instead
_ARGUMENTS = {"SIZE": "range", "SLIDE": "slide", "OFFSET": "offset", "GAP": "gap"}


def known() -> dict[str, Elsewhere]:
    """The windows of Flink that fanlight has, by Flink's names."""
    return {one.name: one for kind in kinds() for one in kind.elsewhere}


@dataclass(frozen=True)
class Windowing:
    """A windowing table function: where its table's name is, its windows, and where it ends."""

    relation: Place
    clause: Clause
    after: int


def windowing(text: str, found: Sequence[Token], at: int) -> Windowing | None:
    """Flink's windowing function that begins at a token; None if none does."""
    first = at
    if found[at].is_word("TABLE") and found[at + 1].text == "(":
        at += 2
    begins = found[at].is_word(*known(), CUMULATE) and found[at + 1].text == "("
    if not begins or not found[at + 2].is_word("TABLE", "DATA"):
        return None
    reading = _Reading(text, found, at)
    after = found[at + 1].partner + 1 if at == first else found[first + 1].partner + 1
    if at > first and found[at + 1].partner + 1 != found[first + 1].partner:
        reading.refuse(
            (found[at + 1].partner + 1, after - 1),
            "is not expected after the windows",
            "leave it out",
        )
    return reading.windowing(after)


class _Reading:
    def __init__(self, text: str, found: Sequence[Token], at: int) -> None:
        self.text, self.found, self.at = text, found, at
        self.kind = found[at].text.upper()
        self.known = known()
        self.whole = (at, found[at + 1].partner + 1)
        self.marks: list[Mark] = []

    def mark(self, argument: str, place: Place, value: str = "") -> None:
        """Record where an argument of the API stands in the text."""
        start, end = self.found[place[0]].start, self.found[place[1] - 1].end
        self.marks.append(Mark(argument, start, end, value or self.text[start:end]))

    def refuse(self, place: Place, why: str, instead: str) -> NoReturn:
        at, end = place
        start, stop = self.found[at].start, self.found[end - 1].end
        raise wrong(self.text, start, stop, self.text[start:stop], why, instead)

    def windowing(self, after: int) -> Windowing:
        if self.kind == CUMULATE:
            self.refuse(
                (self.at, self.at + 1), "has windows that share a start and grow, which fanlight "
                "does not have", "write TUMBLE with its step, and sum around the query: sum(n) "
                "OVER (PARTITION BY date_trunc('DAY', window_start) ORDER BY window_start)",
            )  # fmt: skip
        data, time, lengths = self._arguments()
        table, keys = self._data(data)
        start, end = self.found[self.whole[0]].start, self.found[self.whole[1] - 1].end
        with speaking(self.text, self.marks, start, end, FLINK):
            spec = self._spec(lengths)
        clause = Clause(
            spec, (time,), keys, bounds=True, start=start, end=end, marks=tuple(self.marks),
            words=FLINK,
        )  # fmt: skip
        return Windowing(table, clause, after)

    def _arguments(self) -> tuple[Place, Name, dict[str, timedelta]]:
        """The table with its keys, the time column, and the lengths by name."""
        found, form = self.found, f"write {self.known[self.kind].form}"
        parts = self._parts(self.at + 2, self.whole[1] - 1)
        named: dict[str, Place] = {}
        listed: list[Place] = []
        for at, end in parts:
            if end - at > 3 and found[at + 1].is_mark("=") and found[at + 2].is_mark(">"):
                named[found[at].text.upper()] = (at + 3, end)
            elif list(named) == ["DATA"]:  # one more key of PARTITION BY
                named["DATA"] = (named["DATA"][0], end)
            else:
                listed.append((at, end))
        time = next((n for n, (at, _) in enumerate(listed) if found[at].is_word("DESCRIPTOR")), 0)
        if listed and not named and time:  # the keys of PARTITION BY may be several arguments
            named = {"DATA": (listed[0][0], listed[time - 1][1]), "TIMECOL": listed[time]}
            if len(listed) - time - 1 > len(self.known[self.kind].arguments):
                self.refuse(listed[-1], "is one length too many", form)
            named |= dict(zip(self.known[self.kind].arguments, listed[time + 1 :], strict=False))
        elif listed:
            self.refuse(self.whole, "has arguments in no form that can be read", form)
        taken = {"DATA", "TIMECOL", *self.known[self.kind].arguments}
        for name, place in named.items():
            if name not in taken:
                self.refuse(place, f"is passed as {name}, which {self.kind} does not have", form)
        missing = sorted(taken - {*named, "OFFSET"})
        if missing:
            self.refuse(self.whole, f"does not say {', '.join(missing)}", form)
        column = self._column(named.pop("TIMECOL"))
        data = named.pop("DATA")
        return data, column, {name: self._length(name, place) for name, place in named.items()}

    def _parts(self, at: int, end: int) -> list[Place]:
        """The ranges of tokens between commas; an empty one is refused."""
        parts = split(self.found, at, end)
        for begin, last in parts:
            if begin == last:
                comma = begin if begin < end else begin - 1
                form = f"write {self.known[self.kind].form}"
                self.refuse((comma, comma + 1), "has nothing on one side", form)
        return parts

    def _length(self, name: str, place: Place) -> timedelta:
        self.mark(_ARGUMENTS[name], place)
        found = self.found[place[0] : place[1]]
        with speaking(self.text, [], found[0].start, found[-1].end, FLINK):
            if len(found) == 1 and found[0].kind == "string":
                return interval(string(found[0].text))
            return interval(" ".join(one.text for one in found))

    def _column(self, place: Place) -> Name:
        at, end = place
        parts, after = path(self.found, at + 2, end - 1)
        if not self.found[at].is_word("DESCRIPTOR") or after != end - 1 or not parts:
            self.refuse(place, "names no time column", "write DESCRIPTOR(ts)")
        self.mark("time", (at + 2, end - 1), given(parts))
        return parts

    def _data(self, place: Place) -> tuple[Place, tuple[Name, ...]]:
        """The table, and the columns of PARTITION BY."""
        at, end = place
        found = self.found
        at += found[at].is_word("TABLE")
        stop = next((n for n in range(at, end) if found[n].is_word("PARTITION")), end)
        if stop == at:
            self.refuse(place, "names no table", f"write {self.known[self.kind].form}")
        keys = []
        if stop < end:
            first = stop + 2
            if first < end and found[first].text == "(":
                first, end = first + 1, end - 1
            for begin, last in self._parts(first, end):
                parts, after = path(found, begin, last)
                if after != last:
                    self.refuse((begin, last), "is not a column", "name a column")
                self.mark("by", (begin, last), given(parts))
                keys.append(parts)
        return (at, stop), tuple(keys)

    def _spec(self, lengths: dict[str, timedelta]) -> Spec:
        made: Spec = self.known[self.kind].made(lengths)
        return made
