"""What a command needs installed, said before anything starts."""

from __future__ import annotations

from importlib.util import find_spec

import click

from fanlight.cli import advice


def need(*packages: str, extra: str) -> None:
    """End with what to install if a package is not there."""
    for package in packages:
        if find_spec(package) is None:
            wanted = "spark" if package == "pyspark" and extra != "demo" else extra
            raise click.ClickException(advice(package, wanted))
