"""The walls of the house: which module may import what."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from fanlight.engine.spark import supported
from tests.helpers.imports import KNOWN, MODULES, OUTSIDE, Import, imports_of, parsed
from tests.wheel.spared import OF_SPARK_4

STDLIB = frozenset(sys.stdlib_module_names)

# What a room may import besides the standard library. A room may always import itself, and those
# of the engine nothing that is around it.
ENGINE = "fanlight.engine"
ROOMS = {
    "fanlight.engine.spec": set(),
    "fanlight.engine.algebra": {"fanlight.engine.spec"},
    "fanlight.engine.plan": {"fanlight.engine.spec", "fanlight.engine.algebra"},
    "fanlight.engine.kinds": {
        "fanlight.engine.spec",
        "fanlight.engine.algebra",
        "fanlight.engine.plan",
    },
    "fanlight.engine.arrow": {"pyarrow"},  # DataFrames as tables, for whoever draws or writes them
    "fanlight.engine.kernels": {"numpy", "numba"},
    "fanlight.engine.operators": {
        "numpy",
        "pyarrow",
        "fanlight.engine.spec",
        "fanlight.engine.algebra",
        "fanlight.engine.plan",
        "fanlight.engine.kernels",
    },
    "fanlight.engine.spark": {"fanlight.engine", "numpy", "pyarrow", "pyspark"},
    # The language, run on Spark, is a room in that of the language, which is texts and no Spark.
    "fanlight.language.running": {"fanlight.engine", "fanlight.language", "pyarrow", "pyspark"},
    "fanlight.language": {
        "lark",
        "fanlight.engine.spec",
        "fanlight.engine.algebra",
        "fanlight.engine.kinds",
    },
    "fanlight.plots.sketches": {
        "fanlight.engine.spec",
        "fanlight.engine.plan",
        "fanlight.engine.kinds",
    },
    "fanlight.plots": {
        "numpy",
        "pyarrow",
        "plotly",
        "fanlight.engine.arrow",
        "fanlight.engine.spec",
    },
    "fanlight.io": {"fanlight.engine", "numpy", "pyarrow", "pyspark", "deltalake", "psycopg"},
    # What a service imports: neither Spark nor a compiler.
    "fanlight.serving": {
        "numpy",
        "pyarrow",
        "deltalake",
        "fanlight.engine.arrow",
        "fanlight.engine.spec",
        "fanlight.engine.algebra",
        "fanlight.engine.plan",
        "fanlight.engine.operators.arrow_tables",
    },
    "fanlight.watching": {
        "numpy",
        "plotly",
        "pyarrow",
        "pyspark",
        "starlette",
        "uvicorn",
        "fanlight.engine",
        "fanlight.plots",
        "fanlight.report",
        "fanlight",
    },
    "tests.oracle": {"fanlight.engine.spec"},
}

# What arguments are: words for all rooms, of which none is loaded for them.
TYPES = "fanlight.types"

# Programs around the library may use other packages, pyspark too (they make the session), but of
# fanlight only what is public.
PUBLIC = {
    "fanlight", "fanlight.agg", "fanlight.algebra", "fanlight.plots", "fanlight.report",
    "fanlight.types",
}  # fmt: skip
# What reads a text, and what windows there are, need no Spark, so that a job file is checked before
# one starts.
PROGRAMS = {
    "fanlight.cli": PUBLIC
    | {
        "fanlight.language.query",
        "fanlight.language.running.run",
        "fanlight.engine.spark.quiet",
        "fanlight.engine.spec.units",
        "fanlight.engine.spec.errors",
        "fanlight.watching.progress",
    },
    "benchmarks": PUBLIC,
    "demo": PUBLIC,
    "experiments": PUBLIC,
}

# The kernels that an experiment measures bare, without Spark around them, by the file that does.
# Each is one that the library runs; loops that it does not run are in the experiment itself.
MEASURED = {
    # Figures of frames cut from arrays, and how many rows a second each loop cuts.
    "experiments.frames.__main__": {"fanlight.engine.kernels.frames"},
    "experiments.frames.cutting": {
        "fanlight.engine.kernels.frames",
        "fanlight.engine.kernels.frames_many",
        "fanlight.engine.kernels.pieces",
    },
    # Frames cut from any row on: the operator is what says where they begin.
    "experiments.seams.cutting": {
        "fanlight.engine.kinds",
        "fanlight.engine.operators.frames.operator",
        "fanlight.engine.operators.protocol",
    },
    # Query 2: panes of one tuple beside the loop for a window at every row.
    "experiments.panes.queries": {"fanlight.engine.kernels.ranges"},
    # Figure 6: the rows that windows show to a detector; and the rate of the episode matcher.
    "experiments.widening.work": {
        "fanlight.engine.kernels.episodes",
        "fanlight.engine.kernels.widening",
    },
}

# Code around the package, which the package must not need.
AROUND = {"benchmarks", "demo", "experiments", "tests"}

# Ways into the JVM: none of them is there on Spark Connect.
JVM = {"_jdf", "_jvm", "_jsparkSession", "rdd", "sparkContext"}
# The command line describes its jobs where Spark has a place for it, and plans ask how many tasks
# run at a time where Spark says so; both do without elsewhere.
DESCRIBED = {
    "fanlight.cli.running": ["sparkContext"],
    "fanlight.engine.spark.fingerprint": ["sparkContext"],
}


def within(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


def opens(allowed: str, module: str) -> bool:
    """Whether leave to import one room is leave to import a module; ``fanlight`` is itself only."""
    return module == allowed if allowed == "fanlight" else within(module, allowed)


def may_import(name: str, what: Import) -> bool:
    """Whether the walls let the module `name` make this import."""
    module = what.module
    top = module.partition(".")[0]
    if within(module, "fanlight.cli") and not within(name, "fanlight.cli"):
        # a program, which may import pyspark: nothing in the library leads there but its name
        return name == "fanlight.__main__" and module == "fanlight.cli"
    if top in AROUND and within(name, "fanlight"):
        return False
    for room, others in ROOMS.items():
        if within(name, room):
            named = top == "numpy" and what.typing  # an array may be named where none is made
            allowed = any(opens(other, module) for other in {room, *others, TYPES})
            return top in STDLIB or named or allowed
    if within(name, ENGINE):
        return name == ENGINE  # its rooms are all listed
    for program, public in PROGRAMS.items():
        if within(name, program):
            public_name = any(opens(one, module) for one in {program, *public})
            return top != "fanlight" or public_name or module in MEASURED.get(name, ())
    annotations = what.typing and name.count(".") <= 1  # a top-level module may name Spark's types
    return top != "pyspark" or annotations


def broken_walls(
    source: str, name: str, *, is_package: bool = False, known: frozenset[str] = KNOWN
) -> list[str]:
    return [
        f"{name}:{what.line} imports {what.module}"
        for what in imports_of(source, name, is_package=is_package, known=known)
        if not may_import(name, what)
    ]


def idle(sources: dict[str, str], room: str) -> set[str]:
    """The modules of a room that nothing outside it leads to."""
    known = frozenset(sources)
    leads = {
        name: {what.module for what in imports_of(source, name, known=known) if not what.typing}
        for name, source in sources.items()
    }
    todo = [name for name in sources if not within(name, room)]
    reached = {room}
    while todo:
        fresh = {to for to in leads[todo.pop()] if to in known and within(to, room)} - reached
        reached |= fresh
        todo += fresh
    return {name for name in sources if within(name, room)} - reached


def ways_into_the_jvm(source: str) -> list[str]:
    """Uses of Spark's internals, as an attribute or as a name given to getattr."""
    return [
        f"line {node.lineno}: {word}"
        for node in ast.walk(parsed(source))
        for word in [
            node.attr
            if isinstance(node, ast.Attribute)
            else node.value
            if isinstance(node, ast.Constant)
            else None
        ]
        if isinstance(word, str) and word in JVM
    ]


