"""Connection records after the published schema of the LBL-CONN-7 trace. They are generated.

The trace has one line a wide-area TCP connection: timestamp, duration, protocol, bytes sent each
way, local host, remote host, state, flags. Here durations and bytes are log-normal, protocols and
hosts Zipf-like: the shape of such traffic, none of its values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

PROTOCOLS = 24


class Connections(NamedTuple):
    """Records in order of time, ``rate`` of them each timestamp."""

    timestamp: np.ndarray
    duration: np.ndarray
    protocol: np.ndarray
    size: np.ndarray
    remote: np.ndarray
    rate: int


def connections(timestamps, rate, *, protocols=PROTOCOLS, hosts=10_000, seed=20100628):
    rng = np.random.default_rng(seed)
    count = timestamps * rate
    share = 1 / np.arange(1, protocols + 1)
    return Connections(
        np.repeat(np.arange(timestamps), rate),
        rng.lognormal(1.0, 1.5, count),
        rng.choice(protocols, count, p=share / share.sum()),
        rng.lognormal(7.0, 2.0, count).astype(np.int64),
        np.minimum(rng.zipf(1.4, count), hosts) - 1,
        rate,
    )
