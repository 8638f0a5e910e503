"""Chunks of time, so that the rows of one key can be in many tasks where windows look back.

A chunk has its own rows, and copies of the rows of earlier ones that its windows may hold. So each
row of its own is given what it would be given among all rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import DataFrame

from fanlight.engine.operators.trailing import ASKED, COPIED
from fanlight.engine.plan.trailing import SHORTEST
from fanlight.engine.spark.fingerprint import PARTITIONS, tasks_of_setting
from fanlight.engine.spark.sql import expr_as

CHUNK = "chunk"
MOST = 2**62  # coordinates are less than this, so that two of them can be added
SEVERAL = 8  # chunks of a task; and windows that a chunk is as long as, if possible
SHARE, SEED = 0.01, 0  # of the rows, those whose times are looked at
_TENTHS = "array(0.05D, 0.15D, 0.25D, 0.35D, 0.45D, 0.55D, 0.65D, 0.75D, 0.85D, 0.95D)"


def copy_into_chunks(
    rows: DataFrame, keys: Sequence[str], reach: int, spared: Collection[str]
) -> DataFrame:
    """Rows (keys, ``t``, more) with ``chunk`` after the keys, and copies of them in later chunks.

    No window reaches back further than ``reach``. Copies are ``copied``, unless some rows only ask,
    which are not copied; they have null in the ``spared`` columns. Rows without a time are in a
    chunk of their own.
    """
    asking = ASKED in rows.columns
    others = [name for name in rows.columns if name not in (*keys, "t")]
    last = f"if({ASKED}, t, t + {reach}L)" if asking else f"t + {reach}L"
    rows = rows.crossJoin(_find_width(rows, reach).hint("broadcast"))
    rows = rows.selectExpr("*", f"{_number('t')} as own", f"{_number(f'({last})')} as last")
    chunks = "explode_outer(if(t is null, null, sequence(own, last)))"
    rows = rows.selectExpr(*keys, "t", *others, "own", f"{chunks} as {CHUNK}")
    copied = f"coalesce({CHUNK} <> own, false)"
    kept = [f"if({copied}, null, {name}) as {name}" if name in spared else name for name in others]
    told = [] if asking else [f"{copied} as {COPIED}"]
    return rows.selectExpr(*keys, CHUNK, "t", *kept, *told)


def _number(time: str) -> str:
    """SQL: the number of the chunk that a time is in."""
    return f"(({time} - pmod({time}, width)) div width)"


def _find_width(rows: DataFrame, reach: int) -> DataFrame:
    """The ``width`` of chunks, in one row: several chunks a task, as they are hashed to tasks.

    If these would be so short that many rows are copied, they are fewer, one a task at least, as
    long as not half of the rows are copied. Of the tenths of a few rows in order of time, the one
    of middle length says how long all are: so times that are far from the others, or at which many
    rows are, make no chunk too long.
    """
    tasks = tasks_of_setting(rows.sparkSession.conf.get(PARTITIONS, None))
    few = rows.selectExpr("t").sample(fraction=SHARE, seed=SEED)
    found = few.groupBy().agg(expr_as(few, f"approx_percentile(t, {_TENTHS})", "at"))
    lengths = "array_sort(transform(sequence(1, 9), n -> at[n] - at[n - 1]))"
    fair = f"{lengths}[4] * {10 / tasks!r}D"
    # Nulls, where none of the rows has a time, are left out of all.
    choices = (
        f"{float(SHORTEST * reach)!r}D", f"{fair} / {SEVERAL}D",
        f"least(coalesce({fair}, 0D), {float(SEVERAL * reach)!r}D)", "1D",
    )  # fmt: skip
    width = f"greatest({', '.join(choices)})"
    return found.selectExpr(f"cast(least({width}, {float(MOST)!r}D) as bigint) as width")
