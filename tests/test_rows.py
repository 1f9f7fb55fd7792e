"""Rows as words and back, and the texts they hold."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everview.delta.vector import Vector, arrow_type
from everview.schema import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Column,
    Type,
    decimal,
)  # fmt: skip
from everview.state import text as module
from everview.state.arena import Arena
from everview.state.rows import Layout
from everview.state.text import TextTable, hashes

EXACT = Context(prec=80)


def scaled(digits: int, scale: int) -> Decimal:
    return Decimal(digits).scaleb(-scale, EXACT)


VALUES: dict[Type, list[Any]] = {
    BOOLEAN: [True, False],
    Type("TINYINT"): [-128, 127, 0],
    Type("SMALLINT"): [-(2**15), 2**15 - 1],
    INT: [-(2**31), 2**31 - 1, 0],
    BIGINT: [-(2**63), 2**63 - 1, 0],
    decimal(9, 2): [Decimal("-9999999.99"), Decimal("0.01"), Decimal("0.00")],
    decimal(18, 0): [Decimal(10**18 - 1), Decimal(1 - 10**18)],
    decimal(19, 0): [Decimal(10**19 - 1), Decimal(-(2**63)), Decimal(-(2**63) - 1), Decimal(2**63)],
    decimal(38, 6): [scaled(10**38 - 1, 6), scaled(1 - 10**38, 6), Decimal(2**64)],
    FLOAT: [1.5, -0.25, math.inf],
    DOUBLE: [0.1, 1e308, 5e-324, -math.inf],
    STRING: ["", "a", "é", "e\u0301", "👩‍🌾", "a" * 1000, "NULL", "\0"],
    BINARY: [b"", b"\0", b"\xff" * 20],
    DATE: [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)],
    TIMESTAMP: [datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(2024, 2, 29, tzinfo=UTC)],
    TIMESTAMP_NTZ: [datetime(1900, 1, 1), datetime(2100, 1, 1, 0, 0, 0, 1)],
}


def vector(t: Type, values: list[Any]) -> Vector:
    return Vector.from_arrow(pa.array(values, arrow_type(t)), t)


def there_and_back(
    columns: tuple[Column, ...], rows: dict[str, list[Any]]
) -> tuple[dict[str, list[Any]], Any]:
    layout, texts = Layout(columns), TextTable(Arena())
    n = len(next(iter(rows.values())))
    words = layout.words({c.name: vector(c.type, rows[c.name]) for c in columns}, texts, n)
    assert words.shape == (n, layout.width)
    order = np.arange(n)[::-1].copy()
    found = {
        c.name: layout.vector(words, c.name, texts, order).to_arrow().to_pylist()[::-1]
        for c in columns
    }
    return found, words


@pytest.mark.parametrize("t", VALUES, ids=str)
@pytest.mark.parametrize("nullable", [False, True])
def test_every_type(t: Type, nullable: bool) -> None:
    values = VALUES[t] + ([None, VALUES[t][0], None] if nullable else [])
    found, words = there_and_back((Column("x", t, nullable),), {"x": values})
    assert found["x"] == values
    # equal words mean equal values, and only they
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (words[i] == words[j]).all() == (a == b and (a is None) == (b is None))


def test_all_types_side_by_side() -> None:
    columns = tuple(Column(f"c{i}", t) for i, t in enumerate(VALUES))
    n = max(map(len, VALUES.values()))
    rows = {c.name: (VALUES[c.type] * n + [None])[-n:] for c in columns}
    assert there_and_back(columns, rows)[0] == rows


def test_many_nullable_columns_take_more_words_of_null_bits() -> None:
    columns = tuple(Column(f"c{i}", INT) for i in range(130))
    assert Layout(columns).width == 130 + 3
    rows = {c.name: [i, None if i % 7 == 0 else i, None] for i, c in enumerate(columns)}
    assert there_and_back(columns, rows)[0] == rows


def test_no_null_bits_where_nothing_is_nullable() -> None:
    assert Layout((Column("a", INT, False), Column("b", decimal(38, 0), False))).width == 3


def test_doubles_have_one_zero_and_one_nan() -> None:
    other_nan = np.array([np.nan, np.nan])
    other_nan[1:].view(np.uint64)[:] |= 1
    values = Vector(DOUBLE, np.concatenate([[0.0, -0.0], other_nan]))
    words = Layout((Column("x", DOUBLE, False),)).words({"x": values}, TextTable(Arena()), 4)
    assert words[0] == words[1] == 0
    assert words[2] == words[3] != 0


def test_what_is_under_a_null_does_not_matter() -> None:
    pool = pa.array(["x", "y"])
    columns = (Column("s", STRING), Column("d", decimal(38, 0)))
    valid = np.array([False, False])
    rows = {
        "s": Vector(STRING, np.array([0, 1]), valid, pool),
        "d": Vector(columns[1].type, np.array([2**80, -1], object), valid),
    }
    words = Layout(columns).words(rows, TextTable(Arena()), 2)
    assert (words[0] == words[1]).all()


def test_words_of_some_columns() -> None:
    layout = Layout((Column("a", INT), Column("d", decimal(38, 0)), Column("b", STRING)))
    assert layout.columns_at(("b", "d")).tolist() == [3, 1, 2]
    assert layout.text == (3,)


ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        st.one_of(st.none(), st.integers(-(10**38) + 1, 10**38 - 1)),
        st.one_of(st.none(), st.text(max_size=12)),
        st.one_of(st.none(), st.binary(max_size=12)),
    ),
    min_size=1, max_size=20,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_any_rows(rows: list[tuple[Any, ...]]) -> None:
    columns = (
        Column("a", BIGINT), Column("b", decimal(38, 10)), Column("c", STRING), Column("d", BINARY),
    )  # fmt: skip
    as_columns = {c.name: [r[i] for r in rows] for i, c in enumerate(columns)}
    as_columns["b"] = [None if b is None else scaled(b, 10) for b in as_columns["b"]]
    found, words = there_and_back(columns, as_columns)
    assert found == as_columns
    assert len({w.tobytes() for w in words}) == len(set(rows))


# ----------------------------------------------------------------------------------------- texts


def test_texts_are_interned_and_freed() -> None:
    texts = TextTable(Arena())
    a, b, again = texts.codes(pa.array(["a", "b", "a"])).tolist()
    assert a == again != b
    texts.use(np.array([a]), 1)
    texts.end_epoch()  # b was never used
    assert texts.used == 1
    assert texts.codes(pa.array(["a"])).tolist() == [a]
    texts.use(np.array([a]), -1)
    assert texts.texts(np.array([a]), pa.string()).to_pylist() == ["a"]  # until the epoch's end
    texts.end_epoch()
    assert texts.used == 0


def test_texts_against_a_dict() -> None:
    rng, texts = Random(1), TextTable(Arena())
    uses: dict[str, int] = {}
    codes: dict[str, int] = {}
    for _ in range(60):
        words = [f"{rng.randrange(300)} {'x' * rng.randrange(60)}" for _ in range(50)]
        found = texts.codes(pa.array(words)).tolist()
        for w, c in zip(words, found, strict=True):
            assert codes.setdefault(w, c) == c
        for w in words[:30]:
            texts.use(np.array([codes[w]]), 1)
            uses[w] = uses.get(w, 0) + 1
        for w in rng.sample(sorted(uses), min(len(uses), 35)):
            texts.use(np.array([codes[w]]), -1)
            uses[w] -= 1
        texts.end_epoch()
        uses = {w: n for w, n in uses.items() if n}
        codes = {w: codes[w] for w in uses}
        assert texts.used == len(uses)
        assert texts.texts(
            np.array(list(codes.values()), np.int64), pa.string()
        ).to_pylist() == list(codes)


def test_the_heap_follows_what_it_holds() -> None:
    """However much text has come and gone; and a heap that has emptied shrinks."""
    texts, sizes = TextTable(Arena()), []
    held: list[Any] = []
    for n in range(100):
        codes = texts.codes(pa.array([f"{n} {i} {'x' * 90}" for i in range(50)]))
        texts.use(codes, 1)
        held.append(codes)
        if len(held) > 10:
            texts.use(held.pop(0), -1)
        texts.end_epoch()
        sizes.append(len(texts.tx.heap))
    live = texts.end - texts.dead
    assert live < sizes[-1] <= 2 * live
    assert set(sizes[25:]) == {sizes[25]}
    for codes in held:
        texts.use(codes, -1)
    texts.end_epoch()
    assert (texts.used, texts.end) == (0, 0)
    assert len(texts.tx.heap) <= module._SMALL_HEAP


def test_slices_and_large_strings() -> None:
    texts = TextTable(Arena())
    whole = pa.array(["zero", "one", "two", "three"])
    assert texts.codes(whole.slice(1, 2)).tolist() == texts.codes(pa.array(["one", "two"])).tolist()
    large = pa.array(["one", "two"], pa.large_string())
    assert texts.codes(large).tolist() == texts.codes(pa.array(["one", "two"])).tolist()
    assert hashes(whole.slice(2, 1)).tolist() == hashes(pa.array(["two"])).tolist()
    assert hashes(pa.array([], pa.string())).tolist() == []
    assert texts.codes(pa.array(["", ""])).tolist()[0] != 0


def test_large_offsets_of_binary() -> None:
    texts = TextTable(Arena())
    large = pa.array([b"one", b"two"], pa.large_binary())
    assert texts.codes(large).tolist() == texts.codes(pa.array([b"one", b"two"])).tolist()
