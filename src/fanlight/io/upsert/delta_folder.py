"""Upserts into a Delta table in a folder, by the package deltalake.

A window becomes two columns, everything else keeps its type; each call is one commit.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from fanlight.engine.algebra.sql_text import in_backticks
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.io.upsert.sql_tables import check_columns, flatten_and_check


def write(
    path: str,
    key: Sequence[str],
    result: pa.Table,
    stream: str | None,
    batch: int,
    gone: str | None = None,
) -> None:
    """Write rows by key into the table of a folder, in one commit; delete those ``gone``."""
    try:
        from deltalake import CommitProperties, DeltaTable, Transaction
        from deltalake.exceptions import DeltaError
    except ModuleNotFoundError as error:
        msg = (
            "upsert into a Delta folder needs deltalake, which is not installed where the driver "
            "runs; write: pip install 'fanlight[delta]', or let Spark's connector do it: "
            'fl.upsert("delta", table=…)'
        )
        raise FanlightError(msg) from error
    rows, keys = flatten_and_check(result, key)
    names = [name for name in rows.column_names if name != gone]
    for field in rows.schema:
        if pa.types.is_duration(field.type) or pa.types.is_null(field.type):
            raise refuse(
                f"the column {field.name!r} of type {field.type}",
                "has no corresponding type in Delta",
                "cast it to a number or a string",
            )
    try:
        if not DeltaTable.is_deltatable(path):
            DeltaTable.create(path, rows.select(names).schema, mode="ignore")
        table = DeltaTable(path)
        check_columns(path, [field.name for field in table.schema().fields], names)
        transaction = None
        if stream is not None:
            last = table.transaction_version(stream)
            if last is not None and last >= batch:
                return
            transaction = CommitProperties(app_transactions=[Transaction(stream, batch)])
        same_key = " AND ".join(
            f"target.{in_backticks(name)} = source.{in_backticks(name)}" for name in keys
        )
        changes = {in_backticks(name): f"source.{in_backticks(name)}" for name in names}
        merge = table.merge(
            rows,
            same_key,
            source_alias="source",
            target_alias="target",
            commit_properties=transaction,
        )
        kept = None
        if gone is not None:
            deleted = f"coalesce(source.{in_backticks(gone)}, false)"
            merge, kept = merge.when_matched_delete(deleted), f"NOT {deleted}"
        merge.when_matched_update(changes, kept).when_not_matched_insert(changes, kept).execute()
    except (DeltaError, OSError, ValueError) as error:
        if isinstance(error, FanlightError):
            raise
        raise refuse(
            f"upsert into the Delta table {path!r}",
            f"fails: {str(error).strip()}",
            "no row of this micro-batch was written; correct it and start again",
        ) from error
