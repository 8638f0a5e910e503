"""A PostgreSQL for the tests that need one."""

from __future__ import annotations

from tests.upsert.servers import server

__all__ = ["server"]
