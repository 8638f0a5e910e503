"""What to write instead of an attribute that windows do not have."""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.algebra.registry import AGGREGATES
from fanlight.engine.algebra.suggestions import advise_called, advise_of_rows
from fanlight.engine.algebra.template import fill
from fanlight.engine.spec.errors import MissingError, guess

# Methods of a DataFrame that have a place before the windows, and what to write there.
_BEFORE = {
    **dict.fromkeys(("groupBy", "groupby", "rollup", "cube"), "fl.over(df, …, by='key')"),
    **dict.fromkeys(
        ("select", "selectExpr", "filter", "where", "withColumn", "withColumns", "join"),
        "fl.over(df.{name}(…), …)",
    ),
    "withWatermark": "fl.over(df.withWatermark(…), …)",
    "orderBy": "fl.over(df, …, tiebreak='seq') for the order of rows of one time",
}

# Methods that windows of another kind have, and what to write for such windows.
_OTHER_KINDS = {
    **dict.fromkeys(("at", "attach"), "fl.over(df, fl.Trailing('1 hour'), …).{name}(…)"),
    **dict.fromkeys(
        ("bursts", "fit", "recurring", "reversals", "wide"),
        "fl.over(df, fl.MultiGranular(…), …).{name}(…)",
    ),
    **dict.fromkeys(
        ("accumulate", "fill", "frames", "repair", "rows", "split"),
        "fl.over(df, fl.ThresholdFrame('v > 1'), …).{name}(…)",
    ),
    "running": "fl.over(df, fl.Sliding('1 hour'), time=('start', 'stop')).{name}(…)",
    "detect": "fl.over(df, fl.ProgressiveWidening(…), …).{name}(…)",
    **dict.fromkeys(
        ("agg", "complete_only", "early", "pieces", "with_empty"),
        "fl.over(df, fl.Sliding('1 hour', '1 minute'), …).{name}(…)",
    ),
}


def refuse_attribute(windowed: object, name: str) -> MissingError:
    """The error for an attribute ``name``."""
    kind = type(windowed)
    own = [method for method in dir(kind) if not method.startswith("_")]
    results = ("agg(agg.count())", "attach(agg.count())", "detect(…)")
    result = next(method for method in results if method.split("(")[0] in own)
    of = f"{kind.__name__} has no {name!r}"
    if name in _OTHER_KINDS:
        instead = f"windows.{result}, or " if name == "agg" else ""
        there = fill(_OTHER_KINDS[name], name=name)
        return MissingError(
            f"{of}, which other windows have; write {instead}{there}; these have {', '.join(own)}"
        )
    method = result.split("(", maxsplit=1)[0]
    name = name if hasattr(DataFrame, name) else AGGREGATES.names.get(name, name)
    if method != "detect" and not hasattr(DataFrame, name) and (call := advise_called(name)):
        return MissingError(
            f"{of}: aggregates are arguments of {method}(); write windows.{method}({call}), after "
            "'from fanlight import agg'"
        )
    if each := advise_of_rows(name):
        return MissingError(f"{of}; write {each}, after 'from fanlight import agg'")
    if name in AGGREGATES and method != "detect":
        instead = f"windows.{method}(agg.{name}({'' if name == 'count' else '…'}))"
        rows = (
            f", or windows.{result}.count() for the rows of the result" if name == "count" else ""
        )
        return MissingError(
            f"{of}: aggregates are arguments of {method}(); write {instead}{rows}, after "
            "'from fanlight import agg'"
        )
    if hasattr(DataFrame, name):
        where = fill(_BEFORE.get(name, ""), name=name)
        return MissingError(
            f"{of}: it is not a DataFrame, its methods return one; write windows.{result}.{name}"
            f"{f', or {where}' if where else ''}"
        )
    close = guess(name, own)
    asked = f"write {close!r}" if close else f"choose one of {', '.join(own)}"
    return MissingError(f"{of}; {asked}")
