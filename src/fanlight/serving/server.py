"""``fl.serve``: what a key's trailing windows hold as of a time, from stored pieces, in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.algebra.stored import check_own
from fanlight.engine.spec.errors import explain_wrong_calls
from fanlight.engine.spec.trailing import Labelled, Trailing, read_labelled
from fanlight.serving.index import read_index

_EXAMPLE = "fl.serve('pieces', {'1h': fl.Trailing('1 hour')})"


@explain_wrong_calls(_EXAMPLE)
def serve(
    pieces: Any,
    spec: Trailing | Mapping[str, Trailing],
    *,
    aggregates: Sequence[Aggregate] = (),
) -> Server:
    """Answer for one key at a time from stored pieces, without Spark.

    For requests: the same values as from :func:`fanlight.roll_up` for training, in microseconds.

    Parameters
    ----------
    pieces
        The folder of Parquet files that ``pieces(…)`` of the windows wrote, a batch or a stream; or
        their pyarrow table; or a DataFrame, which is fetched. The server holds all pieces in
        memory.
    spec
        The trailing windows: one, or several by labels.
    aggregates
        Your own aggregates whose partials are in the table; they need ``lower_values``.

    Returns
    -------
    Server
        Ask it with :meth:`Server.ask`.

    Raises
    ------
    FanlightError
        If ``pieces`` is not a table of pieces, the windows do not consist of whole pieces, or an
        aggregate cannot be computed in Python: sketches, and your own without ``lower_values``.

    See Also
    --------
    Li et al., *No Pane, No Gain*, section 3 (PLQ and WLQ).

    Examples
    --------
    >>> import fanlight as fl
    >>> from fanlight import agg
    >>> bids = spark.sql("SELECT 'ann' AS who, timestamp_seconds(id) AS ts FROM range(600)")
    >>> minutes = fl.over(bids, fl.Sliding("1 minute"), time="ts", by="who")
    >>> server = fl.serve(minutes.pieces(bids=agg.count()), fl.Trailing("5 minutes"))
    >>> from datetime import datetime
    >>> server.ask("ann", at=datetime.fromisoformat("1970-01-01T00:02:30Z"))
    {'bids': 120}

    """
    return Server(pieces, read_labelled(spec), check_own(aggregates))


class Server:
    """Stored pieces in memory, ready to be asked; made by :func:`fanlight.serve`."""

    @explain_wrong_calls(_EXAMPLE)
    def __init__(self, pieces: Any, spec: Labelled, own: tuple[Aggregate, ...]) -> None:
        self._pieces, self._spec, self._own = pieces, spec, own
        self._index = read_index(pieces, spec, own)

    @explain_wrong_calls("server.ask('ann')")
    def ask(self, key: Any = (), *, at: datetime | int | None = None) -> dict[str, Any]:
        """What the windows of a key hold as of a time.

        It is that of the latest time, not after ``at``, at which windows are made of whole pieces:
        of pieces of a minute, the last full minute.

        Cost: microseconds for numbers. Other partials (lists, texts, moments) are combined in a
        tree, which the first question about a key makes.

        Parameters
        ----------
        key
            The value of the key; of several keys a tuple in their order; left out without keys.
        at
            When: a ``datetime`` with a time zone (without one for ``timestamp_ntz``), or a whole
            number for a time that is one. By default now.

        Returns
        -------
        dict
            A value for each aggregate and window, by the names that ``roll_up`` gives them. A key
            that is not known has counts of 0 and None.

        Raises
        ------
        FanlightError
            If the key or the time is of another type than the table's, or a sum does not fit its
            type.

        Examples
        --------
        >>> import fanlight as fl
        >>> paid = spark.sql("SELECT id AS day, id % 2 AS shop FROM range(10)")
        >>> days = fl.over(paid, fl.Sliding(1), time="day", by="shop")
        >>> week = fl.serve(days.pieces(n=fl.agg.count()), {"week": fl.Trailing(7)})
        >>> week.ask(1, at=9), week.ask(8, at=9)
        ({'n_week': 4}, {'n_week': 0})

        """
        return self._index.answer(key, at)

    @property
    def until(self) -> Any:
        """The end of the last piece, of any key; None of an empty table."""
        index = self._index
        return index.time_of(index.until) if len(index.starts) else None

    def reload(self) -> None:
        """Read the pieces again, if they were given by their folder: it may have grown."""
        self._index = read_index(self._pieces, self._spec, self._own)

    def __repr__(self) -> str:
        """The windows, and how many pieces there are."""
        return f"Server({self._spec!r} of {len(self._index.starts)} pieces)"
