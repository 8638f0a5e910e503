"""How the programs of experiments, benchmarks and tests are called."""

from __future__ import annotations

import functools

import click

# A function as a program, with -h beside --help.
command = functools.partial(
    click.command, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
smoke = click.option(
    "--smoke", is_flag=True, help="Tiny sizes, to see that it runs; writes nothing."
)
