"""Paths in a job file, relative to its folder."""

from __future__ import annotations

import re
from pathlib import Path

from fanlight.cli.jobs.table import Table

_PATTERN = re.compile(r"[*?\[{]")


def read_path(table: Table, name: str, example: str, *, must_exist: bool = False) -> str | None:
    """A path as Spark takes it; with ``must_exist`` a relative path must exist.

    A path with a scheme or a leading slash is not checked: it may be on another machine.
    """
    value = table.text(name, f'"{example}"', required=True)
    if value is None or ":/" in value or value.startswith("/"):
        return value
    path = (table.document.path.parent / value).absolute()
    if must_exist and not _PATTERN.search(value) and not path.exists():
        table.note_wrong(name, f"{path} does not exist")
        return None
    return f"file://{Path(path).as_posix()}"
