"""The stored rows of one copy of a relation: payload, edges, marks, the index on their key.

Not here: what happens to them in an epoch (operators/join), the loops (kernels/join).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from everview.delta.vector import Array, Vector
from everview.kernels import join as kernel
from everview.schema import Column, Policy
from everview.state.arena import Arena
from everview.state.index import KeyIndex
from everview.state.rows import Layout
from everview.state.text import TextTable


@dataclass(frozen=True, slots=True)
class CopySpec:
    """One copy: its columns as they arrive, its key among them (empty: the whole row, counted).

    `filtered`: rows that fail the copy's filter arrive too, marked; they hold their key only.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    policy: Policy = "trust"
    filtered: bool = False


class _KeyWords:
    """The words of a row by which the index knows it: its key's; without a key, all of them.

    A grouped sub-select may have a NULL in its key, and NULL is not 0: where a key column may be
    NULL, its bits among the row's null words are part of the key.
    """

    def __init__(self, layout: Layout, key: tuple[str, ...]) -> None:
        self.values = layout.columns_at(key) if key else np.arange(layout.width)
        self.nulls, self.mask = layout.null_words(key)
        self.width = len(self.values) + len(self.nulls)

    def of(self, words: Array) -> Array:
        """The key of every row of words int64[n, width]."""
        values = words[:, self.values]
        if not len(self.nulls):
            return np.ascontiguousarray(values)
        return np.concatenate([values, words[:, self.nulls] & self.mask], axis=1)

    def of_values(self, values: Array) -> Array:
        """The same keys, from foreign keys none of which is NULL."""
        if not len(self.nulls):
            return values
        none = np.zeros((len(values), len(self.nulls)), np.int64)
        return np.concatenate([values, none], axis=1)


class RowTable:
    """The stored rows of one copy."""

    def __init__(self, arena: Arena, texts: TextTable, spec: CopySpec, edges: int) -> None:
        self.spec, self.arena, self.edges = spec, arena, edges
        self.layout = Layout(spec.columns)
        self.texts = texts
        self.key = _KeyWords(self.layout, spec.key)
        self.index = KeyIndex(arena, f"index.{spec.name}", self.key.width)
        self.freed: list[Array] = []
        self.room(0)

    def room(self, more: int) -> None:
        a, n = self.arena, f"rows.{self.spec.name}"
        self.counters = a.array(f"{n}.counters", np.int64, (), 4)
        least = max(int(self.counters[2]) + more, int(self.counters[0])) + 2
        self.words = a.array(f"{n}.words", np.int64, (self.layout.width,), least)
        self.links = a.array(f"{n}.links", np.int32, (3 * self.edges,), len(self.words))
        self.marks = a.array(f"{n}.marks", np.int32, (3,), len(self.words))
        if not self.spec.key:
            self.counts = a.array(f"{n}.counts", np.int64, (), len(self.words))
        self.ids = a.array(f"{n}.ids", np.int64, (), len(self.words))
        self.free = a.array(f"{n}.free", np.int32, (), len(self.words))

    @property
    def used(self) -> int:
        return int(self.counters[2])

    @property
    def live(self) -> int:
        return int(self.counters[3])

    def times(self, slots: Array) -> Array:
        """How often each of these rows is there."""
        return np.ones(len(slots), np.int64) if self.spec.key else self.counts[slots]

    def take(self, n: int) -> Array:
        slots = np.zeros(n, np.int32)
        self.room(n)
        kernel.take_slots(self.free, self.counters, slots)
        return slots

    def locate(self, batch: pa.RecordBatch) -> Array:
        """The slot of each row of a logged batch, 0 where its key is not stored."""
        columns = {
            c.name: Vector.from_arrow(batch.column(c.name), c.type) for c in self.spec.columns
        }
        words = self.layout.words(columns, self.texts, batch.num_rows)
        entries = self.index.find(self.key.of(words))
        return np.where(entries != 0, self.index.ix.row[entries], 0)

    def end_epoch(self) -> None:
        for slots in self.freed:
            kernel.give_slots(self.free, self.counters, slots)
        self.freed = []
