"""UTC to the local time of a time zone, and back."""

from __future__ import annotations

from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from fanlight.engine.spec.errors import refuse

Array = np.ndarray[Any, Any]

# The times of which Python knows the offset, with a day to spare; others have that of the nearest.
_KNOWN = np.array(["0001-01-02", "9999-12-30"], "datetime64[us]")
_QUARTER = np.timedelta64(15, "m")  # UTC offsets change only at full quarters of an hour


def find_zone(argument: str, name: object) -> ZoneInfo:
    """The time zone of this name; an error names the ``argument`` it was given by."""
    try:
        return ZoneInfo(str(name))
    except (ValueError, OSError) as error:  # unknown names are a KeyError, too
        raise _unknown_zone(argument, name) from error
    except KeyError as error:
        raise _unknown_zone(argument, name) from error


def local_time(times: Array, zone: str) -> Array:
    """Instants in UTC as the clock of a time zone shows them, daylight saving and all.

    Parameters
    ----------
    times
        An array of ``datetime64``, in UTC.
    zone
        A name such as ``"Europe/Vienna"``.

    Raises
    ------
    FanlightError
        If there is no such time zone.

    >>> import numpy as np
    >>> local_time(np.array(["2024-05-01T12:00"], "datetime64[us]"), "Europe/Vienna")
    array(['2024-05-01T14:00:00.000000'], dtype='datetime64[us]')
    """
    times = times.astype("datetime64[us]")
    if zone == "UTC":
        return times
    time_zone = find_zone("zone", zone)
    valid = ~np.isnat(times)
    quarters, where = np.unique(
        times[valid] - (times[valid] - times[valid].astype("datetime64[D]")) % _QUARTER,
        return_inverse=True,
    )
    known = np.clip(quarters, *_KNOWN)
    ahead = [one.item().replace(tzinfo=UTC).astimezone(time_zone).utcoffset() for one in known]
    local: Array = times.copy()
    local[valid] += np.array(ahead, dtype="timedelta64[us]")[where]
    return local


def to_utc(times: Array, zone: str) -> Array:
    """Local times of a time zone as instants in UTC; in an hour that came twice, of the first.

    >>> import numpy as np
    >>> to_utc(np.array(["2024-05-01T14:00"], "datetime64[us]"), "Europe/Vienna")
    array(['2024-05-01T12:00:00.000000'], dtype='datetime64[us]')
    """
    if zone == "UTC":
        return times
    time_zone = find_zone("naive", zone)
    valid = ~np.isnat(times)
    distinct, where = np.unique(times[valid], return_inverse=True)
    known = np.clip(distinct, *_KNOWN)
    ahead = [one.item().replace(tzinfo=time_zone).utcoffset() for one in known]
    instants: Array = times.copy()
    instants[valid] -= np.array(ahead, dtype="timedelta64[us]")[where]
    return instants


def _unknown_zone(argument: str, name: object) -> Exception:
    return refuse(
        f"{argument}={name!r}",
        "is not a time zone",
        f"write for example {argument}='Europe/Vienna'",
    )
