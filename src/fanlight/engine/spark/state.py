"""Over how many tasks Spark spreads keys, and in words where a stream keeps their state."""

from __future__ import annotations

from fanlight.engine.spark.binding.bound import Bound

PARTITIONS = "spark.sql.shuffle.partitions"  # Spark's setting, for which it has a default
DEFAULT = 200
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
USE_ROCKSDB, USE_HDFS = (f"spark.conf.set({PROVIDER!r}, {one!r})" for one in (_ROCKSDB, _HDFS))


def is_rocksdb(provider: str | None) -> bool:
    """Whether a provider keeps state in RocksDB, under whatever name a platform has for it."""
    return bool(provider) and "RocksDB" in str(provider)


def tasks_of_setting(setting: str | None) -> int:
    """The tasks after a shuffle; some platforms say "auto"."""
    return int(setting) if setting and setting.isdigit() else DEFAULT


def describe_state(bound: Bound) -> str:
    """Where a stateful operator keeps its keys, and in how many partitions."""
    if bound.partitions is not None:
        return f"in RocksDB, keys in {bound.partitions} partitions, as using(partitions=) says"
    asked = str(bound.df.sparkSession.conf.get(PARTITIONS, str(DEFAULT)))
    return f"in RocksDB, keys in {asked} partitions: {PARTITIONS} when the stream begins"
