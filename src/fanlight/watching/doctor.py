"""What a Spark session has of what windows need, and the line to write for what it has not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from fanlight import __version__
from fanlight.engine.plan.late_rows import OUTPUT
from fanlight.engine.spark.state import (
    PARTITIONS,
    PROVIDER,
    USE_ROCKSDB,
    is_rocksdb,
    tasks_of_setting,
)
from fanlight.engine.spec.errors import refuse
from fanlight.watching.findings import Diagnosis, Finding
from fanlight.watching.needs import needing

_OLDEST, _BEYOND = (4, 1), (4, 4)
_OLDEST_JAVA = 17
_ROWS = 10_000  # more than any cluster has tasks: Spark cuts them into one part a task
_ON_WORKERS = ("fanlight", "numpy", "numba", "protobuf")
_EXTRAS = {"plotly": ("plot", "pictures: fanlight.plots"), "click": ("cli", "the command line")}


def doctor(spark: SparkSession) -> Diagnosis:
    """Look at a session: what is missing for which kind of window, and the line to write.

    Nothing is changed. Two small jobs run: one asks Spark for its Java, one asks its Python workers
    what is installed there. What a session does not show, as some platforms do, is ``unknown``.

    Parameters
    ----------
    spark
        A session, classic or Spark Connect.

    Returns
    -------
    Diagnosis
        A value that prints as a table, in a notebook too. ``ok`` says whether nothing is missing
        for any kind of window; ``missing`` has the findings that say otherwise; ``findings`` all,
        each with ``what``, ``state`` (``"ok"``, ``"missing"``, ``"unknown"``, ``"note"``),
        ``found``, ``needed_by`` and the line to ``write``; ``to_dict()`` is for JSON.

    Raises
    ------
    FanlightError
        If it is not a Spark session.

    Examples
    --------
    >>> import fanlight as fl
    >>> found = fl.doctor(spark)
    >>> [one.state for one in found.findings if one.what == "fanlight on the workers"]
    ['ok']

    """
    if not (hasattr(spark, "conf") and hasattr(spark, "range")):
        raise refuse(
            f"doctor({type(spark).__name__})",
            "is not a Spark session",
            "write fl.doctor(SparkSession.builder.getOrCreate())",
        )
    remote = ".connect." in type(spark).__module__
    kind = "a Spark Connect session" if remote else "a classic session"
    title = f"fanlight {__version__} on {kind} of Spark {spark.version}"
    findings = [
        _spark(spark.version),
        _java(spark),
        *_workers(spark),
        _provider(_conf(spark, PROVIDER)),
        _ansi(_conf(spark, "spark.sql.ansi.enabled")),
        _zone(_conf(spark, "spark.sql.session.timeZone")),
        Finding("output mode of streams", "note", OUTPUT),
        *(_extra(package) for package in _EXTRAS),
    ]
    return Diagnosis(title, tuple(findings))


def _spark(version: str) -> Finding:
    numbers = _numbers(version)
    if not numbers:
        return Finding("Spark", "unknown", version)
    fits = _OLDEST <= numbers[:2] < _BEYOND
    write = None if fits else "pip install 'pyspark[sql]>=4.1,<4.4'"
    return Finding("Spark", "ok" if fits else "missing", version, () if fits else ("all",), write)


def _java(spark: Any) -> Finding:
    """The Java of a task, by a function that Spark SQL documents; a platform may forbid it."""
    asked = "SELECT java_method('java.lang.System', 'getProperty', 'java.version')"
    try:
        version = str(spark.sql(asked).first()[0])
    except PySparkException as error:
        return Finding("Java", "unknown", _first_line(error))
    fits = (_numbers(version) or (0,))[0] >= _OLDEST_JAVA
    if fits:
        return Finding("Java", "ok", version)
    return Finding("Java", "missing", version, ("all",), "install Java 17, and set JAVA_HOME to it")


def _workers(spark: Any) -> list[Finding]:
    """What Spark's Python workers have, and how many tasks they are at a time."""
    try:
        told = spark.range(_ROWS).mapInArrow(asked_there(_ON_WORKERS), "told string").collect()
    except PySparkException as error:
        needed = needing("Python workers")
        return [Finding("Python workers", "missing", _first_line(error), needed)]
    workers = [json.loads(row.told) for row in told]
    found = [Finding("Python workers", "ok", f"Python {_each(workers, 'Python')}")]
    found += [_package(name, workers) for name in _ON_WORKERS]
    found.append(_partitions(_conf(spark, PARTITIONS), len(workers)))
    return found


