"""The walk over an expression: which function, on which arguments, for which rows.

Most calls take whole columns. CASE, AND, OR, COALESCE, IN, and arguments after one that may be
NULL, evaluate a part that may fail only on the rows that need it, as Spark does row by row:

    case when b <> 0 then a / b end         rows with b = 0 never reach the division
    b <> 0 and a / b > 1                    nor here

Not here: what a function does to its arguments (number, compare, text, dates, cast).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from everview.delta.evaluate import compare, dates, number, text
from everview.delta.evaluate.cast import cast, convert
from everview.delta.evaluate.term import (
    Frame,
    Term,
    both,
    choose,
    is_true,
    null,
    scatter,
    spread,
    truth,
)  # fmt: skip
from everview.delta.evaluate.term import text as text_constant
from everview.delta.vector import Array, Vector, numpy_type
from everview.errors import PlanError
from everview.expr import Call, Expr, Literal, Ref, may_fail
from everview.schema import STRING, Type

Function = Callable[[Call, list[Term], Frame], Term]


def evaluate(expr: Expr, columns: Mapping[str, Vector], rows: int, *, zone: str = "UTC") -> Vector:
    """The value of the expression in each of `rows` rows. Inputs are read, never written.

    Raises ValueOverflow for a row that has no value: VALUE.OVERFLOW, .DIVIDE_BY_ZERO or .CAST.
    """
    if isinstance(expr, Ref):
        return columns[expr.name]
    if not rows:
        t = null(expr.type)
        return Vector(t.type, t.values[:0], None, t.pool)
    out = run(expr, Frame(columns, rows, zone))
    if out.type != expr.type:
        out = convert(out, expr.type, Frame(columns, rows, zone))
    valid = out.valid
    if valid is not None:
        valid = None if valid.all() else _full(valid, rows)
    return Vector(expr.type, _full(out.values, rows), valid, out.pool)


def matches(
    predicate: Expr, columns: Mapping[str, Vector], rows: int, *, zone: str = "UTC"
) -> npt.NDArray[np.bool_]:
    """The rows for which the predicate is TRUE; FALSE and NULL are not."""
    if not rows:
        return np.zeros(0, np.bool_)
    return _full(is_true(run(predicate, Frame(columns, rows, zone))), rows)


def _full(array: Array, rows: int) -> Array:
    return array if len(array) == rows else np.repeat(array, rows)


def run(expr: Expr, frame: Frame) -> Term:
    """The value on the rows of a frame: as many values as it has rows, or one if constant."""
    if isinstance(expr, Ref):
        return frame.column(expr.name)
    if isinstance(expr, Literal):
        return literal(expr, frame)
    if expr.op in DECIDING:
        out = DECIDING[expr.op](expr, frame)
    elif expr.op in FUNCTIONS:
        out = FUNCTIONS[expr.op](expr, _arguments(expr, frame), frame)
    else:
        raise PlanError("PLAN.FUNCTION", f"there is no function {expr.op!r}")
    if out.valid is not None and len(out.valid) != len(out.values):
        size = max(len(out.valid), len(out.values))
        values, valid = spread(out.values, size), spread(out.valid, size)
        return Term(out.type, values, valid, out.pool, out.bounds)
    return out


def literal(expr: Literal, frame: Frame) -> Term:
    """A constant, of length 1. Decimals, dates and timestamps are read from their text."""
    value, t = expr.value, expr.type
    if value is None:
        return null(t)
    if t.is_text:
        raw: Any = value
        return text_constant(raw if t == STRING or isinstance(raw, bytes) else raw.encode(), t)
    if t.is_decimal or isinstance(value, str):
        return convert(text_constant(str(value), STRING), t, frame, Call("cast", (expr,), t))
    exact = (int(value), int(value)) if t.is_integer else None
    return Term(t, np.array([value], numpy_type(t)), None, None, exact)


def on_rows(expr: Expr, frame: Frame, index: Array) -> Term:
    """The value on some rows of the frame (positions), NULL on the others."""
    if len(index) == frame.rows:
        return run(expr, frame)
    if not len(index):
        return null(expr.type)
    return scatter(run(expr, frame.only(index)), index, frame.rows)


def _arguments(call: Call, frame: Frame) -> list[Term]:
    """The arguments, first to last (divisors first); after a NULL the others are not needed."""
    args = call.args
    if call.op not in _NULL_ENDS or not any(may_fail(a) for a in args):
        return [run(a, frame) for a in args]
    order = range(len(args))
    found: dict[int, Term] = {}
    for i in reversed(order) if call.op in ("/", "%") else order:
        valid = both(*found.values())
        if valid is None or not may_fail(args[i]):
            found[i] = run(args[i], frame)
        else:
            found[i] = on_rows(args[i], frame, np.flatnonzero(spread(valid, frame.rows)))
    return [found[i] for i in order]


# ---------------------------------------------------------------- functions that decide who runs


def _junction(decisive: bool) -> Callable[[Call, Frame], Term]:
    """AND (decided by FALSE) and OR (decided by TRUE)."""
    neutral = not decisive

    def junction(call: Call, frame: Frame) -> Term:
        out = run(call.args[0], frame)
        for arg in call.args[1:]:
            if may_fail(arg):
                settled = out.values == decisive
                if out.valid is not None:
                    settled = settled & out.valid
                open_rows = np.flatnonzero(spread(~settled, frame.rows))
                part = on_rows(arg, frame, open_rows)
                if len(open_rows) < frame.rows:  # the others count as neutral
                    part = choose([(spread(settled, frame.rows), truth(np.array([neutral])))], part)
            else:
                part = run(arg, frame)
            out = _joined(out, part, decisive)
        return out

    return junction


def _joined(a: Term, b: Term, decisive: bool) -> Term:
    combine = np.logical_or if decisive else np.logical_and
    if a.valid is None and b.valid is None:
        return truth(combine(a.values, b.values))
    decided: Array = np.zeros(1, np.bool_)
    for t in (a, b):
        at = t.values == decisive
        decided = decided | (at if t.valid is None else at & t.valid)
    known = both(a, b)
    valid = decided if known is None else decided | known
    return truth(decided if decisive else ~decided, valid)


def _negation(a: Term) -> Term:
    return truth(~a.values, a.valid)


def _case(call: Call, frame: Frame) -> Term:
    pairs = list(zip(call.args[0::2], call.args[1::2], strict=False))
    last = call.args[-1] if len(call.args) % 2 else Literal(None, call.type)
    if not any(may_fail(a) for a in call.args):
        branches = [
            (spread(is_true(run(when, frame)), frame.rows), _typed(then, call.type, frame))
            for when, then in pairs
        ]
        return choose(branches, _typed(last, call.type, frame))
    branches, rest = [], np.ones(frame.rows, np.bool_)
    for when, then in pairs:
        hit = is_true(on_rows(when, frame, np.flatnonzero(rest))) & rest
        branches.append((hit, _typed(then, call.type, frame, hit)))
        rest = rest & ~hit
    return choose(branches, _typed(last, call.type, frame, rest))


def _coalesce(call: Call, frame: Frame) -> Term:
    *heads, last = call.args
    branches: list[tuple[Array, Term]] = []
    rest = np.ones(frame.rows, np.bool_)
    for arg in heads:
        part = _typed(arg, call.type, frame, rest)
        if part.valid is None:
            return choose(branches, part) if branches else part
        branches.append((spread(part.valid, frame.rows), part))
        rest = rest & ~part.valid
    return choose(branches, _typed(last, call.type, frame, rest))


def _typed(expr: Expr, to: Type, frame: Frame, rows: Array | None = None) -> Term:
    """A branch as the type of the whole; on the rows of a mask only, if it may fail."""
    if rows is None or not may_fail(expr):
        part = run(expr, frame)
    else:
        part = on_rows(expr, frame, np.flatnonzero(rows))
    return part if part.type == to else convert(part, to, frame)


def _in(call: Call, frame: Frame) -> Term:
    """TRUE if an item equals, else NULL if the value or an item is NULL, else FALSE."""
    value, items = run(call.args[0], frame), call.args[1:]
    constants = [i for i in items if isinstance(i, Literal) and i.value is not None]
    found: Array = np.zeros(1, np.bool_)
    if constants:
        found = compare.among(value, [literal(i, frame) for i in constants], frame)
    unknown: Array = np.zeros(1, np.bool_)
    for item in items:
        if isinstance(item, Literal):
            unknown = unknown | (item.value is None)
            continue
        if may_fail(item):
            open_rows = spread(~found, frame.rows)
            if value.valid is not None:
                open_rows = open_rows & value.valid
            term = on_rows(item, frame, np.flatnonzero(open_rows))
        else:
            term = run(item, frame)
        same = compare.equal(value, term, frame)
        if term.valid is not None:
            same = same & term.valid
            unknown = unknown | ~term.valid
        found = found | same
    valid = found | ~unknown
    return truth(found, valid if value.valid is None else valid & value.valid)


DECIDING: Mapping[str, Callable[[Call, Frame], Term]] = {
    "and": _junction(decisive=False), "or": _junction(decisive=True),
    "case": _case, "coalesce": _coalesce, "in": _in,
}  # fmt: skip


# ---------------------------------------------------------------- the table


def _of(function: Callable[..., Term]) -> Function:
    """A function of the arguments alone."""
    return lambda _call, args, _frame: function(*args)


def _typed_of(function: Callable[..., Term]) -> Function:
    """A function of the call, for its type or its name, and the arguments."""
    return lambda call, args, _frame: function(call, *args)


def _framed(function: Callable[..., Term]) -> Function:
    """A function of the arguments that may have to cast them."""
    return lambda _call, args, frame: function(*args, frame)


def _joined_texts(call: Call, args: list[Term], frame: Frame) -> Term:
    return text.concat(call, [convert(a, STRING, frame) for a in args])


FUNCTIONS: Mapping[str, Function] = {
    "not": _of(_negation),
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), compare.compare),
    "is_null": _of(compare.is_null),
    "is_distinct": _framed(compare.is_distinct),
    "nullif": _framed(compare.nullif),
    "+": _typed_of(number.add),
    "-": _typed_of(number.subtract),
    "*": _typed_of(number.multiply),
    "/": _typed_of(number.divide),
    "%": _typed_of(number.modulo),
    "neg": _typed_of(number.negate),
    "abs": _typed_of(number.absolute),
    "cast": cast,
    "try_cast": cast,
    **dict.fromkeys(
        ("year", "quarter", "month", "day", "dayofweek", "dayofyear", "hour", "minute", "second"),
        dates.field,
    ),
    "add_days": _typed_of(dates.add_days),
    "add_months": _typed_of(dates.add_months),
    "date_diff": _typed_of(dates.date_diff),
    "add_micros": _typed_of(dates.add_micros),
    "like": _of(text.like),
    "substring": _typed_of(text.substring),
    "concat": _joined_texts,
    "upper": _of(text.upper),
    "lower": _of(text.lower),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _typed_of(text.trim)),
    "length": _typed_of(text.length),
}

_NULL_ENDS = frozenset(FUNCTIONS) - {"is_null", "is_distinct", "concat"}
