"""The log: what is appended is there, what died is not, and it stays small whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from everview.dataflow.local import Chunks
from everview.delta.frame import encode
from everview.errors import StateError
from everview.state import log as module
from everview.state.log import GATHER, Log


def batch(keys: Iterable[int], *, text: int = 20) -> pa.RecordBatch:
    """Rows of a key and a text that follows from it."""
    keys = list(keys)
    return pa.RecordBatch.from_pydict(
        {"k": pa.array(keys, pa.int64()), "t": pa.array([f"{k:0{text}}" for k in keys])}
    )


class Rows:
    """A table whose slots are its keys."""

    def __init__(self, size: int = 21_000) -> None:
        self.ids = np.zeros(size, np.int64)

    def locate(self, found: pa.RecordBatch) -> np.ndarray:
        keys = found.column("k").to_numpy()
        return np.where(self.ids[keys] != 0, keys, 0)

    @property
    def keys(self) -> set[int]:
        return set(np.flatnonzero(self.ids).tolist())


class Counted(Chunks):
    """A store that counts what one epoch does to it."""

    def __init__(self) -> None:
        super().__init__()
        self.read = self.written = 0

    def get(self, number: int) -> bytes:
        self.read += 1
        return super().get(number)

    def put(self, number: int, blob: bytes) -> None:
        assert number not in self.blobs, "a chunk is never written twice"
        self.written += 1
        super().put(number, blob)


class Logged:
    """A log with its tables."""

    def __init__(self, *tables: str) -> None:
        self.store = Counted()
        self.log = Log(self.store, {})
        self.tables = {t: Rows() for t in tables or ("a",)}
        self.epoch = 0

    def apply(self, new: dict[str, list[int]], dead: dict[str, list[int]]) -> None:
        """One epoch: keys that go, then keys that come."""
        self.store.read = self.store.written = 0
        gone = [np.zeros(0, np.int64)]
        for t, keys in dead.items():
            gone.append(self.tables[t].ids[keys].copy())
            self.tables[t].ids[keys] = 0
        batches = {t: batch(keys) for t, keys in new.items() if keys}
        ids = self.log.append(self.epoch, batches, np.concatenate(gone))
        for t, given in ids.items():
            self.tables[t].ids[new[t]] = given
        self.log.compact(self.epoch, self.tables)
        self.epoch += 1

    def reload(self) -> None:
        """Forget everything but the store, and read it back."""
        self.log = Log(self.store, {})
        for t in self.tables:
            self.tables[t] = Rows()
        for t, rows, ids in self.log.load():
            keys = rows.column("k").to_numpy()
            assert not self.tables[t].ids[keys].any(), "a row twice"
            assert rows.column("t").to_pylist() == batch(keys.tolist()).column("t").to_pylist()
            self.tables[t].ids[keys] = ids

    @property
    def held(self) -> dict[str, set[int]]:
        return {t: rows.keys for t, rows in self.tables.items()}


def test_what_comes_and_goes() -> None:
    log = Logged("a", "b")
    log.apply({"a": [1, 2, 3], "b": [1]}, {})
    log.apply({"b": [2]}, {"a": [2]})
    log.apply({"a": [2]}, {"b": [1]})  # the key again, another row
    assert log.log.rows == 5 - 1
    for _ in range(2):
        assert log.held == {"a": {1, 2, 3}, "b": {2}}
        log.reload()
    log.apply({}, {"a": [1, 2, 3], "b": [2]})
    assert log.store.numbers() == []
    assert (log.log.rows, log.log.bytes) == (0, 0)


def test_an_epoch_without_changes_writes_nothing() -> None:
    log = Logged()
    log.apply({}, {})
    assert log.store.numbers() == []
    assert log.log.book["next"] == 1


def test_an_empty_store_loads_as_nothing() -> None:
    log = Logged()
    log.reload()
    assert log.held == {"a": set()}
    log.apply({"a": [1]}, {})
    assert log.held == {"a": {1}}


def test_a_window_that_slides_rewrites_nothing() -> None:
    """Its oldest chunk dies next anyway."""
    log = Logged()
    for at in range(1, 20_001, 200):
        gone = range(at - 2000, at - 1800)
        log.apply({"a": list(range(at, at + 200))}, {"a": list(gone) if at > 2000 else []})
        assert log.store.read == 0
        assert log.store.written == 1
    assert log.log.bytes <= 2 * sum(_plain(log).values())


def _plain(log: Logged) -> dict[str, int]:
    """The bytes of each table's content, logged at once."""
    out = {}
    for t, keys in log.held.items():
        plain = Log(Chunks(), {})
        plain.append(0, {t: batch(sorted(keys))}, np.zeros(0, np.int64))
        out[t] = plain.bytes
    return out


def test_a_delete_is_a_few_bytes() -> None:
    log = Logged()
    log.apply({"a": list(range(1, 101))}, {})
    before = log.log.bytes
    log.apply({}, {"a": [1, 2, 3]})
    last = max(log.store.numbers())
    empty = len(
        encode({"version": 1, "epoch": 1, "instant": None, "clock": None, "tables": []}, [b""])
    )
    assert len(log.store.blobs[last]) - empty < 3 * 8 + 100
    assert log.log.bytes == before + len(log.store.blobs[last])


def test_ids_name_chunk_and_row() -> None:
    log = Log(Chunks(), {})
    first = log.append(0, {"a": batch([5, 6]), "b": batch([7])}, np.zeros(0, np.int64))
    second = log.append(1, {"a": batch([8])}, np.zeros(0, np.int64))
    assert first["a"].tolist() == [1 << 32, (1 << 32) + 1]
    assert first["b"].tolist() == [(1 << 32) + 2]
    assert second["a"].tolist() == [2 << 32]


