"""Comparisons: exact between exact types, NaN above all numbers, texts by their UTF-8 bytes.

Numbers of two exact types are compared at the greater scale, so 1 = 1.00 and nothing is rounded; an
exact number and a float as DOUBLE, as Spark. NaN equals NaN, and -0.0 equals 0.0.

Not here: three-valued logic (walk), which arguments are evaluated where (walk).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everview.delta.evaluate import text
from everview.delta.evaluate.cast import convert
from everview.delta.evaluate.number import aligned, floats
from everview.delta.evaluate.term import Frame, Term, both, spread, truth
from everview.delta.vector import Array
from everview.expr import Call
from everview.schema import BINARY

_EXACT: dict[str, Callable[[Array, Array], Array]] = {
    "=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_ISIN_FROM = 6  # fewer items are cheaper one by one


def compare(call: Call, args: list[Term], frame: Frame) -> Term:
    """= <> < <= > >=: NULL if either side is."""
    a, b = args
    return truth(_compared(call.op, a, b, frame), both(a, b))


def is_null(a: Term) -> Term:
    return truth(np.zeros(len(a), np.bool_) if a.valid is None else ~a.valid)


def is_distinct(a: Term, b: Term, frame: Frame) -> Term:
    """Never NULL: NULL is not distinct from NULL, and distinct from any value."""
    differs = _compared("<>", a, b, frame)
    if a.valid is None and b.valid is None:
        return truth(differs)
    left, right = (np.ones(1, np.bool_) if t.valid is None else t.valid for t in (a, b))
    return truth(np.where(left & right, differs, left != right))


def nullif(a: Term, b: Term, frame: Frame) -> Term:
    same = _compared("=", a, b, frame)
    if b.valid is not None:
        same = same & b.valid
    valid = ~same if a.valid is None else a.valid & ~same
    return Term(a.type, spread(a.values, len(valid)), valid, a.pool, a.bounds)


def equal(a: Term, b: Term, frame: Frame) -> Array:
    """Where the values are equal, whatever is said under NULL."""
    return _compared("=", a, b, frame)


def among(a: Term, items: list[Term], frame: Frame) -> Array:
    """Where the value equals one of the items (constants without NULL)."""
    if a.type.is_text and all(i.type == a.type for i in items):
        return text.among(a, items)
    same_type = all(i.type == a.type and i.values.dtype == a.values.dtype for i in items)
    if len(items) >= _ISIN_FROM and same_type and a.values.dtype == np.int64:
        return np.isin(a.values, np.concatenate([i.values for i in items]))
    out = equal(a, items[0], frame)
    for item in items[1:]:
        out = out | equal(a, item, frame)
    return out


def _compared(op: str, a: Term, b: Term, frame: Frame) -> Array:
    if a.type.is_text:
        if a.type != b.type:
            a, b = convert(a, BINARY, frame), convert(b, BINARY, frame)
        return text.compared(op, a, b)
    if a.type.is_float or b.type.is_float:
        return _floats(op, a, b)
    if a.type.is_exact and b.type.is_exact:
        x, y, _ = aligned(a, b)
        return _EXACT[op](x.values, y.values).astype(np.bool_, copy=False)
    if a.type != b.type:  # a date and a timestamp: the date is its midnight
        target = b.type if a.type.name == "DATE" else a.type
        a, b = convert(a, target, frame), convert(b, target, frame)
    return _EXACT[op](a.values, b.values)


def _floats(op: str, a: Term, b: Term) -> Array:
    """IEEE comparisons are all FALSE for NaN; put right by which side is NaN."""
    if a.values.dtype == b.values.dtype and a.type.is_float:
        x, y = a.values, b.values
    else:
        x, y = floats(a, np.dtype(np.float64)), floats(b, np.dtype(np.float64))
    if op in ("=", "<>"):
        same: Array = (x == y) | ((x != x) & (y != y))
        return same if op == "=" else ~same
    if op in (">", ">="):
        x, y = y, x
    if op in ("<", ">"):  # x < y: no NaN is less than anything, every number is less than NaN
        less: Array = ~(x >= y) & (x == x)
        return less
    at_most: Array = (x <= y) | (y != y)
    return at_most
