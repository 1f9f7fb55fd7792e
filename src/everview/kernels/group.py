"""Grouping: add rows of words into groups, carrying between the limbs of wide sums.

A group's state is one row of int64 words: its weight, then counts and sums. A sum is some limbs,
least first (a two's complement integer): `carry[j]` says that word j continues word j-1.

    delta row i ──group[i]──▶ state[g, :] += addend[i, :]      before[t, :] = state as it was

Not here: what the words mean (operators/group), keys -> groups (kernels/index).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fold(
    state: Any, groups: Any, addend: Any, carry: Any, mark: Any, touched: Any, before: Any
) -> int:
    """Add every addend row into its group; returns the number of groups touched.

    state int64[groups, words]; groups int32[n]; addend int64[n, words]; carry bool[words];
    mark int32[groups], zero, left zero; touched int32[n]; before int64[n, words].
    """
    words = state.shape[1]
    n = 0
    for i in range(groups.shape[0]):
        g = groups[i]
        if mark[g] == 0:
            mark[g] = 1
            touched[n] = g
            for j in range(words):
                before[n, j] = state[g, j]
            n += 1
        over: Any = np.uint64(0)
        for j in range(words):
            a = np.uint64(state[g, j])
            b = np.uint64(addend[i, j])
            s = a + b
            c: Any = np.uint64(1) if s < a else np.uint64(0)
            if carry[j]:
                t = s + over
                if t < s:
                    c += np.uint64(1)
                s = t
            over = c
            state[g, j] = np.int64(s)
    for t in range(n):
        mark[touched[t]] = 0
    return n


@njit(cache=True, nogil=True)
def split_doubles(values: Any, weight: Any, fraction: int, limbs: Any, fits: Any) -> None:
    """Doubles times weights as exact fixed-point numbers: limbs int64[n, L], scaled by 2^fraction.

    values int64[n]: the doubles' bits. fits bool[n]: FALSE (and zero limbs) where the double is not
    finite, too large or too fine for this form; the decision looks at the double alone. What fits
    leaves room for a total weight of 2^63.
    """
    size = limbs.shape[1]
    least, most = 1075 - fraction, 1022 + 64 * size - 64 - fraction
    for i in range(values.shape[0]):
        bits = np.uint64(values[i])
        exponent = np.int64((bits >> np.uint64(52)) & np.uint64(0x7FF))
        mantissa = bits & np.uint64(0xFFFFFFFFFFFFF)
        for k in range(size):
            limbs[i, k] = 0
        fits[i] = True
        if exponent == 0 and mantissa == np.uint64(0):
            continue
        if exponent < least or exponent > most:
            fits[i] = False
            continue
        times = weight[i]
        negative = ((bits >> np.uint64(63)) != np.uint64(0)) != (times < 0)
        low, high = _wide(mantissa | (np.uint64(1) << np.uint64(52)), np.uint64(abs(times)))
        shift: Any = exponent - least
        at, up = shift // 64, np.uint64(shift % 64)
        _put(limbs, i, at, low << up)
        if up != np.uint64(0):
            down = np.uint64(64) - up
            _put(limbs, i, at + 1, (high << up) | (low >> down))
            _put(limbs, i, at + 2, high >> down)
        else:
            _put(limbs, i, at + 1, high)
        if negative:
            _negate(limbs, i)


@njit(cache=True, nogil=True)
def _put(limbs: Any, i: int, k: int, word: Any) -> None:
    """A word of number i, if it is not beyond the last (where it is zero)."""
    if k < limbs.shape[1]:
        limbs[i, k] = np.int64(word)


@njit(cache=True, nogil=True)
def _negate(limbs: Any, i: int) -> None:
    """Number i times -1."""
    carry = np.uint64(1)
    for k in range(limbs.shape[1]):
        word = ~np.uint64(limbs[i, k]) + carry
        carry = np.uint64(1) if carry != np.uint64(0) and word == np.uint64(0) else np.uint64(0)
        limbs[i, k] = np.int64(word)


@njit(cache=True, nogil=True)
def _wide(a: Any, b: Any) -> Any:
    """The 128-bit product of two 64-bit numbers: (low, high)."""
    half = np.uint64(32)
    low32 = np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low32, a >> half, b & low32, b >> half
    p00, p01, p10, p11 = a0 * b0, a0 * b1, a1 * b0, a1 * b1
    middle = (p00 >> half) + (p01 & low32) + (p10 & low32)
    low = (p00 & low32) | (middle << half)
    return low, p11 + (p01 >> half) + (p10 >> half) + (middle >> half)


@njit(cache=True, nogil=True)
def round_doubles(limbs: Any, fraction: int, out: Any) -> None:
    """out float64[n]: the double nearest to each number of limbs int64[n, L] (ties to even)."""
    size = limbs.shape[1]
    number = np.empty((1, size), np.int64)
    for i in range(limbs.shape[0]):
        for k in range(size):
            number[0, k] = limbs[i, k]
        negative = number[0, size - 1] < 0
        if negative:
            _negate(number, 0)
        last = size - 1
        while last >= 0 and number[0, last] == 0:
            last -= 1
        if last < 0:
            out[i] = 0.0
            continue
        # The highest 64 bits from the first one that is set, and whether anything is below them.
        high: Any = np.uint64(number[0, last])
        up = 0
        while high >> np.uint64(63) == np.uint64(0):
            high = high << np.uint64(1)
            up += 1
        sticky = False
        if last > 0:
            next = np.uint64(number[0, last - 1])
            if up > 0:
                high |= next >> np.uint64(64 - up)
                next = next << np.uint64(up)
            sticky = next != np.uint64(0)
        for k in range(last - 1):
            sticky = sticky or number[0, k] != 0
        mantissa, rest = high >> np.uint64(11), high & np.uint64(0x7FF)
        half = np.uint64(0x400)
        if rest > half or (rest == half and (sticky or mantissa & np.uint64(1) == np.uint64(1))):
            mantissa += np.uint64(1)
        value = np.float64(mantissa) * 2.0 ** (64 * last + 11 - up - fraction)
        out[i] = -value if negative else value
