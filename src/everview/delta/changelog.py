"""Changelog forms: a net delta as rows that leave, in an order that the rows alone decide.

| form    | columns                   | rows                                                 |
|---------|---------------------------|------------------------------------------------------|
| retract | kind, epoch, view columns | -U then +U where a key keeps a row, else -D or +I    |
| upsert  | deleted, epoch, columns   | a key's new row; or the key alone, deleted, and NULLs |

Without a key a row of weight n leaves n times, as -D or +I.

Not here: files and folders (connect/changelog), routing by key (spark/unpack).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everview.delta.delta import WEIGHT, Delta
from everview.delta.vector import Array
from everview.schema import DELETED, EPOCH, KIND

_RANK, _SIGN = "#rank", "#sign"


def canonical(delta: Delta, key: tuple[str, ...]) -> Delta:
    """The delta sorted by its key (or all columns), what leaves before what enters."""
    if len(delta) < 2:
        return delta
    return delta.take(_order(delta.to_arrow(), key or tuple(delta.columns)))


def _order(batch: pa.RecordBatch, names: tuple[str, ...]) -> Array:
    weight = batch.column(WEIGHT)
    sortable = {f"c{i}": batch.column(n) for i, n in enumerate(names)}
    table = pa.table({**sortable, _SIGN: weight})
    keys = [(n, "ascending") for n in table.column_names]
    order: Array = pc.sort_indices(table, sort_keys=keys).to_numpy()
    return order


def retract(batch: pa.RecordBatch, key: tuple[str, ...], epoch: int) -> pa.RecordBatch:
    """The retract form of a canonical delta (columns and `#weight`)."""
    weight = batch.column(WEIGHT).to_numpy()
    columns = [n for n in batch.schema.names if n != WEIGHT]
    times = np.abs(weight)
    if (times != 1).any():
        batch = batch.take(pa.array(np.repeat(np.arange(len(times)), times)))
        weight = batch.column(WEIGHT).to_numpy()
    kinds = np.where(weight < 0, "-D", "+I").astype(object)
    if key and len(weight) > 1:
        pair = (weight[:-1] < 0) & (weight[1:] > 0) & _same_as_next(batch, key)
        kinds[:-1][pair] = "-U"
        kinds[1:][pair] = "+U"
    arrays = {KIND: pa.array(kinds, pa.string()), EPOCH: _epochs(len(weight), epoch)}
    return pa.RecordBatch.from_pydict(arrays | {n: batch.column(n) for n in columns})


def upsert(batch: pa.RecordBatch, key: tuple[str, ...], epoch: int) -> pa.RecordBatch:
    """The upsert form of a canonical delta that holds all of each key's changes."""
    weight = batch.column(WEIGHT).to_numpy()
    columns = [n for n in batch.schema.names if n != WEIGHT]
    keep = np.ones(len(weight), np.bool_)
    if len(weight) > 1:
        keep[:-1] = ~((weight[:-1] < 0) & _same_as_next(batch, key))
    batch, weight = batch.filter(pa.array(keep)), weight[keep]
    deleted = pa.array(weight < 0)
    arrays = {DELETED: deleted, EPOCH: _epochs(len(weight), epoch)}
    for n in columns:
        column = batch.column(n)
        if n not in key:
            column = pc.if_else(deleted, pa.scalar(None, column.type), column)
        arrays[n] = column
    return pa.RecordBatch.from_pydict(arrays)


def _epochs(rows: int, epoch: int) -> pa.Array:
    return pa.array(np.full(rows, epoch, np.int64))


def _same_as_next(batch: pa.RecordBatch, key: tuple[str, ...]) -> Array:
    """Row i has the key of row i + 1 (NULL equals NULL, and NaN equals NaN)."""
    same = np.ones(batch.num_rows - 1, np.bool_)
    for n in key:
        a, b = batch.column(n).slice(0, batch.num_rows - 1), batch.column(n).slice(1)
        equal = pc.fill_null(pc.equal(a, b), False)
        if pa.types.is_floating(a.type):
            both_nan = pc.and_(pc.is_nan(a), pc.is_nan(b))
            equal = pc.or_(equal, pc.fill_null(both_nan, False))
        both_null = pc.and_(pc.is_null(a), pc.is_null(b))
        same &= np.asarray(pc.or_(equal, both_null))
    return same
