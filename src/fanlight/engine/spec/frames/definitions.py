"""Definitions of the variables of row patterns: SQL over a row, rows before it, and matched rows.

``price < prev(price) and sum(down.volume) < 100`` compares three values. What speaks of one row
alone is left to Spark as SQL of that row; what is around it becomes a tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from fanlight.engine.spec.errors import FanlightError, refuse

FUNCTIONS = {"abs": (1, 1), "coalesce": (1, None), "greatest": (2, None), "least": (2, None),
             "nullif": (2, 2)}  # fmt: skip
# What may make something of null: of a variable without rows a column is null, too.
_OF_NULL = frozenset({
    "and", "or", "<=>", "is null", "is true", "is false", "coalesce", "greatest", "least", "nullif",
})  # fmt: skip
_OTHERS_OF_NULL = frozenset({
    "nvl2", "isnull", "isnotnull", "isnan", "if", "iff", "equal_null", "decode",
    "concat_ws", "nanvl", "zeroifnull", "nullifzero", "array", "struct", "named_struct", "hash",
    "xxhash64", "to_json", "format_string", "printf", "map",
})  # fmt: skip
# What is computed around matched rows.
_COMPUTED = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "- of", "+ of", "not", "between",
    "in", *FUNCTIONS,
})  # fmt: skip
_ALIKE = {"nvl": "coalesce", "ifnull": "coalesce"}
_DIFFERENCES = ("datediff", "date_diff", "timestampdiff")
NAVIGATION = ("prev", "first", "last")
AGGREGATES = ("count", "sum", "avg", "min", "max")
DEEPEST = 50
FARTHEST = 1_000  # rows that prev, first and last go back
ANY = ""  # stands for all variables
_TOKEN = re.compile(
    r"""\s*(?: (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
             | (?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)
             | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*)
             | (?P<comment>--|/\*)
             | (?P<sign><=>|<=|>=|<>|!=|==|\|\||::|->|=>|\S))""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"!=": "<>", "==": "="}
_AFTER = frozenset({
    "and", "or", "not", "between", "in", "is", "like", "ilike", "rlike", "regexp",
})  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Which row a value is of: the current one, or the first or last that a variable matched.

    ``offset`` counts on among the rows of the variable, ``back`` then rows of the key before it.
    """

    at: str = "current"  # "current", "first" or "last"
    variable: str = ANY
    offset: int = 0
    back: int = 0


@dataclass(frozen=True)
class Value:
    """The value of SQL of a row, number ``row``, at a place."""

    row: int
    place: Place = Place()


@dataclass(frozen=True)
class Running:
    """An aggregate of the rows of a variable so far; ``row`` is None for ``count(*)``."""

    function: str
    variable: str
    row: int | None


@dataclass(frozen=True)
class Operation:
    """An operator or a function over parts."""

    name: str
    parts: tuple[Node, ...]


Node: TypeAlias = Value | Running | Operation


@dataclass(frozen=True)
class Definition:
    """What makes a row a variable: ``given`` as it was written, and the tree that was read of it.

    A tree that is a value of the current row is the condition itself.
    """

    given: Any
    tree: Node

    @property
    def plain(self) -> bool:
        """Whether it is a condition on a row alone."""
        return isinstance(self.tree, Value) and self.tree.place == Place()


def nodes_of(node: Node) -> list[Node]:
    """A node and all within it."""
    found = [node]
    if isinstance(node, Operation):
        for part in node.parts:
            found += nodes_of(part)
    return found


class Definitions:
    """Reads definitions, which share what Spark computes of each row: ``rows``."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = {name.lower(): name for name in variables}
        self.rows: list[Any] = []

    def row(self, given: Any) -> int:
        """The number of SQL, or a Column, of a row."""
        if isinstance(given, str):
            for at, one in enumerate(self.rows):
                if isinstance(one, str) and one == given:
                    return at
        self.rows.append(given)
        return len(self.rows) - 1

    def read(self, name: str, given: Any) -> Definition:
        """Read the definition of a variable: SQL text, or a Column that speaks of a row alone."""
        if not isinstance(given, str):
            return Definition(given, Value(self.row(given)))
        return Definition(given, _Parser(self, name, given).tree())


def _begin(token: re.Match[str]) -> int:
    return token.end() - len(token[0].lstrip())


