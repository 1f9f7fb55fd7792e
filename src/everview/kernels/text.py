"""Interned text: bytes -> code, with reference counts and a heap that is compacted.

    table[h] ──▶ code c     heap[offset[c] : offset[c] + length[c]]     hashes[c]     uses[c]
    counters [highest code, free codes, codes in use, heap end, dead heap bytes]

Code 0 is never used. A code with no uses lives until the end of its epoch (`release`).

Not here: Arrow arrays, growing (state/text).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from everview.kernels.index import mix

HIGH, FREE, USED, END, DEAD = 0, 1, 2, 3, 4


class Text(NamedTuple):
    table: Any  # int32[places]
    hashes: Any  # uint64[codes]
    offset: Any  # int64[codes]
    length: Any  # int32[codes]
    uses: Any  # int32[codes]
    free: Any  # int32[codes]
    heap: Any  # uint8[bytes]
    counters: Any  # int64[5]


@njit(cache=True, nogil=True, inline="always")
def hash_bytes(data: Any, start: int, end: int) -> Any:
    """The hash of data[start:end], eight bytes at a time."""
    h = np.uint64(0x13198A2E03707344) ^ np.uint64(end - start)
    word, k = np.uint64(0), np.uint64(0)
    for p in range(start, end):
        word |= np.uint64(data[p]) << k
        k += np.uint64(8)
        if k == np.uint64(64):
            h = mix(h, word)
            word, k = np.uint64(0), np.uint64(0)
    return mix(h, word)


@njit(cache=True, nogil=True)
def hash_texts(data: Any, offsets: Any, out: Any) -> None:
    """out uint64[n]: the hash of each text of an Arrow string array (offsets int64[n + 1])."""
    for i in range(out.shape[0]):
        out[i] = hash_bytes(data, offsets[i], offsets[i + 1])


@njit(cache=True, nogil=True)
def intern(tx: Text, data: Any, offsets: Any, codes: Any, fresh: Any) -> int:
    """codes int64[n]: the code of each text; new codes (no uses yet) also in fresh int32[n]."""
    mask = tx.table.shape[0] - 1
    n = 0
    for i in range(codes.shape[0]):
        start, length = offsets[i], offsets[i + 1] - offsets[i]
        h = hash_bytes(data, start, start + length)
        p = np.int64(h & np.uint64(mask))
        found = 0
        while tx.table[p] != 0:
            c = tx.table[p]
            if tx.hashes[c] == h and tx.length[c] == length:
                equal = True
                for b in range(length):
                    if tx.heap[tx.offset[c] + b] != data[start + b]:
                        equal = False
                        break
                if equal:
                    found = c
                    break
            p = (p + 1) & mask
        if found == 0:
            if tx.counters[FREE] > 0:
                tx.counters[FREE] -= 1
                found = tx.free[tx.counters[FREE]]
            else:
                tx.counters[HIGH] += 1
                found = tx.counters[HIGH]
            end = tx.counters[END]
            for b in range(length):
                tx.heap[end + b] = data[start + b]
            tx.counters[END] = end + length
            tx.counters[USED] += 1
            tx.hashes[found] = h
            tx.offset[found] = end
            tx.length[found] = length
            tx.uses[found] = 0
            tx.table[p] = found
            fresh[n] = found
            n += 1
        codes[i] = found
    return n


@njit(cache=True, nogil=True)
def use(tx: Text, codes: Any, times: int) -> None:
    """Add `times` uses (may be negative) to every code; 0 is skipped (a NULL)."""
    for i in range(codes.shape[0]):
        if codes[i] != 0:
            tx.uses[codes[i]] += times


@njit(cache=True, nogil=True)
def release(tx: Text, codes: Any) -> None:
    """Free those of `codes` that have no uses; repeats do no harm."""
    mask = tx.table.shape[0] - 1
    for i in range(codes.shape[0]):
        c = codes[i]
        if c == 0 or tx.uses[c] != 0 or tx.length[c] < 0:
            continue
        hole = np.int64(tx.hashes[c] & np.uint64(mask))
        while tx.table[hole] != c:
            hole = (hole + 1) & mask
        p = hole
        while True:
            p = (p + 1) & mask
            other = tx.table[p]
            if other == 0:
                break
            home = np.int64(tx.hashes[other] & np.uint64(mask))
            if ((p - home) & mask) >= ((p - hole) & mask):
                tx.table[hole] = other
                hole = p
        tx.table[hole] = 0
        tx.counters[DEAD] += tx.length[c]
        tx.counters[USED] -= 1
        tx.length[c] = -1
        tx.free[tx.counters[FREE]] = c
        tx.counters[FREE] += 1


@njit(cache=True, nogil=True)
def refill(tx: Text) -> None:
    """Put every used code into an empty (grown) table."""
    mask = tx.table.shape[0] - 1
    for c in range(1, tx.counters[HIGH] + 1):
        if tx.length[c] >= 0:
            p = np.int64(tx.hashes[c] & np.uint64(mask))
            while tx.table[p] != 0:
                p = (p + 1) & mask
            tx.table[p] = c


@njit(cache=True, nogil=True)
def compact(tx: Text, heap: Any) -> None:
    """Copy the text of all used codes to a new heap, without gaps."""
    end = 0
    for c in range(1, tx.counters[HIGH] + 1):
        if tx.length[c] >= 0:
            for b in range(tx.length[c]):
                heap[end + b] = tx.heap[tx.offset[c] + b]
            tx.offset[c] = end
            end += tx.length[c]
    tx.counters[END] = end
    tx.counters[DEAD] = 0


@njit(cache=True, nogil=True)
def gather(tx: Text, codes: Any, offsets: Any, data: Any) -> None:
    """The text of codes as an Arrow string array: offsets int32[n + 1] given, data uint8 filled."""
    for i in range(codes.shape[0]):
        c, at = codes[i], offsets[i]
        for b in range(offsets[i + 1] - at):
            data[at + b] = tx.heap[tx.offset[c] + b]
