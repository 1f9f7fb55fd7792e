"""One row, one expression, plain Python: the meaning of evaluate without columns.

    value(expr, row) -> None, bool, int, Fraction, str, or days; raises Undefined where Spark fails

Only the functions and types that tests/test_evaluate_laws uses. Arguments are evaluated left to
right and only as far as needed: after a NULL nothing more, in CASE, AND, OR, COALESCE and IN until
decided.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from everview.expr import Call, Expr, Literal, Ref
from everview.schema import Type

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
EPOCH = date(1970, 1, 1)


class Undefined(Exception):
    """This row has no value."""


def half_up(value: Fraction, scale: int) -> int:
    """value * 10^scale, rounded, ties away from zero."""
    scaled = abs(value) * 10**scale
    whole = (scaled.numerator * 2 + scaled.denominator) // (scaled.denominator * 2)
    return -whole if value < 0 else whole


def ranged(value: Any, t: Type) -> Any:
    """The value as one of the type: rounded to its scale; Undefined out of its range."""
    if t.is_decimal:
        scaled = half_up(Fraction(value), t.exact_scale)
        if abs(scaled) >= 10 ** (t.precision or 0):
            raise Undefined
        return Fraction(scaled, 10**t.exact_scale)
    if not -(2**31) <= value < 2**31:
        raise Undefined
    return value


def value(expr: Expr, row: Mapping[str, Any]) -> Any:
    if isinstance(expr, Ref):
        return row[expr.name]
    if isinstance(expr, Literal):
        return _literal(expr)
    if expr.op in LAZY:
        return LAZY[expr.op](expr, row)
    found: dict[int, Any] = {}
    order = range(len(expr.args))
    for i in reversed(order) if expr.op in ("/", "%") else order:
        found[i] = value(expr.args[i], row)
        if found[i] is None and expr.op not in ("is_null", "is_distinct"):
            if expr.op == "concat":  # all arguments are looked at
                [value(a, row) for a in expr.args]
            return None
    return _function(expr, *(found[i] for i in order))


def _literal(expr: Literal) -> Any:
    if expr.value is None or not isinstance(expr.value, str) or expr.type.name == "STRING":
        return expr.value
    if expr.type.name == "DATE":
        return (date.fromisoformat(expr.value) - EPOCH).days
    return Fraction(expr.value)


def _function(expr: Call, *a: Any) -> Any:
    op, t = expr.op, expr.type
    if op in COMPARE:
        return COMPARE[op](*(v.encode() if isinstance(v, str) else v for v in a))
    if op in ("/", "%"):
        if a[1] == 0:
            raise Undefined
        rest = abs(a[0]) % abs(a[1])
        return ranged(a[0] / a[1] if op == "/" else -rest if a[0] < 0 else rest, t)
    simple: dict[str, Callable[..., Any]] = {
        "+": lambda x, y: ranged(x + y, t),
        "-": lambda x, y: ranged(x - y, t),
        "*": lambda x, y: ranged(x * y, t),
        "abs": lambda x: ranged(abs(x), t),
        "not": operator.not_,
        "is_null": lambda x: x is None,
        "is_distinct": lambda x, y: (x is None) != (y is None) or x != y,
        "like": lambda x, p: (
            re.fullmatch(p.replace("%", ".*").replace("_", "."), x, re.S) is not None
        ),
        "length": len,
        "upper": str.upper,
        "concat": lambda *texts: "".join(texts),
        "substring": _substring,
        "year": lambda x: _date(x).year,
        "add_days": lambda x, n: ranged(x + n, expr.args[1].type),
        "add_months": _add_months,
        "cast": lambda x: _cast(x, expr.args[0].type, t),
    }
    return simple[op](*a)


def _substring(text: str, start: int, size: int) -> str:
    begin = start - 1 if start > 0 else start + len(text) if start < 0 else 0
    return "".join(c for k, c in enumerate(text) if begin <= k < begin + size)


def _date(days: int) -> date:
    return EPOCH + timedelta(days=days)


def _add_months(days: int, months: int) -> int:
    start = _date(days)
    index = start.year * 12 + start.month - 1 + months
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("years that Python's dates do not have")
    for day in range(start.day, 27, -1):
        try:
            return (date(year, month + 1, day) - EPOCH).days
        except ValueError:
            continue
    return (date(year, month + 1, start.day) - EPOCH).days


def _cast(x: Any, source: Type, to: Type) -> Any:
    if to.name == "STRING":
        return str(x)
    if source.name != "STRING":
        return ranged(x, to)
    if to.name == "DATE":
        parts = re.fullmatch(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", x)
        if not parts:
            raise Undefined
        try:
            return (date(*(int(p or 1) for p in parts.groups())) - EPOCH).days
        except ValueError:
            raise Undefined from None
    if not re.fullmatch(r"[+-]?\d+", x):
        raise Undefined
    return ranged(Fraction(Decimal(x)) if to.is_decimal else int(x), to)


def _junction(decisive: bool) -> Callable[[Call, Mapping[str, Any]], Any]:
    def junction(expr: Call, row: Mapping[str, Any]) -> Any:
        out: bool | None = not decisive
        for a in expr.args:
            v = value(a, row)
            if v is decisive:
                return decisive
            out = None if v is None else out
        return out

    return junction


def _case(expr: Call, row: Mapping[str, Any]) -> Any:
    args = expr.args
    for when, then in zip(args[0::2], args[1::2], strict=False):
        if value(when, row) is True:
            return value(then, row)
    return value(args[-1], row) if len(args) % 2 else None


def _coalesce(expr: Call, row: Mapping[str, Any]) -> Any:
    return next((v for a in expr.args if (v := value(a, row)) is not None), None)


def _nullif(expr: Call, row: Mapping[str, Any]) -> Any:
    x = value(expr.args[0], row)
    return None if x is None or value(expr.args[1], row) == x else x


def _in(expr: Call, row: Mapping[str, Any]) -> Any:
    """Constants first: whether one of them equals does not depend on the row's other items."""
    x = value(expr.args[0], row)
    if x is None:
        return None
    out: bool | None = False
    for item in sorted(expr.args[1:], key=lambda i: not isinstance(i, Literal)):
        v = value(item, row)
        if v == x and v is not None:
            return True
        out = None if v is None else out
    return out


LAZY: dict[str, Callable[[Call, Mapping[str, Any]], Any]] = {
    "and": _junction(decisive=False),
    "or": _junction(decisive=True),
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "in": _in,
}
