"""Grouping: SUM, COUNT and AVG by key, exact under any history of inserts and deletes.

A group's state is a row of int64 words (kernels/group adds them up, carrying between limbs):

    | weight | n₁ | sum₁: lowest limb ... highest | n₂ | ...     one `n` per aggregate (non-NULL
                                                       arguments), and limbs for SUM and AVG

Sums are wide integers: of integers and decimals at their scale in three limbs, of doubles as
multiples of 2^-160 in five. Doubles that do not fit that (from 2^96 or below 2^-108, NaN, infinite:
by the value alone) are kept as exact Python integers beside it in `wide`, which is read and written
whole with every epoch. So every sum is exact, independent of order, and undone by a delete.

A *partial* is the same words as columns of a delta: what one shard adds to a group in an epoch. It
is folded before it travels, and folded again where the group lives.

    Group.fold(delta)      rows or partials -> touched groups
    Group.changes()        per touched group: old row -1, new row +1, nothing if equal

Not here: which shard holds a group (dataflow), HAVING and expressions over aggregates
(operators/row).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from everview.delta.delta import Delta
from everview.delta.evaluate import evaluate
from everview.delta.vector import INT64_MAX, INT64_MIN, Array, Vector, narrow
from everview.errors import ValueOverflow
from everview.kernels import group as kernel
from everview.kernels.index import drop_unused
from everview.plan.node import Aggregate
from everview.plan.step import LIMBS_OF_DOUBLES, GroupSpec, limbs
from everview.schema import BIGINT, STRING, Type
from everview.state.arena import Arena
from everview.state.index import KeyIndex
from everview.state.rows import Layout
from everview.state.text import TextTable

FRACTION = 160
_WIDE_SHIFT = 1074  # every finite double is a multiple of 2^-1074
_MASK = 2**64 - 1

Wide = list[Any]  # [sum * 2^1074, NaNs, +infinities, -infinities]


class Group:
    """The groups of one stage and shard."""

    def __init__(self, arena: Arena, texts: TextTable, spec: GroupSpec, zone: str) -> None:
        self.arena, self.texts, self.spec, self.zone = arena, texts, spec, zone
        self.layout = Layout(spec.columns)
        self.index = KeyIndex(arena, "groups", self.layout.width)
        self.width = spec.width
        self.at = {}
        at = 1
        for i, a in enumerate(spec.aggregates):
            self.at[i] = at
            at += 1 + limbs(a)
        self.carry = np.zeros(self.width, np.bool_)
        for i, a in enumerate(spec.aggregates):
            self.carry[self.at[i] + 2 : self.at[i] + 1 + limbs(a)] = True
        self.wide: dict[str, Wide] = arena.scalars.setdefault("wide", {})
        self.touched = np.zeros(0, np.int32)
        self.before = np.zeros((0, self.width), np.int64)
        self.wide_before: dict[str, Wide | None] = {}
        self._room()

    def _room(self) -> None:
        entries = len(self.index.ix.row)
        self.state = self.arena.array("groups.state", np.int64, (self.width,), entries)
        self.ids = self.arena.array("groups.ids", np.int64, (), entries)

    @property
    def used(self) -> int:
        return self.index.used

    # ------------------------------------------------------------------ in

    def start(self) -> None:
        """Without GROUP BY there is always one group."""
        if not self.spec.keys:
            self.index.entries(np.zeros((1, 0), np.int64))
            self._room()

    def fold(self, delta: Delta, *, partial: bool) -> None:
        """Add a delta of rows, or of partials, into the groups."""
        n = len(delta)
        if partial:
            keys = {c.name: delta.columns[c.name] for c in self.spec.columns}
            words = np.stack([delta.columns[f"#{j}"].values for j in range(self.width)], axis=1)
            wide = self._wide_of_partials(delta)
        else:
            keys = {
                k.name: evaluate(k.value, delta.columns, n, zone=self.zone) for k in self.spec.keys
            }
            words, wide = self._addends(delta)
        key_words = self.layout.words(keys, self.texts, n)
        groups = self.index.entries(key_words)
        self._room()
        mark = np.zeros(len(self.index.ix.row), np.int8)
        touched, before = np.zeros(n, np.int32), np.zeros((n, self.width), np.int64)
        k = kernel.fold(self.state, groups, words, self.carry, mark, touched, before)
        self.touched, self.before = touched[:k], before[:k]
        self.wide_before = {}
        for row, i, extra in wide:
            name = f"{groups[row]}:{i}"
            self.wide_before.setdefault(name, self.wide.get(name))
            have = self.wide.get(name, [0, 0, 0, 0])
            total = [a + b for a, b in zip(have, extra, strict=True)]
            if any(total):
                self.wide[name] = total
            else:
                self.wide.pop(name, None)

    def _addends(self, delta: Delta) -> tuple[Array, list[tuple[int, int, Wide]]]:
        n, weight = len(delta), delta.weight
        words = np.zeros((n, self.width), np.int64)
        words[:, 0] = weight
        wide: list[tuple[int, int, Wide]] = []
        for i, a in enumerate(self.spec.aggregates):
            at = self.at[i]
            if a.argument is None:
                words[:, at] = weight
                continue
            v = evaluate(a.argument, delta.columns, n, zone=self.zone)
            times = weight if v.valid is None else np.where(v.valid, weight, 0)
            words[:, at] = times
            if a.function == "count":
                continue
            if v.type.is_float:
                wide += [(row, i, extra) for row, extra in _doubles(v, times, words[:, at + 1 :])]
            else:
                _limbs(v.values, times, words[:, at + 1 : at + 4])
        return words, wide

    def _wide_of_partials(self, delta: Delta) -> list[tuple[int, int, Wide]]:
        out = []
        for i in self.spec.of_doubles():
            texts = delta.columns[f"#wide{i}"]
            if texts.valid is None or texts.valid.any():
                for row, text in enumerate(texts.to_arrow().to_pylist()):
                    if text is not None:
                        total, *others = json.loads(text)
                        out.append((row, i, [int(total), *others]))
        return out

    # ------------------------------------------------------------------ out

    def partials(self) -> Delta:
        """The touched groups' words as a delta of partials (for a Group that starts empty)."""
        columns = self._key_vectors(self.touched)
        words = self.state[self.touched]
        for j in range(self.width):
            columns[f"#{j}"] = Vector(BIGINT, np.ascontiguousarray(words[:, j]))
        for i in self.spec.of_doubles():
            found = [self.wide.get(f"{g}:{i}") for g in self.touched]
            texts = [None if w is None else json.dumps([str(w[0]), *w[1:]]) for w in found]
            columns[f"#wide{i}"] = Vector.from_arrow(pa.array(texts, pa.string()), STRING)
        return Delta(columns, np.ones(len(self.touched), np.int64))

    def changes(self, *, first: bool) -> tuple[dict[str, Vector], Array, dict[str, Vector], Array]:
        """Old rows and whether each was there, new rows and whether each is, group by group."""
        if not self.spec.keys and first:
            self.touched = np.ones(1, np.int32)
            self.before = np.zeros((1, self.width), np.int64)
        keys = self._key_vectors(self.touched)
        after = self.state[self.touched]
        alone = not self.spec.keys
        was = self.before[:, 0] > 0 if not alone else np.full(len(after), not first)
        now = after[:, 0] > 0 if not alone else np.ones(len(after), np.bool_)
        old = {**keys, **self._values(self.before, was, old=True)}
        new = {**keys, **self._values(after, now, old=False)}
        return old, was, new, now

    def to_log(self) -> tuple[pa.RecordBatch | None, Array]:
        """The touched groups as they are now, to log; the ids of their logged older versions."""
        dead = self.ids[self.touched]
        self.ids[self.touched] = 0
        kept = self.state[self.touched].any(axis=1)
        self._logged = self.touched[kept]
        batch = None
        if len(self._logged):
            touched, self.touched = self.touched, self._logged
            batch = self.partials().to_arrow()
            self.touched = touched
        return batch, dead[dead != 0]

    def logged(self, ids: Array) -> None:
        """The ids the log gave to the groups of `to_log`."""
        self.ids[self._logged] = ids

    def load(self, batches: list[pa.RecordBatch], ids: Array) -> None:
        """Put logged groups into an empty table."""
        delta = Delta.from_arrow(pa.concat_batches(batches), self.spec.partial_columns())
        self.fold(delta, partial=True)
        words = self.layout.words(delta.columns, self.texts, len(delta))
        self.ids[self.index.find(words)] = ids
        self.end_epoch()

    def locate(self, batch: pa.RecordBatch) -> Array:
        """The group of each logged row, 0 where it is not there."""
        columns = {
            c.name: Vector.from_arrow(batch.column(c.name), c.type) for c in self.spec.columns
        }
        return self.index.find(self.layout.words(columns, self.texts, batch.num_rows))

    def rows(self) -> tuple[dict[str, Vector], Array]:
        """Every group's row, and whether it is there."""
        found = np.flatnonzero(self.state[:, 0] > 0) if self.spec.keys else np.ones(1)
        self.touched = found.astype(np.int32)
        self.before = np.zeros((len(self.touched), self.width), np.int64)
        _, _, rows, there = self.changes(first=False)
        self.touched = self.touched[:0]
        return rows, there

    def end_epoch(self) -> None:
        """Forget groups without rows, settle the uses of text (`count` marks who has any)."""
        ix, touched = self.index.ix, self.touched
        empty = ~self.state[touched].any(axis=1)
        held = ix.count[touched] == 1
        for at in self.layout.text:
            codes = ix.keys[touched, at]
            self.texts.use(codes[~empty & ~held], 1)
            self.texts.use(codes[empty & held], -1)
        ix.count[touched] = np.where(empty, 0, 1)
        if self.spec.keys:
            drop_unused(ix, touched[empty])
        self.touched = touched[:0]
        self.wide_before = {}

    def _key_vectors(self, groups: Array) -> dict[str, Vector]:
        keys = self.index.ix.keys
        return {
            c.name: self.layout.vector(keys, c.name, self.texts, groups) for c in self.spec.columns
        }

    def _values(self, words: Array, there: Array, *, old: bool) -> dict[str, Vector]:
        out = {}
        for i, a in enumerate(self.spec.aggregates):
            at = self.at[i]
            n = np.ascontiguousarray(words[:, at])
            if a.function == "count":
                out[a.name] = Vector(BIGINT, n)
                continue
            assert a.argument is not None
            valid = n != 0
            number = words[:, at + 1 : at + 1 + limbs(a)]
            if a.argument.type.is_float:
                values = self._double_sums(i, number, old=old)
                if a.function == "avg":
                    values = np.divide(values, n, out=np.zeros(len(n)), where=valid)
            else:
                values = _integers(number)
                if a.function == "avg":
                    values = _averages(values, n, a.argument.type, a.column.type)
                _in_range(values, valid & there, a)
                if a.column.type.is_exact:
                    values = narrow(values)
            out[a.name] = Vector(a.column.type, values, None if valid.all() else valid)
        return out

    def _double_sums(self, i: int, numbers: Array, *, old: bool) -> Array:
        values = np.zeros(len(numbers))
        kernel.round_doubles(np.ascontiguousarray(numbers), FRACTION, values)
        if not self.wide and not self.wide_before:
            return values
        for row, g in enumerate(self.touched):
            name = f"{g}:{i}"
            wide = self.wide.get(name)
            if old and name in self.wide_before:
                wide = self.wide_before[name]
            if wide is not None:
                values[row] = _wide_value(wide, int(_integers(numbers[row : row + 1])[0]))
        return values


