"""The log: what is durable. A shard's rows as chunks of Arrow blobs, and who died.

    chunk 7   rows  lineitem: #0 .. #811   orders: #812 .. #900      row id = chunk << 32 | number
              dead  ids of rows in older chunks that are gone

The content is every row of every chunk that no chunk declares dead; order carries no meaning, so a
rebuild is one bulk load. Each epoch appends its new rows and its dead ids: cost follows the change.
Stored rows remember their id, so a delete is logged as a few bytes.

Compaction goes chunk by chunk, in the transaction of the epoch: a chunk with nothing left is
removed unread; while more than half of the log is dead, the emptiest chunks are rewritten as far as
the changes since have paid for reading them (one chunk, or more in an epoch that pays by itself);
and when sixteen chunks of about one size have gathered they become one. So the log stays within a
small factor of the content, no epoch does more than a few chunks of it, and a window that slides,
whose oldest chunk dies next, rewrites nothing.

Not here: where chunks are kept (a Store: Spark's state or a dictionary), who the tables are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from everview.delta.frame import batch_bytes, batch_of, decode, encode
from everview.delta.vector import Array
from everview.errors import StateError

CHUNK_BYTES = 8 << 20
GATHER = 16
VERSION = 2


class Store(Protocol):
    """A shard's durable chunks; the log's have numbers from 1. Changes take effect with the
    host's commit, all or none."""

    def numbers(self) -> list[int]: ...

    def has(self, number: int) -> bool: ...

    def get(self, number: int) -> bytes: ...

    def put(self, number: int, blob: bytes) -> None: ...

    def remove(self, number: int) -> None: ...


class Table(Protocol):
    """What the log needs of the stored rows of one kind."""

    ids: Array  # int64 by slot: the row's id

    def locate(self, batch: pa.RecordBatch) -> Array:
        """The slot of each row of a logged batch, 0 where its key is not stored."""
        ...


