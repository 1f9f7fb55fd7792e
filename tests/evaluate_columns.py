"""Nine rows of columns of most types, and short names to write expressions over them."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal as D
from typing import Any

import pyarrow as pa

from everview.delta.evaluate import evaluate
from everview.delta.vector import Vector, arrow_type
from everview.expr import Call, Expr, Literal, Ref, Value, call
from everview.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
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
