"""What a row that cannot be computed says, and which expressions may have such rows.

Spark evaluates the arguments of CASE, AND, OR, COALESCE and IN only where they decide, so an
expression that may fail must not be computed on other rows; one that cannot fail may be computed
on all of them at once, which is faster.

Not here: detecting the failing rows (exact, number, cast), choosing the rows (walk).
"""

from __future__ import annotations

import numpy as np

from everview.delta.vector import Array
from everview.errors import ValueOverflow
from everview.expr import Call, Expr, Literal, Ref, call
from everview.schema import Type

_INFIX = frozenset({"and", "or", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "like"})
_CHECKED_STEPS = frozenset({"add_days", "add_months", "add_micros"})


def describe(expr: Expr) -> str:
    """The expression as a person would write it, for messages."""
    if isinstance(expr, Ref):
        return expr.name
    if isinstance(expr, Literal):
        value = expr.value
        return f"'{value}'" if isinstance(value, str) and not expr.type.is_numeric else str(value)
    if expr.op == "cast":
        return f"cast({describe(expr.args[0])} as {expr.type})"
    parts = [describe(a) for a in expr.args]
    if expr.op in _INFIX and len(parts) > 1:
        return "(" + f" {expr.op} ".join(parts) + ")"
    return f"{expr.op}({', '.join(parts)})"


def first(bad: Array) -> int:
    """The first row that a mask marks."""
    return int(np.argmax(bad))


def overflow(call: Call, value: object = None) -> ValueOverflow:
    """A result that its type cannot hold."""
    shown = "" if value is None else f": {value}"
    return ValueOverflow(
        "VALUE.OVERFLOW",
        f"{describe(call)} leaves the range of {call.type}{shown}",
        fix="cast an argument to a type with more digits, or filter such rows before",
    )


def divided_by_zero(call: Call) -> ValueOverflow:
    """A quotient or remainder by zero."""
    return ValueOverflow(
        "VALUE.DIVIDE_BY_ZERO",
        f"{describe(call)} divides by zero",
        fix=f"write nullif({describe(call.args[1])}, 0), which gives NULL there",
    )


def bad_cast(call: Call, value: object, source: Type, target: Type) -> ValueOverflow:
    """A value that has no counterpart in the type it is cast to."""
    return ValueOverflow(
        "VALUE.CAST",
        f"{describe(call)}: {value!r} of {source} is not a value of {target}",
        fix="mend or filter such rows before",
    )


def may_fail(expr: Expr) -> bool:
    """Whether some input could make the expression raise instead of giving a value."""
    if not isinstance(expr, Call):
        return False
    return any(may_fail(a) for a in expr.args) or _fails_itself(expr)


def _fails_itself(expr: Call) -> bool:
    if expr.op in ("+", "-", "*", "neg", "abs"):
        return not expr.type.is_float and not _roomy(expr)
    if expr.op in ("/", "%"):
        by = expr.args[1]
        nonzero = isinstance(by, Literal) and by.value is not None and float(by.value) != 0
        return not nonzero or not (expr.type.is_float or _roomy(expr))
    if expr.op == "cast":
        return not _safe_cast(expr.args[0].type, expr.type)
    return expr.op in _CHECKED_STEPS


def _roomy(expr: Call) -> bool:
    """Whether a decimal operation's type holds every result by its digits alone."""
    if not expr.type.is_decimal:
        return False
    if expr.op in ("neg", "abs"):
        return True
    uncut = call(expr.op, *expr.args).type
    p, s = uncut.precision or 0, uncut.exact_scale
    return p < 38 and expr.type.digits >= p - s and expr.type.exact_scale >= s


def _safe_cast(source: Type, target: Type) -> bool:
    if source == target or target.name in ("STRING", "BINARY", "BOOLEAN"):
        return source.name != "STRING" or target.name != "BOOLEAN"
    if target.is_float:
        return source.name != "STRING"
    if source.is_exact and target.is_exact:
        if target.is_integer:
            return source.is_integer and source.digits <= target.digits
        rounding = 1 if source.exact_scale > target.exact_scale else 0
        return target.digits >= source.digits + rounding
    return source.name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ") and not target.is_exact
