"""One way in which the source can be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Breakage:
    """``old`` stands once in ``file`` (below ``src/fanlight``); with ``new``, ``tests`` fail.

    ``tests`` are arguments of pytest: the fewest and quickest that see it.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def misplaced(self):
        """Why it cannot be applied; empty where it can."""
        file = SOURCE / "fanlight" / self.file
        if not file.exists():
            return f"{self.file} is not there"
        count = file.read_text("utf-8").count(self.old)
        return "" if count == 1 else f"{self.file} has its old text {count} times"

    def applied(self, text):
        """The broken text of the file."""
        return text.replace(self.old, self.new)


def within(file, *tests):
    """A maker of breakages of one file that the same tests see."""

    def make(name, old, new, *others):
        return Breakage(name, file, old, new, others or tests)

    return make
