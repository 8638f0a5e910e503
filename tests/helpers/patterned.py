"""Row patterns at random, their definitions in SQL and in Python, and rows for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

import fanlight as fl
from fanlight.engine.algebra.monoids import Count, Max, Sum
from fanlight.engine.kinds import scheme_of
from fanlight.engine.operators.arrow_tables import table_of_rows
from fanlight.engine.operators.frames.operator import FrameQuery
from fanlight.engine.operators.protocol import BatchOperator
from tests.oracle.patterns import matches

NAMES = ("a", "b", "c")
_SPARK = {"VARCHAR": "string", '"NULL"': "void", "INTEGER": "int"}
_ARROW = {"string": pa.string(), "boolean": pa.bool_()}


def text_of(part, outer="or"):  # noqa: PLR0911 - one a kind of part
    """The text of a pattern that is made of tuples."""
    kind, *rest = part
    if kind == "row":
        return rest[0]
    if kind in ("first", "last"):
        return "^" if kind == "first" else "$"
    if kind == "out":
        return "{- " + text_of(rest[0]) + " -}"
    if kind in ("not", "never"):
        return "!" + (rest[0] if len(rest) == 1 else f"({' | '.join(rest)})")
    if kind == "permute":
        return f"PERMUTE({', '.join(text_of(one) for one in rest)})"
    if kind == "many":
        text = f"{text_of(rest[0], 'many')}{_quantifier(*rest[1:])}"
        return f"({text})" if outer == "many" else text
    text = (" | " if kind == "or" else " ").join(text_of(one, kind) for one in rest)
    loose = outer in (kind, "or")
    return text if loose else f"({text})"


def _quantifier(least, most, reluctant):
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    if short is None:
        short = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
    return short + "?" * reluctant


# A part of a definition: its SQL, and what it is of a row at a place among those mapped so far,
# the row itself included.


@dataclass(frozen=True)
class Said:
    """SQL, and what it is in Python; ``kind`` is ``number``, ``text`` or ``truth``."""

    sql: str
    of: Any
    kind: str = "number"


def _rows_of(name, mapped):
    return [row for row, one, _ in mapped if name is None or one == name]


def _at(rows, place, column):
    return rows[place][column] if place is not None and 0 <= place < len(rows) else None


def _column(name, column):
    return column if name is None else f"{name}.{column}"


def _navigated(rng, names, column):
    name = rng.choice((None, *names))
    asked = _column(name, column)
    how = rng.randrange(6)
    if how == 0 or (how == 1 and name is None):
        return Said(column, lambda rows, mapped: rows[mapped[-1][0]][column])
    if how == 1:
        return Said(asked, lambda rows, mapped: _at(rows, _nth(_rows_of(name, mapped), -1), column))
    if how == 2:
        back = rng.randrange(4)
        text = f"prev({column})" if back == 1 else f"prev({column}, {back})"
        return Said(text, lambda rows, mapped: _at(rows, mapped[-1][0] - back, column))
    if how == 3:
        offset = rng.randrange(3)
        text = f"last({asked})" if offset == 0 else f"LAST({asked}, {offset})"
        return Said(
            text, lambda rows, mapped: _at(rows, _nth(_rows_of(name, mapped), -1 - offset), column)
        )
    if how == 4:
        offset = rng.randrange(3)
        text = f"first({asked})" if offset == 0 else f"first({asked}, {offset})"
        return Said(
            text, lambda rows, mapped: _at(rows, _nth(_rows_of(name, mapped), offset), column)
        )
    offset, back = rng.randrange(2), rng.randrange(1, 3)
    first = rng.random() < 0.5

    def before(rows, mapped):
        row = _nth(_rows_of(name, mapped), offset if first else -1 - offset)
        return _at(rows, None if row is None else row - back, column)

    return Said(f"prev({'first' if first else 'last'}({asked}, {offset}), {back})", before)


def _nth(found, place):
    """The place-th of the rows found, from the end if it is negative."""
    inside = place < len(found) if place >= 0 else -place <= len(found)
    return found[place] if inside else None


def _aggregated(rng, names, column):
    name = rng.choice((None, *names))
    function = rng.choice(("count", "count rows", "sum", "avg", "min", "max"))
    if function == "count rows":
        text = "count(*)" if name is None else f"count({name}.*)"
        return Said(text, lambda _, mapped: len(_rows_of(name, mapped)))

    def of(rows, mapped):
        values = [rows[row][column] for row in _rows_of(name, mapped)]
        values = [one for one in values if one is not None]
        if function == "count":
            return len(values)
        if not values:
            return None
        does = {"sum": sum, "min": min, "max": max, "avg": lambda all_: sum(all_) / len(all_)}
        return does[function](values)

    return Said(f"{function}({_column(name, column)})", of)


def number(rng, names, depth=0):
    """A number."""
    how = rng.randrange(12 if depth < 2 else 6)
    column = rng.choice("nnv")
    if how == 0:
        value = rng.randrange(6)
        return Said(str(value), lambda *_: value)
    if how < 4:
        return _navigated(rng, names, column)
    if how < 6:
        return _aggregated(rng, names, column)
    one, other = number(rng, names, depth + 1), number(rng, names, depth + 1)
    if how < 9:
        name = rng.choice(list(_CHOICES))
        return Said(
            f"{name}({one.sql}, {other.sql})",
            lambda *at: _CHOICES[name](one.of(*at), other.of(*at)),
        )
    if how < 11:
        sign = rng.choice("+-*")
        does = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[sign]
        return Said(f"({one.sql} {sign} {other.sql})", _strict(does, one, other))
    text, does = rng.choice(
        [
            ("abs({})", abs), ("(-({}))", lambda a: -a), ("({} / 2)", lambda a: a / 2),
            ("({} % 3)", lambda a: math.fmod(a, 3)),
        ]
    )  # fmt: skip
    return Said(text.format(one.sql), _strict(does, one))


_CHOICES = {
    "coalesce": lambda a, b: b if a is None else a,
    "greatest": lambda a, b: max((x for x in (a, b) if x is not None), default=None),
    "least": lambda a, b: min((x for x in (a, b) if x is not None), default=None),
    "nullif": lambda a, b: None if a == b else a,
}


def _strict(does, *parts):
    """A function that is null where something that it is given is."""

    def of(*at):
        values = [part.of(*at) for part in parts]
        return None if None in values else does(*values)

    return of


_COMPARISONS = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def truth(rng, names, depth=0):  # noqa: PLR0911 - one a way
    """A condition."""
    how = rng.randrange(14 if depth < 2 else 8)
    if how < 5:
        sign = rng.choice(list(_COMPARISONS))
        one, other = number(rng, names), number(rng, names)
        return Said(f"{one.sql} {sign} {other.sql}", _strict(_COMPARISONS[sign], one, other))
    if how == 5:
        sign = rng.choice(("=", "<>", "<"))
        one, other = _navigated(rng, names, "s"), _navigated(rng, names, "s")
        return Said(f"{one.sql} {sign} {other.sql}", _strict(_COMPARISONS[sign], one, other))
    if how == 6:
        one = number(rng, names)
        if rng.random() < 0.5:
            return Said(f"{one.sql} is null", lambda *at: one.of(*at) is None)
        return Said(f"{one.sql} is not null", lambda *at: one.of(*at) is not None)
    if how == 7:
        one, other = number(rng, names), number(rng, names)
        return Said(f"{one.sql} <=> {other.sql}", lambda *at: one.of(*at) == other.of(*at))
    if how == 8:
        one, low, high = (number(rng, names, 1) for _ in range(3))
        return Said(f"{one.sql} between {low.sql} and {high.sql}", _between(one, low, high))
    if how == 9:
        one, *others = (number(rng, names, 1) for _ in range(3))
        return Said(
            f"{one.sql} not in ({', '.join(other.sql for other in others)})",
            lambda *at: _not(_any(_strict(_COMPARISONS["="], one, other)(*at) for other in others)),
        )
    one = truth(rng, names, depth + 1)
    if how == 10:
        said = rng.random() < 0.5
        return Said(f"({one.sql}) is {str(said).lower()}", lambda *at: one.of(*at) is said)
    if how == 11:
        return Said(f"not ({one.sql})", lambda *at: _not(one.of(*at)))
    other = truth(rng, names, depth + 1)
    if how == 12:
        return Said(f"({one.sql}) or ({other.sql})", lambda *at: _any([one.of(*at), other.of(*at)]))
    return Said(
        f"({one.sql}) and ({other.sql})",
        lambda *at: _not(_any([_not(one.of(*at)), _not(other.of(*at))])),
    )


def _not(one):
    return None if one is None else not one


def _any(several):
    known = set(several)
    return True if True in known else None if None in known else False


def _between(one, low, high):
    def of(*at):
        above = _strict(_COMPARISONS[">="], one, low)(*at)
        below = _strict(_COMPARISONS["<="], one, high)(*at)
        if above is False or below is False:
            return False
        return None if above is None or below is None else True

    return of


def plain(rng):
    """A condition on a row alone."""
    limit = rng.randrange(5)
    if rng.random() < 0.5:
        return Said(f"n > {limit}", lambda rows, mapped: _than(rows[mapped[-1][0]]["n"], limit))
    some = sorted(rng.sample("xyz", 2))
    return Said(
        f"s in ({', '.join(map(repr, some))})",
        lambda rows, mapped: rows[mapped[-1][0]]["s"] in some,
    )


def _than(value, limit):
    return None if value is None else value > limit


def pattern(rng, depth=0, *, absent=0.15):  # noqa: PLR0911 - one a way
    """A pattern that needs a row."""
    if depth == 0:
        parts = [pattern(rng, 1, absent=absent) for _ in range(rng.randrange(1, 4))]
        if not any(map(_needs_row, parts)):
            parts.insert(rng.randrange(len(parts) + 1), ("row", rng.choice(NAMES)))
        if rng.random() < 0.05:
            parts.insert(0, ("first",))
        if rng.random() < 0.05:
            return ("seq", *parts, ("last",))
        first = next(at for at, part in enumerate(parts) if _needs_row(part))
        if rng.random() < absent:
            return ("seq", *parts, ("never", *rng.sample(NAMES, rng.randrange(1, 3))))
        if first + 1 < len(parts) and rng.random() < absent:
            names = rng.sample(NAMES, rng.randrange(1, 3))
            return ("seq", *parts, ("not", *names), ("row", rng.choice(NAMES)))
        return ("seq", *parts)
    how = rng.randrange(11 if depth < 3 else 4)
    if how < 4:
        return ("row", rng.choice(NAMES))
    if how < 7:
        least = rng.choice((0, 0, 1, 1, 2))
        most = rng.choice((None, None, max(least, 1), max(least, 1) + 1))
        part = pattern(rng, depth + 1)
        return ("many", part, least, most, rng.random() < 0.3)
    if how < 8:
        return ("seq", *(pattern(rng, depth + 1) for _ in range(2)))
    if how < 9:
        return ("or", *(pattern(rng, depth + 1) for _ in range(2)))
    if how < 10:
        return ("permute", *(("row", name) for name in rng.sample(NAMES, 2)))
    return ("out", pattern(rng, depth + 1))


def _needs_row(part):
    kind, *rest = part
    if kind == "row":
        return True
    if kind == "or":
        return all(map(_needs_row, rest))
    if kind == "many":
        return rest[1] > 0 and _needs_row(rest[0])
    if kind in ("seq", "permute", "out"):
        return any(map(_needs_row, rest))
    return False


def _names_in(part):
    if part[0] in ("row", "not", "never"):
        return set(part[1:])
    return set().union(*(_names_in(one) for one in part[1:] if isinstance(one, tuple)), ())


@dataclass(frozen=True)
class Asked:
    """A question about a pattern: as a spec, and by the definition."""

    tree: Any
    spec: fl.PatternFrame
    holds: dict[str, Any]
    options: dict[str, Any]

    def found(self, rows, now=-math.inf):
        """The matches of rows of one key, in order."""

        def is_a(name, row, mapped):
            said = self.holds.get(name)
            return said is None or said.of(rows, (*mapped, (row, name, True))) is True

        times = [row["t"] for row in rows]
        return matches(self.tree, times, is_a, now=now, **self.options)


def ask(tree, holds, **options):
    """The question about a pattern with these definitions and options."""
    given = {"after": "after_match", "only_first": "matches"}
    told = {given.get(name, name): value for name, value in options.items() if value is not None}
    if "matches" in told:
        told["matches"] = "first" if told["matches"] else "all"
    defined = {name: said.sql for name, said in holds.items()}
    return Asked(tree, fl.PatternFrame(text_of(tree), defined, **told), holds, options)


def question(rng, *, running=True):
    """A question made up at random."""
    tree = pattern(rng)
    names = sorted(_names_in(tree))
    holds = {}
    for name in names:
        how = rng.random()
        if how < 0.9:
            holds[name] = truth(rng, names) if running and how < 0.5 else plain(rng)
    timed = tree[-1][0] == "never" or rng.random() < 0.4
    after = rng.choice(("past last row", "past last row", "next row", "first", "last"))
    if after in ("first", "last"):
        after = f"{after} {rng.choice(names)}"
    return ask(
        tree, holds, after=after, only_first=rng.random() < 0.15,
        within=rng.randrange(1, 12) if timed else None,
        max_rows=rng.randrange(1, 6) if rng.random() < 0.3 else None,
    )  # fmt: skip


def some_rows(rng, most=9):
    """Rows of some keys, in order of time and then of their number."""
    made = [
        {
            "k": rng.choice("pq"), "t": rng.randrange(14), "seq": at,
            "n": rng.choice((None, 0, 1, 2, 3, 4, 5)), "v": rng.choice((None, 0.5, 1.0, 2.5, 4.0)),
            "s": rng.choice((None, "x", "y", "z", "xy")),
        }
        for at in range(rng.randrange(most + 1) + rng.randrange(most))
    ]  # fmt: skip
    return sorted(made, key=lambda row: (row["t"], row["seq"]))


def keyed(rows):
    """The rows of each key."""
    return {k: [row for row in rows if row["k"] == k] for k in sorted({row["k"] for row in rows})}


_DUCK = duckdb.connect()


def _computed(texts, rows):
    """SQL of rows: its Spark types, and for each row its values."""
    values = pa.table(
        {
            "n": pa.array([row["n"] for row in rows], pa.int64()),
            "v": pa.array([row["v"] for row in rows], pa.float64()),
            "s": pa.array([row["s"] for row in rows], pa.string()),
        }
    )
    if not texts:
        return [], [() for _ in rows]
    _DUCK.register("given", values)
    asked = ", ".join(f"({text.replace('<=>', 'IS NOT DISTINCT FROM')})" for text in texts)
    found = _DUCK.execute(f"SELECT {asked} FROM given")
    kinds = [str(one[1]) for one in found.description]
    return [_SPARK.get(kind, kind.lower()) for kind in kinds], found.fetchall()


def query(asked, rows, **more):
    """The operator's question, and the rows for it."""
    kinds, values = _computed([read.given for read in asked.spec.inputs], rows)
    scheme = scheme_of(asked.spec, kinds, "bigint")
    fields = [("k0", pa.string()), ("t", pa.int64()), ("seq", pa.int64())]
    fields += [(f"a{at}", _field(read, kinds[at])) for at, read in enumerate(scheme.inputs)]
    fields += [("f0", pa.int64()), ("f1", pa.int64()), ("f2", pa.string())]
    made = [
        (
            row["k"], row["t"], row["seq"],
            *(_value(read, one) for read, one in zip(scheme.inputs, of, strict=True)),
            row["n"], int(row["v"] is not None), row["s"],
        )
        for row, of in zip(rows, values, strict=True)
    ]  # fmt: skip
    names = sorted(_names_in(asked.tree))
    asked_for = FrameQuery(
        scheme, pa.schema(fields), ("k0",), ("seq",), tuple(n for n, _ in fields if n[0] == "a"),
        ("f0", "f1", "f2"), (Sum(), Count(), Max()),
        of=((), (names[0],), tuple(names[:2])), **more,
    )  # fmt: skip
    return asked_for, made


