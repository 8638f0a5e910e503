"""Lengths of windows in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from fanlight.engine.spec.units import write_duration


def spell_duration(length: Any) -> str:
    """The length of a window in words: a duration, or a number.

    >>> import numpy as np
    >>> spell_duration(np.timedelta64(90, "m")), spell_duration(2.5)
    ('90 minutes', '2.5')
    """
    if isinstance(length, np.timedelta64):
        return write_duration(int(length / np.timedelta64(1, "us")))
    return f"{float(length):g}"
