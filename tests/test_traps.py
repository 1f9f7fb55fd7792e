"""Traps: what is easy to get wrong, shown with its guard in place and with the guard taken away.

Every test says what is right, sees it hold, removes one guard from the engine (a patch of a few
lines, `without_...`) and sees the outcome go wrong. A guard that nothing misses is none.

Not here: traps that need Spark (spark/), random cases (laws).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everview.connect import files
from everview.connect.folder import ChangeFolder
from everview.dataflow import compile, stage
from everview.dataflow.compile import Settings, compile_plan, compile_resolved
from everview.dataflow.dataflow import Dataflow, Feed
from everview.dataflow.local import Chunks, LocalHost
from everview.dataflow.pack import Packed, Packer
from everview.dataflow.program import Program
from everview.dataflow.stage import StageShard
from everview.delta.changes import Changes
from everview.delta.frame import batch_of, decode
from everview.operators import join
from everview.plan.rules import optimize
from everview.plan.wire import to_json
from everview.spark.hosted import Hosted
from everview.spark.unpack import _by_identity, unpack_blobs
from everview.sql.script import Script, read_script
from everview.state.arena import Arena
from tests import scenario as s
from tests.histories import Change, batches
from tests.oracle import rows_of
from tests.test_scenarios import on_local

Patch = Callable[[pytest.MonkeyPatch], None]

JOIN = """
CREATE TABLE customer (id INT PRIMARY KEY, name STRING);
CREATE TABLE orders (id INT PRIMARY KEY, customer INT REFERENCES customer, note STRING);
CREATE VIEW v AS SELECT o.id, c.name, o.note FROM orders o JOIN customer c ON o.customer = c.id;
"""
COUNT = """
CREATE TABLE orders (id INT PRIMARY KEY, customer STRING);
CREATE VIEW v AS SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer;
"""


def flow_of(script: Script, shards: int = 1) -> Dataflow:
    return compile_resolved(optimize(script.views["v"]), Settings(shards))


def wrong(act: Callable[[], Any], right: Any) -> bool:
    """The act ends in another outcome, or in an error."""
    try:
        return bool(act() != right)
    except Exception:
        return True


# ------------------------------------------------------------------ what a scenario tells, untold


def without_slots_noted_at_once(m: pytest.MonkeyPatch) -> None:
    """Payload is looked up through the entries at the end, also of rows that leave."""

    def note(self: join.Join, slots: Any, sign: int) -> None:
        if len(slots):
            weight = sign * self.rows[self.root].marks[slots, join.kernel.COUNT].astype(np.int64)
            self._out.append(join.Joined({self.root: slots}, weight))

    m.setattr(join.Join, "_note", note)


def without_failing_rows_travelling(m: pytest.MonkeyPatch) -> None:
    """A filter drops rows before they reach their key, although old images are not said."""
    m.setattr(Feed, "filtered", property(lambda self: False))


def without_gate(m: pytest.MonkeyPatch) -> None:
    """Changes of a key go wherever the route sends them."""
    m.setattr(compile._Compiler, "scattered", lambda self, source, route: False)


def without_null_check(m: pytest.MonkeyPatch) -> None:
    """A foreign key is its words, and those of NULL are zero."""
    link = join.kernel.link

    def given_always(*args: Any) -> None:
        *before, given, marks = args
        link(*before, np.ones_like(given), marks)

    m.setattr(join.kernel, "link", given_always)


def without_slots_held_back(m: pytest.MonkeyPatch) -> None:
    """Slots freed in an epoch are taken again in the same."""
    remove = join.Join._remove

    def removed(self: join.Join, name: str, slots: Any) -> Any:
        ids = remove(self, name, slots)
        self.rows[name].end_epoch()
        return ids

    m.setattr(join.Join, "_remove", removed)


def without_support_lost(m: pytest.MonkeyPatch) -> None:
    """A row that leaves takes nobody along."""
    died = join.Join._died
    m.setattr(join.Join, "_died", lambda self, name, slots: died(self, self.root, slots[:0]))


def without_own_links_removed(m: pytest.MonkeyPatch) -> None:
    """A row that leaves stays in the lists of what it references."""
    m.setattr(join.kernel, "unlink", lambda *args: None)


def without_assertions_asked_again(m: pytest.MonkeyPatch) -> None:
    """An assertion that held once is not asked again when a row comes back to life."""
    seen: set[tuple[int, str, int]] = set()
    asserted = join.Join._asserted

    def remembered(self: join.Join, name: str, slots: Any) -> Any:
        known = np.array([(id(self), name, int(x)) in seen for x in slots], np.bool_)
        found = asserted(self, name, slots)
        seen.update((id(self), name, int(x)) for x in found)
        return np.union1d(found, slots[known]).astype(slots.dtype)

    m.setattr(join.Join, "_asserted", remembered)


STORIES: dict[str, tuple[str, Patch]] = {
    "old rows leave with their own payload": ("moved_entry", without_slots_noted_at_once),
    "the new image fails the filter": ("upsert_into_a_filter", without_failing_rows_travelling),
    "duplicate keys meet in no shard": ("duplicate_key_in_two_shards", without_gate),
    "a moved reference, by key": ("foreign_key_update", without_gate),
    "NULL references nothing": ("null_foreign_key", without_null_check),
    "NULL in a composite reference": ("composite_keys", without_null_check),
    "slots are reused in the next epoch": ("moved_entry", without_slots_held_back),
    "a reference goes, its rows wait": ("dangling_reference", without_support_lost),
    "a waiting row leaves its lists": ("re_insert", without_own_links_removed),
    "assertions are asked each time": ("assertion", without_assertions_asked_again),
}


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, remove = STORIES[name]
    scenario = s.read(s.FOLDER / f"{file}.test")

    def runs(shards: int) -> str:
        flow = compile_plan(scenario.plan, scenario.schema, Settings(shards))
        s.run(scenario, on_local(scenario, flow, restart=False))
        return "as told"

    assert {runs(shards) for shards in (1, 2, 7)} == {"as told"}
    remove(monkeypatch)
    assert any(wrong(lambda n=shards: runs(n), "as told") for shards in (1, 2, 7))


def test_a_policy_gate_is_there_only_where_changes_would_scatter() -> None:
    """The gate costs a stage: orders have one, under `trust` or by their own key they have none."""
    script = read_script(JOIN)
    assert len(flow_of(script).stages) == 2
    trusting = JOIN.replace("note STRING)", "note STRING) WITH (policy = 'trust')")
    assert len(flow_of(read_script(trusting)).stages) == 1
    by_customer = JOIN.replace("id INT PRIMARY KEY, customer", "id INT, customer").replace(
        "note STRING)", "note STRING, PRIMARY KEY (customer, id))"
    )
    assert len(flow_of(read_script(by_customer)).stages) == 1


# --------------------------------------------------------------------- output blobs, as they leave


class Recorder(LocalHost):
    """Keeps the output blobs of every epoch, those with changes or rejects."""

    def __init__(self, flow: Dataflow) -> None:
        super().__init__(flow)
        self.blobs: list[list[tuple[int, bytes]]] = []

    def _epoch(self, number: int, blobs: list[Packed]) -> Any:
        kept = [(p.shard, p.blob) for p in blobs if "stats" not in decode(p.blob)[0]]
        self.blobs.append(kept)
        return super()._epoch(number, blobs)


MOVING: list[list[Change]] = [
    [("customer", 1, (c, f"c{c}")) for c in range(6)] + [("orders", 1, (10, 0, "a"))],
    *([("orders", -1, (10, c, None)), ("orders", 1, (10, c + 1, "a"))] for c in range(5)),
]


def moving_row(*, by_key: bool) -> bool:
    """A consumer that takes the upsert form, shard after shard in any order, always ends with the
    row that is there. The order's shard is that of its customer, so it moves."""
    trusting = JOIN.replace("note STRING)", "note STRING) WITH (policy = 'trust')")
    script = read_script(trusting)
    plan, settings = optimize(script.views["v"]), Settings(shards=7)
    flow = compile_resolved(plan, settings)
    assert not flow.settled
    assert flow.key == ("id",)
    hosted = Hosted(Program(to_json(plan), settings), "", tuple(range(7)))
    host = Recorder(flow)
    for number, changes in enumerate(MOVING):
        host.epoch(batches(script.schema, changes, f"{number}"))
        parts: dict[int, list[bytes]] = {}
        for shard, blob in host.blobs[-1]:
            parts.setdefault(shard, []).append(blob)
        if by_key:
            parts = routed_by_identity(hosted, parts)
        messages = {
            shard: [
                (row[0], row[2:])
                for batch in unpack_blobs(flow, map(memoryview, blobs), "upsert")
                for row in rows_of(batch)
            ]
            for shard, blobs in parts.items()
        }
        for order in permutations(messages):
            table: dict[int, Any] = {10: "before"}
            for deleted, row in (m for shard in order for m in messages[shard]):
                table[row[0]] = None if deleted else row
            if table != {10: (10, f"c{number}", "a")}:
                return False
    return True


