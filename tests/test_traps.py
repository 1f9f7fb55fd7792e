"""Traps: what is easy to get wrong, shown with its guard in place and with the guard taken away.

Every test says what is right, sees it hold, removes one guard from the engine (a patch of a few
lines, `without_...`) and sees the outcome go wrong. A guard that nothing misses is none.

Not here: traps that need Spark (spark/), random cases (laws).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
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
from everview.delta.frame import batch_of, decode
from everview.operators import group, join
from everview.plan.rules import optimize
from everview.plan.wire import to_json
from everview.spark.stage import Hosted
from everview.spark.unpack import _by_key, unpack_blobs
from everview.sql.script import Script, read_script
from everview.state import arena as arenas
from everview.state.arena import Arena
from everview.state.log import Log
from everview.state.text import TextTable
from tests import scenario as s
from tests.histories import Change, batches
from tests.oracle import rows_of, rows_of_delta
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
            parts = routed_by_key(hosted, parts)
        messages = {
            shard: [
                (row[0], row[2:])
                for batch in unpack_blobs(flow, map(memoryview, blobs), "upsert", gather=by_key)
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


def routed_by_key(hosted: Hosted, parts: dict[int, list[bytes]]) -> dict[int, list[bytes]]:
    """The shuffle by the view's key, task by task."""
    out: dict[int, list[bytes]] = {}
    for blobs in parts.values():
        rows = pa.RecordBatch.from_pydict(
            {"shard": pa.array([0] * len(blobs), pa.int32()), "blob": pa.array(blobs, pa.binary())}
        )
        for batch in _by_key(hosted)(iter([rows])):
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


def recorded(sql: str, history: Sequence[Sequence[Change]], *, restart: bool, shards: int = 3) -> Any:
    script = read_script(sql)
    host = Recorder(flow_of(script, shards))
    for number, changes in enumerate(history):
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
    assert any(recorded(sql, HISTORY, restart=True))
    assert recorded(sql, HISTORY, restart=True) == recorded(sql, HISTORY, restart=False)
    without_canonical_order(monkeypatch)
    assert recorded(sql, HISTORY, restart=True) != recorded(sql, HISTORY, restart=False)


class Shuffled(LocalHost):
    """Blobs reach their stages in another order."""

    def __init__(self, flow: Dataflow) -> None:
        super().__init__(flow)
        pack = self.packer.pack
        self.packer.pack = lambda changes: list(reversed(pack(changes)))  # type: ignore[method-assign]


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
        ("customer", 2, (1, "Zoe")),
        ("orders", 1, (1, 1, "too much")),
    ]
    packer = Packer(flow)
    packed = order([p for c in batches(script.schema, changes, "0") for p in packer.pack(c)])
    out: list[bytes] = [p.blob for p in packed]
    for number, spec in enumerate(flow.stages):
        run = StageShard(flow, spec, 0, Arena(), Chunks())
        out = [b for _, b in run.epoch(number, out, first=True)]
    heads = [decode(b)[0] for b in out]
    rejects = [r["reason"] for h in heads for r in h.get("rejects", ())]
    rows = [rows_of(batch_of(decode(b)[1][0])) for b, h in zip(out, heads, strict=True) if "changes" in h]
    return rows, rejects


def without_sorting(m: pytest.MonkeyPatch) -> None:
    class Unsorted(list[Any]):
        def sort(self, **_: Any) -> None:
            """Leaves the order as it is."""

    arrived = StageShard._arrived
    m.setattr(StageShard, "_arrived", lambda self, feed, found: arrived(self, feed, Unsorted(found)))


def test_blobs_arrive_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ([[(1, "Zoe", "last", 1)]], ["DUPLICATE_KEY"])
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
        return sorted(reversed(listing(path)), key=lambda f: os.path.getmtime(f.path))

    monkeypatch.setattr(files, "listing", by_time)
    assert wrong(lambda: read_one_by_one(tmp_path), names)


# ----------------------------------------------------------------- tokens, commits and lost arenas


