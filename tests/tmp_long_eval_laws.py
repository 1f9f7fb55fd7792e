"""Laws of evaluate: decimals as exact fractions, and a column as its rows one by one.

Random decimal types and values are computed again with Python's Fraction; random expressions must
give for many rows what the naive evaluation gives for each row alone, and fail when a row fails.
"""

from __future__ import annotations

import operator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings, target
from hypothesis import strategies as st

from everview.delta.evaluate import evaluate, matches
from everview.delta.vector import Array, Vector, arrow_type, narrow
from everview.errors import ValueOverflow
from everview.expr import Expr, Literal, Ref, call
from everview.schema import BIGINT, BOOLEAN, DATE, INT, STRING, Type, decimal
from tests import naive_evaluate

EXACTLY = Context(prec=100)


@st.composite
def decimal_types(draw: st.DrawFn) -> Type:
    precision = draw(st.one_of(st.integers(1, 38), st.sampled_from([9, 15, 18, 19, 38])))
    return decimal(precision, draw(st.integers(0, precision)))


def decimals_of(t: Type) -> st.SearchStrategy[int]:
    """Scaled integers of a type: small ones, any, and those at its ends and at 64 bits."""
    most = 10 ** (t.precision or 0) - 1
    edges = [v for v in (0, 1, -1, most, -most, 2**63, -(2**63), 2**63 - 1, 5) if abs(v) <= most]
    small = min(most, 10**6)
    return st.one_of(st.integers(-small, small), st.integers(-most, most), st.sampled_from(edges))


@st.composite
def columns_of(draw: st.DrawFn, t: Type) -> list[int | None]:
    return draw(st.lists(st.one_of(st.none(), decimals_of(t)), min_size=3, max_size=3))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Type, list[int | None], Type, list[int | None]]:
    a, b = draw(decimal_types()), draw(decimal_types())
    return a, draw(columns_of(a)), b, draw(columns_of(b))


def vector(t: Type, scaled: list[int | None]) -> Vector:
    values: Array = np.empty(len(scaled), object)
    values[:] = [0 if v is None else v for v in scaled]
    valid = np.array([v is not None for v in scaled])
    return Vector(t, narrow(values), None if valid.all() else valid)


def expected(value: Fraction | None, t: Type) -> int | type[ValueOverflow] | None:
    if value is None:
        return None
    scaled = naive_evaluate.half_up(value, t.exact_scale)
    return scaled if abs(scaled) < 10 ** (t.precision or 0) else ValueOverflow


def agrees(expr: Expr, columns: dict[str, Vector], wanted: list[Any]) -> None:
    """Equal where no row overflows; otherwise refused, and equal on the other rows."""
    if ValueOverflow in wanted:
        with pytest.raises(ValueOverflow):
            evaluate(expr, columns, len(wanted))
        good = np.array([w is not ValueOverflow for w in wanted])
        columns = {n: v.take(good) for n, v in columns.items()}
        wanted = [w for w in wanted if w is not ValueOverflow]
    out = evaluate(expr, columns, len(wanted))
    out.to_arrow().validate(full=True)
    valid = np.ones(len(wanted), bool) if out.valid is None else out.valid
    got = [int(v) if ok else None for v, ok in zip(out.values, valid, strict=True)]
    assert got == wanted
    assert out.values.dtype == narrow(out.values.astype(object)).dtype or not len(wanted)


def fraction(scaled: int | None, t: Type) -> Fraction | None:
    return None if scaled is None else Fraction(scaled, 10**t.exact_scale)


def remainder(a: Fraction, b: Fraction) -> Fraction:
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


OPERATIONS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": remainder,
}  # fmt: skip


@pytest.mark.parametrize("op", OPERATIONS)
@settings(max_examples=200, deadline=None)
@given(pairs())
def test_arithmetic(op: str, case: tuple[Type, list[int | None], Type, list[int | None]]) -> None:
    a, left, b, right = case
    if op in "/%":
        right = [1 if r == 0 else r for r in right]
    expr = call(op, Ref("a", a), Ref("b", b))
    wanted = []
    for x, y in zip(left, right, strict=True):
        p, q = fraction(x, a), fraction(y, b)
        value = None if p is None or q is None else OPERATIONS[op](p, q)
        wanted.append(expected(value, expr.type))
    agrees(expr, {"a": vector(a, left), "b": vector(b, right)}, wanted)


