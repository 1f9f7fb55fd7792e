"""What is true of every plan: run between rules in tests, and on plans that come from outside.

    names      output columns are unique; a Ref names a column of the input and has its type
    types      every Call has the type its typing rule gives; predicates are BOOLEAN
    keyjoin    a tree with its root first; an edge holds exactly the key of its one side; an
               assertion sees its copy and those below, nothing else
    size       at most `MAX_DEPTH` levels of nodes and expressions

`check` raises PlanError with a path such as `root.input.keys[0]`; `check_scans` compares what a
plan reads with what is declared.

Not here: which plans SQL gives (plan/rules), reading JSON (plan/wire).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from everview.errors import ConfigError, EverviewError, PlanError
from everview.expr import (
    CASTS,
    FUNCTIONS,
    Call,
    Expr,
    Literal,
    Ref,
    aggregate_type,
    call,
    castable,
)
from everview.plan.constant import convert
from everview.plan.node import (
    Filter,
    Group,
    Join,
    KeyJoin,
    Named,
    Node,
    Plan,
    Project,
    Scan,
    columns,
    inputs,
)  # fmt: skip
from everview.schema import BOOLEAN, CHANGELOG, INTEGER_BITS, STRING, Schema, Type

MAX_DEPTH = 64

Types = Mapping[str, Type]


def check(plan: Plan) -> None:
    """Raises PlanError if the plan is not legal."""
    if too_deep(plan.root):
        raise PlanError("PLAN.TOO_DEEP", f"the plan has more than {MAX_DEPTH} levels")
    _node(plan.root, "root")


def check_scans(plan: Plan, schema: Schema) -> None:
    """Raises PlanError if the plan reads a relation otherwise than it is declared."""

    def scans(node: Node, path: str) -> None:
        if isinstance(node, Scan):
            _declared(node, schema, path)
        for i, below in enumerate(inputs(node)):
            scans(below, f"{path}.input" if len(inputs(node)) == 1 else f"{path}.inputs[{i}]")

    scans(plan.root, "root")


def _declared(scan: Scan, schema: Schema, path: str) -> None:
    if scan.relation not in schema:
        known = ", ".join(r.name for r in schema.relations)
        raise _bad("RELATION", path, f"there is no relation {scan.relation}; declared: {known}")
    relation = schema.relation(scan.relation)
    there = {c.name: c for c in relation.columns}
    for column in scan.columns:
        if there.get(column.name) != column:
            raise _bad("RELATION", path, f"{scan.relation} has no column {column.name} "
                       f"{column.type}{'' if column.nullable else ' NOT NULL'}")  # fmt: skip
    if (scan.key, scan.policy) != (relation.key, relation.policy):
        raise _bad("RELATION", path, f"{scan.relation} has the key ({', '.join(relation.key)}) "
                   f"and the policy {relation.policy}")  # fmt: skip


def check_shown(plan: Plan, form: str = "retract") -> None:
    """A view that is shown as a changelog leaves the changelog's own columns to it."""
    if form not in CHANGELOG:
        raise ConfigError(
            "CONFIG.FORM", f"a changelog has no form {form!r}", fix=" or ".join(CHANGELOG)
        )
    for column in columns(plan.root):
        if column.name in CHANGELOG[form]:
            raise PlanError(
                "VIEW.RESERVED_COLUMN",
                f"view {plan.name} has a column {column.name}, as its changelog has one of its own",
                fix=f"give it another name: AS {column.name}_",
                position=plan.position(rf"\b{column.name}\b"),
            )


def too_deep(node: Node) -> bool:
    """More than MAX_DEPTH levels of nodes and expressions?"""
    return _depth(node) > MAX_DEPTH


def _depth(node: Node) -> int:
    own = max((_expr_depth(e) for e in expressions(node)), default=0)
    return 1 + max([own, *(_depth(i) for i in inputs(node))])


def _expr_depth(expr: Expr) -> int:
    return 1 + max((_expr_depth(a) for a in expr.args), default=0) if expr.expr == "call" else 1


def expressions(node: Node) -> tuple[Expr, ...]:
    """The expressions a node itself holds."""
    match node:
        case Filter():
            return (node.predicate,)
        case Project():
            return tuple(n.value for n in node.columns)
        case Join():
            return (node.on,)
        case KeyJoin():
            return tuple(a.predicate for a in node.assertions)
        case Group():
            arguments = (a.argument for a in node.aggregates if a.argument is not None)
            return (*(n.value for n in node.keys), *arguments)
        case Scan():
            return ()


def _bad(code: str, path: str, message: str) -> PlanError:
    return PlanError(f"PLAN.{code}", f"at {path}: {message}")


def _node(node: Node, path: str) -> Types:
    """The output columns of a legal node, by name."""
    match node:
        case Scan():
            _scan(node, path)
        case Filter():
            _predicate(node.predicate, _node(node.input, f"{path}.input"), f"{path}.predicate")
        case Project():
            _named(node.columns, _node(node.input, f"{path}.input"), f"{path}.columns")
        case Join():
            if len(node.inputs) < 2:
                raise _bad("JOIN", path, "a join has at least two inputs")
            below = [_node(n, f"{path}.inputs[{i}]") for i, n in enumerate(node.inputs)]
            _predicate(node.on, _merged(below, path), f"{path}.on")
        case KeyJoin():
            _keyjoin(node, path)
        case Group():
            _group(node, path)
    return _outputs(node, path)


def _outputs(node: Node, path: str) -> Types:
    output = columns(node)
    names = [c.name for c in output]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise _bad("DUPLICATE_COLUMN", path, f"two output columns are named {twice[0]}")
    if not names:
        raise _bad("NO_COLUMNS", path, "the node has no output columns")
    return {c.name: c.type for c in output}


def _merged(below: Sequence[Types], path: str) -> Types:
    merged: dict[str, Type] = {}
    for types in below:
        for name in types:
            if name in merged:
                raise _bad("DUPLICATE_COLUMN", path, f"two inputs have the column {name}")
        merged.update(types)
    return merged


def _scan(node: Scan, path: str) -> None:
    names = [c.name for c in node.columns]
    for k in node.key:
        if k not in names:
            raise _bad("KEY", path, f"the scan of {node.relation} leaves out its key column {k}")


def _named(items: tuple[Named, ...], below: Types, path: str) -> None:
    for i, item in enumerate(items):
        _expr(item.value, below, f"{path}[{i}]")


def _group(node: Group, path: str) -> None:
    below = _node(node.input, f"{path}.input")
    _named(node.keys, below, f"{path}.keys")
    for i, a in enumerate(node.aggregates):
        where = f"{path}.aggregates[{i}]"
        if a.argument is not None:
            _expr(a.argument, below, where)
        elif a.function != "count":
            raise _bad("AGGREGATE", where, f"{a.function} needs an argument")
        argument = a.argument.type if a.argument is not None else None
        type = _typed(partial(aggregate_type, a.function, argument), where)
        if a.column.type != type or a.column.name != a.name:
            raise _bad("AGGREGATE", where, f"{a.name} must be a column {a.name} of type {type}")


def _keyjoin(node: KeyJoin, path: str) -> None:
    names = [c.name for c in node.copies]
    if len(set(names)) != len(names) or not names:
        raise _bad("KEYJOIN", path, "copies need distinct names")
    outputs: dict[str, Types] = {}
    for i, copy in enumerate(node.copies):
        where = f"{path}.copies[{i}]"
        outputs[copy.name] = types = _node(copy.input, f"{where}.input")
        for k in copy.key:
            if k not in types:
                raise _bad("KEYJOIN", where, f"copy {copy.name} has no key column {k}")
        if i and not copy.key:
            raise _bad("KEYJOIN", where, f"copy {copy.name} needs a key; only the root needs none")
    _merged(list(outputs.values()), path)
    reached = {names[0]}
    keys = {c.name: c.key for c in node.copies}
    for i, edge in enumerate(node.edges):
        where = f"{path}.edges[{i}]"
        if edge.many not in reached:
            raise _bad("KEYJOIN", where, f"{edge.many} is not reached before this edge")
        if edge.one not in keys or edge.one in reached:
            raise _bad("KEYJOIN", where, f"{edge.one} is reached twice or is no copy")
        reached.add(edge.one)
        _edge(edge.columns, outputs[edge.many], keys[edge.one], outputs[edge.one], where)
    if reached != set(names):
        missing = sorted(set(names) - reached)
        raise _bad("KEYJOIN", path, f"no edge reaches {', '.join(missing)}")
    for i, assertion in enumerate(node.assertions):
        where = f"{path}.assertions[{i}]"
        if assertion.copy not in keys:
            raise _bad("KEYJOIN", where, f"{assertion.copy} is no copy")
        seen = _merged([outputs[c] for c in subtree(node, assertion.copy)], where)
        _predicate(assertion.predicate, seen, where)


