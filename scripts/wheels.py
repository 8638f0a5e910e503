"""Builds the wheel, and tries it on the oldest and on the newest PySpark that it supports.

Each environment has the wheel, one of its extras, and nothing else. ``oldest`` has the oldest
release of everything that is allowed, not of PySpark alone; ``newest`` the newest. With ``all``
there are two environments for the newest release of each PySpark: the oldest Python with pandas 2,
and the newest Python that it supports, of those on this machine, with the newest pandas. What they
found is then written to docs/versions.md.

PySpark has no wheels: one is built of each release, since half a gigabyte is unpacked each time.
Environments in which all is right are deleted, and others stay, to look at.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from packaging.requirements import Requirement

from scripts.versions_page import PAGE, page_of

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "wheels"
CHECKS = ROOT / "tests" / "wheel"
SPARKS = OUT / "pyspark"
CACHE = OUT / "cache"
FOUND = OUT / "found"
UV = (sys.executable, "-m", "uv")
# What is around the windows.
AROUND = "cli,spark,sql,watch"
# The extras that bring PySpark.
WITH_SESSION = ("spark", "connect")
WITH_SPARK = {*WITH_SESSION, AROUND}
# Those where a platform brings its PySpark; "" is the wheel without an extra.
BESIDE_SPARK = ("", "kernels")
# PySpark 3.5 keeps NumPy 1, which a newer pyarrow does not load, and does not say so.
OLD_ARROW = "pyarrow<22"
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


def crashed_in_rocksdb() -> bool:
    """Whether a JVM ended in the native code of Spark's RocksDB, which is not ours; told once."""
    logs = list(OUT.glob("hs_err_pid*.log"))
    crashed = any("# C  [librocksdbjni" in one.read_text("utf-8", "replace") for one in logs)
    for one in logs:
        one.rename(one.with_suffix(".told"))
    if crashed:
        sys.stdout.write("a JVM crashed in RocksDB: the environment is asked once more\n")
    return crashed


def built() -> Path:
    """A new wheel."""
    if not run(*UV, "build", "--quiet", "--clear", "--wheel", "--out-dir", OUT / "dist"):
        sys.exit("wheels: the wheel could not be built")
    (wheel,) = (OUT / "dist").glob("*.whl")
    return wheel


def spark_of(version: str, extra: str) -> str:
    """The release of PySpark that is meant, as a wheel in a folder."""
    found = published(extra if extra in WITH_SESSION else "spark")
    known = {"oldest": found[-1], "newest": found[0], "next": index("--pre")[0]}
    release = known.get(version, version)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-cache-dir")
    how = ("--no-deps", "--use-pep517", "--wheel-dir", SPARKS)
    there = list(SPARKS.glob(f"pyspark-{release}-*.whl"))
    if not (there or run(*pip, *how, f"pyspark=={release}")):
        sys.exit(f"wheels: no wheel of PySpark {release} could be built")
    return release


@dataclass(frozen=True)
class Room:
    """An environment: an extra, a PySpark, and perhaps a Python and a pandas."""

    extra: str
    version: str
    python: str = sys.executable
    pandas: str = ""

    @property
    def name(self) -> str:
        """For a folder."""
        pandas = f"pandas{self.pandas}" if self.pandas else ""
        python = f"python{self.python}" if self.python != sys.executable else ""
        return "-".join(filter(None, [self.version, self.extra or "bare", pandas, python]))


def environment(wheel: Path, room: Room) -> Path:
    """A folder with a Python, the wheel, the extra, and what these two ask for."""
    extra, version, folder = room.extra, room.version, OUT / room.name
    wanted = [f"{wheel}[{extra}]"] if extra else [str(wheel)]
    # next, and pandas 3: the extra does not allow it
    if version == "next" or extra in BESIDE_SPARK or room.pandas == "3":
        other = "spark" if extra in BESIDE_SPARK else extra
        more = {one.name: one for one in required(other)}
        spark = more.pop("pyspark")
        release = spark_of(version, other)
        wanted = [wanted[0] if extra in BESIDE_SPARK else f"{wheel}[kernels]"]
        wanted += [] if room.pandas else [str(more["pandas"])]
        wanted += [f"pyspark[{','.join(spark.extras)}]=={release}", str(more["protobuf"])]
    elif extra in WITH_SPARK:
        wanted.append(f"pyspark=={spark_of(version, extra)}")
    if room.pandas:
        wanted.append(f"pandas=={room.pandas}.*")
    if version.startswith("3.5"):
        wanted.append(OLD_ARROW)
    how: Sequence[str] = LOWEST if version == "oldest" else ()
    uv = (*UV, "--quiet", "--cache-dir", CACHE)
    made = run(*uv, "venv", "--clear", "--python", room.python, folder)
    install = (*uv, "pip", "install", "--python", folder, "--find-links", SPARKS, *how, *wanted)
    if not (made and run(*install)):
        sys.exit(f"wheels: {room.name} could not be installed")
    return folder


@functools.cache
def published(extra: str) -> list[str]:
    """Every PySpark that the extra allows, the newest first, as the package index has them."""
    (allowed,) = (one.specifier for one in required(extra) if one.name == "pyspark")
    return list(allowed.filter(index()))


def required(extra: str) -> list[Requirement]:
    """What an extra asks for."""
    return [Requirement(one) for one in project()["optional-dependencies"][extra]]


