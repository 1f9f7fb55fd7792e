"""The oracle itself: policies, Spark's rounding and types, exact doubles, comparisons that fail."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from everview.delta.delta import Delta
from everview.delta.vector import Vector
from everview.schema import (
    BIGINT,
    DOUBLE,
    INT,
    STRING,
    Column,
    Policy,
    Relation,
    Schema,
    Type,
    decimal,
)
from tests.histories import Change, batches, case_of
from tests.naive import ChangelogError, NaiveView
from tests.oracle import (
    Base,
    Oracle,
    PolicyError,
    Row,
    Unsupported,
    compare,
    double_sum,
    rounded,
)  # fmt: skip

COLUMNS = (
    Column("k", INT), Column("g", STRING), Column("d", decimal(9, 2)), Column("e", decimal(5, 1)),
    Column("x", DOUBLE), Column("i", INT),
)  # fmt: skip
SCHEMA = Schema((Relation("t", COLUMNS, ("k",)),))


def answer(sql: str, *rows: Row, schema: Schema = SCHEMA) -> Counter[Row]:
    oracle = Oracle(schema, sql)
    oracle.epoch(batches(schema, [("t", 1, r) for r in rows], "0"))
    return oracle.answer()


def row(k: int, d: str | None = None, e: str | None = None, x: float | None = None) -> Row:
    return (k, "a", d and Decimal(d), e and Decimal(e), x, k)


# --------------------------------------------------------------------------------------- policies


@pytest.mark.parametrize(
    ("policy", "changes", "reasons", "left"),
    [
        ("reject", [(1, (1, 1)), (1, (1, 2))], [None, "DUPLICATE_KEY"], [(1, 1)]),
        ("reject", [(-1, (1, 1)), (2, (1, 1))], ["MISSING_ROW", "MISSING_ROW"], []),
        ("reject", [(1, (1, 1)), (-1, (1, 9))], [None, None], []),
        ("reject", [(1, (1, 1)), (2, (1, 2))], [None, None], [(1, 2)]),
        ("reject", [(1, (None, 1)), (-1, (None, 1))], ["NULL_KEY", "NULL_KEY"], []),
        ("upsert", [(1, (1, 1)), (1, (1, 2)), (2, (2, 3))], [None, None, None], [(1, 2), (2, 3)]),
        ("upsert", [(-1, (1, 1))], ["MISSING_ROW"], []),
    ],
)
def test_policies_by_key(
    policy: Policy, changes: list[tuple[int, Row]], reasons: list[str | None], left: list[Row]
) -> None:
    base = Base(Relation("t", (Column("k", INT), Column("v", INT)), ("k",), policy=policy))
    assert [base.apply(op, r)[0] for op, r in changes] == reasons
    assert base.content() == left


def test_without_key_rows_are_counted() -> None:
    base = Base(Relation("t", (Column("v", DOUBLE),)))
    nan = float("nan")
    for op, value in ((1, nan), (1, nan), (1, 0.0), (-1, -0.0), (-1, float("nan"))):
        assert base.apply(op, (value,))[0] is None
    assert len(base.content()) == 1
    assert base.apply(-1, (7.0,))[0] == "MISSING_ROW"
    assert base.apply(2, (7.0,))[0] == "NO_OLD_IMAGE"


@pytest.mark.parametrize("policy", ["fail", "trust"])
def test_what_must_not_happen_raises(policy: Policy) -> None:
    base = Base(Relation("t", (Column("k", INT), Column("v", INT)), ("k",), policy=policy))
    base.apply(1, (1, 1))
    with pytest.raises(PolicyError):
        base.apply(1, (1, 2))
    if policy == "trust":
        with pytest.raises(PolicyError):
            base.apply(-1, (1, 2))


# ----------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("value", "t", "text"),
    [
        (Fraction(5, 2), decimal(5, 0), "3"),
        (Fraction(-5, 2), decimal(5, 0), "-3"),
        (Fraction(1, 3), decimal(9, 4), "0.3333"),
        (Fraction(2, 3), decimal(38, 37), "0." + "6" * 36 + "7"),
        (Fraction(10**37 + 1, 2), decimal(38, 0), str(10**37 // 2 + 1)),
    ],
)
def test_rounding_is_half_up(value: Fraction, t: Type, text: str) -> None:
    assert str(rounded(value, t)) == text


def test_overflow_is_an_error() -> None:
    with pytest.raises(OverflowError):
        rounded(Fraction(1000), decimal(3, 0))


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([], None),
        ([1e16, 1.0, -1e16], 1.0),
        ([0.1] * 10, 1.0),
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], math.inf),
        ([math.inf, 1.0], math.inf),
        ([5e-324, 5e-324], 1e-323),
    ],
)
def test_double_sums_are_exact(values: list[float], total: float | None) -> None:
    assert double_sum(values) == total


@pytest.mark.parametrize("values", [[math.inf, -math.inf], [math.nan, 1.0], [math.nan, math.inf]])
def test_double_sums_without_value(values: list[float]) -> None:
    assert math.isnan(double_sum(values) or 0.0)


# ---------------------------------------------------------------------------------------- queries


@pytest.mark.parametrize(
    ("sql", "value", "t"),
    [
        ("SELECT AVG(d) AS a FROM t", "0.666667", decimal(13, 6)),
        ("SELECT SUM(d) / COUNT(*) AS a FROM t", "0." + "6" * 20 + "7", decimal(38, 21)),
        ("SELECT 100.00 * SUM(e) / SUM(d) AS a FROM t", None, decimal(38, 18)),
        ("SELECT AVG(d) + 1 AS a FROM t", "1.666667", decimal(14, 6)),
        ("SELECT SUM(d / 3) AS a FROM t", "0.666667", decimal(23, 6)),
        ("SELECT a + 1 AS a FROM (SELECT AVG(d) AS a FROM t) s", "1.666667", decimal(14, 6)),
        ("SELECT COUNT(*) AS a FROM t", 3, BIGINT),
    ],
)
def test_what_spark_types_otherwise(sql: str, value: Any, t: Type) -> None:
    oracle = Oracle(SCHEMA, sql)
    rows = [row(1, "1.00"), row(2, "0.50"), row(3, "0.50")]
    oracle.epoch(batches(SCHEMA, [("t", 1, r) for r in rows], "0"))
    assert oracle.query.columns == [("a", t)]
    expected = Decimal(value) if isinstance(value, str) else value
    assert oracle.answer() == Counter([(expected,)])


def test_doubles_are_compared_bit_by_bit() -> None:
    rows = [row(k, x=x) for k, x in enumerate((0.1, 0.2, 0.3))]
    assert answer("SELECT SUM(x) AS a FROM t", *rows) == Counter([((0.6).hex(),)])
    assert answer("SELECT AVG(x) AS a FROM t", *rows) == Counter([((0.6 / 3).hex(),)])
    assert answer("SELECT x + 0 AS a FROM t", row(1, x=-0.0)) == Counter([((0.0).hex(),)])
    assert answer("SELECT x AS a FROM t", row(1, x=math.nan)) == Counter([("nan",)])


@pytest.mark.parametrize("by", ["g", "grp", "1", "t.g"])
def test_group_keys_are_found_however_they_are_written(by: str) -> None:
    sql = f"SELECT g AS grp, AVG(d) AS a FROM t GROUP BY {by}"
    assert answer(sql, row(1, "1.00")) == Counter([("a", Decimal("1.000000"))])


def test_what_the_oracle_cannot_tell_is_refused() -> None:
    for sql in (
        "SELECT SUM(CAST(x AS STRING)) AS a FROM t",
        "SELECT soundex(g) AS a FROM t",
        "SELECT SUM(d * d * d * d * d) AS a FROM t",
        "SELECT 1 AS a UNION SELECT 2 AS a",
    ):
        with pytest.raises(Unsupported):
            Oracle(SCHEMA, sql)


def test_two_oracles_may_take_turns() -> None:
    a, b = Oracle(SCHEMA, "SELECT k AS a FROM t"), Oracle(SCHEMA, "SELECT k AS a FROM t")
    a.epoch(batches(SCHEMA, [("t", 1, row(1))], "0"))
    assert b.answer() == Counter()
    assert a.answer() == Counter([(1,)])


# ---------------------------------------------------------------------------------- comparisons


def test_compare_names_what_differs() -> None:
    assert compare(Counter({(1,): 2}), Counter({(1,): 2})) is None
    text = compare(Counter({(1,): 2, (3,): 1}), Counter({(1,): 3})) or ""
    assert "missing: 1 x (1)" in text
    assert "too much: 1 x (3)" in text


def _delta(*changes: tuple[int, int]) -> Delta:
    values = np.array([v for v, _ in changes], np.int64)
    return Delta({"a": Vector(INT, values)}, np.array([w for _, w in changes], np.int64))


def test_a_naive_view_sums_changes_and_refuses_bad_ones() -> None:
    view = NaiveView()
    view.add(_delta((1, 2), (2, 1)))
    view.add(_delta((1, -1)))
    assert view.rows == Counter({(1,): 1, (2,): 1})
    for bad in (_delta((3, -1)), _delta((4, 1), (4, 1)), _delta((5, 0))):
        with pytest.raises(ChangelogError):
            view.add(bad)


# ---------------------------------------------------------------------------------------- cases


def test_a_seed_makes_the_same_case_again() -> None:
    assert [case_of(s) for s in range(20)] == [case_of(s) for s in range(20)]


def test_a_reproduction_is_a_program() -> None:
    for seed in range(30):
        compile(case_of(seed).reproduction(), f"seed {seed}", "exec")


def test_batches_keep_the_order_of_the_source() -> None:
    changes: list[Change] = [("t", 1, row(k)) for k in range(3)]
    (batch,) = batches(SCHEMA, changes, "7")
    assert (batch.segment, batch.start, batch.op.tolist()) == ("7", 0, [1, 1, 1])


def test_a_doubled_quote_is_a_quote() -> None:
    assert answer("SELECT 'it''s' AS a FROM t", row(1)) == Counter([("it's",)])
