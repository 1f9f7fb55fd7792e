"""Ten scenarios on real Spark, the query stopped and started again after every epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from everview.delta.changelog import EPOCH, KIND
from everview.spark.sinks import MemorySink
from tests.histories import Change
from tests.oracle import rows_of
from tests.scenario import FOLDER, Outcome, read, run
from tests.spark.fed import Fed

pytestmark = pytest.mark.spark

CHOSEN = (
    "delete_all", "doubles", "duplicate_key_in_two_shards", "many_changes_of_one_key",
    "moved_entry", "no_key", "self_reference", "two_levels_of_groups", "ungrouped_aggregate",
    "upsert_into_a_filter",
)  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
def test_scenario_with_restarts(name: str, fed: Callable[..., Fed], tmp_path: Path) -> None:
    scenario = read(FOLDER / f"{name}.test")
    db = fed(checkpoint=tmp_path / "checkpoints")
    db.execute(scenario.sql)
    view = db.view(scenario.plan.name)

    def run_epoch(number: int, changes: Sequence[Change]) -> Outcome:
        db.feed(changes)
        started = view.start()
        started.process_available()
        assert isinstance(started.sink, MemorySink)
        ((epoch, table),) = started.sink.changes
        assert epoch == number
        refused = [(r["relation"], r["reason"], r["start"] + r["row"] + 1) for r in started.rejects]
        started.stop()
        kinds = table.column(KIND).to_pylist()
        rows = rows_of(table.drop_columns([KIND, EPOCH]))
        return Outcome(list(zip(kinds, rows, strict=True)), refused)

    assert run(scenario, run_epoch)
