"""What `make wheels` tries: every kind of window, and every extra that a user may install."""

from __future__ import annotations

import ast
import sys

import fanlight as fl
from scripts import wheels
from tests.helpers.house import PROJECT

KINDS = wheels.CHECKS / "kinds.py"
FOR_US = {"dev", "bench", "docs", "experiments", "release"}
NO_WINDOWS = {"Episode", "FanlightError", "Rows"}


def test_every_kind_of_window_is_tried():
    tried = {
        node.func.attr
        for node in ast.walk(ast.parse(KINDS.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    kinds = {name for name in fl.__all__ if isinstance(vars(fl).get(name), type)} - NO_WINDOWS
    assert len(kinds) > 8
    assert kinds <= tried


def test_every_extra_is_tried():
    tried = list(wheels.checks(["oldest", "newest"], everything=False))
    extras = set(PROJECT["optional-dependencies"]) - FOR_US
    assert {extra for extra, *_ in tried} == extras
    assert {(extra, version) for extra, version, _ in tried} >= {
        (extra, version) for extra in ("spark", "connect") for version in ("oldest", "newest")
    }


def test_only_what_the_wheel_brings_is_imported():
    """The scripts run where there is neither pytest nor a folder of tests."""
    brought = {"fanlight", "pyarrow", "pyspark", *sys.stdlib_module_names, "pysail"}  # make sail
    brought |= {path.stem for path in wheels.CHECKS.glob("*.py")}
    for path in wheels.CHECKS.glob("*.py"):
        tops = {
            (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        assert {top.partition(".")[0] for top in tops} <= brought
