"""The packages that a command needs, checked before anything starts."""

from __future__ import annotations

from importlib.util import find_spec

import click

from fanlight.cli import install_advice


def require(*packages: str, extra: str) -> None:
    """Exit with the line to write if a package is not installed."""
    for package in packages:
        if find_spec(package) is None:
            wanted = "spark" if package == "pyspark" and extra != "demo" else extra
            raise click.ClickException(install_advice(package, wanted))
