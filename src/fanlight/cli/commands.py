"""The commands, by click."""

from __future__ import annotations

import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

import fanlight as fl
from fanlight.cli import NEEDED, advice


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(fl.__version__, prog_name="fanlight")
def fanlight() -> None:
    """Windows that Spark does not have, for PySpark."""


@fanlight.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for the page.",
)
@click.option("--open/--no-open", "show", default=False, help="Open the page in a browser.")
def demo(out: Path, *, show: bool) -> None:
    """All flights from New York in 2013, as a batch, as a stream, and by Spark's own windows."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise click.ClickException(advice(package))
    from fanlight.cli.demo import run

    try:
        page = run(out)
    except fl.FanlightError as error:
        raise click.ClickException(str(error)) from error
    if show:
        webbrowser.open(page.resolve().as_uri())