VERSIONS = "fanlight.engine.spark.supported"  # others ask it


@pytest.mark.parametrize("name", [name for name in MODULES if within(name, "fanlight.engine")])
def test_the_version_of_pyspark_is_asked_in_one_place(name):
    asked = "pyspark.__version__" in MODULES[name].read_text("utf-8")
    assert asked == (name == VERSIONS)


def test_there_is_something_to_check():
    assert "fanlight" in MODULES
    for room in ROOMS:
        assert room in {**MODULES, **OUTSIDE}, f"{room} is not there: is its name in ROOMS right?"


@pytest.mark.parametrize("name", [*MODULES, *OUTSIDE])
def test_walls(name):
    path = MODULES.get(name) or OUTSIDE[name]
    is_package = path.name == "__init__.py"
    assert broken_walls(path.read_text("utf-8"), name, is_package=is_package) == []


@pytest.mark.parametrize("name", MEASURED)
def test_a_door_in_the_wall_is_used(name):
    path = OUTSIDE[name]
    taken = {what.module for what in imports_of(path.read_text("utf-8"), name)}
    assert taken >= MEASURED[name]


def test_the_library_runs_every_kernel():
    """A loop that only tests and experiments run has no place in the package."""
    sources = {name: path.read_text("utf-8") for name, path in MODULES.items()}
    assert idle(sources, "fanlight.engine.kernels") == set()


