"""Where compiled kernels are kept, and what happens where they cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fanlight
from fanlight.kernels import ranges

PACKAGE = Path(fanlight.__file__).parent
CODE = """
import numpy as np
from fanlight.kernels.ranges import range_max, range_sum
lo, hi = np.arange(90), np.arange(90) + 10
for values in (np.arange(100), np.arange(100) / 4):
    assert range_sum(values, None, lo, hi)[0].tolist() == [values[a:a+10].sum() for a in lo]
    assert range_max(values, None, lo, hi)[0].tolist() == values[9:99].tolist()
print("right", range_sum.__module__)
"""


@pytest.fixture
def home(tmp_path):
    """A copy of the kernels alone, with nothing compiled, and an environment that finds only it."""
    copy = tmp_path / "copy" / "fanlight"
    copy.mkdir(parents=True)
    (copy / "__init__.py").write_text("")
    shutil.copytree(
        PACKAGE / "kernels", copy / "kernels", ignore=shutil.ignore_patterns("__pycache__")
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    return copy / "kernels", {**env, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}


def start(env, code=CODE):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.startswith("right")


def kept(folder):
    return {path: path.stat().st_mtime_ns for path in Path(folder).rglob("*.nb[ic]")}


def test_the_plain_function_stays():
    assert ranges._sum_ints.__wrapped__.__name__ == "_sum_ints"


@pytest.mark.slow
def test_workers_that_start_at_once_share_one_cache(home, tmp_path):
    _, env = home
    env = {**env, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for process in [start(env) for _ in range(4)]:
        finished(process)
    first = kept(tmp_path / "cache")
    assert len(first) == 8  # four kernels, an index and its code each
    finished(start(env))
    assert kept(tmp_path / "cache") == first  # found, not made again


@pytest.mark.slow
def test_a_damaged_cache_is_no_failure(home, tmp_path):
    _, env = home
    env = {**env, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    finished(start(env))
    for number, path in enumerate(sorted(kept(tmp_path / "cache"))):
        path.write_bytes(b"" if number % 3 else path.read_bytes()[:100])
    finished(start(env))


@pytest.mark.slow
def test_nowhere_to_write_is_no_failure(home, tmp_path):
    """Files stand where the caches would have to be: not even root can write there."""
    kernels, env = home
    (kernels / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    nowhere = str(tmp_path / "home" / "x")
    finished(start({**env, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}))
    assert not kept(tmp_path)


@pytest.mark.slow
def test_a_read_only_install_uses_the_users_cache(home, tmp_path):
    kernels, env = home
    (kernels / "__pycache__").write_text("")
    finished(start({**env, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "user")}))
    assert len(kept(tmp_path / "user")) == 8


@pytest.mark.slow
def test_a_changed_source_gets_files_of_its_own(home, tmp_path):
    kernels, env = home
    env = {**env, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    finished(start(env))
    before = kept(tmp_path / "cache")
    source = kernels / "ranges.py"
    source.write_text(source.read_text("utf-8") + "\n# changed\n")
    finished(start(env))
    after = kept(tmp_path / "cache")
    assert len(after) == 16
    assert {path: after[path] for path in before} == before
