"""Builds the wheel, and tries it on the oldest and on the newest PySpark that it supports.

Each environment has the wheel, one of its extras, and nothing else. ``oldest`` has the oldest
release of everything that is allowed, not of PySpark alone; ``newest`` the newest.

PySpark has no wheels: one is built of each release, since half a gigabyte is unpacked each time.
Environments in which all is right are deleted, and others stay, to look at.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "wheels"
CHECKS = ROOT / "tests" / "wheel"
SPARKS = OUT / "pyspark"
CACHE = OUT / "cache"
UV = (sys.executable, "-m", "uv")
# The extras that bring PySpark.
WITH_SESSION = ("spark", "connect")
WITH_SPARK = {*WITH_SESSION, "demo"}
# Of all else a release without a wheel for this Python is not taken.
LOWEST = ("--resolution", "lowest", "--only-binary", ":all:")


def run(*command: str | Path, where: Path = ROOT) -> bool:
    """Run a command to its end; whether it succeeded."""
    there = {**os.environ, "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")}
    # PySpark's jars are compressed already, and its wheel is unpacked at once.
    there["DIST_EXTRA_CONFIG"] = str(ROOT / "scripts" / "uncompressed.cfg")
    for name in ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_HOME"):
        there.pop(name, None)
    done = subprocess.run(list(map(str, command)), cwd=where, env=there, check=False)  # noqa: S603
    return done.returncode == 0


def built() -> Path:
    """A new wheel."""
    if not run(*UV, "build", "--quiet", "--clear", "--wheel", "--out-dir", OUT / "dist"):
        sys.exit("wheels: the wheel could not be built")
    (wheel,) = (OUT / "dist").glob("*.whl")
    return wheel


def spark_of(version: str) -> str:
    """The release of PySpark that is meant, as a wheel in a folder."""
    found = published()
    release = {"oldest": found[-1], "newest": found[0]}.get(version, version)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-cache-dir")
    how = ("--no-deps", "--use-pep517", "--wheel-dir", SPARKS)
    there = list(SPARKS.glob(f"pyspark-{release}-*.whl"))
    if not (there or run(*pip, *how, f"pyspark=={release}")):
        sys.exit(f"wheels: no wheel of PySpark {release} could be built")
    return release


def environment(wheel: Path, extra: str, version: str) -> Path:
    """A folder with a Python, the wheel, the extra, and what these two ask for."""
    folder = OUT / f"{version}-{extra}"
    wanted = [f"{wheel}[{extra}]"]
    if extra in WITH_SPARK:
        wanted.append(f"pyspark=={spark_of(version)}")
    how: Sequence[str] = LOWEST if version == "oldest" else ()
    uv = (*UV, "--quiet", "--cache-dir", CACHE)
    made = run(*uv, "venv", "--clear", "--python", sys.executable, folder)
    install = (*uv, "pip", "install", "--python", folder, "--find-links", SPARKS, *how, *wanted)
    if not (made and run(*install)):
        sys.exit(f"wheels: fanlight[{extra}] could not be installed, PySpark {version}")
    return folder


@functools.cache
def published() -> list[str]:
    """Every PySpark that the extra allows, the newest first, as the package index has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = map(Requirement, project["optional-dependencies"]["spark"])
    (allowed,) = (one.specifier for one in wanted if one.name == "pyspark")
    asked = (sys.executable, "-m", "pip", "index", "versions", "pyspark")
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout  # noqa: S603
    versions = re.search(r"^Available versions: (.+)$", told, re.MULTILINE)
    if versions is None:
        sys.exit("wheels: the package index tells no versions of pyspark")
    return list(allowed.filter(versions[1].split(", ")))


def checks(versions: Sequence[str], *, everything: bool) -> Iterator[tuple[str, str, list[str]]]:
    """(extra, PySpark, what to run with that Python)."""
    yield "plot", "newest", ["without_spark.py"]
    yield "cli", "newest", ["-m", "fanlight", "--version"]
    yield "sql", "newest", ["language.py"]
    for base in ("delta", "postgresql"):
        yield base, "newest", ["bases.py", base]
    yield "watch", "newest", ["watching.py"]
    for version in versions:
        # All other tests run on the newest.
        some = ("few", "few") if version == "newest" else ("each", "few")
        for extra, kind, which in zip(WITH_SESSION, ("classic", "connect"), some, strict=True):
            yield extra, version, ["check.py", kind, "every" if everything else which]
    demo = ["demo", "--out", str(OUT / "demo")] if everything else ["--version"]
    yield "demo", "newest", ["-m", "fanlight.cli", *demo]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("versions", nargs=-1, metavar="[VERSION]...")
def main(versions: tuple[str, ...]) -> None:
    """Install the wheel and each extra alone, and run every kind of window with it.

    VERSIONS are those of PySpark: numbers, `oldest`, `newest`, or `all` alone for every one that is
    published, and then all that can be asked of each. Without any, a sample on the oldest and the
    newest. The exit code is the number of environments in which something is wrong.
    """
    everything = versions == ("all",)
    sys.exit(tried(versions, everything=everything))


def tried(asked: Sequence[str], *, everything: bool) -> int:
    """Try each; how many environments have something wrong."""
    versions = ["oldest", *published()] if everything else [*asked] or ["oldest", "newest"]
    for folder in (SPARKS, CACHE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    wheel = built()
    failed, done = [], [SPARKS, CACHE]
    for extra, version, (first, *rest) in checks(versions, everything=everything):
        began = time.perf_counter()
        folder = environment(wheel, extra, version)
        command = first if first.startswith("-") else CHECKS / first
        # from a folder without sources, so that the wheel is what is imported
        if run(folder / "bin" / "python", command, *rest, where=OUT):
            done.append(folder)
        else:
            failed.append(f"fanlight[{extra}], PySpark {version}")
        seconds = time.perf_counter() - began
        sys.stdout.write(f"fanlight[{extra}], {version}: {seconds:.0f} s\n")
        sys.stdout.flush()
    for folder in done:  # at the end: a JVM may still be at its last words
        shutil.rmtree(folder)
    sys.stdout.writelines(f"failed: {one}\n" for one in failed)
    return len(failed)


if __name__ == "__main__":
    main()
