"""What the docstring of an aggregate must have."""

from __future__ import annotations

import inspect

from scripts import aggregates as written

SECTIONS = {"Parameters", "Returns", "Raises", "Notes", "Examples"}


def unexplained(function):
    """What the docstring of an aggregate lacks."""
    said = written.sections(function.__doc__ or "")
    needed = SECTIONS - (set() if inspect.signature(function).parameters else {"Parameters"})
    missing = {title for title in needed if not said.get(title)}
    explained = {name.lstrip("*") for name, text in written.parameters(said.get("Parameters", ""))}
    missing |= set(inspect.signature(function).parameters) ^ explained
    if "ull" not in said.get("Notes", "") or "agg." not in said.get("Examples", ""):
        missing.add("nulls, or an example")
    return missing
