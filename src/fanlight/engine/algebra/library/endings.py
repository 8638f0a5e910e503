"""What only frames have: why one of them ended."""

from __future__ import annotations

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.monoids import Max
from fanlight.engine.algebra.registry import aggregate, sample

_CAUSE = Aggregate(
    "cause", {"p": Max("{until}")}, let("until", "{p}", "{cause}"),
    arity=0, accepts="any", accumulation="selective",
)  # fmt: skip


@aggregate(sample(gives="string"))
def cause() -> Call:
    """Why a frame ended: by a gap, by its greatest duration or number of rows, or by its scheme.

    Returns
    -------
    Call
        A word, the first of these that is true. ``gap``: it ends at the latest time up to which one
        of its rows kept it open, by ``max_gap`` or the gap of a :class:`fanlight.Session`.
        ``duration``: it ends ``max_duration`` after its first row. ``rows``: it has ``max_rows``
        rows. ``predicate`` (threshold and predicate frames), ``boundary``, ``state``, ``delta`` or
        ``limit`` (aggregate frames): a row ended it, by its scheme. ``forgotten``: nothing closed
        it, and its key was silent for ``forget_after``, or the batch ends. Null: it is still open.

    Raises
    ------
    FanlightError
        By the windows' agg: if they are not frames; by ``accumulate``, whose parts come before the
        end of their frame is known. Also with ``where``, and in ``+``, ``-``, ``*`` or ``/``.

    Notes
    -----
    ``closed`` is false where it is null or ``forgotten``. If a row ends a frame at the very time at
    which its gap would, the word is ``gap``. Parts that ``split`` makes have the word of the whole
    frame. Cost: a time is kept of each frame, up to which its rows keep it open.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'on'), (3, 'off'), (99, 'off') as t(at, status)")
    >>> frames = fl.over(df, fl.StateFrame("status", max_gap=60), time="at")
    >>> [row.why for row in frames.agg(why=agg.cause()).orderBy("window").collect()]
    ['state', 'gap', 'gap']

    """
    return Call(_CAUSE, ())
