"""What must agree before anything is built, and what the built files must have."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

from scripts.release.project import ROOT, git, project

# What an installed package needs, and what an archive of the source needs besides.
IN_THE_WHEEL = ("fanlight/__init__.py", "fanlight/py.typed")
IN_THE_SOURCE = (
    "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "src/fanlight/__init__.py",
    "src/fanlight/py.typed", "tests/test_house.py",
)  # fmt: skip
RELATIVE = re.compile(r"\]\((?![\w+.-]+:|#)[^)\s]+\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def disagreements(root: Path = ROOT) -> Iterator[str]:
    """What stands in the way of a release: sentences that say what to do."""
    version = str(project(root)["version"])
    package = (root / "src/fanlight/__init__.py").read_text("utf-8")
    if f'__version__ = "{version}"' not in package:
        yield f"pyproject.toml says {version}, src/fanlight/__init__.py does not: make them agree"
    dated = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}$"
    if not re.search(dated, (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE):
        yield f"CHANGELOG.md has no date for {version}: write ## [{version}] - YYYY-MM-DD"
    changed = git("status", "--porcelain", root=root)
    if changed is None:
        yield "this is no clone of the repository: a release is of a commit"
        return
    if changed:
        yield "files have changed since the last commit: commit them, or put them away"
    tags = (git("tag", "--points-at", "HEAD", root=root) or "").split()
    if f"v{version}" not in tags:
        yield f"the last commit has not the tag v{version}: write git tag v{version}"


def names(archive: Path) -> list[str]:
    """The files of a wheel, or of an archive of the source without its outermost folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [name for name in wheel.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as source:
        return [one.name.partition("/")[2] for one in source.getmembers() if one.isfile()]


def faults_of_wheel(wheel: Path, version: str, urls: dict[str, str]) -> Iterator[str]:
    """What is wrong with a wheel."""
    found = names(wheel)
    yield from (f"the wheel lacks {name}" for name in IN_THE_WHEEL if name not in found)
    about = f"fanlight-{version}.dist-info/"
    if f"{about}licenses/LICENSE" not in found:
        yield "the wheel lacks the licence"
    others = {name.partition("/")[0] for name in found} - {"fanlight", about.rstrip("/")}
    yield from (f"the wheel has {name}, which is none of the package" for name in sorted(others))
    told = metadata(wheel, version)
    if told["Version"] != version:
        yield f"the wheel is of version {told['Version']}, not of {version}"
    links = dict(line.split(", ", 1) for line in told.get_all("Project-URL", []))
    if links != urls:
        yield f"the wheel links to {links}, not to {urls}"
    relative = RELATIVE.findall(CODE.sub("", str(told.get_payload())))
    yield from (f"the description has the link {one}, which leads nowhere" for one in relative)


def metadata(wheel: Path, version: str) -> Message:
    """What a wheel says of itself; its text is the long description."""
    with zipfile.ZipFile(wheel) as opened:
        text = opened.read(f"fanlight-{version}.dist-info/METADATA").decode("utf-8")
    return Parser().parsestr(text)


def faults_of_source(archive: Path) -> Iterator[str]:
    """What is wrong with an archive of the source."""
    found = names(archive)
    yield from (f"the source lacks {name}" for name in IN_THE_SOURCE if name not in found)
    strange = re.compile(r"^(out|build|dist|\.venv|\.git)/|(^|/)__pycache__/")
    yield from (f"the source has {name}" for name in found if strange.search(name))


def same_contents(one: Path, other: Path) -> bool:
    """Whether two wheels hold the same files with the same bytes."""

    def contents(wheel: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(wheel) as opened:
            return {name: opened.read(name) for name in opened.namelist()}

    return contents(one) == contents(other)
