"""Runs of a view: several at once, what is known of them after they stopped, how they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from everview.database import Database
from everview.errors import EverviewError

pytestmark = pytest.mark.spark

TABLE = "CREATE TABLE t (k INT PRIMARY KEY, x INT);"
Make = Callable[..., Database]


def test_several_runs_of_one_name(database: Make) -> None:
    """Started twice, and a view of that name over other text: each knows its own answer."""
    db = database()
    db.execute(TABLE)
    db.table("t").insert((k, k % 2) for k in range(5))
    first = db.view("v", "SELECT x, count(*) AS n FROM t GROUP BY x")
    runs = [first.start(), first.start()]
    other = db.view("v", "SELECT k FROM t WHERE x = 1")
    with pytest.raises(EverviewError, match=r"VIEW\.NOT_RUNNING"):
        other.snapshot()
    runs.append(other.start())
    for run in runs:
        run.process_available()
    assert [r.query.name for r in runs] == ["v", "v-2", "v-3"]
    assert first.snapshot() == {(0, 3): 1, (1, 2): 1}
    assert other.snapshot() == {(1,): 1, (3,): 1}


def test_after_the_end(database: Make, tmp_path: Path) -> None:
    """The answer of a stopped run stays, and can be verified; that of a folder is in its state."""
    db = database()
    db.execute(TABLE)
    db.table("t").insert([{"K": 1, "X": 7}])
    view = db.view("v", "SELECT k, x FROM t")
    run = view.start()
    run.process_available()
    run.stop()
    run.stop()
    assert view.snapshot() == {(1, 7): 1}
    verdict = view.verify()
    assert (bool(verdict), verdict.rows) == (True, 1)
    into = db.view("w", "SELECT x FROM t")
    run = into.start(f"csv:{tmp_path / 'out'}", checkpoint=tmp_path / "kept")
    run.process_available()
    assert into.snapshot() == {(7,): 1}
    run.stop()
    assert into.snapshot() == {(7,): 1}


def test_an_aggregate_of_nothing_has_its_row(database: Make, tmp_path: Path) -> None:
    db = database()
    db.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, x INT)"
        f" WITH (connector = 'csv', path = '{tmp_path / 'none'}')"
    )
    view = db.view("v", "SELECT count(*) AS n, sum(x) AS s FROM t")
    run = view.start()
    run.process_available()
    assert view.snapshot() == {(0, None): 1}
    assert view.verify()
    assert [r.epoch for r in run.reports] == [0]


def test_a_failure_that_is_not_ours_says_what_it_was(
    database: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = database()
    db.execute(TABLE)
    db.table("t").insert([(1, 1)])
    run = db.view("v", "SELECT k FROM t").start()

    def broken(*_: object) -> None:
        raise LookupError("the sink has lost its way")

    monkeypatch.setattr(run.sink, "write", broken)
    with pytest.raises(EverviewError) as failed:
        run.process_available()
    assert failed.value.code == "QUERY.FAILED"
    assert "LookupError: the sink has lost its way" in failed.value.message
    assert "SQLSTATE" not in str(failed.value)
    assert run.query.isActive is False
    with pytest.raises(EverviewError):
        run.ended()
