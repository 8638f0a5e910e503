"""A kind of window, as the law knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.law.ask import Ask


@dataclass(frozen=True)
class Kind:
    """Its oracle by terminal method, its strategies, and what is asked of it.

    ``batch`` and ``stream`` run on a classic session, ``connect`` on a Connect session, ``sample``
    and ``stream_sample`` under every setting. ``example`` is a spec and its time, to ask the
    library for its strategies. ``in_python`` says of an ask whether a stream of it runs in a
    stateful operator in Python, and so needs RocksDB, as the kind's page in ``docs/`` tells users.
    """

    name: str
    oracles: Mapping[str, Callable[[Ask, list[dict[str, Any]]], list[Any]]]
    strategies: tuple[str, ...]
    example: tuple[Any, Any]
    in_python: Callable[[Ask], bool]
    batch: tuple[Ask, ...]
    stream: tuple[Ask, ...]
    connect: tuple[Ask, ...]
    sample: tuple[Ask, ...]
    stream_sample: tuple[Ask, ...]
