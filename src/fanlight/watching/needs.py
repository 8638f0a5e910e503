"""What each kind of window needs besides Spark SQL, in a batch and in a stream."""

from __future__ import annotations

from fanlight.engine.kinds import list_kinds
from fanlight.engine.kinds.kind import Feature, Need


def features() -> tuple[Feature, ...]:
    """The kinds of windows and results that need the same things, each once."""
    return tuple(dict.fromkeys(one for kind in list_kinds() for one in kind.features))


def needing(need: Need) -> tuple[str, ...]:
    """What needs it, in words.

    >>> needing("RocksDB")[0]
    'windows over rows, windows at every row: streams'
    """
    found = []
    for feature in features():
        where = [
            name
            for name, needs in (("batches", feature.batch), ("streams", feature.stream))
            if need in needs
        ]
        if where:
            found.append(f"{feature.name}: {' and '.join(where)}")
    return tuple(found)
