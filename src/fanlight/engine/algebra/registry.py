"""The registry of aggregates: one entry each, from which tests, exports and docs follow."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, TypeVar, cast

from fanlight.engine.algebra.aggregate import ARGUMENTS, Call, Partials
from fanlight.engine.algebra.facts import why_not_invertible
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.ordering import Reading
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.frames.limits import RUNNING

# Where Spark's function of the same name means the same: nowhere, if it is given only names of
# columns, or given any Columns.
Alike = Literal["", "columns", "any"]
Function = TypeVar("Function", bound=Callable[..., Call])


@dataclass(frozen=True)
class Sample:
    """One way to call an aggregate. All tests of aggregates make this call.

    Parameters
    ----------
    types
        The Spark types of its columns.
    gives
        The Spark type of its result.
    options
        Its further arguments, by name.

    """

    types: tuple[str, ...]
    gives: str
    options: tuple[tuple[str, Any], ...] = ()


def sample(*types: str, gives: str, **options: Any) -> Sample:
    """A :class:`Sample`: column types, the type of the result, further arguments by name."""
    return Sample(types, gives, tuple(options.items()))


@dataclass(frozen=True)
class Entry:
    """An aggregate of the library: its function, and samples of how it is called.

    Parameters
    ----------
    function
        The public function, which makes the call.
    samples
        How it is called.
    names
        Its other names in ``pyspark.sql.functions``, and in SQL.
    in_sql
        Its names that only SQL has.
    shown
        Whether Spark shows results under its other names, too, and not only under the first.
    alike
        Where Spark's functions of its names mean the same.
    after_share
        What Spark shows after a column and a share, if its function was given nothing else.
    ordered
        Its name in SQL before ``WITHIN GROUP (ORDER BY x)``, where ``x`` is its column.
    in_row_order
        Whether ``WITHIN GROUP`` in SQL names the order of its rows.
    together
        Spark's function that makes one column of several, if it would take that.

    """

    function: Callable[..., Call]
    samples: tuple[Sample, ...]
    names: tuple[str, ...] = ()
    in_sql: tuple[str, ...] = ()
    shown: bool = True
    alike: Alike = ""
    after_share: str = ""
    ordered: str = ""
    in_row_order: bool = False
    together: str = ""

    @property
    def plain(self) -> tuple[Sample, ...]:
        """The samples in which it takes every row, not each value once."""
        return tuple(one for one in self.samples if ("distinct", True) not in one.options)

    @property
    def name(self) -> str:
        """What it is called in ``fanlight.agg``."""
        return self.function.__name__

    def call(self, given: Sample) -> Call:
        """The call of a sample, over columns ``x``, ``y``, ``z``."""
        return self.function(*ARGUMENTS[: len(given.types)], **dict(given.options))

    def arguments(self, given: Sample) -> tuple[Any, ...]:
        """A sample's further arguments in the function's order; defaults where it has none."""
        signature = inspect.signature(self.function)
        bound = signature.bind(*ARGUMENTS[: len(given.types)], **dict(given.options))
        bound.apply_defaults()
        names = [n for n, one in signature.parameters.items() if one.kind != one.VAR_POSITIONAL]
        end = max((names.index(name) + 1 for name, _ in given.options), default=0)
        return tuple(bound.arguments[name] for name in names[len(given.types) : end])

    def partials(self, given: Sample) -> Partials:
        """What is kept for a sample, and how its result is read off it."""
        return self.call(given).aggregate.partials(given.types)

    def monoids(self, given: Sample) -> tuple[Monoid, ...]:
        """The fields of a sample's partial."""
        return tuple(self.partials(given).fields.values())

    def reads(self, given: Sample) -> Reading | None:
        """What a sample reads off value counts, if that has a name."""
        return self.partials(given).reads

    def invertible(self, given: Sample) -> bool:
        """Whether rows can be taken back out of a sample's partial, exactly."""
        return not any(why_not_invertible(monoid, given.types) for monoid in self.monoids(given))


