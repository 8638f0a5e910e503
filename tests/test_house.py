"""The outside of the house: files that must be there, names that must be explained."""

from __future__ import annotations

import inspect
import os
import re
import tomllib

import pytest

import fanlight
from fanlight import agg, plots
from tests.helpers.house import ROOT, own_files

# A folder of one machine at the start of a path. Written so that this file does not match itself.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:work|root|home|Users)/\w")


def machine_paths(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if MACHINE_PATH.search(line)]


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"),
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
    assert fanlight.__version__ == declared == newest[1]
