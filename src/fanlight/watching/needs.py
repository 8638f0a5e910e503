"""What each kind of window needs besides Spark SQL, in a batch and in a stream."""

from __future__ import annotations

from fanlight.engine.kinds import list_kinds
from fanlight.engine.kinds.kind import Feature, Need


def list_features() -> tuple[Feature, ...]:
    """All kinds of windows and results, each with what it needs; each once."""
    return tuple(dict.fromkeys(one for kind in list_kinds() for one in kind.features))


def list_needing(need: Need) -> tuple[str, ...]:
    """The kinds of windows that have this need, and whether in batches or in streams, in words.

    >>> list_needing("RocksDB")[0]
    'windows over time while they are open: streams'
    """
    kinds_in_need = []
    for feature in list_features():
        where = [
            name
            for name, needs in (("batches", feature.batch), ("streams", feature.stream))
            if need in needs
        ]
        if where:
            kinds_in_need.append(f"{feature.name}: {' and '.join(where)}")
    return tuple(kinds_in_need)
