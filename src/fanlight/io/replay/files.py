"""The files of a replay: found, their times read, and any of their rows by number."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq

from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.io.replay.text_lines import parse_csv, parse_json, read_header

LINES = 50_000  # of text, read at once for their times
BLOCK = 2**20  # bytes
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".snappy", ".deflate")
_BOM = b"\xef\xbb\xbf"


def list_files(paths: Sequence[str]) -> list[str]:
    """The files that paths lead to, by name; in a folder those that Spark would read, too."""
    listed = []
    for path in paths:
        system, inside = pa_fs.FileSystem.from_uri(path)
        info = system.get_file_info(inside)
        if info.type == pa_fs.FileType.NotFound:
            raise refuse(f"replay of {path!r}", "finds no such file or folder", "check the path")
        if info.type == pa_fs.FileType.File:
            listed.append(path)
            continue
        here = system.get_file_info(pa_fs.FileSelector(inside))
        shown = [one for one in here if not one.base_name.startswith(("_", "."))]
        deeper = sorted(one.base_name for one in shown if one.type == pa_fs.FileType.Directory)
        if deeper:
            raise refuse(
                f"replay of {path!r}",
                f"finds the folder {deeper[0]!r} in it, and names of folders may be columns",
                "give the folders with the files as a list of paths, or write them anew as one",
            )
        listed += sorted(f"{path.rstrip('/')}/{one.base_name}" for one in shown)
    return listed


@dataclass
class File(ABC):
    """One file; ``kinds`` are the columns that are wanted of it."""

    path: str

    @abstractmethod
    def read_times(self, column: pa.Field) -> Any:
        """The times of all rows, in microseconds, in the order of the file."""

    @abstractmethod
    def read_rows(self, rows: Any, kinds: pa.Schema) -> pa.Table:
        """The rows of these numbers, which rise."""

    def keep_rows(self, _rows: Any) -> File:
        """What is needed to read these rows elsewhere."""
        return self

    def open(self) -> Any:
        """The file, to be read at any place."""
        system, inside = pa_fs.FileSystem.from_uri(self.path)
        return system.open_input_file(inside)

    def to_micros(self, times: pa.ChunkedArray) -> Any:
        """Times as numbers; none may be null."""
        if times.null_count:
            raise refuse(
                f"replay of {self.path!r}",
                f"finds {times.null_count} rows without a time, which never arrive",
                "leave them out of the file first",
            )
        return times.cast(pa.int64()).to_numpy()

    def reading_error(self, error: Exception) -> FanlightError:
        """What is wrong with the file."""
        return refuse(
            f"replay of {self.path!r}",
            f"cannot read its rows in the columns of the schema: {str(error).strip()}",
            "mend the file, or the schema",
        )


@dataclass
class Parquet(File):
    """A Parquet file, of which row groups are read."""

    def read_times(self, column: pa.Field) -> Any:
        """Read that column alone."""
        with self.open() as source:
            return self.to_micros(self._read(source, None, pa.schema([column])).column(0))

    def read_rows(self, rows: Any, kinds: pa.Schema) -> pa.Table:
        """Read the row groups with these rows, one after another."""
        with self.open() as source:
            data = self._open_parquet(source).metadata
            ends = np.cumsum([data.row_group(n).num_rows for n in range(data.num_row_groups)])
            groups = np.searchsorted(ends, rows, side="right")
            made = []
            for group in np.unique(groups):
                begin = ends[group] - data.row_group(int(group)).num_rows
                read = self._read(source, int(group), kinds)
                made.append(read.take(pa.array(rows[groups == group] - begin)))
            return pa.concat_tables([kinds.empty_table(), *made])

    @staticmethod
    def _open_parquet(source: Any) -> pq.ParquetFile:
        # Spark's own times, 96 bits: as nanoseconds those of before 1678 would overflow.
        return pq.ParquetFile(source, coerce_int96_timestamp_unit="us")

    def _read(self, source: Any, group: int | None, kinds: pa.Schema) -> pa.Table:
        """One row group, or all of them, in these types; a column that is not there is null."""
        try:
            file = self._open_parquet(source)
            names = [name for name in kinds.names if name in file.schema_arrow.names]
            given = {"columns": names, "use_threads": False}
            read = file.read(**given) if group is None else file.read_row_group(group, **given)
            count = file.metadata.num_rows if group is None else read.num_rows
            columns = [
                read.column(f.name).cast(f.type)
                if f.name in names
                else pa.chunked_array([pa.nulls(count, f.type)])
                for f in kinds
            ]
            return pa.Table.from_arrays(columns, schema=kinds)
        except (pa.ArrowException, ValueError) as error:
            raise self.reading_error(error) from error


@dataclass
class Text(File):
    """A file of lines, each a row, and where its rows begin and end."""

    begins: Any = field(default=None, repr=False)
    ends: Any = field(default=None, repr=False)

    def read_times(self, column: pa.Field) -> Any:
        """Read all lines, and note where they are."""
        if self.path.endswith(_PACKED):
            suffix = PurePosixPath(self.path).suffix
            raise refuse(
                f"replay of {self.path!r}",
                f"is of a packed file ({suffix}), of which no row can be read alone",
                "unpack it, or write Parquet",
            )
        begins, ends = array("q"), array("q")
        with self.open() as source, io.BufferedReader(source, BLOCK) as buffered:
            some = self._read_lines(buffered, begins, ends)
            made = [self.parse(lines, pa.schema([column])).column(0) for lines in some]
        self.begins, self.ends = (np.frombuffer(one, np.int64) for one in (begins, ends))
        if not made:
            return np.zeros(0, np.int64)
        return self.to_micros(pa.chunked_array([chunk for one in made for chunk in one.chunks]))

    def _read_lines(self, source: Any, begins: Any, ends: Any) -> Iterator[list[bytes]]:
        """All rows, many at a time; notes where they are."""
        at, lines, first = 0, [], True
        for line in source:
            begin, at = at, at + len(line)
            row = line.removeprefix(_BOM) if begin == 0 else line
            if not row.strip():
                continue
            if first and self.take_header(row):
                first = False
                continue
            first = False
            begins.append(at - len(row))
            ends.append(at)
            lines.append(row)
            if len(lines) == LINES:
                yield lines
                lines = []
        if lines:
            yield lines

    def read_rows(self, rows: Any, kinds: pa.Schema) -> pa.Table:  # noqa: ARG002 - see `keep_rows`
        """Read the lines that are noted."""
        lines = []
        with self.open() as source:
            for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True):
                source.seek(begin)
                lines.append(source.read(end - begin))
        return self.parse(lines, kinds)

    def keep_rows(self, rows: Any) -> Text:
        """The file with the places of these rows alone."""
        return self.with_places(self.begins[rows], self.ends[rows])

    def parse(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Rows as columns."""
        try:
            return self.to_table(lines, kinds)
        except (pa.ArrowException, ValueError, TypeError, ArithmeticError) as error:
            raise self.reading_error(error) from error

    @abstractmethod
    def take_header(self, line: bytes) -> bool:
        """Look at the first line; whether it is no row."""

    @abstractmethod
    def to_table(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Rows as columns."""

    @abstractmethod
    def with_places(self, begins: Any, ends: Any) -> Text:
        """The same file with other rows."""


@dataclass
class Json(Text):
    """A file of JSON, an object a line."""

    def take_header(self, line: bytes) -> bool:  # noqa: ARG002 - there is no heading
        """No line is."""
        return False

    def to_table(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Objects as columns."""
        return parse_json(lines, kinds)

    def with_places(self, begins: Any, ends: Any) -> Text:
        """The same file with other rows."""
        return Json(self.path, begins, ends)


@dataclass
class Csv(Text):
    """A file of CSV, a row a line, with names in its first line if ``header``."""

    names: tuple[str, ...] = ()
    header: bool = True
    sep: str = ","

    def take_header(self, line: bytes) -> bool:
        """Take the names of the columns from it."""
        if not self.header:
            return False
        wanted, self.names = self.names, tuple(read_header(line, self.sep))
        missing = [name for name in wanted if name not in self.names]
        if missing:
            there = ", ".join(map(repr, self.names))
            raise refuse(
                f"replay of {self.path!r}",
                f"finds no column {missing[0]!r} in its first line, which has {there}",
                "mend the schema, or write header=False if that line is a row",
            )
        return True

    def to_table(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Fields as columns."""
        return parse_csv(lines, self.names, kinds, self.sep)

    def with_places(self, begins: Any, ends: Any) -> Text:
        """The same file with other rows."""
        return Csv(self.path, begins, ends, self.names, self.header, self.sep)


def make_file(path: str, format: str, names: Sequence[str], *, header: bool, sep: str) -> File:
    """A file by its format; ``names`` are those of the schema."""
    if format == "parquet":
        return Parquet(path)
    if format == "json":
        return Json(path)
    return Csv(path, names=tuple(names), header=header, sep=sep)


def reorder_rows(table: pa.Table, order: Any) -> pa.Table:
    """The rows of a table in another order."""
    return pc.take(table, pa.array(order))