def test_large_epochs_are_cut_into_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 4096)
    log = Logged("a", "b")
    log.apply({"a": list(range(1, 1000)), "b": list(range(1, 300))}, {})
    assert len(log.store.numbers()) > 5
    held = log.held
    assert (held["a"], held["b"]) == (set(range(1, 1000)), set(range(1, 300)))
    log.reload()
    assert log.held == held
    log.apply({}, {"a": list(range(1, 1000)), "b": list(range(1, 300))})
    assert log.store.numbers() == []


def test_many_small_chunks_become_one() -> None:
    log = Logged()
    for n in range(1, GATHER):
        log.apply({"a": [n]}, {})
    assert len(log.store.numbers()) == GATHER - 1
    log.apply({"a": [GATHER]}, {})
    assert len(log.store.numbers()) == 1
    log.reload()
    assert log.held == {"a": set(range(1, GATHER + 1))}


def test_a_chunk_mostly_dead_is_rewritten_when_changes_have_paid() -> None:
    log = Logged()
    log.apply({"a": list(range(1, 101))}, {})
    log.apply({}, {"a": list(range(1, 61))})
    assert sum(c["rows"] for c in log.log.chunks.values()) == 40
    assert log.store.read <= 2
    assert log.held == {"a": set(range(61, 101))}


def churn(log: Logged, seed: int, epochs: int = 300) -> list[tuple[float, float, int, int]]:
    """Random epochs of every size; of each the log's rows per live row, its rows and deaths per
    live row, reads, writes."""
    rng, found = Random(seed), []
    keys = set(range(1, 1500))
    for n in range(epochs):
        there = log.held["a"]
        size = rng.choice((0, 1, 3, 10, 40, 40, 200))
        grow = rng.random() < (0.8 if n < 40 else 0.5)
        gone = rng.sample(
            sorted(there), min(len(there), rng.randrange(size // (4 if grow else 1) + 1))
        )
        free = sorted(keys - there | set(gone))
        come = rng.sample(free, min(len(free), rng.randrange(size + 1)))
        log.apply({"a": come}, {"a": gone})
        live = log.held["a"]
        assert log.log.rows == len(live)
        assert log.log.bytes == sum(map(len, log.store.blobs.values()))
        rows = sum(c["rows"] for c in log.log.chunks.values())
        entries = rows + sum(c["deaths_written"] for c in log.log.chunks.values())
        found.append(
            (rows / max(1, len(live)), entries / max(1, len(live)), log.store.read,
             log.store.written)
        )  # fmt: skip
        if rng.random() < 0.03:
            before = log.held
            log.reload()
            assert log.held == before
    return found


@pytest.mark.parametrize("seed", range(3))
def test_random_churn(seed: int) -> None:
    """Rows stay within three times the content, and no epoch rewrites much."""
    log = Logged()
    found = churn(log, seed)[20:]
    assert max(f[0] for f in found) <= 3
    assert max(f[1] for f in found) <= 4
    assert max(f[2] for f in found) <= 2 * GATHER
    assert max(f[3] for f in found) <= 4
    before = log.held
    log.reload()
    assert log.held == before


def test_bytes_stay_within_three_times_the_content() -> None:
    """With rows enough that the headers of chunks do not count."""
    rng, log = Random(5), Logged()
    log.apply({"a": list(range(1, 3000))}, {})
    worst = 0.0
    for _ in range(100):
        there = sorted(log.held["a"])
        gone = rng.sample(there, 150)
        free = sorted(set(range(1, 3300)) - set(there))
        log.apply({"a": rng.sample(free, 150)}, {"a": gone})
        plain = Log(Chunks(), {})
        plain.append(0, {"a": batch(sorted(log.held["a"]))}, np.zeros(0, np.int64))
        worst = max(worst, log.log.bytes / plain.bytes)
    assert worst <= 3


def test_chunks_that_compress_well_are_not_gathered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Full chunks look small once compressed; gathering those would rewrite all in every epoch."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 17)
    monkeypatch.setattr(sys.modules[__name__], "batch", partial(batch, text=200))
    log = Logged()
    for at in range(0, 20_000, 500):
        log.apply({"a": list(range(at + 1, at + 501))}, {})
    assert all(4 * len(b) < 1 << 17 for b in log.store.blobs.values())  # they do
    assert len(log.store.blobs) > 2 * GATHER
    for at in range(20_001, 20_011):
        log.apply({"a": [at]}, {})
        assert log.store.read <= GATHER + 1


def test_a_flipped_bit_is_found() -> None:
    log = Logged()
    log.apply({"a": [1, 2, 3]}, {})
    blob = bytearray(log.store.blobs[1])
    blob[-5] ^= 1
    log.store.blobs[1] = bytes(blob)
    with pytest.raises(StateError, match="FRAME"):
        log.reload()


def test_another_version_is_refused() -> None:
    store = Chunks()
    store.put(1, encode({"version": 99, "tables": []}, [b""]))
    with pytest.raises(StateError, match=r"LOG\.VERSION"):
        list(Log(store, {}).load())


def test_chunk_zero_is_not_part_of_the_log() -> None:
    log = Logged()
    log.store.put(0, b"kept by the stage")
    log.apply({"a": [1]}, {})
    log.reload()
    assert log.held == {"a": {1}}
    assert 0 in log.store.numbers()
