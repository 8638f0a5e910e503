"""``fl.doctor``: checks that a Spark session has what windows need; what to write where not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from html import escape
from importlib import metadata
from typing import Any, Literal

from pyspark.sql import SparkSession

from fanlight import __version__
from fanlight.engine.kinds import list_kinds
from fanlight.engine.kinds.kind import Feature, Need
from fanlight.engine.plan.late_rows import OUTPUT
from fanlight.engine.plan.ways import INSTALL, PACKAGE, SAME_PYTHON
from fanlight.engine.spark.fingerprint import (
    BATCH_BYTES,
    BATCH_ROWS,
    COUNT_ROWS_ALONE,
    PARTITIONS,
    PROVIDER,
    USE_HDFS,
    USE_ROCKSDB,
    counts_bytes,
    is_rocksdb,
    read_setting,
    tasks_of_setting,
)
from fanlight.engine.spark.ordered.versions import NEEDS_ROCKSDB
from fanlight.engine.spark.sql import say_reason
from fanlight.engine.spark.supported import (
    INSTALLED,
    OLDEST,
    REQUIREMENT,
    at_least,
    read_version,
    tell_untried,
)
from fanlight.engine.spec.errors import explain_wrong_calls, find_python_error, refuse

_OLDEST_JAVA = 17
_ROWS = 10_000  # more than any cluster has tasks: each task gets some
_ON_WORKERS = ("fanlight", "numpy", "numba", "protobuf")
_ELSEWHERE = "before the session is made; on a cluster set it to a Python that has fanlight"
_KEYS = (
    "frames, windows over rows, trend lines: a few numbers for every key ever seen; "
    "set forget_after= to bound them"
)
_EXTRAS = {"plotly": ("plot", "pictures: fanlight.plots"), "click": ("cli", "the command line")}


@explain_wrong_calls("fl.doctor(spark)")
def doctor(spark: SparkSession) -> Diagnosis:
    """Check a Spark session: what is missing for which kind of window, and the line to write.

    The doctor changes nothing. It runs two small jobs: one asks Spark for the version of Java, the
    other asks the Python workers which packages they have. Facts that a platform hides are
    ``unknown``.

    Parameters
    ----------
    spark
        A session, classic or Spark Connect.

    Returns
    -------
    Diagnosis
        A value that prints as a table, also in a notebook. ``ok`` is true if nothing is missing for
        any kind of window; ``missing`` lists the findings that are missing; ``findings`` lists all
        of them, each with ``what``, ``state`` (``"ok"``, ``"missing"``, ``"unknown"``, ``"note"``),
        ``found``, ``needed_by`` and the line to ``write``; ``to_dict()`` is for JSON.

    Raises
    ------
    FanlightError
        If ``spark`` is not a Spark session.

    Examples
    --------
    >>> import fanlight as fl
    >>> diagnosis = fl.doctor(spark)
    >>> [one.state for one in diagnosis.findings if one.what == "fanlight on the workers"]
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
        _check_spark(spark.version),
        _check_java(spark),
        _check_compiler(),
        *_check_workers(spark),
        _check_batches(read_setting(spark, BATCH_BYTES), read_setting(spark, BATCH_ROWS)),
        *(_check_processor(spark.version) if remote else ()),
        _check_state_store(spark.version, read_setting(spark, PROVIDER)),
        _check_ansi(read_setting(spark, "spark.sql.ansi.enabled")),
        _check_zone(read_setting(spark, "spark.sql.session.timeZone")),
        Finding("output mode of streams", "note", OUTPUT),
        Finding("keys of streams", "note", _KEYS),
        *(_check_extra(package) for package in _EXTRAS),
    ]
    return Diagnosis(title, tuple(findings))


def _check_spark(version: str) -> Finding:
    numbers = read_version(version)
    if not numbers:
        return Finding("Spark", "unknown", version)
    if numbers[:2] < OLDEST:
        return Finding("Spark", "missing", version, ("all",), f"pip install '{REQUIREMENT}'")
    untried = tell_untried(version, INSTALLED)
    if untried is not None:
        return Finding("Spark", "missing", untried[0], ("all",), untried[1])
    return Finding("Spark", "ok", version)


def _check_java(spark: Any) -> Finding:
    """Check the version of Java, by a documented SQL function that a platform may forbid."""
    query = "SELECT java_method('java.lang.System', 'getProperty', 'java.version')"
    try:
        version = str(spark.sql(query).first()[0])
    except Exception as error:  # noqa: BLE001 - a platform forbids it in an error of its own
        return Finding("Java", "unknown", say_reason(error))
    major = (read_version(version) or (0,))[0]
    if major >= _OLDEST_JAVA or not at_least(spark.version, (4, 0)):
        return Finding("Java", "ok", version)
    return Finding("Java", "missing", version, ("all",), "install Java 17, and set JAVA_HOME to it")


