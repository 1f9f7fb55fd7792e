"""consolidate: equal rows become one, whatever type, NULL or pool position they have."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everview.delta.consolidate import consolidate
from everview.delta.delta import Delta, merge
from everview.delta.vector import Vector, arrow_type
from everview.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    Column,
    Type,
    decimal,
)


def delta(
    columns: dict[str, tuple[Type, list[Any]]],
    weights: list[int],
    instants: list[int] | None = None,
) -> Delta:
    vectors = {n: Vector.from_arrow(pa.array(v, arrow_type(t)), t) for n, (t, v) in columns.items()}
    instant = None if instants is None else np.array(instants, np.int64)
    return Delta(vectors, np.array(weights, np.int64), instant)


def rows(d: Delta) -> list[tuple[Any, ...]]:
    """Rows with weight (and instant), comparable: NaN as text, -0.0 as 0.0."""
    columns = [v.to_arrow().to_pylist() for v in d.columns.values()]
    tail = [d.weight.tolist()] if d.instant is None else [d.weight.tolist(), d.instant.tolist()]
    return [tuple(_plain(v) for v in row) for row in zip(*columns, *tail, strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


SAME: dict[Type, list[Any]] = {
    INT: [1, 2, None],
    BOOLEAN: [True, False, None],
    DATE: [date(1970, 1, 1), date(1969, 12, 31), None],
    TIMESTAMP: [0, -1, None],
    FLOAT: [0.0, math.nan, None],
    DOUBLE: [math.inf, math.nan, None],
    STRING: ["", "é", None],
    BINARY: [b"", b"\0", None],
    decimal(5, 2): [Decimal("1.00"), Decimal("-1.00"), None],
    decimal(38, 0): [Decimal(10**37), Decimal(1), None],
}


@pytest.mark.parametrize("t", SAME, ids=str)
def test_equal_rows_of_every_type_add_up(t: Type) -> None:
    a, b, null = SAME[t]
    out = consolidate(delta({"x": (t, [a, b, null, a, b, null, a])}, [1, 1, 1, 1, -1, 2, -3]))
    assert rows(out) == rows(delta({"x": (t, [a, null])}, [-1, 3]))


def test_order_of_first_appearance() -> None:
    out = consolidate(delta({"x": (INT, [5, 3, 9, 3, 1])}, [1, 1, 1, 1, 1]))
    assert rows(out) == [(5, 1), (3, 2), (9, 1), (1, 1)]


def test_zero_and_nan_have_one_form() -> None:
    odd = np.array([np.nan, -0.0, 0.0, np.nan])
    odd[3:].view(np.uint64)[:] |= 1  # another NaN
    out = consolidate(Delta({"x": Vector(DOUBLE, odd)}, np.ones(4, np.int64)))
    assert rows(out) == [("NaN", 2), (0.0, 2)]


def test_one_text_at_two_positions() -> None:
    pool = pa.array(["a", "b", "a", "unused"])
    text = Vector(STRING, np.array([0, 1, 2, 0]), np.array([True, True, True, False]), pool)
    out = consolidate(Delta({"x": text}, np.array([1, 1, -1, 1])))
    assert rows(out) == [("b", 1), (None, 1)]


def test_whatever_is_stored_under_null() -> None:
    x = Vector(INT, np.array([7, 8]), np.array([False, False]))
    assert rows(consolidate(Delta({"x": x}, np.array([1, 1])))) == [(None, 2)]


def test_instants_stay_apart() -> None:
    d = delta({"x": (INT, [1, 1, 1, 1])}, [1, -1, 1, 2], [0, 1, 1, 0])
    assert rows(consolidate(d)) == [(1, 3, 0)]


def test_nothing_to_do_gives_the_same_delta() -> None:
    d = delta({"x": (INT, [1, 2])}, [1, -1])
    assert consolidate(d) is d
    empty = Delta.empty((Column("x", INT), Column("s", STRING)))
    assert consolidate(empty) is empty


def test_a_single_zero_goes() -> None:
    assert rows(consolidate(delta({"x": (INT, [1, 2])}, [0, -1]))) == [(2, -1)]


def test_rows_without_columns_are_all_equal() -> None:
    out = consolidate(Delta({}, np.array([1, 4, -2])))
    assert out.weight.tolist() == [3]
    assert len(consolidate(Delta({}, np.array([1, -1])))) == 0


def test_many_columns_do_not_run_out_of_codes() -> None:
    n = 3000
    half = list(range(n // 2)) * 2
    out = consolidate(delta({f"c{k}": (INT, half) for k in range(8)}, [1] * n))
    assert len(out) == n // 2
    assert (out.weight == 2).all()


def test_input_is_not_written() -> None:
    d = delta({"x": (DOUBLE, [-0.0, 0.0])}, [1, 1])
    consolidate(d)
    assert np.signbit(d.columns["x"].values).tolist() == [True, False]
    assert d.weight.tolist() == [1, 1]


VALUES = st.tuples(
    st.sampled_from([None, 0, 1, -(2**31)]),
    st.sampled_from([None, "", "a", "ab"]),
    st.sampled_from([None, 0.0, -0.0, math.nan, 1.5]),
    st.sampled_from([None, Decimal("0.10"), Decimal("99999999999999999999.00")]),
)


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, st.integers(-2, 2), st.integers(0, 1)), max_size=30))
def test_as_a_counter(changes: list[tuple[tuple[Any, ...], int, int]]) -> None:
    types = (INT, STRING, DOUBLE, decimal(30, 2))

    def build(part: list[tuple[tuple[Any, ...], int, int]]) -> Delta:
        columns = {f"c{i}": (t, [c[0][i] for c in part]) for i, t in enumerate(types)}
        return delta(columns, [c[1] for c in part], [c[2] for c in part])

    whole = build(changes)
    expected: Counter[tuple[Any, ...]] = Counter()
    for *values, weight, instant in rows(whole):
        expected[(*values, instant)] += weight
    left = {k: w for k, w in expected.items() if w}
    out = rows(consolidate(whole))
    assert [(*v, i) for *v, _, i in out] == list(left)
    assert [w for *_, w, _ in out] == list(left.values())
    half = len(changes) // 2
    merged = merge([consolidate(build(changes[:half])), consolidate(build(changes[half:]))])
    assert Counter(rows(consolidate(merged))) == Counter(out)
