"""The files of a replay: listing them, reading their times, and reading rows by their numbers."""

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

LINES = 50_000  # lines of text that are parsed at once
BLOCK = 2**20  # bytes that are read at once
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".snappy", ".deflate")
_BOM = b"\xef\xbb\xbf"


def list_files(paths: Sequence[str]) -> list[str]:
    """The files at these paths; of a folder those that Spark would read, ordered by name."""
    files = []
    for path in paths:
        system, inside = pa_fs.FileSystem.from_uri(path)
        info = system.get_file_info(inside)
        if info.type == pa_fs.FileType.NotFound:
            raise refuse(f"replay of {path!r}", "finds no such file or folder", "check the path")
        if info.type == pa_fs.FileType.File:
            files.append(path)
            continue
        entries = system.get_file_info(pa_fs.FileSelector(inside))
        visible = [one for one in entries if not one.base_name.startswith(("_", "."))]
        folders = sorted(one.base_name for one in visible if one.type == pa_fs.FileType.Directory)
        if folders:
            raise refuse(
                f"replay of {path!r}",
                f"finds the folder {folders[0]!r} in it, whose name may hold a column",
                "give the folders that hold files as a list of paths, or write one folder of files",
            )
        files += sorted(f"{path.rstrip('/')}/{one.base_name}" for one in visible)
    return files


@dataclass
class File(ABC):
    """One file of a replay; ``kinds`` are the columns to read and their types."""

    path: str

    @abstractmethod
    def read_times(self, column: pa.Field) -> Any:
        """The times of all rows, in microseconds, in the order of the file."""

    @abstractmethod
    def read_rows(self, rows: Any, kinds: pa.Schema) -> pa.Table:
        """Read the rows with these numbers, which are in ascending order."""

    def keep_rows(self, _rows: Any) -> File:
        """The file as it is sent to where these rows are read: only what that needs."""
        return self

    def open(self) -> Any:
        """Open the file for reading at any position."""
        system, inside = pa_fs.FileSystem.from_uri(self.path)
        return system.open_input_file(inside)

    def to_micros(self, times: pa.ChunkedArray) -> Any:
        """Times as microseconds since 1970; refuses null."""
        if times.null_count:
            raise refuse(
                f"replay of {self.path!r}",
                f"finds {times.null_count} rows without a time, which never arrive",
                "remove them from the file first",
            )
        return times.cast(pa.int64()).to_numpy()

    def reading_error(self, error: Exception) -> FanlightError:
        """An error that names the file."""
        return refuse(
            f"replay of {self.path!r}",
            f"cannot read its rows as the schema says: {str(error).strip()}",
            "correct the file, or the schema",
        )