def _check_compiler() -> Finding:
    """Check numba where this runs: without it nothing is sent to Python workers."""
    what = f"{PACKAGE} here"
    try:
        return Finding(what, "ok", metadata.version(PACKAGE))
    except metadata.PackageNotFoundError:
        return Finding(what, "missing", "not installed", list_needing("Python workers"), INSTALL)


def _check_workers(spark: Any) -> list[Finding]:
    """Check the packages of Spark's Python workers; and partitions by how many tasks there are."""
    try:
        query = make_version_query(_ON_WORKERS)
        rows = spark.range(_ROWS).mapInArrow(query, "versions string").collect()
    except Exception as error:  # noqa: BLE001 - where no worker starts, an error of py4j
        needed = list_needing("Python workers")
        write = f"{SAME_PYTHON}  # {_ELSEWHERE}" if find_python_error(str(error)) else None
        return [Finding("Python workers", "missing", say_reason(error), needed, write)]
    workers = [json.loads(row.versions) for row in rows]
    findings = [Finding("Python workers", "ok", f"Python {_list_versions(workers, 'Python')}")]
    names = [name for name in _ON_WORKERS if name != "protobuf" or NEEDS_ROCKSDB]
    findings += [_check_package(name, workers) for name in names]
    findings.append(_check_partitions(read_setting(spark, PARTITIONS), len(workers)))
    return findings


