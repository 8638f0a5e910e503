"""What differs from one version of Spark to the next: a file for each, and nothing elsewhere.

A file is for its version and for later ones, up to the next file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.state_header import Fingerprint


def run_groups(
    packed: DataFrame, query: Query, asked: Fingerprint, out: pa.Schema, mode: str
) -> DataFrame:
    """Groups of packed rows through an operator: ``late`` and ``found``, packed results."""
    from fanlight.engine.spark.ordered import spark_4_0, spark_4_1

    installed = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    run = spark_4_1.run_groups if installed >= (4, 1) else spark_4_0.run_groups
    found: DataFrame = run(packed, query, asked, out, mode)
    return found
