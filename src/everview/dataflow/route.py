"""To which shard a row goes, and cutting a delta into the shards' parts.

The hash looks at values only (text by its bytes), so every source and stage sends equal keys to the
same shard, on any machine. A route needs no more: what a key *is* decides the index, not the hash.

Not here: which columns a route takes (dataflow/compile), Spark's own shuffle (spark/host).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from everview.dataflow.dataflow import Route
from everview.delta.vector import Array, Vector
from everview.kernels.index import hash_rows
from everview.state.text import hashes


def shards_of(columns: dict[str, Vector], route: Route, rows: int, shards: int) -> Array:
    """uint8/uint16[rows]: the shard of each row, by the hash of the route's columns."""
    kind = np.uint8 if shards <= 256 else np.uint16
    if route.kind == "one" or shards == 1 or not route.columns:
        return np.zeros(rows, kind)
    words = np.zeros((rows, len(route.columns)), np.int64)
    for i, name in enumerate(route.columns):
        words[:, i] = _word(columns[name])
    out = np.zeros(rows, np.uint64)
    hash_rows(words, out)
    return ((out >> np.uint64(32)) % np.uint64(shards)).astype(kind)


def cut(shard: Array, shards: int) -> Iterator[tuple[int, Array]]:
    """For every shard that gets any rows: its number and their positions, in order."""
    order = np.argsort(shard, kind="stable")
    bounds = np.searchsorted(shard[order], np.arange(shards + 1))
    for s in range(shards):
        if bounds[s + 1] > bounds[s]:
            yield s, order[bounds[s] : bounds[s + 1]]


def _word(v: Vector) -> Array:
    if v.type.is_text:
        assert v.pool is not None
        word = hashes(v.pool).view(np.int64)[v.values]
    elif v.type.is_float:
        doubles = v.values.astype(np.float64) + 0.0
        doubles[np.isnan(doubles)] = np.nan
        word = doubles.view(np.int64)
    elif v.values.dtype == object:
        word = np.array([(int(x) & (2**64 - 1)) for x in v.values], np.uint64).view(np.int64)
    else:
        word = v.values.astype(np.int64, copy=False)
    return word if v.valid is None else np.where(v.valid, word, 0)
