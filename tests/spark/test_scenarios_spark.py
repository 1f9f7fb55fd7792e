"""Every scenario on real Spark. (Ten of them with restarts: test_scenarios_restarted.)"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everview.database import View
from everview.delta.changelog import EPOCH, KIND
from everview.spark.run import Run
from everview.spark.sinks import MemorySink
from tests.oracle import rows_of
from tests.scenario import FILES, FOLDER, Outcome, Scenario, read, run
from tests.spark.fed import Fed

pytestmark = pytest.mark.spark

CHOSEN = (
    "duplicate_key_in_two_shards", "large_decimals", "many_changes_of_one_key", "moved_entry",
    "no_key", "null_foreign_key", "self_reference", "text_keys", "ungrouped_aggregate",
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


@pytest.mark.parametrize("name", [f.stem for f in FILES if f.stem not in CHOSEN])
def test_scenario(name: str, fed: Callable[..., Fed]) -> None:
    scenario = read(FOLDER / f"{name}.test")
    db = fed(partitions=1)
    view = told(scenario, db)
    db.feed(*(epoch.changes for epoch in scenario.epochs))
    started = view.start()
    started.process_available()
    assert len(started.sink.changes) == len(scenario.epochs)
    assert run(scenario, lambda number, _: outcome(started, number))
    started.stop()
