"""The commands, by click."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

import fanlight as fl


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
    """All flights from New York in 2013: as a batch, as a stream, beside Spark's own windows."""
    from fanlight.cli.demo import run

    page = run(out)
    if show:
        webbrowser.open(page.resolve().as_uri())
