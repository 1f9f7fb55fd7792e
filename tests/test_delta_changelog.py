"""Changelog forms of a net delta: retract and upsert. (test_changelog is about folders of them.)"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everview.delta.changelog import DELETED, EPOCH, KIND, canonical, retract, upsert
from everview.delta.delta import Delta
from everview.delta.vector import Vector, arrow_type
from everview.schema import BIGINT, DOUBLE, STRING, Type, decimal

TYPES: dict[str, Type] = {"a": BIGINT, "b": STRING, "v": decimal(20, 2)}
Row = tuple[Any, ...]


def delta(rows: list[tuple[Row, int]], types: dict[str, Type] = TYPES) -> Delta:
    columns = {
        n: Vector.from_arrow(pa.array([r[i] for r, _ in rows], arrow_type(t)), t)
        for i, (n, t) in enumerate(types.items())
    }
    return Delta(columns, np.array([w for _, w in rows], np.int64))


def listed(batch: pa.RecordBatch) -> list[Row]:
    return list(zip(*(c.to_pylist() for c in batch.columns), strict=True))


def retracted(rows: list[tuple[Row, int]], key: tuple[str, ...], epoch: int = 7) -> list[Row]:
    batch = retract(canonical(delta(rows), key).to_arrow(), key, epoch)
    assert batch.schema.names == [KIND, EPOCH, *TYPES]
    assert set(batch.column(EPOCH).to_pylist()) <= {epoch}
    return [(r[0], *r[2:]) for r in listed(batch)]


def upserted(rows: list[tuple[Row, int]], key: tuple[str, ...]) -> list[Row]:
    batch = upsert(canonical(delta(rows), key).to_arrow(), key, 7)
    assert batch.schema.names == [DELETED, EPOCH, *TYPES]
    return [(r[0], *r[2:]) for r in listed(batch)]


CHANGES: list[tuple[Row, int]] = [
    ((3, "new", 1), 1),
    ((1, "old", 1), -1),
    ((2, "gone", 2), -1),
    ((1, "now", 1), 1),
]


def test_retract_with_a_key() -> None:
    assert retracted(CHANGES, ("a",)) == [
        ("-U", 1, "old", 1), ("+U", 1, "now", 1), ("-D", 2, "gone", 2), ("+I", 3, "new", 1),
    ]  # fmt: skip


def test_retract_without_a_key() -> None:
    """Sorted by all columns; a row of weight n leaves n times."""
    assert retracted([*CHANGES, ((0, None, None), 3), ((9, "z", 0), -2)], ()) == [
        *[("+I", 0, None, None)] * 3, ("+I", 1, "now", 1), ("-D", 1, "old", 1),
        ("-D", 2, "gone", 2), ("+I", 3, "new", 1), *[("-D", 9, "z", 0)] * 2,
    ]  # fmt: skip


def test_upsert() -> None:
    """The new row of a key, or the key alone."""
    assert upserted(CHANGES, ("a",)) == [
        (False, 1, "now", 1), (True, 2, None, None), (False, 3, "new", 1),
    ]  # fmt: skip


def test_keys_with_null_are_keys() -> None:
    """A group by a nullable column has a row for NULL."""
    rows = [((None, "x", 1), -1), ((None, "x", 2), 1), ((1, None, 5), -1), ((1, None, 6), 1)]
    key = ("a", "b")
    assert [r[0] for r in retracted(rows, key)] == ["-U", "+U", "-U", "+U"]
    assert sorted(upserted(rows, key), key=str) == [(False, 1, None, 6), (False, None, "x", 2)]
    tombstone = upserted([((None, "x", 1), -1)], key)
    assert tombstone == [(True, None, "x", None)]


def test_part_of_a_key_is_another_key() -> None:
    rows = [((1, "x", 1), -1), ((1, "y", 1), 1), ((2, "x", 1), 1)]
    assert [r[0] for r in retracted(rows, ("a", "b"))] == ["-D", "+I", "+I"]
    assert upserted(rows, ("a", "b")) == [
        (True, 1, "x", None),
        (False, 1, "y", 1),
        (False, 2, "x", 1),
    ]


def test_nothing() -> None:
    assert retracted([], ("a",)) == []
    assert upserted([], ("a",)) == []
    assert retracted([], ()) == []


def test_one_row() -> None:
    assert retracted(CHANGES[:1], ("a",)) == [("+I", 3, "new", 1)]
    assert retracted(CHANGES[1:2], ("a",)) == [("-D", 1, "old", 1)]
    assert upserted(CHANGES[1:2], ("a",)) == [(True, 1, None, None)]


def test_doubles_as_keys() -> None:
    """NaN is one key, and so is zero."""
    types: dict[str, Type] = {"a": DOUBLE, "b": STRING, "v": BIGINT}
    rows = [((np.nan, "k", 1), -1), ((np.nan, "k", 2), 1), ((0.0, "k", 1), -1), ((0.0, "k", 2), 1)]
    batch = canonical(delta(rows, types), ("a",)).to_arrow()
    kinds = retract(batch, ("a",), 0).column(KIND).to_pylist()
    assert sorted(kinds) == ["+U", "+U", "-U", "-U"]
    assert len(listed(upsert(batch, ("a",), 0))) == 2


def test_types_stay() -> None:
    batch = retract(delta(CHANGES).to_arrow(), ("a",), 0)
    assert [batch.schema.field(n).type for n in TYPES] == [arrow_type(t) for t in TYPES.values()]
    batch = upsert(canonical(delta(CHANGES), ("a",)).to_arrow(), ("a",), 0)
    assert [batch.schema.field(n).type for n in TYPES] == [arrow_type(t) for t in TYPES.values()]


@pytest.mark.parametrize("key", [("a",), ("a", "b"), ()])
@pytest.mark.parametrize("case", range(20))
def test_random_histories(key: tuple[str, ...], case: int) -> None:
    """Both forms, applied, give the same table; the order of the delta's rows does not matter."""
    rng = Random(f"forms {case}")
    table: Counter[Row] = Counter()
    by_retract: Counter[Row] = Counter()
    by_upsert: dict[Row, Row] = {}
    at = [list(TYPES).index(k) for k in key]
    for _ in range(12):
        before = Counter(table)
        for _ in range(rng.randrange(12)):
            row = (rng.choice((None, 1, 2, 3)), rng.choice((None, "x", "y")), rng.randrange(3))
            if key:
                for old in [r for r in table if [r[i] for i in at] == [row[i] for i in at]]:
                    del table[old]
                if rng.random() < 0.7:
                    table[row] = 1
            else:
                table[row] = max(0, table[row] + rng.choice((1, 2, -1)))
        rows = [(r, table[r] - before[r]) for r in {*table, *before} if table[r] != before[r]]
        rng.shuffle(rows)
        log = retracted(rows, key)
        rng.shuffle(rows)
        assert retracted(rows, key) == log
        for kind, *row in log:
            by_retract[tuple(row)] += 1 if kind[0] == "+" else -1
            assert by_retract[tuple(row)] >= 0 or not key, "a row leaves before it came"
        assert +by_retract == +table
        if key:
            for deleted, *row in upserted(rows, key):
                where = tuple(row[i] for i in at)
                if deleted:
                    assert by_upsert.pop(where)
                else:
                    by_upsert[where] = tuple(row)
            assert Counter(by_upsert.values()) == +table
            pairs = [k for k, *_ in log]
            updates = [i for i, k in enumerate(pairs) if k == "-U"]
            assert all(pairs[i + 1] == "+U" for i in updates)
            assert pairs.count("+U") == len(updates)
