"""The index: key words -> entry, an open-addressed hash table without tombstones.

    table[h] ──▶ entry e          0: free place          capacity a power of two, at most 2/3 full
                  keys[e, :]      the key's words        entry 0 is never used: 0 means "none"
                  row[e]          slot of its row        0: no row yet (only referenced)
                  head[e]         first referencing slot 0: nobody
                  count[e]        how many reference it
    counters      [highest entry ever used, entries on the free stack, entries in use]

An erased place is closed by shifting the run behind it back, so nothing grows with history.
Callers make room first (`entries + what may come` below the capacities); kernels never grow.
Loops over rows take the arrays out of the Index first and inline what they call: passing an Index,
or reading a field of it, costs several times what a probe costs.

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


@njit(cache=True, nogil=True)
def add_all(ix: Index, keys: Any, out: Any) -> None:
    """out int32[n]: the entry of every key row, made where missing."""
    add_given(ix, keys, np.ones(keys.shape[0], np.bool_), out)


@njit(cache=True, nogil=True)
def add_given(ix: Index, keys: Any, given: Any, out: Any) -> None:
    """out int32[n]: the entry of every key row, made where missing; 0 where not given[i]."""
    table, held, row, head, count, free, counters = ix
    mask = table.shape[0] - 1
    idle, high, used = counters[FREE], counters[HIGH], counters[USED]
    for i in range(keys.shape[0]):
        if not given[i]:
            out[i] = 0
            continue
        p = np.int64(hash_row(keys, i) & np.uint64(mask))
        e = table[p]
        while e != 0 and not same(held, e, keys, i):
            p = (p + 1) & mask
            e = table[p]
        if e == 0:
            if idle > 0:
                idle -= 1
                e = free[idle]
            else:
                high += 1
                e = np.int32(high)
            used += 1
            for w in range(keys.shape[1]):
                held[e, w] = keys[i, w]
            row[e] = 0
            head[e] = 0
            count[e] = 0
            table[p] = e
        out[i] = e
    counters[FREE], counters[HIGH], counters[USED] = idle, high, used


@njit(cache=True, nogil=True)
def find_all(ix: Index, keys: Any, out: Any) -> None:
    """out int32[n]: the entry of every key row, 0 where there is none."""
    table, held = ix.table, ix.keys
    mask = table.shape[0] - 1
    for i in range(keys.shape[0]):
        p = np.int64(hash_row(keys, i) & np.uint64(mask))
        e = table[p]
        while e != 0 and not same(held, e, keys, i):
            p = (p + 1) & mask
            e = table[p]
        out[i] = e


@njit(cache=True, nogil=True)
def drop_unused(ix: Index, entries: Any) -> int:
    """Free those of `entries` that have neither a row nor references; repeats do no harm."""
    table, keys, row, head, count, free, counters = ix
    mask = table.shape[0] - 1
    idle, n = counters[FREE], 0
    for i in range(entries.shape[0]):
        e = entries[i]
        if row[e] != 0 or head[e] != 0 or count[e] != 0:
            continue
        hole = np.int64(hash_row(keys, e) & np.uint64(mask))
        while table[hole] != 0 and table[hole] != e:
            hole = (hole + 1) & mask
        if table[hole] == 0:  # dropped before
            continue
        p = (hole + 1) & mask
        while table[p] != 0:
            home = np.int64(hash_row(keys, table[p]) & np.uint64(mask))
            if ((p - home) & mask) >= ((p - hole) & mask):
                table[hole] = table[p]
                hole = p
            p = (p + 1) & mask
        table[hole] = 0
        free[idle] = e
        idle += 1
        n += 1
    counters[FREE] = idle
    counters[USED] -= n
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
