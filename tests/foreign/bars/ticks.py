"""Invented trades, and which bars are asked of them; read by two Pythons: no other package."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded.json"
START = 1_704_067_200  # the first second
TRADES = 6_000
LIMITS = {"tick": 100, "volume": 5_000, "dollar": 500_000}
ROWS, FRAMES, VALUES = 400, 3, 200  # expected rows at first; of how many frames and values
FEWEST, MOST = 50, 1000  # expected rows at all times


def ticks() -> list[dict[str, Any]]:
    """A trade a second: prices that wander and at times trend, whole volumes."""
    draw = random.Random(11)
    price, lean, found = 100.0, 0.0, []
    for at in range(TRADES):
        if draw.random() < 0.01:
            lean = draw.choice((-0.3, 0.0, 0.0, 0.3))
        step = draw.random() + lean
        price = round(price + (0.01 if step > 0.66 else -0.01 if step < 0.33 else 0.0), 2)
        found.append({"at": START + at, "price": price, "volume": draw.randint(1, 99)})
    return found


def recorded() -> dict[str, list[int]]:
    """Of each kind of bars how many rows each bar has, as the other package found them."""
    text: dict[str, list[int]] = json.loads(RECORDED.read_text())["bars"]
    return text
