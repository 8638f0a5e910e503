"""Values by the order of their rows: the first, the last, the youngest, and all of them."""

from __future__ import annotations

from typing import Any

from fanlight.engine.algebra import lowering_values
from fanlight.engine.algebra.aggregate import Aggregate, Call, Partials, aggregate_of_field
from fanlight.engine.algebra.collections import MOST, Collect, Extremes
from fanlight.engine.algebra.library.held import Carried, read_carry
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.lowering_values import LowerValues
from fanlight.engine.algebra.monoids import Max, Min
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.spec.arguments import check_flag, check_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import Extent
from fanlight.types import ColumnOrName, Duration

PLACED = "named_struct('o', {order}, 'v', {x})"
_NOT_NULL = f"if({{x}} is null, null, {PLACED})"


def _make_end(name: str, monoid: Min | Max) -> Aggregate:
    return aggregate_of_field(
        name, monoid, "{p}.v", lower_values=lowering_values.last_of_struct,
        accepts="orderable", accumulation="selective",
    )  # fmt: skip


_ENDS = {
    ("first", False): _make_end("first", Min(PLACED)),
    ("first", True): _make_end("first", Min(_NOT_NULL)),
    ("last", False): _make_end("last", Max(PLACED)),
    ("last", True): _make_end("last", Max(_NOT_NULL)),
}


# Of several rows at one instant the last in order holds.
_LAST_THEN = "array_max(filter(s, e -> e.t = f.t))"
_ENDS_OF_PIECE = let(
    "s", "sort_array({p})",
    f"if(size(s) > 1, array({let('f', 's[0]', _LAST_THEN)}, element_at(s, -1)), s)",
)  # fmt: skip


def _first_that_holds(carry: Extent, *, every: bool) -> Aggregate:
    """The value that holds when a window begins, or else the first; null counts if ``every``."""
    row = "named_struct('t', {time}, 'o', {order}, 'v', {x})"
    holds = f"b.t + {int(carry.value)}L > {{begun}}"
    before = "filter(s, e -> e.t <= {begun})"
    after = let("f", "get(filter(s, e -> e.t > {begun}), 0)", _LAST_THEN)
    found = let("b", f"get({before}, size({before}) - 1)", f"if({holds}, b, {after})")
    found = let("s", "sort_array({p})", found)
    value = let("w", found, "if(w is null, null, named_struct('o', {begun}, 'v', w.v))")
    rows = Carried(
        row if every else f"if({{x}} is null, null, {row})", carry, _ENDS_OF_PIECE,
        f"named_struct('v', {value})", (("v", Min(), "any"),), "{v} is not null",
    )  # fmt: skip
    return Aggregate("first", {"p": rows}, "{p}.v.v", accepts="orderable", accumulation="selective")


def _call_end(name: str, column: Any, ignorenulls: object) -> Call:
    return Call(_ENDS[name, check_flag(f"{name}: ignorenulls", ignorenulls)], (column,))


@aggregate(
    sample("double", gives="double"),
    sample("string", gives="string", ignorenulls=True),
    names=("first_value",),
    alike="columns",
)
def first(
    column: ColumnOrName, *, ignorenulls: bool = False, carry: Duration | None = None
) -> Call:
    """The column's value in the earliest row; ties are decided by ``tiebreak``, then by the value.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.
    ignorenulls
        Whether to pass over rows where the column is null.
    carry
        Take the value that holds when the window begins, if there is one: that of the latest row
        up to then, unless it is this much older, a duration. Windows without rows in which it holds
        are in the result, too.

    Notes
    -----
    A null counts as a value unless ``ignorenulls``, and comes first among rows with the same time
    and tiebreak. NaN is a value. With ``carry``, of several rows at one instant the last in order
    holds.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, null), (1, 2.5D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(opening=agg.first("price", ignorenulls=True)).first().opening
    2.5

    """
    if carry is not None:
        extent, every = read_carry(carry), not check_flag("first: ignorenulls", ignorenulls)
        return Call(_first_that_holds(extent, every=every), (column,), shown=(carry,))
    return _call_end("first", column, ignorenulls)


@aggregate(
    sample("double", gives="double"),
    sample("bigint", gives="bigint", ignorenulls=True),
    alike="columns",
)
def any_value(column: ColumnOrName, *, ignorenulls: bool = False) -> Call:
    """Some value: that of the earliest row, so that it is the same in every run.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.
    ignorenulls
        Whether to pass over rows where the column is null.

    Returns
    -------
    Call
        A value of the column's type, named as :func:`first` names it.

    Notes
    -----
    A null counts as a value unless ``ignorenulls``.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'A'), (1, 'A') as t(at, gate)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(gate=agg.any_value("gate")).first().gate
    'A'

    """
    return first(column, ignorenulls=ignorenulls)


