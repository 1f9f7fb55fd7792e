"""Constants are computed and conditions shortened, without changing any error or NULL."""

from __future__ import annotations

from everview.expr import Call, Expr, Literal, conjunction, conjuncts
from everview.plan.constant import FALSE, TRUE, fold
from everview.plan.node import Filter, Join, Node
from everview.plan.walk import bottom_up, expression_up, with_expressions
from everview.schema import BOOLEAN

_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_FALLIBLE = frozenset(
    {"+", "-", "*", "/", "%", "neg", "abs", "cast", "add_days", "add_months", "add_micros"}
)


def simplify(node: Node) -> Node:
    """x < 2 + 3 AND TRUE  ->  x < 5;  NOT a = b  ->  a <> b;  a filter on TRUE  ->  its input."""
    return bottom_up(node, _simplify)


def _simplify(node: Node) -> Node:
    match node:
        case Filter():
            predicate = _condition(node.predicate)
            return node.input if predicate == TRUE else Filter(node.input, predicate)
        case Join():
            return Join(node.inputs, _condition(node.on))
        case _:
            return with_expressions(node, simplified)


def _condition(expr: Expr) -> Expr:
    """A whole condition part by part: a FALSE must not swallow the equalities a join needs."""
    parts = (p for c in conjuncts(expr) for p in conjuncts(simplified(c)))
    return conjunction(tuple(dict.fromkeys(p for p in parts if p != TRUE)))


def simplified(expr: Expr) -> Expr:
    """The expression, simplified; the same value and the same errors for every row."""
    return expression_up(expr, _call)


def _call(expr: Call) -> Expr:
    if expr.op in ("and", "or"):
        return _connector(expr)
    if expr.op == "not":
        return _not(expr)
    return fold(expr)


def _connector(expr: Call) -> Expr:
    """AND: TRUE goes, FALSE decides (unless another part may fail); OR: the other way round."""
    neutral, deciding = (TRUE, FALSE) if expr.op == "and" else (FALSE, TRUE)
    parts: dict[Expr, None] = {}
    for a in expr.args:
        inner = a.args if isinstance(a, Call) and a.op == expr.op else (a,)
        parts |= dict.fromkeys(p for p in inner if p != neutral)
    if deciding in parts and all(never_fails(p) for p in parts):
        return deciding
    if not parts:
        return neutral
    return next(iter(parts)) if len(parts) == 1 else Call(expr.op, tuple(parts), BOOLEAN)


def _not(expr: Call) -> Expr:
    inner = expr.args[0]
    if isinstance(inner, Literal):
        return inner if inner.value is None else Literal(not inner.value, BOOLEAN)
    if not isinstance(inner, Call):
        return expr
    if inner.op == "not":
        return inner.args[0]
    if inner.op in _NEGATED:
        return Call(_NEGATED[inner.op], inner.args, BOOLEAN)
    if inner.op in ("and", "or"):
        other = "or" if inner.op == "and" else "and"
        return _connector(
            Call(other, tuple(_not(Call("not", (a,), BOOLEAN)) for a in inner.args), BOOLEAN)
        )
    return expr


def never_fails(expr: Expr) -> bool:
    """Surely no error for any row: no arithmetic and no cast inside."""
    if not isinstance(expr, Call):
        return True
    return expr.op not in _FALLIBLE and all(never_fails(a) for a in expr.args)
