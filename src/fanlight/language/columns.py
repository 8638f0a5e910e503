"""What the text of a query alone tells: the columns that it selects, and what it asks early."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fanlight.engine.kinds.kind import FRAMED
from fanlight.language.clause import Clause
from fanlight.language.query import Query
from fanlight.language.select import Item
from fanlight.language.tokens import Place, read_path

_PLAIN = re.compile(r"\w+")
# Generator functions: the columns that they return have names of their own.
_GENERATORS = (
    "EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK",
    "JSON_TUPLE", "TRANSFORM", "VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER",
)  # fmt: skip


@dataclass(frozen=True)
class EarlyWord:
    """Where a text asks for windows while they are open, and whether these are frames."""

    start: int
    end: int
    of_frames: bool


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


def early_words(text: str) -> list[EarlyWord]:
    """Where a text asks for windows while they are open.

    >>> text = "SELECT count(*) FROM t [WATTR ts RANGE 1 HOUR EARLY EVERY 5 MINUTES]"
    >>> [(text[one.start : one.end], one.of_frames) for one in early_words(text)]
    [('EARLY EVERY 5 MINUTES', False)]
    """
    return [
        EarlyWord(span.start, span.end, set(FRAMED.outputs) <= set(select.clause.outputs))
        for select in Query(text).selects
        for span in select.clause.spans
        if span.argument == "early"
    ]


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
