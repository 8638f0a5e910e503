"""The commands of ``fanlight``, declared with click."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import click

import fanlight as fl
from fanlight.cli.display import FAILED, INTERRUPTED, emit, report_outcome
from fanlight.cli.sessions import QUERY_PACKAGES, require

if TYPE_CHECKING:
    from fanlight.cli.jobs.job import Job


FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
A_JOB = """\b
[source.calls]
format = "parquet"                  # csv, json, delta, kafka, replay, table
path = "calls"                      # beside this file
\b
[query]
sql = \"\"\"
SELECT antenna, window, count(*) AS calls
FROM calls [WATTR ts RANGE 1 HOUR SLIDE 1 MINUTE]
GROUP BY antenna
\"\"\"
\b
[sink]
format = "parquet"
path = "busy"
"""


@click.command(
    epilog=f"""A job file:

{A_JOB}
To make it a stream, add a table [stream] with trigger and checkpoint, and a watermark to each
source; docs/command_line.md lists all keys.

Exit codes: 0 success, 1 failure, 2 an invalid file, 130 interrupted."""
)
@FILE
@click.option("--check", is_flag=True, help="Only check the file; starts no Spark.")
@click.option(
    "--watch", is_flag=True,
    help="Show the progress in one line that is updated; of a stream also on a page, whose address "
    "is printed (needs the extra watch).",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="PORT",
    help="The port of that page; by default any free one.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Progress and outcome as lines of JSON.")
def run(file: Path, *, check: bool, watch: bool, port: int | None, as_json: bool) -> None:
    """Run the job in FILE, a batch or a stream.

    The whole file is checked before Spark starts. Ctrl-C stops a stream after its current
    micro-batch; the same command continues from there. A second Ctrl-C stops it at once.
    """
    if port is not None and not watch:
        raise click.UsageError("--port is the port of the page that --watch serves: add --watch")
    if not check:
        require(*QUERY_PACKAGES, extra="cli")
    with report_outcome(as_json=as_json):
        job = _load(file)
        if check:
            click.echo(f"{file} is valid", err=as_json)
            if as_json:
                emit("checked", file=str(file), job=job.name)
            return
        from fanlight.cli import display

        ran = display.run(job, watch=watch, as_json=as_json, port=port or 0)
    if ran.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


@click.command()
@FILE
@click.option("--verbose", is_flag=True, help="Also list every candidate, with its cost.")
def explain(file: Path, *, verbose: bool) -> None:
    """Print how the job in FILE will run, and why.

    Spark is started to look at the columns; no data is read.
    """
    require(*QUERY_PACKAGES, extra="cli")
    from fanlight.cli.sessions import session

    with report_outcome():
        job = _load(file, to_run=False)
        with session(job.name, job.settings) as spark:
            click.echo(job.explain(spark, verbose=verbose))


@click.command()
@FILE
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), required=True,
    help="The page to write, an HTML file.",
)  # fmt: skip
@click.option("--value", help="The column to draw; by default the first aggregate.")
@click.option("--zone", default="UTC", show_default=True, help="The time zone of the times.")
@click.option("--title", help="A heading; by default the name of the job.")
def plot(file: Path, out: Path, value: str | None, zone: str, title: str | None) -> None:
    """Draw the result of the job in FILE: lines, levels or frames, on a page that works offline.

    The sources are read as a batch, even if the job is a stream; nothing is written to its sink.
    """
    require(*QUERY_PACKAGES, extra="cli")
    require("plotly", extra="plot")
    from fanlight import plots
    from fanlight.cli.sessions import session

    with report_outcome():
        job = _load(file, to_run=False)
        with session(job.name, job.settings) as spark:
            result = job.result(spark, stream=False)
            options = {} if value is None else {"value": value}
            figure = plots.draw(result, **options, zone=zone, title=title or job.name)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(plots.page(figure, title=title or job.name), "utf-8")
    click.echo(f"written to {out}")


@click.command(
    epilog="""\b
fanlight sql "SELECT antenna, count(*) FROM calls
  [WATTR ts RANGE 4 MINUTES SLIDE 1 MINUTE] GROUP BY antenna" -t calls=calls.parquet"""
)
@click.argument("text")
@click.option(
    "-t", "--table", "tables", multiple=True, metavar="NAME=PATH",
    help="A table: a file or a folder of .parquet, .csv or .json. May be given several times.",
)  # fmt: skip
@click.option("-n", "--rows", default=20, show_default=True, help="How many rows to print.")
@click.option("--json", "as_json", is_flag=True, help="Print each row as a line of JSON.")
def sql(text: str, tables: tuple[str, ...], rows: int, *, as_json: bool) -> None:
    """Print the windows that a query asks for: TEXT, as fl.sql reads it."""
    require(*QUERY_PACKAGES, extra="cli")
    from fanlight.cli import display
    from fanlight.cli.sessions import read_table, require_sql, run_sql, session

    named = [one.partition("=") for one in tables]
    for one, (name, _, path) in zip(tables, named, strict=True):
        if not name or not path:
            raise click.BadParameter(f"{one!r} is not NAME=PATH", param_hint="--table")
    with report_outcome(as_json=as_json):
        require_sql()
        with session("sql", {}) as spark:
            result = run_sql(text, {name: read_table(spark, path) for name, _, path in named})
            display.print_rows(result, rows, as_json=as_json)


def _load(file: Path, *, to_run: bool = True) -> Job:
    from fanlight.cli.jobs.job import load

    return load(file, to_run=to_run)


COMMANDS = (run, explain, plot, sql)


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


for command in COMMANDS:
    fanlight.add_command(command)
