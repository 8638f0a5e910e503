"""A source that replays files as a stream; its keys are the arguments of ``fl.replay``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args

import fanlight as fl
from fanlight.cli.jobs.document import Table
from fanlight.types import Format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES: tuple[Format, ...] = get_args(Format)
REPLAY_KEYS = (
    "files", "time", "speedup", "disorder", "late_share", "lateness", "seed",
    "max_rows_per_batch", "header", "sep",
)  # fmt: skip


@dataclass(frozen=True)
class Replay:
    """How files are replayed; ``arguments`` are those of ``fl.replay``."""

    files: Format
    arguments: Mapping[str, Any]

    def read(
        self, spark: SparkSession, path: str, schema: str | None, *, stream: bool
    ) -> DataFrame:
        """The files replayed as a stream, or as a batch of the same rows with the same times."""
        if stream:
            return fl.replay(spark, path, format=self.files, schema=schema, **self.arguments)
        reader = spark.read.format(self.files).option("timeZone", "UTC")
        if self.files == "csv":
            reader = reader.option("header", str(self.arguments.get("header", True)).lower())
            reader = reader.option("sep", self.arguments.get("sep", ",")).option(
                "enforceSchema", "false"
            )
        return (reader.schema(schema) if schema else reader).load(path)


def read_replay(table: Table, path: str | None, schema: str | None) -> Replay | None:
    """Read the keys of a replayed source; None if they are wrong. Problems are recorded."""
    files = table.one_of("files", FILES)
    suffix = (path or "").rpartition(".")[2].replace("jsonl", "json")
    if files is None and "files" not in table.values and suffix in FILES:
        files = suffix
    elif files is None and "files" not in table.values and path is not None:
        table.note_missing('has no files, the format of what it plays; write files = "parquet"')
    if files not in (None, "parquet") and schema is None:
        table.note_missing(
            f"has no schema, which {files} needs; "
            'write schema = "ts timestamp, item long, price double"'
        )
    options: dict[str, Any] = {
        "time": table.text("time", '"ts"', required=True),
        "speedup": _read_number(table, "speedup", "60", least=0, open=True),
        "disorder": table.duration("disorder"),
        "late_share": _read_number(
            table, "late_share", "0.01, a share of the rows", least=0, most=1
        ),
        "lateness": table.duration("lateness"),
        "seed": table.take("seed", int, "a whole number such as 7"),
        "max_rows_per_batch": _read_number(
            table, "max_rows_per_batch", "100_000", least=1, kind=int
        ),
        "header": table.take("header", bool, "true or false"),
        "sep": table.text("sep", '";"'),
    }
    if options["sep"] is not None and len(options["sep"]) != 1:
        table.note_wrong("sep", f"{options['sep']!r} is not one character")
    if bool(options["late_share"]) != (options["lateness"] is not None) and not _has_problem(
        table, "late_share", "lateness"
    ):
        table.note_missing(
            "has only one of late_share and lateness; write late_share = 0.01 and "
            'lateness = "10 minutes"'
        )
    arguments = {name: value for name, value in options.items() if value is not None}
    return Replay(cast("Format", files), arguments) if files and "time" in arguments else None


def _has_problem(table: Table, *names: str) -> bool:
    """Whether a problem with one of these keys is already recorded."""
    return any((*table.where, name) in dict(table.document.problems) for name in names)


def _read_number(
    table: Table,
    name: str,
    example: str,
    *,
    least: float,
    most: float | None = None,
    open: bool = False,
    kind: Any = (int, float),
) -> Any:
    """A number within bounds, or None; with ``open`` it must exceed ``least``."""
    value = table.take(name, kind, f"a number; write {name} = {example}")
    if value is None:
        return None
    inside = (value > least if open else value >= least) and (most is None or value <= most)
    if not inside:  # as NaN never is
        table.note_wrong(name, f"{value!r} is out of bounds; write for example {name} = {example}")
        return None
    return value
