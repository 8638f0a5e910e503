"""Which tests a sample must have, and which are too long for it: lists that commands write.

``seen_by.txt`` has the test that sees each breakage: ``python -m tests.breakages --find``.
``long.txt`` has the tests that take more than ``SECONDS``, as logs of pytest say:

    PYTEST_ADDOPTS='--durations=0 --durations-min=0.2' make law | tee /tmp/log
    python -m tests.helpers.sampled /tmp/log
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

SECONDS = 3
FOLDER = Path(__file__).parent
SEEN_BY, LONG = FOLDER / "seen_by.txt", FOLDER / "long.txt"
TIME = re.compile(r"^([\d.]+)s call +(tests/.+)$", re.MULTILINE)


def read_seen_by() -> dict[str, str]:
    """The test that sees a breakage, by the breakage's name."""
    lines = SEEN_BY.read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def write_seen_by(tests: dict[str, str]) -> None:
    """Write the list, in order of breakages."""
    SEEN_BY.write_text("".join(f"{name}\t{test}\n" for name, test in tests.items()), "utf-8")


def read_long() -> set[str]:
    """The names of long tests."""
    return set(LONG.read_text("utf-8").splitlines())


def write_long(logs: list[str]) -> None:
    """Write the names of tests that these logs call long."""
    took: dict[str, float] = defaultdict(float)
    for log in logs:
        for seconds, name in TIME.findall(Path(log).read_text("utf-8")):
            took[name] += float(seconds)
    found = sorted(name for name, seconds in took.items() if seconds > SECONDS)
    LONG.write_text("".join(f"{name}\n" for name in found), "utf-8")


if __name__ == "__main__":
    write_long(sys.argv[1:])