@settings(max_examples=200, deadline=None)
@given(pairs())
def test_arithmetic_with_a_constant(
    case: tuple[Type, list[int | None], Type, list[int | None]],
) -> None:
    a, left, b, right = case
    constant = right[0]
    text = None if constant is None else str(Decimal(constant).scaleb(-b.exact_scale, EXACTLY))
    expr = call("-", Literal(text, b), Ref("a", a))
    wanted = [
        expected(
            None if x is None or constant is None else fraction(constant, b) - fraction(x, a),
            expr.type,
        )  # type: ignore[operator]
        for x in left
    ]
    agrees(expr, {"a": vector(a, left)}, wanted)


@settings(max_examples=200, deadline=None)
@given(pairs())
def test_comparisons_are_exact(case: tuple[Type, list[int | None], Type, list[int | None]]) -> None:
    a, left, b, right = case
    columns = {"a": vector(a, left), "b": vector(b, right)}
    for op, compare in naive_evaluate.COMPARE.items():
        got = evaluate(call(op, Ref("a", a), Ref("b", b)), columns, 3).to_arrow().to_pylist()
        for x, y, answer in zip(left, right, got, strict=True):
            null = x is None or y is None
            assert answer == (None if null else compare(fraction(x, a), fraction(y, b)))


@settings(max_examples=200, deadline=None)
@given(decimal_types(), decimal_types(), st.data())
def test_casts_between_decimals(a: Type, to: Type, data: st.DataObject) -> None:
    scaled = data.draw(columns_of(a))
    wanted = [expected(fraction(x, a), to) for x in scaled]
    agrees(call("cast", Ref("a", a), type=to), {"a": vector(a, scaled)}, wanted)


@settings(max_examples=200, deadline=None)
@given(decimal_types(), st.data())
def test_decimals_as_text_and_back(a: Type, data: st.DataObject) -> None:
    scaled = data.draw(columns_of(a))
    columns = {"a": vector(a, scaled)}
    text = call("cast", Ref("a", a), type=STRING)
    shown = [
        None if x is None else f"{Decimal(x).scaleb(-a.exact_scale, EXACTLY):f}" for x in scaled
    ]
    assert evaluate(text, columns, 3).to_arrow().to_pylist() == shown
    agrees(call("cast", text, type=a), columns, scaled)


@settings(max_examples=200, deadline=None)
@given(decimal_types(), st.data())
def test_decimals_as_doubles_are_the_nearest(a: Type, data: st.DataObject) -> None:
    scaled = data.draw(columns_of(a))
    double = call("cast", Ref("a", a), type=Type("DOUBLE"))
    wanted = [None if x is None else float(Fraction(x, 10**a.exact_scale)) for x in scaled]
    assert evaluate(double, {"a": vector(a, scaled)}, 3).to_arrow().to_pylist() == wanted


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)),
                min_size=1, max_size=4))  # fmt: skip
def test_bigint_overflow_is_found_exactly(rows: list[tuple[int, int]]) -> None:
    columns = {
        "a": Vector(BIGINT, np.array([a for a, _ in rows])),
        "b": Vector(BIGINT, np.array([b for _, b in rows])),
    }
    for op in "+-*":
        wanted = [OPERATIONS[op](a, b) for a, b in rows]
        fits = [w if -(2**63) <= w < 2**63 else ValueOverflow for w in wanted]
        agrees(call(op, Ref("a", BIGINT), Ref("b", BIGINT)), columns, fits)


# ---------------------------------------------------------------- many rows as each alone

MONEY = decimal(8, 2)
TYPES = {"i": INT, "j": INT, "d": MONEY, "s": STRING, "t": STRING, "p": BOOLEAN, "dt": DATE}
VALUES: dict[str, list[Any]] = {
    "i": [None, 0, 1, -3, 2**31 - 1, -(2**31)], "j": [None, 0, 2, -1],
    "d": [None, Decimal("0.00"), Decimal("0.05"), Decimal("-99999.99")],
    "s": [None, "", "a", "7", "-12", "é😀"], "t": [None, "a", "2024-02-29", "3"],
    "p": [None, True, False], "dt": [None, 0, 19782, -1],
}  # fmt: skip


