"""An environment is made from its lock, whatever an index has since; what fails says why."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.packaging.invented import Project

pytestmark = pytest.mark.installs

ALL = {"alpha-1.0", "beta-1.0", "gamma-1.0", "uv-1.0", "invented-1.0"}
ONLY_PIP = {"UV_FIND_LINKS": ""}  # an index that only pip is told of
NO_NETWORK = {
    **ONLY_PIP,
    "PIP_NO_INDEX": "",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "0",
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
}


@pytest.fixture
def new(tmp_path):
    """A checkout in which nothing has been set up."""
    return Project(tmp_path)


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty") / "environment"
    subprocess.run([Project.python, "-m", "venv", folder], check=True)
    return folder


@pytest.fixture
def project(new, empty):
    """A checkout whose set-up was stopped when the environment was there, and nothing in it."""
    shutil.copytree(empty, new.root / ".venv", symlinks=True)
    return new


def says(done, *words):
    """The set-up has failed, and its last line alone says what to do."""
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("venv.sh: ")
    for word in words:
        assert word in last
    return True


@pytest.mark.parametrize(
    "settings",
    [{}, ONLY_PIP, {"PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1"}, {"HOME": "/nowhere"}],
    ids=["uv", "pip", "no cache", "no home"],
)
def test_newer_releases_change_nothing(project, settings):
    done = project.set_up(**settings)
    assert done.returncode == 0, done.stderr
    assert project.installed() == ALL
    assert (project.root / ".venv/.ready").exists()
    assert ("with pip, which takes longer" in done.stdout) == (settings == ONLY_PIP)


def test_the_demo_has_an_environment_of_its_own(new):
    new.lock("demo", *new.lines.values())
    assert new.set_up("demo").returncode == 0
    assert new.installed(".venv-demo") == ALL
    assert not (new.root / ".venv").exists()
    assert new.set_up("page").returncode == 2


@pytest.mark.parametrize("settings", [{}, ONLY_PIP], ids=["uv", "pip"])
def test_a_lock_that_lacks_a_package_is_seen(project, settings):
    project.lock("dev", project.lines["alpha"], project.lines["gamma"])
    done = project.set_up(**settings)
    assert says(done, "requirements/dev.txt")
    assert "beta" in done.stderr
    assert not (project.root / ".venv/.ready").exists()
    project.lock("dev", *project.lines.values())
    assert project.set_up(**settings).returncode == 0  # it goes on from there
    assert project.installed() == ALL


@pytest.mark.parametrize("settings", [{}, ONLY_PIP], ids=["uv", "pip"])
def test_a_file_that_is_not_the_pinned_one_is_not_installed(project, settings):
    other = project.lines["beta"].replace("sha256:", "sha256:00")[:-3] + "\n"
    project.lock("dev", project.lines["alpha"], other, project.lines["gamma"])
    assert says(project.set_up(**settings), "UNLOCKED=1")
    assert "beta-1.0" not in project.installed()


def test_ranges_decide_where_the_lock_is_left_out(project):
    project.lock("dev", project.lines["alpha"].replace("1.0", "9.0"))
    assert says(project.set_up(), "UNLOCKED=1")
    assert project.set_up(UNLOCKED="1").returncode == 0
    assert project.installed() == ALL  # no index has what 2.0 asks for


def test_without_a_network_one_sentence_says_so(project):
    assert says(project.set_up(**NO_NETWORK), "cannot be reached", "PIP_INDEX_URL")
    assert project.set_up().returncode == 0


def test_without_a_suitable_python_one_sentence_says_so(new, tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert says(new.set_up(PYTHON=str(old)), "Python 3.11 or newer", "PYTHON=")
    none = new.set_up(PYTHON="", PATH=str(bare(tmp_path)))
    assert says(none, "Python 3.11 or newer: install it")


def test_on_a_full_disk_one_sentence_says_so(new, tmp_path):
    full = tmp_path / "python3"
    full.write_text(
        '#!/bin/sh\ncase "$*" in *"-m venv"*)\n'
        '  echo "OSError: [Errno 28] No space left on device: .venv" >&2; exit 1 ;;\nesac\n'
        f'exec "{new.python}" "$@"\n'
    )
    full.chmod(0o755)
    assert says(new.set_up(PYTHON=str(full)), "the disk is full", "MB")
    assert new.set_up().returncode == 0


def test_without_java_and_root_one_sentence_says_so(new, tmp_path):
    folder = bare(tmp_path)
    (folder / "id").unlink()
    (folder / "id").write_text("#!/bin/sh\necho 1000\n")
    (folder / "id").chmod(0o755)
    script = new.root / "scripts/java.sh"  # this machine has a Java: ask for one that none has
    script.write_text(script.read_text("utf-8").replace("wanted=17\n", "wanted=99\n"), "utf-8")
    done = new.run("scripts/java.sh", PATH=str(folder), JAVA_HOME="")
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert "Spark needs Java 99 or newer: install a package such as openjdk-17" in last


def bare(tmp_path):
    """A folder of the commands that the scripts need, and no Python or Java."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    for name in ("sh", "dirname", "id", "sed", "grep", "tail", "uname"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return folder
