"""The keys of a SELECT over windows: PARTITION BY between the brackets, and GROUP BY."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fanlight.engine.spark.sql import expr, free_name, is_same_name, is_taken
from fanlight.language.calls import ParsedCall
from fanlight.language.query import Query
from fanlight.language.running.table import Table
from fanlight.language.select import Select
from fanlight.language.tokens import Place, read_path

BOUNDS = ("window_start", "window_end")
_GROUPING_SETS = re.compile(r"^(rollup|cube|grouping sets) \(| with (rollup|cube)$", re.IGNORECASE)


@dataclass(frozen=True)
class Key:
    """A key: what ``over`` is given as ``by``, and the words that stand for it in the text."""

    by: Any
    words: tuple[str, ...]


class Keys:
    """Resolves the keys of a SELECT; ``calls`` are its aggregate calls by position."""

    def __init__(
        self, query: Query, select: Select, table: Table, calls: Mapping[int, ParsedCall]
    ) -> None:
        self._query, self._select, self._table, self._calls = query, select, table, calls
        self._outputs = outputs_of(select)

    def resolve(self) -> list[Key]:
        """The keys, each once, without the columns of results such as ``window``."""
        select, table = self._select, self._table
        own = [Key(table.column(name), tuple(map(str.casefold, name))) for name in select.clause.by]
        if select.keys is None:
            return own
        keys: list[Key] = []
        bounds = set()
        for place in self._key_places(select.keys):
            parts, after = read_path(self._query.tokens, *place)
            parts = parts if after == place[1] else ()
            if parts and self._is_output(parts[0]):
                bounds.add(parts[0].casefold())
                continue
            self._query.select_reader.refuse_misspelt(*place)
            key = self._make_key(place, parts)
            if key.words not in [other.words for other in keys]:
                keys.append(key)
        whole = (select.keys[0][0], select.keys[-1][1])
        if select.clause.bounds and not bounds >= set(BOUNDS):
            raise self._query.select_reader.refusal(
                whole, "lacks window_start or window_end",
                "write GROUP BY window_start, window_end, and the keys",
            )  # fmt: skip
        if own and keys and {str(one.by) for one in own} != {str(one.by) for one in keys}:
            raise self._query.select_reader.refusal(
                whole, "names other keys than PARTITION BY", "name the keys in only one of the two"
            )
        return keys or own

    def _key_places(self, keys: Sequence[Place]) -> list[Place]:
        """The keys' expressions; of ``GROUP BY ALL`` the selected items without an aggregate."""
        tokens = self._query.tokens
        at, end = keys[0]
        if len(keys) == 1 and end == at + 1 and tokens[at].is_word("ALL"):
            return [one.place for one in self._select.items if not self._has_aggregate(one.place)]
        return [self._resolve_reference(*place) for place in keys]

    def _has_aggregate(self, place: Place) -> bool:
        return any(place[0] <= at < place[1] for at in self._calls)

    def _resolve_reference(self, at: int, end: int) -> Place:
        """The selected expression that a key names by number or alias; else the key itself."""
        one, items, df = self._query.tokens[at], self._select.items, self._table.df
        if end - at > 1:
            return at, end
        if one.kind == "number" and one.text.isdigit():
            if not 0 < int(one.text) <= len(items):
                raise self._query.select_reader.refusal(
                    (at, end), f"is not the number of one of the {len(items)} columns selected",
                    "write a column, or the number of one that is selected",
                )  # fmt: skip
            return items[int(one.text) - 1].place
        if one.is_name and not is_taken(df, one.name, (*df.columns, *self._outputs)):
            named = (item.place for item in items if is_same_name(df, item.name, one.name))
            return next(named, (at, end))
        return at, end

    def _is_output(self, name: str) -> bool:
        """Whether a name is a column of the results, such as ``window``, and not of the table."""
        df = self._table.df
        return is_taken(df, name, self._outputs) and not is_taken(df, name, df.columns)

    def _make_key(self, place: Place, parts: Sequence[str]) -> Key:
        query, df = self._query, self._table.df
        if _GROUPING_SETS.search(" ".join(one.text for one in query.tokens[slice(*place)])):
            raise query.select_reader.refusal(
                place, "groups by several sets of keys, and windows have one",
                "name the keys, and group the results: SELECT k, sum(n) FROM (SELECT k, count(*) "
                "AS n FROM … [WATTR …] GROUP BY k) GROUP BY ROLLUP(k)",
            )  # fmt: skip
        words = tuple(one.folded for one in query.tokens[place[0] : place[1]])
        if next(query.call_reader.find_calls(*place), None) is not None:
            raise query.select_reader.refusal(
                place, "is an aggregate, not a key", "name columns, or leave GROUP BY out"
            )
        if parts:
            return Key(self._table.column(parts), words)
        name = free_name(query.call_reader.one_line(*place), (*df.columns, *self._outputs))
        return Key(expr(df, query.call_reader.text_of(*place)).alias(name), words)


def outputs_of(select: Select) -> tuple[str, ...]:
    """The columns of the results besides keys and aggregates, Flink's bounds included."""
    return (*select.clause.outputs, *(BOUNDS if select.clause.bounds else ()))
