"""The repository: where it is, its files, and what pyproject.toml says."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def own_files() -> list[Path]:
    """The files of the repository: tracked, or about to be. Without git, all but the generated."""
    told = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode == 0 and told.stdout:
        paths = [ROOT / name for name in told.stdout.split("\0") if name]
    else:
        generated = re.compile(r"/(\.\w+|__pycache__|out|build|dist)/")
        paths = [p for p in ROOT.rglob("*") if not generated.search(f"/{p.relative_to(ROOT)}")]
    return sorted(path for path in paths if path.is_file())


PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
