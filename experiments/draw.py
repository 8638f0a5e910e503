"""Draw the figures of the experiments again, from the tables of their pages: nothing is timed.

Each experiment's ``pictures.py`` has ``figures(results)``: SVG by the name of its file, of the
tables of its pages as :func:`experiments.claims.texts` reads them. A run of an experiment draws by
the same functions, from the page that it has just written.
"""

from __future__ import annotations

import importlib

import click

from experiments import claims, commands


def figures(name, results, **how):
    """The figures of an experiment, as SVG by file."""
    return importlib.import_module(f"experiments.{name}.pictures").figures(results, **how)


def write(name):
    """Draw the figures of an experiment from its pages, beside them; returns their files."""
    _, results = claims.texts(name)
    written = []
    for file, svg in figures(name, results).items():
        written.append(claims.HERE / name / file)
        written[-1].write_text(svg, "utf-8")
    return written


def keep(name, page, text, *, smoke, **how):
    """Write a page of an experiment, and its figures; a smoke run draws them and writes nothing."""
    if smoke:
        figures(name, {page: claims.tables(text)}, **how)
        return
    (claims.HERE / name / f"{page}.md").write_text(text, "utf-8")
    write(name)


@commands.command()
@click.argument("names", nargs=-1, type=click.Choice(claims.NAMES))
def main(names):
    """Draw the figures of the experiments NAMES, or of all, from the tables of their pages.

    Nothing is measured anew, so this takes seconds: what a figure shows is what results.md and
    on_spark.md say.
    """
    for name in names or claims.NAMES:
        for path in write(name):
            click.echo(f"{path.relative_to(claims.HERE.parent)}")


if __name__ == "__main__":
    main()
