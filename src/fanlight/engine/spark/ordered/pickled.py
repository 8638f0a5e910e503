"""A value pickled in advance, so that a worker imports what it needs only when it is used.

Python's pickler takes no function or class that a user has written in a notebook or inside another
function; Spark's does, but is not public. So the user's objects are kept beside the bytes, and
Spark pickles them with the object that holds both.
"""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

_OURS = {"fanlight", "pyarrow"}


_PLAIN = (type(None), bool, int, float, str, bytes, tuple, list, dict, set, frozenset)


class Pickled:
    """One of our objects, pickled; a user's objects in it stay outside, for Spark to pickle."""

    def __init__(self, value: Any) -> None:
        file = BytesIO()
        self._users: list[Any] = []
        _Pickler(file, self._users).dump(value)
        self._ours = file.getvalue()

    def value(self) -> Any:
        """The value."""
        return _Unpickler(BytesIO(self._ours), self._users).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, users: list[Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._users = users

    def persistent_id(self, obj: Any) -> int | None:
        if type(obj) in _PLAIN or _is_ours(obj):
            return None
        self._users.append(obj)
        return len(self._users) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, users: list[Any]) -> None:
        super().__init__(file)
        self._users = users

    def persistent_load(self, pid: Any) -> Any:
        return self._users[pid]


def _is_ours(value: Any) -> bool:
    """Whether an object, or its class, is from a package that every worker can import."""
    home = value if hasattr(value, "__qualname__") else type(value)  # functions and classes have it
    return str(getattr(home, "__module__", "")).partition(".")[0] in _OURS
