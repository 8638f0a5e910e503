"""The versions of Spark that fanlight is made for, and what is said of others."""

from __future__ import annotations

import warnings
from typing import Any
from weakref import WeakSet

import pyspark

from fanlight.engine.spec.errors import refuse

OLDEST, BEYOND = (3, 5), (4, 4)
REQUIREMENT = "pyspark[sql]>=3.5,<4.4"
_checked: WeakSet[Any] = WeakSet()  # sessions


def read_version(version: str) -> tuple[int, ...]:
    """The whole numbers at the beginning of a version.

    >>> read_version("17.0.13+11"), read_version("4.3.0-SNAPSHOT")
    ((17, 0), (4, 3))
    >>> read_version("of the cloud")
    ()
    """
    numbers: list[int] = []
    for part in version.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def at_least(version: str, since: tuple[int, int]) -> bool:
    """Whether a version of Spark is at least this one. Without numbers, it counts as newer."""
    numbers = read_version(version)[:2]
    return not numbers or numbers >= since


INSTALLED = read_version(pyspark.__version__)[:2]


def check_session(session: Any) -> None:
    """Refuse a Spark that is too old; warn, once a session, of one that has not been tried."""
    if session in _checked:
        return
    version = str(session.version)
    numbers = read_version(version)[:2]
    if numbers and numbers < OLDEST:
        raise refuse(
            f"Spark {version}", "is older than what fanlight needs", "use Spark 3.5 or newer"
        )
    said = tell_untried(version, INSTALLED)
    if said is not None:
        warnings.warn(f"{said[0]}: {said[1]}", RuntimeWarning, stacklevel=2)
    _checked.add(session)


def tell_untried(version: str, client: tuple[int, ...]) -> tuple[str, str] | None:
    """What is untried of a version of Spark with this PySpark, and what to do; None if nothing.

    >>> tell_untried("4.0.1", (4, 3))[0]
    'PySpark 4.3 talks to an older server, of Spark 4.0.1'
    """
    numbers = read_version(version)[:2]
    if numbers >= BEYOND:
        return (
            f"Spark {version} is newer than what this fanlight has been tried on",
            "upgrade fanlight, or run fl.doctor(spark) and compare a batch with what you know",
        )
    if numbers and numbers < client:
        told = ".".join(map(str, client))
        return (
            f"PySpark {told} talks to an older server, of Spark {version}",
            f"pip install 'pyspark[connect]=={version}': only older clients are kept going",
        )
    return None
