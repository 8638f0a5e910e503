"""Of PySpark the package takes only what its documentation lists: the rest changes unannounced."""

from __future__ import annotations

import ast

import pytest

from tests.helpers.imports import MODULES, imports_of, parsed

# The modules under which Spark's API reference lists its names.
PUBLIC = {
    "pyspark",
    "pyspark.errors",
    "pyspark.logger",
    "pyspark.sql",
    "pyspark.sql.datasource",
    "pyspark.sql.functions",
    "pyspark.sql.streaming",
    "pyspark.sql.streaming.datasource",  # from 4.2 on: limits of a source, and its triggers
    "pyspark.sql.types",
}
# The columns of a Connect DataFrame, which must be made in a process of classic mode too.
DOORS = {"fanlight.engine.spark.sql": {"pyspark.sql.connect.functions"}}
FIRST = "pyspark"


def is_theirs(module):
    return module == FIRST or module.startswith(f"{FIRST}.")


def internals(source, name):
    """Imports of what is not public: by the module, or by a name that begins with ``_``."""
    allowed = PUBLIC | DOORS.get(name, set())
    found = [
        f"{name}:{what.line} imports {what.module}"
        for what in imports_of(source, name)
        if is_theirs(what.module) and what.module not in allowed
    ]
    return found + [
        f"{name}:{node.lineno} imports {alias.name} from {node.module}"
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.ImportFrom) and is_theirs(node.module or "")
        for alias in node.names
        if alias.name.startswith("_") or f"{node.module}.{alias.name}" in SUBMODULES
    ]


# `from pyspark import cloudpickle` names a module as if it were a name of `pyspark`.
SUBMODULES = {f"pyspark.{name}" for name in ("cloudpickle", "pandas", "serializers", "worker")}


@pytest.mark.parametrize("name", MODULES)
def test_only_what_is_public(name):
    assert internals(MODULES[name].read_text("utf-8"), name) == []


@pytest.mark.parametrize("name", DOORS)
def test_a_door_is_used(name):
    taken = {what.module for what in imports_of(MODULES[name].read_text("utf-8"), name)}
    assert taken >= DOORS[name]


@pytest.mark.parametrize(
    "source",
    [
        "from pyspark.serializers import CloudPickleSerializer",
        "import pyspark.cloudpickle",
        "from pyspark import cloudpickle",
        "from pyspark import serializers as s",
        "from pyspark.sql.pandas.types import to_arrow_schema",
        "def late():\n    from pyspark.sql.connect.functions import expr",
        "from pyspark.sql.types import _parse_datatype_string",
        "import importlib\nimportlib.import_module('pyspark.sql.pandas')",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pyspark.sql.utils",
    ],
)
def test_an_internal_is_seen(source):
    assert internals(source, "fanlight.engine.spark.x") != []


def test_what_is_public_is_let_in():
    assert internals("from pyspark.sql import Row, functions as F", "fanlight.engine.spark.x") == []
