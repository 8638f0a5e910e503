"""What the project says of itself, and where its repository is: the one place that knows."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_SSH = re.compile(r"(?:ssh://)?git@(?P<host>[\w.-]+)[:/](?P<path>.+)")
_WEB = re.compile(r"https://(?:[^@/]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)/(?P<path>.+)")


def project(root: Path = ROOT) -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    text = (root / "pyproject.toml").read_text("utf-8")
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


def git(*arguments: str, root: Path = ROOT) -> str | None:
    """What git answers, if it does."""
    done = subprocess.run(  # noqa: S603
        ["git", "-C", str(root), *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def address(root: Path = ROOT) -> str | None:
    """The web address of the repository: REPOSITORY, or that of the remote ``origin``."""
    told = os.environ.get("REPOSITORY") or git("remote", "get-url", "origin", root=root)
    return public(told) if told else None


def public(remote: str) -> str | None:
    """The web address of a remote: of a host that has one, without a name or a password."""
    match = _SSH.fullmatch(remote) or _WEB.fullmatch(remote)
    if match is None:
        return None
    path = match["path"].rstrip("/").removesuffix(".git")
    return f"https://{match['host']}/{path}"


def urls(repository: str, version: str) -> dict[str, str]:
    """The links of a release on a package index."""
    return {
        "Source": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/getting_started.md",
        "Changes": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
