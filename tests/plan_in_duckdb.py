"""A plan as a query for DuckDB, each node as plainly as it can be said.

Used to show that no rule changes an answer: the SQL of the plan before and after a rule must give
the same rows. Decimals and floats are computed as DOUBLE and rounded, so types of arithmetic are
not what is tested here; NULLs, joins, filters, groups and names are.
"""

from __future__ import annotations

from everview.expr import Call, Expr, Literal, Ref
from everview.plan.node import (
    Aggregate,
    Filter,
    Group,
    Join,
    KeyJoin,
    Named,
    Node,
    Project,
    Scan,
)
from everview.schema import Type


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def duck_type(t: Type) -> str:
    if t.is_decimal or t.is_float:
        return "DOUBLE"
    return {"STRING": "VARCHAR", "TIMESTAMP_NTZ": "TIMESTAMP"}.get(t.name, t.name)


def query(node: Node) -> str:
    """A SELECT whose columns are the node's output columns."""
    match node:
        case Scan():
            names = ", ".join(
                f"{quoted(c.name)} AS {quoted(f'{node.alias}.{c.name}')}" for c in node.columns
            )
            return f"SELECT {names} FROM {quoted(node.relation)}"
        case Filter():
            return f"SELECT * FROM ({query(node.input)}) WHERE {text(node.predicate)}"
        case Project():
            return f"SELECT {_named(node.columns)} FROM ({query(node.input)})"
        case Join():
            return f"SELECT * FROM {_cross(node.inputs)} WHERE {text(node.on)}"
        case KeyJoin():
            return _keyjoin(node)
        case Group():
            return _group(node)


def _named(items: tuple[Named, ...]) -> str:
    return ", ".join(f"{text(n.value)} AS {quoted(n.name)}" for n in items)


def _cross(inputs: tuple[Node, ...]) -> str:
    return ", ".join(f"({query(n)}) AS i{i}" for i, n in enumerate(inputs))


def _keyjoin(node: KeyJoin) -> str:
    keys = {c.name: c.key for c in node.copies}
    tests = [
        f"{quoted(a)} = {quoted(b)}"
        for e in node.edges
        for a, b in zip(e.columns, keys[e.one], strict=True)
    ]
    tests += [text(a.predicate) for a in node.assertions]
    cross = _cross(tuple(c.input for c in node.copies))
    return f"SELECT * FROM {cross} WHERE {' AND '.join(f'({t})' for t in tests) or 'TRUE'}"


def _group(node: Group) -> str:
    sums = [f"{_aggregate(a)} AS {quoted(a.name)}" for a in node.aggregates]
    keys = [f"{text(n.value)} AS {quoted(n.name)}" for n in node.keys]
    by = f" GROUP BY {', '.join(text(n.value) for n in node.keys)}" if node.keys else ""
    return f"SELECT {', '.join(keys + sums)} FROM ({query(node.input)}){by}"


def _aggregate(a: Aggregate) -> str:
    if a.argument is None:
        return "count(*)"
    return f"{a.function}({text(a.argument)})"


def text(expr: Expr) -> str:
    if isinstance(expr, Ref):
        return quoted(expr.name)
    if isinstance(expr, Literal):
        return _literal(expr)
    return _call(expr)


def _literal(literal: Literal) -> str:
    if literal.value is None:
        return f"CAST(NULL AS {duck_type(literal.type)})"
    shown = str(literal.value).replace("'", "''")
    return f"CAST('{shown}' AS {duck_type(literal.type)})"


_PARTS = ("year", "quarter", "month", "day", "hour", "minute", "second", "dayofyear")


def _call(expr: Call) -> str:
    op, args = expr.op, [text(a) for a in expr.args]
    match op:
        case "and" | "or" | "+" | "-" | "*" | "/" | "%" | "=" | "<>" | "<" | "<=" | ">" | ">=":
            return "(" + f" {op} ".join(args) + ")"
        case "not":
            return f"(NOT {args[0]})"
        case "neg":
            return f"(- {args[0]})"
        case "is_null":
            return f"({args[0]} IS NULL)"
        case "is_distinct":
            return f"({args[0]} IS DISTINCT FROM {args[1]})"
        case "in":
            return f"({args[0]} IN ({', '.join(args[1:])}))"
        case "like":
            escape = args[2] if len(args) > 2 else "'\\'"
            return f"({args[0]} LIKE {args[1]} ESCAPE {escape})"
        case "cast" | "try_cast":
            return f"{op}({args[0]} AS {duck_type(expr.type)})"
        case "case":
            pairs = zip(args[0::2], args[1::2], strict=False)
            whens = " ".join(f"WHEN {when} THEN {then}" for when, then in pairs)
            tail = f" ELSE {args[-1]}" if len(args) % 2 else ""
            return f"(CASE {whens}{tail} END)"
        case "add_days":
            return f"CAST({args[0]} + to_days(CAST({args[1]} AS INTEGER)) AS DATE)"
        case "add_months":
            return f"CAST({args[0]} + to_months(CAST({args[1]} AS INTEGER)) AS DATE)"
        case "date_diff":
            return f"date_diff('day', {args[1]}, {args[0]})"
        case _ if op in _PARTS:
            return f"CAST({op}({args[0]}) AS INTEGER)"
        case _:
            return f"{op}({', '.join(args)})"
