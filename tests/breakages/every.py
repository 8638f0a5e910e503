"""All breakages."""

from __future__ import annotations

from tests.breakages import (
    in_language,
    in_limits,
    in_lives,
    in_open_windows,
    in_operators,
    in_parts,
    in_patterns,
    in_plans,
    in_replays,
    in_trailing,
    on_spark,
)

WITHOUT_SPARK = (
    *in_operators.BREAKAGES,
    *in_lives.WITHOUT_SPARK,
    *in_limits.WITHOUT_SPARK,
    *in_open_windows.WITHOUT_SPARK,
    *in_patterns.WITHOUT_SPARK,
    *in_trailing.WITHOUT_SPARK,
    *in_plans.BREAKAGES,
    *in_language.BREAKAGES,
    *in_replays.BREAKAGES,
)
ALL = (*WITHOUT_SPARK, *on_spark.BREAKAGES, *in_lives.ON_SPARK, *in_parts.ON_SPARK)
