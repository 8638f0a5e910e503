"""Break the source in one place at a time, and name the breakages that no test sees.

Each is applied to a copy of the source, and its tests run in a fork of this process, which has
loaded what takes long to load. Tests that need Spark share one JVM.
"""

from __future__ import annotations

import ast
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import click

from experiments import commands
from tests.breakages.every import ALL, WITHOUT_SPARK
from tests.breakages.source import OURS, ROOT
from tests.helpers.sampled import read_seen_by, write_seen_by

PATIENCE = 600  # seconds; a breakage may well be one that never ends
NOT_THERE = (4, 5)  # pytest's codes for a name that no test has, and for no tests


def warm():
    """Load what every run needs and no breakage touches, and start a JVM for those on Spark."""
    import duckdb  # noqa: F401
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import pytest  # noqa: F401


def share_a_jvm():
    """All Sparks of the forks live in one JVM, one after the other."""
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway

    from tests.helpers.sparks import settings

    conf = SparkConf(loadDefaults=False)
    conf.setAll(list(settings(None).items()))
    parameters = launch_gateway(conf).gateway_parameters
    os.environ["PYSPARK_GATEWAY_PORT"] = str(parameters.port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = parameters.auth_token


def outcome(tests, log):
    """The exit code of the tests in a fork; ``None`` if they do not end."""
    child = os.fork()
    if child == 0:
        run(tests, log)
    patience = time.monotonic() + PATIENCE
    while time.monotonic() < patience:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


class FirstFailure:
    """Writes down the name of the first test that fails; a log may cut it."""

    def __init__(self, file):
        self.file = file

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.file.exists():
            self.file.write_text(report.nodeid, "utf-8")


def first_failure(log):
    """The file with the name of the first test that failed, beside a log."""
    return log.with_name("failed")


def run(tests, log):
    """In the fork: run the tests and be gone."""
    import pytest

    os.setpgid(0, 0)
    with log.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    code = 3
    try:
        # Or pytest would put the repository before the copy.
        first = shlex.join(os.environ["PYTHONPATH"].split(os.pathsep))
        options = ["-q", "-x", "-p", "no:cacheprovider", "--tb=short", "-o", f"pythonpath={first}"]
        first_failure(log).unlink(missing_ok=True)
        code = pytest.main([*options, *tests], plugins=[FirstFailure(first_failure(log))])
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def tests_of(breakage):
    """The test that is known to see a breakage, or all that may."""
    seen = read_seen_by().get(breakage.name)
    return (seen,) if seen else breakage.tests


def find(chosen, copy, log):
    """Write down which test sees each breakage: by a sample if it does, or else thoroughly."""
    found = read_seen_by()
    for breakage in chosen:
        for thorough in ("", "1"):
            os.environ["THOROUGH"] = thorough
            told, fine = judged(breakage, copy, log, breakage.tests)
            if fine:
                break
        failed = first_failure(log)
        if fine and failed.exists():
            told = failed.read_text("utf-8")
            found.pop(breakage.name, None)
            if outcome((told,), log) == 0:  # a breakage may change the names of tests
                found[breakage.name] = told
        print(f"  {breakage.name}: {told}", flush=True)
    names = [one.name for one in ALL]
    write_seen_by({name: found[name] for name in names if name in found})


def judged(breakage, copy, log, tests):
    """What became of a breakage, and whether that is as it should be."""
    file = copy / breakage.path()
    text = file.read_text("utf-8")
    file.write_text(breakage.applied(text), "utf-8")
    try:
        code = outcome(tests, log)
    finally:
        file.write_text(text, "utf-8")
    if code == 0:
        return "SURVIVES: no test sees it", False
    if code in NOT_THERE:
        return "ERROR: its tests are not there", False
    return ("red" if code is not None else "red: does not end"), True


def unbroken(chosen, log):
    """The selections of tests that fail even so, or are empty."""
    found, of_file = [], defaultdict(dict)
    for tests in (tests_of(one) for one in chosen):
        of_file[tests[0].partition("::")[0] if len(tests) == 1 else tests].update(
            dict.fromkeys(tests)
        )
    for tests in map(tuple, of_file.values()):
        code = outcome(tests, log)
        print(f"  {'green' if code == 0 else 'NOT GREEN'}  {' '.join(tests)}", flush=True)
        if code != 0:
            print(log.read_text()[-3000:])
            found.append(tests)
    return found


def copied(copy):
    """Copy the sources to a folder for ``sys.path``."""
    for path, folder in OURS.folders.items():
        shutil.copytree(folder, copy / path, ignore=shutil.ignore_patterns("__pycache__"))


def rewritten(files):
    """Write files as a breakage does, so that nothing but the breakage is what tests see of it."""
    for file in files:
        file.write_text(ast.unparse(ast.parse(file.read_text("utf-8"))), "utf-8")


@commands.command()
@click.argument("words", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="Show the names of all, and break nothing.")
@click.option("--without-spark", is_flag=True, help="Leave out what needs a JVM.")
@click.option("--find", "finding", is_flag=True, help="Write down which test sees each.")
def main(words, listed, without_spark, finding):
    """Break the source in one place at a time, and name the breakages that no test sees.

    Those whose name contains one of the WORDS; all without words.
    """
    if listed:
        click.echo("\n".join(one.name for one in ALL))
    else:
        sys.exit(checked(words, WITHOUT_SPARK if without_spark else ALL, finding))


def checked(words, among, finding=False):
    """Check the breakages whose name contains one of the words; the exit code."""
    chosen = [one for one in among if not words or any(word in one.name for word in words)]
    wrong = [f"{one.name}: {why}" for one in chosen if (why := one.misplaced())]
    names = [one.name for one in ALL]
    wrong += [f"{name}: stands twice" for name in {n for n in names if names.count(n) > 1}]
    if wrong:
        print("\n".join(wrong))
        return 1
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        copy, log = folder / "src", folder / "log"
        copied(copy)
        rewritten({copy / one.path() for one in chosen})
        sys.path[:0] = [str(copy)]
        os.environ["PYTHONPATH"] = os.pathsep.join([str(copy), str(ROOT)])
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file may change twice in a second
        sys.dont_write_bytecode = True
        os.environ["NUMBA_CACHE_DIR"] = str(folder / "compiled")
        os.chdir(ROOT)
        warm()
        if any(one not in WITHOUT_SPARK for one in chosen):
            share_a_jvm()
        # What a fork finds loaded is not what it has broken.
        assert not {path.replace("/", ".") for path in OURS.folders} & set(sys.modules)
        if finding:
            find(chosen, copy, log)
            return 0
        print("without a breakage:")
        bad = unbroken(chosen, log)
        print("broken:")
        for breakage in chosen:
            began = time.monotonic()
            told, fine = judged(breakage, copy, log, tests_of(breakage))
            print(f"  {told:10}  {time.monotonic() - began:5.1f} s  {breakage.name}", flush=True)
            if not fine:
                bad.append(breakage.name)
    print(f"{len(chosen)} breakages, {len(bad)} not as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    main()
