"""Builds what goes out, and checks it; uploading it is asked for by itself.

    python -m scripts.release [--upload] [--unready]

The repository's address is that of the remote ``origin``, or REPOSITORY. Without one it refuses:
the links of a description on a package index must lead somewhere. Everything is built from a copy
of the commit, in which the README's links and the project's are absolute; the clone is left as it
is. ``--unready`` goes on where tag, date or commit are missing, to try the build; it uploads never.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import click

from scripts.links import absolute
from scripts.release import checks
from scripts.release.project import ROOT, address, project, urls

OUT = ROOT / "out" / "dist"
NO_ADDRESS = (
    "release: the repository has no public address: write REPOSITORY=https://host/owner/fanlight, "
    "or add it with git remote add origin"
)


def run(*command: str | Path) -> None:
    """A step, which must succeed."""
    done = subprocess.run([sys.executable, "-m", *map(str, command)], check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"release: {command[0]} failed; what it says is above")


def linked(description: str, links: dict[str, str]) -> str:
    """pyproject.toml with the links of the project."""
    lines = [f'{name} = "{link}"' for name, link in links.items()]
    table = "\n".join(["[project.urls]", *lines, "", ""])
    before, found, after = description.partition("[project.scripts]")
    if not found or "[project.urls]" in description:
        sys.exit("release: pyproject.toml must have [project.scripts], and no [project.urls]")
    return before + table + found + after


def prepared(folder: Path, repository: str, version: str) -> None:
    """A copy of the commit, with links that lead somewhere from anywhere."""
    told = subprocess.run(  # noqa: S603
        ["git", "-C", str(ROOT), "archive", "HEAD"],  # noqa: S607
        capture_output=True,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(told.stdout)) as archive:
        archive.extractall(folder, filter="data")
    page, description = folder / "README.md", folder / "pyproject.toml"
    page.write_text(absolute(page.read_text("utf-8"), f"{repository}/blob/v{version}"), "utf-8")
    description.write_text(
        linked(description.read_text("utf-8"), urls(repository, version)), "utf-8"
    )


def built(repository: str, version: str) -> list[Path]:
    """The archive of the source and the wheel, checked."""
    shutil.rmtree(OUT, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        folder, again = Path(name, "source"), Path(name, "again")
        folder.mkdir()
        prepared(folder, repository, version)
        run("build", "--no-isolation", "--sdist", "--wheel", "--outdir", OUT, folder)
        (source,), (wheel,) = OUT.glob("*.tar.gz"), OUT.glob("*.whl")
        # what a user builds from the source is the wheel that goes out
        with tarfile.open(source) as archive:
            archive.extractall(again, filter="data")
        (inner,) = again.iterdir()
        run("build", "--no-isolation", "--wheel", "--outdir", again, inner)
        (rebuilt,) = again.glob("*.whl")
        faults = [
            *checks.faults_of_wheel(wheel, version, urls(repository, version)),
            *checks.faults_of_source(source),
        ]
        if not checks.same_contents(wheel, rebuilt):
            faults.append("the wheel built from the source is another one")
    run("twine", "check", "--strict", source, wheel)
    run("check_wheel_contents", wheel)
    if faults:
        sys.exit("\n".join(f"release: {one}" for one in faults))
    return [source, wheel]


@click.command()
@click.option("--upload", is_flag=True, help="Upload the files with twine.")
@click.option("--unready", is_flag=True, help="Try the build before the tag.")
def main(*, upload: bool, unready: bool) -> None:
    """Refuse, or build; then upload, if that was asked for."""
    repository = address()
    if repository is None:
        sys.exit(NO_ADDRESS)
    wrong = list(checks.disagreements())
    if wrong and (upload or not unready):
        sys.exit("\n".join(f"release: {one}" for one in wrong))
    files = built(repository, str(project()["version"]))
    sys.stdout.writelines(f"{path.relative_to(ROOT)}\n" for path in files)
    if upload:
        run("twine", "upload", *files)


if __name__ == "__main__":
    main()
