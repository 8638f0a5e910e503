"""Where compiled kernels are kept, and what happens where they cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fanlight
from fanlight.engine.kernels import jit, ranges

KERNELS = Path(fanlight.__file__).parent / "engine" / "kernels"
# Two kernels that are compiled in no time.
TINY = """
from fanlight.engine.kernels.jit import FLOAT, FLOATS, INT, INTS, kernel

@kernel(INT(INTS))
def total(values):
    found = 0
    for value in values:
        found += value
    return found

@kernel(FLOAT(FLOATS))
def first(values):
    return values[0]
"""
CODE = """
import numpy as np
from fanlight.engine.kernels import jit
jit.FEW = -1  # whatever there is to do
from fanlight.engine.kernels.tiny import first, total
assert total(np.arange(100)) == 4950
assert first(np.arange(100) / 4 + 1) == 1
print("right", total.__module__)
"""
# As they are, before the tests of kernels put others in their place.
RUNS_IN_PYTHON, RUN_IN_PYTHON = jit._runs_in_python, jit._run_in_python
FILES = 4  # of each kernel an index and its code


@pytest.fixture
def home(tmp_path):
    """Tiny kernels and the decorator, with nothing compiled; an environment that finds only it."""
    root = tmp_path / "copy"
    copy = root / "fanlight" / "engine" / "kernels"
    copy.mkdir(parents=True)
    for above in (copy.parent, copy.parent.parent):
        (above / "__init__.py").write_text("")
    for name in ("__init__.py", "jit.py"):
        shutil.copy(KERNELS / name, copy)
    (copy / "tiny.py").write_text(TINY)
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    return copy, {**env, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}


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
    assert len(first) == FILES
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
    assert len(kept(tmp_path / "user")) == FILES


@pytest.mark.slow
def test_a_changed_source_gets_files_of_its_own(home, tmp_path):
    kernels, env = home
    env = {**env, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    finished(start(env))
    before = kept(tmp_path / "cache")
    source = kernels / "tiny.py"
    source.write_text(source.read_text("utf-8") + "\n# changed\n")
    finished(start(env))
    after = kept(tmp_path / "cache")
    assert len(after) == 2 * FILES
    assert {path: after[path] for path in before} == before


# The closure is too long to be compiled into the loops that call it.
STEPS = """
from fanlight.engine.kernels.jit import jitable

def moving(count):
    @jitable
    def moved(counts, values, first, last, lo, hi):
        while first < last and first < lo:
            if values[first] >= 0:
                count(counts, values[first], -1)
            first += 1
        if last < lo:
            first = last = lo
        while last < hi:
            if values[last] >= 0:
                count(counts, values[last], 1)
            last += 1
        return first, last
    return moved

@jitable
def once(counts, value, more):
    counts[value] += more

@jitable
def twice(counts, value, more):
    counts[value] += 2 * more

through_once, through_twice = moving(once), moving(twice)
"""
STEPPED = """
import numpy as np
from fanlight.engine.kernels.jit import INT, INTS, kernel
from fanlight.engine.kernels.steps import through_once, through_twice

@kernel(INT(INTS))
def in_ones(values):
    counts = np.zeros(1, np.int64)
    held = (0, 0)
    for i in range(len(values)):
        held = through_once(counts, values, held[0], held[1], i // 2, i + 1)
    return counts[0]

@kernel(INT(INTS))
def in_twos(values):
    counts = np.zeros(1, np.int64)
    held = (0, 0)
    for i in range(len(values)):
        held = through_twice(counts, values, held[0], held[1], i // 2, i + 1)
    return counts[0]
"""
COUNTED = """
import numpy as np
from fanlight.engine.kernels.stepped import in_ones, in_twos
"""
ONES = "assert in_ones(np.zeros(100, np.int64)) == 51"
TWOS = "assert in_twos(np.zeros(100, np.int64)) == 102"
THREES = "assert in_twos(np.zeros(100, np.int64)) == 153"


@pytest.fixture
def stepping(home, tmp_path):
    """Two kernels that call closures of one name, in another file."""
    kernels, env = home
    (kernels / "steps.py").write_text(STEPS)
    (kernels / "stepped.py").write_text(STEPPED)
    return kernels, {**env, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}


def counted(env, *lines):
    finished(start(env, "\n".join([COUNTED, *lines, "print('right')"])))


@pytest.mark.slow
@pytest.mark.parametrize("order", [(ONES, TWOS), (TWOS, ONES)])
def test_closures_of_one_name_from_two_processes_are_told_apart(stepping, order):
    _, env = stepping
    for line in order:
        counted(env, line)
    counted(env, *order)


@pytest.mark.slow
def test_a_kernel_whose_callee_has_changed_is_made_anew(stepping):
    kernels, env = stepping
    counted(env, TWOS)
    (kernels / "steps.py").write_text(STEPS.replace("2 * more", "3 * more"))
    counted(env, THREES)


@pytest.mark.parametrize(
    ("few", "patience", "compiled"), [(100, 1.0, False), (99, 1.0, True), (100, -1.0, True)]
)
def test_a_kernel_is_compiled_once_there_is_much_to_do(monkeypatch, few, patience, compiled):
    """The rows of a call decide, and the time that calls before have taken."""
    monkeypatch.setattr(jit, "_runs_in_python", RUNS_IN_PYTHON)
    monkeypatch.setattr(jit, "_run_in_python", RUN_IN_PYTHON)
    monkeypatch.setattr(jit, "FEW", few)
    monkeypatch.setattr(jit, "PATIENCE", patience)
    monkeypatch.setattr(jit._in_python, "seconds", 0.0)
    made = []
    monkeypatch.setattr(jit, "compile_kernel", lambda *told: made.append(told) or told[0])

    @jit.kernel(jit.INT(jit.INTS, jit.INT))
    def total(values, more):
        return values.sum() + more

    assert [total(np.arange(100), 2**63 - 1) for _ in range(2)] == [-(2**63) + 4949] * 2
    assert len(made) == compiled
