"""evaluate: a table of cases for every function, NULLs and edges, on one small set of columns.

The same functions are compared with Spark itself in tests/spark/test_evaluate_spark.py.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal as D
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everview.delta.evaluate import evaluate, matches, walk
from everview.delta.evaluate.faults import may_fail
from everview.delta.vector import Vector, arrow_type, concat
from everview.errors import ConfigError, EverviewError, PlanError, ValueOverflow
from everview.expr import FUNCTIONS, Call, Expr, Literal, Ref, Value, call
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
    Type,
    decimal,
)

NAN, INF = math.nan, math.inf
MONEY = decimal(9, 2)
T, F, N = True, False, None

DATA: dict[str, tuple[Type, list[Any]]] = {
    "p": (BOOLEAN, [T, T, T, F, F, F, N, N, N]),
    "q": (BOOLEAN, [T, F, N, T, F, N, T, F, N]),
    "i": (INT, [7, -7, 0, None, 1, 2, 2**31 - 1, -(2**31), 5]),
    "j": (INT, [2, 2, 3, 1, None, -2, 1, 1, 0]),
    "d": (MONEY, [D("1.00"), D("-0.05"), None, D("9999999.99"), D("0.00"), D("2.50"), D("1.01"),
                  D("-1.00"), D("0.01")]),
    "g": (DOUBLE, [1.5, NAN, None, INF, -INF, -0.0, 0.0, NAN, 2.5]),
    "s": (STRING, ["a", "A", None, "", "héllo", "  x ", "a%b", "😀é", "Straße"]),
    "u": (STRING, ["a", "a", "b", None, "hé", "\uffff", "a_b", "\U00010000", ""]),
    "b": (BINARY, [b"a", b"", None, b"\xff\x00", b"abc", b"\x80", b"a", b"\x7f", b"b"]),
    "dt": (DATE, [date(1970, 1, 1), date(1969, 12, 31), None, date(2024, 2, 29), date(1, 1, 1),
                  date(9999, 12, 31), date(2024, 1, 31), date(1900, 2, 28), date(2000, 12, 31)]),
    "tn": (TIMESTAMP_NTZ, [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), None,
                           datetime(2024, 2, 29, 12, 34, 56), datetime(1, 1, 1),
                           datetime(9999, 12, 31, 23, 59, 59), datetime(2024, 7, 1, 6),
                           datetime(1900, 2, 28, 1), datetime(2000, 1, 1, 0, 59, 1)]),
}  # fmt: skip
ROWS = 9
COLUMNS = {n: Vector.from_arrow(pa.array(v, arrow_type(t)), t) for n, (t, v) in DATA.items()}
C = {n: Ref(n, t) for n, (t, _) in DATA.items()}
p, q, i, j, d, g, s, u, b, dt, tn = C.values()


def lit(value: Value, t: Type) -> Literal:
    return Literal(value, t)


def num(n: int) -> Literal:
    return Literal(n, INT)


def txt(text: str) -> Literal:
    return Literal(text, STRING)


def cast(a: Expr, t: Type) -> Call:
    return call("cast", a, type=t)


def value(expr: Expr, zone: str = "UTC") -> list[Any]:
    out = evaluate(expr, COLUMNS, ROWS, zone=zone)
    assert out.type == expr.type
    assert len(out) == ROWS
    return out.to_arrow().to_pylist()  # type: ignore[no-any-return]


def name(part: Any) -> str:
    """What a case is called."""
    return part.op if isinstance(part, Call) else str(part) if isinstance(part, str) else ""


def one(expr: Expr, zone: str = "UTC") -> Any:
    """The value of an expression without columns."""
    return evaluate(expr, {}, 1, zone=zone).to_arrow().to_pylist()[0]


ts = cast(tn, TIMESTAMP)
years = (lit("0002-01-01", DATE), lit("9000-01-01", DATE))  # where Python still has the results
some = call("case", call("and", call(">", dt, years[0]), call("<", dt, years[1])), dt)
CASES: list[tuple[Expr, list[Any]]] = [
    (call("and", p, q), [T, F, N, F, F, F, N, F, N]),
    (call("and", p, q, lit(None, BOOLEAN)), [N, F, N, F, F, F, N, F, N]),
    (call("and", p), [T, T, T, F, F, F, N, N, N]),
    (call("or", p, q), [T, T, T, T, F, N, T, N, N]),
    (call("or", q, p, lit(False, BOOLEAN)), [T, T, T, T, F, N, T, N, N]),
    (call("not", p), [F, F, F, T, T, T, N, N, N]),
    (call("=", i, j), [F, F, F, N, N, F, F, F, F]),
    (call("=", s, u), [T, F, N, N, F, F, F, F, F]),
    (call("=", g, lit("NaN", DOUBLE)), [F, T, N, F, F, F, F, T, F]),
    (call("=", g, lit(0.0, DOUBLE)), [F, F, N, F, F, T, T, F, F]),
    (call("=", d, lit("1", decimal(1, 0))), [T, F, N, F, F, F, F, F, F]),
    (call("=", d, lit("1.0000", decimal(5, 4))), [T, F, N, F, F, F, F, F, F]),
    (call("=", d, j), [F, F, N, F, N, F, F, F, F]),
    (call("<>", p, q), [F, T, N, T, F, N, N, N, N]),
    (call("<", i, lit(2**31 - 1, INT)), [T, T, T, N, T, T, F, T, T]),
    (call("<", g, lit("NaN", DOUBLE)), [T, F, N, T, T, T, T, F, T]),
    (call("<", b, lit("a", BINARY)), [F, T, N, F, F, F, F, F, F]),
    (call("<=", g, lit(1.5, DOUBLE)), [T, F, N, F, T, T, T, F, F]),
    (call("<=", u, s), [T, F, N, N, T, F, F, T, T]),
    (call(">", d, lit("0.00999999999999", decimal(14, 14))), [T, F, N, T, F, T, T, F, T]),
    (call(">", lit("0.05", decimal(2, 2)), d), [F, T, N, F, T, F, F, T, T]),
    (call(">", tn, dt), [F, T, N, T, F, T, T, T, F]),
    (call(">=", dt, lit("2024-02-29", DATE)), [F, F, N, T, F, T, F, F, F]),
    (call(">=", cast(i, BIGINT), g), [T, F, N, N, T, T, T, F, T]),
    (call("is_null", s), [F, F, T, F, F, F, F, F, F]),
    (call("is_null", num(1)), [F] * 9),
    (call("is_null", call("=", g, g)), [F, F, T, F, F, F, F, F, F]),
    (call("is_distinct", p, q), [F, T, T, T, F, T, T, T, F]),
    (call("is_distinct", g, lit(None, DOUBLE)), [T, T, F, T, T, T, T, T, T]),
    (call("in", i, num(7), num(1)), [T, F, F, N, T, F, F, F, F]),
    (call("in", i, num(7), lit(None, INT)), [T, N, N, N, N, N, N, N, N]),
    (call("in", i, *map(num, range(8))), [T, F, T, N, T, T, F, F, T]),
    (call("in", i, j, num(5)), [F, F, F, N, N, F, F, F, T]),
    (call("in", s, txt("a"), txt("héllo"), txt("")), [T, F, N, T, T, F, F, F, F]),
    (call("in", s, u), [T, F, N, N, F, F, F, F, F]),
    (call("like", s, txt("a%")), [T, F, N, F, F, F, T, F, F]),
    (call("like", s, txt("_")), [T, T, N, F, F, F, F, F, F]),
    (call("like", s, txt("__")), [F, F, N, F, F, F, F, T, F]),
    (call("like", s, txt("a\\%b")), [F, F, N, F, F, F, T, F, F]),
    (call("like", s, txt("a|%_"), txt("|")), [F, F, N, F, F, F, T, F, F]),
    (call("like", s, txt("%")), [T, T, N, T, T, T, T, T, T]),
    (call("like", s, txt("%l%o%")), [F, F, N, F, T, F, F, F, F]),
    (call("like", s, u), [T, F, N, N, F, F, T, F, F]),
    (call("like", s, lit(None, STRING)), [N] * 9),
    (call("+", j, j), [4, 4, 6, 2, None, -4, 2, 2, 0]),
    (call("+", g, lit(1.0, DOUBLE)), [2.5, NAN, None, INF, -INF, 1.0, 1.0, NAN, 3.5]),
    (call("-", j, num(5)), [-3, -3, -2, -4, None, -7, -4, -4, -5]),
    (call("-", lit("1", decimal(1, 0)), d), [D("0.00"), D("1.05"), None, D("-9999998.99"),
                                            D("1.00"), D("-1.50"), D("-0.01"), D("2.00"),
                                            D("0.99")]),
    (call("*", j, j), [4, 4, 9, 1, None, 4, 1, 1, 0]),
    (call("*", d, d), [D("1.0000"), D("0.0025"), None, D("99999999800000.0001"), D("0.0000"),
                       D("6.2500"), D("1.0201"), D("1.0000"), D("0.0001")]),
    (call("/", j, num(4)), [0.5, 0.5, 0.75, 0.25, None, -0.5, 0.25, 0.25, 0.0]),
    (call("/", lit("1.00", decimal(3, 2)), call("nullif", d, lit("0", decimal(1, 0)))),
     [D("1.000000000000"), D("-20.000000000000"), None, D("0.000000100000"), None,
      D("0.400000000000"), D("0.990099009901"), D("-1.000000000000"), D("100.000000000000")]),
    (call("%", i, num(4)), [3, -3, 0, None, 1, 2, 3, 0, 1]),
    (call("%", d, lit("0.03", decimal(2, 2))), [D("0.01"), D("-0.02"), None, D("0.00"), D("0.00"),
                                                D("0.01"), D("0.02"), D("-0.01"), D("0.01")]),
    (call("%", g, lit(-1.0, DOUBLE)), [0.5, NAN, None, NAN, NAN, -0.0, 0.0, NAN, 0.5]),
    (call("neg", j), [-2, -2, -3, -1, None, 2, -1, -1, 0]),
    (call("neg", g), [-1.5, NAN, None, -INF, INF, 0.0, -0.0, NAN, -2.5]),
    (call("abs", d), [D("1.00"), D("0.05"), None, D("9999999.99"), D("0.00"), D("2.50"), D("1.01"),
                      D("1.00"), D("0.01")]),
    (call("abs", g), [1.5, NAN, None, INF, INF, 0.0, 0.0, NAN, 2.5]),
    (call("case", p, i, q, j), [7, -7, 0, 1, None, None, 1, None, None]),
    (call("case", p, s, txt("z")), ["a", "A", None, "z", "z", "z", "z", "z", "z"]),
    (call("case", p, num(1), num(0)), [1, 1, 1, 0, 0, 0, 0, 0, 0]),
    (call("case", lit(None, BOOLEAN), num(1)), [None] * 9),
    (call("coalesce", i, j), [7, -7, 0, 1, 1, 2, 2**31 - 1, -(2**31), 5]),
    (call("coalesce", s, u), ["a", "A", "b", "", "héllo", "  x ", "a%b", "😀é", "Straße"]),
    (call("coalesce", lit(None, INT), num(3)), [3] * 9),
    (call("nullif", s, u), [None, "A", None, "", "héllo", "  x ", "a%b", "😀é", "Straße"]),
    (call("nullif", i, num(7)), [None, -7, 0, None, 1, 2, 2**31 - 1, -(2**31), 5]),
    (call("nullif", num(7), i), [None, 7, 7, 7, 7, 7, 7, 7, 7]),
    (cast(j, STRING), ["2", "2", "3", "1", None, "-2", "1", "1", "0"]),
    (cast(d, STRING), ["1.00", "-0.05", None, "9999999.99", "0.00", "2.50", "1.01", "-1.00",
                       "0.01"]),
    (cast(g, STRING), ["1.5", "NaN", None, "Infinity", "-Infinity", "-0.0", "0.0", "NaN", "2.5"]),
    (cast(d, decimal(9, 1)), [D("1.0"), D("-0.1"), None, D("10000000.0"), D("0.0"), D("2.5"),
                              D("1.0"), D("-1.0"), D("0.0")]),
    (cast(d, BIGINT), [1, 0, None, 9999999, 0, 2, 1, -1, 0]),
    (cast(p, INT), [1, 1, 1, 0, 0, 0, None, None, None]),
    (cast(dt, TIMESTAMP_NTZ), [datetime(1970, 1, 1), datetime(1969, 12, 31), None,
                               datetime(2024, 2, 29), datetime(1, 1, 1), datetime(9999, 12, 31),
                               datetime(2024, 1, 31), datetime(1900, 2, 28),
                               datetime(2000, 12, 31)]),
    (cast(tn, DATE), [date(1970, 1, 1), date(1969, 12, 31), None, date(2024, 2, 29),
                      date(1, 1, 1), date(9999, 12, 31), date(2024, 7, 1), date(1900, 2, 28),
                      date(2000, 1, 1)]),
    (call("year", dt), [1970, 1969, None, 2024, 1, 9999, 2024, 1900, 2000]),
    (call("quarter", dt), [1, 4, None, 1, 1, 4, 1, 1, 4]),
    (call("month", dt), [1, 12, None, 2, 1, 12, 1, 2, 12]),
    (call("day", dt), [1, 31, None, 29, 1, 31, 31, 28, 31]),
    (call("dayofweek", dt), [5, 4, None, 5, 2, 6, 4, 4, 1]),
    (call("dayofyear", dt), [1, 365, None, 60, 1, 365, 31, 59, 366]),
    (call("hour", ts), [0, 23, None, 12, 0, 23, 6, 1, 0]),
    (call("hour", dt), [0, 0, None, 0, 0, 0, 0, 0, 0]),
    (call("minute", ts), [0, 59, None, 34, 0, 59, 0, 0, 59]),
    (call("second", tn), [0, 59, None, 56, 0, 59, 0, 0, 1]),
    (call("year", tn), [1970, 1969, None, 2024, 1, 9999, 2024, 1900, 2000]),
    (call("add_days", some, num(-1)), [date(1969, 12, 31), date(1969, 12, 30), None,
                                       date(2024, 2, 28), None, None,
                                       date(2024, 1, 30), date(1900, 2, 27), date(2000, 12, 30)]),
    (call("add_months", some, num(1)), [date(1970, 2, 1), date(1970, 1, 31), None,
                                        date(2024, 3, 29), None, None, date(2024, 2, 29),
                                        date(1900, 3, 28), date(2001, 1, 31)]),
    (call("date_diff", dt, lit("1970-01-01", DATE)), [0, -1, None, 19782, -719162, 2932896, 19753,
                                                      -25509, 11322]),
    (call("add_micros", tn, lit(1, BIGINT)),
     [datetime(1970, 1, 1, 0, 0, 0, 1), datetime(1970, 1, 1), None,
      datetime(2024, 2, 29, 12, 34, 56, 1), datetime(1, 1, 1, 0, 0, 0, 1),
      datetime(9999, 12, 31, 23, 59, 59, 1), datetime(2024, 7, 1, 6, 0, 0, 1),
      datetime(1900, 2, 28, 1, 0, 0, 1), datetime(2000, 1, 1, 0, 59, 1, 1)]),
    (call("substring", s, num(2), num(2)), ["", "", None, "", "él", " x", "%b", "é", "tr"]),
    (call("substring", s, num(-2)), ["a", "A", None, "", "lo", "x ", "%b", "😀é", "ße"]),
    (call("substring", s, j, num(1)), ["", "", None, "", None, "x", "a", "😀", "S"]),
    (call("substring", b, num(0), num(1)), [b"a", b"", None, b"\xff", b"a", b"\x80", b"a", b"\x7f",
                                           b"b"]),
    (call("concat", s, txt("|"), u), ["a|a", "A|a", None, None, "héllo|hé", "  x |\uffff",
                                      "a%b|a_b", "😀é|\U00010000", "Straße|"]),
    (call("concat", txt("<"), s), ["<a", "<A", None, "<", "<héllo", "<  x ", "<a%b", "<😀é",
                                   "<Straße"]),
    (call("concat", txt("a"), txt("b")), ["ab"] * 9),
    (call("upper", s), ["A", "A", None, "", "HÉLLO", "  X ", "A%B", "😀É", "STRASSE"]),
    (call("lower", s), ["a", "a", None, "", "héllo", "  x ", "a%b", "😀é", "straße"]),
    (call("trim", s), ["a", "A", None, "", "héllo", "x", "a%b", "😀é", "Straße"]),
    (call("ltrim", s), ["a", "A", None, "", "héllo", "x ", "a%b", "😀é", "Straße"]),
    (call("rtrim", s), ["a", "A", None, "", "héllo", "  x", "a%b", "😀é", "Straße"]),
    (call("trim", txt("\t x\n ")), ["\t x\n"] * 9),
    (call("length", s), [1, 1, None, 0, 5, 4, 3, 2, 6]),
    (call("length", b), [1, 0, None, 2, 3, 1, 1, 1, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "expected"), CASES, ids=name)
def test_value(expr: Expr, expected: list[Any]) -> None:
    assert repr(value(expr)) == repr(expected)


@pytest.mark.parametrize(("expr", "expected"), CASES, ids=name)
def test_the_same_row_by_row(expr: Expr, expected: list[Any]) -> None:
    """A frame of one row, where a column looks like a constant."""
    for row in range(ROWS):
        columns = {n: v.take(np.array([row])) for n, v in COLUMNS.items()}
        assert repr(evaluate(expr, columns, 1).to_arrow().to_pylist()) == repr([expected[row]])


@pytest.mark.parametrize(("expr", "expected"), CASES, ids=name)
def test_the_same_in_doubled_pools(expr: Expr, expected: list[Any]) -> None:
    """After a merge a text stands at several positions of its pool, most of them unused."""
    columns = {n: concat([v, v, v, v, v]).take(np.arange(9, 18)) for n, v in COLUMNS.items()}
    assert repr(evaluate(expr, columns, ROWS).to_arrow().to_pylist()) == repr(expected)


def test_every_function_has_cases_and_an_implementation() -> None:
    held = {expr.op for expr, _ in CASES if isinstance(expr, Call)}
    assert held == set(FUNCTIONS)
    assert set(walk.FUNCTIONS) | set(walk.DECIDING) == set(FUNCTIONS)
    assert not set(walk.FUNCTIONS) & set(walk.DECIDING)


def test_inputs_are_not_written() -> None:
    before = [
        (v.values.copy(), None if v.valid is None else v.valid.copy()) for v in COLUMNS.values()
    ]
    for expr, _ in CASES:
        evaluate(expr, COLUMNS, ROWS)
    for (values, valid), v in zip(before, COLUMNS.values(), strict=True):
        assert values.tobytes() == v.values.tobytes()
        assert valid is None or valid.tobytes() == v.valid.tobytes()  # type: ignore[union-attr]


@pytest.mark.parametrize("expr", [e for e, _ in CASES], ids=name)
def test_no_rows(expr: Expr) -> None:
    out = evaluate(expr, {n: v.take(np.array([], int)) for n, v in COLUMNS.items()}, 0)
    assert out.type == expr.type
    assert len(out.to_arrow()) == 0


def test_no_rows_never_fail() -> None:
    assert len(evaluate(call("/", num(1), num(0)), {}, 0)) == 0
    assert len(matches(call("=", call("/", num(1), num(0)), num(1)), {}, 0)) == 0


def test_a_column_is_handed_through() -> None:
    assert evaluate(s, COLUMNS, ROWS) is COLUMNS["s"]


def test_matches_is_true_only() -> None:
    assert matches(call("or", p, q), COLUMNS, ROWS).tolist() == [T, T, T, T, F, F, T, F, F]
    assert matches(p, COLUMNS, ROWS).tolist() == [T, T, T, F, F, F, F, F, F]
    assert matches(lit(True, BOOLEAN), COLUMNS, ROWS).tolist() == [T] * ROWS
    assert matches(lit(None, BOOLEAN), COLUMNS, ROWS).tolist() == [F] * ROWS


# ---------------------------------------------------------------- what fails, and where it does not

big = lit("9" * 38, decimal(38, 0))
FAILING: list[tuple[Expr, str]] = [
    (call("+", lit(2**31 - 1, INT), num(1)), "VALUE.OVERFLOW"),
    (call("+", lit(2**63 - 1, BIGINT), lit(1, BIGINT)), "VALUE.OVERFLOW"),
    (call("-", lit(-(2**63), BIGINT), lit(1, BIGINT)), "VALUE.OVERFLOW"),
    (call("*", lit(2**32, BIGINT), lit(2**31, BIGINT)), "VALUE.OVERFLOW"),
    (call("neg", lit(-(2**63), BIGINT)), "VALUE.OVERFLOW"),
    (call("abs", lit(-128, Type("TINYINT"))), "VALUE.OVERFLOW"),
    (call("+", big, lit("1", decimal(1, 0))), "VALUE.OVERFLOW"),
    (call("*", big, lit("10", decimal(2, 0))), "VALUE.OVERFLOW"),
    (call("/", big, lit("0.1", decimal(1, 1))), "VALUE.OVERFLOW"),
    (call("/", num(1), num(0)), "VALUE.DIVIDE_BY_ZERO"),
    (call("/", lit(1.0, DOUBLE), lit(-0.0, DOUBLE)), "VALUE.DIVIDE_BY_ZERO"),
    (call("/", big, lit("0.00", decimal(3, 2))), "VALUE.DIVIDE_BY_ZERO"),
    (call("%", num(1), num(0)), "VALUE.DIVIDE_BY_ZERO"),
    (call("%", big, lit("0.00", decimal(3, 2))), "VALUE.DIVIDE_BY_ZERO"),
    (call("add_days", lit("9999-12-31", DATE), num(2**31 - 1)), "VALUE.OVERFLOW"),
    (call("add_months", lit("2024-01-31", DATE), num(2**31 - 1)), "VALUE.OVERFLOW"),
    (call("add_micros", lit("2024-01-31 00:00:00", TIMESTAMP), lit(2**63 - 1, BIGINT)),
     "VALUE.OVERFLOW"),
    (cast(num(300), Type("TINYINT")), "VALUE.CAST"),
    (cast(txt("12.0"), INT), "VALUE.CAST"),
    (cast(txt("2024-02-30"), DATE), "VALUE.CAST"),
    (cast(lit(NAN, DOUBLE), BIGINT), "VALUE.CAST"),
    (cast(lit("99.95", decimal(4, 2)), decimal(3, 1)), "VALUE.CAST"),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "code"), FAILING, ids=name)
def test_failing(expr: Call, code: str) -> None:
    assert may_fail(expr)
    with pytest.raises(ValueOverflow) as error:
        evaluate(expr, {}, 1)
    assert error.value.code == code
    columns = {"p": COLUMNS["p"]}
    never = call("is_null", call("is_null", p))
    for guarded in (
        call("case", never, expr, lit(None, expr.type)),
        call("case", call("not", never), lit(None, expr.type), expr),
        call("and", never, call("is_null", expr)),
        call("or", never, call("not", never), call("is_null", expr)),
    ):
        evaluate(guarded, columns, ROWS)


def test_only_needed_rows_are_computed() -> None:
    zero = num(0)
    ratio = call("/", num(12), j)  # j is 0 in the last row, NULL in the fifth
    expected = [6.0, 6.0, 4.0, 12.0, None, -6.0, 12.0, 12.0, None]
    assert value(call("case", call("<>", j, zero), ratio)) == expected
    assert value(call("coalesce", call("case", call("=", j, zero), lit(-1.0, DOUBLE)), ratio)) == [
        *expected[:-1],
        -1.0,
    ]
    over_five = call(">", ratio, lit(5.0, DOUBLE))
    assert value(call("and", call("<>", j, zero), over_five)) == [T, T, F, T, N, F, T, T, F]
    assert value(call("or", call("=", j, zero), over_five)) == [T, T, F, T, N, F, T, T, T]
    assert value(call("in", num(6), num(6), cast(ratio, INT))) == [T] * 9
    assert value(call("+", call("nullif", j, zero), cast(ratio, INT)))[-1] is None
    with pytest.raises(ValueOverflow, match=r"\(12 / j\) divides by zero"):
        value(call("case", call("is_null", p), ratio))
    with pytest.raises(ValueOverflow, match="divides by zero"):
        value(call("and", over_five, call("<>", j, zero)))


def test_null_over_zero_is_null() -> None:
    assert one(call("/", lit(None, DOUBLE), lit(0.0, DOUBLE))) is None
    assert one(call("%", lit(None, INT), num(0))) is None


def test_nested_guards_look_at_few_rows() -> None:
    inner = call("case", call(">", j, num(1)), call("/", num(1), call("-", j, num(1))))
    outer = call("case", call("is_null", call("not", p)), lit(0.0, DOUBLE), inner)
    assert value(outer) == [1.0, 1.0, 0.5, None, None, None, 0.0, 0.0, 0.0]


def test_what_stands_under_null_cannot_fail() -> None:
    x = Vector(INT, np.array([2**31 - 1, 0]), np.array([False, True]))
    bad = Vector(STRING, np.array([0, 1]), np.array([False, True]), pa.array(["no number", "7"]))
    columns = {"x": x, "bad": bad}
    assert evaluate(call("+", Ref("x", INT), num(1)), columns, 2).to_arrow().to_pylist() == [
        None,
        1,
    ]
    assert evaluate(cast(Ref("bad", STRING), INT), columns, 2).to_arrow().to_pylist() == [None, 7]
    ratio = call("/", num(1), Ref("x", INT))
    hidden = {"x": Vector(INT, np.array([0, 2]), np.array([False, True]))}
    assert evaluate(ratio, hidden, 2).to_arrow().to_pylist() == [None, 0.5]


def test_messages_name_the_operation_and_the_value() -> None:
    with pytest.raises(ValueOverflow) as error:
        value(call("*", i, num(2)))
    assert "(i * 2) leaves the range of INT: 4294967294" in str(error.value)
    with pytest.raises(ValueOverflow) as error:
        value(cast(s, INT))
    assert "cast(s as INT): 'a' of STRING is not a value of INT" in str(error.value)
    with pytest.raises(ValueOverflow) as error:
        value(cast(d, Type("TINYINT")))
    assert "'9999999.99' of DECIMAL(9,2)" in str(error.value)


@pytest.mark.parametrize("pattern", ["a\\", "\\a", "ab\\c%"])
def test_a_like_pattern_with_a_stray_escape_is_refused(pattern: str) -> None:
    with pytest.raises(PlanError, match="escape character"):
        value(call("like", s, txt(pattern)))


def test_casts_that_make_no_sense_are_refused() -> None:
    for source, target in ((dt, INT), (p, DATE), (tn, BIGINT), (b, INT), (p, TIMESTAMP), (i, DATE)):
        with pytest.raises(PlanError):
            value(cast(source, target))


# ---------------------------------------------------------------- long numbers and texts of numbers


def test_division_is_rounded_as_spark_does() -> None:
    tie = call("/", lit("1", decimal(38, 0)), lit("20000000", decimal(38, 0)))
    assert tie.type == decimal(38, 6)
    assert one(tie) == D("0.000000")
    assert one(call("/", lit("1", decimal(38, 0)), lit("2000000", decimal(38, 0)))) == D("0.000001")
    # 10^31 / (2 * 10^37 + 1) is just below the tie 0.0000005, by less than 10^-39: Spark rounds to
    # 39 digits first, which gives the tie, and then up.
    divisor = lit("2" + "0" * 36 + "1", decimal(38, 0))
    assert one(call("/", lit("1" + "0" * 31, decimal(38, 0)), divisor)) == D("0.000001")


def test_comparison_of_wide_and_narrow_is_exact() -> None:
    wide = lit("0." + "0" * 37 + "1", decimal(38, 38))
    assert one(call("<", lit("0", decimal(38, 0)), wide)) is True
    assert one(call("=", big, lit("9" * 38, decimal(38, 0)))) is True
    assert one(call(">", big, lit(2**63 - 1, BIGINT))) is True
    assert one(call("in", num(1), lit("1.00", decimal(3, 2)))) is True


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1e7, "1.0E7"), (9999999.0, "9999999.0"), (0.001, "0.001"), (0.00099, "9.9E-4"),
     (5e-324, "4.9E-324"), (1.7976931348623157e308, "1.7976931348623157E308"),
     (123456.789, "123456.789"), (100.0, "100.0"), (2e-44, "2.0E-44"), (-1234567.5, "-1234567.5")],
)  # fmt: skip
def test_doubles_as_text(number: float, shown: str) -> None:
    assert one(cast(lit(number, DOUBLE), STRING)) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.1, "0.1"), (3.4028235e38, "3.4028235E38"), (1e-45, "1.4E-45"), (16777216.0, "1.6777216E7")],
)
def test_floats_as_text(number: float, shown: str) -> None:
    assert one(cast(lit(number, FLOAT), STRING)) == shown


def test_texts_as_floats_are_rounded_once() -> None:
    assert one(cast(txt("16777217.0000000001"), FLOAT)) == 16777218.0
    assert one(cast(txt("16777217"), FLOAT)) == 16777216.0
    assert one(cast(lit("16777217.0000000001", decimal(38, 10)), FLOAT)) == 16777218.0


# ---------------------------------------------------------------- zones


def local(text: str, zone: str) -> str:
    """What a zone's clocks show at an instant."""
    stamp = lit(text + "Z", TIMESTAMP)
    return str(one(cast(stamp, STRING), zone))