def make_version_query(names: tuple[str, ...]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for ``mapInArrow`` that gives one row per task: the installed versions as JSON.

    It is defined in here because pickle then sends its code, and it must run where fanlight is not
    installed.
    """

    def read_versions(batches: Iterator[Any]) -> Iterator[Any]:
        import json  # a worker does not have this module's imports
        import platform
        import sys
        from importlib import import_module, metadata, util

        import pyarrow as pa

        for _ in batches:
            pass
        modules = {"protobuf": "google.protobuf"}
        versions: dict[str, str | None] = {"Python": platform.python_version()}
        versions["program"] = sys.executable
        for name in names:
            try:
                installed = util.find_spec(modules.get(name, name)) is not None
            except ImportError:  # its parent package is not installed
                installed = False
            try:
                versions[name] = metadata.version(name) if installed else None
            except metadata.PackageNotFoundError:  # importable, but not installed as a package
                module = import_module(modules.get(name, name))
                versions[name] = str(getattr(module, "__version__", "of unknown version"))
        yield pa.RecordBatch.from_pydict({"versions": [json.dumps(versions)]})

    return read_versions


def _check_package(name: str, workers: list[dict[str, str | None]]) -> Finding:
    """Check that a package is on all workers; fanlight must be there in the driver's version."""
    what, state_needs = f"{name} on the workers", name == "protobuf"
    needed = list_needing("RocksDB" if state_needs else "Python workers")
    versions, own = _list_versions(workers, name), __version__
    install = f"pip install 'fanlight[{'spark' if state_needs else 'kernels'}]=={own}'"
    write, there = f"{install}  # where Spark's Python workers run", ""
    programs = {str(worker["program"]) for worker in workers}
    if programs != {sys.executable}:
        write = f"{SAME_PYTHON}  # before the session is made; on a cluster, there: {install}"
        there = f" in {', '.join(sorted(programs))}"
    if any(worker[name] is None for worker in workers):
        return Finding(what, "missing", versions + there, needed, write)
    fitting = {own, "of unknown version"}
    if name == "fanlight" and any(worker[name] not in fitting for worker in workers):
        return Finding(what, "missing", f"{versions}{there}, but {own} here", needed, write)
    return Finding(what, "ok", versions)


def _check_partitions(setting: str | None, tasks: int) -> Finding:
    """Check that a stream would not have many more state stores than tasks."""
    if setting is None:
        return Finding("partitions", "unknown", f"{PARTITIONS} is not shown")
    numbers = f"{PARTITIONS} is {setting}, {tasks} tasks run at a time"
    if tasks_of_setting(setting) <= 8 * tasks:
        return Finding("partitions", "ok", numbers)
    line = f"spark.conf.set({PARTITIONS!r}, {str(2 * tasks)!r})  # before a stream begins"
    return Finding(
        "partitions",
        "note",
        f"{numbers}: a stream keeps a state store for each partition",
        (),
        line,
    )


def _check_batches(size: str | None, rows: str | None) -> Finding:
    """Whether Spark adds up the bytes of a batch before each row that it sends to Python."""
    if not counts_bytes(size):
        return Finding("batches for Python", "ok", f"sent after {rows or 'some'} rows")
    return Finding(
        "batches for Python",
        "note",
        f"{BATCH_BYTES} is {size}: Spark adds up the batch before each row, which is slow",
        (),
        f"{COUNT_ROWS_ALONE}  # if {rows or '10000'} rows fit into memory",
    )


def _check_processor(version: str) -> tuple[Finding, ...]:
    """What Spark Connect 4.0 lacks."""
    numbers = read_version(version)
    if not numbers or numbers[:2] != (4, 0):
        return ()
    found = f"Spark Connect {version} has none"
    write = "use a classic session, or Spark 4.1"
    return (Finding("stateful processor", "missing", found, list_needing("RocksDB"), write),)


def _check_state_store(version: str, provider: str | None) -> Finding:
    what = "RocksDB state store"
    if not at_least(version, (4, 0)):
        if not is_rocksdb(provider):
            return Finding(what, "ok", "not needed: Spark 3.5 keeps all state in any store")
        return Finding(what, "note", "in Spark 3.5 it may crash a JVM: SPARK-46249", (), USE_HDFS)
    if provider is None:
        return Finding(
            what, "unknown", f"{PROVIDER} is not shown", list_needing("RocksDB"), USE_ROCKSDB
        )
    name = provider.rpartition(".")[2]
    if is_rocksdb(provider):
        return Finding(what, "ok", name)
    return Finding(what, "missing", name, list_needing("RocksDB"), USE_ROCKSDB)


def _check_ansi(setting: str | None) -> Finding:
    if setting is None:
        return Finding("ANSI", "unknown", "spark.sql.ansi.enabled is not shown")
    if setting == "true":
        return Finding("ANSI", "ok", "on: a sum that does not fit is an error")
    danger = "off: a sum of longs that does not fit wraps around"
    line = "spark.conf.set('spark.sql.ansi.enabled', 'true')"
    return Finding("ANSI", "note", danger, (), line)


def _check_zone(setting: str | None) -> Finding:
    zone = setting or "spark.sql.session.timeZone is not shown"
    text = f"{zone}: shows times and reads texts; of windows only gaps of sessions in days use it"
    return Finding("time zone", "ok" if setting else "unknown", text)


def _check_extra(package: str) -> Finding:
    extra, use = _EXTRAS[package]
    try:
        return Finding(package, "ok", f"{metadata.version(package)}, for {use}")
    except metadata.PackageNotFoundError:
        line = f"pip install 'fanlight[{extra}]'"
        return Finding(package, "note", f"not installed, for {use}", (), line)


def _list_versions(workers: list[dict[str, str | None]], name: str) -> str:
    """The different versions of a package on the workers, in words."""
    return ", ".join(sorted({worker[name] or "not installed" for worker in workers}))


def list_features() -> tuple[Feature, ...]:
    """All kinds of windows and results, each with what it needs; each once."""
    return tuple(dict.fromkeys(one for kind in list_kinds() for one in kind.features))


def list_needing(need: Need) -> tuple[str, ...]:
    """The kinds of windows that have this need, and whether in batches or in streams, in words.

    >>> list_needing("RocksDB")[0]
    'early results of windows over time (streams)'
    """
    kinds_in_need = []
    for feature in list_features():
        where = [
            name
            for name, needs in (("batches", feature.batch), ("streams", feature.stream))
            if need in needs
        ]
        if where:
            kinds_in_need.append(f"{feature.name} ({' and '.join(where)})")
    return tuple(kinds_in_need)


State = Literal["ok", "missing", "unknown", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing that the doctor looked at.

    ``what`` names it. ``state`` is ``"ok"``, ``"missing"``, ``"unknown"`` where the session does
    not show it, or ``"note"`` for a fact that stops nothing. ``found`` says in words how it is,
    ``needed_by`` which kinds of windows need it, and ``write`` is the line to write, if any.
    """

    what: str
    state: State
    found: str
    needed_by: tuple[str, ...] = ()
    write: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What :func:`fanlight.doctor` found."""

    title: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is missing for any kind of window."""
        return not self.missing

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What is missing for some kind of window."""
        return tuple(one for one in self.findings if one.state == "missing")

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, booleans and texts, for JSON."""
        return {"ok": self.ok, "title": self.title, "findings": [asdict(f) for f in self.findings]}

    @property
    def verdict(self) -> str:
        """One line that sums it up."""
        if self.ok:
            return "every kind of window runs here, as far as can be seen"
        return f"{len(self.missing)} missing; windows over time run natively and need none of it"

    def __str__(self) -> str:
        """A table: state, what, found; below what is missing, who needs it and what to write."""
        width = max((len(one.what) for one in self.findings), default=0)
        lines = [self.title, self.verdict, ""]
        for one in self.findings:
            lines.append(f"{one.state:<8} {one.what:<{width}}  {one.found}")
            if one.state == "missing":
                lines += [f"{'':9}needed for {name}" for name in one.needed_by]
            if one.write and one.state != "ok":
                lines.append(f"{'':9}write: {one.write}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{cell}</td>"
                for cell in (
                    escape(one.state),
                    escape(one.what),
                    escape(one.found),
                    "<br>".join(map(escape, one.needed_by)),
                    f"<code>{escape(one.write)}</code>" if one.write else "",
                )
            )
            + "</tr>"
            for one in self.findings
        )
        heads = ("state", "what", "found", "needed for", "write")
        head = "".join(f"<th>{name}</th>" for name in heads)
        return (
            f"<p><b>{escape(self.title)}</b><br>{escape(self.verdict)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )
