"""A plan as text: one line per node, inputs indented below; expressions in infix form.

    project l_orderkey, revenue
      group l_orderkey := l.l_orderkey | revenue := sum(l.l_extendedprice) DECIMAL(25,2)
        filter l.l_shipdate > DATE '1995-03-15'
          scan lineitem l [key l_orderkey, l_linenumber] l_orderkey, l_linenumber, ...

Not here: stages, routes and state (dataflow), JSON (plan/wire).
"""

from __future__ import annotations

from everview.expr import CASTS, Call, Expr, Literal, Ref
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
)  # fmt: skip

_INFIX = frozenset({"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"})
_QUOTED = frozenset({"STRING", "BINARY"})


def render(node: Node, indent: int = 0) -> str:
    """The plan as text, without a line end after the last line."""
    return "\n".join("  " * (indent + depth) + line for depth, line in _lines(node))


def _lines(node: Node) -> list[tuple[int, str]]:
    match node:
        case Scan():
            key = f" [key {', '.join(node.key)}]" if node.key else ""
            names = ", ".join(c.name for c in node.columns)
            return [(0, f"scan {node.relation} {node.alias}{key} {names}")]
        case Filter():
            return [(0, f"filter {text(node.predicate)}"), *_below(node.input)]
        case Project():
            return [(0, f"project {', '.join(map(_named, node.columns))}"), *_below(node.input)]
        case Group():
            keys = ", ".join(map(_named, node.keys)) or "()"
            sums = ", ".join(map(_aggregate, node.aggregates))
            return [(0, f"group {keys}" + (f" | {sums}" if sums else "")), *_below(node.input)]
        case Join():
            lines = [(0, f"join on {text(node.on)}")]
            return lines + [line for i in node.inputs for line in _below(i)]
        case KeyJoin():
            return _keyjoin(node)


def _below(node: Node) -> list[tuple[int, str]]:
    return [(depth + 1, line) for depth, line in _lines(node)]


def _keyjoin(node: KeyJoin) -> list[tuple[int, str]]:
    lines = [(0, f"keyjoin root {node.copies[0].name}")]
    for e in node.edges:
        lines.append((1, f"edge {e.many} ({', '.join(e.columns)}) -> {e.one}"))
    for a in node.assertions:
        lines.append((1, f"assert at {a.copy}: {text(a.predicate)}"))
    for c in node.copies:
        lines.append((1, f"copy {c.name} [key {', '.join(c.key)}]" if c.key else f"copy {c.name}"))
        lines += [(depth + 2, line) for depth, line in _lines(c.input)]
    return lines


def _named(named: Named) -> str:
    if isinstance(named.value, Ref) and named.value.name == named.name:
        return named.name
    return f"{named.name} := {text(named.value)}"


def _aggregate(a: Aggregate) -> str:
    argument = "*" if a.argument is None else text(a.argument)
    return f"{a.name} := {a.function}({argument}) {a.column.type}"


def text(expr: Expr) -> str:
    """An expression in infix form; calls inside operators stand in parentheses."""
    if isinstance(expr, Ref):
        return expr.name
    if isinstance(expr, Literal):
        return _literal(expr)
    return _call(expr)


def _literal(literal: Literal) -> str:
    value, name = literal.value, literal.type.name
    if value is None:
        return f"NULL {literal.type}"
    if name in _QUOTED:
        escaped = str(value).replace("'", "''").encode("unicode_escape").decode("ascii")
        return f"'{escaped}'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
        return f"{name} '{value}'"
    return f"{value!r}D" if literal.type.is_float else str(value)


def _call(expr: Call) -> str:
    op, args = expr.op, expr.args
    if op in _INFIX and len(args) == 2:
        return f"{_operand(args[0])} {op} {_operand(args[1])}"
    if op in ("and", "or"):
        return f" {op} ".join(_operand(a) for a in args)
    if op == "not":
        return f"not {_operand(args[0])}"
    if op == "neg":
        return f"-{_operand(args[0])}"
    if op == "is_null":
        return f"{_operand(args[0])} is null"
    if op == "in":
        return f"{_operand(args[0])} in ({', '.join(map(text, args[1:]))})"
    if op == "like":
        escape = f" escape {text(args[2])}" if len(args) > 2 else ""
        return f"{_operand(args[0])} like {text(args[1])}{escape}"
    if op in CASTS:
        return f"{op}({text(args[0])} as {expr.type})"
    if op == "case":
        return _case(args)
    return f"{op}({', '.join(map(text, args))})"


def _case(args: tuple[Expr, ...]) -> str:
    pairs = range(0, len(args) - 1, 2)
    words = [f"when {text(args[i])} then {text(args[i + 1])}" for i in pairs]
    if len(args) % 2:
        words.append(f"else {text(args[-1])}")
    return f"case {' '.join(words)} end"


def _operand(expr: Expr) -> str:
    shown = text(expr)
    needs = isinstance(expr, Call) and (
        expr.op in _INFIX or expr.op in ("and", "or", "not", "neg", "is_null", "in", "like")
    )
    return f"({shown})" if needs else shown