def asked_there(names: tuple[str, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for ``mapInArrow``: one row of JSON a task, what versions are there.

    It is one of a function's own, which pickle sends whole: it runs where fanlight is not.
    """

    def told(batches: Iterator[Any]) -> Iterator[Any]:
        import json  # a worker knows nothing of this module
        import platform
        from importlib import import_module, metadata, util

        import pyarrow as pa

        for _ in batches:
            pass
        modules = {"protobuf": "google.protobuf"}
        versions: dict[str, str | None] = {"Python": platform.python_version()}
        for name in names:
            try:
                there = util.find_spec(modules.get(name, name)) is not None
            except ImportError:  # the package around it is not there
                there = False
            try:
                versions[name] = metadata.version(name) if there else None
            except metadata.PackageNotFoundError:  # there, but not as an installed package
                module = import_module(modules.get(name, name))
                versions[name] = str(getattr(module, "__version__", "of no version"))
        yield pa.RecordBatch.from_pydict({"told": [json.dumps(versions)]})

    return told


def _package(name: str, workers: list[dict[str, str | None]]) -> Finding:
    """Whether a package is on all workers; fanlight in the driver's version."""
    what, state_needs = f"{name} on the workers", name == "protobuf"
    needed = needing("RocksDB" if state_needs else "Python workers")
    told, own = _each(workers, name), __version__
    write = f"pip install 'fanlight[spark]=={own}'  # where Spark's Python workers run"
    if any(worker[name] is None for worker in workers):
        return Finding(what, "missing", told, needed, write)
    if name == "fanlight" and any(worker[name] not in {own, "of no version"} for worker in workers):
        return Finding(what, "missing", f"{told}, but {own} here", needed, write)
    return Finding(what, "ok", told)


def _partitions(setting: str | None, tasks: int) -> Finding:
    """Whether a stream has many more state stores than tasks."""
    if setting is None:
        return Finding("partitions", "unknown", f"{PARTITIONS} is not shown")
    found = f"{PARTITIONS} is {setting}, {tasks} tasks run at a time"
    if tasks_of_setting(setting) <= 8 * tasks:
        return Finding("partitions", "ok", found)
    line = f"spark.conf.set({PARTITIONS!r}, {str(2 * tasks)!r})  # before a stream begins"
    return Finding(
        "partitions", "note", f"{found}: a stream keeps a state store for each", (), line
    )


def _provider(provider: str | None) -> Finding:
    what = "RocksDB state store"
    if provider is None:
        return Finding(what, "unknown", f"{PROVIDER} is not shown", needing("RocksDB"), USE_ROCKSDB)
    name = provider.rpartition(".")[2]
    if is_rocksdb(provider):
        return Finding(what, "ok", name)
    return Finding(what, "missing", name, needing("RocksDB"), USE_ROCKSDB)


def _ansi(setting: str | None) -> Finding:
    if setting is None:
        return Finding("ANSI", "unknown", "spark.sql.ansi.enabled is not shown")
    if setting == "true":
        return Finding("ANSI", "ok", "on: a sum that does not fit is an error")
    found = "off: a sum of longs that does not fit wraps around"
    line = "spark.conf.set('spark.sql.ansi.enabled', 'true')"
    return Finding("ANSI", "note", found, (), line)


def _zone(setting: str | None) -> Finding:
    found = setting or "spark.sql.session.timeZone is not shown"
    told = f"{found}: how times are shown and texts are read; no window depends on it"
    return Finding("time zone", "ok" if setting else "unknown", told)


def _extra(package: str) -> Finding:
    extra, use = _EXTRAS[package]
    try:
        return Finding(package, "ok", f"{metadata.version(package)}, for {use}")
    except metadata.PackageNotFoundError:
        line = f"pip install 'fanlight[{extra}]'"
        return Finding(package, "note", f"not installed, for {use}", (), line)


def _conf(spark: Any, name: str) -> str | None:
    """A setting; nothing where it is not set, or a platform does not tell it."""
    try:
        return str(spark.conf.get(name))
    except PySparkException:
        return None


def _each(workers: list[dict[str, str | None]], name: str) -> str:
    """The different versions that workers told."""
    return ", ".join(sorted({worker[name] or "not there" for worker in workers}))


def _numbers(version: str) -> tuple[int, ...]:
    """The whole numbers that a version begins with.

    >>> _numbers("17.0.13+11"), _numbers("4.3.0-SNAPSHOT"), _numbers("of the cloud")
    ((17, 0), (4, 3), ())
    """
    found: list[int] = []
    for part in version.split("."):
        if not part.isdigit():
            break
        found.append(int(part))
    return tuple(found)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]
