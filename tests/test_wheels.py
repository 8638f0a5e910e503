"""What `make wheels` tries: every kind of window, and every extra that a user may install."""

from __future__ import annotations

import ast
import sys

import fanlight as fl
from scripts import wheels
from scripts.versions_page import page_of
from tests.helpers.house import PROJECT
from tests.wheel import first_script

KINDS = wheels.CHECKS / "kinds.py"
FOR_US = {"dev", "bench", "demo", "docs", "experiments", "release"}
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
    assert {one for room, _ in tried for one in room.extra.split(",")} == {*extras, ""}
    assert {(room.extra, room.version) for room, _ in tried} >= {
        (extra, version)
        for extra in ("spark", "connect", wheels.AROUND)
        for version in ("oldest", "newest")
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


def test_the_first_script_is_the_one_of_the_page():
    code, table = first_script.first_script()
    compile(code, "first.py", "exec")
    assert "PYSPARK_PYTHON" in code
    assert code.count("fl.over(") == 1
    assert table.startswith("+---------+")


def test_a_warning_of_the_first_script_is_seen_unless_spark_says_it_of_itself():
    of_spark = "25/01/01 12:00:00 WARN NativeCodeLoader: Unable to load native-hadoop library "
    of_spark += "for your platform... using builtin-java classes where applicable"
    others = ["first.py:3: FutureWarning: spell it out", "25/01/01 WARN Utils: truncated"]
    assert first_script.warnings_in("\n".join([of_spark, *others, "+---+"])) == others


def test_the_page_says_what_was_tried_and_what_was_refused():
    tried = {
        "kind": "classic",
        "python": "3.11.7",
        "pandas": "2.3.3",
        "java": "17.0.1",
        "wrong": [],
    }
    page = page_of(
        [
            {**tried, "spark": "4.0.1", "done": 90, "refused": {"approximate, batch": "4.1"}},
            {**tried, "spark": "3.5.6", "done": 91, "refused": {"approximate, batch": "4.1"}},
            {**tried, "spark": "4.10.0", "done": 92, "refused": {}},
            {**tried, "spark": "4.10.0", "kind": "around", "right": ["`fl.watch`", "`fl.doctor`"]},
            {**tried, "spark": "3.5.6", "kind": "around", "right": ["`fl.watch`"]},
        ]
    )
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| 3.5.6", "| 4.0.1", "| 4.10.0"]
    assert lines[3] == "| 4.0.1 | classic | 3.11.7 | 2.3.3 | 17.0.1 | 89 right | 1 |"
    assert lines[7] == "| approximate, batch | 3.5 classic, 4.0 classic | 4.1 |"
    assert lines[8] == "|  | 3.5.6 | 4.10.0 |"
    assert lines[-2:] == ["| `fl.watch` | yes | yes |", "| `fl.doctor` | no | yes |"]