# ---------------------------------------------------------------- words and values


def _limbs(values: Array, times: Array, out: Array) -> None:
    """out int64[n, 3] = values * times, as 192-bit integers."""
    if values.dtype != object and len(values):
        largest = max(int(values.max()), -int(values.min()))
        if largest * int(np.abs(times).max()) <= INT64_MAX:
            low = values * times
            out[:, 0] = low
            out[:, 1] = low >> 63
            out[:, 2] = out[:, 1]
            return
    for row, (v, w) in enumerate(zip(values, times, strict=True)):
        product = int(v) * int(w)
        for k in range(3):
            limb = (product >> (64 * k)) & _MASK
            out[row, k] = limb - 2**64 if limb > INT64_MAX else limb


def _integers(numbers: Array) -> Array:
    """Numbers of limbs int64[n, L] as int64 where all fit, else as Python integers."""
    low, last = numbers[:, 0], numbers.shape[1] - 1
    if (numbers[:, 1:] == (low >> 63)[:, None]).all():
        return np.ascontiguousarray(low)
    wide: Array = numbers[:, last].astype(object)
    for k in range(last - 1, -1, -1):
        limb = np.ascontiguousarray(numbers[:, k]).view(np.uint64)
        wide = (wide << 64) | limb.astype(object)
    return wide