class Registry(Mapping[str, Entry]):
    """Aggregates by name. ``AGGREGATES`` holds the library's; a test may make its own.

    >>> mine = Registry()
    >>> @mine.aggregate(sample("double", gives="double"))
    ... def biggest(column):
    ...     "The greatest value."
    ...     from fanlight import agg
    ...     return agg.max(column).alias("biggest")
    >>> list(mine), mine["biggest"].invertible(mine["biggest"].samples[0])
    (['biggest'], False)
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def aggregate(
        self,
        *samples: Sample,
        names: tuple[str, ...] = (),
        in_sql: tuple[str, ...] = (),
        shown: bool = True,
        alike: Alike = "",
        after_share: str = "",
        ordered: str = "",
        in_row_order: bool = False,
        together: str = "",
    ) -> Callable[[Function], Function]:
        """Enter a function as an aggregate, with what :class:`Entry` says of it; a decorator."""

        def enter(function: Function) -> Function:
            name = function.__name__
            if not samples:
                raise refuse(
                    f"the aggregate {name!r}",
                    "has no sample, so nothing would test it",
                    "write for example @aggregate(sample('double', gives='double'))",
                )
            taken = {*self, *self.names}
            if taken & {name, *names, *in_sql} or name.startswith("_"):
                raise refuse(
                    f"the aggregate {name!r}",
                    "is there already or not public",
                    "choose a new name without a leading underscore",
                )
            entered = _explain(_keep_options(function), name, samples[0], together)
            self._entries[name] = Entry(
                entered,
                samples,
                names,
                in_sql,
                shown,
                alike,
                after_share,
                ordered,
                in_row_order,
                together,
            )
            return entered

        return enter

    def name_anew(self, function: Function, name: str) -> Function:
        """The function of an aggregate under another name of Spark's."""
        usual = function.__name__

        @wraps(function)
        def call(*given: Any, **named: Any) -> Call:
            return self.call_by(function(*given, **named), name)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = f"Another name for agg.{usual}."
        entry = self[usual]
        return cast("Function", _explain(call, name, entry.samples[0], entry.together))

    def complete_docstrings(self) -> None:
        """Write into the docstrings what follows from entries: types of results, and errors."""
        for entry in self.values():
            entry.function.__doc__ = _complete_docstring(entry)

    def call_by(self, call: Call, name: str) -> Call:
        """A call by a name, which its result has if Spark's own result has it."""
        other = name in self.names and self[self.names[name]].shown
        return replace(call, synonym=name) if other else call

    @property
    def others(self) -> dict[str, str]:
        """Other names in ``fanlight.agg``, each with that of the aggregate."""
        return {other: name for name, entry in self.items() for other in entry.names}

    @property
    def names(self) -> dict[str, str]:
        """Other names in Spark and SQL, each with that of the aggregate."""
        only = {other: name for name, entry in self.items() for other in entry.in_sql}
        return self.others | only

    @property
    def in_sql(self) -> dict[str, str]:
        """The names of aggregates in SQL, each with its name here."""
        return {name: name for name in self} | self.names

    @property
    def ordered(self) -> dict[str, str]:
        """The names in SQL before ``WITHIN GROUP (ORDER BY x)``, each with its name here."""
        return {entry.ordered: name for name, entry in self.items() if entry.ordered}

    @property
    def watchable(self) -> list[str]:
        """The aggregates that the limit of a frame can watch, those that never fall first."""
        calls = [(name, entry.call(entry.samples[0])) for name, entry in self.items()]
        ranked = [
            (list(RUNNING).index(call.aggregate.watched), call.exact is not None, name)
            for name, call in calls
            if call.aggregate.name == name and not RUNNING[call.aggregate.watched].why_not
        ]
        return [name for _, _, name in sorted(ranked)]

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


def _explain(function: Function, name: str, given: Sample, together: str) -> Function:
    """The function of an aggregate, which says how it is called to those who call it wrongly."""
    columns = list(map(repr, ARGUMENTS[: len(given.types)]))
    example = ", ".join([*columns, *(f"{n}={v!r}" for n, v in given.options)])
    one_by_one = f"agg.{name}" if name == "count" or len(columns) == 1 else ""
    one_column = together and f"F.{together}"
    return explain_wrong_calls(f"agg.{name}({example})", one_column, one_by_one)(function)


def sections(text: str) -> dict[str, str]:
    r"""The sections of a docstring in numpy style by their titles; "" is what stands before them.

    >>> sections("Add.\n\n    Notes\n    -----\n    Of numbers.")
    {'': 'Add.', 'Notes': 'Of numbers.'}
    """
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(text), flags=re.MULTILINE)
    titles = ["", *parts[1::2]]
    return {name: body.strip() for name, body in zip(titles, parts[::2], strict=True)}


def _complete_docstring(entry: Entry) -> str:
    """The docstring, with the type of the result if it says none, and the errors of all alike."""
    said = sections(entry.function.__doc__ or "")
    fullest = max(entry.samples, key=lambda one: len(one.types))
    if fullest.types:
        needs = entry.call(fullest).aggregate.needs
        unless = f", or is not {'of ' * needs.startswith('a type')}{needs}" * (needs != "a column")
        own = " ".join(said.get("Raises", "FanlightError").split()[1:])
        text = f"By the windows' agg: if a column is not there{unless}. {own}"
        said["Raises"] = f"FanlightError\n{textwrap.indent(textwrap.fill(text, 92), ' ' * 4)}"
    if "Returns" not in said:
        kinds = {one.gives for one in entry.samples}
        as_given = all(one.gives == one.types[0] for one in entry.samples) and len(kinds) > 1
        returned = "value of the column's type" if as_given else " or ".join(sorted(kinds))
        said["Returns"] = f"Call\n    A {returned}."
    first = said.pop("")
    order = [name for name in _SECTIONS if name in said]
    return "\n\n".join([first, *(f"{n}\n{'-' * len(n)}\n{said[n]}" for n in order)]) + "\n"


_SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples")


def _keep_options(function: Function) -> Function:
    """The function, whose calls know what it was given besides columns."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*given: Any, **named: Any) -> Call:
        made = function(*given, **named)
        if not isinstance(made, Call):
            return made
        asked = signature.bind(*given, **named).arguments
        columns = list(signature.parameters)[: len(made.columns)]
        return replace(made, options={n: v for n, v in asked.items() if n not in columns})

    return cast("Function", call)


AGGREGATES = Registry()
Call.library = AGGREGATES
aggregate, name_anew = AGGREGATES.aggregate, AGGREGATES.name_anew