def test_no_module_imports_in_a_circle():
    """Not in its functions either; for annotations alone it may."""
    graph = {
        name: {
            one.module
            for one in imports_of(
                path.read_text("utf-8"), name, is_package=path.name == "__init__.py"
            )
            if one.module in MODULES and one.module != name and not one.typing
        }
        for name, path in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"in a circle: {error.args[1]}")


@pytest.mark.parametrize("name", MODULES)
def test_no_way_into_the_jvm(name):
    found = ways_into_the_jvm(MODULES[name].read_text("utf-8"))
    assert [one.partition(": ")[2] for one in found] == DESCRIBED.get(name, [])


@pytest.mark.parametrize("statement", ["import fanlight", "from fanlight import agg"])
def test_importing_fanlight_is_light(statement):
    code = f"{statement}; import sys; print(*({{'pyspark', 'numba', 'lark'}} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == ""


@pytest.mark.parametrize("module", ["watching.watch", "cli.commands", "engine.kinds"])
def test_what_needs_no_spark_imports_none(module):
    code = f"import fanlight.{module}, sys; print('pyspark' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "False"


# What a stream or a source of Spark 4 is made of, which PySpark 3.5 does not have.
LATER_MODULES = ("pyspark.sql.datasource", "pyspark.sql.streaming.datasource")
LATER_NAMES = ("StatefulProcessor", "StatefulProcessorHandle")
IMPORT_ALL_BUT = """
import importlib, pkgutil, sys
import pyspark.sql.datasource, pyspark.sql.streaming
import fanlight

later_modules, later_names, spared = {!r}, {!r}, {!r}
sys.modules |= dict.fromkeys(later_modules)
for name in later_names:
    delattr(pyspark.sql.streaming, name)
for module in pkgutil.walk_packages(fanlight.__path__, "fanlight."):
    if not module.name.startswith(spared):
        importlib.import_module(module.name)
"""


@pytest.mark.skipif(supported.INSTALLED < (4, 0), reason="PySpark 3.5 itself lacks the names")
def test_what_spark_3_5_lacks_is_imported_only_where_it_is_used():
    code = IMPORT_ALL_BUT.format(LATER_MODULES, LATER_NAMES, OF_SPARK_4)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


# A test that cannot fail is worth nothing: the checks above, on code that breaks each wall.

HOUSE = frozenset(
    {
        *("fanlight", "fanlight.agg", "fanlight.windowed", "fanlight.cli", "fanlight.engine.spark"),
        *("fanlight.plots", "fanlight.report", "fanlight.cli.jobs", "fanlight.engine.spark.over"),
        *ROOMS,
        "fanlight.engine.kernels.frames",
        "fanlight.engine.kernels.panes",
        "fanlight.engine.kernels.pieces",
        "fanlight.engine.spark.native",
        "fanlight.engine.spec.errors",
    }
)

