"""The command line: ``fanlight run job.toml``, ``fanlight sql``, ``fanlight doctor`` and more."""

from __future__ import annotations

import sys

from fanlight.cli.sessions import install_advice


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
