"""Delta: many changes, columnar, read as a sum.

    columns  name -> Vector        one entry per output column, in order
    weight   int64 per row         +1 appears, -1 disappears, any other multiplicity
    instant  int64 per row or None the step inside the epoch, for queries that have steps

Not here: identity of rows (delta/key), expressions (delta/evaluate), bytes (delta/frame).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from everview.delta.vector import Array, Vector, arrow_type, concat
from everview.schema import Column

WEIGHT = "#weight"
INSTANT = "#instant"


@dataclass(slots=True)
class Delta:
    columns: dict[str, Vector]
    weight: Array
    instant: Array | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: Array) -> Delta:
        return Delta(
            {n: v.take(rows) for n, v in self.columns.items()},
            self.weight[rows],
            None if self.instant is None else self.instant[rows],
        )

    def to_arrow(self) -> pa.RecordBatch:
        """Columns, then `#weight` (and `#instant`)."""
        arrays = {n: v.to_arrow() for n, v in self.columns.items()}
        arrays[WEIGHT] = pa.array(self.weight)
        if self.instant is not None:
            arrays[INSTANT] = pa.array(self.instant)
        return pa.RecordBatch.from_pydict(arrays)

    @staticmethod
    def from_arrow(batch: pa.RecordBatch, columns: tuple[Column, ...]) -> Delta:
        vectors = {c.name: Vector.from_arrow(batch.column(c.name), c.type) for c in columns}
        names = batch.schema.names
        instant = batch.column(INSTANT).to_numpy() if INSTANT in names else None
        return Delta(vectors, batch.column(WEIGHT).to_numpy(), instant)

    @staticmethod
    def empty(columns: tuple[Column, ...]) -> Delta:
        vectors = {
            c.name: Vector.from_arrow(pa.array([], arrow_type(c.type)), c.type) for c in columns
        }
        return Delta(vectors, np.zeros(0, np.int64))


def merge(deltas: list[Delta]) -> Delta:
    """The rows of several deltas with the same columns, in order."""
    if len(deltas) == 1:
        return deltas[0]
    names = list(deltas[0].columns)
    columns = {n: concat([d.columns[n] for d in deltas]) for n in names}
    instants = [d.instant for d in deltas if d.instant is not None]
    return Delta(
        columns,
        np.concatenate([d.weight for d in deltas]),
        np.concatenate(instants) if len(instants) == len(deltas) else None,
    )