@dataclass
class Parquet(File):
    """A Parquet file, which is read by row groups."""

    def read_times(self, column: pa.Field) -> Any:
        """Read the column of times alone."""
        with self.open() as source:
            return self.to_micros(self._read(source, None, pa.schema([column])).column(0))

    def read_rows(self, rows: Any, kinds: pa.Schema) -> pa.Table:
        """Read the row groups that hold these rows, one after another."""
        with self.open() as source:
            data = self._open_parquet(source).metadata
            ends = np.cumsum([data.row_group(n).num_rows for n in range(data.num_row_groups)])
            groups = np.searchsorted(ends, rows, side="right")
            tables = []
            for group in np.unique(groups):
                begin = ends[group] - data.row_group(int(group)).num_rows
                read = self._read(source, int(group), kinds)
                tables.append(read.take(pa.array(rows[groups == group] - begin)))
            return pa.concat_tables([kinds.empty_table(), *tables])

    @staticmethod
    def _open_parquet(source: Any) -> pq.ParquetFile:
        # Spark may write times as INT96; in nanoseconds, those before 1678 would overflow.
        return pq.ParquetFile(source, coerce_int96_timestamp_unit="us")

    def _read(self, source: Any, group: int | None, kinds: pa.Schema) -> pa.Table:
        """Read one row group, or all, as these types; a column that the file lacks is null."""
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
    """A text file with a row per line; ``begins`` and ``ends`` are positions of lines in bytes."""

    begins: Any = field(default=None, repr=False)
    ends: Any = field(default=None, repr=False)

    def read_times(self, column: pa.Field) -> Any:
        """Read all lines, and remember their positions."""
        if self.path.endswith(_COMPRESSED):
            suffix = PurePosixPath(self.path).suffix
            raise refuse(
                f"replay of {self.path!r}",
                f"is of a compressed file ({suffix}), of which no row can be read alone",
                "decompress it, or write Parquet",
            )
        begins, ends = array("q"), array("q")
        with self.open() as source, io.BufferedReader(source, BLOCK) as buffered:
            blocks = self._read_lines(buffered, begins, ends)
            times = [self.parse(lines, pa.schema([column])).column(0) for lines in blocks]
        self.begins, self.ends = (np.frombuffer(one, np.int64) for one in (begins, ends))
        if not times:
            return np.zeros(0, np.int64)
        return self.to_micros(pa.chunked_array([chunk for one in times for chunk in one.chunks]))

    def _read_lines(self, source: Any, begins: Any, ends: Any) -> Iterator[list[bytes]]:
        """The lines of all rows, many at a time; their positions go to ``begins`` and ``ends``."""
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
        """Read the lines at the positions that :meth:`keep_rows` left."""
        lines = []
        with self.open() as source:
            for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True):
                source.seek(begin)
                lines.append(source.read(end - begin))
        return self.parse(lines, kinds)

    def keep_rows(self, rows: Any) -> Text:
        """The file with the positions of these rows alone."""
        return self.with_positions(self.begins[rows], self.ends[rows])

    def parse(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Parse lines into columns; an error names the file."""
        try:
            return self.to_table(lines, kinds)
        except (pa.ArrowException, ValueError, TypeError, ArithmeticError) as error:
            raise self.reading_error(error) from error

    @abstractmethod
    def take_header(self, line: bytes) -> bool:
        """Look at the first line; whether it is a header, and not a row."""

    @abstractmethod
    def to_table(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Parse lines into columns."""

    @abstractmethod
    def with_positions(self, begins: Any, ends: Any) -> Text:
        """The same file with the positions of other rows."""


@dataclass
class Json(Text):
    """A JSON file with an object per line."""

    def take_header(self, line: bytes) -> bool:  # noqa: ARG002 - JSON has no header
        """False: JSON has no header."""
        return False

    def to_table(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Parse objects into columns."""
        return parse_json(lines, kinds)

    def with_positions(self, begins: Any, ends: Any) -> Text:
        """The same file with the positions of other rows."""
        return Json(self.path, begins, ends)


@dataclass
class Csv(Text):
    """A CSV file with a row per line; with ``header``, its first line has the column names."""

    names: tuple[str, ...] = ()
    header: bool = True
    sep: str = ","

    def take_header(self, line: bytes) -> bool:
        """With ``header``, take the column names from the first line."""
        if not self.header:
            return False
        wanted, self.names = self.names, tuple(read_header(line, self.sep))
        missing = [name for name in wanted if name not in self.names]
        if missing:
            columns = ", ".join(map(repr, self.names))
            raise refuse(
                f"replay of {self.path!r}",
                f"finds no column {missing[0]!r} in its first line, which has {columns}",
                "correct the schema, or write header=False if that line is a row",
            )
        return True

    def to_table(self, lines: list[bytes], kinds: pa.Schema) -> pa.Table:
        """Parse fields into columns."""
        return parse_csv(lines, self.names, kinds, self.sep)

    def with_positions(self, begins: Any, ends: Any) -> Text:
        """The same file with the positions of other rows."""
        return Csv(self.path, begins, ends, self.names, self.header, self.sep)


def make_file(path: str, format: str, names: Sequence[str], *, header: bool, sep: str) -> File:
    """A file of this format; ``names`` are the schema's columns."""
    if format == "parquet":
        return Parquet(path)
    if format == "json":
        return Json(path)
    return Csv(path, names=tuple(names), header=header, sep=sep)


def reorder_rows(table: pa.Table, order: Any) -> pa.Table:
    """The rows of a table in another order."""
    return pc.take(table, pa.array(order))
