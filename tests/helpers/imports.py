"""The modules of the package and around it, and what each imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.helpers.house import ROOT

SRC = ROOT / "src"
PACKAGE = SRC / "fanlight"


@dataclass(frozen=True)
class Import:
    """One import: the module it names, the line, and whether it is there for annotations only."""

    module: str
    line: int
    typing: bool


def modules_under(folder: Path, root: Path) -> dict[str, Path]:
    """Every Python file under a folder, by its module name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules_under(PACKAGE, SRC)
OUTSIDE = {
    **modules_under(ROOT / "benchmarks", ROOT),
    **modules_under(ROOT / "demo", ROOT),
    **modules_under(ROOT / "experiments", ROOT),
    **modules_under(ROOT / "tests/oracle", ROOT),
}
KNOWN = frozenset(MODULES)


def absolute(node: ast.ImportFrom, name: str, *, is_package: bool) -> str:
    """The module that `from X import ...` names, with the leading dots resolved."""
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *([node.module] if node.module else [])])


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a source, which several tests look at."""
    return ast.parse(source)


def imports_of(
    source: str, name: str, *, is_package: bool = False, known: frozenset[str] = KNOWN
) -> list[Import]:
    """Every import of a module, wherever it stands: also late, for annotations, or by name."""
    found: list[Import] = []

    def add(module: str, node: ast.AST, *, typing: bool) -> None:
        found.append(Import(module, node.lineno, typing))

    def visit(node: ast.AST, *, typing: bool) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                add(alias.name, node, typing=typing)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, name, is_package=is_package)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                add(inner if inner in known else base, node, typing=typing)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func
            word = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            first = node.args[0]
            if word in {"import_module", "__import__"} and isinstance(first, ast.Constant):
                text = str(first.value)
                dots = len(text) - len(text.lstrip("."))
                relative = ast.ImportFrom(module=text.lstrip("."), names=[], level=dots)
                package = name if is_package else name.rpartition(".")[0]
                add(absolute(relative, package, is_package=True), node, typing=typing)
        if isinstance(node, ast.If) and is_type_checking(node.test):
            for child in node.body:
                visit(child, typing=True)
            for child in node.orelse:
                visit(child, typing=typing)
            return
        for child in ast.iter_child_nodes(node):
            visit(child, typing=typing)

    visit(parsed(source), typing=False)
    return found
