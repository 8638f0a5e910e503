"""The page of versions: which PySpark was tried with what, and what each does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "versions.md"
Found = Mapping[str, Any]  # what tests/wheel/check.py writes

HEAD = """\
# Feature support by version

Each line is an environment with the wheel, one extra and nothing else, in which a program asks
every kind of window in a batch and in a stream, half of them with ANSI mode and half without
(`tests/wheel/check.py`). `make wheels ALL=1` makes the environments and writes this page: every
PySpark with the oldest Python and pandas 2, and with the newest Python that it supports, and the
newest pandas that it runs with. Over Spark Connect there are batches of each kind and a stream of
each engine. All other tests run on the newest PySpark.

## Tried

"""
MISSING = """
## What a version does not have

An error says so, before a job starts. All else that was asked is there on each version: every kind
of window in `tests/wheel/kinds.py`.

"""
AROUND = """
## Around the windows

What `tests/wheel/around.py` asks in classic sessions, with the extras `cli`, `spark`, `sql` and
`watch`. A column is a PySpark on which they ran. What is in none of these tables was tried on the
newest PySpark alone.

"""
FOOT = """
Also:

- Spark 3.5 from PyPI comes without the server of Spark Connect, so that a session of 3.5 over it is
  not among these. By hand, a client of 3.5.6 was tried on a server of 4.0.1: windows, levels,
  frames, SQL, and streams with and without state in Python.
- PySpark 3.5 keeps NumPy 1, which newer releases of pyarrow do not load: write
  `pip install 'fanlight[spark]' 'pyspark==3.5.*' 'pyarrow<22'`.
- Spark 3.5 has no `fl.replay` (data sources in Python are of 4.0), and gives windows early in the
  output mode `update` alone.
- On PySpark 4.0 and 4.1 `fl.replay` cannot limit the rows of a micro-batch.
- [Decision 75](decisions/0075-versions.md) says how versions differ inside, [Versions and
  support](support.md) for how long each is supported.
"""
TRIED = ("PySpark", "session", "Python", "pandas", "Java", "answers", "refused")
LACKS = ("", "not on", "since")


def page_of(found: Sequence[Found]) -> str:
    """The whole page."""
    around = [one for one in found if one["kind"] == "around"]
    found = [one for one in found if one["kind"] != "around"]
    ordered = sorted(found, key=lambda one: (_numbers(one["spark"]), _numbers(one["python"])))
    ordered.sort(key=lambda one: str(one["kind"]))
    told = ("spark", "kind", "python", "pandas", "java")
    tried = []
    for one in ordered:
        refused = len(one["refused"])
        right = one["done"] - refused - len(one["wrong"])
        tried.append((*(one[name] for name in told), f"{right} right", refused))
    lacks = _table(LACKS, _missing(ordered))
    return f"{HEAD}{_table(TRIED, tried)}{MISSING}{lacks}{_around(around)}{FOOT}"


def _around(found: Sequence[Found]) -> str:
    """What is around the windows, in a column for each PySpark that was asked."""
    if not found:
        return ""
    ordered = sorted(found, key=lambda one: _numbers(one["spark"]))
    cases = dict.fromkeys(case for one in ordered for case in one["right"])
    rows = [(case, *("yes" if case in one["right"] else "no" for one in ordered)) for case in cases]
    return AROUND + _table(("", *(one["spark"] for one in ordered)), rows)


def _missing(found: Sequence[Found]) -> list[tuple[str, str, str]]:
    """A line for each case that some version refuses: the sessions of that version, since when."""
    lines: dict[tuple[str, str], dict[str, None]] = {}
    for one in found:
        session = f"{'.'.join(one['spark'].split('.')[:2])} {one['kind']}"
        for case, since in one["refused"].items():
            lines.setdefault((case, since), {})[session] = None
    return [(case, ", ".join(on), since) for (case, since), on in sorted(lines.items())]


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
