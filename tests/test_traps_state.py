"""Traps of the state: lost, stale and foreign arenas, failed commits, growth with history.

As in test_traps: what is right, and what goes wrong without one guard.

Not here: the arena itself (test_arena), the log itself (test_log), Spark (spark/).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everview.dataflow.local import Chunks, LocalHost
from everview.dataflow.pack import Packer
from everview.dataflow.stage import StageShard
from everview.delta.frame import batch_of, decode
from everview.operators import group, join
from everview.sql.script import Script, read_script
from everview.state import arena as arenas
from everview.state.arena import Arena
from everview.state.log import Log
from everview.state.text import TextTable
from tests.histories import Change, batches
from tests.test_traps import COUNT, GROUPED, JOIN, Patch, flow_of, wrong

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
                customers, weights = (batch.column(n).to_pylist() for n in ("customer", "#0"))
                for customer, weight in zip(customers, weights, strict=True):
                    self.answer[customer] += weight

    def epoch(self, changes: Sequence[Change]) -> None:
        self.commit(self.begin(changes)())


ONE: list[Change] = [
    ("orders", 1, (1, "Ada")),
    ("orders", 1, (2, "Bob")),
    ("orders", 1, (3, "Ada")),
]
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


def sizes(
    windows: int, *, sql: str = JOIN, size: int = 250, steps: int = 5
) -> list[tuple[int, int]]:
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