def _edge(held: tuple[str, ...], many: Types, key: tuple[str, ...], one: Types, where: str) -> None:
    if len(held) != len(key):
        raise _bad("KEYJOIN", where, f"{len(held)} columns cannot hold a key of {len(key)}")
    for column, k in zip(held, key, strict=True):
        if column not in many:
            raise _bad("KEYJOIN", where, f"the many side has no column {column}")
        if many[column] != one[k]:
            raise _bad("KEYJOIN", where, f"{column} is {many[column]}, its key {k} is {one[k]}")


def subtree(node: KeyJoin, copy: str) -> list[str]:
    """The copy and all copies below it."""
    found = [copy]
    for name in found:
        found += [e.one for e in node.edges if e.many == name]
    return found


def _predicate(expr: Expr, below: Types, path: str) -> None:
    _expr(expr, below, path)
    if expr.type.name != "BOOLEAN":
        raise _bad("PREDICATE", path, f"a predicate must be BOOLEAN, not {expr.type}")


def _expr(expr: Expr, below: Types, path: str) -> None:
    match expr:
        case Ref():
            if expr.name not in below:
                raise _bad("UNKNOWN_COLUMN", path, f"there is no input column {expr.name}")
            if below[expr.name] != expr.type:
                raise _bad("TYPE", path, f"{expr.name} is {below[expr.name]}, not {expr.type}")
        case Literal():
            _literal(expr, path)
        case Call():
            for i, a in enumerate(expr.args):
                _expr(a, below, f"{path}.args[{i}]")
            _call(expr, path)


def _call(expr: Call, path: str) -> None:
    ruled = _typed(lambda: call(expr.op, *expr.args, type=expr.type).type, path)
    if ruled != expr.type:
        raise _bad("TYPE", path, f"{expr.op} gives {ruled}, not {expr.type}")
    takes = FUNCTIONS[expr.op].takes
    for i, a in enumerate(expr.args if takes else ()):
        allowed = takes[min(i, len(takes) - 1)]
        if a.type.name not in allowed:
            listed = " or ".join(sorted(allowed))
            raise _bad("TYPE", f"{path}.args[{i}]", f"{expr.op} takes {listed}, not {a.type}")
    if expr.op in CASTS and not castable(expr.args[0].type, expr.type):
        raise _bad("TYPE", path, f"{expr.args[0].type} cannot become {expr.type}")
    if expr.op == "case":
        _case(expr, path)
    if expr.op in ("=", "<>", "<", "<=", ">", ">=", "in", "is_distinct", "coalesce", "nullif"):
        wrong = [a for a in expr.args if a.type != expr.args[0].type]
        if wrong:
            first = expr.args[0].type
            raise _bad("TYPE", path, f"{expr.op} takes values of one type, not {first} and "
                       f"{wrong[0].type}")  # fmt: skip


def _case(expr: Call, path: str) -> None:
    last = len(expr.args) - 1
    for i, a in enumerate(expr.args):
        wanted = BOOLEAN if i % 2 == 0 and i < last else expr.type
        if a.type != wanted:
            raise _bad("TYPE", f"{path}.args[{i}]", f"a part of case is {a.type}, not {wanted}")


def _typed(make: Callable[[], Type], path: str) -> Type:
    try:
        return make()
    except PlanError as e:
        raise _bad(e.code.removeprefix("PLAN."), path, e.message) from None


def _literal(expr: Literal, path: str) -> None:
    """The value has the form its type has: digits for a DECIMAL, a day for a DATE, ..."""
    value, type = expr.value, expr.type
    if value is None:
        return
    if type.is_integer:
        limit = 1 << (INTEGER_BITS[type.name] - 1)
        legal = type_is(value, int) and -limit <= int(value) < limit
    elif type.name == "BOOLEAN":
        legal = type_is(value, bool)
    elif type.is_float:
        legal = type_is(value, float) and math.isfinite(float(value))
    else:
        legal = isinstance(value, str)
        if isinstance(value, str) and not type.is_text:
            try:
                again = convert(Literal(value, STRING), type)
            except (EverviewError, ArithmeticError, ValueError):
                again = None
            legal = again is not None and again.value == value
    if not legal:
        raise _bad("LITERAL", path, f"{str(value)[:60]!r} is not a {type}")


def type_is(value: object, kind: type) -> bool:
    """Exactly this type: TRUE is no number."""
    return type(value) is kind
