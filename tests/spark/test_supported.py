"""What is said of a Spark that fanlight has not been tried on, and how it reads its results."""

from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import pyarrow as pa
import pytest
from packaging.requirements import Requirement

import fanlight as fl
from fanlight.engine import arrow
from fanlight.engine.spark import supported
from tests.helpers.house import PROJECT


class Session(SimpleNamespace):
    """A session that says its version, and nothing else; each is another one."""

    __hash__ = object.__hash__


def test_the_extra_asks_for_what_is_supported():
    (wanted,) = (
        one
        for one in map(Requirement, PROJECT["optional-dependencies"]["spark"])
        if one.name == "pyspark"
    )
    assert wanted == Requirement(supported.REQUIREMENT)
    oldest, beyond = (".".join(map(str, one)) for one in (supported.OLDEST, supported.BEYOND))
    assert wanted.specifier.contains(f"{oldest}.0")
    assert not wanted.specifier.contains(f"{beyond}.0")
    assert wanted.specifier.contains(metadata.version("pyspark"))


def test_an_old_spark_is_refused():
    with pytest.raises(fl.FanlightError, match=r"Spark 3\.4\.1 is older .* use Spark 3\.5"):
        supported.check_session(Session(version="3.4.1"))


def test_a_new_spark_is_warned_of_once():
    session = Session(version="5.0.0-SNAPSHOT")
    with pytest.warns(RuntimeWarning, match=r"Spark 5\.0\.0-SNAPSHOT is newer .* fl\.doctor"):
        supported.check_session(session)
    supported.check_session(session)  # a second warning would be an error


def test_a_server_that_is_older_than_its_client_is_warned_of(monkeypatch):
    monkeypatch.setattr(supported, "INSTALLED", (4, 3))
    with pytest.warns(RuntimeWarning, match=r"older server, of Spark 4\.1\.2.*pyspark\[connect\]"):
        supported.check_session(Session(version="4.1.2"))
    supported.check_session(Session(version="4.3.1"))


def test_a_version_without_numbers_is_let_be():
    supported.check_session(Session(version="of the cloud"))
    assert supported.at_least("of the cloud", (4, 1))


def test_over_asks_the_session(spark, monkeypatch):
    monkeypatch.setattr(supported, "_checked", set())
    monkeypatch.setattr(supported, "OLDEST", (9, 0))
    with pytest.raises(fl.FanlightError, match="is older than what fanlight needs"):
        fl.over(spark.range(3), fl.Sliding(2), time="id")


TEXT = """
    select id, cast(id as decimal(30, 7)) as d, timestamp_seconds(id) as `a.b`,
        date '2025-03-30' as day, array(id, null) as list,
        array(struct(timestamp_seconds(id) as at)) as ats, map('k', id) as m,
        map(id, timestamp_seconds(id)) as times, struct(id as x, cast(null as string) as y) as s,
        cast(null as double) as nothing, timestamp_ntz'2025-03-30 02:30:00' as local
    from range(0, {rows}, 1, 3) order by id desc
"""


@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_packed_rows_are_those_of_to_arrow(spark, rows):
    """Spark 3.5 has no toArrow."""
    df = spark.sql(TEXT.format(rows=rows))
    ours, theirs = arrow._collect_packed(df), df.toArrow()
    assert ours.to_pylist() == theirs.to_pylist()
    assert [field.type for field in ours.schema] == [field.type for field in theirs.schema]
    assert isinstance(ours, pa.Table)
    assert ours.num_rows == rows
