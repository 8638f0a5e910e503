"""Kernels run twice: compiled, and as plain Python."""

from __future__ import annotations

import pytest

from fanlight.engine.kernels import jit
from tests.kernels.both import run_both


@pytest.fixture(autouse=True, scope="session")
def kernels():
    """Each call is compared with that of plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_runs_in_python", lambda _: True)
        patch.setattr(jit, "_run_in_python", run_both)
        yield
