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


class RowTable:
    """The stored rows of one copy."""

    def __init__(self, arena: Arena, texts: TextTable, spec: CopySpec, edges: int) -> None:
        self.spec, self.arena, self.edges = spec, arena, edges
        self.layout = Layout(spec.columns)
        self.texts = texts
        key = self.layout.columns_at(spec.key)
        self.key_at = key if spec.key else np.arange(self.layout.width)
        self.index = KeyIndex(arena, f"index.{spec.name}", len(self.key_at))
        self.freed: list[Array] = []
        self.room(0)

    def room(self, more: int) -> None:
        a, n = self.arena, f"rows.{self.spec.name}"
        self.counters = a.array(f"{n}.counters", np.int64, (), 4)
        least = max(int(self.counters[2]) + more, int(self.counters[0])) + 2
        self.words = a.array(f"{n}.words", np.int64, (self.layout.width,), least)
        self.links = a.array(f"{n}.links", np.int32, (3 * self.edges,), len(self.words))
        self.marks = a.array(f"{n}.marks", np.int32, (4,), len(self.words))
        self.ids = a.array(f"{n}.ids", np.int64, (), len(self.words))
        self.free = a.array(f"{n}.free", np.int32, (), len(self.words))

    @property
    def used(self) -> int:
        return int(self.counters[2])

    @property
    def live(self) -> int:
        return int(self.counters[3])

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
        keys = np.ascontiguousarray(words[:, self.key_at])
        entries = self.index.find(keys)
        return np.where(entries != 0, self.index.ix.row[entries], 0)

    def end_epoch(self) -> None:
        for slots in self.freed:
            kernel.give_slots(self.free, self.counters, slots)
        self.freed = []
