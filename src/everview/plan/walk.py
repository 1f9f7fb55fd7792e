"""Walking a plan: a node with other inputs, a plan with every node or expression replaced.

Not here: what to replace (plan/rules), what a legal plan is (plan/check).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from everview.expr import Call, Expr, Literal, Ref
from everview.plan.node import (
    Assertion,
    Filter,
    Group,
    Join,
    KeyJoin,
    Named,
    Node,
    Project,
    Scan,
    inputs,
)  # fmt: skip


def with_inputs(node: Node, below: tuple[Node, ...]) -> Node:
    """The same node over other inputs."""
    match node:
        case Scan():
            return node
        case Join():
            return Join(below, node.on)
        case KeyJoin():
            pairs = zip(node.copies, below, strict=True)
            return replace(node, copies=tuple(replace(c, input=i) for c, i in pairs))
        case Filter() | Project() | Group():
            return replace(node, input=below[0])


def bottom_up(node: Node, change: Callable[[Node], Node]) -> Node:
    """Every node replaced, inputs first."""
    return change(with_inputs(node, tuple(bottom_up(i, change) for i in inputs(node))))


def nodes(node: Node) -> Iterator[Node]:
    """The node and all nodes below it."""
    yield node
    for i in inputs(node):
        yield from nodes(i)


def with_expressions(node: Node, change: Callable[[Expr], Expr]) -> Node:
    """The same node with each of its expressions replaced."""
    match node:
        case Scan():
            return node
        case Filter():
            return Filter(node.input, change(node.predicate))
        case Project():
            return Project(node.input, changed(node.columns, change))
        case Join():
            return Join(node.inputs, change(node.on))
        case KeyJoin():
            kept = tuple(Assertion(a.copy, change(a.predicate)) for a in node.assertions)
            return replace(node, assertions=kept)
        case Group():
            aggregates = tuple(
                a if a.argument is None else replace(a, argument=change(a.argument))
                for a in node.aggregates
            )
            return Group(node.input, changed(node.keys, change), aggregates)


def changed(items: tuple[Named, ...], change: Callable[[Expr], Expr]) -> tuple[Named, ...]:
    return tuple(Named(n.name, change(n.value)) for n in items)


def expression_up(expr: Expr, change: Callable[[Call], Expr]) -> Expr:
    """Every call of an expression replaced, arguments first."""
    if not isinstance(expr, Call):
        return expr
    return change(Call(expr.op, tuple(expression_up(a, change) for a in expr.args), expr.type))


def size(expr: Expr) -> int:
    """How many vertices the expression has, written out; a list of constants in IN is one."""
    if not isinstance(expr, Call):
        return 1
    if expr.op == "in":
        return 2 + sum(size(a) for a in expr.args if not isinstance(a, Literal))
    return 1 + sum(map(size, expr.args))


def names(expr: Expr) -> frozenset[str]:
    """The columns the expression reads."""
    if isinstance(expr, Ref):
        return frozenset({expr.name})
    if isinstance(expr, Call):
        return frozenset().union(*map(names, expr.args))
    return frozenset()
