"""Random schemas: relations with keys and references, and the values their columns take.

Not here: queries (tests/queries), rows and changes (tests/histories).
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

from everview.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    Column,
    ForeignKey,
    Policy,
    Relation,
    Schema,
    Type,
    decimal,
)  # fmt: skip

Row = tuple[Any, ...]

# --------------------------------------------------------------------------------------- values

D = Decimal
DOMAINS: dict[str, tuple[Any, ...]] = {
    "BOOLEAN": (True, False),
    "SMALLINT": (-2, -1, 0, 1, 2, 3, 4, 32767),
    "INT": (-7, -1, 0, 1, 2, 3, 4, 5, 10, 99, 1000),
    "BIGINT": (-(10**12), -1, 0, 1, 2, 3, 4, 5, 6, 10**12),
    "DOUBLE": (-0.0, 0.0, 0.1, 0.2, 0.3, -0.1, 1.5, 1e16, -1e16, 1.0, 3.3, 1e-300, 5e-324, 1e308),
    "STRING": ("", "a", "b", "ab", "abc", "Ab", "b%", "a_c", " a", "é", "zürich", "x😀y", "NULL"),
    "DATE": tuple(
        date.fromisoformat(d)
        for d in ("1969-12-31", "1970-01-01", "1995-03-15", "1996-02-29", "2020-01-31",
                  "2020-02-29", "2020-12-31", "2021-01-01")
    ),
}  # fmt: skip
SPECIAL = (float("nan"), float("inf"), float("-inf"), -1e308)
KEYS: dict[str, tuple[Any, ...]] = {
    **DOMAINS,
    "INT": (-(2**31), -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2**31 - 1),
    "BIGINT": (-(2**63), -(2**63) + 1, -1, 0, 1, 2, 3, 4, 5, 2**32, 2**53 + 1, 2**63 - 1),
}


ZERO: dict[str, Any] = {"STRING": "", "DATE": date(1970, 1, 1), "DECIMAL": D(0)}


def domain(t: Type, *, key: bool = False) -> tuple[Any, ...]:
    """The values a column of this type takes."""
    if not t.is_decimal:
        return (KEYS if key else DOMAINS)[t.name]
    small = [-150, -1, 0, 1, 5, 10, 99, 100, 12345]
    if t.digits > 20:
        small += [10 ** (t.digits - 4), -(10 ** (t.digits - 5)) - 1, 2**63, -(2**63) - 1]
    return tuple(D(v).scaleb(-t.exact_scale) for v in small)


PAYLOADS = (
    INT, INT, BIGINT, decimal(9, 2), decimal(15, 2), decimal(5, 0), decimal(30, 6), DOUBLE, DOUBLE,
    STRING, STRING, DATE, BOOLEAN,
)  # fmt: skip
KEY_TYPES = (INT, INT, INT, BIGINT, BIGINT, Type("SMALLINT"), STRING, STRING, DATE, decimal(9, 2))
POLICIES: tuple[Policy, ...] = (
    *("reject",) * 10, *("trust",) * 5, *("upsert",) * 4, "fail",
)  # fmt: skip


# -------------------------------------------------------------------------------------- schemas


def schema(rng: Random) -> Schema:
    """1 to 6 relations; each refers to earlier ones or itself; the last may lack a key."""
    relations: list[Relation] = []
    count = rng.choice((1, 2, 3, 3, 4, 4, 5, 6))
    for i in range(count):
        last = i == count - 1
        relations.append(
            _relation(rng, "abcdef"[i], relations, keyed=not last or rng.random() < 0.85)
        )
    return Schema(tuple(relations))


def _relation(rng: Random, letter: str, earlier: list[Relation], *, keyed: bool) -> Relation:
    name = f"r{letter}"
    columns: list[Column] = []
    foreign: list[ForeignKey] = []
    for n in range(rng.choice((1, 1, 1, 2, 2, 3)) if earlier else 0):
        one = rng.choice(earlier[-3:] if rng.random() < 0.7 else earlier)
        nullable = rng.random() < 0.4
        fk = tuple(f"{letter}_f{n}_{k.split('_', 1)[1]}" for k in one.key)
        columns += [
            Column(c, one.column(k).type, nullable) for c, k in zip(fk, one.key, strict=True)
        ]
        foreign.append(ForeignKey(fk, one.name, one.key))
    key: tuple[str, ...] = ()
    if keyed:
        width = rng.choice((1, 1, 1, 1, 2, 2, 3))
        keys = [Column(f"{letter}_k{i}", rng.choice(KEY_TYPES), True) for i in range(width)]
        if columns and width > 1 and rng.random() < 0.5:  # as lineitem: a reference in the key
            keys[0] = columns[0]
        columns = [*(k for k in keys if k not in columns), *columns]
        key = tuple(k.name for k in keys)
    if keyed and rng.random() < 0.15:  # as employee.manager
        manager = tuple(f"{letter}_m_{k.split('_', 1)[1]}" for k in key)
        types = {c.name: c.type for c in columns}
        columns += [Column(m, types[k], True) for m, k in zip(manager, key, strict=True)]
        foreign.append(ForeignKey(manager, name, key))
    columns += [
        Column(f"{letter}_v{i}", rng.choice(PAYLOADS), rng.random() < 0.6)
        for i in range(rng.choice((1, 2, 2, 3, 4)))
    ]
    if rng.random() < 0.3:
        rng.shuffle(columns)
    policy = rng.choice(POLICIES if keyed else POLICIES[:15])
    return Relation(name, tuple(columns), key, tuple(foreign), policy=policy)


def key_values(rng: Random, schema: Schema) -> dict[str, list[Row]]:
    """For each relation the few keys its rows may have; references in a key fit what they name."""
    out: dict[str, list[Row]] = {}
    named_by_some = {f.relation for r in schema.relations for f in r.foreign_keys}
    for r in schema.relations:
        if not r.key:
            continue
        size = rng.choice((4, 6, 8)) if r.name in named_by_some else 14
        lists = []
        for k in r.key:
            named = next(
                (f for f in r.foreign_keys if k in f.columns and f.relation != r.name), None
            )
            if named:
                place = named.columns.index(k)
                lists.append([t[place] for t in out[named.relation]])
            else:
                values = domain(r.column(k).type, key=True)
                chosen = rng.sample(values, min(len(values), rng.choice((3, 4, 8))))
                if rng.random() < 0.5:  # what a NULL must not be taken for
                    chosen[0] = ZERO.get(r.column(k).type.name, 0)
                lists.append(list(dict.fromkeys(chosen)))
        keys = {tuple(rng.choice(values) for values in lists) for _ in range(size)}
        out[r.name] = sorted(keys, key=repr)
    return out