@functools.cache
def index(*more: str) -> list[str]:
    """Every PySpark of the package index, the newest first."""
    asked = (sys.executable, "-m", "pip", "index", "versions", "pyspark", *more)
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout  # noqa: S603
    versions = re.search(r"^Available versions: (.+)$", told, re.MULTILINE)
    if versions is None:
        sys.exit("wheels: the package index tells no versions of pyspark")
    return versions[1].split(", ")


def project() -> dict[str, Any]:
    """The project's table of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def lines(extra: str) -> list[str]:
    """The newest release of each PySpark x.y, the newest first."""
    newest: dict[str, str] = {}
    for release in published(extra):
        newest.setdefault(release.rpartition(".")[0], release)
    return list(newest.values())


def newest_python(release: str) -> str:
    """The newest Python that this PySpark says to support, and this machine has."""
    (wheel,) = SPARKS.glob(f"pyspark-{release}-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (one for one in opened.namelist() if one.endswith(".dist-info/METADATA"))
        told = opened.read(name).decode()
    own = {one.rpartition(" ")[2] for one in project()["classifiers"]}
    both = own & set(re.findall(r"^Classifier: .* :: Python :: (3\.\d+)$", told, re.MULTILINE))
    for python in sorted(both, key=lambda one: int(one.partition(".")[2]), reverse=True):
        if run(*UV, "--quiet", "python", "find", "--no-python-downloads", python):
            return python
    return sys.executable


def checks(versions: Sequence[str], *, everything: bool) -> Iterator[tuple[Room, list[str]]]:
    """An environment, and what to run with its Python."""
    yield Room("plot", "newest"), ["without_spark.py"]
    yield Room("cli", "newest"), ["-m", "fanlight", "--version"]
    yield Room("sql", "newest"), ["language.py"]
    for base in ("delta", "postgresql"):
        yield Room(base, "newest"), ["bases.py", base]
    yield Room("watch", "newest"), ["watching.py"]
    yield Room("spark", "newest"), ["first_script.py"]
    yield Room("", "newest"), ["without_numba.py"]
    yield Room("kernels", "newest"), ["check.py", "classic", "few"]
    if versions == ["oldest", "newest"]:
        yield Room("spark", "4.0.1"), ["check.py", "classic", "few"]
    for version in versions:
        # All other tests run on the newest.
        some = ("few", "few") if version == "newest" else ("each", "few")
        for extra, kind, which in zip(WITH_SESSION, ("classic", "connect"), some, strict=True):
            yield Room(extra, version), ["check.py", kind, which]
        if version in ("oldest", "newest") and not everything:
            yield around(version)
    if everything:
        yield from matrix()
        yield from map(around, lines("spark"))


def around(version: str) -> tuple[Room, list[str]]:
    """What is around the windows, on a PySpark."""
    room = Room(AROUND, version)
    return room, ["around.py", str(FOUND / f"{room.name}.json")]


def matrix() -> Iterator[tuple[Room, list[str]]]:
    """Every PySpark, with the oldest Python and pandas, and with the newest."""
    oldest = project()["requires-python"].removeprefix(">=")
    for extra, kind in zip(WITH_SESSION, ("classic", "connect"), strict=True):
        for release in lines(extra):
            newest = newest_python(spark_of(release, extra))
            # PySpark of before 4.1 is older than pandas 3.
            pandas = "3" if tuple(map(int, release.split(".")[:2])) >= (4, 1) else "2"
            both = (Room(extra, release, oldest, "2"), Room(extra, release, newest, pandas))
            for room in dict.fromkeys(both):  # PySpark 3.5 has one Python
                yield room, ["check.py", kind, "each", str(FOUND / f"{room.name}.json")]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("versions", nargs=-1, metavar="[VERSION]...")
def main(versions: tuple[str, ...]) -> None:
    """Install the wheel and each extra alone, and run every kind of window with it.

    VERSIONS are those of PySpark: numbers, `oldest`, `newest`, `next` for what is published and not
    allowed yet, or `all` alone for every x.y. Without any, a sample on the oldest, on 4.0, whose
    streams are others, and on the newest. The exit code is the number of environments in which
    something is wrong.
    """
    everything = versions == ("all",)
    failed = tried(versions, everything=everything)
    if everything and not failed:
        PAGE.write_text(page_of([json.loads(one.read_text("utf-8")) for one in FOUND.glob("*")]))
    sys.exit(failed)


def tried(asked: Sequence[str], *, everything: bool) -> int:
    """Try each; how many environments have something wrong."""
    versions = ["oldest"] if everything else [*asked] or ["oldest", "newest"]
    for folder in (SPARKS, CACHE, FOUND):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    wheel = built()
    failed: dict[Path, str] = {}
    folders: dict[Room, Path] = {}
    for room, (first, *rest) in checks(versions, everything=everything):
        began = time.perf_counter()
        if room not in folders:
            folders[room] = environment(wheel, room)
        folder = folders[room]
        command = first if first.startswith("-") else CHECKS / first
        # from a folder without sources, so that the wheel is what is imported
        ask = functools.partial(run, folder / "bin" / "python", command, *rest, where=OUT)
        if not (ask() or (crashed_in_rocksdb() and ask())):
            failed[folder] = f"fanlight[{room.extra}], {room.name}"
        seconds = time.perf_counter() - began
        sys.stdout.write(f"fanlight[{room.extra}], {room.name}: {seconds:.0f} s\n")
        sys.stdout.flush()
    # at the end: a JVM may still be at its last words
    for folder in {SPARKS, CACHE, *folders.values()} - failed.keys():
        shutil.rmtree(folder)
    sys.stdout.writelines(f"failed: {one}\n" for one in failed.values())
    return len(failed)


if __name__ == "__main__":
    main()
