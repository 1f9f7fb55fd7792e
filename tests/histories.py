"""Random cases: a schema, a query over it, and a history of changes cut into epochs.

    Random ──schema──▶ relations ──query (tests/queries)──▶ SQL ──history──▶ epochs of changes

One seed makes one case. `case(Random(seed))` is the fast way; `cases()` gives the same generator to
Hypothesis, which can then shrink. `Case.reproduction()` prints a case as a stand-alone test.

Not here: what must hold of a case (tests/laws), what its answer is (tests/oracle).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from everview.delta.changes import DELETE, INSERT, UPDATE, Changes
from everview.schema import Column, Relation, Schema
from tests.oracle import table_of
from tests.queries import query
from tests.schemas import SPECIAL, Row, domain, key_values, schema

Change = tuple[str, int, Row]  # relation, op, row


@dataclass(frozen=True)
class Case:
    """One random case. `used`: the relations the query reads; only they change.

    `inner`: the sub-select of `sql` that the engine, not the oracle, gets as a view.
    """

    schema: Schema
    sql: str
    epochs: tuple[tuple[Change, ...], ...]
    used: tuple[str, ...]
    features: tuple[str, ...] = ()
    seed: int | None = None
    inner: str = ""

    def script(self) -> str:
        """Declarations and the view, as SQL text."""
        tables = "\n".join(declaration(r) for r in self.schema.relations)
        if not self.inner:
            return f"{tables}\nCREATE VIEW v AS {self.sql};\n"
        outer = self.sql.replace(self.inner, "w", 1)
        return f"{tables}\nCREATE VIEW w AS {self.inner[1:-1]};\nCREATE VIEW v AS {outer};\n"

    def batches(self) -> list[list[Changes]]:
        """The epochs as a host takes them."""
        return [batches(self.schema, e, f"{i:06d}") for i, e in enumerate(self.epochs)]

    def reproduction(self) -> str:
        """A self-contained test: paste it into a file and run it."""
        epochs = "\n".join(
            "    (" + "".join(f"\n        {c!r}," for c in e) + "\n    )," for e in self.epochs
        ).replace("datetime.date", "date")
        return (
            f"# seed {self.seed}\n"
            "from datetime import date\nfrom decimal import Decimal\n"
            "from tests.laws.laws import check_text\n"
            "nan, inf = float('nan'), float('inf')\n"
            f'SCRIPT = """\\\n{self.script()}"""\n'
            f"EPOCHS = (\n{epochs}\n)\n"
            f"check_text(SCRIPT, {self.sql!r}, EPOCHS, inner={self.inner!r})\n"
        )


def batches(schema: Schema, changes: Iterable[Change], segment: str) -> list[Changes]:
    """Changes in source order; each run of one relation is a batch."""
    out: list[Changes] = []
    run: list[Change] = []
    start = 0

    def close() -> None:
        nonlocal start
        if run:
            relation = schema.relation(run[0][0])
            batch = table_of(relation, [row for _, _, row in run]).combine_chunks()
            op = np.array([o for _, o, _ in run], np.int8)
            (records,) = batch.to_batches()
            out.append(Changes(relation.name, records, op, segment, start))
            start += len(run)
            run.clear()

    for change in changes:
        if run and run[0][0] != change[0]:
            close()
        run.append(change)
    close()
    return out


def declaration(relation: Relation) -> str:
    """CREATE TABLE for a relation."""
    lines = [
        f"{c.name} {c.type}" + ("" if c.nullable or c.name in relation.key else " NOT NULL")
        for c in relation.columns
    ]
    if relation.key:
        lines.append(f"PRIMARY KEY ({', '.join(relation.key)})")
    for f in relation.foreign_keys:
        lines.append(
            f"FOREIGN KEY ({', '.join(f.columns)}) REFERENCES {f.relation} "
            f"({', '.join(f.references)})"
        )
    body = ",\n  ".join(lines)
    options = f" WITH (policy = '{relation.policy}')" if relation.policy != "reject" else ""
    return f"CREATE TABLE {relation.name} (\n  {body}\n){options};"


# ------------------------------------------------------------------------------------ histories


@dataclass
class History:
    """Changes so far, and what the tables hold after them."""

    rng: Random
    schema: Schema
    used: tuple[str, ...]  # the root first
    keys: dict[str, list[Row]]  # key values a relation may take
    special: bool  # NaN and infinities occur
    rows: dict[str, dict[Row, Row]] = field(default_factory=dict)
    bags: dict[str, list[Row]] = field(default_factory=dict)
    gone: dict[str, list[Row]] = field(default_factory=dict)
    out: list[Change] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def emit(self, relation: str, op: int, row: Row) -> None:
        self.out.append((relation, op, row))

    def key_of(self, r: Relation, row: Row) -> Row:
        names = [c.name for c in r.columns]
        return tuple(row[names.index(k)] for k in r.key)

    def row(self, r: Relation, key: Row | None = None) -> Row:
        """A random row, with this key or any."""
        rng = self.rng
        if key is None and r.key:
            key = rng.choice(self.keys[r.name])
        given = dict(zip(r.key, key or (), strict=True))
        for f in r.foreign_keys:
            nullable = all(r.column(c).nullable for c in f.columns)
            for name, v in zip(f.columns, self._target(f.relation), strict=True):
                null = nullable and name not in r.key and rng.random() < 0.2
                given.setdefault(name, None if null else v)
        for c in r.columns:
            if c.name not in given:
                given[c.name] = self.value(c)
        return tuple(given[c.name] for c in r.columns)

    def _target(self, name: str) -> Row:
        """A key of a referenced relation: mostly one that is there."""
        there = self.rows.get(name)
        if there and self.rng.random() < 0.88:
            return self.rng.choice(list(there))
        return self.rng.choice(self.keys[name])

    def value(self, c: Column) -> Any:
        if c.nullable and self.rng.random() < 0.15:
            return None
        if c.type.is_float and self.special and self.rng.random() < 0.2:
            return self.rng.choice(SPECIAL)
        return self.rng.choice(domain(c.type))

    def step(self, *, loading: bool) -> None:
        """One action: usually one change, sometimes a burst; at first mostly an insert."""
        root_too = (self.used[0], *self.used) if len(self.used) > 2 else self.used
        r = self.schema.relation(self.rng.choice(root_too))
        roll = self.rng.random() * (0.5 if loading else 1.0)
        if r.key:
            self._keyed(r, roll)
        else:
            self._bag(r, roll)

    def _bag(self, r: Relation, roll: float) -> None:
        bag = self.bags.setdefault(r.name, [])
        if not bag or roll < 0.5:
            row = self.rng.choice(bag) if bag and roll < 0.12 else self.row(r)
            self.seen["equal rows"] += row in bag
            bag.append(row)
            self.emit(r.name, INSERT, row)
        elif roll < 0.93 or r.policy != "reject":
            self.emit(r.name, DELETE, bag.pop(self.rng.randrange(len(bag))))
        else:
            row = self.row(r)
            self.emit(r.name, DELETE, row)
            if row in bag:
                bag.remove(row)
            else:
                self.seen["missing row"] += 1

    def _keyed(self, r: Relation, roll: float) -> None:
        there, rng = self.rows.setdefault(r.name, {}), self.rng
        free = [k for k in self.keys[r.name] if k not in there]
        if free and (not there or roll < 0.42):
            self.insert(r, self._returning(r, free) or self.row(r, rng.choice(free)))
        elif not there:
            return
        elif roll < 0.62:
            self.delete(r, rng.choice(list(there)))
        elif roll < 0.86:
            self.update(r, rng.choice(list(there)))
        elif roll < 0.93 or r.policy in ("trust", "fail"):
            self._burst(r, rng.choice(list(there)))
        else:
            self._wrong(r, free)

    def _returning(self, r: Relation, free: list[Row]) -> Row | None:
        """A row deleted before, to come back as it was."""
        old = [x for x in self.gone.get(r.name, ()) if self.key_of(r, x) in free]
        if not old or self.rng.random() < 0.6:
            return None
        self.seen["re-insert"] += 1
        return self.rng.choice(old)

    def insert(self, r: Relation, row: Row) -> None:
        self.rows[r.name][self.key_of(r, row)] = row
        op = UPDATE if r.policy == "upsert" and self.rng.random() < 0.2 else INSERT
        self.emit(r.name, op, row)

    def delete(self, r: Relation, key: Row) -> None:
        row = self.rows[r.name].pop(key)
        self.gone.setdefault(r.name, []).append(row)
        if r.policy not in ("trust", "fail") and self.rng.random() < 0.4:
            row = self._key_only(r, key)
        self.emit(r.name, DELETE, row)

    def _key_only(self, r: Relation, key: Row) -> Row:
        """The key with nothing else, or with something else than what is there."""
        self.seen["delete by key"] += 1
        if self.rng.random() < 0.5:
            return self.row(r, key)
        given = dict(zip(r.key, key, strict=True))
        return tuple(given.get(c.name) for c in r.columns)

    def update(self, r: Relation, key: Row) -> None:
        """Another row in the place of this one: mostly of the same key."""
        rng, there = self.rng, self.rows[r.name]
        old = there[key]
        free = [k for k in self.keys[r.name] if k not in there]
        roll = rng.random()
        if roll < 0.2 and free:
            self.seen["key update"] += 1
            new = self._with(r, old, r.key, rng.choice(free))
        elif roll < 0.27:
            self.seen["same update"] += 1
            new = old
        elif roll < 0.5 and r.foreign_keys:
            self.seen["reference update"] += 1
            f = rng.choice(r.foreign_keys)
            free_columns = [i for i, c in enumerate(f.columns) if c not in r.key]
            target = self._target(f.relation)
            new = self._with(
                r, old, [f.columns[i] for i in free_columns], [target[i] for i in free_columns]
            )
        else:
            self.seen["update"] += 1
            new = self.row(r, key)
        self._replace(r, old, new)

    def _with(self, r: Relation, row: Row, names: Iterable[str], values: Iterable[Any]) -> Row:
        given = dict(zip(names, values, strict=True))
        return tuple(given.get(c.name, v) for c, v in zip(r.columns, row, strict=True))

    def _replace(self, r: Relation, old: Row, new: Row) -> None:
        there, rng = self.rows[r.name], self.rng
        before, after = self.key_of(r, old), self.key_of(r, new)
        del there[before]
        there[after] = new
        by_key = before == after and r.policy in ("reject", "upsert")
        if by_key and rng.random() < 0.4:
            self.seen["update by key"] += 1
            self.emit(
                r.name, INSERT if r.policy == "upsert" and rng.random() < 0.5 else UPDATE, new
            )
        else:
            self.emit(r.name, DELETE, old)
            self.emit(r.name, INSERT, new)

    def _burst(self, r: Relation, key: Row) -> None:
        """Several changes of one key in a row."""
        self.seen["burst"] += 1
        for _ in range(self.rng.choice((2, 3, 4))):
            if key not in self.rows[r.name]:
                self.insert(r, self.row(r, key))
            elif self.rng.random() < 0.5:
                self.delete(r, key)
            else:
                self._replace(r, self.rows[r.name][key], self.row(r, key))

    def _wrong(self, r: Relation, free: list[Row]) -> None:
        """A change that contradicts the key: refused, or under `upsert` a replacement."""
        rng, there = self.rng, self.rows[r.name]
        roll = rng.random()
        if roll < 0.15:
            self.seen["null key"] += 1
            values = list(rng.choice(self.keys[r.name]))
            values[rng.randrange(len(values))] = None
            row = self._with(r, self.row(r), r.key, values)
            self.emit(r.name, rng.choice((INSERT, DELETE, UPDATE)), row)
        elif roll < 0.55 or not free:
            key = rng.choice(list(there))
            row = self.row(r, key)
            self.seen["duplicate key"] += r.policy == "reject"
            if r.policy == "upsert":
                there[key] = row
            self.emit(r.name, INSERT, row)
        else:
            key = rng.choice(free)
            row = self.row(r, key)
            op = DELETE if r.policy == "upsert" else rng.choice((DELETE, UPDATE))
            self.seen["missing row"] += 1
            self.emit(r.name, op, row)

    def delete_all(self) -> None:
        """Every row leaves, in random order."""
        self.seen["delete all"] += 1
        rest = [(n, k) for n in self.used for k in self.rows.get(n, {})]
        bags = [(n, row) for n in self.used for row in self.bags.get(n, [])]
        self.rng.shuffle(rest)
        for n, k in rest:
            self.delete(self.schema.relation(n), k)
        for n, row in bags:
            self.emit(n, DELETE, row)
        self.bags.clear()


def history(rng: Random, schema: Schema, used: tuple[str, ...], size: int = 40) -> History:
    h = History(rng, schema, used, key_values(rng, schema), rng.random() < 0.15)
    for name in used:
        if schema.relation(name).key:
            h.rows[name] = {}
    size = rng.randrange(size // 2, size) + 12 * (len(used) - 1)
    for n in range(size):
        h.step(loading=n < 2 * size // 3)
    if rng.random() < 0.25:
        h.delete_all()
    return h


def cut(rng: Random, changes: list[Change], epochs: int) -> tuple[tuple[Change, ...], ...]:
    """The changes in that many epochs; some may be empty."""
    ends = sorted(rng.randrange(len(changes) + 1) for _ in range(epochs - 1))
    return tuple(
        tuple(changes[a:b]) for a, b in zip([0, *ends], [*ends, len(changes)], strict=True)
    )


# ---------------------------------------------------------------------------------------- cases


def case(rng: Random, seed: int | None = None, size: int = 40) -> Case:
    """A random case: schema, query, history."""
    s = schema(rng)
    q = query(rng, s)
    h = history(rng, s, q.used, size)
    epochs = cut(rng, h.out, rng.choice((1, 3, 5, 6, 7, 9)))
    features = set(q.features) | {f for f, n in h.seen.items() if n}
    for name in q.used:
        r = s.relation(name)
        features.add(f"policy {r.policy}" if r.key else "no key")
        if len(r.key) > 1:
            features.add("composite key")
    features |= {"empty epoch"} if any(not e for e in epochs) else set()
    features |= {"NaN or infinity"} if h.special else set()
    return Case(s, q.sql, epochs, q.used, tuple(sorted(features)), seed, q.inner)


def case_of(seed: int) -> Case:
    """The case of a seed."""
    return case(Random(seed), seed)


def cases(size: int = 25) -> st.SearchStrategy[Case]:
    """The same cases, drawn and shrunk by Hypothesis."""
    return st.randoms(use_true_random=False).map(lambda rng: case(rng, size=size))
