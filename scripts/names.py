"""Writes the table of options in docs/names.md, from the entries of the options.

python -m scripts.names
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from fanlight.engine.kinds.options import Option, list_options
from fanlight.engine.spark.windows.base import Windowed

PAGE = Path(__file__).resolve().parents[1] / "docs/names.md"
TABLE = re.compile(r"(?<=\|---\|---\|---\|\n).*?(?=\n\n## Further functions)", re.DOTALL)


def write_call(method: str) -> str:
    """A method of windows as it is called: arguments with defaults as ``name=``."""
    found = next(vars(kind)[method] for kind in _kinds(Windowed) if method in vars(kind))
    several = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    shown = [
        one.name if one.default is one.empty and one.kind is not one.KEYWORD_ONLY
        else f"{one.name}="
        for one in inspect.signature(found).parameters.values()
        if one.name != "self" and one.kind not in several
    ]  # fmt: skip
    return f"{method}({', '.join(shown)})"


def _kinds(kind: type) -> list[type]:
    return [kind, *(found for one in kind.__subclasses__() for found in _kinds(one))]


def _write_row(option: Option) -> str:
    goes = "all" if option.terminals is None else ", ".join(f"`{one}`" for one in option.terminals)
    in_stream = [f"{one} in a stream" for one in option.excludes_in_stream]
    excluded = ", ".join([*option.excludes, *in_stream])
    return f"| `{write_call(option.verb)}` | {goes} | {excluded} |"


def write_table() -> str:
    """The rows of the table."""
    return "\n".join(map(_write_row, list_options()))


def write_page(page: str) -> str:
    """The page with the table as it must be."""
    return TABLE.sub(lambda _: write_table(), page)


if __name__ == "__main__":
    import fanlight as fl

    fl.over  # noqa: B018 - loads every kind of windows
    PAGE.write_text(write_page(PAGE.read_text("utf-8")), "utf-8")