def routed_by_identity(hosted: Hosted, parts: dict[int, list[bytes]]) -> dict[int, list[bytes]]:
    """The shuffle by the view's key, task by task."""
    out: dict[int, list[bytes]] = {}
    for blobs in parts.values():
        rows = pa.RecordBatch.from_pydict(
            {"shard": pa.array([0] * len(blobs), pa.int32()), "blob": pa.array(blobs, pa.binary())}
        )
        for batch in _by_identity(hosted)(iter([rows])):
            for shard, blob in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                out.setdefault(shard, []).append(blob)
    return out


def test_a_key_that_moves_between_shards_in_upsert_form() -> None:
    assert moving_row(by_key=True)
    assert not moving_row(by_key=False)  # a tombstone overtakes the row


def some_orders(op: int, *numbers: int) -> list[Change]:
    return [("orders", op, (n, 1, f"n{n % 11}")) for n in numbers]


# The first chunk of the log is rewritten when most of it is gone, so that its rows come back in
# another order than they once came.
HISTORY: list[list[Change]] = [
    [("customer", 1, (1, "Ada")), *some_orders(1, *range(30, 0, -1))],
    some_orders(1, *range(40, 70)),
    some_orders(-1, *range(5, 31)),
    [],
    [("customer", 2, (1, "Eve"))],
    [*some_orders(1, 7), ("orders", -1, (99, 1, "never"))],
    [("customer", -1, (1, None))],
]