def _averages(sums: Array, n: Array, argument: Type, result: Type) -> Array:
    """Integers: the exact sum as a double, by the count. Decimals: HALF_UP at their scale."""
    count = np.where(n == 0, 1, n)
    if not result.is_decimal:
        return np.asarray(sums.astype(np.float64) / count)
    factor = 10 ** (result.exact_scale - argument.exact_scale)
    largest = max((abs(int(s)) for s in (sums.min(), sums.max())), default=0) if len(sums) else 0
    if 2 * largest * factor + int(count.max(initial=1)) > INT64_MAX:
        sums, count = sums.astype(object), count.astype(object)
    scaled = sums * factor
    quotient = (2 * np.abs(scaled) + count) // (2 * count)
    return np.asarray(np.where(scaled < 0, -quotient, quotient))


def _in_range(values: Array, rows: Array, a: Aggregate) -> None:
    if a.column.type.is_decimal:
        limit = 10 ** (a.column.type.precision or 0)
        low, high = -limit + 1, limit - 1
    elif a.column.type.is_integer:
        low, high = INT64_MIN, INT64_MAX
    else:
        return
    if values.dtype != object and low <= INT64_MIN and high >= INT64_MAX:
        return
    chosen = values[rows]
    if len(chosen) and not (low <= chosen.min() and chosen.max() <= high):
        raise ValueOverflow(
            "VALUE.OVERFLOW",
            f"{a.function.upper()} in column {a.name} leaves the range of {a.column.type}",
            fix="cast the argument to a type with fewer digits after the point, or to DOUBLE",
        )


