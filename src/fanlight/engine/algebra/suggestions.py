"""What to write instead of an aggregate that does not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.spec.errors import MissingError

# Aggregates that Spark has and fanlight has not, and how to get the same.
OTHERWISE = {
    **dict.fromkeys(("sum_distinct", "sumdistinct"), "agg.sum(…, distinct=True)"),
    "histogram_numeric": "agg.percentile(…, [0.1, 0.2, …])",
}  # fmt: skip
# Functions of Spark that mean something else than the aggregate here with a similar name.
UNLIKE = {
    "aggregate", "array_distinct", "array_insert", "array_intersect", "bin", "bit_count", "bit_get",
    "bitmap_and_agg", "bitmap_count", "bitmap_or_agg", "broadcast", "cast", "coalesce", "collate",
    "collect_union", "column", "concat_ws", "contains", "conv", "cot", "count_min_sketch",
    "counter_diff", "cume_dist", "curdate", "current_time", "decode", "encode", "greatest", "instr",
    "lag", "last_day", "lcase", "least", "listagg_distinct", "lit", "locate", "make_interval",
    "map_concat", "map_from_entries", "map_values", "minute", "month", "negate", "nth_value",
    "ntile", "percent_rank", "pmod", "radians", "reduce", "regexp_count", "regexp_instr", "repeat",
    "round", "signum", "sin", "string_agg_distinct", "struct", "sumdistinct", "tan",
    "transform_values", "translate", "try_add", "try_mod", "try_parse_url", "try_subtract",
    "try_to_number", "vector_avg", "vector_sum",
}  # fmt: skip
# Spark's functions of sketches, whose names are all alike.
OF_SKETCHES = ("hll_", "kll_", "theta_", "tuple_")


def suggest_aggregate(name: str, known: Sequence[str]) -> str | None:
    """The aggregate among ``known`` that a name probably means; None if no name is like it."""
    functions = [one for one in known if one[0].islower()]
    plain = name.casefold()
    joined = {one.replace("_", ""): one for one in functions if "_" in one}
    also = joined | AGGREGATES.names
    if plain in also or name in functions:
        return also.get(plain, name)
    if plain in OTHERWISE or plain in UNLIKE:
        return None
    near = 0.92 if plain.startswith(OF_SKETCHES) else 0.6
    return next(iter(get_close_matches(name, functions, 1, near)), None)


def make_getattr(known: Sequence[str]) -> Callable[[str], NoReturn]:
    """The ``__getattr__`` of the module ``fanlight.agg``."""

    def raise_missing(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        meant = suggest_aggregate(name, known)
        functions = ", ".join(one for one in known if one[0].islower())
        write = f"write agg.{meant}" if meant else f"choose one of {functions}"
        if name.casefold() in OTHERWISE:
            write = f"write {OTHERWISE[name.casefold()]}"
        raise MissingError(
            f"agg.{name} is not an aggregate of fanlight; {write}, or make your own of "
            "agg.Aggregate(…)"
        )

    return raise_missing
