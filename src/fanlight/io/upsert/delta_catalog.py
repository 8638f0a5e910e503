"""Upserts into Delta tables of the catalog, by the session's Delta connector.

Tables have the same columns as those that :mod:`fanlight.io.upsert.delta_folder` writes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from fanlight.engine.algebra.sql_text import has_substitution, quote
from fanlight.engine.spark.sql import expr_as, say_reason
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.io.upsert.sql_tables import (
    ENDS,
    advise_key,
    check_columns,
    flatten_key,
    flatten_names,
    is_window,
)

PACKAGE = "io.delta:delta-spark_2.13"
_VIEW = "fanlight_upsert"


def merge_text(
    table: str, source: str, names: Sequence[str], key: Sequence[str], gone: str | None = None
) -> str:
    """SQL that merges the rows of a view into a table by key; both names are quoted already.

    Rows in which the column ``gone`` is true are deleted.

    >>> print(merge_text("`lake`.`busy`", "`rows`", ["antenna", "calls"], ["antenna"]))
    MERGE INTO `lake`.`busy` AS target USING `rows` AS source
    ON target.`antenna` = source.`antenna`
    WHEN MATCHED THEN UPDATE SET target.`antenna` = source.`antenna`, \
target.`calls` = source.`calls`
    WHEN NOT MATCHED THEN INSERT (`antenna`, `calls`) VALUES (source.`antenna`, source.`calls`)
    """
    same_key = " AND ".join(f"target.{quote(name)} = source.{quote(name)}" for name in key)
    changes = ", ".join(f"target.{quote(name)} = source.{quote(name)}" for name in names)
    columns = ", ".join(map(quote, names))
    new_values = ", ".join(f"source.{quote(name)}" for name in names)
    deleted = "" if gone is None else f"coalesce(source.{quote(gone)}, false)"
    first, kept = (f"WHEN MATCHED AND {deleted} THEN DELETE\n", f" AND NOT {deleted}")
    return (
        f"MERGE INTO {table} AS target USING {source} AS source\n"
        f"ON {same_key}\n"
        f"{first if deleted else ''}"
        f"WHEN MATCHED THEN UPDATE SET {changes}\n"
        f"WHEN NOT MATCHED{kept if deleted else ''} THEN "
        f"INSERT ({columns}) VALUES ({new_values})"
    )


def merge(table: str, key: Sequence[str], result: DataFrame, gone: str | None = None) -> None:
    """Write rows by key into a Delta table of the catalog, which is made if it does not exist.

    Rows in which the column ``gone`` is true are deleted.
    """
    fields = {field.name: field.dataType for field in result.schema.fields}
    windows = [
        name
        for name, kind in fields.items()
        if isinstance(kind, StructType) and is_window(kind.names)
    ]
    names, keys = flatten_names(list(fields), windows), flatten_key(key, list(fields), windows)
    for name in (table, *names, *([] if gone is None else [gone])):
        if has_substitution(name):
            raise refuse(
                f"the name {name!r}", "has ${ in it, which Spark replaces by a setting", "rename it"
            )
    columns = []
    for name in fields:
        if name in windows:
            columns += [
                expr_as(result, f"{quote(name)}.{quote(end)}", f"{name}_{end}") for end in ENDS
            ]
        else:
            columns.append(expr_as(result, quote(name), name))
    rows = result.select(*columns)
    spark = rows.sparkSession
    target = ".".join(map(quote, table.split(".")))
    rows = rows.persist()  # it is read three times
    try:
        _check_key(rows, keys)
        kept = [name for name in names if name != gone]
        empty = rows.where("false").select(*map(quote, kept))
        empty.write.format("delta").mode("ignore").saveAsTable(target)
        check_columns(table, spark.table(target).columns, kept)
        rows.createOrReplaceTempView(_VIEW)
        spark.sql(merge_text(target, quote(_VIEW), kept, keys, gone)).collect()
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise _explain_failure(table, error, spark.version) from error
    finally:
        rows.unpersist()


def _explain_failure(table: str, error: Exception, version: str) -> FanlightError:
    """Spark's error as one of ours; for a missing connector, with what to set."""
    message, request = str(error), f"upsert into the Delta table {table!r} by Spark's connector"
    if "DATA_SOURCE_NOT_FOUND" not in message:
        after = "no row of this micro-batch was written; correct it and start again"
        return refuse(request, f"fails: {say_reason(error)}", after)
    return refuse(
        request,
        "finds no Delta connector in the session",
        f"set spark.jars.packages to {PACKAGE}, in the version that goes with Spark "
        f"{version}, with Delta's two settings (spark.sql.extensions, "
        "spark.sql.catalog.spark_catalog); or write into a folder, without the connector: "
        'fl.upsert("delta:/lake/busy", …)',
    )


def _check_key(rows: DataFrame, key: Sequence[str]) -> None:
    """Refuse rows without a key, and several rows of one key."""
    none = " or ".join(f"{quote(name)} is null" for name in key)
    if rows.where(none).take(1):
        raise refuse(
            f"upsert by {', '.join(map(repr, key))}",
            "finds rows in which a column of the key is null, which must not be",
            "write result.na.fill(…), or leave them out: .where(…)",
        )
    parts = [f"k{n}" for n in range(len(key))]
    keys = rows.selectExpr(*(f"{quote(name)} as {n}" for name, n in zip(key, parts, strict=True)))
    if keys.groupBy(*parts).count().where("count > 1").take(1):
        raise refuse(
            f"upsert by {', '.join(map(repr, key))}",
            "finds several rows with the same key, but can keep only one",
            advise_key(rows.columns, key),
        )
