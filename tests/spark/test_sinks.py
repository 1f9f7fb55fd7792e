"""The sinks of a started view: what was committed adds up to the oracle's answer, epoch by epoch.

The upsert form is that of a view whose keys move between shards: orders, routed by their customer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from everview.connect.changelog import epochs, read_changelog
from everview.connect.fold import fold
from everview.dataflow.program import dataflow_of
from everview.delta.changes import DELETE, INSERT, UPDATE
from everview.errors import ConfigError
from tests.oracle import compare
from tests.spark.fed import ITEMS, Fed, Watched, shop, shop_history, summed
from tests.tpch.on_spark import delta_of

pytestmark = pytest.mark.spark

PLACED = "SELECT o.ok, o.ck, c.seg FROM orders o JOIN customer c ON o.ck = c.ck"
# Orders 0 to 19 go from customer to customer, and back, and away.
MOVES = (
    [("customer", INSERT, (k, "abc"[k % 3])) for k in range(7)]
    + [("orders", INSERT, (k, k % 7, None)) for k in range(20)],
    [("orders", UPDATE, (k, (k + 3) % 7, None)) for k in range(20)],
    [("customer", UPDATE, (2, "z")), ("customer", DELETE, (3, "a"))]
    + [("orders", UPDATE, (k, k % 7, None)) for k in range(10)],
    [("orders", DELETE, (k, k % 7, None)) for k in range(10)],
)


def test_folders_and_the_console(
    fed: Callable[..., Fed], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = fed()
    db.execute(shop(customer="placement = 'replicated'"))
    items = Watched(db.schema, ITEMS)
    history = shop_history(db.schema, seed=21, epochs=3)
    items.tell(*history)
    db.feed(*history)
    names = ("parquet", "json", "csv")
    runs = [db.view(f"items_{n}", ITEMS).start(f"{n}:{tmp_path / n}") for n in names]
    console = db.view("items_shown", ITEMS)
    runs.append(console.start("console"))
    for run in runs:
        run.process_available()
        run.stop()
    columns = dataflow_of(runs[0].on.program).columns
    for name in names:
        folder = str(tmp_path / name)
        assert epochs(folder) == [0, 1, 2]
        changes = ((n, delta_of(t, columns)) for n, t in read_changelog(folder) if t.num_columns)
        assert compare(items.follow(changes).rows, items.answer) is None
    assert compare(console.snapshot(), items.answer) is None
    said = capsys.readouterr().out
    assert f"items_shown: {items.answer.total():,} rows" in said
    assert "epoch 2" in said
    assert "\x1b" not in said


def test_upserts_of_keys_that_move_between_shards(fed: Callable[..., Fed], tmp_path: Path) -> None:
    db = fed()
    db.execute(shop())
    placed = Watched(db.schema, PLACED)
    placed.tell(*MOVES)
    db.feed(*MOVES)
    run = db.view("placed", PLACED).start(f"csv:{tmp_path / 'out'}", form="upsert")
    assert not dataflow_of(run.on.program).settled
    run.process_available()
    changelog = list(read_changelog(str(tmp_path / "out")))
    assert len(changelog) == len(MOVES)
    for number, (epoch, table) in enumerate(changelog):
        keys = table.column("ok").to_pylist()
        assert len(keys) == len(set(keys))
        answer = fold(changelog[: number + 1], ["ok"])
        assert compare(answer, placed.expected[epoch]) is None
    assert summed(changelog, ["ok"])


def test_what_cannot_be_a_sink_is_refused(fed: Callable[..., Fed]) -> None:
    db = fed()
    db.execute(shop())
    view = db.view("segments", "SELECT seg FROM customer")
    with pytest.raises(ConfigError) as refused:
        view.start("kafka:topic")
    assert refused.value.code == "CONFIG.SINK"
    with pytest.raises(ConfigError) as refused:
        view.start(form="upsert")
    assert refused.value.code == "FORM.NO_KEY"
    assert not db.runs
