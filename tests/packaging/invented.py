"""An invented project, its lock, and a package index of invented wheels, in folders.

The index has a newer release of everything that the lock pins, as every index has some day.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import uv

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("venv.sh", "java.sh", "uncompressed.cfg")

# Passes on what the installer is asked to the installer of the tests.
UV = f"""
import os, sys
os.execv({uv.find_uv_bin()!r}, ["uv", *sys.argv[1:]])
"""

# Builds an editable installation of the invented project, with nothing that has to be installed.
BACKEND = """
import zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "invented-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        start = "invented-1.0.dist-info/"
        wheel.writestr(start + "METADATA", "Metadata-Version: 2.1\\nName: invented\\n"
                       "Version: 1.0\\nRequires-Dist: alpha >=1.0\\n")
        wheel.writestr(start + "WHEEL", "Wheel-Version: 1.0\\nGenerator: tests\\n"
                       "Root-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(start + "RECORD", "")
    return name
"""


def wheel(folder: Path, name: str, version: str, *requires: str, main: str = "") -> str:
    """Write a wheel of an invented package; returns its line of a lock."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    start = f"{name}-{version}.dist-info/"
    wants = "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{name}/__main__.py", main)
        archive.writestr(
            start + "METADATA",
            "Metadata-Version: 2.1\n"
            f"Name: {name}\nVersion: {version}\nProvides-Extra: more\n{wants}",
        )
        archive.writestr(
            start + "WHEEL",
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(start + "RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}=={version} \\\n    --hash=sha256:{digest}\n"


class Project:
    """A checkout with the real scripts and invented locks, on a machine of its own."""

    python = str(Path(sys.base_prefix) / "bin" / "python3")

    def __init__(self, folder: Path) -> None:
        self.root, self.index, self.home = (folder / one for one in ("clone", "index", "home"))
        for one in (self.index, self.home, self.root / "scripts", self.root / "requirements"):
            one.mkdir(parents=True)
        for name in SCRIPTS:
            shutil.copy(ROOT / "scripts" / name, self.root / "scripts" / name)
        (self.root / "backend.py").write_text(BACKEND, "utf-8")
        (self.root / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "invented"\nversion = "1.0"\ndependencies = ["alpha"]\n',
            "utf-8",
        )
        self.lines = {
            "alpha": wheel(self.index, "alpha", "1.0", "beta[more]>=1.0"),
            "beta": wheel(self.index, "beta", "1.0", "gamma>=1.0; extra == 'more'"),
            "gamma": wheel(self.index, "gamma", "1.0"),
        }
        for name in self.lines:
            wheel(self.index, name, "2.0", "invented-nowhere")  # which no index has
        self.lock("build", wheel(self.index, "uv", "1.0", main=UV))
        wheel(self.index, "uv", "2.0", main="raise SystemExit('not the pinned installer')")
        self.lock("dev", *self.lines.values())

    def lock(self, name: str, *lines: str) -> None:
        (self.root / "requirements" / f"{name}.txt").write_text("".join(lines), "utf-8")

    def set_up(self, what: str = "dev", **settings: str) -> subprocess.CompletedProcess[str]:
        """Set up from the invented index."""
        return self.run("scripts/venv.sh", what, **settings)

    def run(self, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a script with an empty home and no configuration of pip; ``""`` unsets a variable."""
        environment = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "PYTHON": self.python,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.index),
            "UV_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.index),
            "UV_NO_CONFIG": "1",
            **settings,
        }
        return subprocess.run(
            ["/bin/sh", *command],
            cwd=self.root,
            env={name: value for name, value in environment.items() if value},
            capture_output=True,
            text=True,
            check=False,
        )

    def installed(self, env: str = ".venv") -> set[str]:
        """What the environment has of the invented packages, as NAME-VERSION."""
        there = self.root.glob(f"{env}/lib/python*/site-packages/*.dist-info")
        names = {one.name.removesuffix(".dist-info") for one in there}
        return {one for one in names if not one.startswith(("pip-", "setuptools-"))}
