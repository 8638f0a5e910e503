"""What only frames have: why one of them ended."""

from __future__ import annotations

from fanlight.engine.algebra.aggregate import Aggregate, Call
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.monoids import Max
from fanlight.engine.algebra.registry import aggregate, sample

_CAUSE = Aggregate("cause", {"p": Max("{until}")}, let("until", "{p}", "{cause}"), arity=0)


@aggregate(sample(gives="string"))
def cause() -> Call:
    """Why a frame ended: by a gap, by its greatest duration or number of rows, or by its scheme.

    Returns
    -------
    Call
        A word, null of a frame that is still open; the first of these that is true:

        - ``gap``: no row came for its ``max_gap``, or the gap of a :class:`fanlight.Session`. It
          ends at the latest time up to which one of its rows kept it open.
        - ``duration``: it ends ``max_duration`` after its first row.
        - ``rows``: it has ``max_rows`` rows.
        - ``predicate`` (``ThresholdFrame``, ``PredicateFrame``), ``boundary``, ``state``, ``delta``
          or ``limit`` (``AggregateFrame``): a row ended it, as its scheme says.
        - ``forgotten``: nothing closed it, and its key was silent for ``forget_after``.

    Raises
    ------
    FanlightError
        By the windows' agg: if they are not frames; by ``accumulate``, whose parts come before the
        end of their frame is known. Also with ``where``, and in ``+``, ``-``, ``*`` or ``/``.

    Notes
    -----
    Time comes first: if a row ends a frame at the very time at which its gap would, the word is
    ``gap``. Parts that ``split`` makes have the word of the whole frame. Cost: with a gap, the time
    up to which rows keep a frame open; otherwise nothing.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'on'), (3, 'off'), (99, 'off') as t(at, status)")
    >>> frames = fl.over(df, fl.StateFrame("status", max_gap=60), time="at")
    >>> [row.why for row in frames.agg(why=agg.cause()).orderBy("window").collect()]
    ['state', 'gap', 'gap']

    """
    return Call(_CAUSE, ())
