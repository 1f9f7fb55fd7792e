"""Ten scenarios on real Spark with the query stopped and started again after every epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.histories import Change
from tests.scenario import FOLDER, Outcome, read, run
from tests.spark.fed import Fed
from tests.spark.test_scenarios_spark import CHOSEN, outcome, told

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("name", CHOSEN)
def test_scenario_with_restarts(name: str, fed: Callable[..., Fed], tmp_path: Path) -> None:
    scenario = read(FOLDER / f"{name}.test")
    db = fed(checkpoint=tmp_path / "checkpoints", partitions=1)
    view = told(scenario, db)

    def run_epoch(number: int, changes: Sequence[Change]) -> Outcome:
        db.feed(changes)
        started = view.start()
        started.process_available()
        started.stop()
        assert [epoch for epoch, _ in started.sink.changes] == [number]
        return outcome(started, number)

    assert run(scenario, run_epoch)
