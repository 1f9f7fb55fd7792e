"""Routes: equal keys meet, whatever form they come in, and shards get even shares."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everview.dataflow.dataflow import Route
from everview.dataflow.route import cut, shards_of
from everview.delta.vector import Vector, arrow_type
from everview.schema import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    Column,
    Type,
    decimal,
)  # fmt: skip
from everview.state.arena import Arena
from everview.state.rows import Layout
from everview.state.text import TextTable


def vector(t: Type, values: list[Any]) -> Vector:
    return Vector.from_arrow(pa.array(values, arrow_type(t)), t)


def routed(columns: dict[str, Vector], shards: int = 64, kind: Any = "hash") -> list[int]:
    rows = len(next(iter(columns.values())))
    found = shards_of(columns, Route(kind, tuple(columns)), rows, shards)
    assert found.dtype == (np.uint8 if shards <= 256 else np.uint16)
    assert len(found) == rows
    assert all(0 <= s < shards for s in found.tolist())
    return [int(s) for s in found]


def test_frozen_values() -> None:
    """The shard of a key is part of every checkpoint: these numbers may never change."""
    assert routed({"k": vector(INT, [0, 1, 2, -1, 2**31 - 1])}) == ROUTED["int"]
    assert routed({"k": vector(STRING, ["", "a", "é", "x" * 100])}) == ROUTED["text"]
    both = {"a": vector(INT, [1, 1, 2]), "b": vector(STRING, ["a", "b", "a"])}
    assert routed(both) == ROUTED["both"]


ROUTED = {"int": [16, 37, 59, 23, 5], "text": [20, 61, 34, 4], "both": [57, 1, 4]}


def test_one_key_in_many_forms() -> None:
    """Integer widths, narrow and wide decimals, float widths, positions in the pool."""
    numbers = [0, 1, -5, 1000, 32767]
    forms = [routed({"k": vector(t, numbers)}) for t in (Type("SMALLINT"), INT, BIGINT)]
    assert forms[0] == forms[1] == forms[2]

    narrow = vector(decimal(38, 2), [Decimal("1.00"), Decimal("-7.25")])
    assert narrow.values.dtype == np.int64
    wide = vector(decimal(38, 2), [Decimal("1.00"), Decimal("-7.25"), Decimal(10**30)])
    assert wide.values.dtype == object
    assert routed({"k": narrow}) == routed({"k": wide})[:2]

    assert routed({"k": vector(FLOAT, [0.5, -2.0])}) == routed({"k": vector(DOUBLE, [0.5, -2.0])})
    zeros = Vector(DOUBLE, np.array([0.0, -0.0, np.nan, -np.nan]))
    a, b, c, d = routed({"k": zeros})
    assert (a, c) == (b, d)

    pool = pa.array(["unused", "a", "b", "a"])
    text = Vector(STRING, np.array([1, 2, 3]), None, pool)
    assert routed({"k": text}) == routed({"k": vector(STRING, ["a", "b", "a"])})


def test_what_the_index_takes_for_equal_meets() -> None:
    """The route and the index agree on what one key is, for every type."""
    rng = Random(1)
    types: dict[Type, list[Any]] = {
        INT: [1, 2, 3, None], STRING: ["a", "b", "é", None], DOUBLE: [0.0, -0.0, 1.5, None],
        decimal(25, 3): [Decimal(1), Decimal("99999999999999999999.5"), None], DATE: [0, 1, None],
    }  # fmt: skip
    columns = tuple(Column(f"c{i}", t) for i, t in enumerate(types))
    rows = {c.name: vector(c.type, rng.choices(types[c.type], k=400)) for c in columns}
    words = Layout(columns).words(rows, TextTable(Arena()), 400)
    where: dict[bytes, int] = {}
    for key, shard in zip((w.tobytes() for w in words), routed(rows), strict=True):
        assert where.setdefault(key, shard) == shard


@pytest.mark.parametrize("shards", [2, 7, 64, 1000])
@pytest.mark.parametrize("keys", ["dense", "strided", "text"])
def test_even_shares(shards: int, keys: str) -> None:
    n = 200 * shards
    made = {
        "dense": lambda: Vector(BIGINT, np.arange(n)),
        "strided": lambda: Vector(BIGINT, np.arange(n) * 4096),
        "text": lambda: vector(STRING, [f"Customer#{i:09}" for i in range(n)]),
    }[keys]()
    counts = np.bincount(routed({"k": made}, shards), minlength=shards)
    assert counts.min() > 100
    assert counts.max() < 300


def test_the_shard_says_nothing_about_the_place_in_the_index() -> None:
    """Keys of one shard must not crowd one part of its hash table."""
    keys = np.arange(50_000)
    mine = keys[np.array(routed({"k": Vector(BIGINT, keys)}, 8)) == 3]
    again = np.bincount(routed({"k": Vector(BIGINT, mine)}, 5), minlength=5)
    assert again.min() > len(mine) / 5 * 0.9


def test_routes_without_choice() -> None:
    columns = {"k": vector(INT, [1, 2, 3])}
    assert routed(columns, 7, "one") == [0, 0, 0]
    assert routed(columns, 1) == [0, 0, 0]
    assert shards_of({}, Route("hash", ()), 3, 7).tolist() == [0, 0, 0]


def test_cut() -> None:
    parts = {s: at.tolist() for s, at in cut(np.array([2, 0, 2, 5, 0, 2], np.uint8), 7)}
    assert parts == {0: [1, 4], 2: [0, 2, 5], 5: [3]}
    assert list(cut(np.zeros(0, np.uint8), 7)) == []


def test_cut_more_than_a_byte_of_shards() -> None:
    shard = np.array([999, 300, 999, 44], np.uint16)
    assert {s: at.tolist() for s, at in cut(shard, 1000)} == {44: [3], 300: [1], 999: [0, 2]}
