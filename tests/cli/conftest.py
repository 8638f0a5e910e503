"""A folder with what a job reads, and commands that run in the tests' session."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fanlight.cli import display, sessions
from tests.cli.jobs import BEGIN, TIME


@pytest.fixture
def folder(tmp_path):
    """A folder with calls: four files of an hour each."""
    for file in range(4):
        seconds = range(file * 3600, (file + 1) * 3600, 20)
        table = {
            "ts": pa.array([BEGIN + timedelta(seconds=s) for s in seconds], TIME),
            "antenna": [f"antenna {s // 20 % 3}" for s in seconds],
            "seconds": [s * s % 61 for s in seconds],
        }
        (tmp_path / "calls").mkdir(exist_ok=True)
        pq.write_table(pa.table(table), tmp_path / f"calls/{file}.parquet")
    return tmp_path


@pytest.fixture
def here(classic, monkeypatch):
    """The commands run in the tests' session."""

    @contextmanager
    def session(name, settings):
        assert settings is not None, name
        yield classic

    monkeypatch.setattr(sessions, "session", session)
    monkeypatch.setattr(display, "session", session)
    return classic
