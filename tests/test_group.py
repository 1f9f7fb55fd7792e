"""The group operator against a naive one: exact, net, undone, and the same from its log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everview.delta.delta import Delta, merge
from everview.delta.vector import Vector, arrow_type
from everview.errors import ValueOverflow
from everview.expr import Ref
from everview.operators.group import Group
from everview.operators.row import difference
from everview.plan.node import Aggregate, Named
from everview.plan.step import GroupSpec
from everview.schema import BIGINT, DOUBLE, INT, STRING, Column, Type, decimal
from everview.state.arena import Arena
from everview.state.text import TextTable
from tests.oracle import canonical, rows_of_delta

MONEY, LARGE = decimal(12, 2), decimal(30, 4)
COLUMNS: dict[str, Type] = {
    "k": STRING, "g": INT, "i": BIGINT, "m": MONEY, "l": LARGE, "d": DOUBLE,
}  # fmt: skip
EXACT = Context(prec=90)


def aggregate(name: str, function: Any, column: str | None, result: Type) -> Aggregate:
    argument = None if column is None else Ref(column, COLUMNS[column])
    return Aggregate(name, function, argument, Column(name, result))


ALL = (
    aggregate("n", "count", None, BIGINT),
    aggregate("ni", "count", "i", BIGINT),
    aggregate("si", "sum", "i", BIGINT),
    aggregate("ai", "avg", "i", DOUBLE),
    aggregate("sm", "sum", "m", decimal(22, 2)),
    aggregate("am", "avg", "m", decimal(16, 6)),
    aggregate("sl", "sum", "l", decimal(38, 4)),
    aggregate("al", "avg", "l", decimal(34, 8)),
    aggregate("sd", "sum", "d", DOUBLE),
    aggregate("ad", "avg", "d", DOUBLE),
)


def spec(keys: Sequence[str], aggregates: tuple[Aggregate, ...] = ALL) -> GroupSpec:
    named = tuple(Named(k, Ref(k, COLUMNS[k])) for k in keys)
    return GroupSpec(named, aggregates, tuple(Column(k, COLUMNS[k]) for k in keys))


def new_group(s: GroupSpec) -> Group:
    arena = Arena()
    group = Group(arena, TextTable(arena), s, "UTC")
    group.start()
    return group


Row = tuple[Any, ...]


def delta(rows: Sequence[tuple[Row, int]]) -> Delta:
    columns = {
        name: Vector.from_arrow(pa.array([r[i] for r, _ in rows], arrow_type(t)), t)
        for i, (name, t) in enumerate(COLUMNS.items())
    }
    return Delta(columns, np.array([w for _, w in rows], np.int64))


def step(group: Group, rows: Sequence[tuple[Row, int]], *, first: bool = False) -> Counter[Row]:
    """One epoch: its net changes."""
    group.fold(delta(rows), partial=False)
    return net(group, first=first)


def net(group: Group, *, first: bool = False) -> Counter[Row]:
    out = rows_of_delta(difference((), "UTC", *group.changes(first=first)))
    group.end_epoch()
    group.texts.end_epoch()
    found: Counter[Row] = Counter()
    for row, weight in out:
        assert abs(weight) == 1
        assert row not in found
        found[row] = weight
    return found


# ----------------------------------------------------------------------------- the naive operator


def rounded(value: Fraction, scale: int) -> Decimal:
    whole = (2 * abs(value) * 10**scale + 1) // 2  # half up, away from zero
    return Decimal(-int(whole) if value < 0 else int(whole)).scaleb(-scale, EXACT)


def summed(values: list[Any], t: Type, *, average: bool) -> Any:
    if not values:
        return None
    n = len(values)
    if not t.is_float:
        total = sum(map(Fraction, values), Fraction(0))
        if not average:
            return int(total) if t.is_integer else rounded(total, t.exact_scale)
        return float(int(total)) / n if t.is_integer else rounded(total / n, t.exact_scale + 4)
    special = [v for v in values if not math.isfinite(v)]
    if special:
        return sum(special)
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        value = float(exact)
    except OverflowError:
        value = math.inf if exact > 0 else -math.inf
    return value / n if average else value


def naive(rows: Counter[Row], keys: Sequence[str]) -> set[Row]:
    names = list(COLUMNS)
    groups: dict[Row, list[Row]] = {} if keys else {(): []}
    for row in rows.elements():
        groups.setdefault(tuple(row[names.index(k)] for k in keys), []).append(row)
    out = set()
    for key, members in groups.items():
        values = []
        for a in ALL:
            if a.argument is None:
                values.append(len(members))
                continue
            given = [m[names.index(a.argument.name)] for m in members]
            given = [v for v in given if v is not None]
            t = a.argument.type
            values.append(
                len(given)
                if a.function == "count"
                else summed(given, t, average=a.function == "avg")
            )
        out.add(tuple(map(canonical, (*key, *values))))
    return out


def a_row(rng: Random) -> Row:
    def maybe(*values: Any) -> Any:
        return rng.choice((None, *values))

    return (
        maybe("a", "b", "é"),
        maybe(1, 2),
        maybe(0, 1, -1, 2**40, -(2**40), 7),
        maybe(Decimal("0.01"), Decimal("-9999999999.99"), Decimal("12.50")),
        maybe(Decimal("99999999999999999999999999.9999"), Decimal("-0.0001"), Decimal("1.0000")),
        maybe(
            0.1,
            0.2,
            -0.3,
            1e16,
            1e300,
            -1e300,
            5e-324,
            math.inf,
            -math.inf,
            math.nan,
            -0.0,
            2.0**47,
        ),
    )


HISTORIES = [(keys, case) for keys in (("k",), ("k", "g"), ()) for case in range(8)]


@pytest.mark.parametrize(("keys", "case"), HISTORIES)
def test_random_histories(keys: tuple[str, ...], case: int) -> None:
    """Changes summed are the naive answer after every epoch, with a copy kept through its log."""
    rng = Random(f"group {keys} {case}")
    group, twin = new_group(spec(keys)), Logged(spec(keys))
    there: Counter[Row] = Counter()
    answer: set[Row] = set()
    for epoch in range(12):
        changes: list[tuple[Row, int]] = []
        for _ in range(rng.randrange(25)):
            if there and rng.random() < (0.3 if epoch < 5 else 0.65):
                row = rng.choice(list(there))
                changes.append((row, -1))
                there[row] -= 1
                there += Counter()
            else:
                row, times = a_row(rng), rng.choice((1, 1, 1, 3))
                changes.append((row, times))
                there[row] += times
        if epoch == 11:
            changes += [(row, -n) for row, n in there.items()]
            there.clear()
        found = step(group, changes, first=epoch == 0)
        assert twin.step(changes, first=epoch == 0) == found
        for row, weight in found.items():
            assert (row in answer) == (weight < 0), (row, weight)
        answer = (answer - {r for r, w in found.items() if w < 0}) | {
            r for r, w in found.items() if w > 0
        }
        assert answer == naive(there, keys)
    assert group.used == (0 if keys else 1)
    assert group.texts.used == 0
    assert not group.wide
    assert not twin.rows


class Logged:
    """A group that is thrown away after every epoch and loaded from what it logged."""

    def __init__(self, s: GroupSpec) -> None:
        self.spec, self.next = s, 1
        self.rows: dict[int, pa.RecordBatch] = {}

    def step(self, rows: Sequence[tuple[Row, int]], *, first: bool) -> Counter[Row]:
        group = new_group(self.spec)
        if self.rows:
            group.load(list(self.rows.values()), np.array(list(self.rows), np.int64))
            for number, batch in self.rows.items():
                assert group.ids[group.locate(batch)].tolist() == [number]
        group.fold(delta(rows), partial=False)
        out = difference((), "UTC", *group.changes(first=first))
        batch, dead = group.to_log()
        for number in dead.tolist():
            del self.rows[number]
        if batch is not None:
            numbers = range(self.next, self.next + batch.num_rows)
            self.next += batch.num_rows
            self.rows |= {n: batch.slice(i, 1) for i, n in enumerate(numbers)}
            group.logged(np.array(numbers, np.int64))
        group.end_epoch()
        return Counter(dict(rows_of_delta(out)))


@pytest.mark.parametrize("case", range(6))
def test_partials_fold_to_the_same(case: int) -> None:
    """Rows cut anyhow, folded apart, their partials folded together: as folded at once."""
    rng = Random(f"partials {case}")
    whole, merged = new_group(spec(("k",))), new_group(spec(("k",)))
    for _ in range(4):
        rows = [(a_row(rng), rng.choice((1, 2))) for _ in range(30)]
        parts = []
        for n in range(3):
            piece = new_group(spec(("k",)))
            piece.fold(delta(rows[n::3]), partial=False)
            parts.append(piece.partials())
        rng.shuffle(parts)
        merged.fold(merge(parts), partial=True)
        assert net(merged) == step(whole, rows)


def test_nothing_in_nothing_out() -> None:
    group = new_group(spec(("k",)))
    assert not step(group, [])
    assert not step(group, [(a_row(Random(1)), 1), (a_row(Random(1)), -1)])
    assert group.used == 0


def test_the_one_group_without_keys() -> None:
    """It is there from the first epoch on, and only said again when it changes."""
    group = new_group(spec((), ALL[:1]))
    row = a_row(Random(1))
    assert step(group, [], first=True) == {(0,): 1}
    assert not step(group, [])
    assert step(group, [(row, 2)]) == {(0,): -1, (2,): 1}
    assert step(group, [(row, -2)]) == {(2,): -1, (0,): 1}


def test_a_change_that_does_not_show() -> None:
    group = new_group(spec(("k",), (aggregate("s", "sum", "i", BIGINT),)))
    row = ("a", 1, 5, None, None, None)
    assert step(group, [(row, 1)])
    assert not step(group, [(("a", 1, 0, None, None, None), 1)])
    assert not step(group, [(row, -1), (("a", 1, 2, None, None, None), 1),
                            (("a", 1, 3, None, None, None), 1)])  # fmt: skip


def test_sums_out_of_range_name_their_column() -> None:
    big = ("a", 1, 2**62, None, Decimal("99999999999999999999999999.9999"), None)
    group = new_group(spec(("k",), (aggregate("s", "sum", "i", BIGINT),)))
    assert step(group, [(big, 1)])
    with pytest.raises(ValueOverflow, match="column s"):
        step(group, [(big, 1)])
    narrow = new_group(spec(("k",), (aggregate("t", "sum", "l", decimal(30, 4)),)))
    with pytest.raises(ValueOverflow, match="column t"):
        step(narrow, [(big, 2)])


def test_a_sum_may_pass_through_what_is_out_of_range() -> None:
    """Only what a group shows must fit its type."""
    group = new_group(spec(("k",), (aggregate("s", "sum", "i", BIGINT),)))
    big, back = ("a", 1, 2**62, None, None, None), ("a", 1, -(2**62), None, None, None)
    assert step(group, [(big, 3), (back, 3)]) == {("a", 0): 1}


def test_the_snapshot_of_all_groups() -> None:
    rng = Random(3)
    group = new_group(spec(("k",)))
    rows = [(a_row(rng), 1) for _ in range(40)]
    step(group, rows)
    vectors, there = group.rows()
    assert there.all()
    found = rows_of_delta(Delta(vectors, np.ones(len(there), np.int64)))
    assert {r for r, _ in found} == naive(Counter(r for r, _ in rows), ("k",))
