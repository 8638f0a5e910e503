"""The names of the columns that a query selects, as far as its text alone tells."""

from __future__ import annotations

import re

from fanlight.language.query import Query
from fanlight.language.select import Item
from fanlight.language.tokens import Place, path

_PLAIN = re.compile(r"\w+")
# Generator functions: the columns that they return have names of their own.
_GENERATORS = (
    "EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK",
    "JSON_TUPLE", "TRANSFORM", "VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER",
)  # fmt: skip


def named(text: str) -> tuple[str, ...] | None:
    """The selected columns whose names are plain words; None if only Spark can tell the names.

    The text is read as :func:`fanlight.sql` reads it, with the same errors.

    >>> named("SELECT shop, count(*), max(v) AS most FROM t [WATTR ts RANGE 1 HOUR] GROUP BY shop")
    ('shop', 'most')
    >>> named("SELECT * FROM t") is None
    True
    """
    query = Query(text)
    place = _first(query, 0, query.end)
    items = query.reading.listed(*place) if place else []
    names = []
    for item in items:
        name = item.name or _name(query, item)
        if name is None:
            return None
        if _PLAIN.fullmatch(name):
            names.append(name)
    return tuple(names) if items else None


def _first(query: Query, at: int, end: int) -> Place | None:
    """The first SELECT after WITH; in a UNION it is the one that names the columns."""
    found = query.found
    if found[at].text == "(":
        return _first(query, at + 1, found[at].partner)
    places = query.reading.outside(at, end)
    first = next((n for n in places if found[n].is_word("SELECT")), None)
    return None if first is None else (first, end)


def _name(query: Query, item: Item) -> str | None:
    """The name that Spark gives an item without an alias; None if the text does not tell."""
    found = query.found[item.at : item.end]
    parts, after = path(query.found, *item.place)
    if parts and after == item.end:
        return parts[-1]
    computed = any(one.text == "(" or one.kind == "mark" for one in found)
    star = found[-1].is_mark("*") and (len(found) == 1 or found[-2].is_mark("."))
    if star or not computed or found[0].is_word(*_GENERATORS):
        return None
    return query.reader.shown(*item.place)
