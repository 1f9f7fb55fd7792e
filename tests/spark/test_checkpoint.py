"""A checkpoint goes on with the query, the sources and the sink it began with, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from everview.connect.changelog import read_changelog
from everview.connect.fold import fold
from everview.database import Database, View
from everview.errors import EverviewError

pytestmark = pytest.mark.spark

TABLE = "CREATE TABLE t (k INT PRIMARY KEY, x INT, y INT) WITH ({});"
SUMS = "SELECT x, sum(y) AS s FROM t GROUP BY x"
Make = Callable[..., Database]


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(EverviewError) as error:
        act()
    assert error.value.fix
    return error.value.code


def test_another_query_policy_or_source_is_refused(database: Make, tmp_path: Path) -> None:
    """Each would read the state wrongly, or take files of another folder for those it has read."""

    def view(sql: str = SUMS, options: str = "policy = 'upsert'", data: str = "rows") -> View:
        db = database(checkpoint=tmp_path / "kept", data=tmp_path / data)
        db.execute(TABLE.format(options))
        return db.view("v", sql)

    first = view()
    first.db.table("t").insert([(1, 5, 7), (2, 6, 8)])
    first.start().process_available()
    first.db.stop()
    others = "SELECT y AS x, sum(x) AS s FROM t GROUP BY y"
    assert refused(lambda: view(others).start()) == "CHECKPOINT.QUERY"
    assert refused(lambda: view(others).snapshot()) == "CHECKPOINT.QUERY"
    assert refused(lambda: view(options="policy = 'reject'").start()) == "CHECKPOINT.QUERY"
    assert refused(lambda: view(data="elsewhere").start()) == "CHECKPOINT.SOURCE"
    again = view(f"\n -- the same in other words\n{SUMS.replace(' AS s', ' s')}")
    again.db.table("t").insert([(3, 5, 100)])
    again.start().process_available()
    assert again.snapshot() == Counter({(5, 107): 1, (6, 8): 1})
    assert again.verify()


def test_changes_with_other_partitions_are_refused(database: Make, tmp_path: Path) -> None:
    """Spark keeps its own checkpoint of `changes()`: the state itself says whose it is."""

    def drain(partitions: int) -> None:
        db = database(shards=12, partitions=partitions, data=tmp_path / "rows")
        db.execute(TABLE.format("policy = 'reject'"))
        db.table("t").insert([(k, k, k) for k in range(20)])
        frame = db.view("v", "SELECT k, x FROM t").changes()
        query = (
            frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "sparks")).start()
        )  # fmt: skip
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    drain(2)
    with pytest.raises(Exception, match=r"CHECKPOINT\.QUERY"):
        drain(3)
    drain(2)
    db = database()
    assert db.spark.read.parquet(str(tmp_path / "out")).count() == 20


def test_a_changelog_folder_has_one_writer(database: Make, tmp_path: Path) -> None:
    db = database(data=tmp_path / "rows")
    db.execute(TABLE.format("policy = 'reject'"))
    db.view("v1", SUMS)
    db.view("v2", "SELECT k, x FROM t")
    db.table("t").insert([(1, 5, 7), (2, 5, 8)])
    for run in db.start(["v1", "v2"], f"csv:{tmp_path / 'both'}"):
        run.process_available()
    assert fold(read_changelog(str(tmp_path / "both" / "v1"))) == {(5, 15): 1}
    assert fold(read_changelog(str(tmp_path / "both" / "v2"))) == {(1, 5): 1, (2, 5): 1}
    db.stop()
    anew = db.view("v1")
    assert refused(lambda: anew.start(f"csv:{tmp_path / 'both' / 'v1'}")) == "SINK.TAKEN"


def test_rows_by_hand_stay_beside_the_checkpoint(database: Make, tmp_path: Path) -> None:
    answers = []
    for k in (1, 2):
        db = database(checkpoint=tmp_path / "kept")
        db.execute(TABLE.format("policy = 'reject'"))
        db.table("t").insert([(k, k, k)])
        view = db.view("v", "SELECT k, x FROM t")
        view.start().process_available()
        answers.append(view.snapshot())
        db.stop()
    assert answers == [{(1, 1): 1}, {(1, 1): 1, (2, 2): 1}]


def test_a_view_without_state_does_not_go_on_in_memory(database: Make, tmp_path: Path) -> None:
    """What it gave before is nowhere: an answer in memory would lack it."""
    db = database(checkpoint=tmp_path / "kept")
    db.execute(TABLE.format("policy = 'trust'"))
    view = db.view("v", "SELECT k, x FROM t")
    db.table("t").insert([(1, 1, 1)])
    view.start().process_available()
    db.stop()
    assert refused(view.start) == "SNAPSHOT.STATELESS"
    assert refused(view.snapshot) == "SNAPSHOT.STATELESS"
    db.table("t").insert([(2, 2, 2)])
    run = view.start(f"json:{tmp_path / 'out'}")
    run.process_available()
    assert fold(read_changelog(str(tmp_path / "out"))) == {(2, 2): 1}


def test_the_row_of_an_ungrouped_aggregate_beside_rejects(database: Make, tmp_path: Path) -> None:
    """Shards that hold nothing but rejects must not hide it."""
    db = database(checkpoint=tmp_path / "kept")
    db.execute(TABLE.format("policy = 'reject'"))
    view = db.view("v", "SELECT count(*) AS n, sum(x) AS s FROM t")
    db.table("t").delete([(k, None, None) for k in range(20)])
    run = view.start()
    run.process_available()
    assert (run.rejected, run.reports[0].rows_in) == (20, 20)
    db.stop()
    assert view.snapshot() == {(0, None): 1}
    db.table("t").insert([(3, 3, 3)])
    again = view.start()
    again.process_available()
    assert view.snapshot() == {(1, 3): 1}


def test_many_small_files_are_few_tasks(database: Make, tmp_path: Path) -> None:
    """And however many shards a relation goes to, its changes are counted once."""
    db = database(checkpoint=tmp_path / "kept")
    db.execute(
        "CREATE TABLE n (k INT PRIMARY KEY, s STRING) WITH (placement = 'replicated');"
        "CREATE TABLE t (k INT PRIMARY KEY, x INT REFERENCES n);"
    )
    view = db.view("v", "SELECT t.k, n.s FROM t JOIN n ON t.x = n.k")
    db.table("n").insert([(0, "even"), (1, "odd")])
    for k in range(60):
        db.table("t").insert([(k, k % 2)])
    run = view.start()
    run.process_available()
    assert view.snapshot() == {(k, ("even", "odd")[k % 2]): 1 for k in range(60)}
    assert [r.rows_in for r in run.reports] == [62]
    assert "scan" in run.reports[0].parts