@dataclass
class Shard:
    """One stage's one shard as Spark runs it: state and token commit together, the arena does not.

    `committed` is what the state store holds; `attempt` runs an epoch on a copy of it.
    """

    place: Path
    script: Script = field(default_factory=lambda: read_script(COUNT))
    committed: tuple[dict[int, bytes], str | None] = field(default_factory=lambda: ({}, None))
    answer: Counter[Any] = field(default_factory=Counter)
    number: int = 0
    fresh: int = 0
    taken: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.flow = flow_of(self.script)
        assert len(self.flow.stages) == 2
        self.packer = Packer(self.flow)

    def begin(self, changes: Sequence[Change]) -> Callable[..., Any]:
        """Start an attempt at the next epoch; call what it returns to go on to the end."""
        chunks, token = self.committed
        store = Chunks()
        store.blobs = dict(chunks)
        arena, warm = Arena.take(self.place, token)
        self.taken.append(warm)
        run = StageShard(self.flow, self.flow.stages[0], 0, arena, store)
        if token is not None and not warm:
            run.rebuild()
        packed = [p.blob for c in batches(self.script.schema, changes, f"{self.number}")
                  for p in self.packer.pack(c)]  # fmt: skip

        def finish(*, leave: bool = True) -> Any:
            out = run.epoch(self.number, packed, first=token is None)
            if not leave:
                return None
            self.fresh += 1
            name = f"token{self.fresh}"
            arena.leave(self.place / name)
            return (store.blobs, name), out

        return finish

    def commit(self, attempt: Any) -> None:
        self.committed, out = attempt
        self.number += 1
        for _, blob in out:
            header, parts = decode(blob)
            self.answer["rejects"] += len(header.get("rejects", ()))
            if header.get("stage") == 1 and "feed" in header:
                batch = batch_of(parts[0])
                for customer, weight in zip(
                    batch.column("customer").to_pylist(), batch.column("#0").to_pylist(), strict=True
                ):
                    self.answer[customer] += weight

    def epoch(self, changes: Sequence[Change]) -> None:
        self.commit(self.begin(changes)())


ONE: list[Change] = [("orders", 1, (1, "Ada")), ("orders", 1, (2, "Bob")), ("orders", 1, (3, "Ada"))]
TWO: list[Change] = [("orders", -1, (1, None)), ("orders", 1, (4, "Cem"))]
THREE: list[Change] = [("orders", 1, (5, "Ada")), ("orders", -1, (4, None))]
TRUTH = {"Ada": 2, "Bob": 1}


def told(shard: Shard) -> dict[str, int]:
    return {k: n for k, n in shard.answer.items() if n}


def plain(place: Path) -> Any:
    shard = Shard(place)
    for changes in (ONE, TWO, THREE):
        shard.epoch(changes)
    return told(shard), shard.taken


def failed_commit(place: Path) -> Any:
    """The epoch is done, its arena left under a fresh token, and then the commit fails."""
    shard = Shard(place)
    shard.epoch(ONE)
    shard.begin(TWO)()
    shard.epoch(TWO)
    shard.epoch(THREE)
    return told(shard), shard.taken


def crash_on_the_way(place: Path) -> Any:
    """The worker dies before it is done."""
    shard = Shard(place)
    shard.epoch(ONE)
    shard.begin(TWO)(leave=False)
    shard.epoch(TWO)
    shard.epoch(THREE)
    return told(shard), shard.taken


def zombie(place: Path) -> Any:
    """Two attempts of one epoch at once; the first one is given up, but still runs to its end."""
    shard = Shard(place)
    shard.epoch(ONE)
    first = shard.begin(TWO)
    second = shard.begin(TWO)
    with contextlib.suppress(OSError):  # its folder was swept away under it
        first()
    shard.commit(second())
    shard.epoch(THREE)
    return told(shard), shard.taken


def gone(place: Path) -> Any:
    """The scratch folder was emptied, as on another machine."""
    shard = Shard(place)
    shard.epoch(ONE)
    shutil.rmtree(place)
    shard.epoch(TWO)
    shard.epoch(THREE)
    return told(shard), shard.taken


def behind(place: Path, name: str = "token1") -> Any:
    """An arena of an older token turns up again (an epoch ran on another machine meanwhile)."""
    shard = Shard(place)
    shard.epoch(ONE)
    old = place.parent / "old"
    shutil.copytree(place / "token1", old)
    shard.epoch(TWO)
    shutil.rmtree(place / "token2")
    shutil.copytree(old, place / name)
    shard.epoch(THREE)
    return told(shard), shard.taken


def foreign(place: Path, name: str = "tokenX") -> Any:
    """Another query's arena lies there."""
    other = Shard(place.parent / "other")
    other.epoch([])
    other.epoch([("orders", 1, (5, "Eve")), ("orders", 1, (9, "Eve"))])
    shard = Shard(place)
    shard.epoch(ONE)
    shutil.rmtree(place / "token1")
    shutil.copytree(other.place / "token2", place / name)
    shard.epoch(TWO)
    shard.epoch(THREE)
    return told(shard), shard.taken


