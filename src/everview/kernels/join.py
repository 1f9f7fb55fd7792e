"""The foreign-key join's loops: admit changes, link rows under entries, walk up.

Rows of one relation copy:                         Lists: all rows that reference one entry
    links[slot, 3*e + 0]  entry referenced by edge e     head[entry] ─▶ slot ⇄ slot ⇄ slot
    links[slot, 3*e + 1]  next row of that entry's list
    links[slot, 3*e + 2]  previous row
    marks[slot, ENTRY | SUPPORT | FLAGS]
    counts[slot]          how often the row is there, where it has no key

SUPPORT counts the edges on which the row is live; a row with full support that PASSes its filter is
a candidate; the operator asserts candidates and sets LIVE. All of an epoch's deletes go root
first, then all inserts leaves first, so each kernel handles one copy and one edge.

Not here: which copies, which order, assertions, payload (operators/join).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from everview.kernels.index import Index, add_all, add_given

ENTRY, SUPPORT, FLAGS = 0, 1, 2
LIVE, PASS = 1, 2

STRICT, UPSERT, TRUST = 0, 1, 2
GOOD, DUPLICATE_KEY, MISSING_ROW = 0, 1, 2
ABSENT, UNCHANGED = -1, -2


@njit(cache=True, nogil=True)
def admit(
    ix: Index, keys: Any, op: Any, policy: int, mark: Any, touched: Any, now: Any, verdict: Any
) -> int:
    """Changes of keyed rows, in order -> per touched key the net effect; returns how many keys.

    keys int64[n, words]; op int8[n] (+1, -1, +2); mark int32[entries], zero, left zero.
    touched int32[n]: entries, by first touch; now int64[n]: index of the change whose image holds
    at the end, ABSENT, or UNCHANGED (the stored row stays). verdict int8[n].
    """
    n, row = 0, ix.row
    entries = np.empty(op.shape[0], np.int32)
    add_all(ix, keys, entries)
    for i in range(op.shape[0]):
        e = entries[i]
        m = mark[e] - 1
        if m < 0:
            m = n
            n += 1
            mark[e] = n
            touched[m] = e
            now[m] = UNCHANGED if row[e] != 0 else ABSENT
        there = now[m] != ABSENT
        verdict[i] = GOOD
        if op[i] == -1:
            if there:
                now[m] = ABSENT
            else:
                verdict[i] = MISSING_ROW
        elif there and op[i] == 1 and policy == STRICT:
            verdict[i] = DUPLICATE_KEY
        elif not there and op[i] == 2 and policy != UPSERT:
            verdict[i] = MISSING_ROW
        else:
            now[m] = i
    for m in range(n):
        mark[touched[m]] = 0
    return n


@njit(cache=True, nogil=True)
def admit_counted(
    ix: Index, keys: Any, weight: Any, counts: Any, strict: bool,
    mark: Any, touched: Any, now: Any, first: Any, verdict: Any,
) -> int:  # fmt: skip
    """Weighted changes of rows without key -> per touched row its new multiplicity.

    weight int64[n]; counts int64[rows]; now int64[n]: multiplicity at the end; first
    int64[n]: a change that shows the row. `strict`: a change that would make it negative is refused
    (verdict MISSING_ROW).
    """
    n, row = 0, ix.row
    entries = np.empty(weight.shape[0], np.int32)
    add_all(ix, keys, entries)
    for i in range(weight.shape[0]):
        e = entries[i]
        m = mark[e] - 1
        if m < 0:
            m = n
            n += 1
            mark[e] = n
            touched[m] = e
            first[m] = i
            now[m] = counts[row[e]] if row[e] != 0 else 0
        verdict[i] = GOOD
        if strict and now[m] + weight[i] < 0:
            verdict[i] = MISSING_ROW
        else:
            now[m] += weight[i]
    for m in range(n):
        mark[touched[m]] = 0
    return n


@njit(cache=True, nogil=True)
def link(
    links: Any, marks: Any, edge: int, slots: Any, ix: Index, keys: Any, given: Any, below: Any
) -> None:
    """Put rows `slots` into the lists of the entries they reference by `edge`; count live ones.

    keys int64[n, words]: the foreign key of each; given bool[n]: FALSE where it is NULL (no entry,
    never live); below int32[rows, 3]: marks of the referenced copy.
    """
    at, row, head, count = 3 * edge, ix.row, ix.head, ix.count
    entries = np.empty(slots.shape[0], np.int32)
    add_given(ix, keys, given, entries)
    for i in range(slots.shape[0]):
        s, e = slots[i], entries[i]
        links[s, at] = e
        links[s, at + 1] = 0
        links[s, at + 2] = 0
        if e == 0:
            continue
        h = head[e]
        links[s, at + 1] = h
        if h != 0:
            links[h, at + 2] = s
        head[e] = s
        count[e] += 1
        r = row[e]
        if r != 0 and below[r, FLAGS] & LIVE:
            marks[s, SUPPORT] += 1


@njit(cache=True, nogil=True)
def unlink(links: Any, edge: int, slots: Any, ix: Index) -> None:
    """Take rows `slots` out of the lists of the entries they reference by `edge`."""
    at, head, count = 3 * edge, ix.head, ix.count
    for i in range(slots.shape[0]):
        s = slots[i]
        e = links[s, at]
        if e == 0:
            continue
        after, before = links[s, at + 1], links[s, at + 2]
        if before != 0:
            links[before, at + 1] = after
        else:
            head[e] = after
        if after != 0:
            links[after, at + 2] = before
        count[e] -= 1


@njit(cache=True, nogil=True)
def lower(links: Any, marks: Any, edge: int, entries: Any, head: Any, out: Any) -> int:
    """The rows of `entries` are no longer live: rows that reference them lose one support.

    out int32[sum of their counts]: rows that were live and now wait. Returns how many.
    """
    at, n = 3 * edge, 0
    for i in range(entries.shape[0]):
        s = head[entries[i]]
        while s != 0:
            marks[s, SUPPORT] -= 1
            if marks[s, FLAGS] & LIVE:
                marks[s, FLAGS] &= ~LIVE
                out[n] = s
                n += 1
            s = links[s, at + 1]
    return n


@njit(cache=True, nogil=True)
def lift(links: Any, marks: Any, edge: int, entries: Any, head: Any, edges: int, out: Any) -> int:
    """The rows of `entries` became live: rows that reference them gain one support.

    out int32[sum of their counts]: candidates (full support, PASS). Returns how many.
    """
    at, n = 3 * edge, 0
    for i in range(entries.shape[0]):
        s = head[entries[i]]
        while s != 0:
            marks[s, SUPPORT] += 1
            if marks[s, SUPPORT] == edges and marks[s, FLAGS] & PASS:
                out[n] = s
                n += 1
            s = links[s, at + 1]
    return n


@njit(cache=True, nogil=True)
def take_slots(free: Any, counters: Any, out: Any) -> None:
    """out int32[n]: free slots, from the stack first. counters: [highest, free, used, ...]."""
    for i in range(out.shape[0]):
        if counters[1] > 0:
            counters[1] -= 1
            out[i] = free[counters[1]]
        else:
            counters[0] += 1
            out[i] = counters[0]
    counters[2] += out.shape[0]


@njit(cache=True, nogil=True)
def give_slots(free: Any, counters: Any, slots: Any) -> None:
    """Put slots back on the stack, the last first, so that they are taken again in order."""
    for i in range(slots.shape[0] - 1, -1, -1):
        free[counters[1]] = slots[i]
        counters[1] += 1
    counters[2] -= slots.shape[0]


@njit(cache=True, nogil=True)
def stored(words: Any, slots: Any, new: Any, at: Any, out: Any) -> None:
    """out bool[n]: stored row slots[i] equals new[at[i]], word by word."""
    for i in range(slots.shape[0]):
        out[i] = True
        for w in range(words.shape[1]):
            if words[slots[i], w] != new[at[i], w]:
                out[i] = False
                break


@njit(cache=True, nogil=True)
def place(words: Any, slots: Any, new: Any, at: Any) -> None:
    """words[slots[i]] = new[at[i]]."""
    for i in range(slots.shape[0]):
        for w in range(words.shape[1]):
            words[slots[i], w] = new[at[i], w]
