"""What was there before a window begins, asked of every kind that time places."""

from __future__ import annotations

from tests.law.ask import asks

REQUESTS = {
    "rows": ("count",), "sum_n": ("sum", "n"), "values": ("count_distinct", "s"),
    "area": ("integral", "v"), "area_n": ("integral", "n"), "mean": ("time_weighted_avg", "v"),
    "mean_d": ("time_weighted_avg", "d"), "on": ("duration", "ok"), "more": ("increase", "c"),
    "pace": ("rate", "c"), "state": ("first", "s"),
}  # fmt: skip
ALONE = {name: REQUESTS[name] for name in ("mean", "state")}


def lengths(spec):
    """Shorter than a window, and longer than one."""
    first = spec[0] if isinstance(spec, list) else spec
    length = first.ranges[0] if hasattr(first, "ranges") else first.range
    whole = {"months": 2_592_000_000_000, "hours": 3_600_000_000}.get(length.measure, 1)
    size = int(length.value * whole)
    return max(size // 3, 1), size * 2 + 1


def carried(kind, about, specs, data, *, time="ts", requests=REQUESTS, **more):
    """An ask for each spec, and for each of two lengths."""
    return tuple(
        one
        for spec in specs
        for at, length in enumerate(lengths(spec))
        for one in asks(
            kind, f"{about}, carried {'far' if at else 'near'}", [spec],
            data(spec) if callable(data) else data, requests, time=time, action="carried",
            options={"carry": f"{length} microseconds" if time == "ts" else length,
                     "microseconds": length}, **more,
        )
    )  # fmt: skip