GUARD = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("fanlight.engine.spec.x", "import numpy"),
        ("fanlight.engine.spec.x", "from fanlight import FanlightError"),
        ("fanlight.engine.spec.x", "from ..plan import cut"),
        ("fanlight.engine.spec.x", "from .. import algebra"),
        ("fanlight.engine.spec.x", "from fanlight.plots.sketches import artist"),
        ("fanlight.engine.plan.x", "from fanlight.language import grammar"),
        ("fanlight.engine.spark.x", "from fanlight.io.replay import entry"),
        ("fanlight.engine.spark.x", "def late():\n    from fanlight.watching import doctor"),
        ("fanlight.engine.more.x", "from fanlight.engine.spec import errors"),
        ("fanlight.io.x", "from fanlight.watching import doctor"),
        ("fanlight.plots.sketches.x", "import numpy"),
        ("fanlight.plots.figures.x", "from pyspark.sql import DataFrame"),
        ("fanlight.watching.x", "from fanlight.language import grammar"),
        ("fanlight.engine.spec.x", "def late():\n    import pyspark.sql"),
        ("fanlight.engine.algebra.x", "import numpy as np"),
        ("fanlight.engine.algebra.x", "from fanlight.engine.plan import cut"),
        ("fanlight.engine.plan.x", "from fanlight.engine.kernels import panes"),
        ("fanlight.engine.kernels.x", "import pyarrow"),
        ("fanlight.engine.kernels.x", "from fanlight.engine.spec.errors import FanlightError"),
        ("fanlight.engine.operators.x", "from pyspark.sql import functions as F"),
        ("fanlight.engine.operators.x", "import pandas"),
        ("tests.oracle.x", "from fanlight.engine.algebra import library"),
        ("tests.oracle.x", "import fanlight.engine.operators"),
        ("fanlight.language.x", "from pyspark.sql import DataFrame"),
        ("fanlight.language.x", "from fanlight.engine.plan import cut"),
        ("fanlight.windowed", "from pyspark.sql import DataFrame"),
        ("fanlight.windowed", "import importlib\nimportlib.import_module('pyspark.sql')"),
        (
            "fanlight.engine.spec.x",
            GUARD + "    from pyspark.sql import Column",
        ),
        (
            "fanlight.windowed",
            GUARD + "    pass\nelse:\n    import pyspark",
        ),
        ("fanlight.cli", "from fanlight.engine import spec"),
        ("fanlight.cli", "from fanlight.engine.spark.native import plan"),
        ("fanlight.cli.jobs", "from fanlight.engine.spark.over import over"),
        ("fanlight.cli.jobs", "from ..spec import errors"),
        ("fanlight.report", "from pyspark.sql import SparkSession"),
        ("fanlight.__main__", "from fanlight.cli.sessions import session"),
        ("fanlight.plots", "from fanlight.cli import jobs"),
        ("fanlight.engine.spark.x", "import fanlight.cli"),
        ("benchmarks.cases", "from fanlight.cli.sessions import session"),
        ("benchmarks.cases", "from fanlight.engine.spark import native"),
        ("benchmarks.cases", "from fanlight.engine.kernels import panes"),
        ("experiments.panes", "from fanlight.engine.operators import group"),
        ("experiments.panes", "from fanlight.engine.kernels import panes"),
        ("experiments.frames", "from fanlight.engine.kernels import frames"),
        ("experiments.frames.__main__", "from fanlight.engine.kernels import pieces"),
        ("experiments.frames.cutting", "from fanlight.engine.kernels import jit"),
        ("fanlight.engine.spark.x", "from experiments.panes import kernels"),
        ("fanlight.windowed", "import benchmarks"),
        (
            "fanlight.engine.spec.x",
            "from importlib import import_module\nimport_module('..plan', 'x')",
        ),
    ],
)
def test_a_broken_wall_is_seen(name, source):
    assert len(broken_walls(source, name, known=HOUSE)) == 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        (
            "fanlight.engine.spec.x",
            "import dataclasses\nfrom . import errors\nfrom .errors import A",
        ),
        (
            "fanlight.engine.algebra.x",
            "from fanlight.engine.spec import FanlightError\nfrom .. import spec",
        ),
        (
            "fanlight.engine.kernels.x",
            "import numpy as np\nfrom numba import njit\nfrom .panes import a",
        ),
        (
            "fanlight.engine.operators.x",
            "import pyarrow as pa\nfrom fanlight.engine.kernels import panes",
        ),
        (
            "fanlight.engine.spark.x",
            "from pyspark.sql import functions\nfrom fanlight.engine.plan import cut",
        ),
        (
            "fanlight.windowed",
            GUARD + "    from pyspark.sql import Column",
        ),
        ("fanlight.language.x", "from lark import Lark\nfrom fanlight.engine.spec import errors"),
        ("fanlight.windowed", "def agg():\n    from fanlight.engine.spark import native"),
        ("fanlight.cli", "import click\nfrom fanlight import agg, over\nfrom .jobs import job"),
        ("fanlight.cli.jobs", "from pyspark.sql import SparkSession\nimport fanlight as fl"),
        ("demo.page", "from fanlight import plots\nfrom fanlight.report import Page"),
        ("fanlight.__main__", "from fanlight.cli import main"),
        ("benchmarks.cases", "import fanlight as fl\nfrom pyspark.sql import SparkSession"),
        ("experiments.panes", "from experiments.panes import kernels\nfrom fanlight import agg"),
        ("experiments.panes", "import numba\nfrom experiments import compiled"),
        ("experiments.frames.__main__", "from fanlight.engine.kernels import frames"),
    ],
)
def test_an_open_door_is_not_a_broken_wall(name, source):
    is_package = name == "fanlight.cli"
    assert broken_walls(source, name, is_package=is_package, known=HOUSE) == []


