"""The index: key words -> entry, an open-addressed hash table without tombstones.

    table[h] ──▶ entry e          0: free place          capacity a power of two, at most 2/3 full
                  keys[e, :]      the key's words        entry 0 is never used: 0 means "none"
                  row[e]          slot of its row        0: no row yet (only referenced)
                  head[e]         first referencing slot 0: nobody
                  count[e]        how many reference it
    counters      [highest entry ever used, entries on the free stack, entries in use]

An erased place is closed by shifting the run behind it back, so nothing grows with history.
Callers make room first (`entries + what may come` below the capacities); kernels never grow.
What is called per row is inlined: passing an Index costs ten times what a probe costs.

Not here: growing and memory (state/index), rows and edges (kernels/join).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

HIGH, FREE, USED = 0, 1, 2


class Index(NamedTuple):
    """The arrays of one index, as kernels take them."""

    table: Any  # int32[places]
    keys: Any  # int64[entries, words]
    row: Any  # int32[entries]
    head: Any  # int32[entries]
    count: Any  # int32[entries]
    free: Any  # int32[entries] stack of free entries
    counters: Any  # int64[3]


@njit(cache=True, nogil=True, inline="always")
def mix(h: Any, word: Any) -> Any:
    """Stir one more 64-bit word into a hash."""
    x = np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(32)
    h = (h ^ x) * np.uint64(0xD6E8FEB86659FD93)
    return h ^ (h >> np.uint64(29))


@njit(cache=True, nogil=True, inline="always")
def hash_row(keys: Any, i: int) -> Any:
    """The hash of row i of an int64[n, words] array."""
    h = np.uint64(0x243F6A8885A308D3)
    for w in range(keys.shape[1]):
        h = mix(h, keys[i, w])
    return h


@njit(cache=True, nogil=True)
def hash_rows(keys: Any, out: Any) -> None:
    """out uint64[n]: the hash of every row of keys int64[n, words]."""
    for i in range(keys.shape[0]):
        out[i] = hash_row(keys, i)


@njit(cache=True, nogil=True, inline="always")
def same(a: Any, i: int, b: Any, j: int) -> bool:
    """Row i of a equals row j of b."""
    for w in range(a.shape[1]):  # noqa: SIM110  compiled: a generator would not inline
        if a[i, w] != b[j, w]:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def find(ix: Index, keys: Any, i: int) -> Any:
    """The entry of key row i, or 0."""
    mask = ix.table.shape[0] - 1
    p = np.int64(hash_row(keys, i) & np.uint64(mask))
    while True:
        e = ix.table[p]
        if e == 0 or same(ix.keys, e, keys, i):
            return e
        p = (p + 1) & mask


@njit(cache=True, nogil=True, inline="always")
def add(ix: Index, keys: Any, i: int) -> Any:
    """The entry of key row i; a new, empty one if there was none."""
    mask = ix.table.shape[0] - 1
    p = np.int64(hash_row(keys, i) & np.uint64(mask))
    while True:
        e = ix.table[p]
        if e == 0:
            break
        if same(ix.keys, e, keys, i):
            return e
        p = (p + 1) & mask
    if ix.counters[FREE] > 0:
        ix.counters[FREE] -= 1
        e = ix.free[ix.counters[FREE]]
    else:
        ix.counters[HIGH] += 1
        e = np.int32(ix.counters[HIGH])
    ix.counters[USED] += 1
    for w in range(keys.shape[1]):
        ix.keys[e, w] = keys[i, w]
    ix.row[e] = 0
    ix.head[e] = 0
    ix.count[e] = 0
    ix.table[p] = e
    return e


@njit(cache=True, nogil=True, inline="always")
def drop(ix: Index, e: int) -> None:
    """Free entry e and close its place in the table."""
    mask = ix.table.shape[0] - 1
    hole = np.int64(hash_row(ix.keys, e) & np.uint64(mask))
    while ix.table[hole] != e:
        hole = (hole + 1) & mask
    p = hole
    while True:
        p = (p + 1) & mask
        other = ix.table[p]
        if other == 0:
            break
        home = np.int64(hash_row(ix.keys, other) & np.uint64(mask))
        if ((p - home) & mask) >= ((p - hole) & mask):
            ix.table[hole] = other
            hole = p
    ix.table[hole] = 0
    ix.free[ix.counters[FREE]] = e
    ix.counters[FREE] += 1
    ix.counters[USED] -= 1


@njit(cache=True, nogil=True)
def add_all(ix: Index, keys: Any, out: Any) -> None:
    """out int32[n]: the entry of every key row, made where missing."""
    for i in range(keys.shape[0]):
        out[i] = add(ix, keys, i)


@njit(cache=True, nogil=True)
def find_all(ix: Index, keys: Any, out: Any) -> None:
    """out int32[n]: the entry of every key row, 0 where there is none."""
    for i in range(keys.shape[0]):
        out[i] = find(ix, keys, i)


@njit(cache=True, nogil=True)
def drop_unused(ix: Index, entries: Any) -> int:
    """Free those of `entries` that have neither a row nor references; repeats do no harm."""
    n = 0
    for i in range(entries.shape[0]):
        e = entries[i]
        if ix.row[e] == 0 and ix.head[e] == 0 and ix.count[e] == 0 and find(ix, ix.keys, e) == e:
            drop(ix, e)
            n += 1
    return n


@njit(cache=True, nogil=True)
def refill(ix: Index) -> None:
    """Put every used entry into an empty (grown) table. Free entries must be on the free stack."""
    mask = ix.table.shape[0] - 1
    high = ix.counters[HIGH]
    idle = np.zeros(high + 1, np.bool_)
    for i in range(ix.counters[FREE]):
        idle[ix.free[i]] = True
    for e in range(1, high + 1):
        if not idle[e]:
            p = np.int64(hash_row(ix.keys, e) & np.uint64(mask))
            while ix.table[p] != 0:
                p = (p + 1) & mask
            ix.table[p] = e
