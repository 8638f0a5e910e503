"""What the text of a query alone tells: the columns that it selects, and the windows it asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fanlight.engine.kinds.options import EARLY, WITH_EMPTY
from fanlight.engine.spec.frames import Frame
from fanlight.language.clause import Clause
from fanlight.language.query import Query
from fanlight.language.select import Item, Select
from fanlight.language.tokens import Place, read_path, unquote

_PLAIN = re.compile(r"\w+")
# Generator functions: the columns that they return have names of their own.
_GENERATORS = (
    "EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK",
    "JSON_TUPLE", "TRANSFORM", "VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER",
)  # fmt: skip


@dataclass(frozen=True)
class AskedWindows:
    """What a SELECT over windows asks: ``time`` is the column of times, of a pair the stop.

    ``table`` is the name in lower case, or empty if the rows are those of a query; then, or of a
    field, ``time`` is empty. The text asks for windows while they are open at ``early``.
    """

    table: str
    time: str
    early: tuple[int, int] | None
    empty: Mapping[str, Any] | None  # the arguments of ``with_empty``
    are_frames: bool


def selected_columns(text: str) -> tuple[str, ...] | None:
    """The selected columns whose names are plain words; None if only Spark can tell the names.

    The text is read as :func:`fanlight.sql` reads it, with the same errors.

    >>> text = "SELECT shop, max(v) AS most FROM t [WATTR ts RANGE 1 HOUR] GROUP BY shop"
    >>> selected_columns(text)
    ('shop', 'most')
    >>> selected_columns("SELECT * FROM t") is None
    True
    """
    query = Query(text)
    place = _first_select(query, 0, query.end)
    items = query.select_reader.read_items(*place) if place else []
    select = next((one for one in query.selects if place and one.at == place[0]), None)
    if select is not None and _is_widened(select.clause):
        return None  # an aggregate is a column for each window
    names = []
    for item in items:
        name = item.name or _column_name(query, item)
        if name is None:
            return None
        if _PLAIN.fullmatch(name):
            names.append(name)
    return tuple(names) if items else None


def _is_widened(clause: Clause) -> bool:
    """Whether an aggregate is a column for each of several windows."""
    wide = clause.verb is not None and clause.verb.name == "wide"
    return wide or isinstance(clause.spec, Mapping)


def asked_windows(text: str) -> list[AskedWindows]:
    """The windows that a text asks for, in the order of the text.

    >>> text = "SELECT count(*) FROM Calls c [SPAN c.start, c.stop RANGE 1 HOUR EARLY]"
    >>> [(one.table, one.time, text[slice(*one.early)]) for one in asked_windows(text)]
    [('calls', 'stop', 'EARLY')]
    """
    query = Query(text)
    return [_read_windows(query, one) for one in query.selects_in_order()]


def _read_windows(query: Query, select: Select) -> AskedWindows:
    clause, (parts, after) = select.clause, read_path(query.tokens, *select.relation)
    plain = len(parts) == 1 and after == select.relation[1]
    table = parts[0].casefold() if plain else ""
    table = "" if table in [name for name, _ in select.visible] else table
    *before, time = clause.time[-1]
    own = table and [one.casefold() for one in before] in ([], [unquote(select.alias).casefold()])
    early = (one for one in clause.spans if one.argument == EARLY)
    return AskedWindows(
        table,
        time if own else "",
        next(((one.start, one.end) for one in early), None),
        clause.options.get(WITH_EMPTY),
        isinstance(clause.spec, Frame),
    )


def _first_select(query: Query, at: int, end: int) -> Place | None:
    """The first SELECT after WITH; in a UNION it is the one that names the columns."""
    tokens = query.tokens
    if tokens[at].text == "(":
        return _first_select(query, at + 1, tokens[at].partner)
    places = query.select_reader.outside_brackets(at, end)
    first = next((n for n in places if tokens[n].is_word("SELECT")), None)
    return None if first is None else (first, end)


def _column_name(query: Query, item: Item) -> str | None:
    """The name that Spark gives an item without an alias; None if the text does not tell."""
    tokens = query.tokens[item.at : item.end]
    parts, after = read_path(query.tokens, *item.place)
    if parts and after == item.end:
        return parts[-1]
    computed = any(one.text == "(" or one.kind == "symbol" for one in tokens)
    star = tokens[-1].is_symbol("*") and (len(tokens) == 1 or tokens[-2].is_symbol("."))
    if star or not computed or tokens[0].is_word(*_GENERATORS):
        return None
    return query.call_reader.one_line(*item.place)