def test_an_idle_kernel_is_seen():
    sources = {
        "fanlight.engine.kernels": "",
        "fanlight.engine.kernels.jit": "",
        "fanlight.engine.kernels.used": "from fanlight.engine.kernels.jit import kernel",
        "fanlight.engine.kernels.named": "",
        "fanlight.engine.kernels.spare": "from fanlight.engine.kernels import rest, used",
        "fanlight.engine.kernels.rest": "import fanlight.engine.kernels.spare",
        "fanlight.engine.operators.x": "from ..kernels import used\n"
        + GUARD
        + "    from ..kernels import named",
    }
    assert {name.rpartition(".")[2] for name in idle(sources, "fanlight.engine.kernels")} == {
        "named",
        "rest",
        "spare",
    }


@pytest.mark.parametrize("source", ["df._jdf", "getattr(spark, '_jvm')", "df.rdd.map(f)"])
def test_a_way_into_the_jvm_is_seen(source):
    assert len(ways_into_the_jvm(source)) == 1


# Words of a plan that are types: what they are is asked of themselves, and not of their names.
TYPED = {"strategy", "lift", "rollup", "way"}


def texts_in(node: ast.expr) -> bool:
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) for one in ast.walk(node)
    )


def compared_by_name(source: str) -> list[int]:
    """Lines that compare a strategy, a lift, a roll-up or a way with a text."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = {getattr(one, "attr", getattr(one, "id", "")) for one in sides}
            named = any(
                isinstance(one, ast.Attribute)
                and one.attr == "name"
                and getattr(one.value, "attr", getattr(one.value, "id", "")) in TYPED
                for one in sides
            )
            if (names & TYPED or named) and any(texts_in(one) for one in sides):
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("name", [name for name in MODULES if within(name, ENGINE)])
def test_no_plan_is_told_by_a_text(name):
    assert compared_by_name(MODULES[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "plan.chosen.strategy == 'panes'",
        "lift in ('rows', 'counts')",
        "'operator' != way.rollup",
        "chosen.rollup.name == 'scan'",
    ],
)
def test_a_plan_that_is_told_by_a_text_is_seen(source):
    assert compared_by_name(source) == [1]


# Who may compute with the lengths of a grid: what asks for windows asks the grid.
GRID = {"range", "slide", "offset"}
GRIDS = {
    "fanlight.engine.spark.cuts": "the questions in SQL, and slices",
    "fanlight.engine.spark.window_ranges": "how far apart packed numbers are",
    "fanlight.engine.spark.binding.placed": "whether there are too many windows, or too far ones",
    "fanlight.engine.spark.placed.spark_windows": "what Spark's window() is given",
    "fanlight.engine.spark.placed.trend": "where instants are counted from",
    "fanlight.engine.spark.placed.numbered_rows": "how many rows a window at every row has",
    "fanlight.engine.operators.tuple_windows": "the same in a stream",
    "fanlight.engine.operators.ranked_windows": "what a compiled loop is given",
    "fanlight.engine.operators.chain": "which level is finer",
}


def grid_arithmetic(source: str) -> list[int]:
    """Lines that read the lengths of a grid."""
    return [
        node.lineno
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Attribute)
        and node.attr in GRID
        and "grid" in getattr(node.value, "attr", getattr(node.value, "id", ""))
    ]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in MODULES
        if within(name, "fanlight.engine.spark") or within(name, "fanlight.engine.operators")
    ],
)
def test_windows_are_asked_of_the_grid(name):
    found = grid_arithmetic(MODULES[name].read_text("utf-8"))
    assert bool(found) == (name in GRIDS), found


@pytest.mark.parametrize("source", ["grid.slide", "bound.grid.range", "self.cut.grid.offset"])
def test_arithmetic_of_a_grid_is_seen(source):
    assert grid_arithmetic(source) == [1]


# What belongs to the process, and so to whoever runs it: other threads, a test runner, a notebook.
STREAMS = {"stdout", "stderr", "stdin", "excepthook", "displayhook", "unraisablehook"}
OF_THE_PROCESS = {
    *("redirect_stdout", "redirect_stderr", "dup2", "catch_warnings", "simplefilter"),
    *("filterwarnings", "resetwarnings", "showwarning", "captureWarnings", "basicConfig"),
    *("dictConfig", "fileConfig", "setLevel", "setLoggerClass", "setLogRecordFactory"),
    *("addHandler", "removeHandler", "addFilter", "removeFilter", "setLogLevel"),
}
HOLDERS = {"sys", "logging", "warnings"}
LOGGER_STATE = {"disabled", "propagate", "handlers", "filters"}
CHANGED = {
    "fanlight.engine.spark.quiet": ["addFilter"],  # PySpark's own records, of this thread alone
    "demo.running": ["dup2", "dup2"],  # a program, whose JVM logs to a file
}


def changes_of_the_process(source: str) -> list[str]:
    """What a module does to streams, hooks, loggers and warnings that are not its own."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            of = ast.unparse(node.value) if isinstance(node, ast.Attribute) else None
            stored = of and isinstance(node.ctx, (ast.Store, ast.Del))
            taken = name in LOGGER_STATE or (of == "sys" and name in STREAMS)
            if name in OF_THE_PROCESS or (stored and taken):
                found.append(name)
        elif isinstance(node, ast.Call):
            of = ast.unparse(node.args[0]) if node.args else ""
            called = ast.unparse(node.func)
            if called == "logging.disable" or (called == "setattr" and of in HOLDERS):
                found.append(called)
        elif isinstance(node, ast.ImportFrom) and node.module == "logging":
            found += [one.name for one in node.names if one.name == "disable"]
    return found


