"""Every scenario on real Spark; ten of them with the query stopped and started again after every
epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from everview.database import View
from everview.delta.changelog import EPOCH, KIND
from everview.spark.run import Run
from everview.spark.sinks import MemorySink
from tests.histories import Change
from tests.oracle import rows_of
from tests.scenario import FILES, FOLDER, Outcome, Scenario, read, run
from tests.spark.fed import Fed

pytestmark = pytest.mark.spark

CHOSEN = (
    "delete_all", "doubles", "duplicate_key_in_two_shards", "many_changes_of_one_key",
    "moved_entry", "no_key", "self_reference", "two_levels_of_groups", "ungrouped_aggregate",
    "upsert_into_a_filter",
)  # fmt: skip


def told(scenario: Scenario, db: Fed) -> View:
    """The scenario's view, declared."""
    db.execute(scenario.sql)
    return db.view(scenario.plan.name)


def outcome(started: Run, number: int) -> Outcome:
    """What a run gave in an epoch."""
    assert isinstance(started.sink, MemorySink)
    table = dict(started.sink.changes)[number]
    refused = [
        (r["relation"], r["reason"], r["start"] + r["row"] + 1)
        for r in started.rejects
        if int(r["segment"]) == number
    ]
    kinds = table.column(KIND).to_pylist()
    rows = rows_of(table.drop_columns([KIND, EPOCH]))
    return Outcome(list(zip(kinds, rows, strict=True)), refused)


@pytest.mark.parametrize("name", CHOSEN)
def test_scenario_with_restarts(name: str, fed: Callable[..., Fed], tmp_path: Path) -> None:
    scenario = read(FOLDER / f"{name}.test")
    db = fed(checkpoint=tmp_path / "checkpoints")
    view = told(scenario, db)

    def run_epoch(number: int, changes: Sequence[Change]) -> Outcome:
        db.feed(changes)
        started = view.start()
        started.process_available()
        started.stop()
        assert [epoch for epoch, _ in started.sink.changes] == [number]
        return outcome(started, number)

    assert run(scenario, run_epoch)


@pytest.mark.parametrize("name", sorted({f.stem for f in FILES} - set(CHOSEN)))
def test_scenario(name: str, fed: Callable[..., Fed]) -> None:
    scenario = read(FOLDER / f"{name}.test")
    db = fed()
    view = told(scenario, db)
    db.feed(*(epoch.changes for epoch in scenario.epochs))
    started = view.start()
    started.process_available()
    assert len(started.sink.changes) == len(scenario.epochs)
    assert run(scenario, lambda number, _: outcome(started, number))
    started.stop()
