"""placeholder"""

from __future__ import annotations
from typing import Any


def windows(bound: Any, fields: Any, plan: Any) -> Any:
    raise NotImplementedError
