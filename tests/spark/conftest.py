"""One embedded Spark session for all tests that need a JVM, and databases on it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from everview.config import load
from everview.database import Database
from everview.spark.session import embedded
from tests.spark.fed import Fed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Started once; Python workers can import `tests`."""
    above = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(p for p in (str(ROOT), above) if p)
    config = load(environ={}, flags={"shards": 4, "partitions": 2})
    session = embedded(config, "everview-tests")
    yield session
    session.stop()


@pytest.fixture
def database(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Database]]:
    """Makes databases with given settings; they are stopped at the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made: list[Database] = []

    def make(kind: type[Database] = Database, **settings: Any) -> Database:
        given = {"shards": 4, "partitions": 2, "scratch": tmp_path / "scratch", **settings}
        db = kind(spark, load(environ={}, flags=given))
        db.base = tmp_path
        made.append(db)
        return db

    yield make
    for db in made:
        db.stop()


@pytest.fixture
def fed(database: Callable[..., Database]) -> Callable[..., Fed]:
    """Makes databases whose relations are fed epoch by epoch."""
    return lambda **settings: database(Fed, **settings)
