"""A growing index in an arena: key words -> entry (see kernels/index for the arrays).

Not here: the loops (kernels/index), rows (operators/join), group states (operators/group).
"""

from __future__ import annotations

import numpy as np

from everview.delta.vector import Array
from everview.kernels import index as kernel
from everview.state.arena import Arena


class KeyIndex:
    """The index `name` of an arena, for keys of `words` int64 words (0 words: one key only)."""

    def __init__(self, arena: Arena, name: str, words: int) -> None:
        self.arena, self.name, self.words = arena, name, words
        self.room(0)

    def room(self, more: int) -> None:
        """Make room for `more` new entries; `ix` is fresh afterwards."""
        a, n = self.arena, self.name
        counters = a.array(f"{n}.counters", np.int64, (), 3)
        entries = int(counters[kernel.HIGH]) - int(counters[kernel.FREE]) + more + 2
        least = max(entries, int(counters[kernel.HIGH]) + 1)
        keys = a.array(f"{n}.keys", np.int64, (self.words,), least)
        row = a.array(f"{n}.row", np.int32, (), len(keys))
        head = a.array(f"{n}.head", np.int32, (), len(keys))
        count = a.array(f"{n}.count", np.int32, (), len(keys))
        free = a.array(f"{n}.free", np.int32, (), len(keys))
        table = a.array(f"{n}.table", np.int32, (), 32)
        used = int(counters[kernel.USED]) + more
        self.ix = kernel.Index(table, keys, row, head, count, free, counters)
        if 3 * used > 2 * len(table):
            places = 1 << (3 * used).bit_length()
            self.ix = self.ix._replace(table=a.fresh(f"{n}.table", np.int32, (), places))
            kernel.refill(self.ix)

    @property
    def used(self) -> int:
        return int(self.ix.counters[kernel.USED])

    def entries(self, keys: Array) -> Array:
        """The entry of each key row (int64[n, words]), made where missing."""
        self.room(len(keys))
        out = np.zeros(len(keys), np.int32)
        kernel.add_all(self.ix, keys, out)
        return out

    def find(self, keys: Array) -> Array:
        """The entry of each key row, 0 where there is none."""
        out = np.zeros(len(keys), np.int32)
        kernel.find_all(self.ix, keys, out)
        return out
