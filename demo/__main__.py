"""``python -m demo``: all flights from New York in 2013, asked, compared, and shown on a page."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

import fanlight as fl
from demo import run


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for the page.",
)
@click.option("--open/--no-open", "show", default=False, help="Open the page in a browser.")
def main(out: Path, *, show: bool) -> None:
    """All flights from New York in 2013, as a batch, as a stream, and by Spark's own windows."""
    try:
        page = run(out)
    except fl.FanlightError as error:
        raise click.ClickException(str(error)) from error
    if show:
        webbrowser.open(page.resolve().as_uri())


if __name__ == "__main__":
    main(prog_name="python -m demo")
