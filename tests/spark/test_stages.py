"""The same history through one, two and three stages, and any number of shards: equal answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everview.dataflow.program import dataflow_of
from tests.spark.fed import SALES, Fed, Watched, shop, shop_history

pytestmark = pytest.mark.spark

SMALL = "placement = 'replicated'"
PLACEMENTS = {
    1: {"customer": SMALL},
    2: {"customer": SMALL, "orders": SMALL},  # items by their key, groups by theirs
    3: {},
}


@pytest.mark.parametrize(("stages", "shards", "partitions"), [(1, 8, 2), (2, 1, 1), (3, 2, 2)])
def test_answers_do_not_depend_on_stages_or_shards(
    stages: int, shards: int, partitions: int, fed: Callable[..., Fed]
) -> None:
    db = fed(shards=shards, partitions=partitions)
    db.execute(shop(**PLACEMENTS[stages]))
    watched = Watched(db.schema, SALES)
    epochs = shop_history(db.schema, seed=5)
    watched.tell(*epochs)
    db.feed(*epochs)
    run = db.view("sales", SALES).start()
    assert len(dataflow_of(run.on.program).stages) == stages
    run.process_available()
    watched.check(run)