@aggregate(
    sample("double", gives="double"),
    sample("bigint", gives="bigint", ignorenulls=True),
    names=("last_value",),
    alike="columns",
)
def last(column: ColumnOrName, *, ignorenulls: bool = False) -> Call:
    """The column's value in the latest row; ties are decided by ``tiebreak``, then by the value.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.
    ignorenulls
        Whether to pass over rows where the column is null.

    Notes
    -----
    A null counts as a value unless ``ignorenulls``, and comes first among rows with the same time
    and tiebreak. NaN is a value, the greatest of these.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 4.0D), (2, null) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(closing=agg.last("price", ignorenulls=True)).first().closing
    4.0

    """
    return _call_end("last", column, ignorenulls)


@aggregate(sample("double", gives="double", n=2))
def nth_youngest(column: ColumnOrName, n: int) -> Call:
    """The n-th latest value: the last reading but one, for example.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.
    n
        Which: 1 is the latest. At most 100000; a partial keeps this many values.

    Returns
    -------
    Call
        A value of the column's type; null if there are fewer than ``n``.

    Raises
    ------
    FanlightError
        If ``n`` is not a whole number from 1 to 100000. Also if Spark is older than 4.2.

    Notes
    -----
    Nulls are left out; NaN is a value. Suzanne et al., Table 1, call it holistic; for a fixed ``n``
    its partials are bounded here.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 4.0D), (2, null) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(before=agg.nth_youngest("price", 2)).first().before
    2.5

    """
    youngest = aggregate_of_field(
        "nth_youngest",
        Extremes(_NOT_NULL, count=check_position("nth_youngest", n), largest=True),
        f"get({{p}}, {n - 1}).v",
        lower_values=lowering_values.value_at(n - 1, of_struct=True),
        accepts="orderable",
        algebra="holistic",
        accumulation="selective",
    )
    return Call(youngest, (column,), (n,))


@aggregate(
    sample("double", gives="array<double>"),
    sample("string", gives="array<string>", distinct=True),
    names=("array_agg",),
    shown=False,
    alike="columns",
)
def collect_list(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """All values, in the order of rows: in time, then ``tiebreak``, then value.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.
    distinct
        Whether to give each value once, where its first row is.

    Returns
    -------
    Call
        An array of the column's type; empty where there is no value.

    Notes
    -----
    Nulls are left out; NaN is a value. Every value of a window is kept until its result is out.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (2, 4.0D), (1, null), (0, 2.5D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(prices=agg.collect_list("price")).first().prices
    [2.5, 4.0]

    """
    usual = f"collect_list(DISTINCT {column})" if isinstance(column, str) else ""
    if check_flag("collect_list: distinct", distinct):
        return Call(_LIST_OF_DISTINCT, (column,), usual=usual)
    return Call(_LIST, (column,))


@aggregate(
    sample("string", gives="string", delimiter="{start}'\\${spark.app.name}"),
    sample("string", gives="string", delimiter=", ", distinct=True),
    names=("string_agg",),
    in_row_order=True,
)
def listagg(column: ColumnOrName, delimiter: str = "", *, distinct: bool = False) -> Call:
    """All texts, one after the other in the order of rows, or each of them once.

    Parameters
    ----------
    column
        Text: a column's name or a Column.
    delimiter
        What stands between two texts.
    distinct
        Whether to give each text once, where its first row is.

    Returns
    -------
    Call
        A string; null if there is no text.

    Raises
    ------
    FanlightError
        If ``delimiter`` is not text.

    Notes
    -----
    Nulls are left out. Every text of a window is kept until its result is out.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (2, 'B'), (0, 'A'), (1, 'B') as t(at, gate)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(gates=agg.listagg("gate", ", ", distinct=True)).first().gates
    'A, B'

    """
    once = check_flag("listagg: distinct", distinct)
    usual = f"listagg(DISTINCT {column}, {delimiter})" if once and isinstance(column, str) else ""
    return Call(_make_joined(delimiter, distinct=once), (column,), usual=usual)


_IN_ORDER = "transform(sort_array({p}), e -> e.v)"
_ONCE = f"array_distinct({_IN_ORDER})"


def _make_list(read: str, lower_values: LowerValues) -> Aggregate:
    return aggregate_of_field(
        "collect_list", Collect(), f"coalesce({read}, array())", lower_values=lower_values,
        accepts="orderable", algebra="holistic",
    )  # fmt: skip


_LIST = _make_list(_IN_ORDER, lowering_values.values_in_order)
_LIST_OF_DISTINCT = _make_list(_ONCE, lowering_values.values_once)


def _make_joined(delimiter: object, *, distinct: bool) -> Aggregate:
    text = check_text("listagg: delimiter", delimiter, "delimiter=', '")
    lower = (
        f"if(size({{p}}) > 0, array_join({_ONCE if distinct else _IN_ORDER}, {{between}}), null)"
    )
    partials = Partials(
        {"p": Collect()}, lower, {"between": text},
        lower_values=lowering_values.join_texts(distinct=distinct),
    )  # fmt: skip
    return Aggregate("listagg", accepts="string", algebra="holistic", recipe=lambda _: partials)


def check_position(name: str, n: Any, argument: str = "n") -> int:
    """Return an argument of the aggregate ``name`` if it is a place; 1 is the first."""
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST:
        raise refuse(
            f"{name}({argument}={n!r})",
            f"is not a position from 1 to {MOST}",
            f"write for example {name}(column, 3)",
        )
    return n
