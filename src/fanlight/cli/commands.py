"""The commands of ``fanlight``, declared with click."""

from __future__ import annotations

import json
import os
from shutil import which

import click

import fanlight as fl
from fanlight.cli import job_commands
from fanlight.cli.outcomes import FAILED, report_outcome
from fanlight.cli.sessions import QUERY_PACKAGES, require

SHELLS = ("bash", "zsh", "fish")
EXIT_CODES = """\b
Exit codes: 0 success, 1 failure, 2 wrong usage or an invalid job file, 130 interrupted."""
EXAMPLES = f"""\b
fanlight doctor                        what is missing here, and the line to write
fanlight run job.toml                  a batch or a stream, from a file
fanlight run job.toml --check          is the file valid? starts no Spark
fanlight explain job.toml              how it will run, and why
fanlight plot job.toml -o out.html     a picture of its windows
fanlight sql "SELECT …" -t bids=bids.parquet

{EXIT_CODES}"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(fl.__version__, prog_name="fanlight")
def fanlight() -> None:
    """Windows that Spark does not have, for PySpark."""


@fanlight.command(
    epilog="""\b
fanlight doctor --conf spark.remote=sc://host:15002
fanlight doctor --json | jq '.findings[] | select(.state == "missing")'

Exit code: 0 if every kind of window can run, 1 if something is missing."""
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--conf", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the session."
)
def doctor(settings: tuple[str, ...], *, as_json: bool) -> None:
    """What a Spark session lacks, which kinds of windows need it, and the line to write.

    It starts a session as your own programs do (spark-defaults, SPARK_REMOTE, --conf), runs two
    small jobs in it, and changes nothing.
    """
    require(*QUERY_PACKAGES, extra="cli")
    from fanlight.cli.sessions import session

    conf = dict(map(_parse_setting, settings))
    with report_outcome(as_json=as_json):
        _check_java(conf)
        with session("doctor", conf) as spark:
            diagnosis = fl.doctor(spark)
    click.echo(json.dumps(diagnosis.to_dict(), indent=2) if as_json else str(diagnosis))
    if not diagnosis.ok:
        raise click.exceptions.Exit(FAILED)


def _check_java(settings: dict[str, str]) -> None:
    """Refuse a local session without Java: PySpark's shell script would say it less clearly."""
    from fanlight.cli.sessions import is_remote

    if not is_remote(settings) and not os.environ.get("JAVA_HOME") and which("java") is None:
        raise fl.FanlightError(
            "Spark needs Java 17 or newer, but no Java was found; install one, and set JAVA_HOME"
        )


def _parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--conf")
    return name, value


@fanlight.command(
    epilog="""\b
eval "$(fanlight completion bash)"                                  # in ~/.bashrc
eval "$(fanlight completion zsh)"                                   # in ~/.zshrc
fanlight completion fish > ~/.config/fish/completions/fanlight.fish"""
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which a shell completes commands, options and files."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"the installed click cannot complete in {shell}")
    click.echo(kind(fanlight, {}, "fanlight", "_FANLIGHT_COMPLETE").source())


for command in job_commands.COMMANDS:
    fanlight.add_command(command)
