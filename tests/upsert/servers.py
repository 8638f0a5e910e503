"""A PostgreSQL of the tests' own, where its programs are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.cluster import free_port


def programs():
    """The folder of ``initdb`` and ``pg_ctl``, or nothing."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in folders if (one / "pg_ctl").exists()), None)


def other_user():
    """PostgreSQL runs for no root: then for the user of its package."""
    if os.getuid() != 0:
        return {}
    import pwd

    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def postgresql():
    """The URL of a server of an empty database, which is deleted afterwards."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    bin = programs()
    if bin is None:
        pytest.skip("the programs of PostgreSQL are not installed")
    who = other_user()
    folder = tempfile.mkdtemp(prefix="pg")  # a short path: of a socket 107 bytes are allowed
    if who:
        os.chown(folder, who["user"], who["group"])

    def call(*words):
        how = {"cwd": folder, "env": {"PATH": str(bin)}, "stdout": subprocess.DEVNULL}
        subprocess.run(list(words), check=True, stderr=subprocess.DEVNULL, **how, **who)

    data, port = f"{folder}/data", free_port()
    try:
        call("initdb", "-D", data, "-A", "trust", "-U", "tests", "-N", "-E", "UTF8", "--locale=C")
        options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off"
        call("pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
        try:
            yield f"postgresql://tests@127.0.0.1:{port}/postgres"
        finally:
            call("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server():
    """One server for all tests; tables have names of their own."""
    with postgresql() as url:
        yield url
