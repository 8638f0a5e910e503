"""Compiles an episode to numbers, and searches pages of windows for its occurrences.

A page is searched once, not window by window: an occurrence depends only on the rows from its first
to its last, and arithmetic says which window it belongs to. Where rows have been left out, a new
run begins, as no new occurrence of at most ``max_rows`` rows can reach across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fanlight.engine.kernels.episodes import occurrences
from fanlight.engine.operators.arrow_tables import Ints, as_array, convert_times, ints
from fanlight.engine.operators.search import PageFormat, owned_matches
from fanlight.engine.operators.widening import Page
from fanlight.engine.spec.episode import Episode, Event, Literal, Variable
from fanlight.engine.spec.errors import advise_choice, refuse

Bools = NDArray[np.bool_]
SPAN = ("started", "ended", "rows")


@dataclass(frozen=True)
class Matches:
    """Minimal occurrences: their first rows, last rows, and (occurrence, event) -> row."""

    first: Ints
    last: Ints
    rows: Ints

    def take(self, which: Ints | Bools) -> Matches:
        """Some of the occurrences."""
        return Matches(self.first[which], self.last[which], self.rows[which])


@dataclass(frozen=True)
class Matcher:
    """An episode over columns of known types."""

    episode: Episode
    kinds: dict[str, pa.DataType]
    max_rows: int

    @classmethod
    def compile(
        cls, episode: Episode, schema: pa.Schema, max_rows: int, known: Sequence[str] = ()
    ) -> Matcher:
        """Check that the columns of an episode exist and that their types allow its comparisons.

        ``schema`` has those that exist, and ``known`` are the names of all columns.
        """
        kinds = {}
        for name in episode.columns:
            if name not in schema.names:
                raise refuse(
                    f"{episode!r}",
                    f"names a column {name!r}, which does not exist",
                    f"{advise_choice(name, known or schema.names)}; the columns of event and "
                    "result are Episode(…, event=, result=)",
                )
            kinds[name] = schema.field(name).type
        if not _is_text(kinds[episode.event]):
            raise refuse(
                f"event={episode.event!r}",
                f"is of type {kinds[episode.event]}, but events are named by text",
                "name a string column",
            )
        homes: dict[str, str] = {}
        for event in episode.events:
            for column, term in event.terms:
                if isinstance(term, Literal):
                    _check_literal(episode, column, term, kinds[column])
                elif term.name != "_":
                    home = homes.setdefault(term.name, column)
                    if _family(kinds[home]) != _family(kinds[column]):
                        raise refuse(
                            f"{episode!r}",
                            f"compares {home!r} ({kinds[home]}) with {column!r} ({kinds[column]}) "
                            f"by the variable {term.name!r}",
                            "cast one of them first",
                        )
        return cls(episode, kinds, max_rows)

    @property
    def variable_columns(self) -> dict[str, str]:
        """For each variable, the column of its first use."""
        return {name: column for name, (_, column) in self._first_uses().items()}

    def _first_uses(self) -> dict[str, tuple[int, str]]:
        """For each variable, the event and the column of its first use."""
        uses: dict[str, tuple[int, str]] = {}
        for number, event in enumerate(self.episode.events):
            for column, term in event.terms:
                if isinstance(term, Variable) and term.name != "_":
                    uses.setdefault(term.name, (number, column))
        return uses

    def search(self, rows: pa.Table, begins: Bools) -> Matches:
        """Find minimal occurrences in runs of rows; ``begins`` is true where a run starts."""
        episode = self.episode
        columns = {name: as_array(rows[name]) for name in episode.columns}
        values, indices = self._encode_shared_values(columns)
        names = columns[episode.event]
        may = np.zeros(len(names), np.int64)
        for number, event in enumerate(episode.events):
            may |= self._rows_that_fit(event, names, columns) << number
        where = np.full((len(episode.events), len(episode.shared)), -1, np.int64)
        for number, event in enumerate(episode.events):
            for column, term in event.terms:
                if isinstance(term, Variable) and term.name in episode.shared:
                    where[number, episode.shared.index(term.name)] = indices[column, term.name]
        steps = [at for at, step in enumerate(episode.steps) for _ in step]
        wholes = [0] * len(episode.steps)
        for number, step in enumerate(steps):
            wholes[step] |= 1 << number
        return Matches(
            *occurrences(
                may,
                begins,
                values,
                where,
                np.array(steps, np.int64),
                np.array(wholes, np.int64),
                self.max_rows,
            )
        )

    def variable_values(self, rows: pa.Table, matches: Matches) -> list[pa.Array]:
        """A column for each variable: its value in each occurrence."""
        return [
            as_array(rows[column]).take(pa.array(matches.rows[:, event]))
            for event, column in (self._first_uses()[name] for name in self.episode.variables)
        ]

    def _rows_that_fit(self, event: Event, names: pa.Array, columns: dict[str, pa.Array]) -> Ints:
        """1 for each row that can be the event, leaving shared variables aside, else 0."""
        parts = [_rows_equal_to(names, event.name)]
        first: dict[str, str] = {}
        for column, term in event.terms:
            values = columns[column]
            if isinstance(term, Literal):
                parts.append(_rows_equal_to(values, term.value))
            elif term.name != "_":
                parts.append(np.asarray(values.is_valid()))
                home = first.setdefault(term.name, column)
                if home != column:  # the event uses the variable twice
                    parts.append(_null_as_false(pc.equal(values, columns[home])))
        fits: Ints = reduce(np.logical_and, parts).astype(np.int64)
        return fits

    def _encode_shared_values(
        self, columns: dict[str, pa.Array]
    ) -> tuple[Ints, dict[tuple[str, str], int]]:
        """Encode the columns of shared variables as numbers that are equal where values are.

        Returns the encoded columns, and the index of each (column, variable) among them.
        """
        size = len(columns[self.episode.event])
        encoded: list[Ints] = []
        indices: dict[tuple[str, str], int] = {}
        for name in self.episode.shared:
            mine = dict.fromkeys(
                column
                for event in self.episode.events
                for column, term in event.terms
                if isinstance(term, Variable) and term.name == name
            )
            coded = _encode_columns([columns[column] for column in mine])
            for column, values in zip(mine, coded, strict=True):
                indices[column, name] = len(encoded)
                encoded.append(values)
        if not encoded:
            return np.zeros((0, size), np.int64), indices
        return np.ascontiguousarray(np.stack(encoded)), indices


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _family(kind: pa.DataType) -> str:
    return "integer" if pa.types.is_integer(kind) else str(kind)


def _check_literal(episode: Episode, column: str, term: Literal, kind: pa.DataType) -> None:
    fits = pa.types.is_integer(kind) if isinstance(term.value, int) else _is_text(kind)
    if not fits:
        wanted = "a quoted text" if _is_text(kind) else "a number"
        if not (_is_text(kind) or pa.types.is_integer(kind)):
            wanted = "a variable, or cast the column to string"
        raise refuse(
            f"{episode!r}",
            f"compares {column!r}, which is of type {kind}, with {term}",
            f"write {wanted}",
        )


def _null_as_false(column: Any) -> Bools:
    flags: Bools = np.asarray(column.fill_null(False))  # noqa: FBT003
    return flags


def _rows_equal_to(values: pa.Array, wanted: str | int) -> Bools:
    if isinstance(wanted, int) and not -(2**63) <= wanted < 2**63:
        return np.zeros(len(values), np.bool_)
    if isinstance(wanted, int):
        return _null_as_false(pc.equal(values.cast(pa.int64()), wanted))
    return _null_as_false(pc.equal(values, wanted))


def _encode_columns(columns: Sequence[pa.Array]) -> list[Ints]:
    """Encode columns as numbers that are equal, across all of them, where values are equal."""
    if pa.types.is_integer(columns[0].type):
        return [ints(column.cast(pa.int64()).fill_null(0)) for column in columns]
    together = pa.chunked_array([column.cast(columns[0].type) for column in columns])
    codes = ints(as_array(together).dictionary_encode().indices.fill_null(-1))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return list(np.split(codes, ends))


@dataclass(frozen=True)
class EpisodeSearch:
    """Searches each page for an episode that lasts ``longest`` at most."""

    format: PageFormat
    matcher: Matcher
    longest: int

    def __call__(self, page: Page) -> list[pa.Table]:
        """Output rows for the occurrences that a window of the page has to report."""
        self.format.warn_if_dense(page)
        rows = self.format.rows_of(page)
        hits = self.matcher.search(rows, np.asarray(as_array(page.rows["gap"])))
        if not len(hits.first):
            return []
        times = ints(page.rows["t"])
        hits = hits.take(times[hits.last] - times[hits.first] <= self.longest)
        mine, windows = owned_matches(
            page.windows, self.format.levels, times, hits.first, hits.last
        )
        if not len(mine):
            return []
        owned = hits.take(mine)
        columns = self.matcher.variable_values(rows, owned)
        when = self.format.result.field(SPAN[0]).type
        columns += [
            convert_times(pa.array(times[place]), when) for place in (owned.first, owned.last)
        ]
        columns.append(pa.array(owned.last - owned.first + 1))
        matches = pa.table(columns, schema=self.format.result)
        return [self.format.make_output(page, windows, matches)]
