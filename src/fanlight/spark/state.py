"""Where a stream keeps the state of its Python operators, in words for ``explain()``."""

from __future__ import annotations

from fanlight.spark.binding.source import Source

PARTITIONS = "spark.sql.shuffle.partitions"  # Spark's setting, for which it has a default
DEFAULT = "200"


def state_of(bound: Source) -> str:
    """How the keys are divided."""
    if bound.partitions is not None:
        return f"in RocksDB, keys in {bound.partitions} partitions, as told"
    asked = str(bound.df.sparkSession.conf.get(PARTITIONS, DEFAULT))
    return f"in RocksDB, keys in {asked} partitions: {PARTITIONS} when the stream begins"
