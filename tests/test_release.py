"""What goes out: where its links lead, what stands in its way, and the recipe for conda."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tomllib
import zipfile

import pytest
import yaml
from packaging.requirements import Requirement

from scripts.release import checks
from scripts.release.__main__ import linked
from scripts.release.project import address, project, public, urls
from tests.helpers.house import ROOT

HOME = "https://example.org/owner/fanlight"


@pytest.mark.parametrize(
    ("remote", "known"),
    [
        (HOME, HOME),
        (f"{HOME}.git", HOME),
        ("https://name:secret@example.org/owner/fanlight.git", HOME),
        ("git@example.org:owner/fanlight.git", HOME),
        ("ssh://git@example.org/owner/fanlight", HOME),
        ("/srv/fanlight.git", None),
        ("http://localhost:3000/fanlight", None),
        ("https://localhost/fanlight", None),
    ],
)
def test_an_address_is_that_of_a_public_host(remote, known):
    assert public(remote) == known


def git(folder, *arguments):
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path):
    """A repository that is ready: a version, a dated change, a tag."""
    (tmp_path / "src/fanlight").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "src/fanlight/__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("## [1.2.3] - 2026-01-31\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "ready")
    git(tmp_path, "tag", "v1.2.3")
    return tmp_path


def test_nothing_stands_in_the_way_of_what_agrees(clone):
    assert list(checks.disagreements(clone)) == []


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("pyproject.toml", '[project]\nversion = "1.2.4"\n', "make them agree"),
        ("CHANGELOG.md", "## [1.2.3] - Unreleased\n", "no date for 1.2.3"),
        ("new.py", "", "changed since the last commit"),
    ],
)
def test_what_disagrees_is_told(clone, file, text, told):
    (clone / file).write_text(text)
    assert any(told in line for line in checks.disagreements(clone))


def test_a_commit_without_its_tag_is_told(clone):
    git(clone, "tag", "-d", "v1.2.3")
    assert any("git tag v1.2.3" in line for line in checks.disagreements(clone))


def test_the_address_is_told_or_that_of_the_remote(clone, monkeypatch):
    monkeypatch.delenv("REPOSITORY", raising=False)
    assert address(clone) is None
    git(clone, "remote", "add", "origin", "git@example.org:owner/fanlight.git")
    assert address(clone) == HOME
    monkeypatch.setenv("REPOSITORY", "https://example.org/other/fanlight")
    assert address(clone) == "https://example.org/other/fanlight"


def test_links_of_the_project_are_added_to_its_description():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    found = tomllib.loads(linked(text, urls(HOME, "1.2.3")))["project"]
    assert found.pop("urls") == urls(HOME, "1.2.3")
    assert found == project()
    inside = [link.partition("/v1.2.3/")[2] for link in urls(HOME, "1.2.3").values()]
    assert all((ROOT / name).is_file() for name in inside if name)


def wheel(folder, **changed):
    """A wheel with what one needs; ``changed`` has other texts, or None for no such file."""
    links = "".join(f"Project-URL: {name}, {link}\n" for name, link in urls(HOME, "1.2.3").items())
    told = f"Metadata-Version: 2.4\nName: fanlight\nVersion: 1.2.3\n{links}\n[a]({HOME}/b)\n"
    about = "fanlight-1.2.3.dist-info"
    files = {
        "fanlight/__init__.py": "",
        "fanlight/py.typed": "",
        f"{about}/licenses/LICENSE": "",
        f"{about}/METADATA": told,
    }
    files |= {name.replace("ABOUT", about): text for name, text in changed.items()}
    path = folder / "fanlight-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name, text in files.items():
            if text is not None:
                opened.writestr(name, text.replace("TOLD", told))
    return path


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, None),
        ({"fanlight/py.typed": None}, "lacks fanlight/py.typed"),
        ({"ABOUT/licenses/LICENSE": None}, "lacks the licence"),
        ({"tests/test_house.py": ""}, "has tests"),
        ({"ABOUT/METADATA": "TOLD[b](docs/sliding.md)"}, "leads nowhere"),
        ({"ABOUT/METADATA": "Version: 1.2.4\n\n"}, "of version 1.2.4"),
        ({"ABOUT/METADATA": "Version: 1.2.3\n\n"}, "links to {}"),
    ],
)
def test_faults_of_a_wheel_are_told(tmp_path, changed, fault):
    path = wheel(tmp_path, **changed)
    found = list(checks.faults_of_wheel(path, "1.2.3", urls(HOME, "1.2.3")))
    assert found == [] if fault is None else any(fault in line for line in found)


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (checks.IN_THE_SOURCE, None),
        (checks.IN_THE_SOURCE[1:], "lacks LICENSE"),
        ((*checks.IN_THE_SOURCE, "out/site/index.html"), "has out/site/index.html"),
    ],
)
def test_faults_of_a_source_are_told(tmp_path, names, fault):
    path = tmp_path / "fanlight-1.2.3.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"fanlight-1.2.3/{name}"), io.BytesIO())
    found = list(checks.faults_of_source(path))
    assert found == [] if fault is None else any(fault in line for line in found)


def test_the_recipe_for_conda_asks_for_what_the_project_asks_for():
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text("utf-8"))
    told = project()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]

    def asked(lines):
        return {(one.name, str(one.specifier)) for one in map(Requirement, lines)}

    python = f"python {told['requires-python']}"
    requirements = recipe["requirements"]
    assert recipe["context"] == {"name": told["name"], "version": told["version"]}
    assert asked(requirements["run"]) == asked([python, *told["dependencies"]])
    assert asked(requirements["host"]) == asked([python, "pip", *build])
    extras = told["optional-dependencies"]
    constrained = [*extras["kernels"], *(one for one in extras["spark"] if "fanlight" not in one)]
    assert asked(requirements["run_constraints"]) == asked(
        one.replace("[sql]", "") for one in constrained
    )
    assert recipe["about"]["summary"] == told["description"]
    assert recipe["about"]["license"] == told["license"]
    scripts = [f"{name} = {what}" for name, what in told["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
