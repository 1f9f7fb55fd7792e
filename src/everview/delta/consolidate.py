"""Consolidate: add the weights of equal rows, drop zeros.

    (a, 1) (b, 1) (a, 1) (b, -1)  ->  (a, 2)

Equal is equal as a value: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0, and a text equals the
same text at another position of its pool. What is left stands in the order of first appearance,
with the values of the first such row. With instants, rows of different instants stay apart.

    column ──codes──▶ dense codes ┐
    column ──codes──▶ dense codes ┼─combined─▶ one code per distinct row ──▶ sums of weights
    instant ─────────────────────┘

Not here: keys and their policies (operators), merging of deltas (delta/delta).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from everview.delta.delta import Delta
from everview.delta.vector import Array, Vector

_ROOM = 2**62


def consolidate(delta: Delta) -> Delta:
    """The same sum with each row at most once and no zero weight; `delta` itself if it is so."""
    n = len(delta)
    code, count = row_codes(delta)
    if count == n:
        kept = delta.weight != 0
        return delta if kept.all() else delta.take(np.flatnonzero(kept))
    weight = np.zeros(count, np.int64)
    np.add.at(weight, code, delta.weight)
    first = np.empty(count, np.int64)
    first[code[::-1]] = np.arange(n - 1, -1, -1)  # the last assignment stays: the first row
    kept = np.flatnonzero(weight)
    out = delta.take(first[kept])
    return Delta(out.columns, weight[kept], out.instant)


def row_codes(delta: Delta) -> tuple[Array, int]:
    """A code per row, equal for equal rows (of one instant), dense in order of first appearance."""
    n = len(delta)
    parts = [codes(v) for v in delta.columns.values()]
    if delta.instant is not None:
        parts.append(_dense(delta.instant))
    combined, size = np.zeros(n, np.int64), 1
    for code, count in parts:
        if size * count >= _ROOM:
            combined, size = _dense(combined)
        combined, size = combined * count + code, size * max(count, 1)
    return _dense(combined)


def codes(vector: Vector) -> tuple[Array, int]:
    """A code per value, equal for equal values, and how many codes there may be (0 to that - 1)."""
    if vector.pool is not None:
        return _nulls_apart(vector, _pool_codes(vector))
    values = vector.values
    if values.dtype == object:  # decimals beyond 64 bits
        values = np.array([str(v) for v in values], object)
    elif values.dtype.kind == "f":
        same = np.where(values == 0, values.dtype.type(0), values)
        same = np.where(np.isnan(same), values.dtype.type(np.nan), same)
        values = same.view(np.int64 if same.dtype == np.float64 else np.int32)
    return _nulls_apart(vector, _dense(values))


def _pool_codes(vector: Vector) -> tuple[Array, int]:
    """Positions of equal texts become one; only texts in use are looked at."""
    assert vector.pool is not None
    positions, count = _dense(vector.values)
    used = np.empty(count, np.int64)
    used[positions] = vector.values
    texts = vector.pool.take(pa.array(used)).dictionary_encode()
    code = texts.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return code[positions], len(texts.dictionary)


def _nulls_apart(vector: Vector, coded: tuple[Array, int]) -> tuple[Array, int]:
    """One more code, for NULL."""
    code, count = coded
    if vector.valid is None:
        return code, count
    return np.where(vector.valid, code, count), count + 1


def _dense(values: Array) -> tuple[Array, int]:
    """Codes 0, 1, ... in order of first appearance, by hashing."""
    encoded = pa.array(values).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)
