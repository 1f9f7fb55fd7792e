"""Names of columns and copies: unique aliases, and plans renamed so that they can stand together.

    apart(view over `orders o`, taken {o})  ->  the same plan over `orders o_2`

A column below a sub-select or scan is `alias.column`; a view's own output names have no dot.

Not here: what a name in SQL refers to (sql/scope).
"""

from __future__ import annotations

from collections.abc import Callable

from everview.expr import Expr, Ref, refs, rename
from everview.plan.node import (
    Aggregate,
    Assertion,
    Copy,
    Edge,
    Filter,
    Group,
    Join,
    KeyJoin,
    Named,
    Node,
    Project,
    Scan,
    columns,
    inputs,
)
from everview.schema import Column


def unique(name: str, taken: set[str]) -> str:
    """The name, or the name with the first free number; it is taken from now on."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def alias_of(column: str) -> str:
    """`orders` of `orders.o_orderkey`; empty for a plain name."""
    return column.partition(".")[0] if "." in column else ""


def aliases(node: Node) -> list[str]:
    """Every alias a plan uses, in order of appearance."""
    found = {node.alias: None} if isinstance(node, Scan) else {}
    found |= {alias_of(c.name): None for c in columns(node) if "." in c.name}
    for below in inputs(node):
        found |= dict.fromkeys(aliases(below))
    return list(found)


def apart(node: Node, taken: set[str]) -> Node:
    """The same plan, with every alias that is taken replaced by a new one; all become taken."""
    new = {alias: unique(alias, taken) for alias in aliases(node)}

    def renamed(name: str) -> str:
        alias, dot, rest = name.partition(".")
        return f"{new.get(alias, alias)}.{rest}" if dot else name

    return _rename(node, renamed, new) if any(a != b for a, b in new.items()) else node


def renamed_refs(expr: Expr, name: Callable[[str], str]) -> Expr:
    return rename(expr, {r.name: Ref(name(r.name), r.type) for r in refs(expr)})


def _rename(node: Node, name: Callable[[str], str], alias: dict[str, str]) -> Node:
    def expr(e: Expr) -> Expr:
        return renamed_refs(e, name)

    def named(items: tuple[Named, ...]) -> tuple[Named, ...]:
        return tuple(Named(name(n.name), expr(n.value)) for n in items)

    def below(n: Node) -> Node:
        return _rename(n, name, alias)

    match node:
        case Scan():
            return Scan(node.relation, alias[node.alias], node.columns, node.key, node.policy)
        case Filter():
            return Filter(below(node.input), expr(node.predicate))
        case Project():
            return Project(below(node.input), named(node.columns))
        case Join():
            return Join(tuple(below(i) for i in node.inputs), expr(node.on))
        case Group():
            return Group(
                below(node.input),
                named(node.keys),
                tuple(
                    Aggregate(
                        name(a.name),
                        a.function,
                        None if a.argument is None else expr(a.argument),
                        Column(name(a.column.name), a.column.type, a.column.nullable),
                    )
                    for a in node.aggregates
                ),
            )
        case KeyJoin():
            return KeyJoin(
                tuple(
                    Copy(alias.get(c.name, c.name), below(c.input), tuple(map(name, c.key)))
                    for c in node.copies
                ),
                tuple(
                    Edge(
                        alias.get(e.many, e.many),
                        tuple(map(name, e.columns)),
                        alias.get(e.one, e.one),
                    )
                    for e in node.edges
                ),
                tuple(
                    Assertion(alias.get(a.copy, a.copy), expr(a.predicate)) for a in node.assertions
                ),
            )
