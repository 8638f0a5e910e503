"""Upserts into Delta tables of the catalog, by the Delta connector of the session.

The table is what :mod:`fanlight.io.upsert.lake` makes of a folder.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from fanlight.engine.algebra.sql_text import has_substitution, quote
from fanlight.engine.spark.sql import expr_as, first_line
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.io.upsert.rows import ENDS, flat_key, flat_names, is_window
from fanlight.io.upsert.target import check_columns

PACKAGE = "io.delta:delta-spark_2.13"
_VIEW = "fanlight_upsert"


def merge_text(table: str, source: str, names: Sequence[str], key: Sequence[str]) -> str:
    """SQL: the rows of a view into a table, by key; both are quoted.

    >>> print(merge_text("`lake`.`busy`", "`rows`", ["antenna", "calls"], ["antenna"]))
    MERGE INTO `lake`.`busy` AS target USING `rows` AS source
    ON target.`antenna` = source.`antenna`
    WHEN MATCHED THEN UPDATE SET target.`antenna` = source.`antenna`, \
target.`calls` = source.`calls`
    WHEN NOT MATCHED THEN INSERT (`antenna`, `calls`) VALUES (source.`antenna`, source.`calls`)
    """
    alike = " AND ".join(f"target.{quote(name)} = source.{quote(name)}" for name in key)
    changes = ", ".join(f"target.{quote(name)} = source.{quote(name)}" for name in names)
    columns = ", ".join(map(quote, names))
    given = ", ".join(f"source.{quote(name)}" for name in names)
    return (
        f"MERGE INTO {table} AS target USING {source} AS source\n"
        f"ON {alike}\n"
        f"WHEN MATCHED THEN UPDATE SET {changes}\n"
        f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({given})"
    )


def merge(table: str, key: Sequence[str], found: DataFrame) -> None:
    """Write rows by key into a table of the catalog, by the Delta connector of the session."""
    fields = {field.name: field.dataType for field in found.schema.fields}
    windows = [
        name
        for name, kind in fields.items()
        if isinstance(kind, StructType) and is_window(kind.names)
    ]
    names, keys = flat_names(list(fields), windows), flat_key(key, list(fields), windows)
    for name in (table, *names):
        if has_substitution(name):
            raise refuse(
                f"the name {name!r}", "has ${ in it, which Spark puts a setting for", "rename it"
            )
    columns = []
    for name in fields:
        if name in windows:
            columns += [
                expr_as(found, f"{quote(name)}.{quote(end)}", f"{name}_{end}") for end in ENDS
            ]
        else:
            columns.append(expr_as(found, quote(name), name))
    rows = found.select(*columns)
    spark = rows.sparkSession
    target = ".".join(map(quote, table.split(".")))
    rows = rows.persist()  # it is looked at three times
    try:
        _check_key(rows, keys)
        rows.where("false").write.format("delta").mode("ignore").saveAsTable(target)
        check_columns(table, spark.table(target).columns, names)
        rows.createOrReplaceTempView(_VIEW)
        spark.sql(merge_text(target, quote(_VIEW), names, keys)).collect()
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise _failed(table, error, spark.version) from error
    finally:
        rows.unpersist()


def _failed(table: str, error: Exception, version: str) -> FanlightError:
    """What Spark says; of a missing class in classic mode, not as an error of PySpark's own."""
    said, asked = str(error), f"upsert into the Delta table {table!r} by Spark's connector"
    if "DATA_SOURCE_NOT_FOUND" not in said:
        after = "nothing of this micro-batch is written; mend it and start again"
        return refuse(asked, f"fails: {first_line(error)}", after)
    return refuse(
        asked,
        "finds no such connector in the session",
        f"set spark.jars.packages to {PACKAGE}, in the version that goes with Spark "
        f"{version}, with Delta's two settings (spark.sql.extensions, "
        "spark.sql.catalog.spark_catalog); or write into a folder, which needs none: "
        'fl.upsert("delta:/lake/busy", …)',
    )


def _check_key(rows: DataFrame, key: Sequence[str]) -> None:
    """Each row has a key, and no other row the same."""
    none = " or ".join(f"{quote(name)} is null" for name in key)
    if rows.where(none).take(1):
        raise refuse(
            f"upsert by {', '.join(map(repr, key))}",
            "finds rows without a key, and a key is never null",
            "write result.na.fill(…), or leave them out: .where(…)",
        )
    parts = [f"k{n}" for n in range(len(key))]
    keys = rows.selectExpr(*(f"{quote(name)} as {n}" for name, n in zip(key, parts, strict=True)))
    if keys.groupBy(*parts).count().where("count > 1").take(1):
        raise refuse(
            f"upsert by {', '.join(map(repr, key))}",
            "finds several rows of one key, of which all but one would be lost",
            "name all columns that tell rows apart, such as 'level' or 'query', in key=",
        )
