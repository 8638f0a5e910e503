"""Operators run with compiled kernels; thoroughly, each kernel runs as plain Python, too."""

from __future__ import annotations

import pytest

from tests.helpers.thorough import THOROUGH
from tests.kernels.both import without_waiting


@pytest.fixture(autouse=True, scope="module")
def kernels():
    """Calls are compared with those of plain Python only thoroughly, as that takes long."""
    with without_waiting(both=THOROUGH):
        yield
