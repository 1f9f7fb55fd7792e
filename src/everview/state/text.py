"""Interned text in an arena: STRING and BINARY values as int64 codes that are equal when they are.

A code lives while something stored uses it. Codes made during an epoch and never used, and codes
whose last use went, are freed at the epoch's end; their bytes when the heap would have to grow.

Not here: the loops (kernels/text).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from everview.delta.vector import Array
from everview.kernels import text as kernel
from everview.state.arena import Arena

_SMALL_HEAP = 1 << 12


def bytes_and_offsets(pool: pa.Array) -> tuple[Array, Array]:
    """The bytes of an Arrow string or binary array and its int64[n + 1] offsets."""
    large = pa.types.is_large_string(pool.type) or pa.types.is_large_binary(pool.type)
    width = np.int64 if large else np.int32
    _, raw_offsets, data = pool.buffers()
    if not len(pool) or raw_offsets is None:
        return np.zeros(1, np.uint8), np.zeros(len(pool) + 1, np.int64)
    offsets = np.frombuffer(raw_offsets, width)[pool.offset : pool.offset + len(pool) + 1]
    if data is None or not data.size:
        return np.zeros(1, np.uint8), offsets.astype(np.int64)
    return np.frombuffer(data, np.uint8), offsets.astype(np.int64)


def hashes(pool: pa.Array) -> Array:
    """A uint64 hash per text of an Arrow array; depends on the bytes alone."""
    data, offsets = bytes_and_offsets(pool)
    out = np.zeros(len(pool), np.uint64)
    kernel.hash_texts(data, offsets, out)
    return out


class TextTable:
    """The interned texts of one arena."""

    def __init__(self, arena: Arena, name: str = "text") -> None:
        self.arena, self.name = arena, name
        self._doubtful: list[Array] = []
        self._room(0, 0)

    def _room(self, codes: int, size: int) -> None:
        a, n = self.arena, self.name
        counters = a.array(f"{n}.counters", np.int64, (), 5)
        least = int(counters[kernel.HIGH]) + codes + 2
        self.tx = kernel.Text(
            a.array(f"{n}.table", np.int32, (), 32),
            a.array(f"{n}.hashes", np.uint64, (), least),
            a.array(f"{n}.offset", np.int64, (), least),
            a.array(f"{n}.length", np.int32, (), least),
            a.array(f"{n}.uses", np.int32, (), least),
            a.array(f"{n}.free", np.int32, (), least),
            a.array(f"{n}.heap", np.uint8, (), _SMALL_HEAP),
            counters,
        )
        used = int(counters[kernel.USED]) + codes
        if 3 * used > 2 * len(self.tx.table):
            places = 1 << (3 * used).bit_length()
            self.tx = self.tx._replace(table=a.fresh(f"{n}.table", np.int32, (), places))
            kernel.refill(self.tx)
        self._heap_room(size)

    def _heap_room(self, size: int) -> None:
        """Room for `size` more bytes of text. Gaps are closed before the heap grows, so its size
        follows what it holds and not its history."""
        full = self.end + size >= len(self.tx.heap)
        if full and 4 * self.dead >= len(self.tx.heap):
            self._close_gaps(len(self.tx.heap))
        if self.end + size >= len(self.tx.heap):
            heap = self.arena.grow(f"{self.name}.heap", np.uint8, (), self.end + size + 1)
            self.tx = self.tx._replace(heap=heap)

    def _close_gaps(self, size: int) -> None:
        """A new heap of that many bytes, or what the text takes, without the dead bytes."""
        held = np.zeros(self.end - self.dead + 1, np.uint8)
        kernel.compact(self.tx, held)
        heap = self.arena.fresh(f"{self.name}.heap", np.uint8, (), max(size, len(held)))
        heap[: len(held)] = held
        self.tx = self.tx._replace(heap=heap)

    @property
    def end(self) -> int:
        return int(self.tx.counters[kernel.END])

    @property
    def dead(self) -> int:
        return int(self.tx.counters[kernel.DEAD])

    @property
    def used(self) -> int:
        return int(self.tx.counters[kernel.USED])

    def codes(self, pool: pa.Array) -> Array:
        """The code of each text of an Arrow string or binary array (no NULLs)."""
        data, offsets = bytes_and_offsets(pool)
        self._room(len(pool), int(offsets[-1] - offsets[0]))
        codes = np.zeros(len(pool), np.int64)
        fresh = np.zeros(len(pool), np.int32)
        n = kernel.intern(self.tx, data, offsets, codes, fresh)
        if n:
            self._doubtful.append(fresh[:n].copy())
        return codes

    def use(self, codes: Array, times: int) -> None:
        """Add uses; with negative `times` the codes may go at the epoch's end."""
        kernel.use(self.tx, codes, times)
        if times < 0:
            self._doubtful.append(codes)

    def texts(self, codes: Array, kind: pa.DataType) -> pa.Array:
        """The text of each code as an Arrow array of `kind` (string or binary)."""
        offsets = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(self.tx.length[codes], out=offsets[1:])
        data = np.zeros(max(int(offsets[-1]), 1), np.uint8)
        kernel.gather(self.tx, codes, offsets, data)
        if offsets[-1] >= 2**31:
            large = pa.large_string() if kind == pa.string() else pa.large_binary()
            return pa.Array.from_buffers(
                large, len(codes), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
            )
        narrow = offsets.astype(np.int32)
        return pa.Array.from_buffers(
            kind, len(codes), [None, pa.py_buffer(narrow), pa.py_buffer(data)]
        )

    def end_epoch(self) -> None:
        """Free what nothing uses; a heap that has become nearly empty shrinks."""
        for codes in self._doubtful:
            kernel.release(self.tx, codes)
        self._doubtful = []
        held = self.end - self.dead
        if len(self.tx.heap) > _SMALL_HEAP and 8 * held < len(self.tx.heap):
            self._close_gaps(max(_SMALL_HEAP, 2 * held))
