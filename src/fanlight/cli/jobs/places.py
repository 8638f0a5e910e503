"""Paths of a job: relative ones are beside the job file."""

from __future__ import annotations

import re
from pathlib import Path

from fanlight.cli.jobs.table import Table

_PATTERN = re.compile(r"[*?\[{]")


def place(table: Table, name: str, example: str, *, there: bool = False) -> str | None:
    """A path as Spark is given it; with ``there`` a relative one must lead to something.

    What has a scheme, or begins with a slash, is Spark's business: it may be anywhere.
    """
    value = table.text(name, f'"{example}"', required=True)
    if value is None or ":/" in value or value.startswith("/"):
        return value
    path = (table.document.path.parent / value).absolute()
    if there and not _PATTERN.search(value) and not path.exists():
        table.wrong(name, f"{path} is not there")
        return None
    return f"file://{Path(path).as_posix()}"