def batch(asked, rows, size=None, **more):
    """What the operator gives for rows of a batch, handed over in pieces of a size."""
    asked_for, made = query(asked, rows, batch=True, **more)
    size = size or max(len(made), 1)
    pieces = [
        one for at in range(0, len(made), size)
        for one in table_of_rows(made[at : at + size], asked_for.schema).to_batches()
    ]  # fmt: skip
    return list(BatchOperator(asked_for, None).results(pieces))


def _field(read, kind):
    if read.type == "flag":
        return pa.bool_()
    if read.type == "value":
        return _ARROW.get(kind, pa.int64())
    return pa.float64() if read.type == "real" else pa.int64()


def _value(read, value):
    if read.type == "flag":
        return bool(value)
    if value is None or read.type == "value":
        return value
    return float(value) if read.type == "real" else int(value * 10**read.scale)


def expected(asked, rows, now=-math.inf):
    """The frames that a question has, as the operator gives them; see ``query``."""
    names = sorted(_names_in(asked.tree))
    told = []
    for k, mine in keyed(rows).items():
        for number_, match in enumerate(asked.found(mine, now)):
            every, first, two = (
                [mine[row] for row in match.rows_of(*of)] for of in ((), names[:1], names[:2])
            )
            sums = [row["n"] for row in every if row["n"] is not None]
            texts = [row["s"] for row in two if row["s"] is not None]
            start = every[0]["t"]
            end = start + asked.options["within"] if match.timed else every[-1]["t"] + 1
            told.append((
                k, number_, start, end, len(every), match.closed, sum(sums) if sums else None,
                sum(row["v"] is not None for row in first), max(texts, default=None),
            ))  # fmt: skip
    return told


def expected_rows(asked, rows, now=-math.inf):
    """Each row with the number of its match, and its variable; see ``query``."""
    told = {row["seq"]: (None, None) for row in rows}
    for mine in keyed(rows).values():
        for number_, match in enumerate(asked.found(mine, now)):
            for row, name, there in match.mapped:
                told[mine[row]["seq"]] = (number_, name) if there else (None, None)
    return told


def got(tables):
    """Frames as ``expected`` has them."""
    return sorted(
        (
            row["k0"], row["frame"], row["start"], row["ending"], row["rows"],
            row.get("closed", True), row["f0"], row["f1"] or 0, row["f2"],
        )
        for table in tables if table is not None
        for row in table.to_pylist()
    )  # fmt: skip
