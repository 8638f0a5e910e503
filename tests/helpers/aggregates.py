"""What tests ask of aggregates, from the registry: requests such as ``("percentile", "v", 0.9)``.

A request names an aggregate, its columns (of ``tests.helpers.dataframes.SCHEMA``) and its further
arguments, as the oracle takes it.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from fanlight.engine.algebra.registry import Entry, Sample
from fanlight.engine.algebra.sql_text import find_places
from scripts.aggregates import library
from tests.oracle import aggregates as oracle

REGISTRY = library()

# The columns of each type, by the place of the argument.
COLUMNS = {
    "double": "vw",
    "bigint": "nn",
    "decimal(12,2)": "dd",
    "string": "ss",
    "boolean": ("ok", "ok"),
    "float": ("c", "c"),
}
# Names that tests pick requests by. All others are called as the aggregate, and with its columns
# where it has several samples.
NAMES = {
    ("count",): "rows",
    ("count", "v"): "n_v",
    ("first", "v"): "first",
    ("collect_list", "v"): "list_v",
    ("linear_fit", "v"): "fit",
}


@dataclass(frozen=True)
class Asked:
    """A sample of an aggregate over the columns of the tests."""

    entry: Entry
    sample: Sample

    @property
    def columns(self):
        """The columns it is asked of."""
        types = enumerate(self.sample.types)
        return tuple(COLUMNS[kind][min(at, 1)] for at, kind in types)

    @property
    def request(self):
        """As the oracle takes it."""
        return (self.entry.name, *self.columns, *self.entry.arguments(self.sample))

    @property
    def name(self):
        """What tests call its result."""
        alone = len(self.entry.plain) == 1
        once = ["once"] if ("distinct", True) in self.sample.options else []
        plain = "_".join([self.entry.name, *(() if alone else self.columns), *once])
        return NAMES.get((self.entry.name, *self.columns), plain)

    @property
    def monoids(self):
        return self.entry.monoids(self.sample)

    @property
    def invertible(self):
        return self.entry.invertible(self.sample)

    @property
    def takes_time(self):
        """Whether the result depends on when rows are, beyond their order."""
        return any("time" in find_places(monoid.value) for monoid in self.monoids)


def is_compared(sample):
    """Whether results can be held against an oracle: not the bytes of a sketch."""
    return sample.gives != "binary"


def compared_samples(registry=REGISTRY):
    """Every sample of every aggregate that can be compared, of windows of any kind."""
    return [
        Asked(entry, one)
        for entry in registry.values()
        for one in entry.samples
        if is_compared(one) and not any(monoid.framed for monoid in entry.monoids(one))
    ]


def requests(registry=REGISTRY, *, where=lambda _: True):
    """The requests of every aggregate by the names of their results; of some, with ``where``."""
    return {one.name: one.request for one in compared_samples(registry) if where(one)}


def call(request, registry=REGISTRY):
    """The aggregate of ``fanlight.agg`` that a request asks for."""
    if request[0] == "where":
        return call(request[1:], registry).where(f"{oracle.TESTED} > 0")
    if request[0] == "minus":
        return call(request[1], registry) - call(request[2], registry)
    name, columns, options = oracle.split(request)
    function = registry[name].function
    kinds = inspect.signature(function).parameters.items()
    names = [name for name, one in kinds if one.kind != one.VAR_POSITIONAL][len(columns) :]
    return function(*columns, **dict(zip(names, options, strict=False)))


def partial_of(one):
    """What decides how a sample is kept and read: where it is the same, so is all but SQL text."""
    partials = one.entry.partials(one.sample)
    fields = tuple((type(monoid), monoid.value) for monoid in partials.fields.values())
    places = find_places(partials.lower) & {"start", "scale"}
    return fields, one.sample.types, type(partials.reads), bool(partials.native), places


def of_rows(one):
    """Whether it can be asked of rows at instants."""
    return not any(monoid.divided for monoid in one.monoids)


def _of_events(one):
    """Whether it is the same of events that last."""
    return not any(monoid.at_instants for monoid in one.monoids)


EVERYTHING = requests(where=of_rows)

# The first of each way to keep and read one, and an expression of two: what each kind is asked.
_OWN = [
    one for one in compared_samples() if one.entry.call(one.sample).aggregate.name == one.entry.name
]
_FIRST = {partial_of(one): one for one in reversed(_OWN)}
MINUS = {"minus": ("minus", ("sum", "n"), ("count",))}
EACH = {one.name: one.request for one in _FIRST.values() if of_rows(one)} | MINUS
# The same of events that last: what is of parts of them can be computed in few ways.
OF_EVENTS = {
    one.name: one.request for one in _FIRST.values() if of_rows(one) and _of_events(one)
} | MINUS
OF_PARTS = requests(
    where=lambda one: not of_rows(one) or one.entry.call(one.sample).aggregate.of_events
)

# What can be taken back exactly: differences and cumulative sweeping take these.
EXACT = requests(where=lambda one: one.invertible)

# What does not depend on when rows are, beyond their order: times of fractions take these.
TIMELESS = requests(where=lambda one: of_rows(one) and not one.takes_time)

# What counts distinct values: a strategy of its own takes these.
DISTINCT = requests(where=lambda one: one.entry.name == "count_distinct")

# What is read off value counts, and found without them: a strategy of its own takes these.
READ = requests(where=lambda one: one.entry.reads(one.sample) is not None)

# What Spark has an aggregate of its own for, that gives the same result; of these, what it keeps
# all values for.
NATIVE = requests(where=lambda one: one.entry.partials(one.sample).native)
BY_SPARK = {
    name: NATIVE[name]
    for name in requests(where=lambda one: any(monoid.by_value for monoid in one.monoids))
    if name in NATIVE
}

# A few that between them use every kind of partial that matters to a strategy.
FEW = {
    name: EVERYTHING[name]
    for name in ("rows", "sum_v", "sum_d", "avg_v", "min_s", "max_v", "var_pop", "first", "list_v")
}
