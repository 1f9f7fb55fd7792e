"""Kernels and their twins: every loop over arrays against dicts, lists and Fractions.

The last test runs this file again with NUMBA_DISABLE_JIT=1 and fewer cases: the loops mean the same
as plain Python.
"""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from everview.kernels import group, index, join, text

COMPILED = not numba.config.DISABLE_JIT
CASES = 40 if COMPILED else 4
PLACES = 32


@pytest.fixture(autouse=True)
def _wrapping() -> Iterator[None]:
    """Compiled arithmetic wraps in silence; as plain numpy it would warn."""
    with np.errstate(over="ignore"):
        yield


def random(case: int) -> Random:
    return Random(f"kernels {case}")


cases = pytest.mark.parametrize("case", range(CASES))


# --------------------------------------------------------------------------------------- index


def empty_index(entries: int, words: int, places: int = PLACES) -> index.Index:
    def ints() -> np.ndarray[Any, Any]:
        return np.zeros(entries, np.int32)

    return index.Index(
        np.zeros(places, np.int32), np.zeros((entries, words), np.int64), ints(), ints(), ints(),
        ints(), np.zeros(3, np.int64),
    )  # fmt: skip


class Numbers:
    """Twin of a pool of numbers: those given back are taken again, the last first."""

    def __init__(self) -> None:
        self.high, self.free, self.used = 0, list[int](), 0

    def take(self) -> int:
        self.used += 1
        if self.free:
            return self.free.pop()
        self.high += 1
        return self.high

    def give(self, number: int) -> None:
        self.used -= 1
        self.free.append(number)


class IndexTwin:
    """Twin of the index: a dict."""

    def __init__(self) -> None:
        self.entries: dict[tuple[int, ...], int] = {}
        self.numbers = Numbers()

    def add(self, key: tuple[int, ...]) -> int:
        if key not in self.entries:
            self.entries[key] = self.numbers.take()
        return self.entries[key]

    def drop(self, entry: int) -> None:
        for key, e in self.entries.items():
            if e == entry:
                del self.entries[key]
                self.numbers.give(entry)
                return


