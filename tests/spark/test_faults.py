"""What goes wrong around a query: failed tasks, killed workers, failed commits, bad arenas.

Every time the answer must be that of the oracle after every epoch, with no row twice.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pyspark.sql import DataFrame

from everview.connect.changelog import epochs, read_changelog
from everview.dataflow.program import dataflow_of
from everview.errors import StateError
from everview.spark import host
from everview.spark.run import Run
from tests.spark.faulty import HANG, RAISE, Faulty, hanging, order
from tests.spark.fed import SALES, Fed, Watched, shop, shop_history, values
from tests.tpch.on_spark import delta_of

pytestmark = pytest.mark.spark


def kill_when_hanging(folder: Path, killed: list[int], done: threading.Event) -> None:
    """Kills the worker that hangs: one below our own JVM, forked from its Python daemon."""
    while not done.wait(0.05):
        for pid in set(hanging(folder)) - set(killed):
            below = {p.pid: p for p in psutil.Process().children(recursive=True)}
            assert pid in below
            assert "everview.spark.daemon" in " ".join(below[pid].parent().cmdline())
            below[pid].kill()
            killed.append(pid)


def test_tasks_that_fail_and_workers_that_die_after_their_output(
    fed: Callable[..., Fed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "StageProcessor", Faulty)
    faults = tmp_path / "faults"
    faults.mkdir()
    db = fed()
    db.execute(shop(orders="placement = 'replicated'", customer="placement = 'replicated'"))
    watched = Watched(db.schema, SALES)
    history = shop_history(db.schema, seed=11, epochs=4)
    watched.tell(*history)
    orders = [
        order(faults, RAISE, epoch=1, stage=0),
        order(faults, RAISE, epoch=2, stage=1),
        order(faults, HANG, epoch=2, stage=0),
        order(faults, HANG, epoch=3, stage=1),
    ]
    killed: list[int] = []
    done = threading.Event()
    killer = threading.Thread(target=kill_when_hanging, args=(faults, killed, done))
    killer.start()
    try:
        db.feed(*history)
        run = db.view("sales", SALES).start()
        run.process_available()
    finally:
        done.set()
        killer.join()
    watched.check(run)
    assert not [o.name for o in orders if o.exists()]
    assert len(killed) == 2


def test_an_epoch_whose_output_was_written_but_not_committed(
    fed: Callable[..., Fed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = fed()
    db.execute(shop(customer="placement = 'replicated'"))
    watched = Watched(db.schema, SALES)
    history = shop_history(db.schema, seed=12, epochs=4)
    watched.tell(*history)
    view, out, checkpoint = db.view("sales", SALES), tmp_path / "out", tmp_path / "checkpoint"
    run = view.start(f"parquet:{out}", checkpoint=checkpoint)
    _fail_after_writing(run, 1, monkeypatch)
    db.feed(*history[:2])
    with pytest.raises(StateError) as failed:
        run.process_available()
    assert failed.value.code == "QUERY.FAILED"
    assert epochs(str(out)) == [0, 1]
    assert not (checkpoint / "commits" / "1").exists()
    # Its index is of an epoch that was never committed: the next attempt must not take it.
    db.feed(*history[2:])
    again = view.start(f"parquet:{out}", checkpoint=checkpoint)
    again.process_available()
    assert [r.epoch for r in again.reports] == [1, 2, 3]
    assert epochs(str(out)) == [0, 1, 2, 3]
    columns = dataflow_of(again.on.program).columns
    watched.follow((n, delta_of(t, columns)) for n, t in read_changelog(str(out)) if t.num_rows)
    assert {f.name for f in out.glob("*.parquet")} == _named(out)
    again.stop()
    last = view.start(checkpoint=checkpoint)
    assert values(view.snapshot()) == watched.answer
    last.stop()


def _named(folder: Path) -> set[str]:
    """The files that the manifests of a changelog folder name."""
    manifests = [json.loads(m.read_text()) for m in folder.glob("_epochs/*.json")]
    return {part["name"] for m in manifests for part in m["parts"]}


def _fail_after_writing(run: Run, epoch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write = run.sink.write

    def failing(blobs: DataFrame, number: int) -> object:
        outcome = write(blobs, number)
        if number == epoch:
            raise RuntimeError("the sink was told to fail")
        return outcome

    monkeypatch.setattr(run.sink, "write", failing)


# ------------------------------------------------------------------------------------------ arenas


def arenas(run: Run) -> list[Path]:
    """The arenas of a run, ordered by stage and shard."""
    return sorted(Path(run.on.scratch, str(run.query.id)).glob("*/*/*"))


def missing(run: Run, before: dict[Path, Path]) -> None:
    for arena in arenas(run):
        shutil.rmtree(arena)


def stale(run: Run, before: dict[Path, Path]) -> None:
    """Each arena holds what it held an epoch ago, under its present name."""
    for arena in arenas(run):
        old = before.get(arena.parent)
        if old is not None:
            shutil.rmtree(arena)
            shutil.copytree(old, arena)


def foreign(run: Run, before: dict[Path, Path]) -> None:
    """Each arena holds what the next one of its stage should."""
    by_stage: dict[Path, list[Path]] = {}
    for arena in arenas(run):
        by_stage.setdefault(arena.parent.parent, []).append(arena)
    for there in by_stage.values():
        aside = [arena.rename(arena.parent / "aside") for arena in there]
        for arena, other in zip(there, [*aside[1:], aside[0]], strict=True):
            other.rename(arena)


def truncated(run: Run, before: dict[Path, Path]) -> None:
    for arena in arenas(run):
        largest = max(arena.iterdir(), key=lambda f: f.stat().st_size)
        with largest.open("r+b") as file:
            file.truncate(largest.stat().st_size // 2)


def garbled(run: Run, before: dict[Path, Path]) -> None:
    for arena in arenas(run):
        (arena / "header.json").write_text("{")


def test_arenas_that_are_missing_stale_foreign_truncated_or_garbled(
    fed: Callable[..., Fed], tmp_path: Path
) -> None:
    db = fed()
    db.execute(shop(customer="placement = 'replicated'", orders="placement = 'replicated'"))
    watched = Watched(db.schema, SALES)
    history = iter(shop_history(db.schema, seed=13, epochs=8, size=320))
    run = db.view("sales", SALES).start()

    def step() -> dict[Path, Path]:
        """One epoch; copies of the arenas as they are after it."""
        changes = next(history)
        watched.tell(changes)
        db.feed(changes)
        run.process_available()
        watched.check(run)
        copies = tmp_path / f"copies-{run.epoch}"
        return {
            a.parent: Path(shutil.copytree(a, copies / str(i))) for i, a in enumerate(arenas(run))
        }

    step()
    before = step()
    step()
    for harm in (stale, foreign, missing, truncated, garbled):
        assert len(arenas(run)) == 8
        harm(run, before)
        before = step()
