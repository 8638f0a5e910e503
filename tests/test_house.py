"""The outside of the house: files that must be there, names that must be explained."""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections import Counter

import pytest

import fanlight
from fanlight import agg, plots
from fanlight.engine.spec.formats import RELEASE
from scripts import long_files
from tests.helpers.house import ROOT, own_files
from tests.helpers.imports import imports_of, modules_under

# A folder of one machine at the start of a path. Written so that this file does not match itself.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:work|root|home|Users)/\w")


def machine_paths(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if MACHINE_PATH.search(line)]


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"),
        *("ROADMAP.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md", ".github/CODEOWNERS"),
        *("Makefile", "pyproject.toml", ".ci/run", "scripts/uncompressed.cfg"),
        *(".pre-commit-config.yaml", ".github/workflows/ci.yml", ".github/workflows/release.yml"),
        ".github/workflows/audit.yml",
        ".github/workflows/canary.yml",
        *(".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/feature.yml"),
        "src/fanlight/py.typed",
    ],
)
def test_file_is_there(name):
    assert (ROOT / name).is_file()


@pytest.mark.parametrize("name", [".ci/run", "scripts/java.sh", "scripts/venv.sh"])
def test_script_can_be_run(name):
    assert os.access(ROOT / name, os.X_OK)
    assert (ROOT / name).read_text("utf-8").startswith("#!")


def test_no_file_names_a_folder_of_one_machine():
    found = {}
    files = own_files()
    assert ROOT / "pyproject.toml" in files
    for path in files:
        try:
            lines = machine_paths(path.read_text("utf-8"))
        except UnicodeDecodeError:
            continue  # not a text file
        if lines:
            found[str(path.relative_to(ROOT))] = lines
    assert found == {}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("cd /" + "home/ada/fanlight", True),
        ('open("/' + 'root/data.csv")', True),
        ("see https://example.org/" + "home/page", False),
        ("src/" + "work/file", False),
    ],
)
def test_a_machine_path_is_seen(text, seen):
    assert bool(machine_paths(text)) is seen


def unexplained(module) -> list[str]:
    """Public names without a docstring of their own (a dataclass gets one that says nothing)."""
    found = []
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, (str, tuple)):
            continue  # the version, colours
        text = (thing.__doc__ or "").strip()
        if not text or (inspect.isclass(thing) and text.startswith(f"{name}(")):
            found.append(name)
    return found


@pytest.mark.parametrize("module", [fanlight, agg, plots], ids=lambda one: one.__name__)
def test_every_public_name_has_a_docstring(module):
    assert module.__all__
    assert unexplained(module) == []


def test_one_version_everywhere():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)
    assert newest is not None
    assert fanlight.__version__ == RELEASE == declared == newest[1]


TESTS = {**modules_under(ROOT / "tests", ROOT), **modules_under(ROOT / "scripts", ROOT)}


def imported_tests(source: str, name: str) -> list[str]:
    """The test files that a module imports, which are to be run and not to be used."""
    found = imports_of(source, name, known=frozenset(TESTS))
    return [one.module for one in found if one.module.rpartition(".")[2].startswith("test_")]


def test_no_two_test_files_have_one_name():
    """Pytest imports a test file by its name alone, and stops at the second of one name."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []


def test_no_test_file_is_imported():
    """What two test files need is in a module that is none: see tests/README.md."""
    found = {name: imported_tests(path.read_text("utf-8"), name) for name, path in TESTS.items()}
    assert {name: taken for name, taken in found.items() if taken} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from tests.test_house import ROOT",
        "from tests import test_house",
        "import tests.operators.test_chain as chain",
        "from tests.operators import chained, test_chain",
    ],
)
def test_an_imported_test_file_is_seen(source):
    assert len(imported_tests(source, "tests.spark.test_made")) == 1


def test_lines_of_code_are_neither_docstrings_nor_comments_nor_blank():
    source = '"""What\nit is."""\n\n# why\nx = """a\n\nb"""  # so\n\n\ndef f():\n    "It is."\n'
    assert long_files.count(source + "    return x\n") == 5
