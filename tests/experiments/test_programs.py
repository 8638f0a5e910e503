"""The programs around the library: click reads their words, and they say what they are for."""

from __future__ import annotations

import ast
import importlib

import click
import pytest
from click.testing import CliRunner

from tests.helpers.house import ROOT

PROGRAMS = [
    "benchmarks.__main__",
    "benchmarks.against",
    "experiments.draw",
    "experiments.frames.__main__",
    "experiments.fraud.__main__",
    "experiments.multi_granular.__main__",
    "experiments.multi_granular.on_spark",
    "experiments.multi_granular.precision",
    "experiments.multi_granular.streamed",
    "experiments.panes.__main__",
    "experiments.panes.choices",
    "experiments.panes.on_spark",
    "experiments.seams.__main__",
    "experiments.spanning.__main__",
    "experiments.widening.__main__",
    "scripts.wheels",
    "tests.breakages.__main__",
    "tests.fuzz.__main__",
    "tests.soak.__main__",
]
# Before anything is installed, by an address alone; and what other programs start.
BARE = {
    "scripts/links.py", "tests/soak/child.py", "tests/soak/divided.py",
    "tests/wheel/around.py", "tests/wheel/bases.py", "tests/wheel/check.py",
    "tests/wheel/on_sail.py", "tests/spark/played_program.py", "tests/packaging/invented.py",
    "tests/packaging/shipped.py", "benchmarks/first.py", "benchmarks/on_master.py",
    "tests/operators/test_guard.py", "tests/spark/test_other_pythons.py",
    "tests/helpers/sampled.py",
}  # fmt: skip
READERS = {"argparse", "optparse", "getopt"}


def imports(source):
    tree = ast.walk(ast.parse(source))
    return {
        name.name if isinstance(node, ast.Import) else f"{node.module}.{name.name}"
        for node in tree if isinstance(node, (ast.Import, ast.ImportFrom)) for name in node.names
    }  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_a_program_says_what_it_is_for(name, asked):
    main = importlib.import_module(name).main
    assert isinstance(main, click.Command)
    assert main.help
    for one in main.params:
        if isinstance(one, click.Option) and not one.hidden:
            assert one.help, one.name
            assert one.help.endswith("."), one.help
    told = CliRunner().invoke(main, [asked])
    assert told.exit_code == 0
    assert told.output.startswith("Usage: ")
    wrong = CliRunner().invoke(main, ["--no-such-option"])
    assert wrong.exit_code == 2


def test_no_program_reads_its_words_by_itself():
    for folder in ("benchmarks", "experiments", "scripts", "src", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            source = path.read_text("utf-8")
            if any(name in source for name in READERS):  # most need not be parsed
                assert not READERS & imports(source), path
            if "sys.argv" in source and path.name != "test_programs.py":
                assert str(path.relative_to(ROOT)) in BARE


def test_breakages_are_listed():
    from tests.breakages.__main__ import main

    told = CliRunner().invoke(main, ["--list"])
    assert told.exit_code == 0
    assert len(told.output.splitlines()) > 50
