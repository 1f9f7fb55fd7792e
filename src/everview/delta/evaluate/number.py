"""Arithmetic: exact types by way of `exact`, FLOAT and DOUBLE by IEEE 754.

Decimal results are exact, then rounded HALF_UP to the call's scale. Division by zero is an error
in rows that are not NULL.

Not here: result types (expr), casts between types (cast).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from everview.delta.evaluate.exact import (
    Exact,
    exact,
    minus,
    plus,
    quotient,
    remainder,
    rounded,
    scaled,
    settle,
    times,
)  # fmt: skip
from everview.delta.evaluate.faults import divided_by_zero, overflow
from everview.delta.evaluate.term import Term, both, spread
from everview.delta.vector import Array, numpy_type
from everview.expr import Call

_EXACT_IN = {np.dtype(np.float64): (2**53, 22), np.dtype(np.float32): (2**24, 10)}


def add(call: Call, a: Term, b: Term) -> Term:
    if call.type.is_float:
        return _floats(call, a, b, np.add)
    x, y, scale = aligned(a, b)
    return _rescaled(call, plus(x, y), scale, both(a, b))


def subtract(call: Call, a: Term, b: Term) -> Term:
    if call.type.is_float:
        return _floats(call, a, b, np.subtract)
    x, y, scale = aligned(a, b)
    return _rescaled(call, minus(x, y), scale, both(a, b))


def multiply(call: Call, a: Term, b: Term) -> Term:
    if call.type.is_float:
        return _floats(call, a, b, np.multiply)
    return _rescaled(
        call, times(exact(a), exact(b)), a.type.exact_scale + b.type.exact_scale, both(a, b)
    )


def divide(call: Call, a: Term, b: Term) -> Term:
    if call.type.is_float:
        return _floats(call, a, _nonzero_floats(call, a, b), np.divide)
    valid = both(a, b)
    x, y = exact(a), _nonzero(call, exact(b), valid)
    have, want = a.type.exact_scale - b.type.exact_scale, call.type.exact_scale
    if want >= have:
        out = quotient(scaled(x, want - have), y)
    else:
        out = quotient(x, scaled(y, have - want))
    return settle(out, valid, call)


def modulo(call: Call, a: Term, b: Term) -> Term:
    if call.type.is_float:
        return _floats(call, a, _nonzero_floats(call, a, b), np.fmod)
    x, y, scale = aligned(a, b)
    valid = both(a, b)
    return _rescaled(call, remainder(x, _nonzero(call, y, valid)), scale, valid)


def negate(call: Call, a: Term) -> Term:
    if a.type.is_float:
        return Term(call.type, -a.values, a.valid)
    zero = Exact(np.zeros(1, np.int64), 0, 0)
    return settle(minus(zero, exact(a)), a.valid, call)


def absolute(call: Call, a: Term) -> Term:
    if a.type.is_float:
        return Term(call.type, np.abs(a.values), a.valid)
    x = exact(a)
    if x.low >= 0:
        return a
    signs = Exact(np.where(x.values < 0, -1, 1), -1, 1)
    return settle(times(x, signs), a.valid, call)


def aligned(a: Term, b: Term) -> tuple[Exact, Exact, int]:
    """Both as integers of the greater of their scales, and that scale."""
    scale = max(a.type.exact_scale, b.type.exact_scale)
    x = scaled(exact(a), scale - a.type.exact_scale)
    y = scaled(exact(b), scale - b.type.exact_scale)
    return x, y, scale


def floats(term: Term, dtype: np.dtype[np.floating]) -> Array:
    """The values of a numeric term as floats, each the nearest one to the exact value."""
    values, scale = term.values, term.type.exact_scale
    if not term.type.is_decimal or (scale == 0 and values.dtype != object):
        return values if values.dtype == dtype else values.astype(dtype)
    most, powers = _EXACT_IN[dtype]
    if exact(term).reach <= most and scale <= powers:
        small: Array = values.astype(dtype) / dtype.type(10**scale)
        return small

    near = nearest if dtype == np.float32 else float
    return np.array([near(Fraction(int(v), 10**scale)) for v in values], dtype)


def nearest(value: Fraction) -> np.float32:
    """The FLOAT nearest to an exact value, ties to even; by way of DOUBLE it might round twice."""
    with np.errstate(over="ignore"):
        guess = np.float32(float(value))
    if not np.isfinite(guess):
        return guess
    ends = (np.float32(-np.inf), np.float32(np.inf))
    near = [n for n in (guess, *(np.nextafter(guess, e) for e in ends)) if np.isfinite(n)]

    return min(near, key=lambda n: (abs(Fraction(float(n)) - value), int(n.view(np.int32)) & 1))


def _floats(call: Call, a: Term, b: Term, operation: np.ufunc) -> Term:
    dtype = np.dtype(numpy_type(call.type))
    with np.errstate(all="ignore"):
        return Term(call.type, operation(floats(a, dtype), floats(b, dtype)), both(a, b))


def _rescaled(call: Call, x: Exact, scale: int, valid: Array | None) -> Term:
    want = call.type.exact_scale
    out = rounded(x, scale - want) if scale > want else scaled(x, want - scale)
    return settle(out, valid, call)


def _nonzero(call: Call, y: Exact, valid: Array | None) -> Exact:
    """The divisors, with 1 for 0 in rows that are NULL anyway."""
    if y.low > 0 or y.high < 0:
        return y
    zero = y.values == 0
    if not zero.any():
        return y
    if valid is None or (zero & valid).any():
        raise divided_by_zero(call)
    return Exact(np.where(zero, 1, y.values), y.low, max(1, y.high))


def _nonzero_floats(call: Call, a: Term, b: Term) -> Term:
    zero = b.values == 0
    valid = both(a, b)
    if zero.any() and (valid is None or (zero & valid).any()):
        raise divided_by_zero(call)
    return b


def integers(call: Call, term: Term, least: int, most: int) -> Array:
    """The int64 values of a result that is not of an exact type (dates, timestamps), in range."""
    x = exact(term)
    if least <= x.low and x.high <= most and x.values.dtype != object:
        return x.values
    bad = ((term.values < least) | (term.values > most)).astype(np.bool_)
    bad_rows = bad if term.valid is None else bad & term.valid
    if bad_rows.any():
        raise overflow(call, spread(term.values, len(bad_rows))[int(np.argmax(bad_rows))])
    return np.where(bad, 0, term.values).astype(np.int64)