@st.composite
def expressions(draw: st.DrawFn, t: Type, depth: int = 3) -> Expr:
    """An expression of the type; many of them fail on some rows."""
    leaves = [Ref(n, of) for n, of in TYPES.items() if of == t]
    constants: dict[Type, list[Any]] = {
        INT: [0, 1, 2, None], BOOLEAN: [True, False, None], STRING: ["a", "7", "", None],
        MONEY: ["0.00", "1.50", None], DATE: ["2024-02-29", None],
    }  # fmt: skip
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        literals = [Literal(v, t) for v in constants[t]]
        return draw(st.sampled_from([*leaves, *leaves, *literals]))

    def sub(of: Type) -> Expr:
        return draw(expressions(of, depth - 1))

    def pick(*shapes: Any) -> Expr:
        expr: Expr = draw(st.sampled_from(shapes))()
        return expr

    common = (
        lambda: call("case", sub(BOOLEAN), sub(t), sub(BOOLEAN), sub(t), sub(t)),
        lambda: call("case", sub(BOOLEAN), sub(t)),
        lambda: call("coalesce", sub(t), sub(t), sub(t)),
        lambda: call("nullif", sub(t), sub(t)),
    )
    of_type: dict[Type, tuple[Any, ...]] = {
        BOOLEAN: (
            lambda: call("and", sub(BOOLEAN), sub(BOOLEAN), sub(BOOLEAN)),
            lambda: call("or", sub(BOOLEAN), sub(BOOLEAN)),
            lambda: call("not", sub(BOOLEAN)),
            lambda: call(draw(st.sampled_from(list(naive_evaluate.COMPARE))), sub(INT), sub(INT)),
            lambda: call("=", sub(STRING), sub(STRING)),
            lambda: call("<", sub(MONEY), sub(MONEY)),
            lambda: call("in", sub(INT), sub(INT), sub(INT), Literal(1, INT)),
            lambda: call("is_null", sub(STRING)),
            lambda: call("is_distinct", sub(INT), sub(INT)),
            lambda: call("like", sub(STRING), Literal("%a_", STRING)),
        ),
        INT: (
            lambda: call("+", sub(INT), sub(INT)),
            lambda: call("*", sub(INT), sub(INT)),
            lambda: call("%", sub(INT), sub(INT)),
            lambda: call("abs", sub(INT)),
            lambda: call("cast", sub(STRING), type=INT),
            lambda: call("length", sub(STRING)),
            lambda: call("year", sub(DATE)),
        ),
        STRING: (
            lambda: call("concat", sub(STRING), sub(STRING)),
            lambda: call("substring", sub(STRING), sub(INT), sub(INT)),
            lambda: call("upper", sub(STRING)),
            lambda: call("cast", sub(INT), type=STRING),
        ),
        MONEY: (
            lambda: call("cast", call("/", sub(MONEY), sub(MONEY)), type=MONEY),
            lambda: call("cast", call("-", sub(MONEY), sub(MONEY)), type=MONEY),
            lambda: call("cast", sub(STRING), type=MONEY),
        ),
        DATE: (
            lambda: call("cast", sub(STRING), type=DATE),
            lambda: call("add_days", sub(DATE), sub(INT)),
            lambda: call("add_months", sub(DATE), sub(INT)),
        ),
    }
    return pick(*common, *of_type[t], *of_type[t])


def alone(expr: Expr, row: dict[str, Any]) -> Any:
    """The row's value, or Undefined."""
    try:
        return naive_evaluate.value(expr, row)
    except naive_evaluate.Undefined:
        return naive_evaluate.Undefined
    except OverflowError:
        reject()


def plain(v: Vector) -> list[Any]:
    """Dates as days, decimals as fractions."""
    if v.type.name == "DATE":
        v = Vector(INT, v.values, v.valid)
    values = v.to_arrow().to_pylist()
    return [Fraction(x) if isinstance(x, Decimal) else x for x in values]


@settings(max_examples=8000, deadline=None)
@given(st.sampled_from([BOOLEAN, INT, STRING, MONEY, DATE]).flatmap(expressions), st.data())
def test_many_rows_are_as_each_alone(expr: Expr, data: st.DataObject) -> None:
    n = 6
    columns = {}
    for name, t in TYPES.items():
        values = data.draw(st.lists(st.sampled_from(VALUES[name]), min_size=n, max_size=n))
        storage = pa.array(values, pa.int32()).cast(pa.date32()) if t == DATE else values
        columns[name] = Vector.from_arrow(pa.array(storage, arrow_type(t)), t)
    cells = {name: plain(v) for name, v in columns.items()}
    wanted = [alone(expr, {name: cells[name][k] for name in cells}) for k in range(n)]
    target(float(len({str(w) for w in wanted})))
    if naive_evaluate.Undefined in wanted:
        with pytest.raises(ValueOverflow):
            evaluate(expr, columns, n)
        return
    assert plain(evaluate(expr, columns, n)) == wanted
    if expr.type == BOOLEAN:
        assert matches(expr, columns, n).tolist() == [w is True for w in wanted]
