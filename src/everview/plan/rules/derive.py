"""Conditions that follow from the ones written, where they help: filters of one relation."""

from __future__ import annotations

from collections.abc import Iterable

from everview.expr import Call, Expr, Literal, Ref, conjunction, conjuncts, rename
from everview.plan.names import alias_of
from everview.plan.node import Filter, Join, Node
from everview.plan.walk import bottom_up, names
from everview.schema import BOOLEAN


def derive(node: Node) -> Node:
    """(a1 AND b1) OR (a2 AND b2)  ->  the same AND (a1 OR a2) AND (b1 OR b2);  a = b AND a = 1  ->
    the same AND b = 1;  (k AND a) OR (k AND b)  ->  k AND (a OR b)."""
    return bottom_up(node, _derive)


def _derive(node: Node) -> Node:
    if isinstance(node, Join):
        return Join(node.inputs, conjunction(derived(conjuncts(node.on))))
    if isinstance(node, Filter):
        factored = (p for c in conjuncts(node.predicate) for p in conjuncts(factor(c)))
        return Filter(node.input, conjunction(tuple(dict.fromkeys(factored))))
    return node


def derived(written: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The conjuncts, ORs factored, and those that follow from them."""
    parts = dict.fromkeys(p for c in written for p in conjuncts(factor(c)))
    for part in tuple(parts):
        parts |= dict.fromkeys(_one_sided(part))
    parts |= dict.fromkeys(_through_equalities(tuple(parts)))
    return tuple(parts)


def _branches(expr: Expr) -> tuple[tuple[Expr, ...], ...]:
    """The branches of an OR, each as its conjuncts; one branch for anything else."""
    if isinstance(expr, Call) and expr.op == "or":
        return tuple(conjuncts(a) for a in expr.args)
    return (conjuncts(expr),)


def factor(expr: Expr) -> Expr:
    """What every branch of an OR demands stands before it; a branch left empty makes it all."""
    branches = _branches(expr)
    if len(branches) < 2:
        return expr
    shared = tuple(p for p in branches[0] if all(p in b for b in branches[1:]))
    if not shared:
        return expr
    rest = [tuple(p for p in b if p not in shared) for b in branches]
    if not all(rest):
        return conjunction(shared)
    return conjunction((*shared, Call("or", tuple(conjunction(b) for b in rest), BOOLEAN)))


def _relations(expr: Expr) -> frozenset[str]:
    return frozenset(map(alias_of, names(expr)))


def _one_sided(expr: Expr) -> Iterable[Expr]:
    """For each relation that every branch of an OR restricts: the OR of those restrictions.

    It is TRUE whenever the OR is, so as a further conjunct it changes no answer.
    """
    branches = _branches(expr)
    mentioned = [_relations(b) for b in map(conjunction, branches)]
    everywhere = frozenset.intersection(*mentioned)
    if len(branches) < 2 or len(frozenset.union(*mentioned)) < 2:
        return
    for relation in sorted(everywhere):
        own = [tuple(p for p in b if _relations(p) == {relation}) for b in branches]
        if all(own):
            different = dict.fromkeys(conjunction(p) for p in own)
            yield _any(tuple(different))


def _any(parts: tuple[Expr, ...]) -> Expr:
    return parts[0] if len(parts) == 1 else Call("or", parts, BOOLEAN)


def _through_equalities(parts: tuple[Expr, ...]) -> Iterable[Expr]:
    """A comparison of a column with literals holds for every column that equals it."""
    equal: dict[Ref, set[Ref]] = {}
    for part in parts:
        pair = column_equality(part)
        if pair and not pair[0].type.is_float:  # 0.0 = -0.0, which are not the same value
            merged = equal.get(pair[0], {pair[0]}) | equal.get(pair[1], {pair[1]})
            equal |= dict.fromkeys(merged, merged)
    for part in parts:
        column = _literal_test(part)
        if column is None:
            continue
        for other in sorted(equal.get(column, set()) - {column}, key=lambda r: r.name):
            yield rename(part, {column.name: other})


def column_equality(expr: Expr) -> tuple[Ref, Ref] | None:
    """The two columns of `a = b`."""
    if isinstance(expr, Call) and expr.op == "=":
        a, b = expr.args
        if isinstance(a, Ref) and isinstance(b, Ref):
            return a, b
    return None


def _literal_test(expr: Expr) -> Ref | None:
    """The column that `column < 1`, `column IN (1, 2)` and the like compare with literals."""
    if not isinstance(expr, Call) or expr.op not in ("=", "<", "<=", ">", ">=", "in"):
        return None
    columns = [a for a in expr.args if isinstance(a, Ref)]
    literals = [a for a in expr.args if isinstance(a, Literal)]
    return columns[0] if len(columns) == 1 and len(literals) == len(expr.args) - 1 else None
