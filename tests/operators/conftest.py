"""Operators run with compiled kernels; thoroughly, each kernel runs as plain Python, too."""

from __future__ import annotations

import pytest

from fanlight.engine.kernels import jit
from tests.helpers.thorough import THOROUGH
from tests.kernels.both import run_both


@pytest.fixture(autouse=True, scope="session")
def kernels():
    """Kernels never wait for much to do; thoroughly, they are compared with plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_runs_in_python", lambda _: THOROUGH)
        patch.setattr(jit, "_run_in_python", run_both)
        yield
