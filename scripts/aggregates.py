"""Writes what follows from the registry of aggregates: ``fanlight/agg.py`` and the page in docs.

    python -m scripts.aggregates

An aggregate that is renamed or removed must leave ``agg.py`` by hand first: it is imported here.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import fanlight.engine.algebra.library
from fanlight.engine.algebra.facts import why_not_invertible
from fanlight.engine.algebra.ordering import Distinct
from fanlight.engine.algebra.registry import AGGREGATES, Entry, Registry, Sample, sections

ROOT = Path(__file__).resolve().parents[1]
MODULE = ROOT / "src/fanlight/agg.py"
WIDTH = 100
PAGE = ROOT / "docs/aggregates.md"

TAIL = """
# Out of the sight of type checkers, which know what there is.
globals()["__getattr__"] = _make_getattr(__all__, _PARTS)
_AGGREGATES.complete_docstrings()
"""

OTHERS = "\n# Their other names in ``pyspark.sql.functions``."

HEAD = '''"""The aggregates: ``from fanlight import agg``.

Names and null rules are those of ``pyspark.sql.functions``; columns are given by name or as Column.
Parts of your own aggregates are in :mod:`fanlight.algebra`.
"""

# Written by `python -m scripts.aggregates` from the registry, so that type checkers see each name.
'''


def library() -> Registry:
    """The registry, with every module of the library loaded."""
    home = fanlight.engine.algebra.library
    for found in pkgutil.iter_modules(home.__path__, f"{home.__name__}."):
        importlib.import_module(found.name)
    return AGGREGATES


def module(entries: Sequence[Entry]) -> str:
    """The text of ``fanlight/agg.py``."""
    homes: dict[str, list[str]] = defaultdict(list)
    homes["fanlight.algebra"].append("__all__ as _PARTS")
    homes["fanlight.engine.algebra.registry"].extend(
        ("AGGREGATES as _AGGREGATES", "name_anew as _name_anew")
    )
    homes["fanlight.engine.algebra.suggestions"].append("make_getattr as _make_getattr")
    for entry in entries:
        homes[entry.function.__module__].append(entry.name)
    lines = [HEAD]
    for home, names in sorted(homes.items()):
        if any(" as " in name for name in names):
            lines += [f"from {home} import {name}" for name in sorted(names)]
            continue
        line = f"from {home} import {', '.join(sorted(names))}"
        if len(line) > WIDTH:
            line = "\n".join(
                [f"from {home} import (", *(f"    {name}," for name in sorted(names)), ")"]
            )
        lines.append(line)
    public = [name for names in homes.values() for name in names if " as _" not in name]
    others = {other: entry.name for entry in entries for other in entry.names}
    made = [f'{other} = _name_anew({name}, "{other}")' for other, name in sorted(others.items())]
    listed = [f'    "{name}",' for name in sorted([*public, *others])]
    return "\n".join([*lines, OTHERS, *made, "", "__all__ = [", *listed, "]", TAIL])


def flowing(text: str) -> str:
    """A paragraph of a docstring as Markdown, in one line."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    return " ".join(text.replace("``", "`").split())


def parameters(text: str) -> list[tuple[str, str]]:
    """The parameters of a docstring's section, each with what is said of it."""
    parts = re.split(r"^(\S.*)\n", text + "\n", flags=re.MULTILINE)
    return [
        (name.strip(), flowing(said)) for name, said in zip(parts[1::2], parts[2::2], strict=True)
    ]


TAKES = {
    "any": "any type",
    "numeric": "number",
    "integral": "whole number",
    "boolean": "condition",
    "orderable": "any type with an order",
    "groupable": "any type with equality",
    "string": "text",
    "floating": "float or double",
    "float": "float",
    "hashable": "whole number, text or binary",
    "thetable": "number, text, binary or array",
}


def kept(entry: Entry) -> str:
    """What a partial of the aggregate is: how much it keeps."""
    (call, monoids) = entry.call(entry.plain[-1]), entry.monoids(entry.plain[-1])
    if not all(monoid.in_python for monoid in monoids):
        return "a sketch"
    if call.aggregate.bounded:
        return "a few values"
    return "value counts" if all(monoid.by_value for monoid in monoids) else "all values"


PROBES = {
    "bigint": "integers",
    "int": "integers of at most 32 bits",
    "decimal(18,2)": "decimals of at most 18 digits",
    "double": "doubles",
}


def exact_for(entry: Entry) -> list[str]:
    """The types of numbers for which rows can be taken back; "any" where the type is all one."""
    given = entry.plain[-1]
    asked = entry.call(given).aggregate
    if asked.accepts != "numeric":
        return ["any"] if entry.invertible(given) else []
    found = []
    for kind, word in PROBES.items():
        monoids = asked.partials((kind,) * len(given.types)).fields.values()
        if not any(why_not_invertible(monoid, (kind,)) for monoid in monoids):
            found.append(word)
    return [word for word in found if word != PROBES["int"] or PROBES["bigint"] not in found]


def taken_back(entry: Entry) -> str:
    """For which types rows can be taken back out of a partial."""
    found = exact_for(entry)
    if found:
        return "yes" if found == ["any"] else ", ".join(found)
    pseudo = entry.call(entry.plain[-1]).aggregate.differential == "pseudo"
    return "counts only" if pseudo else "no"


def techniques(entry: Entry) -> str:
    """The techniques that not every aggregate can use."""
    monoids = [monoid for one in entry.plain for monoid in entry.monoids(one)]
    if any(monoid.divided for monoid in monoids):
        return "panes that events are cut at, copies of events"
    if any(monoid.framed for monoid in monoids):
        return "frames alone have it"
    found = []
    if all(monoid.running for monoid in monoids):
        found.append("two stacks")
    if exact_for(entry):
        found.append("differences, cumulative sweeping")
    if all(monoid.combining in ("least", "greatest") for monoid in monoids):
        found.append("selective sweeping")
    if all(monoid.by_value and not monoid.bounded for monoid in monoids):
        found.append("value counts")
    if all(entry.reads(one) == Distinct() for one in entry.plain):
        found.append("lifetimes")
    if all(entry.reads(one) for one in entry.plain):
        found.append("ranks")
    return ", ".join(found) or "—"


def gives(one: Sample) -> str:
    """The type of a sample's result, by those of its columns."""
    options = [f"{name}={value!r}" for name, value in one.options if isinstance(value, list)]
    given = ", ".join([f"`{kind}`" for kind in one.types] + [f"`{option}`" for option in options])
    return f"{given or 'rows'} → `{one.gives}`"


PREFACE = """# Aggregates

<!-- Written by `python -m scripts.aggregates` from the docstrings and the registry. -->

`from fanlight import agg`. Names and null rules are those of `pyspark.sql.functions`; columns are
given by name or as Column. `help(agg.sum)` says what this page says.

Each of them, and [your own](sliding.md#aggregates), can be asked
[of some rows only](sliding.md#of-some-rows-only): `agg.sum("amount").where("kind = 'a'")`. Those
with `distinct` take [each value once](sliding.md#each-value-once):
`agg.sum("amount", distinct=True)`, in SQL `sum(DISTINCT amount)`. `+`, `-`, `*` and `/` of
aggregates and numbers are [computed with them](sliding.md#ratios):
`agg.count_if("failed") / agg.count()`. A function of a result is computed with it, too:
`agg.avg("price").transform(lambda average: F.round(average, 2))`, where `F.round(agg.avg("price"))`
would need a Column. The function takes and returns a Column that reads as SQL of the result: other
columns, aggregates, Python, aliases, and literals of dates, intervals or bytes are computed from
the result, by `withColumn`. Limits of an `AggregateFrame`
and `pieces` take aggregates alone.

Spark's own Columns are taken, too, where they mean one of these:
`windows.agg(F.max_by("item", "price"), F.sum(F.col("price") * 2).alias("double"))`, also inside
functions: `F.round(F.sum("price") / F.count("*"), 2)`. Their results keep the names that Spark has
for them. An aggregate that only Spark has, your own in pandas too, is computed by Spark, with the
other Columns of the query: of windows over time a row is copied into each of its windows, as
Spark's own windows do it, and of frames of a batch rows are grouped by their frame. Ask for those
of `agg` in a query of their own, and for all that is beside one in pandas.

- *class*: as Gray et al. and the papers have it. A *selective* aggregate gives one row's value; all
  rows enter into a *cumulative* one.
- *kept*: what a partial, of a pane for example, consists of.
- *taken back*: whether rows can leave a partial again, exactly. Sums of doubles are not taken back:
  a running difference would keep the rounding of every value that has left. Counts of values (where
  it says *counts only*) could be, but rolling them up costs the same.
- *techniques*: those that need more than partials that combine. Panes, pairs, copies, scans,
  levels, cells and buckets fit every aggregate. *Two stacks* need a combination that Spark runs in
  constant time a row; *differences* and *cumulative sweeping* need an exact inverse; *selective
  sweeping* a minimum or maximum. Where *value counts* are kept, rows are counted by value before
  anything else; *lifetimes* count distinct values without them, and *ranks* read off one ordered
  pass what is asked of them.

"""


def marked(names: Iterable[str]) -> list[str]:
    """Names as code."""
    return [f"`{name}`" for name in names]


def overview(entries: Iterable[Entry]) -> list[str]:
    """The table of all aggregates."""
    lines = [
        "| aggregate | of | class | kept | taken back | techniques |",
        "|---|---|---|---|---|---|",
    ]
    for entry in entries:
        asked = entry.call(entry.plain[-1]).aggregate
        lines.append(
            f"| {', '.join([f'[`{entry.name}`](#{entry.name})', *marked(entry.names)])} "
            f"| {TAKES[asked.accepts]} "
            f"| {asked.algebra}, {asked.accumulation} | {kept(entry)} "
            f"| {taken_back(entry)} | {techniques(entry)} |"
        )
    return lines


def described(entry: Entry) -> list[str]:
    """The section of one aggregate, from its docstring."""
    said = sections(entry.function.__doc__ or "")
    taken = parameters(said.get("Parameters", ""))
    names = [name for name, _ in taken]
    called = ", or ".join(
        [f"`agg.{entry.name}({', '.join(names)})`"]
        + marked(f"agg.{name}" for name in entry.names)
        + [f"in SQL {name}" for name in marked(entry.in_sql)]
    )
    lines = [f"## {entry.name}", "", called, ""]
    lines += [flowing(said[""]), ""]
    lines += [f"- `{name}`: {text}" for name, text in taken]
    ((_, returned),) = parameters(said["Returns"])
    lines += [
        f"- Gives: {returned} Types: {'; '.join(map(gives, entry.samples))}.",
        f"- Nulls and NaN: {flowing(said['Notes'])}",
        *(f"- Raises `{name}`: {text}" for name, text in parameters(said["Raises"])),
        *("", "```pycon", said["Examples"].replace("<BLANKLINE>", "").strip(), "```", ""),
    ]
    return lines


def page(entries: Iterable[Entry]) -> str:
    """The text of ``docs/aggregates.md``."""
    listed = list(entries)
    lines = [*overview(listed), ""]
    for entry in listed:
        lines += described(entry)
    return PREFACE + "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Write both files."""
    entries = list(library().values())
    MODULE.write_text(module(entries), "utf-8")
    PAGE.write_text(page(entries), "utf-8")


if __name__ == "__main__":
    main()
