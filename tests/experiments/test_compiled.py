"""Compiled loops of the experiments: their types, and that what numba keeps is what was written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import experiments
from experiments.compiled import FLOAT, FLOATS, INT, INTS, compiled

ROOT = Path(experiments.__file__).parents[1]

HELP = """
from numba.extending import register_jitable

@register_jitable
def weight(value):
    return value * {factor}
"""
LOOP = """
import sys

import numpy as np

from experiments.compiled import FLOAT, FLOATS, INT, INTS, compiled
from help import weight

def total(values):
    found = values[0] * 0
    for value in values:
        found += weight(value)
    return found

ints, floats = compiled(INT(INTS))(total), compiled(FLOAT(FLOATS))(total)
"""
RUN = """
import numpy as np
from loop import floats, ints
print(ints(np.array([1, 2])), floats(np.array([0.5, 0.75])))
"""


def total(values):
    found = values[0] * 0
    for value in values:
        found += value
    return found


def test_types_are_told_not_guessed():
    ints, floats = compiled(INT(INTS))(total), compiled(FLOAT(FLOATS))(total)
    assert ints(np.array([1, 2])) == 3
    assert floats(np.array([0.5, 0.75])) == 1.25
    with pytest.raises(TypeError, match="No matching definition"):
        ints(np.array([0.5, 0.75]))


def test_the_plain_function_stays():
    assert compiled(INT(INTS))(total).__wrapped__ is total


@pytest.fixture
def told(tmp_path):
    """What a new process says, and the compiled files that are there afterwards."""
    cache = tmp_path / "cache"
    path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
    (tmp_path / "loop.py").write_text(LOOP, "utf-8")

    def run(factor):
        (tmp_path / "help.py").write_text(HELP.format(factor=factor), "utf-8")
        ran = subprocess.run(
            [sys.executable, "-B", "-c", RUN], env=env, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split(), {p: p.stat().st_mtime_ns for p in cache.rglob("*.nb[ic]")}

    return run


@pytest.mark.slow
def test_what_is_kept_is_found_again_until_a_source_changes(told):
    answer, first = told(1)
    assert answer == ["3", "1.25"]
    assert len(first) == 4  # one function, two signatures: an index and its code each
    assert told(1) == (answer, first)
    answer, after = told(2)
    assert answer == ["6", "2.5"]  # the file of the loop is as before, what it calls is not
    assert {path: after[path] for path in first} == first
    assert len(after) == 8