def crowded(words: int, count: int, homes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Keys that all want one of these few places of the table."""
    rng, found = Random(7), list[tuple[int, ...]]()
    while len(found) < count:
        keys = np.array([[rng.randrange(-(2**63), 2**63) for _ in range(words)] for _ in range(64)])
        keys = keys.astype(np.int64).reshape(64, words)
        hashes = np.zeros(64, np.uint64)
        index.hash_rows(keys, hashes)
        at_home = np.isin(hashes % np.uint64(PLACES), np.array(homes, np.uint64))
        found += [tuple(k) for k in keys[at_home].tolist()]
    return found[:count]


def rows_of(keys: list[tuple[int, ...]], words: int) -> np.ndarray[Any, Any]:
    return np.array(keys, np.int64).reshape(len(keys), words)


def check_index(ix: index.Index, twin: IndexTwin, universe: list[tuple[int, ...]]) -> None:
    words = ix.keys.shape[1]
    out = np.zeros(len(universe), np.int32)
    index.find_all(ix, rows_of(universe, words), out)
    assert out.tolist() == [twin.entries.get(k, 0) for k in universe]
    assert sorted(ix.table[ix.table != 0].tolist()) == sorted(twin.entries.values())
    assert ix.counters.tolist() == [twin.numbers.high, len(twin.numbers.free), twin.numbers.used]
    assert ix.free[: len(twin.numbers.free)].tolist() == twin.numbers.free


@cases
@pytest.mark.parametrize(
    "homes", [(0,), (PLACES - 1,), (PLACES - 2, PLACES - 1, 0), tuple(range(PLACES))]
)
def test_index_under_collisions(case: int, homes: tuple[int, ...]) -> None:
    """Adds and drops of keys that crowd one end of the table, over its edge."""
    rng, words = random(case), 1 + case % 3
    universe = crowded(words, 26, homes)
    ix, twin = empty_index(40, words), IndexTwin()
    for _ in range(30):
        if rng.random() < 0.6:
            room = 20 - len(twin.entries)
            chosen = [k for k in rng.choices(universe, k=6) if k not in twin.entries][:room]
            chosen += rng.choices(
                list(twin.entries) or universe[:0] or chosen, k=2 if chosen else 0
            )
            out = np.zeros(len(chosen), np.int32)
            index.add_all(ix, rows_of(chosen, words), out)
            assert out.tolist() == [twin.add(k) for k in chosen]
        else:
            for e in rng.sample(sorted(twin.entries.values()), min(3, len(twin.entries))):
                index.drop_unused(ix, np.array([e], np.int32))
                twin.drop(e)
        check_index(ix, twin, universe)


def test_keys_without_words_are_one_key() -> None:
    ix, twin = empty_index(4, 0), IndexTwin()
    out = np.zeros(3, np.int32)
    index.add_all(ix, np.zeros((3, 0), np.int64), out)
    assert out.tolist() == [twin.add(())] * 3


@cases
def test_drop_unused(case: int) -> None:
    """Only entries without row and references go, however often they are named."""
    rng = random(case)
    ix, twin = empty_index(30, 1), IndexTwin()
    keys = [(rng.randrange(-50, 50),) for _ in range(18)]
    index.add_all(ix, rows_of(keys, 1), np.zeros(len(keys), np.int32))
    for k in keys:
        twin.add(k)
    entries = sorted(twin.entries.values())
    for array in (ix.row, ix.head, ix.count):
        for e in rng.sample(entries, len(entries) // 4):
            array[e] = 1 + rng.randrange(5)
    named = rng.choices(entries, k=40)
    kept = {e for e in entries if ix.row[e] or ix.head[e] or ix.count[e]}
    gone = [e for e in dict.fromkeys(named) if e not in kept]
    assert index.drop_unused(ix, np.array(named, np.int32)) == len(gone)
    for e in gone:
        twin.drop(e)
    check_index(ix, twin, keys)


@cases
def test_refill(case: int) -> None:
    """A grown table finds all that the small one found."""
    rng = random(case)
    universe = crowded(2, 20, (3, 4))
    ix, twin = empty_index(40, 2), IndexTwin()
    index.add_all(ix, rows_of(universe, 2), np.zeros(20, np.int32))
    for k in universe:
        twin.add(k)
    for e in rng.sample(sorted(twin.entries.values()), 8):
        index.drop_unused(ix, np.array([e], np.int32))
        twin.drop(e)
    ix = ix._replace(table=np.zeros(rng.choice((PLACES, 64, 256)), np.int32))
    index.refill(ix)
    check_index(ix, twin, universe)


# ---------------------------------------------------------------------------------------- join


class JoinTwin:
    """Twin of one edge: everything counted again from who references whom."""

    def __init__(self) -> None:
        self.keys: dict[int, int | None] = {}  # slot of the many side -> key it references
        self.ones: dict[int, bool] = {}  # key of the one side -> live
        self.passes: dict[int, bool] = {}
        self.live: set[int] = set()

    def support(self, slot: int) -> int:
        key = self.keys[slot]
        return int(key is not None and self.ones.get(key, False))

    def referencing(self, key: int) -> set[int]:
        return {s for s, k in self.keys.items() if k == key}


class Edge:
    """The arrays of one edge, as operators/join keeps them."""

    def __init__(self) -> None:
        self.ix = empty_index(64, 1, 128)
        self.links = np.zeros((64, 3), np.int32)
        self.marks = np.zeros((64, 4), np.int32)
        self.below = np.zeros((64, 4), np.int32)

    def listed(self, key: int) -> list[int]:
        """The list of an entry, walked both ways."""
        e = index.find(self.ix, np.array([[key]]), 0)
        forth, back, s = list[int](), list[int](), self.ix.head[e] if e else 0
        while s:
            forth.append(int(s))
            s = self.links[s, 1]
        s = forth[-1] if forth else 0
        while s:
            back.append(int(s))
            s = self.links[s, 2]
        assert back == forth[::-1]
        return forth


def entry_of(edge: Edge, key: int) -> int:
    out = np.zeros(1, np.int32)
    index.add_all(edge.ix, np.array([[key]]), out)
    return int(out[0])


@cases
def test_an_edge(case: int) -> None:
    """Rows come and go on both sides: lists, supports, who wakes and who falls asleep."""
    rng = random(case)
    edge, twin = Edge(), JoinTwin()
    for _ in range(60):
        action = rng.choice(("link", "link", "unlink", "lift", "lower"))
        if action == "link":
            free = [s for s in range(1, 40) if s not in twin.keys]
            slots = rng.sample(free, min(len(free), rng.randrange(1, 5)))
            keys = [rng.choice((None, *range(8))) for _ in slots]
            for s, k in zip(slots, keys, strict=True):
                twin.keys[s], twin.passes[s] = k, rng.random() < 0.7
                edge.marks[s] = 0
                edge.marks[s, join.FLAGS] = join.PASS if twin.passes[s] else 0
            words = np.array([0 if k is None else k for k in keys], np.int64).reshape(-1, 1)
            given = np.array([k is not None for k in keys], np.bool_)
            at = np.array(slots, np.int32)
            join.link(edge.links, edge.marks, 0, at, edge.ix, words, given, edge.below)
        elif action == "unlink" and twin.keys:
            slots = rng.sample(sorted(twin.keys), min(len(twin.keys), rng.randrange(1, 5)))
            join.unlink(edge.links, 0, np.array(slots, np.int32), edge.ix)
            for s in slots:
                del twin.keys[s]
                twin.live.discard(s)
        elif action == "lift":
            keys = [k for k in range(8) if not twin.ones.get(k) and rng.random() < 0.4]
            entries = np.array([entry_of(edge, k) for k in keys], np.int32)
            for k, e in zip(keys, entries, strict=True):
                twin.ones[k] = True
                edge.ix.row[e] = k + 1
                edge.below[k + 1, join.FLAGS] = join.LIVE
            out = np.zeros(int(edge.ix.count[entries].sum()), np.int32)
            n = join.lift(edge.links, edge.marks, 0, entries, edge.ix.head, 1, out)
            candidates = {s for k in keys for s in twin.referencing(k) if twin.passes[s]}
            assert sorted(out[:n].tolist()) == sorted(candidates)
            awake = {s for s in candidates if rng.random() < 0.8}  # the others fail an assertion
            edge.marks[sorted(awake), join.FLAGS] |= join.LIVE
            twin.live |= awake
        elif action == "lower":
            keys = [k for k in range(8) if twin.ones.get(k) and rng.random() < 0.4]
            entries = np.array([entry_of(edge, k) for k in keys], np.int32)
            for k, e in zip(keys, entries, strict=True):
                twin.ones[k] = False
                edge.ix.row[e] = 0
                edge.below[k + 1, join.FLAGS] = 0
            out = np.zeros(int(edge.ix.count[entries].sum()), np.int32)
            n = join.lower(edge.links, edge.marks, 0, entries, edge.ix.head, out)
            asleep = {s for k in keys for s in twin.referencing(k)} & twin.live
            assert sorted(out[:n].tolist()) == sorted(asleep)
            twin.live -= asleep
        for k in range(8):
            assert set(edge.listed(k)) == twin.referencing(k)
            e = index.find(edge.ix, np.array([[k]]), 0)
            assert not e or edge.ix.count[e] == len(twin.referencing(k))
        for s in twin.keys:
            assert edge.marks[s, join.SUPPORT] == twin.support(s)
            assert bool(edge.marks[s, join.FLAGS] & join.LIVE) == (s in twin.live)


def admitted(
    changes: list[tuple[int, int]], there: set[int], policy: int
) -> tuple[dict[int, int], list[int]]:
    """Twin of `admit`: per touched key what holds at the end, and a verdict per change."""
    now: dict[int, int] = {}
    verdicts = []
    for i, (key, op) in enumerate(changes):
        now.setdefault(key, join.UNCHANGED if key in there else join.ABSENT)
        present = now[key] != join.ABSENT
        if op == -1:
            verdict = join.GOOD if present else join.MISSING_ROW
            outcome = join.ABSENT
        elif op == 1:
            verdict = join.DUPLICATE_KEY if present and policy == join.STRICT else join.GOOD
            outcome = i
        else:
            verdict = join.GOOD if present or policy == join.UPSERT else join.MISSING_ROW
            outcome = i
        if verdict == join.GOOD:
            now[key] = outcome
        verdicts.append(verdict)
    return now, verdicts


@cases
@pytest.mark.parametrize("policy", [join.STRICT, join.UPSERT, join.TRUST])
def test_admit(case: int, policy: int) -> None:
    rng = random(case)
    ix = empty_index(64, 1, 128)
    there = {k for k in range(10) if rng.random() < 0.5}
    for k in there:
        out = np.zeros(1, np.int32)
        index.add_all(ix, np.array([[k]]), out)
        ix.row[out] = k + 1
    changes = [(rng.randrange(10), rng.choice((1, -1, 2))) for _ in range(25)]
    n = len(changes)
    mark, touched = np.zeros(64, np.int32), np.zeros(n, np.int32)
    now, verdict = np.zeros(n, np.int64), np.zeros(n, np.int8)
    keys = np.array([[k] for k, _ in changes], np.int64)
    op = np.array([o for _, o in changes], np.int8)
    k = join.admit(ix, keys, op, policy, mark, touched, now, verdict)
    expected, verdicts = admitted(changes, there, policy)
    assert dict(zip(ix.keys[touched[:k], 0].tolist(), now[:k].tolist(), strict=True)) == expected
    assert ix.keys[touched[:k], 0].tolist() == list(expected)  # in order of first touch
    assert verdict.tolist() == verdicts
    assert not mark.any()


@cases
@pytest.mark.parametrize("strict", [True, False])
def test_admit_counted(case: int, strict: bool) -> None:
    rng = random(case)
    ix, counts = empty_index(64, 1, 128), np.zeros(64, np.int64)
    have = {k: rng.choice((1, 2, 2**31, 2**40)) for k in range(8) if rng.random() < 0.5}
    for k, count in have.items():
        out = np.zeros(1, np.int32)
        index.add_all(ix, np.array([[k]]), out)
        ix.row[out] = k + 1
        counts[k + 1] = count
    changes = [(rng.randrange(8), rng.choice((1, -1, -1, 2, -3))) for _ in range(20)]
    n = len(changes)
    mark, touched = np.zeros(64, np.int32), np.zeros(n, np.int32)
    now, first = np.zeros(n, np.int64), np.zeros(n, np.int64)
    verdict = np.zeros(n, np.int8)
    keys = np.array([[k] for k, _ in changes], np.int64)
    weight = np.array([w for _, w in changes], np.int64)
    k = join.admit_counted(ix, keys, weight, counts, strict, mark, touched, now, first, verdict)
    expected, verdicts, firsts = dict[int, int](), [], dict[int, int]()
    for i, (key, w) in enumerate(changes):
        firsts.setdefault(key, i)
        expected.setdefault(key, have.get(key, 0))
        refused = strict and expected[key] + w < 0
        verdicts.append(join.MISSING_ROW if refused else join.GOOD)
        expected[key] += 0 if refused else w
    assert dict(zip(ix.keys[touched[:k], 0].tolist(), now[:k].tolist(), strict=True)) == expected
    assert first[:k].tolist() == list(firsts.values())
    assert verdict.tolist() == verdicts
    assert not mark.any()


@cases
def test_slots(case: int) -> None:
    rng, twin = random(case), Numbers()
    free, counters = np.zeros(100, np.int32), np.zeros(4, np.int64)
    held: list[int] = []
    for _ in range(20):
        if rng.random() < 0.6 and len(held) < 60:
            out = np.zeros(rng.randrange(6), np.int32)
            join.take_slots(free, counters, out)
            assert out.tolist() == [twin.take() for _ in out]
            held += out.tolist()
        else:
            slots = rng.sample(held, min(len(held), rng.randrange(6)))
            join.give_slots(free, counters, np.array(slots, np.int32))
            for s in reversed(slots):
                twin.give(s)
            held = [h for h in held if h not in slots]
        assert counters[:3].tolist() == [twin.high, len(twin.free), twin.used]
        assert len(set(held)) == len(held)
        assert 0 not in held


@cases
def test_stored_and_place(case: int) -> None:
    rng = random(case)
    words = np.array([[rng.randrange(2) for _ in range(3)] for _ in range(12)], np.int64)
    new = np.array([[rng.randrange(2) for _ in range(3)] for _ in range(9)], np.int64)
    slots = np.array(rng.sample(range(1, 12), 5), np.int32)
    at = np.array(rng.choices(range(9), k=5), np.int64)
    out = np.zeros(5, np.bool_)
    join.stored(words, slots, new, at, out)
    pairs = list(zip(slots.tolist(), at.tolist(), strict=True))
    assert out.tolist() == [words[s].tolist() == new[i].tolist() for s, i in pairs]
    before = words.tolist()
    join.place(words, slots, new, at)
    expected = {s: new[i].tolist() for s, i in pairs}
    assert words.tolist() == [expected.get(i, row) for i, row in enumerate(before)]


# --------------------------------------------------------------------------------------- group


def limbs_of(number: int, size: int = 3) -> list[int]:
    words = [(number >> (64 * k)) & (2**64 - 1) for k in range(size)]
    return [w - 2**64 if w >= 2**63 else w for w in words]


def number_of(limbs: Any) -> int:
    over = 1 << (64 * len(limbs))
    unsigned = sum((int(w) % 2**64) << (64 * k) for k, w in enumerate(limbs))
    return unsigned - over if unsigned >= over // 2 else unsigned


EDGES = [
    0, 1, -1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**64), 2**127, 2**128 - 1, 2**128,
    -(2**128), 2**190, -(2**190), 10**38, -(10**38), (2**64 - 1) << 64,
]  # fmt: skip


@cases
def test_fold(case: int) -> None:
    """weight | n | sum of three limbs, twice; sums carry from limb to limb, neighbours do not."""
    rng = random(case)
    groups, n = 5, 60
    carry = np.array([0, 0, 0, 1, 1, 0, 0, 1, 1], np.bool_)
    state = np.zeros((groups + 1, 9), np.int64)
    sums = {g: [0, 0, 0, 0] for g in range(groups + 1)}  # weight, n, sum, sum
    for _ in range(2):
        chosen = [rng.randrange(1, groups + 1) for _ in range(n)]
        rows = []
        for g in chosen:
            row = [rng.choice((1, -1)), rng.choice((1, 0, -1))]
            row += [rng.choice(EDGES) + rng.randrange(-3, 4) for _ in range(2)]
            if rng.random() < 0.3:
                row[2:] = [-sums[g][2], -sums[g][3]]  # back to nothing
            sums[g] = [a + b for a, b in zip(sums[g], row, strict=True)]
            rows.append([row[0], row[1], *limbs_of(row[2]), 0, *limbs_of(row[3])])
        old = state.copy()
        mark, touched = np.zeros(groups + 1, np.int8), np.zeros(n, np.int32)
        before = np.zeros((n, 9), np.int64)
        at = np.array(chosen, np.int32)
        k = group.fold(state, at, np.array(rows, np.int64), carry, mark, touched, before)
        assert touched[:k].tolist() == list(dict.fromkeys(chosen))
        assert (before[:k] == old[touched[:k]]).all()
        assert not mark.any()
        for g, (weight, count, a, b) in sums.items():
            assert state[g, :2].tolist() == [weight, count]
            assert number_of(state[g, 2:5]) == number_of(limbs_of(a))
            assert state[g, 5] == 0
            assert number_of(state[g, 6:9]) == number_of(limbs_of(b))


FRACTIONS = ((160, 5), (112, 3), (0, 2))  # and limbs
DOUBLES = [
    0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 1e16, 2.0**46, 2.0**46 * 1.5, 2.0**52 + 1, 2.0**53 - 1, 5e-324,
    sys.float_info.min, sys.float_info.max, -sys.float_info.max, math.inf, -math.inf, math.nan,
    math.nextafter(1, 2), math.nextafter(1, 0), math.pi, 123456.789,
]  # fmt: skip
EDGE_DOUBLES = [
    edge
    for power in (-108, -109, -60, -61, 15, 16, 47, 95, 96)
    for edge in (2.0**power, math.nextafter(2.0**power, 0), math.nextafter(2.0**power, 1e300))
]


def a_double(rng: Random) -> float:
    if rng.random() < 0.5:
        return rng.choice(DOUBLES + EDGE_DOUBLES)
    if rng.random() < 0.5:
        return rng.uniform(-1e6, 1e6) * 10.0 ** rng.randrange(-30, 22)
    return float(struct.unpack("<d", rng.randbytes(8))[0])


def fitting(value: float, fraction: int, size: int) -> bool:
    """A multiple of 2^-fraction whatever its bits, and room for 2^63 of them."""
    if value == 0 or not math.isfinite(value):
        return value == 0
    return 2.0 ** (52 - fraction) <= abs(value) < 2.0 ** (64 * size - 64 - fraction)


@cases
@pytest.mark.parametrize(("fraction", "size"), FRACTIONS)
def test_split_doubles(case: int, fraction: int, size: int) -> None:
    rng = random(case)
    values = [a_double(rng) for _ in range(60)] + DOUBLES + EDGE_DOUBLES
    weights = [
        rng.choice((1, -1, 2, -3, 1000, -(2**31), 2**31 - 1, 0, 2**63 - 1, 1 - 2**63))
        for _ in values
    ]
    limbs, fits = np.full((len(values), size), 7, np.int64), np.zeros(len(values), np.bool_)
    bits = np.array(values).view(np.int64)
    group.split_doubles(bits, np.array(weights, np.int64), fraction, limbs, fits)
    for value, weight, found, fit in zip(values, weights, limbs, fits, strict=True):
        assert fit == fitting(value, fraction, size), value
        exact = Fraction(value) * weight * 2**fraction if fit else Fraction(0)
        assert exact.denominator == 1
        assert number_of(found) == exact, (value, weight)


@cases
@pytest.mark.parametrize(("fraction", "size"), FRACTIONS)
def test_round_doubles(case: int, fraction: int, size: int) -> None:
    """The nearest double, ties to even; edges are halfway points and their neighbours."""
    rng, most = random(case), 2 ** (64 * size - 1)
    numbers = [e + d for e in EDGES for d in (-1, 0, 1)]
    for _ in range(40):
        mantissa, shift = rng.randrange(2**52, 2**53), rng.randrange(64 * size - 54)
        half = (2 * mantissa + 1) << shift  # between two doubles
        numbers += [half, half + 1, half - 1, -half, -half - 1, 2 * mantissa << shift]
        numbers.append(rng.randrange(-most, most) >> rng.randrange(64 * size - 2))
    numbers = [n for n in numbers if -most <= n < most]
    out = np.zeros(len(numbers))
    limbs = np.array([limbs_of(n, size) for n in numbers], np.int64)
    group.round_doubles(limbs, fraction, out)
    for number, found in zip(numbers, out.tolist(), strict=True):
        assert found.hex() == float(Fraction(number, 2**fraction)).hex(), number


@cases
def test_a_sum_of_doubles_is_fsum(case: int) -> None:
    """Split, folded in any order, rounded: the correctly rounded sum."""
    rng, (fraction, size) = random(case), FRACTIONS[0]
    values = [v for v in (a_double(rng) for _ in range(200)) if fitting(v, fraction, size)]
    n = len(values)
    limbs, fits = np.zeros((n, size), np.int64), np.zeros(n, np.bool_)
    group.split_doubles(
        np.array(values).view(np.int64), np.ones(n, np.int64), fraction, limbs, fits
    )
    order = rng.sample(range(n), n)
    state, carry = np.zeros((2, size), np.int64), np.arange(size) > 0
    mark, touched = np.zeros(2, np.int8), np.zeros(n, np.int32)
    before = np.zeros((n, size), np.int64)
    group.fold(state, np.ones(n, np.int32), limbs[order], carry, mark, touched, before)
    out = np.zeros(1)
    group.round_doubles(state[1:], fraction, out)
    assert out[0] == math.fsum(values)


# ---------------------------------------------------------------------------------------- text


class TextTwin:
    """Twin of interned text: a dict of bytes and their uses."""

    def __init__(self) -> None:
        self.codes: dict[bytes, int] = {}
        self.uses: dict[int, int] = {}
        self.numbers = Numbers()
        self.end = self.dead = 0

    def intern(self, value: bytes) -> int:
        if value not in self.codes:
            self.codes[value] = self.numbers.take()
            self.uses[self.codes[value]] = 0
            self.end += len(value)
        return self.codes[value]

    def release(self, code: int) -> None:
        value = next((v for v, c in self.codes.items() if c == code), None)
        if value is not None and not self.uses[code]:
            del self.codes[value], self.uses[code]
            self.numbers.give(code)
            self.dead += len(value)


def empty_text(codes: int, heap: int, places: int = 64) -> text.Text:
    return text.Text(
        np.zeros(places, np.int32), np.zeros(codes, np.uint64), np.zeros(codes, np.int64),
        np.zeros(codes, np.int32), np.zeros(codes, np.int32), np.zeros(codes, np.int32),
        np.zeros(heap, np.uint8), np.zeros(5, np.int64),
    )  # fmt: skip


def packed(values: list[bytes]) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return np.frombuffer(b"".join(values) + b"\0", np.uint8), offsets


def unpacked(tx: text.Text, codes: list[int]) -> list[bytes]:
    lengths = tx.length[codes] if codes else np.zeros(0, np.int64)
    offsets = np.cumsum([0, *lengths.tolist()]).astype(np.int64)
    data = np.zeros(int(offsets[-1]) + 1, np.uint8)
    text.gather(tx, np.array(codes, np.int64), offsets, data)
    return [data[a:b].tobytes() for a, b in pairwise(offsets)]


def check_text(tx: text.Text, twin: TextTwin) -> None:
    assert tx.counters.tolist() == [
        twin.numbers.high, len(twin.numbers.free), twin.numbers.used, twin.end, twin.dead,
    ]  # fmt: skip
    assert unpacked(tx, list(twin.codes.values())) == list(twin.codes)
    assert sorted(tx.table[tx.table != 0].tolist()) == sorted(twin.codes.values())
    found = np.zeros(len(twin.codes), np.int64)
    fresh = np.zeros(len(twin.codes), np.int32)
    assert text.intern(tx, *packed(list(twin.codes)), found, fresh) == 0
    assert found.tolist() == list(twin.codes.values())


WORDS = [
    b"", b"\0", b"\0\0", b"a", b"ab", b"abcdefg", b"abcdefgh", b"abcdefghi", b"12345678" * 3,
    "é".encode(), "e\u0301".encode(), "👩‍🌾".encode(), b"\xff\xfe", b"a" * 40, b"a" * 41,
    *(bytes([65 + i]) * 5 for i in range(20)),
]  # fmt: skip


@cases
@pytest.mark.parametrize("collide", [False, True])
def test_text(case: int, collide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intern, use, release, compact, refill; with `collide` nearly all texts want one place."""
    rng, words = random(case), WORDS
    if collide:
        words = [w for i in range(3000) if text_hash(w := b"%d" % i) % 64 in (62, 63)][:30]
    tx, twin = empty_text(80, 4000), TextTwin()
    for _ in range(25):
        action = rng.choice(("intern", "intern", "use", "release", "compact", "refill"))
        if action == "intern":
            values = rng.choices(words, k=6)
            codes, fresh = np.zeros(6, np.int64), np.zeros(6, np.int32)
            known = set(twin.codes)
            n = text.intern(tx, *packed(values), codes, fresh)
            assert codes.tolist() == [twin.intern(v) for v in values]
            new = dict.fromkeys(v for v in values if v not in known)
            assert fresh[:n].tolist() == [twin.codes[v] for v in new]
        elif action == "use" and twin.uses:
            code = rng.choice(sorted(twin.uses))
            times = rng.choice((1, 1, 2, -twin.uses[code]))
            text.use(tx, np.array([code, 0], np.int64), times)
            twin.uses[code] += times
        elif action == "release":
            named = rng.choices(range(twin.numbers.high + 1), k=12)
            text.release(tx, np.array(named, np.int64))
            for code in named:
                twin.release(code)
        elif action == "compact":
            heap = np.zeros(4000, np.uint8)
            text.compact(tx, heap)
            tx = tx._replace(heap=heap)
            twin.end, twin.dead = twin.end - twin.dead, 0
        elif action == "refill":
            tx = tx._replace(table=np.zeros(rng.choice((64, 128)), np.int32))
            text.refill(tx)
        check_text(tx, twin)


def text_hash(value: bytes) -> int:
    data, offsets = packed([value])
    out = np.zeros(1, np.uint64)
    text.hash_texts(data, offsets, out)
    return int(out[0])


def mixed(h: int, word: int) -> int:
    """Twin of `mix`, on integers."""
    word = word * 0x9E3779B97F4A7C15 % 2**64
    word ^= word >> 32
    h = (h ^ word) * 0xD6E8FEB86659FD93 % 2**64
    return h ^ (h >> 29)


@cases
def test_hashes(case: int) -> None:
    """Routing rests on these values: they may not change between versions or machines."""
    rng = random(case)
    rows = [[rng.randrange(-(2**63), 2**63) for _ in range(case % 4)] for _ in range(5)]
    out = np.zeros(5, np.uint64)
    index.hash_rows(np.array(rows, np.int64).reshape(5, case % 4), out)
    for row, found in zip(rows, out.tolist(), strict=True):
        h = 0x243F6A8885A308D3
        for word in row:
            h = mixed(h, word % 2**64)
        assert found == h
    value = rng.randbytes(rng.randrange(30))
    h = 0x13198A2E03707344 ^ len(value)
    whole = len(value) // 8 * 8
    for at in range(0, whole, 8):
        h = mixed(h, int.from_bytes(value[at : at + 8], "little"))
    assert text_hash(value) == mixed(h, int.from_bytes(value[whole:], "little"))


# -------------------------------------------------------------------------------- not compiled


def test_the_same_without_compiling() -> None:
    if not COMPILED:  # this is that run
        return
    root = Path(__file__).parents[1]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
