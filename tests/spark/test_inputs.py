"""Rows by hand, update sequences, rejects, limits and restarts, on real Spark."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal as D
from pathlib import Path

import pytest

from everview.connect.changelog import epochs, read_changelog
from everview.database import Database
from everview.dataflow.program import dataflow_of
from everview.delta.changes import DELETE, INSERT, UPDATE
from everview.errors import InputError
from tests.histories import Change
from tests.oracle import compare
from tests.spark.fed import RELATIONS, SALES, Watched, shop, shop_history, values
from tests.tpch.on_spark import delta_of

pytestmark = pytest.mark.spark

SEQUENCE = dict.fromkeys(RELATIONS, "connector = 'update-sequence', path = 'changes.txt'")
TAGS = {"customer": "CU", "orders": "OR", "item": "IT"}


def line(change: Change) -> str:
    """A change of a keyed relation as a line of an update sequence."""
    name, op, row = change
    fields = "".join(f"{'' if v is None else v}|" for v in row)
    return f"{'+' if op == INSERT else '-'}{TAGS[name]}{fields}\n"


def in_sequence(epochs: Iterable[list[Change]]) -> list[list[Change]]:
    """Without what a sequence cannot say: updates by key become inserts, which are refused."""
    return [
        [(n, DELETE if op == DELETE else INSERT, row) for n, op, row in e if None not in row[:2]]
        for e in epochs
    ]


def test_rows_by_hand(database: Callable[..., Database]) -> None:
    db = database()
    db.execute(shop(customer="placement = 'replicated'"))
    watched = Watched(db.schema, SALES)
    view = db.view("sales", SALES)
    monday, item = dt.date(2020, 2, 3), (10, 1, D("5.00"), 0.1)
    db.table("customer").insert([(1, "b"), {"ck": 2, "seg": "a"}])
    db.table("orders").insert([(10, 1, monday), (11, 2, None)])
    db.table("item").insert([item, (10, 2, D("2.50"), 0.2), (11, 1, 1, None)])
    watched.tell(
        [("customer", 1, (1, "b")), ("customer", 1, (2, "a")), ("orders", 1, (10, 1, monday)),
         ("orders", 1, (11, 2, None)), ("item", 1, item), ("item", 1, (10, 2, D("2.50"), 0.2)),
         ("item", 1, (11, 1, D(1), None))]
    )  # fmt: skip
    run = view.start()
    run.process_available()
    assert compare(values(view.snapshot()), watched.answer) is None
    with pytest.raises(InputError):
        db.table("item").insert([(10, 3, 0.5, None)])  # a float is no exact number
    db.table("customer").update([(2, "c")])
    db.table("item").delete([{"ok": 10, "ln": 1}, {"ok": 10, "ln": 9}])
    db.table("item").insert([(10, 4, D("0.01"), 0.3), (10, 2, D(3), None)])
    watched.tell(
        [("customer", UPDATE, (2, "c")), ("item", DELETE, item),
         ("item", DELETE, (10, 9, None, None)), ("item", 1, (10, 4, D("0.01"), 0.3)),
         ("item", 1, (10, 2, D(3), None))]
    )  # fmt: skip
    run.process_available()
    assert compare(values(view.snapshot()), watched.answer) is None
    places = [(r["segment"][5:], r["row"], r["reason"], r["raw"][:18]) for r in view.rejects()]
    assert sorted(places) == [
        ("000000000002.parquet", 1, "MISSING_ROW", '{"ok": 10, "ln": 9'),
        ("000000000003.parquet", 1, "DUPLICATE_KEY", '{"ok": 10, "ln": 2'),
    ]
    assert {r["relation"] for r in view.rejects()} == {"item"}
    assert run.rejected == 2
    assert "2 rejects" in run.progress()


def test_marks_end_epochs_and_a_restart_goes_on(
    database: Callable[..., Database], tmp_path: Path
) -> None:
    first = database(shards=4, partitions=2)
    first.execute(shop(**SEQUENCE))
    watched = Watched(first.schema, SALES)
    history = in_sequence(shop_history(first.schema, seed=31, epochs=5))
    watched.tell(*history)
    file, out, checkpoint = tmp_path / "changes.txt", tmp_path / "out", tmp_path / "checkpoint"
    texts = ["".join(map(line, e)) + "*\n" for e in history]
    start = len(texts[0])
    file.write_text(texts[0] + "+ITten|1|1.00|1|\n+XX1|\n" + texts[1] + texts[2])
    run = first.view("sales", SALES).start(f"json:{out}", checkpoint=checkpoint)
    run.process_available()
    first.stop()
    assert epochs(str(out)) == [0, 1, 2]
    bad = [r for r in run.rejects if r["reason"] in ("PARSE", "UNKNOWN_RELATION")]
    assert sorted((r["start"], r["row"], r["reason"], r["raw"]) for r in bad) == [
        (start, 0, "PARSE", "+ITten|1|1.00|1|"), (start, 1, "UNKNOWN_RELATION", "+XX1|"),
    ]  # fmt: skip
    assert {r["segment"] for r in bad} == {"0000/changes.txt"}

    with file.open("a") as more:
        more.write("".join(texts[3:]))
    second = database(shards=16, partitions=1)
    second.execute(shop(**SEQUENCE))
    again = second.view("sales", SALES).start(f"json:{out}", checkpoint=checkpoint)
    again.process_available()
    assert [r.epoch for r in again.reports] == [3, 4]
    assert epochs(str(out)) == [0, 1, 2, 3, 4]
    flow = dataflow_of(again.on.program)
    changes = ((n, delta_of(t, flow.columns)) for n, t in read_changelog(str(out)) if t.num_columns)
    assert compare(watched.follow(changes).rows, watched.answer) is None
    refused = Counter(r["reason"] for r in (*run.rejects, *again.rejects))
    assert refused == Counter(
        [r for _, r in watched.refused.elements()] + ["PARSE", "UNKNOWN_RELATION"]
    )
    # What the first run began with stays, whatever the settings say now.
    assert flow.shards == 4
    assert json.loads((checkpoint / "everview.json").read_text())["partitions"] == 2
    offsets = (checkpoint / "offsets" / "4").read_text().splitlines()
    assert json.loads(offsets[1])["conf"]["spark.sql.shuffle.partitions"] == "2"
    second.stop()
    # A run whose sink keeps nothing itself goes on from the answer in the state.
    third = second.view("sales").start(checkpoint=checkpoint)
    assert compare(values(third.sink.answer), watched.answer) is None


def test_an_epoch_takes_no_more_than_the_limit(
    database: Callable[..., Database], tmp_path: Path
) -> None:
    db = database(epoch_limit=25, policy="trust")
    db.execute(shop(**SEQUENCE))
    rows = [("item", INSERT, (k % 5, k, D(k), None)) for k in range(100)]
    (tmp_path / "changes.txt").write_text("".join(map(line, rows)))
    sql = "SELECT ok, sum(price) AS total FROM item GROUP BY ok"
    watched = Watched(db.schema, sql)
    watched.tell(*(rows[at : at + 25] for at in range(0, 100, 25)))
    run = db.view("totals", sql).start()
    run.process_available()
    watched.check(run)
