"""Integers that never wrap: numpy where the bounds prove that 64 bits do, Python's otherwise.

    Exact(values, low, high)    int64 or Python integers (object), and a range that holds them all

Every operation computes the range of its result first. If that leaves 64 bits, the true extremes
of the operands are looked up; if it still does, the operation is done in Python integers, which
are slower (some 50 ns a value) and never wrong. Rounding is HALF_UP: ties away from zero.

Not here: types and their limits beyond `settle`, NULLs, division by zero (number).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from everview.delta.evaluate.faults import first, overflow
from everview.delta.evaluate.term import Term, bounds, extremes, spread
from everview.delta.vector import INT64_MAX, INT64_MIN, Array
from everview.expr import Call
from everview.schema import INTEGER_BITS, Type


@dataclass(frozen=True, slots=True)
class Exact:
    values: Array
    low: int
    high: int

    @property
    def reach(self) -> int:
        """The greatest magnitude within the bounds."""
        return max(abs(self.low), abs(self.high))


def exact(term: Term) -> Exact:
    """The stored integers of an exact, BOOLEAN, DATE or TIMESTAMP term."""
    if term.type.name == "BOOLEAN":
        return Exact(term.values.astype(np.int64), 0, 1)
    return Exact(term.values, *bounds(term))


def fits(low: int, high: int) -> bool:
    """Whether 64 bits hold the whole range."""
    return low >= INT64_MIN and high <= INT64_MAX


def tight(x: Exact) -> Exact:
    """The same values with their true extremes as bounds, in int64 if they fit."""
    low, high = extremes(x.values)
    values = x.values.astype(np.int64) if x.values.dtype == object and fits(low, high) else x.values
    return Exact(values, low, high)


def wide(x: Exact) -> Array:
    """The values as Python integers."""
    return x.values.astype(object)


def _binary(
    a: Exact,
    b: Exact,
    reach: Callable[[Exact, Exact], tuple[int, int]],
    operation: Callable[[Array, Array], Array],
) -> Exact:
    low, high = reach(a, b)
    if not fits(low, high):
        a, b = tight(a), tight(b)
        low, high = reach(a, b)
    if fits(low, high) and a.values.dtype != object and b.values.dtype != object:
        return Exact(operation(a.values, b.values), low, high)
    return Exact(operation(wide(a), wide(b)), low, high)


def plus(a: Exact, b: Exact) -> Exact:
    return _binary(a, b, lambda x, y: (x.low + y.low, x.high + y.high), np.add)


def minus(a: Exact, b: Exact) -> Exact:
    return _binary(a, b, lambda x, y: (x.low - y.high, x.high - y.low), np.subtract)


def times(a: Exact, b: Exact) -> Exact:
    return _binary(a, b, _product_reach, np.multiply)


def _product_reach(a: Exact, b: Exact) -> tuple[int, int]:
    corners = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    return min(corners), max(corners)


def scaled(x: Exact, digits: int) -> Exact:
    """x * 10^digits."""
    if digits == 0:
        return x
    power = 10**digits
    if not fits(x.low * power, x.high * power):
        x = tight(x)
    low, high = x.low * power, x.high * power
    if fits(low, high) and fits(power, power) and x.values.dtype != object:
        return Exact(x.values * np.int64(power), low, high)
    return Exact(wide(x) * power, low, high)


def rounded(x: Exact, digits: int) -> Exact:
    """x / 10^digits, HALF_UP."""
    return x if digits == 0 else quotient(x, _constant(10**digits))


def truncated(x: Exact, digits: int) -> Exact:
    """x / 10^digits, towards zero."""
    if digits == 0:
        return x
    by = _constant(10**digits)
    return _divided(x, by, x.reach, lambda n, d: n // d)


def quotient(a: Exact, b: Exact) -> Exact:
    """a / b, HALF_UP; b must hold no zero."""
    a, b = tight(a) if not fits(a.low, a.high) else a, tight(b)
    # For an odd divisor there are no ties, and floor((n + d // 2) / d) rounds to the nearest.
    return _divided(a, b, a.reach + b.reach // 2, lambda n, d: (n + d // 2) // d)


def _divided(a: Exact, b: Exact, reach: int, operation: Callable[[Array, Array], Array]) -> Exact:
    """The operation on magnitudes, then the sign. `reach`: the greatest intermediate value."""
    small = reach <= INT64_MAX and b.reach <= INT64_MAX
    if not small or a.values.dtype == object or b.values.dtype == object:
        n, d = wide(a), wide(b)
    else:
        n, d = a.values, b.values
    if a.low >= 0 and b.low >= 0:
        return Exact(operation(n, d), 0, reach)
    out = operation(np.abs(n), np.abs(d))
    return Exact(np.where((n < 0) != (d < 0), -out, out), -reach, reach)


def remainder(a: Exact, b: Exact) -> Exact:
    """a modulo b with the sign of a; b must hold no zero."""
    if a.reach > INT64_MAX or b.reach > INT64_MAX or object in (a.values.dtype, b.values.dtype):
        n, d = wide(a), wide(b)
    else:
        n, d = a.values, b.values
    out = np.abs(n) % np.abs(d)
    return Exact(np.where(n < 0, -out, out), min(a.low, 0), max(a.high, 0))


def _constant(value: int) -> Exact:
    dtype: Any = np.int64 if fits(value, value) else object
    return Exact(np.array([value], dtype), value, value)


def limits(t: Type) -> tuple[int, int]:
    """The least and greatest stored integer of an exact type."""
    if t.is_decimal:
        most = 10 ** (t.precision or 0) - 1
        return -most, most
    half = 2 ** (INTEGER_BITS[t.name] - 1)
    return -half, half - 1


def outside(x: Exact, valid: Array | None, t: Type) -> tuple[Exact, Array | None]:
    """The values, 0 for those out of the type's range, and which of these are not NULL."""
    least, most = limits(t)
    if least <= x.low and x.high <= most and x.values.dtype != object:
        return x, None
    x = tight(x)
    if least <= x.low and x.high <= most:
        return x, None
    bad = ((x.values < least) | (x.values > most)).astype(np.bool_)
    kept = tight(Exact(np.where(bad, 0, x.values), 0, 0))
    if valid is not None:
        bad = bad & valid
    return kept, bad if bad.any() else None


def settle(x: Exact, valid: Array | None, call: Call) -> Term:
    """The result of a call; raises if a row that is not NULL leaves its type."""
    kept, bad = outside(x, valid, call.type)
    if bad is not None:
        value = spread(x.values, len(bad))[first(bad)]
        raise overflow(call, shown(value, call.type.exact_scale))
    return Term(call.type, kept.values, valid, None, (kept.low, kept.high))


def shown(value: int, scale: int) -> str:
    """A scaled integer as plain decimal text: 5 with scale 2 is '0.05'."""
    digits = str(abs(int(value))).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits
