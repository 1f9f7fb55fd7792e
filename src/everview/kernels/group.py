"""Grouping: add rows of words into groups, carrying between the limbs of wide sums.

A group's state is one row of int64 words: its weight, then counts and sums. A sum is three limbs,
least first (a 192-bit two's complement integer): `carry[j]` says that word j continues word j-1.

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
    """Doubles times weights as exact fixed-point numbers: limbs int64[n, 3], scaled by 2^fraction.

    values int64[n]: the doubles' bits. fits bool[n]: FALSE (and zero limbs) where the double is not
    finite, too large or too fine for this form; the decision looks at the double alone.
    """
    for i in range(values.shape[0]):
        bits = np.uint64(values[i])
        exponent = np.int64((bits >> np.uint64(52)) & np.uint64(0x7FF))
        mantissa = bits & np.uint64(0xFFFFFFFFFFFFF)
        limbs[i, 0] = 0
        limbs[i, 1] = 0
        limbs[i, 2] = 0
        fits[i] = True
        if exponent == 0 and mantissa == np.uint64(0):
            continue
        if exponent < 1023 - 60 or exponent > 1023 + 46:
            fits[i] = False
            continue
        mantissa |= np.uint64(1) << np.uint64(52)
        shift = exponent - 1075 + fraction
        low, mid, high = np.uint64(0), np.uint64(0), np.uint64(0)
        if shift < 64:
            low = mantissa << np.uint64(shift)
            mid = mantissa >> np.uint64(64 - shift) if shift > 0 else np.uint64(0)
        elif shift < 128:
            mid = mantissa << np.uint64(shift - 64)
            high = mantissa >> np.uint64(128 - shift) if shift > 64 else np.uint64(0)
        else:
            high = mantissa << np.uint64(shift - 128)
        times = weight[i]
        negative = (bits >> np.uint64(63)) != np.uint64(0)
        if times < 0:
            negative = not negative
            times = -times
        low, mid, high = _times(low, mid, high, np.uint64(times))
        if negative:
            low, mid, high = ~low + np.uint64(1), ~mid, ~high
            if low == np.uint64(0):
                mid += np.uint64(1)
                if mid == np.uint64(0):
                    high += np.uint64(1)
        limbs[i, 0] = np.int64(low)
        limbs[i, 1] = np.int64(mid)
        limbs[i, 2] = np.int64(high)


@njit(cache=True, nogil=True)
def _times(low: Any, mid: Any, high: Any, times: Any) -> Any:
    """A 192-bit number times a small one, modulo 2^192."""
    if times == np.uint64(1):
        return low, mid, high
    l0, l1 = _wide(low, times)
    m0, m1 = _wide(mid, times)
    mid2 = m0 + l1
    over = np.uint64(1) if mid2 < m0 else np.uint64(0)
    return l0, mid2, high * times + m1 + over


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
    """out float64[n]: the double nearest to each fixed-point number (ties to even)."""
    for i in range(limbs.shape[0]):
        low, mid, high = np.uint64(limbs[i, 0]), np.uint64(limbs[i, 1]), np.uint64(limbs[i, 2])
        negative = limbs[i, 2] < 0
        if negative:
            low, mid, high = ~low + np.uint64(1), ~mid, ~high
            if low == np.uint64(0):
                mid += np.uint64(1)
                if mid == np.uint64(0):
                    high += np.uint64(1)
        top = 192
        while top > 0 and high >> np.uint64(63) == np.uint64(0):
            high = (high << np.uint64(1)) | (mid >> np.uint64(63))
            mid = (mid << np.uint64(1)) | (low >> np.uint64(63))
            low = low << np.uint64(1)
            top -= 1
        if top == 0:
            out[i] = 0.0
            continue
        mantissa = high >> np.uint64(11)
        rest = high & np.uint64(0x7FF)
        sticky = mid != np.uint64(0) or low != np.uint64(0)
        half = np.uint64(0x400)
        if rest > half or (rest == half and (sticky or mantissa & np.uint64(1) == np.uint64(1))):
            mantissa += np.uint64(1)
        value = np.float64(mantissa) * 2.0 ** (top - 53 - fraction)
        out[i] = -value if negative else value
