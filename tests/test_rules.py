"""No rule changes an answer: every plan, before and after each rule, run by DuckDB on random data.

The data has NULLs where the schema allows them, dangling references, and texts, numbers and dates
near those the query compares with, so that both sides of every condition occur.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

import duckdb
import pytest

from everview.errors import PlanError
from everview.expr import Call, Expr, Literal, Ref
from everview.plan.check import check, expressions
from everview.plan.node import Node, Plan, Scan
from everview.plan.rules import trace
from everview.plan.walk import nodes
from everview.schema import Column, Relation, Schema
from everview.sql.script import read_script, read_view
from everview.workloads import tpch
from tests import histories, queries
from tests.plan_in_duckdb import duck_type, query, quoted
from tests.test_plans import FILES, MARKER

ROWS = 40
SEEDS = range(4)


def compared(expr: Expr, found: dict[str, list[str]]) -> None:
    """For each column (without its alias), the texts and dates it is compared with."""
    if not isinstance(expr, Call):
        return
    for a in expr.args:
        compared(a, found)
    literals = [a for a in expr.args if isinstance(a, Literal) and a.value is not None]
    for a in expr.args:
        if isinstance(a, Ref):
            values = [str(v.value).replace("%", "") for v in literals if v.type == a.type]
            found.setdefault(a.name.rpartition(".")[2], []).extend(values)


def pools(plan: Plan) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in nodes(plan.root):
        for e in expressions(node):
            compared(e, found)
    return found


def value(column: Column, near: list[str], rng: random.Random) -> Any:
    if column.nullable and rng.random() < 0.15:
        return None
    name = column.type.name
    if name == "STRING":
        return rng.choice([*near, *near, "x", "y"])
    if name == "DATE":
        start = date.fromisoformat(rng.choice(near)) if near else date(1995, 1, 1)
        return start + timedelta(days=rng.randint(-30, 200))
    if name == "BOOLEAN":
        return rng.random() < 0.5
    if name == "TIMESTAMP":
        return f"2020-01-0{rng.randint(1, 9)} 00:00:00"
    if column.type.is_integer:
        return rng.choice([rng.randint(0, 8), *(int(float(n)) + rng.randint(-1, 1) for n in near)])
    base = float(rng.choice(near)) if near and rng.random() < 0.7 else rng.randint(0, 30)
    return round(base + rng.choice([0, 0.01, -0.01, 1]), 2)


def fill(db: duckdb.DuckDBPyConnection, relation: Relation, plan: Plan, seed: int) -> None:
    rng = random.Random(f"{relation.name} {seed}")
    near = pools(plan)
    dates = sorted(
        {v for pool in near.values() for v in pool if re.fullmatch(r"\d{4}-\d\d-\d\d", v)}
    )
    declared = ", ".join(f"{quoted(c.name)} {duck_type(c.type)}" for c in relation.columns)
    db.execute(f"CREATE TABLE {quoted(relation.name)} ({declared})")
    rows: dict[Any, list[Any]] = {}
    for i in range(ROWS):
        row = {
            c.name: value(c, dates if c.type.name == "DATE" else near.get(c.name, []), rng)
            for c in relation.columns
        }
        rows[tuple(row[k] for k in relation.key) or i] = list(row.values())
    marks = f"({', '.join('?' for _ in relation.columns)})"
    every = ", ".join(marks for _ in rows)
    values = [v for row in rows.values() for v in row]
    db.execute(f"INSERT INTO {quoted(relation.name)} VALUES {every}", values)


def run(db: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[Any, ...]]:
    rows = db.execute(sql).fetchall()
    return Counter(tuple(round(v, 5) if isinstance(v, float) else v for v in r) for r in rows)


def cases() -> list[tuple[str, Plan, Schema]]:
    found = []
    for file in FILES:
        text = file.read_text(encoding="utf-8").partition(MARKER)[0]
        script = read_script(text, tpch.schema())
        found += [(f"{file.stem}-{n}", p, script.schema) for n, p in script.views.items()]
    return found


def relations(node: Node) -> set[str]:
    return {n.relation for n in nodes(node) if isinstance(n, Scan)}


CASES = cases()


def steps(plan: Plan, *, refused: bool) -> Iterator[tuple[str, Plan]]:
    """The plan after each rule; the refusal that some golden plans end with is no error here."""
    with suppress(*[PlanError] if refused else []):
        yield from trace(plan)


@pytest.mark.parametrize(("name", "plan", "schema"), CASES, ids=[c[0] for c in CASES])
def test_no_rule_changes_an_answer(name: str, plan: Plan, schema: Schema) -> None:
    rows = 0
    for seed in SEEDS:
        with duckdb.connect() as db:
            for relation in sorted(relations(plan.root)):
                fill(db, schema.relation(relation), plan, seed)
            before = run(db, query(plan.root))
            rows += before.total()
            for rule, after in steps(plan, refused="refused" in name):
                assert run(db, query(after.root)) == before, (name, rule, seed)
    assert rows or name.startswith("nothing_passes"), "no row in any case: the test shows nothing"


@pytest.mark.parametrize("block", range(10))
def test_no_rule_changes_the_answer_of_a_random_query(block: int) -> None:
    """100 random schemas and queries; the plan of each runs before and after every rule."""
    rows = 0
    for number in range(10):
        rng = random.Random(f"rules {block} {number}")
        schema = histories.schema(rng)
        written = queries.query(rng, schema)
        plan = read_view("v", written.sql, schema)
        with duckdb.connect() as db:
            for relation in sorted(relations(plan.root)):
                fill(db, schema.relation(relation), plan, number)
            before = run(db, query(plan.root))
            rows += before.total()
            for rule, after in trace(plan):
                check(after)
                assert run(db, query(after.root)) == before, (written.sql, rule)
    assert rows
