"""What a row that cannot be computed says.

Not here: which expressions may have such rows (expr), detecting them (exact, number, cast),
choosing the rows (walk).
"""

from __future__ import annotations

import numpy as np

from everview.delta.vector import Array
from everview.errors import ValueOverflow
from everview.expr import CASTS, Call, Expr, Literal, Ref
from everview.schema import Type

_INFIX = frozenset({"and", "or", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "like"})


def describe(expr: Expr) -> str:
    """The expression as a person would write it, for messages."""
    if isinstance(expr, Ref):
        return expr.name
    if isinstance(expr, Literal):
        value = expr.value
        return f"'{value}'" if isinstance(value, str) and not expr.type.is_numeric else str(value)
    if expr.op in CASTS:
        return f"{expr.op}({describe(expr.args[0])} as {expr.type})"
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
