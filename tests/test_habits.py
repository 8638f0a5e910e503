"""Habits that keep the house in order: pinned packages, hooks, hosted checks, releases."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from importlib import metadata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.links import absolute
from tests.helpers.house import GROUPS, PROJECT, ROOT
from tests.helpers.pages import LINK, prose
from tests.helpers.shown import shown

LOCKS = {
    name: (ROOT / f"requirements/{name}.txt").read_text("utf-8")
    for name in ("build", "demo", "dev")
}
PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>\S+)[^\n]*\\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
    r"(?P<why>(?:    #[^\n]*\n)+)",
    re.MULTILINE,
)


def required(lock: str) -> list[Requirement]:
    """What a lock is asked for: an extra with the dependencies, or the group that builds."""
    if lock in GROUPS:
        return [*map(Requirement, GROUPS[lock])]
    return [*map(Requirement, PROJECT["dependencies"]), *of_extra(lock)]


def of_extra(extra: str) -> list[Requirement]:
    """What an extra asks for, with the extras that it names."""
    lines = PROJECT["optional-dependencies"][extra]
    found = []
    for one in map(Requirement, lines):
        if one.name == PROJECT["name"]:
            found += [more for name in sorted(one.extras) for more in of_extra(name)]
        else:
            found.append(one)
    return found


def pinned(lock: str) -> dict[str, list[str]]:
    """The versions that a lock has of each package: several where Pythons differ."""
    pins: dict[str, list[str]] = {}
    for pin in PIN.finditer(lock):
        pins.setdefault(canonicalize_name(pin["name"]), []).append(pin["version"])
    return pins


def behind(which: str, lock: str) -> list[str]:
    """What `make lock` would change in a lock file, as far as pyproject.toml alone can tell."""
    pins = pinned(lock)
    asker = re.compile(rf"({PROJECT['name']} )?\(pyproject\.toml(:\w+)?\)")
    direct = {
        canonicalize_name(pin["name"]) for pin in PIN.finditer(lock) if asker.search(pin["why"])
    }
    asked = required(which)
    wanted = {canonicalize_name(one.name): one for one in asked}
    for one in asked:
        wanted[canonicalize_name(one.name)].specifier &= one.specifier
    wrong = [f"{name} is not required" for name in sorted(direct - set(wanted))]
    for name, one in sorted(wanted.items()):
        versions = pins.get(name, [])
        if name not in direct or not all(one.specifier.contains(v) for v in versions):
            wrong.append(f"{name}{one.specifier} is pinned to {versions}")
    return wrong


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_in_step_with_the_project(name):
    assert behind(name, LOCKS[name]) == [], "run make lock"


def test_a_package_has_one_version_whichever_lock_it_is_in():
    of_dev = pinned(LOCKS["dev"])
    for name in ("build", "demo"):
        assert {one: of_dev.get(one, v) for one, v in pinned(LOCKS[name]).items()} == pinned(
            LOCKS[name]
        )


@pytest.mark.parametrize("extra", ["spark", "connect", "demo"])
def test_the_extras_bring_a_pandas_of_which_no_pyspark_warns(extra):
    (pandas,) = [one for one in of_extra(extra) if one.name == "pandas"]
    assert pandas.specifier.contains("2.3.3")
    assert not pandas.specifier.contains("3.0.0")


def missing(asked: Iterable[Requirement], lock: str) -> set[str]:
    """What packages and their extras ask for, as installed here, and the lock does not have.

    An installer that does not resolve cannot tell, and no check of an environment looks at extras.
    """
    pins, found, seen = pinned(lock), set(), set()
    waiting = [(one, "") for one in asked]
    while waiting:
        one, extra = waiting.pop()
        name = canonicalize_name(one.name)
        here = one.marker is None or one.marker.evaluate({"extra": extra})
        if not here or (name, *sorted(one.extras), extra) in seen:
            continue
        seen.add((name, *sorted(one.extras), extra))
        if not any(
            one.specifier.contains(version, prereleases=True) for version in pins.get(name, [])
        ):
            found.add(str(one))
            continue
        more = [*map(Requirement, metadata.requires(name) or [])]
        waiting += [(each, extra) for each in more for extra in ("", *one.extras)]
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_complete_with_all_extras(name):
    assert missing(required(name), LOCKS[name]) == set()


def test_a_lock_that_lacks_what_an_extra_of_a_package_asks_for_is_seen():
    lacks = re.sub(r"^psycopg-binary==", "other==", LOCKS["dev"], flags=re.MULTILINE)
    assert lacks != LOCKS["dev"]
    assert any("psycopg-binary" in one for one in missing(required("dev"), lacks))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (r"^ruff==\S+", "ruff==0.0.1", "ruff>="),
        (r"^hypothesis==", "hypothesis-old==", "hypothesis"),
        (r"# via mypy$", "# via fanlight (pyproject.toml)", "is not required"),
    ],
)
def test_a_lock_file_out_of_step_is_seen(old, new, told):
    changed = re.sub(old, new, LOCKS["dev"], count=1, flags=re.MULTILINE)
    assert changed != LOCKS["dev"]
    assert any(told in line for line in behind("dev", changed))


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_every_pin_has_hashes_and_no_source_of_its_own(lock):
    lines = [line for line in lock.splitlines() if line and line[0] not in " #"]
    assert len(lines) == len(PIN.findall(lock)) > 0
    assert not re.search(r"://|--(?:extra-)?index|--find-links|@ ", lock)


def test_hooks_fetch_nothing():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert set(re.findall(r"^\s*- repo: (\S+)$", hooks, re.MULTILINE)) == {"local"}
    assert set(re.findall(r"^\s*language: (\S+)$", hooks, re.MULTILINE)) == {"system"}
    asked = re.findall(r"^\s*entry: (.+)$", hooks, re.MULTILINE)
    assert all(entry.startswith(".venv/bin/python -m ") for entry in asked)
    assert {"ruff", "mypy"} <= {entry.split()[2] for entry in asked}


def test_hosted_checks_are_those_of_the_house_on_the_oldest_and_newest_python():
    hosted = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert re.findall(r"^\s*- run: (.+)$", hosted, re.MULTILINE) == [".ci/run"]
    numbers = re.findall(r"Python :: (\d)\.(\d+)", "\n".join(PROJECT["classifiers"]))
    versions = sorted((int(major), int(minor)) for major, minor in numbers)
    matrix = re.search(r"python: \[(.+)\]", hosted)
    assert matrix is not None
    ends = [f'"{major}.{minor}"' for major, minor in (versions[0], versions[-1])]
    assert matrix[1].split(", ") == ends
    assert PROJECT["requires-python"] == ">=" + ends[0].strip('"')


def test_a_release_is_checked_and_needs_no_password():
    release = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "uses: ./.github/workflows/ci.yml" in release
    assert "needs: [checks, build]" in release
    assert "run: make release\n" in release
    assert "id-token: write" in release
    assert "secrets." not in release


def test_links_of_a_released_readme_lead_to_the_files_of_the_release():
    text = (ROOT / "README.md").read_text("utf-8")
    home = "https://example.org/fanlight/blob/v1.0.0"
    before, after = ([one[1] for one in LINK.finditer(prose(page))] for page in (
        text, absolute(text, home)
    ))  # fmt: skip
    assert after == [one if ":" in one or one[0] == "#" else f"{home}/{one}" for one in before]
    assert sum(one.startswith(home) for one in after) > 10
    code = "`[a](b)`\n```python\nx = [f](y)\n```\n[c](#d) [e](https://f.g) "
    assert absolute(f"{code}[h](i.md#j)", home + "/") == f"{code}[h]({home}/i.md#j)"


def deadlines(source: str) -> list[str]:
    """The lines of a test file that would give a property another deadline than that of all."""
    return re.findall(
        r"^.*(?:\bdeadline[=](?!None)|(?:register|load)_profile).*$", source, re.MULTILINE
    )


def test_no_property_has_a_deadline():
    """One profile says so for all; no file says otherwise."""
    assert settings.default.deadline is shown(9).deadline is settings().deadline is None
    files = {path: path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    told = {str(path.relative_to(ROOT)) for path, text in files.items() if deadlines(text)}
    assert told == {"tests/helpers/shown.py"}
    assert deadlines("@settings(max_examples=3, {}=100)".format("deadline"))
    assert deadlines('settings.{}_profile("mine")'.format("load"))


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["", "1"])
def test_one_switch_says_whether_tests_are_thorough(asked):
    code = "from tests.helpers.shown import part; print(part(90), 'examples')"
    env = {**os.environ, "THOROUGH": asked}
    pytest_ = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/soak/test_soak.py"]
    tests, examples = (
        subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        for command in (pytest_, [sys.executable, "-c", code])
    )
    assert ("[every]" in tests.stdout) == bool(asked)
    assert ("THOROUGH=1 asks them" in tests.stdout) == (not asked)
    assert examples.stdout == ("90 examples\n" if asked else "22 examples\n")


@given(st.just(0.25))
def test_a_property_may_take_longer_than_hypothesis_would_wait(seconds):
    time.sleep(seconds)