class Log:
    """The chunks of one shard. `book` is its bookkeeping, kept in the arena's scalars."""

    def __init__(self, store: Store, scalars: dict[str, Any], stage: int = 0) -> None:
        self.store, self.stage, self.earned = store, stage, 0
        self.book: dict[str, Any] = scalars.setdefault(
            "log", {"next": 1, "credit": 0, "chunks": {}}
        )

    @property
    def chunks(self) -> dict[str, Any]:
        chunks: dict[str, Any] = self.book["chunks"]
        return chunks

    @property
    def bytes(self) -> int:
        return sum(c["bytes"] for c in self.chunks.values())

    @property
    def rows(self) -> int:
        return sum(c["live"] for c in self.chunks.values())

    def append(
        self, epoch: int, new: Mapping[str, pa.RecordBatch], dead: Array
    ) -> dict[str, Array]:
        """Log an epoch's new rows by table and dead ids; the ids given to the new rows."""
        for chunk, n in zip(*np.unique(dead >> 32, return_counts=True), strict=True):
            self.chunks[str(chunk)]["live"] -= int(n)
        ids = self._write_all(epoch, new, dead)
        self.earned = 2 * sum(b.num_rows for b in new.values()) + 2 * len(dead)
        self.book["credit"] += self.earned
        return ids

    def compact(self, epoch: int, tables: Mapping[str, Table]) -> None:
        """Drop empty chunks, and rewrite as many others as the changes so far have paid for."""
        while self._drop_empty():
            pass
        newest = str(self.book["next"] - 1)
        half = [
            n for n, c in self.chunks.items() if n != newest and 2 * _content_bytes(c) < c["bytes"]
        ]
        excess = self.bytes - 2 * sum(map(_row_bytes, self.chunks.values()))
        spent, chosen = 0, list[str]()
        for n in sorted(half, key=lambda n: (_content(self.chunks[n]), int(n))):
            chunk = self.chunks[n]
            cost = chunk["rows"] + chunk["deaths_written"]
            too_much = chosen and spent + cost > 2 * self.earned
            if excess <= 0 or too_much or spent + cost > self.book["credit"]:
                break
            chosen.append(n)
            spent += cost
            excess -= chunk["bytes"] - _content_bytes(chunk)
        if chosen:
            self.book["credit"] -= spent
            self._rewrite(epoch, chosen, tables)
        classes: dict[int, list[str]] = {}
        for n, c in self.chunks.items():
            if c["raw"] < CHUNK_BYTES // 2:
                classes.setdefault(c["raw"].bit_length() // 2, []).append(n)
        for members in classes.values():
            if len(members) >= GATHER:
                self._rewrite(epoch, members, tables)
        while self._drop_empty():
            pass
        self.book["credit"] = min(self.book["credit"], 4 * self.rows + 1024)

    def load(self) -> Iterator[tuple[str, pa.RecordBatch, Array]]:
        """The content, chunk by chunk: (table, live rows, their ids). Rebuilds the bookkeeping."""
        decoded = []
        for number in sorted(n for n in self.store.numbers() if n > 0):
            blob = self.store.get(number)
            decoded.append((number, len(blob), *_decode(number, blob)))
        present = {number for number, *_ in decoded}
        dead = np.concatenate([d for _, _, _, d, _ in decoded] or [np.zeros(0, np.int64)])
        dead = np.sort(dead[np.isin(dead >> 32, sorted(present))])
        self.book.update(next=max(present, default=0) + 1, credit=0, chunks={})
        for number, size, sections, deaths, death_bytes in decoded:
            gone = np.searchsorted(dead, [number << 32, (number + 1) << 32])
            self._record(number, sections, deaths, (death_bytes, size), present)
            self.chunks[str(number)]["live"] -= int(gone[1] - gone[0])
            for table, batch, ids in _with_ids(number, sections):
                alive = ~np.isin(ids, dead[gone[0] : gone[1]])
                if alive.any():
                    yield table, batch.filter(pa.array(alive)), ids[alive]

    # ------------------------------------------------------------------ inside

    def _write_all(
        self, epoch: int, new: Mapping[str, pa.RecordBatch], dead: Array
    ) -> dict[str, Array]:
        """Write rows and dead ids as chunks of bounded size; the ids given to the rows."""
        ids: dict[str, list[Array]] = {t: [np.zeros(0, np.int64)] for t in new}
        group: list[tuple[str, pa.RecordBatch]] = []
        for piece in (p for t, b in new.items() for p in _pieces(t, b)):
            if group and sum(b.nbytes for _, b in group) + piece[1].nbytes > CHUNK_BYTES:
                self._write(epoch, group, dead, ids)
                group, dead = [], dead[:0]
            group.append(piece)
        if group or len(dead):
            self._write(epoch, group, dead, ids)
        return {t: np.concatenate(parts) for t, parts in ids.items()}

    def _write(
        self, epoch: int, group: list[tuple[str, pa.RecordBatch]], dead: Array,
        ids: dict[str, list[Array]],
    ) -> None:  # fmt: skip
        number = int(self.book["next"])
        self.book["next"] = number + 1
        header = {
            "version": VERSION, "stage": self.stage, "epoch": epoch, "instant": None, "clock": None,
            "tables": [t for t, _ in group],
        }  # fmt: skip
        deaths = np.sort(dead)
        parts = [_ids_bytes(deaths), *(batch_bytes(b) for _, b in group)]
        blob = encode(header | {"deaths": len(deaths)}, parts)
        self.store.put(number, blob)
        present = {int(n) for n in self.chunks} | {number}
        self._record(number, group, deaths, (len(parts[0]), len(blob)), present)
        for table, _, given in _with_ids(number, group):
            ids[table].append(given)

    def _record(
        self, number: int, sections: list[tuple[str, pa.RecordBatch]], deaths: Array,
        sizes: tuple[int, int], present: set[int],
    ) -> None:  # fmt: skip
        """Take a chunk into the book; `sizes`: bytes of its deaths, and in all. Chunks are cut and
        gathered by `raw`, their size before compression: by what is left of it full chunks would
        look small for ever."""
        targets, counts = np.unique(deaths >> 32, return_counts=True)
        rows = sum(b.num_rows for _, b in sections)
        self.chunks[str(number)] = {
            "rows": rows,
            "live": rows,
            "bytes": sizes[1],
            "death_bytes": sizes[0],
            "raw": max(sizes[1], deaths.nbytes + sum(b.nbytes for _, b in sections)),
            "deaths_written": len(deaths),
            "deaths": {
                str(t): int(n) for t, n in zip(targets, counts, strict=True) if int(t) in present
            },
        }

    def _drop_empty(self) -> bool:
        empty = [n for n, c in self.chunks.items() if not _content(c)]
        for n in empty:
            self.store.remove(int(n))
        self._forget(empty)
        return bool(empty)

    def _forget(self, gone: list[str]) -> None:
        for n in gone:
            del self.chunks[n]
        for c in self.chunks.values():
            for n in gone:
                c["deaths"].pop(n, None)

    def _rewrite(self, epoch: int, members: list[str], tables: Mapping[str, Table]) -> None:
        """Write what is left of these chunks as one new chunk (or a few, if it is large)."""
        kept: dict[str, list[pa.RecordBatch]] = {}
        slots: dict[str, list[Array]] = {}
        deaths = []
        for n in members:
            sections, dead, _ = _decode(int(n), self.store.get(int(n)))
            deaths.append(dead)
            for name, batch, ids in _with_ids(int(n), sections):
                at = tables[name].locate(batch)
                alive = (at != 0) & (tables[name].ids[at] == ids)
                if alive.any():
                    kept.setdefault(name, []).append(batch.filter(pa.array(alive)))
                    slots.setdefault(name, []).append(at[alive])
        for n in members:
            self.store.remove(int(n))
        self._forget(members)
        present = {int(n) for n in self.chunks}
        dead = np.concatenate(deaths)
        dead = dead[np.isin(dead >> 32, sorted(present))]
        batches = {t: pa.concat_batches(b) for t, b in kept.items()}
        for t, ids in self._write_all(epoch, batches, dead).items():
            tables[t].ids[np.concatenate(slots[t])] = ids


def _content(chunk: dict[str, Any]) -> int:
    """Rows alive and deaths that still matter."""
    return int(chunk["live"]) + int(sum(chunk["deaths"].values()))


def _row_bytes(chunk: dict[str, Any]) -> float:
    """About how many of its bytes are rows that are there."""
    rows: float = (chunk["bytes"] - chunk["death_bytes"]) * chunk["live"] / max(1, chunk["rows"])
    return rows


def _content_bytes(chunk: dict[str, Any]) -> float:
    """About how many are those, and deaths that still matter."""
    deaths = chunk["death_bytes"] * sum(chunk["deaths"].values()) / max(1, chunk["deaths_written"])
    return _row_bytes(chunk) + float(deaths)


def _ids_bytes(ids: Array) -> bytes:
    """Sorted ids, small: neighbours die together."""
    if not len(ids):
        return b""
    packed: bytes = pa.compress(np.diff(ids, prepend=0).tobytes(), "zstd", asbytes=True)
    return packed


def _ids_of(part: memoryview, count: int) -> Array:
    if not count:
        return np.zeros(0, np.int64)
    steps = np.frombuffer(pa.decompress(part, 8 * count, "zstd"), np.int64)
    return np.cumsum(steps)


def _pieces(table: str, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The batch in slices of at most about a chunk's size."""
    if not batch.num_rows:
        return
    n = max(1, -(-batch.nbytes // CHUNK_BYTES))
    step = -(-batch.num_rows // n)
    for at in range(0, batch.num_rows, step):
        yield table, batch.slice(at, step)


def _decode(number: int, blob: bytes) -> tuple[list[tuple[str, pa.RecordBatch]], Array, int]:
    """Rows, deaths, and the bytes that the deaths take."""
    header, parts = decode(blob)
    if header["version"] != VERSION:
        raise StateError("LOG.VERSION", f"log chunk {number} has version {header['version']}")
    deaths = _ids_of(parts[0], header["deaths"])
    return list(zip(header["tables"], map(batch_of, parts[1:]), strict=True)), deaths, len(parts[0])


def _with_ids(
    number: int, sections: list[tuple[str, pa.RecordBatch]]
) -> Iterator[tuple[str, pa.RecordBatch, Array]]:
    at = number << 32
    for table, batch in sections:
        yield table, batch, np.arange(at, at + batch.num_rows, dtype=np.int64)
        at += batch.num_rows
