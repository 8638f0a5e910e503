"""What to write instead of an aggregate that does not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from fanlight.spec.errors import MissingError

# Other names that Spark, or SQL, has for what there is.
ALSO = {
    "any_value": "first", "approxcountdistinct": "approx_count_distinct",
    "array_agg": "collect_list", "countdistinct": "count_distinct",
    "first_value": "first", "last_value": "last", "listagg": "concat",
    "percentile_approx": "approx_percentile", "regr_intercept": "linear_fit",
    "regr_r2": "linear_fit", "regr_slope": "linear_fit", "std": "stddev_samp",
    "stddev": "stddev_samp", "string_agg": "concat", "variance": "var_samp",
}  # fmt: skip


def instead(name: str, known: Sequence[str]) -> str | None:
    """The aggregate among ``known`` that is meant by a name; None if none is like it."""
    functions = [one for one in known if one[0].islower()]
    if name.casefold() in ALSO:
        return ALSO[name.casefold()]
    return name if name in functions else next(iter(get_close_matches(name, functions, 1)), None)


def refusing(known: Sequence[str]) -> Callable[[str], NoReturn]:
    """The ``__getattr__`` of the module ``fanlight.agg``."""

    def absent(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        found = instead(name, known)
        write = f"write agg.{found}" if found else f"choose one of {', '.join(known)}"
        raise MissingError(
            f"agg.{name} is not an aggregate of fanlight; {write}, or make your own of "
            "agg.Aggregate(…)"
        )

    return absent