class _Part(NamedTuple):
    """A part of a definition: its place in the text, and its tree; None: SQL of one row.

    ``variables`` are those that qualify its columns: none for the current row. ``of_row`` says of a
    tree that Spark could compute it as well, as SQL of one row.
    """

    begin: int
    end: int
    tree: Node | None = None
    variables: frozenset[str] = frozenset()
    of_row: bool = False

    @property
    def in_sql(self) -> bool:
        """Whether it may be, or be in, SQL of one row."""
        return self.tree is None or self.of_row


class _Parser:
    """Reads SQL from left to right, by the strength of its operators."""

    def __init__(self, shared: Definitions, name: str, text: str) -> None:
        self.shared, self.name, self.text = shared, name, text
        self.tokens = list(_TOKEN.finditer(text))
        self.at = self.depth = 0
        self.inside = ""  # the function whose argument is read
        self.within = False  # whether that is inside a function of matched rows

    def tree(self) -> Node:
        """The tree of the whole text."""
        words = [(one["name"] or "").lower() for one in self.tokens]
        signs = ["", *(one["sign"] for one in self.tokens)]
        if any(word in ("select", "with") and signs[at] == "(" for at, word in enumerate(words)):
            raise self._wrong(
                "has a subquery, which is not a condition on a row",
                "join what it reads to the rows before",
            )
        if any(word == "over" and signs[at + 2 : at + 3] == ["("] for at, word in enumerate(words)):
            raise self._wrong(
                "has a window function, which is not a condition on a row",
                "write prev(x), first(x) or an aggregate of matched rows, or compute it before",
            )
        if not self._speaks_of_others():
            return Value(self.shared.row(self.text))
        if any(token["comment"] for token in self.tokens):
            raise self._wrong("has a comment, which is not read here", "leave the comment out")
        part = self._or()
        if self.at < len(self.tokens):
            raise self._wrong(f"has {self._next!r} where it should end or go on")
        return self._node(part)

    def _speaks_of_others(self) -> bool:
        """Whether it needs more than the current row."""
        words = [(one["name"] or "").lower() for one in self.tokens]
        signs = [*(one["sign"] or "" for one in self.tokens), ""]
        functions = (*NAVIGATION, *AGGREGATES, *_NOT_READ)
        return any(
            (word in functions and signs[at + 1] == "(")
            or (self._variable(self.tokens[at]) and signs[at + 1] == ".")
            for at, word in enumerate(words)
        )

    def _variable(self, token: re.Match[str]) -> str:
        """The variable that a token before a dot names, in quotes or not. Otherwise empty."""
        word = token["name"] or token["text"] or ""
        quote = word[:1]
        if quote in ("`", '"'):
            word = quote.join(word[1:-1].split(quote * 2))
        return self.shared.variables.get(word.lower(), "")

    @property
    def _next(self) -> str:
        return self.tokens[self.at][0].strip() if self.at < len(self.tokens) else ""

    @property
    def _word(self) -> str:
        """The next token, if it is a name without quotes, in small letters."""
        word = self.tokens[self.at]["name"] if self.at < len(self.tokens) else None
        return word.lower() if word and not word.startswith("`") else ""

    @property
    def _begin(self) -> int:
        return _begin(self.tokens[self.at])

    def _take(self, wanted: str = "") -> re.Match[str]:
        if self.at == len(self.tokens):
            raise self._wrong(f"ends where {wanted!r} is needed" if wanted else "ends too early")
        if wanted and self._next.lower() != wanted:
            raise self._wrong(f"has {self._next!r} where {wanted!r} is needed")
        self.at += 1
        return self.tokens[self.at - 1]

    def _node(self, part: _Part) -> Node:
        """The tree of a part; of SQL of a row, its value at the place that its variable gives."""
        if part.tree is not None:
            return part.tree
        place = Place()
        if part.variables:
            (variable,) = part.variables
            place = Place("last", variable)
        return Value(self.shared.row(self._sql(part)), place)

    def _sql(self, part: _Part) -> str:
        """The text of a part without the variables that qualify its columns."""
        tokens = [t for t in self.tokens if part.begin <= _begin(t) and t.end() <= part.end]
        written, at = "", part.begin
        for before, one, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
            inner = before is not None and before["sign"] == "."
            dotted = after is not None and after["sign"] == "."
            if dotted and not inner and self._variable(one):
                written += self.text[at : _begin(one)]
                at = after.end() if after is not None else at
        return (written + self.text[at : part.end]).strip()

    def _joined(self, name: str, parts: Sequence[_Part], begin: int, end: int) -> _Part:
        """Parts under an operator; Spark computes it if it is SQL of one row."""
        variables = frozenset[str]().union(*(part.variables for part in parts))
        alike = len({part.variables for part in parts if not self._is_constant(part)}) <= 1
        one = alike and len(variables) <= 1 and all(part.in_sql for part in parts)
        if variables and not self.within:
            if name in _OF_NULL:  # Spark has no row to compute it of where a variable has none
                return _Part(begin, end, Operation(name, tuple(map(self._node, parts))))
            if name in _OTHERS_OF_NULL:
                raise self._wrong(
                    f"has {name}(…) of a variable, which may have no row",
                    f"write coalesce(…) or is null, or {self._navigation}({name}(…)), null where "
                    "there is no row",
                )
            if name in _COMPUTED:  # a.x > 3 by the same rules as last(a.x) > 3
                tree = Operation(name, tuple(map(self._node, parts)))
                return _Part(begin, end, tree, variables, one)
        if one:
            return _Part(begin, end, None, variables)
        return _Part(begin, end, Operation(name, tuple(map(self._node, parts))))

    def _is_constant(self, part: _Part) -> bool:
        """Whether a part is the same for all rows, as far as its text tells."""
        found = _TOKEN.finditer(self.text, part.begin, part.end)
        return part.tree is None and not any(one["name"] for one in found)

    def _level(self, operators: Mapping[str, str], operand: Callable[[], _Part]) -> _Part:
        part = operand()
        while (sign := self._word or self._next) in operators:
            self._take()
            right = operand()
            part = self._joined(operators[sign], (part, right), part.begin, right.end)
        return part

    def _or(self) -> _Part:
        if self.depth == DEEPEST:
            raise self._wrong("is nested too deeply")
        self.depth += 1
        part = self._level({"or": "or"}, self._and)
        self.depth -= 1
        return part

    def _and(self) -> _Part:
        return self._level({"and": "and"}, self._not)

    def _not(self) -> _Part:
        if self._word != "not":
            return self._comparison()
        begin = self._begin
        self._take()
        part = self._not()
        return self._joined("not", (part,), begin, part.end)

    def _comparison(self) -> _Part:
        part = self._sum()
        while True:
            sign = _SIGNS.get(self._next, self._next)
            if sign in ("=", "<>", "<", "<=", ">", ">=", "<=>"):
                self._take()
                right = self._sum()
                part = self._joined(sign, (part, right), part.begin, right.end)
            elif self._word == "is":
                part = self._is(part)
            elif self._word in ("not", "between", "in", "like", "ilike", "rlike", "regexp"):
                part = self._range(part)
            else:
                return part

    def _is(self, part: _Part) -> _Part:
        """``IS [NOT] NULL``, ``TRUE`` or ``FALSE``."""
        self._take()
        negated = self._word == "not"
        if negated:
            self._take()
        word, end = self._word, self._take().end()
        if word not in ("null", "true", "false"):
            raise self._wrong(f"has 'is {word}', which is not read around matched rows")
        found = self._joined(f"is {word}", (part,), part.begin, end)
        return self._negated(found) if negated else found

    def _negated(self, part: _Part) -> _Part:
        if part.tree is None:  # the text already says it
            return part
        return part._replace(tree=Operation("not", (part.tree,)))

    def _range(self, part: _Part) -> _Part:
        """``[NOT] BETWEEN … AND …``, ``IN (…)`` or, of SQL of a row, ``LIKE …``."""
        negated = self._word == "not"
        if negated:
            self._take()
        word = self._word
        self._take()
        if word == "between":
            low = self._sum()
            self._take("and")
            high = self._sum()
            found = self._joined("between", (part, low, high), part.begin, high.end)
        elif word == "in":
            self._take("(")
            parts = [part, self._sum()]
            while self._next == ",":
                self._take(",")
                parts.append(self._sum())
            found = self._joined("in", parts, part.begin, self._take(")").end())
        else:
            right = self._sum()
            found = self._joined(word, (part, right), part.begin, right.end)
            if found.tree is not None:
                raise self._wrong(f"has {word} around matched rows")
        return self._negated(found) if negated else found

    def _sum(self) -> _Part:
        return self._level({"+": "+", "-": "-", "||": "||"}, self._product)

    def _product(self) -> _Part:
        return self._level({"*": "*", "/": "/", "%": "%"}, self._sign)

    def _sign(self) -> _Part:
        if self._next not in ("-", "+"):
            return self._operand()
        begin, sign = self._begin, self._take()[0].strip()
        part = self._sign()
        return self._joined(f"{sign} of", (part,), begin, part.end)

    def _operand(self) -> _Part:
        """A constant, a name, a call, or something in brackets."""
        if self.at == len(self.tokens):
            raise self._wrong("ends too early")
        begin, word = self._begin, self._word
        token = self._take()
        if self._next == "(" and token["name"]:
            return self._call(begin, word or token[0].strip())
        if token["sign"] == "(":
            part = self._or()
            return part._replace(begin=begin, end=self._take(")").end())
        if word == "case":
            return self._case(begin)
        if word == "interval":
            return self._interval(begin)
        quoted = self.at < len(self.tokens) and self.tokens[self.at]["text"]
        if word in ("date", "timestamp") and quoted:
            return _Part(begin, self._take().end())
        if token["sign"] or word in _AFTER:
            raise self._wrong(f"has {token[0].strip()!r} where a value should be")
        named = token["name"] or (self._next == "." and self._variable(token))
        return self._name(begin, token) if named else _Part(begin, token.end())

    def _case(self, begin: int) -> _Part:
        """``CASE … END`` inside a function of matched rows; it is SQL of one row there."""
        if not self.within:
            raise self._wrong(
                "has CASE around matched rows",
                "write it with and, or and not, or inside: sum(case when x > 3 then 1 end)",
            )
        depth, variables = 1, set()
        while depth:
            token, word = self.tokens[self.at] if self.at < len(self.tokens) else None, self._word
            end = self._take().end()
            depth += {"case": 1, "end": -1}.get(word, 0)
            if token is not None and self._next == "." and self._variable(token):
                variables.add(self._variable(token))
        if len(variables) > 1:
            raise self._wrong("has CASE over several variables", "write one for each of them")
        return _Part(begin, end, None, frozenset(variables))

    def _interval(self, begin: int) -> _Part:
        """``INTERVAL '10' MINUTES``, ``INTERVAL '1:30' HOUR TO MINUTE``."""
        end = self._take().end()
        while self._word and self._word not in _AFTER:
            end = self._take().end()
        return _Part(begin, end)

    def _name(self, begin: int, token: re.Match[str]) -> _Part:
        """A column, perhaps of a variable, with fields of it."""
        end = token.end()
        variable = self._variable(token) if self._next == "." else ""
        if variable == self.name and not self.within:
            variable = ""  # the last row of the variable is the current one
        while self._next in (".", "["):
            if self._take()[0].strip() == ".":
                end = self._take().end()
            else:
                self._or()
                end = self._take("]").end()
        return _Part(begin, end, None, frozenset({variable} if variable else ()))

    def _call(self, begin: int, name: str) -> _Part:
        """A function call: over matched rows, around such calls, or left to Spark."""
        if name in _NOT_READ:
            raise self._wrong(*_NOT_READ[name])
        name = _ALIKE.get(name, name)
        outer, self.inside = self.inside, name
        if name in (*NAVIGATION, *AGGREGATES):
            if outer in (*NAVIGATION, *AGGREGATES) and not (outer == "prev" and name != "prev"):
                raise self._wrong(f"has {name}(…) inside {outer}(…)", "use one of the two")
            part = self._matched(begin, name)
            self.inside = outer
            return part
        self._take("(")
        if self._word == "distinct":
            raise self._wrong(f"has DISTINCT in {name}(…)", "leave it out")
        if name in ("cast", "try_cast"):
            return self._cast(begin, outer)
        parts = []
        while self._next != ")":
            parts.append(self._or())
            if self._next != ")":
                self._take(",")
        end = self._take(")").end()
        self.inside = outer
        if not parts:
            return _Part(begin, end)
        least, most = FUNCTIONS.get(name, (1, None))
        found = self._joined(name, parts, begin, end)
        if found.tree is not None and (
            name not in FUNCTIONS or len(parts) < least or (most and len(parts) > most)
        ):
            raise self._wrong(
                f"has {name} of {len(parts)} values around matched rows",
                "subtract: ts - prev(ts) < interval '1' hour" if name in _DIFFERENCES else
                f"call it inside, of one row: {self._navigation}({name}(…)); around matched rows "
                f"may be {', '.join(FUNCTIONS)}",
            )  # fmt: skip
        return found

    def _cast(self, begin: int, outer: str) -> _Part:
        """``CAST(… AS …)``, of SQL of a row."""
        part = self._or()
        if not part.in_sql:
            raise self._wrong(
                "has a cast around matched rows",
                f"cast inside: {self._navigation}(cast(x as int))",
            )
        depth = 1
        while depth:
            token = self._take()
            depth += {"(": 1, ")": -1}.get(token[0].strip(), 0)
        self.inside = outer
        return part._replace(begin=begin, end=token.end(), tree=None, of_row=False)

    def _matched(self, begin: int, name: str) -> _Part:
        """``prev``, ``first``, ``last`` or an aggregate, of the rows matched so far."""
        self._take("(")
        if self._word in ("running", "final", "distinct"):
            raise self._wrong(f"has {self._word.upper()} in {name}(…)", "leave it out")
        if name == "count" and self._next == "*":
            self._take()
            return _Part(begin, self._take(")").end(), Running("count", ANY, None))
        if name == "count" and self._counts_rows():
            variable = self._variable(self._take())
            self._take(".")
            self._take("*")
            return _Part(begin, self._take(")").end(), Running("count", variable, None))
        outer, self.within = self.within, True
        part = self._or()
        self.within = outer
        offset = self._offset(name) if self._next == "," and name in NAVIGATION else None
        end = self._take(")").end()
        if name in AGGREGATES:
            return _Part(begin, end, self._running(name, part))
        return _Part(begin, end, self._navigated(name, part, offset))

    def _counts_rows(self) -> bool:
        after = self.tokens[self.at : self.at + 3]
        signs = [one["sign"] for one in after[1:]]
        return signs == [".", "*"] and bool(self._variable(after[0]))

    def _offset(self, name: str) -> int:
        self._take(",")
        word = self._take()[0].strip()
        word += self._take()[0].strip() if word in ("-", "+") else ""
        if not word.isdecimal() or int(word) > FARTHEST:
            raise self._wrong(
                f"has {name}(…, {word}), which is not a whole number up to {FARTHEST:,}"
            )
        return int(word)

    def _running(self, name: str, part: _Part) -> Node:
        if part.tree is not None:
            raise self._wrong(f"has {name}(…) of something that is not SQL of a row")
        (variable,) = part.variables or {ANY}
        return Running(name, variable, self.shared.row(self._sql(part)))

    def _navigated(self, name: str, part: _Part, offset: int | None) -> Node:
        if part.tree is not None:
            inner = part.tree
            if name == "prev" and isinstance(inner, Value) and not inner.place.back:
                back = 1 if offset is None else offset
                place = inner.place
                return Value(inner.row, Place(place.at, place.variable, place.offset, back))
            raise self._wrong(f"has {name}(…) of something that is not SQL of a row")
        (variable,) = part.variables or {ANY}
        row = self.shared.row(self._sql(part))
        current = variable in (ANY, self.name)  # whose last row it is
        if name == "prev":
            back = 1 if offset is None else offset
            return Value(row, Place(back=back) if current else Place("last", variable, 0, back))
        if name == "last" and current and not offset:
            return Value(row)
        return Value(row, Place(name, variable, offset or 0))

    @property
    def _navigation(self) -> str:
        """The function of rows that the definition has, for advice."""
        words = [(one["name"] or "").lower() for one in self.tokens]
        return next((name for name in NAVIGATION if name in words), "last")

    def _wrong(self, why: str, instead: str = "") -> FanlightError:
        return refuse(
            f"define={{{self.name!r}: {self.text!r}}}",
            why,
            instead
            or "around prev, first, last, count, sum, avg, min and max use comparisons, and, or, "
            f"not, is null, between, in, + - * / % and {', '.join(FUNCTIONS)}",
        )


_NOT_READ = {
    "next": (
        "looks at a row that comes later: next(…)",
        "give the condition to the variable of the later row, with prev(…) of this one",
    ),
    "classifier": (
        "asks which variable a row matched: classifier()",
        "name the variable: count(a.*) > 0, or last(a.x)",
    ),
    "match_number": (
        "asks how many matches there were: match_number()",
        "leave it out; results have it as frame_id, from 0",
    ),
    "lag": ("asks for an earlier row: lag(…)", "write prev(x), or prev(x, 2)"),
    "lead": (
        "looks at a row that comes later: lead(…)",
        "give the condition to the variable of the later row, with prev(…) of this one",
    ),
}
