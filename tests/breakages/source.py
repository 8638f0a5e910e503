"""The sources that are broken, and which of their files define a name."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def definitions(body, above=""):
    """Each definition with its qualified name: functions, classes and names that are assigned."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield above + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield above + node.name, node
            yield from definitions(node.body, f"{above}{node.name}.")
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                if isinstance(target, ast.Name):
                    yield above + target.id, node
        elif isinstance(node, (ast.If, ast.Try)):
            yield from definitions([*node.body, *node.orelse], above)


def module(path):
    """The dotted name of the module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class Sources:
    """Folders of Python files, each with the path that it has below a folder of ``sys.path``."""

    def __init__(self, folders):
        self.folders = {path: folder for path, folder in folders.items() if folder.is_dir()}

    @cached_property
    def files(self):
        """All files by their paths."""
        return {
            f"{path}/{file.relative_to(folder).as_posix()}": file
            for path, folder in self.folders.items()
            for file in sorted(folder.rglob("*.py"))
        }

    @cached_property
    def defining(self):
        """The paths of the files that define each qualified name."""
        found = defaultdict(dict)
        for path in self.files:
            for name, _ in definitions(ast.parse(self.text(path)).body):
                found[name][path] = True
        return found

    def text(self, path):
        """What is written in a file."""
        return self.files[path].read_text("utf-8")

    def paths(self, where):
        """The paths of the files that define ``name``, or ``end.of.module:name``."""
        end, _, name = where.rpartition(":")
        ending = f".{end}" if end else ""
        found = self.defining.get(name, ())
        return [path for path in found if f".{module(path)}".endswith(ending)]


OURS = Sources({"fanlight": ROOT / "src" / "fanlight", "tests/oracle": ROOT / "tests" / "oracle"})