def without_tokens(m: pytest.MonkeyPatch) -> None:
    """Any arena that lies there is good."""
    take = Arena.take

    def any_arena(place: Path, token: str | None) -> tuple[Arena, bool]:
        there = sorted(p.name for p in place.iterdir()) if place.exists() else []
        if there:
            _changed("token", there[-1])(place / there[-1])
        return take(place, there[-1] if there else token)

    m.setattr(Arena, "take", staticmethod(any_arena))


def without_renaming_away(m: pytest.MonkeyPatch) -> None:
    """An arena is opened where it lies, by whoever comes."""

    def in_place(place: Path, token: str | None) -> tuple[Arena, bool]:
        if token is None or not (place / token / arenas.HEADER).exists():
            return Arena(place / f"new{np.random.default_rng().integers(1 << 60)}"), False
        header = (place / token / arenas.HEADER).read_text()
        found = Arena._open(place / token, token)
        (place / token / arenas.HEADER).write_text(header)
        return found, True

    m.setattr(Arena, "take", staticmethod(in_place))


ARENAS: dict[str, tuple[Callable[[Path], Any], list[bool], Patch | None]] = {
    "plain": (plain, [False, True, True], None),
    "failed commit after output": (failed_commit, [False, True, False, True], without_tokens),
    "crash on the way": (crash_on_the_way, [False, True, False, True], without_renaming_away),
    "zombie": (zombie, [False, True, False, True], without_renaming_away),
    "missing": (gone, [False, False, True], None),
    "stale": (behind, [False, True, False], without_tokens),
    "stale, renamed": (lambda p: behind(p, "token2"), [False, True, False], without_tokens),
    "foreign": (foreign, [False, False, True], without_tokens),
    "foreign, renamed": (lambda p: foreign(p, "token1"), [False, False, True], without_tokens),
}