def _doubles(v: Vector, times: Array, out: Array) -> list[tuple[int, Wide]]:
    """Split doubles into limbs (the first words of out); those that do not fit come back wide."""
    numbers = np.zeros((len(times), LIMBS_OF_DOUBLES), np.int64)
    fits = np.ones(len(times), np.bool_)
    doubles = v.values.astype(np.float64)
    kernel.split_doubles(doubles.view(np.int64), times, FRACTION, numbers, fits)
    out[:, :LIMBS_OF_DOUBLES] = numbers
    rest = []
    for row in np.flatnonzero(~fits & (times != 0)):
        value, w = float(doubles[row]), int(times[row])
        if value != value:
            rest.append((int(row), [0, w, 0, 0]))
        elif value in (float("inf"), float("-inf")):
            rest.append((int(row), [0, 0, w, 0] if value > 0 else [0, 0, 0, w]))
        else:
            numerator, denominator = value.as_integer_ratio()
            rest.append((int(row), [w * numerator * (2**_WIDE_SHIFT // denominator), 0, 0, 0]))
    return rest


def _wide_value(wide: Wide, fixed: int) -> float:
    total, nans, ups, downs = wide
    if nans or (ups and downs):
        return float("nan")
    if ups or downs:
        return float("inf") if ups else float("-inf")
    total += fixed << (_WIDE_SHIFT - FRACTION)
    try:
        return float(total / (1 << _WIDE_SHIFT))
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")
