"""Kernels run twice: compiled, and as plain Python."""

from __future__ import annotations

import pytest

from tests.kernels.both import without_waiting


@pytest.fixture(autouse=True, scope="module")
def kernels():
    """Each call is compared with that of plain Python."""
    with without_waiting(both=True):
        yield