@pytest.mark.parametrize("name", ARENAS)
def test_arena(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    act, taken, remove = ARENAS[name]
    assert act(tmp_path / "a" / "scratch") == (TRUTH, taken)
    if remove is not None:
        remove(monkeypatch)
        assert wrong(lambda: act(tmp_path / "b" / "scratch")[0], TRUTH)


def cut_short(place: Path, damage: Callable[[Path], None]) -> Any:
    shard = Shard(place)
    shard.epoch(ONE)
    damage(place / "token1")
    shard.epoch(TWO)
    shard.epoch(THREE)
    return told(shard), shard.taken


def _half(folder: Path) -> None:
    for file in folder.iterdir():
        if file.name != arenas.HEADER:
            os.truncate(file, file.stat().st_size // 2)


def _headless(folder: Path) -> None:
    (folder / arenas.HEADER).unlink()


def _torn_header(folder: Path) -> None:
    text = (folder / arenas.HEADER).read_text()
    (folder / arenas.HEADER).write_text(text[: len(text) // 2])


def _an_array_less(folder: Path) -> None:
    next(p for p in folder.iterdir() if p.name.endswith(".words")).unlink()


def _changed(key: str, value: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        header = json.loads((folder / arenas.HEADER).read_text())
        assert key in header
        (folder / arenas.HEADER).write_text(json.dumps({**header, key: value}))

    return change


DAMAGE: dict[str, Callable[[Path], None]] = {
    "truncated": _half, "no header": _headless, "half a header": _torn_header,
    "an array less": _an_array_less, "another version": _changed("version", -1),
    "before the machine was started": _changed("boot", "earlier"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_arena_is_rebuilt(name: str, tmp_path: Path) -> None:
    assert cut_short(tmp_path, DAMAGE[name]) == (TRUTH, [False, False, True])


def test_a_truncated_arena_without_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = Arena._open

    def stretched(folder: Path, token: str) -> Arena:
        header = json.loads((folder / arenas.HEADER).read_text())
        for name, about in header["arrays"].items():
            size = int(np.prod(about["shape"])) * np.dtype(about["dtype"]).itemsize
            os.truncate(folder / name, size)
        return open_(folder, token)

    monkeypatch.setattr(Arena, "_open", staticmethod(stretched))
    assert wrong(lambda: cut_short(tmp_path, _half)[0], TRUTH)


# ------------------------------------------------------------- nothing in memory grows with history


def window(first: int, size: int, op: int) -> list[Change]:
    """Customers of three orders each, with texts of their own."""
    customers = range(first, first + size)
    orders = [(3 * c + o, c, f"order {3 * c + o:09} of customer {c:09}") for c in customers
              for o in range(3)]  # fmt: skip
    return [("customer", op, (c, f"customer {c:09}")) for c in customers] + [
        ("orders", op, row) for row in orders
    ]


def sizes(windows: int, *, sql: str = JOIN, size: int = 250, steps: int = 5) -> list[tuple[int, int]]:
    """After each window of a FIFO history: arena bytes, and log bytes per epoch's end."""
    script = read_script(sql)
    host = LocalHost(flow_of(script))
    step, out = size // steps, []
    for n in range(windows * steps):
        changes = window(n * step, step, 1)
        if n >= steps:
            changes = window((n - steps) * step, step, -1) + changes
        host.epoch(batches(script.schema, changes, f"{n}"))
        if (n + 1) % steps == 0:
            counts = host.counts()
            out.append((counts.arena_bytes, counts.log_bytes))
    return out


BY_NAME = JOIN.replace("SELECT o.id, c.name, o.note", "SELECT c.name, COUNT(*) AS n").replace(
    "c.id;", "c.id GROUP BY c.name;"
)


BY_NUMBER = JOIN.replace("SELECT o.id, c.name, o.note", "SELECT -c.id AS m, COUNT(*) AS n").replace(
    "c.id;", "c.id GROUP BY -c.id;"
)


def without_text_freed(m: pytest.MonkeyPatch) -> None:
    m.setattr(TextTable, "end_epoch", lambda self: None)


def without_gaps_closed(m: pytest.MonkeyPatch) -> None:
    m.setattr(TextTable, "_close_gaps", lambda self, size: None)


def without_entries_dropped(m: pytest.MonkeyPatch) -> None:
    m.setattr(join, "drop_unused", lambda ix, entries: 0)


def without_groups_dropped(m: pytest.MonkeyPatch) -> None:
    m.setattr(group, "drop_unused", lambda ix, entries: 0)


def without_slots_given_back(m: pytest.MonkeyPatch) -> None:
    m.setattr(join.kernel, "give_slots", lambda free, counters, slots: None)


@pytest.mark.parametrize("sql", [JOIN, BY_NAME], ids=["joined", "grouped"])
def test_the_arena_does_not_grow_with_history(sql: str) -> None:
    found = [arena for arena, _ in sizes(20, sql=sql)]
    assert max(found[2:]) <= found[1]


@pytest.mark.parametrize(
    "remove",
    [without_text_freed, without_gaps_closed, without_entries_dropped, without_groups_dropped,
     without_slots_given_back],
    ids=lambda r: r.__name__,
)  # fmt: skip
def test_what_is_not_freed_grows(remove: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    remove(monkeypatch)
    sql = BY_NUMBER if remove is without_groups_dropped else BY_NAME
    assert wrong(lambda: (found := sizes(8, sql=sql))[-1][0] <= found[1][0], True)


def left_over(sql: str) -> dict[str, int]:
    """All rows come, and leave in another order: what state is left."""
    script = read_script(sql)
    host = LocalHost(flow_of(script, 3))
    rows = window(0, 20, 1)
    for number, part in enumerate((rows[:50], rows[50:], [])):
        host.epoch(batches(script.schema, part, f"{number}"))
    back = [(name, -1, row) for name, _, row in sorted(rows, key=lambda r: str(r[2])[::-1])]
    for number, part in enumerate((back[:30], back[30:])):
        host.epoch(batches(script.schema, part, f"back {number}"))
    c = host.counts()
    chunks = sum(len(store.numbers()) for store in host.stores.values())
    return {"live": c.live, "waiting": c.waiting, "groups": c.groups, "entries": c.entries,
            "texts": c.texts, "log rows": c.log_rows, "chunks": chunks}  # fmt: skip


def without_chunks_dropped(m: pytest.MonkeyPatch) -> None:
    m.setattr(Log, "_drop_empty", lambda self: False)


@pytest.mark.parametrize("sql", [JOIN, BY_NAME, GROUPED], ids=["joined", "by name", "by note"])
def test_no_state_is_left_when_all_rows_have_left(
    sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any(left_over(sql).values()), left_over(sql)
    for remove in (without_chunks_dropped, without_entries_dropped, without_text_freed):
        with monkeypatch.context() as m:
            remove(m)
            assert wrong(lambda: any(left_over(sql).values()), False), remove.__name__


def without_compaction(m: pytest.MonkeyPatch) -> None:
    m.setattr(Log, "compact", lambda self, epoch, tables: None)


def test_the_log_does_not_grow_with_history(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [log for _, log in sizes(12)]
    assert max(found[2:]) <= 3 * found[0]
    without_compaction(monkeypatch)
    assert wrong(lambda: max(log for _, log in sizes(12)) <= 3 * found[0], True)


def test_rows_of_a_delta_are_rows() -> None:
    """The recorder sees what a host would: changes of the last stage."""
    script = read_script(JOIN)
    host = Recorder(flow_of(script))
    out = host.epoch(batches(script.schema, HISTORY[0], "0"))
    assert len(rows_of_delta(out.changes)) == 30