@pytest.mark.parametrize("name", MODULES)
def test_what_is_of_the_process_is_left_alone(name):
    assert changes_of_the_process(MODULES[name].read_text("utf-8")) == CHANGED.get(name, [])


@pytest.mark.parametrize(
    "source",
    [
        "sys.stdout = out",
        "sys.excepthook = tell",
        "setattr(sys, 'stdout', out)",
        "with redirect_stdout(out): pass",
        "with contextlib.redirect_stderr(out): pass",
        "os.dup2(1, 2)",
        "with warnings.catch_warnings(): pass",
        "warnings.simplefilter('ignore')",
        "from logging import disable",
        "logging.disable()",
        "logging.getLogger('py4j').setLevel('ERROR')",
        "logger.disabled = True",
        "logger.addFilter(kept)",
        "spark.sparkContext.setLogLevel('ERROR')",
    ],
)
def test_a_change_of_the_process_is_seen(source):
    assert len(changes_of_the_process(source)) == 1


def test_a_program_may_print():
    assert changes_of_the_process("print(text, file=sys.stderr); sys.stdout.write(text)") == []


def test_which_row_is_late_is_said_once():
    """The request says it in ``late_after``: whatever asks it has the same rows late."""
    ends = {"first_end", "first_event_end", "deciding_grids"}
    asking = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(parsed(path.read_text("utf-8")))
        if ends & {getattr(node, "id", ""), getattr(node, "attr", "")}
    }
    assert asking == {"fanlight.engine.spark.binding.placed"}