def recorded(sql: str, *, restart: bool) -> Any:
    """The output blobs of the history."""
    script = read_script(sql)
    host = Recorder(flow_of(script, 3))
    for number, changes in enumerate(HISTORY):
        if restart:
            host.restart()
        host.epoch(batches(script.schema, changes, f"{number}"))
    return host.blobs


def without_canonical_order(m: pytest.MonkeyPatch) -> None:
    """Changes leave in the order in which lists and tables hold them."""
    m.setattr(stage, "canonical", lambda delta, key: delta)


GROUPED = JOIN.replace("SELECT o.id, c.name, o.note", "SELECT o.note, COUNT(*) AS n").replace(
    "c.id;", "c.id GROUP BY o.note;"
)


@pytest.mark.parametrize("sql", [JOIN, GROUPED], ids=["joined", "grouped"])
def test_rebuilt_state_emits_bit_for_bit_what_the_lost_one_would(
    sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any(recorded(sql, restart=True))
    assert recorded(sql, restart=True) == recorded(sql, restart=False)
    without_canonical_order(monkeypatch)
    assert recorded(sql, restart=True) != recorded(sql, restart=False)


def arrived_in(order: Callable[[list[Packed]], list[Packed]]) -> Any:
    """One epoch in which a key changes in several batches; its blobs arrive in this order."""
    script = read_script(JOIN)
    flow = flow_of(script)
    changes: list[Change] = [
        ("orders", 1, (1, 1, "first")),
        ("customer", 1, (1, "Ada")),
        ("orders", -1, (1, 1, None)),
        ("customer", 2, (1, "Eve")),
        ("orders", 1, (1, 1, "last")),
        ("customer", 1, (1, "too much")),
        ("customer", 2, (1, "Zoe")),
        ("orders", 1, (1, 1, "too much")),
        ("customer", -1, (9, None)),
    ]
    packer = Packer(flow)
    packed = order([p for c in batches(script.schema, changes, "0") for p in packer.pack(c)])
    out: list[bytes] = [p.blob for p in packed]
    for number, spec in enumerate(flow.stages):
        store = Chunks()
        run = StageShard(flow, spec, 0, Arena(), store)
        out = [b for _, b in run.epoch(number, out, first=True)]
    heads = [decode(b)[0] for b in out]
    rejects = {r["start"] + r["row"] for h in heads for r in h.get("rejects", ())}
    kept = [r["start"] + r["row"] for r in decode(store.get(stage.REJECTS))[0]["kept"]["last"]]
    changed = [b for b, h in zip(out, heads, strict=True) if "changes" in h]
    return [rows_of(batch_of(decode(b)[1][0])) for b in changed], rejects, kept


def test_rejects_name_their_place_whatever_decides_the_order() -> None:
    """The later insertion of a key is refused: by the order column it is the first row."""
    script = read_script("CREATE TABLE t (k INT PRIMARY KEY); CREATE VIEW v AS SELECT k FROM t;")
    host = LocalHost(flow_of(script))

    def arrived(segment: str, keys: list[int], order: list[int]) -> Changes:
        batch = pa.RecordBatch.from_pydict({"k": pa.array(keys, pa.int32())})
        ops = np.ones(len(keys), np.int8)
        return Changes("t", batch, ops, segment, 100, order=pa.array(order))

    epoch = host.epoch([arrived("first", [1, 2], [5, 6]), arrived("second", [3, 1], [1, 2])])
    assert [(r.segment, r.start, r.row) for r in epoch.rejects] == [("first", 100, 0)]


def without_sorting(m: pytest.MonkeyPatch) -> None:
    class Unsorted(list[Any]):
        def sort(self, **_: Any) -> None:
            """Leaves the order as it is."""

    arrived = StageShard._arrived
    m.setattr(StageShard, "_arrived", lambda self, feed, b: arrived(self, feed, Unsorted(b)))


def test_blobs_arrive_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ([[(1, "Zoe", "last", 1)]], {5, 7, 8}, [5, 7, 8])
    orders: list[Callable[[list[Packed]], list[Packed]]] = [
        list, lambda p: p[::-1], lambda p: p[3:] + p[:3],
    ]  # fmt: skip
    for order in orders:
        assert arrived_in(order) == right
    without_sorting(monkeypatch)
    assert any(wrong(lambda o=order: arrived_in(o), right) for order in orders)


def read_one_by_one(folder: Path) -> list[str]:
    """The customers in a folder of changes, admitted one change an epoch."""
    relation = read_script(COUNT).schema.relation("orders")
    source = ChangeFolder(str(folder), relation, "csv")
    at, found = source.initial(), list[str]()
    while (end := source.advance(at, 1)) != at:
        for piece in source.ranges(at, end):
            for changes in source.read(piece, {"orders": ("id", "customer")}):
                found += changes.batch.column("customer").to_pylist()
        at = end
    return found


def test_files_of_equal_time_are_read_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{n:04}.csv" for n in range(12)]
    for name in sorted(names, key=lambda n: n[3] + n):  # made in another order
        (tmp_path / name).write_text(f"id,customer\n1,{name}\n")
        os.utime(tmp_path / name, (0, 0))
    assert read_one_by_one(tmp_path) == names
    listing = files.listing

    def by_time(path: str) -> list[files.File]:
        newest = listing(path)[::-1]
        return sorted(newest, key=lambda f: os.path.getmtime(f.path))

    monkeypatch.setattr(files, "listing", by_time)
    assert wrong(lambda: read_one_by_one(tmp_path), names)
