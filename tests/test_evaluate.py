"""evaluate: a table of cases for every function, with NULLs and edges, on one small set of columns.

What fails, zones and text forms: test_evaluate_edges. The same functions are compared with Spark
itself in tests/spark/test_evaluate_spark.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal as D
from typing import Any

import numpy as np
import pytest

from everview.delta.evaluate import evaluate, matches, walk
from everview.delta.vector import concat
from everview.expr import FUNCTIONS, Call, Expr, call
from everview.schema import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    decimal,
)
from tests.evaluate_columns import (
    COLUMNS,
    INF,
    NAN,
    ROWS,
    F,
    N,
    T,
    b,
    cast,
    d,
    dt,
    g,
    i,
    j,
    lit,
    name,
    num,
    p,
    q,
    s,
    tn,
    txt,
    u,
    value,
)

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
    (call("try_cast", s, type=INT), [None] * 9),
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
