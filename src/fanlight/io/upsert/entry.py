"""``fl.upsert``: checks where rows go, and makes the function that writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType

from fanlight.engine.algebra.stored import NOTE
from fanlight.engine.arrow import to_arrow
from fanlight.engine.spark.foreign_frames import in_kind
from fanlight.engine.spec.arguments import check_flag, check_text, read_names
from fanlight.engine.spec.errors import advise_choice, explain_wrong_calls, refuse
from fanlight.io.upsert import delta_catalog, delta_folder, postgresql, sqlite
from fanlight.types import DataFrameLike

_DATABASES = (
    'write "sqlite:///busy.db", "postgresql://user@host/database", "delta:/lake/busy" or, for '
    'Spark\'s Delta connector, "delta"'
)

_EXAMPLE = "fl.upsert('sqlite:///busy.db', table='busy', key=['cell', 'window'])"


@explain_wrong_calls(_EXAMPLE)
@dataclass(frozen=True)
class Upsert:
    """What :func:`fanlight.upsert` returns: a function that writes a micro-batch or a batch."""

    to: str
    table: str | None
    key: tuple[str, ...]
    stream: str | None = None
    final_only: bool = False
    gone: str | None = None

    @explain_wrong_calls("fl.upsert(…)(df)")
    @in_kind
    def __call__(self, found: DataFrameLike, batch: int | None = None) -> None:
        """Write the rows of a micro-batch or a batch; see :func:`fanlight.upsert`."""
        given = cast("DataFrame", found)
        if self.final_only:
            given = _final_rows(given)
        if self.gone is not None:
            _check_gone(given, self.gone)
        if self.to == "delta":
            delta_catalog.merge(self.table or "", self.key, given, self.gone)
            return
        number = 0 if batch is None else batch
        stream = None if batch is None else self.stream
        rows = _with_notes(given)
        kind, _, rest = self.to.partition(":")
        if kind == "delta":
            delta_folder.write(rest, self.key, rows, stream, number, self.gone)
        elif kind == "sqlite":
            path = rest.removeprefix("///")
            sqlite.write(path, self.table or "", self.key, rows, stream, number, self.gone)
        else:
            postgresql.write(self.to, self.table or "", self.key, rows, stream, number, self.gone)

    def __repr__(self) -> str:
        """How it was made, without a password."""
        to = postgresql.without_password(self.to)
        more = "" if self.stream is None else f", stream={self.stream!r}"
        more += ", final_only=True" if self.final_only else ""
        more += "" if self.gone is None else f", gone={self.gone!r}"
        return f"upsert({to!r}, table={self.table!r}, key={list(self.key)!r}{more})"


@explain_wrong_calls(_EXAMPLE)
def upsert(
    to: str,
    *,
    table: str | None = None,
    key: str | Sequence[str],
    stream: str | None = None,
    final_only: bool = False,
    gone: str | None = None,
) -> Upsert:
    """A writer for ``foreachBatch`` and for batches, which replaces rows that have the same key.

    Use it for results that are emitted more than once: early results, in ``outputMode("update")``,
    repaired windows, a query that runs again every day, or two streams that write into one table.
    The table has the newest row of each key, however often a query runs again.

    Parameters
    ----------
    to
        The database: ``"sqlite:///busy.db"`` (a file on the driver's machine; four slashes begin
        an absolute path), ``"postgresql://user@host/database"`` (a URL of libpq, which also
        finds passwords in ``PGPASSWORD`` or ``~/.pgpass``), ``"delta:/lake/busy"`` (a folder,
        written by the package deltalake), or ``"delta"`` for a table of the catalog, written by
        the Delta connector of the session.
    table
        The table, which is made if it does not exist, with ``key`` as its primary key; in
        PostgreSQL also ``"schema.table"``. Not for a Delta folder, which is itself the table.
    key
        The columns that tell rows apart, such as ``["antenna", "window"]`` for windows, and
        ``level`` or ``query`` if the result has it. None of them may be null.
    stream
        A name for the stream and its checkpoint. With it the database remembers the number of the
        last micro-batch, and an earlier micro-batch never overwrites a later one, even if a driver
        that was believed dead still writes. A new checkpoint counts from 0 again, so it needs a new
        name. Not for ``"delta"``.
    final_only
        With early results, write only final results: the table is then the same as in append mode.
        By default the table also has the current results of open windows.
    gone
        The name of a boolean column, such as the one from :meth:`fanlight.FrameWindows.repair`:
        where it is true, the row with that key is deleted. The table does not have the column.

    Returns
    -------
    Upsert
        A function of a DataFrame and the number of the micro-batch, for
        ``writeStream.foreachBatch``; for a batch write ``fl.upsert(…)(result)``. Each call is one
        transaction. The rows of a call go through the driver as Arrow, so they must fit in its
        memory and in ``spark.driver.maxResultSize`` (not with ``"delta"``). With Spark Connect that
        is the server's driver, where fanlight and the database's package must be installed.

        A window becomes two columns, ``window_start`` and ``window_end``; times are in UTC. Lists,
        maps and structs become JSON, except in Delta, which has such types. In SQLite, which has no
        decimals, times or NaN, these become text.

    Raises
    ------
    FanlightError
        If the arguments do not go together. When the function is called: if a key is null, or two
        rows of the call have the same key; if the table has other columns, or another key; if a
        package is missing.

    Examples
    --------
    >>> import tempfile, sqlite3, fanlight as fl
    >>> calls = spark.sql("SELECT timestamp_seconds(id * 7) AS ts, id % 2 AS cell FROM range(100)")
    >>> busy = fl.over(calls, fl.Sliding("10 minutes"), time="ts", by="cell").agg(n=fl.agg.count())
    >>> base = tempfile.mkdtemp() + "/busy.db"
    >>> write = fl.upsert(f"sqlite:///{base}", table="busy", key=["cell", "window"])
    >>> write(busy)
    >>> write(busy)  # again: nothing changes
    >>> sqlite3.connect(base).execute("SELECT sum(n) FROM busy").fetchall()
    [(100,)]

    """
    check_text("to", to, 'to="sqlite:///busy.db"')
    kind, _, rest = to.partition(":")
    complete = {
        "sqlite": rest.startswith("///") and len(rest) > 3,
        "postgresql": rest.startswith("//"),
        "delta": bool(rest) or to == "delta",
    }
    if not complete.get(kind, False):
        shown = postgresql.without_password(to)
        raise refuse(f"to={shown!r}", "is not a database that fanlight writes to", _DATABASES)
    folder = kind == "delta" and to != "delta"
    if folder and table is not None:
        raise refuse(
            f"table={table!r}",
            "is for databases: a Delta folder is itself one table",
            "leave it out",
        )
    if not folder:
        if table is None:
            raise refuse(f"upsert into {kind}", "lacks the name of the table", 'write table="busy"')
        check_text("table", table, 'table="busy"')
    if to == "delta" and stream is not None:
        raise refuse(
            f"stream={stream!r}",
            'does not go with to="delta": Spark\'s connector cannot remember micro-batches',
            'leave it out, or write into a folder: to="delta:/lake/busy"',
        )
    if stream is not None:
        check_text("stream", stream, 'stream="busy-1"')
    columns = read_names("key", key, 'key=["antenna", "window"]')
    if not columns or len(set(columns)) < len(columns):
        raise refuse(
            f"key={key!r}", "names no column, or one twice", 'write key=["antenna", "window"]'
        )
    if gone is not None:
        check_text("gone", gone, 'gone="gone"')
        if gone in columns:
            raise refuse(
                f"gone={gone!r}", "is a column of the key", "name the one that says what to delete"
            )
    return Upsert(to, table, columns, stream, check_flag("final_only", final_only), gone)


def _with_notes(found: DataFrame) -> pa.Table:
    """The rows, whose columns carry on what stored pieces are: it is kept where that can be."""
    rows = to_arrow(found)
    notes = {field.name: (field.metadata or {}).get(NOTE) for field in found.schema.fields}
    fields = [
        field.with_metadata({NOTE: notes[field.name]}) if notes.get(field.name) else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))


def _check_gone(found: DataFrame, gone: str) -> None:
    """Refuse rows without a column that says which are gone."""
    kinds = {field.name: field.dataType for field in found.schema.fields}
    if not isinstance(kinds.get(gone), BooleanType):
        raise refuse(
            f"upsert(gone={gone!r})",
            f"deletes rows by a column {gone!r} of true and false, and there is none",
            f"{advise_choice(gone, kinds)}, or leave it out",
        )


def _final_rows(found: DataFrame) -> DataFrame:
    """The rows of windows that are final."""
    kinds = {field.name: field.dataType for field in found.schema.fields}
    if not isinstance(kinds.get("final"), BooleanType):
        raise refuse(
            "upsert(final_only=True)",
            "is for windows that are given early, and the rows have no boolean column 'final'",
            "ask for fl.over(…).early().agg(…), or leave it out",
        )
    return found.filter("final")