@pytest.mark.parametrize(
    ("instant", "zone", "clock"),
    [("2024-03-10 06:59:59", "America/New_York", "2024-03-10 01:59:59"),
     ("2024-03-10 07:00:00", "America/New_York", "2024-03-10 03:00:00"),
     ("2024-11-03 06:00:00", "America/New_York", "2024-11-03 01:00:00"),
     ("2500-07-01 12:00:00", "America/New_York", "2500-07-01 08:00:00"),
     ("9999-12-31 12:00:00", "America/New_York", "9999-12-31 07:00:00"),
     ("1883-11-18 16:59:59", "America/New_York", "1883-11-18 12:03:57"),
     ("0001-01-01 12:00:00", "America/New_York", "0001-01-01 07:03:58"),
     ("1970-01-01 00:00:00.000001", "Asia/Kolkata", "1970-01-01 05:30:00.000001"),
     ("1970-01-01 00:00:00", "-03:30", "1969-12-31 20:30:00"),
     ("2024-01-01 00:00:00", "UTC", "2024-01-01 00:00:00")],
)  # fmt: skip
def test_clock_of_a_zone(instant: str, zone: str, clock: str) -> None:
    assert local(instant, zone) == clock


@pytest.mark.parametrize(
    ("clock", "zone", "instant"),
    [("2024-03-10 02:30:00", "America/New_York", "2024-03-10 07:30:00"),   # never was
     ("2024-11-03 01:30:00", "America/New_York", "2024-11-03 05:30:00"),   # was twice
     ("2450-07-01 12:00:00", "America/New_York", "2450-07-01 16:00:00"),
     ("1700-01-01 00:00:00", "America/New_York", "1700-01-01 04:56:02")],
)  # fmt: skip
def test_instant_of_a_clock(clock: str, zone: str, instant: str) -> None:
    text = cast(cast(lit(clock, TIMESTAMP_NTZ), TIMESTAMP), BIGINT)
    assert one(text, zone) == one(cast(lit(instant + "Z", TIMESTAMP), BIGINT))


def test_a_day_without_midnight_starts_when_clocks_do() -> None:
    """Toronto skipped 23:30 to 00:30 in 1919: 31 March began at 00:30, which is 04:30 UTC."""
    start = cast(cast(lit("1919-03-31", DATE), TIMESTAMP), BIGINT)
    assert one(start, "America/Toronto") == one(
        cast(lit("1919-03-31 04:30:00Z", TIMESTAMP), BIGINT)
    )


def test_fields_follow_the_session_zone() -> None:
    stamp = lit("2024-01-01 02:30:00Z", TIMESTAMP)
    fields = ("year", "month", "day", "hour", "minute", "dayofyear")
    got = [one(call(f, stamp), "America/New_York") for f in fields]
    assert got == [2023, 12, 31, 21, 30, 365]


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ConfigError, match="Nowhere"):
        one(call("hour", lit("2024-01-01 00:00:00Z", TIMESTAMP)), "Nowhere/Town")


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(EverviewError, match="no function 'sqrt'"):
        evaluate(Call("sqrt", (num(1),), DOUBLE), {}, 1)
