"""The join operator, fed by hand, against a naive join of dictionaries.

    line ──order──▶ orders ──customer──▶ customer      assertion at line: c.nation = s.nation
      └──supplier──▶ supplier                          customers of status 'x' fail their filter

Not here: policies in all their cases (test_kernels: admit), whole queries (scenarios, laws).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from everview.delta.vector import Vector, arrow_type
from everview.expr import Ref, call
from everview.kernels.join import DUPLICATE_KEY, GOOD, MISSING_ROW
from everview.operators.copy import CopySpec
from everview.operators.join import Arrivals, Join
from everview.plan.node import Assertion, Edge
from everview.schema import INT, STRING, Column, Policy
from everview.state.arena import Arena
from everview.state.text import TextTable
from tests.oracle import rows_of_delta

Row = tuple[Any, ...]

TABLES: dict[str, tuple[Column, ...]] = {
    "line": (Column("l.order", INT), Column("l.number", INT, False), Column("l.supplier", INT)),
    "orders": (Column("o.id", INT, False), Column("o.customer", STRING)),
    "customer": (
        Column("c.id", STRING, False), Column("c.nation", INT), Column("c.status", STRING),
    ),
    "supplier": (Column("s.id", INT, False), Column("s.nation", INT)),
}  # fmt: skip
EDGES = (
    Edge("line", ("l.order",), "orders"),
    Edge("line", ("l.supplier",), "supplier"),
    Edge("orders", ("o.customer",), "customer"),
)
ASSERTIONS = (Assertion("line", call("=", Ref("c.nation", INT), Ref("s.nation", INT))),)
OUTPUTS = ("l.order", "l.number", "c.id", "c.status", "s.nation")


def key_of(name: str, row: Row, keyless: bool) -> Row:
    if name == "line":
        return row if keyless else row[:2]
    return row[:1]


def new_join(*, keyless: bool = False, policy: Policy = "reject") -> Join:
    keys = {"line": () if keyless else ("l.order", "l.number"), "orders": ("o.id",),
            "customer": ("c.id",), "supplier": ("s.id",)}  # fmt: skip
    copies = tuple(
        CopySpec(n, columns, keys[n], policy, filtered=n == "customer")
        for n, columns in TABLES.items()
    )
    arena = Arena()
    return Join(arena, TextTable(arena), copies, EDGES, ASSERTIONS, OUTPUTS, "UTC")


def passes(row: Row) -> bool:
    return row[2] != "x"


@dataclass
class Kept:
    """A join with what it logged; may be thrown away and loaded again."""

    keyless: bool = False
    policy: Policy = "reject"
    next: int = 1
    log: dict[str, dict[int, pa.RecordBatch]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.join = new_join(keyless=self.keyless, policy=self.policy)

    def epoch(self, changes: list[tuple[str, int, Row]]) -> tuple[Counter[Row], list[int]]:
        """The net changes of the joined rows, and a verdict for each change."""
        at = {n: [i for i, c in enumerate(changes) if c[0] == n] for n in TABLES}
        arrivals = {
            n: arrived(n, [changes[i] for i in places]) for n, places in at.items() if places
        }
        delta, verdicts, new, dead = self.join.epoch(arrivals)
        ids = {}
        for n, batch in new.items():
            numbers = np.arange(self.next, self.next + batch.num_rows)
            self.next += batch.num_rows
            ids[n] = numbers
            table = self.log.setdefault(n, {})
            table |= {int(x): batch.slice(i, 1) for i, x in enumerate(numbers)}
        self.join.logged(ids)
        for x in dead.tolist():
            assert sum(table.pop(x, None) is not None for table in self.log.values()) == 1
        self.join.texts.end_epoch()
        verdict = [GOOD] * len(changes)
        for n, found in verdicts.items():
            for i, v in zip(at[n], found.tolist(), strict=True):
                verdict[i] = v
        net: Counter[Row] = Counter()
        signs: dict[Row, set[bool]] = {}
        for row, weight in rows_of_delta(delta):
            net[row] += weight
            signs.setdefault(row, set()).add(weight > 0)
        leaves = [w > 0 for _, w in rows_of_delta(delta)]
        assert leaves == sorted(leaves), "what leaves comes first"
        return Counter({r: w for r, w in net.items() if w}), verdict

    def restart(self) -> None:
        self.join = new_join(keyless=self.keyless, policy=self.policy)
        for n in reversed(self.join.order):
            if self.log.get(n):
                ids = np.array(list(self.log[n]), np.int64)
                self.join.load(n, list(self.log[n].values()), ids)
                table = self.join.rows[n]
                for x, batch in self.log[n].items():
                    assert table.ids[table.locate(batch)].tolist() == [x]
        self.join.texts.end_epoch()

    def content(self) -> Counter[Row]:
        found: Counter[Row] = Counter()
        for row, weight in rows_of_delta(self.join.content()):
            found[row] += weight
        return found


def arrived(name: str, changes: list[tuple[str, int, Row]]) -> Arrivals:
    columns = {
        c.name: Vector.from_arrow(
            pa.array([r[i] for _, _, r in changes], arrow_type(c.type)), c.type
        )
        for i, c in enumerate(TABLES[name])
    }
    marks = np.array([passes(r) for _, _, r in changes]) if name == "customer" else None
    return Arrivals(columns, np.array([op for _, op, _ in changes], np.int8), marks)


# ------------------------------------------------------------------------------------- the twin


class Naive:
    """Tables as dictionaries; the answer from scratch."""

    def __init__(self, *, keyless: bool, policy: Policy) -> None:
        self.keyless, self.policy = keyless, policy
        self.tables: dict[str, dict[Row, Row]] = {n: {} for n in TABLES}
        self.bag: Counter[Row] = Counter()

    def change(self, name: str, op: int, row: Row) -> int:
        if name == "line" and self.keyless:
            if self.bag[row] + op < 0:
                return MISSING_ROW
            self.bag[row] += op
            self.bag += Counter()
            return GOOD
        table, key = self.tables[name], key_of(name, row, self.keyless)
        if op == 1 and key in table and self.policy == "reject":
            return DUPLICATE_KEY
        if key not in table and (op == -1 or (op == 2 and self.policy != "upsert")):
            return MISSING_ROW
        if op == -1:
            del table[key]
        else:
            table[key] = row
        return GOOD

    def answer(self) -> Counter[Row]:
        found: Counter[Row] = Counter()
        lines = self.bag if self.keyless else Counter(self.tables["line"].values())
        for (order, number, supplier), times in lines.items():
            o = self.tables["orders"].get((order,))
            s = self.tables["supplier"].get((supplier,))
            c = None if o is None else self.tables["customer"].get((o[1],))
            if s is None or c is None or not passes(c) or c[1] is None or c[1] != s[1]:
                continue
            found[(order, number, c[0], c[2], s[1])] += times
        return found

    def size(self) -> int:
        return sum(map(len, self.tables.values())) + len(self.bag)


def a_row(rng: Random, name: str) -> Row:
    text = ("a", "b", "é", "", "cc")
    if name == "line":
        return rng.choice((None, 1, 2, 3)), rng.randrange(3), rng.choice((None, 1, 2))
    if name == "orders":
        return rng.randrange(4), rng.choice((None, *text))
    if name == "customer":
        return rng.choice(text), rng.choice((None, 1, 2)), rng.choice(("x", "y", None))
    return rng.randrange(3), rng.choice((None, 1, 2))


VARIANTS: list[tuple[bool, Policy]] = [(False, "reject"), (False, "upsert"), (True, "reject")]


@pytest.mark.parametrize(("keyless", "policy"), VARIANTS)
@pytest.mark.parametrize("case", range(12))
def test_random_histories(keyless: bool, policy: Policy, case: int) -> None:
    """Changes, verdicts and content as the naive join has them; a twin restarts every epoch."""
    rng = Random(f"join {case}")
    kept, again = Kept(keyless, policy), Kept(keyless, policy)
    naive = Naive(keyless=keyless, policy=policy)
    before: Counter[Row] = Counter()
    for _ in range(14):
        changes = []
        for _ in range(rng.randrange(14)):
            name = rng.choice(("line", "line", "orders", "customer", "supplier"))
            op = rng.choice((1, 1, 1, -1, -1) if keyless and name == "line" else (1, 1, 1, -1, 2))
            changes.append((name, op, a_row(rng, name)))
        # a key with NULL never gets here; a line's order is part of its key
        changes = [c for c in changes if keyless or c[0] != "line" or c[2][0] is not None]
        expected = [naive.change(*c) for c in changes]
        found, verdicts = kept.epoch(changes)
        assert verdicts == expected
        answer = naive.answer()
        assert dict(found) == difference(answer, before)
        again.restart()
        assert again.epoch(changes) == (found, verdicts)
        assert kept.content() == again.content() == answer
        counts = [(t.used, t.live) for t in kept.join.rows.values()]
        assert sum(used for used, _ in counts) == naive.size()
        assert counts == [(t.used, t.live) for t in again.join.rows.values()]
        before = answer
    rest = [(n, -1, r) for n, table in naive.tables.items() for r in table.values()]
    rest += [("line", -1, r) for r in naive.bag.elements()]
    rng.shuffle(rest)
    found, _ = kept.epoch(rest)
    assert dict(found) == difference(Counter(), before)
    assert not kept.content()
    assert kept.join.texts.used == 0
    assert not any(kept.log.values())
    for table in kept.join.rows.values():
        assert (table.used, table.live, table.index.used) == (0, 0, 0)


def difference(new: Counter[Row], old: Counter[Row]) -> dict[Row, int]:
    return {r: new[r] - old[r] for r in {*new, *old} if new[r] != old[r]}


def test_order_within_an_epoch_does_not_matter_between_tables() -> None:
    changes: list[tuple[str, int, Row]] = [
        ("line", 1, (1, 0, 1)), ("orders", 1, (1, "a")), ("customer", 1, ("a", 1, "y")),
        ("supplier", 1, (1, 1)), ("line", 1, (2, 0, 1)), ("orders", 1, (2, "a")),
    ]  # fmt: skip
    expected = {(1, 0, "a", "y", 1): 1, (2, 0, "a", "y", 1): 1}
    rng = Random(1)
    for _ in range(20):
        rng.shuffle(changes)
        assert Kept().epoch(changes)[0] == expected


def test_equal_old_and_new_rows_touch_nothing() -> None:
    kept = Kept()
    kept.epoch([("line", 1, (1, 0, 1)), ("orders", 1, (1, "a")), ("customer", 1, ("a", 1, "y")),
                ("supplier", 1, (1, 1))])  # fmt: skip
    written = kept.next
    found, _ = kept.epoch([("customer", 2, ("a", 1, "y")), ("orders", -1, (1, "a")),
                           ("orders", 1, (1, "a"))])  # fmt: skip
    assert not found
    assert kept.next == written
    assert (kept.join.work.touched, kept.join.work.turned) == (0, 0)


def test_work_follows_what_turns_and_not_what_is_there() -> None:
    """1,000 lines wait for one order; a change of another one meets none of them."""
    kept = Kept()
    kept.epoch([("line", 1, (1, n, 1)) for n in range(1000)])
    kept.epoch([("orders", 1, (2, "a")), ("customer", 1, ("a", 1, "y")), ("supplier", 1, (2, 1))])
    work = kept.join.work
    assert (work.changes, work.touched, work.turned) == (3, 0, 3)
    kept.epoch([("line", 1, (2, 0, 2))])
    assert (kept.join.work.touched, kept.join.work.turned) == (0, 1)
    kept.epoch([("supplier", 1, (1, 1))])
    assert kept.join.work.touched == 1000
    assert kept.join.work.turned == 1  # the supplier; the lines wait on
