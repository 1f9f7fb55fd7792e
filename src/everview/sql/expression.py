"""A scalar expression of the syntax tree -> a typed Expr, coerced as Spark SQL does with ANSI on.

One function per shape of the syntax, in the table `_BINDERS`; what is not in it is refused.
Aggregates inside an expression are collected in `Env.aggregates` and stand as `Ref("#agg...")`.

Not here: which names there are (sql/scope), function names (sql/functions), clauses (sql/select).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from everview.errors import Position
from everview.expr import (
    AggregateName,
    Call,
    Expr,
    Literal,
    Ref,
    aggregate_type,
    call,
    conjunction,
)  # fmt: skip
from everview.schema import BIGINT, BOOLEAN, INT, STRING
from everview.sql import coerce, functions
from everview.sql.datatype import read_type
from everview.sql.dialect import MAX_DEPTH, Source, too_deep
from everview.sql.literals import check_pattern, interval, number
from everview.sql.scope import Scope, meant, resolve, unknown
from everview.sql.subset import refuse, similar

AGGREGATE_NAMES: Mapping[str, AggregateName] = {
    "sum": "sum", "count": "count", "avg": "avg", "mean": "avg",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Env:
    """Where an expression stands: its scope, and what it may refer to besides columns.

    `aggregates` maps (function, argument) to its Ref; None where no aggregate may stand.
    `aliases` are select items that a name may mean if no column has it; or, outside an aggregate in
    HAVING, if the column is none of the `keys` that are grouped by.
    `columns` remembers where each column was first named.
    """

    source: Source
    scope: Scope
    clause: str
    aggregates: dict[tuple[AggregateName, Expr | None], Ref] | None = None
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    columns: dict[str, exp.Expr] = field(default_factory=dict)
    in_aggregate: bool = False
    keys: frozenset[Expr] | None = None

    def means_alias(self, column: Expr) -> bool:
        return self.keys is not None and not self.in_aggregate and column not in self.keys

    def at(self, node: exp.Expr) -> Position:
        return self.source.position(node)


def bind(node: exp.Expr, env: Env) -> Expr:
    """The typed expression of a syntax node."""
    binder = _BINDERS.get(type(node))
    if binder is None:
        raise refuse("UNSUPPORTED.SYNTAX", env.at(node), _name_of(node))
    for part, value in node.args.items():
        if value and part not in _PARTS and part not in _MORE_PARTS.get(type(node), ()):
            what = f"{part.strip('_').upper()} of {_name_of(node)}"
            raise refuse("UNSUPPORTED.SYNTAX", env.at(node), what)
    return binder(node, env)


def predicate(node: exp.Expr, env: Env) -> Expr:
    """A condition: BOOLEAN, or refused."""
    return functions.boolean(bind(node, env), env.at(node))


def _name_of(node: exp.Expr) -> str:
    name = node.sql_names()[0] if isinstance(node, exp.Func) else type(node).__name__.upper()
    return f"the syntax {name}"


# ------------------------------------------------------------------------------- names and literals


def _column(node: exp.Expr, env: Env) -> Expr:
    assert isinstance(node, exp.Column)
    if isinstance(node.this, exp.Star):
        raise refuse("UNSUPPORTED.SYNTAX", env.at(node), "* inside an expression")
    ref = resolve(node, env.scope, env.source)
    alias = None if node.table else env.aliases.get(meant(node.name, env.aliases))
    if alias is not None and (ref is None or env.means_alias(ref)):
        return bind(alias, replace(env, aliases={}))
    if ref is None:
        raise unknown(node, env.scope, env.source)
    env.columns.setdefault(ref.name, node)
    return ref


def _literal(node: exp.Expr, env: Env) -> Expr:
    assert isinstance(node, exp.Literal)
    return Literal(node.name, STRING) if node.is_string else number(node.name, env.at(node))


# ------------------------------------------------------------------------------- logic, comparisons


def _paren(node: exp.Expr, env: Env) -> Expr:
    return bind(node.this, env)


def _connector(op: str) -> Callable[[exp.Expr, Env], Expr]:
    def binder(node: exp.Expr, env: Env) -> Expr:
        parts: list[Expr] = []
        for side in _chain(node, type(node)):
            bound = predicate(side, env)
            parts.extend(bound.args if isinstance(bound, Call) and bound.op == op else (bound,))
        return Call(op, tuple(parts), BOOLEAN)

    return binder


def _chain(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of `a op b op c`, left to right, without recursion on the left."""
    operands: list[exp.Expr] = []
    while isinstance(node, kind):
        operands.append(node.args["expression"])
        node = node.this
    operands.append(node)
    return operands[::-1]


def _not(node: exp.Expr, env: Env) -> Expr:
    return call("not", predicate(node.this, env))


def _comparison(op: str) -> Callable[[exp.Expr, Env], Expr]:
    def binder(node: exp.Expr, env: Env) -> Expr:
        values = [bind(node.this, env), bind(node.args["expression"], env)]
        return call(op, *coerce.comparable(values, env.at(node)))

    return binder


def _same_or_null(node: exp.Expr, env: Env) -> Expr:
    return call("not", _comparison("is_distinct")(node, env))


def _between(node: exp.Expr, env: Env) -> Expr:
    value, at = bind(node.this, env), env.at(node)
    low = coerce.comparable([value, bind(node.args["low"], env)], at)
    high = coerce.comparable([value, bind(node.args["high"], env)], at)
    return conjunction((call(">=", *low), call("<=", *high)))


def _in(node: exp.Expr, env: Env) -> Expr:
    if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
        raise refuse("UNSUPPORTED.IN_SUBQUERY", env.at(node))
    if not node.expressions:
        raise refuse("ARGUMENTS", env.at(node), "IN has nothing to compare with", "write IN (1)")
    values = [bind(v, env) for v in (node.this, *node.expressions)]
    return call("in", *coerce.comparable(values, env.at(node)))


def _like(node: exp.Expr, env: Env) -> Expr:
    escape: tuple[Literal, ...] = ()
    at = env.at(node)
    if isinstance(node, exp.Escape):
        mark = bind(node.args["expression"], env)
        if not (isinstance(mark, Literal) and isinstance(mark.value, str) and len(mark.value) == 1):
            raise refuse("TYPE.LITERAL", at, "ESCAPE takes one character", "write ESCAPE '/'")
        escape, node = (mark,), node.this
    if not isinstance(node, exp.Like):
        raise refuse("UNSUPPORTED.SYNTAX", at, _name_of(node))
    pattern = bind(node.args["expression"], env)
    if not (isinstance(pattern, Literal) and isinstance(pattern.value, str)):
        shown = "NULL" if isinstance(pattern, Literal) else "an expression"
        raise refuse("UNSUPPORTED.LIKE_PATTERN", at, shown)
    check_pattern(pattern.value, str(escape[0].value) if escape else "\\", at)
    like = call("like", coerce.text(bind(node.this, env), at), pattern, *escape)
    return call("not", like) if node.args.get("negate") else like


def _is(node: exp.Expr, env: Env) -> Expr:
    value, wanted = bind(node.this, env), node.args["expression"]
    negated = isinstance(wanted, exp.Not)
    wanted = wanted.this if negated else wanted
    result: Expr
    if isinstance(wanted, exp.Null):
        result = call("is_null", value)
    elif isinstance(wanted, exp.Boolean):
        truth = functions.boolean(value, env.at(node))
        same = Literal(bool(wanted.args["this"]), BOOLEAN)
        result = call("not", call("is_distinct", truth, same))
    else:
        raise refuse("UNSUPPORTED.SYNTAX", env.at(node), "IS with something else than NULL")
    return call("not", result) if negated else result


# ------------------------------------------------------------------------------- arithmetic, dates


_ARITHMETIC: Mapping[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
}


def _arithmetic(node: exp.Expr, env: Env) -> Expr:
    """A chain `a + b - c`; without recursion on the left, where chains are long."""
    chain: list[exp.Expr] = []
    while type(node) in _ARITHMETIC:
        chain.append(node)
        node = node.this
    if len(chain) > MAX_DEPTH:
        raise too_deep(env.at(node))
    if isinstance(node, exp.Interval) and isinstance(chain[-1], exp.Add):
        value = bind(chain.pop().args["expression"], env)  # INTERVAL ... + date
        result = functions.shift("+", value, interval(node, env.source), env.at(node))
    else:
        result = bind(node, env)
    for step in reversed(chain):
        result = _step(_ARITHMETIC[type(step)], result, step, env)
    return result


def _step(op: str, left: Expr, node: exp.Expr, env: Env) -> Expr:
    right, at = node.args["expression"], env.at(node)
    if isinstance(right, exp.Interval):
        return functions.shift(op, left, interval(right, env.source), at)
    return functions.arithmetic(op, left, bind(right, env), at)


def _lone_interval(node: exp.Expr, env: Env) -> Expr:
    raise refuse(
        "UNSUPPORTED.INTERVAL",
        env.source.position(node, "INTERVAL"),
        "an INTERVAL can only be added to or taken from a date or timestamp",
        "write date + INTERVAL 'n' DAY",
    )


def _neg(node: exp.Expr, env: Env) -> Expr:
    if isinstance(node.this, exp.Literal) and node.this.name == str(2**63):
        return Literal(-(2**63), BIGINT)  # the one integer that is BIGINT only with its sign
    return functions.negate(bind(node.this, env), env.at(node))


def _pipes(node: exp.Expr, env: Env) -> Expr:
    at = env.at(node)
    parts = [coerce.text(bind(n, env), at) for n in _chain(node, exp.DPipe)]
    return call("concat", *parts)


# ------------------------------------------------------------------------------- special forms


def _case(node: exp.Expr, env: Env) -> Expr:
    operand = bind(node.this, env) if node.args.get("this") else None
    args: list[Expr] = []
    for branch in node.args["ifs"]:
        when = bind(branch.this, env)
        if operand is not None:
            when = call("=", *coerce.comparable([operand, when], env.at(branch)))
        args += [when, bind(branch.args["true"], env)]
    if node.args.get("default"):
        args.append(bind(node.args["default"], env))
    return functions.conditional(args, env.at(node))


def _cast(node: exp.Expr, env: Env) -> Expr:
    type = read_type(node.args["to"], env.source)
    return coerce.cast(bind(node.this, env), type, env.at(node))


def _try_cast(node: exp.Expr, env: Env) -> Expr:
    type = read_type(node.args["to"], env.source)
    return coerce.try_cast(bind(node.this, env), type, env.at(node))


def _extract(node: exp.Expr, env: Env) -> Expr:
    field_name = node.this.name.upper()
    name = functions.EXTRACTS.get(field_name)
    if name is None:
        fix = (
            "use SECOND(x) for whole seconds"
            if field_name.startswith("SEC")
            else "use " + (", ".join(sorted(set(functions.EXTRACTS.values()))))
        )
        raise refuse(
            "ARGUMENTS", env.at(node), f"EXTRACT({field_name[:30]} FROM ...) is not supported", fix
        )
    return functions.build(name, [bind(node.args["expression"], env)], env.at(node))


def _substring(node: exp.Expr, env: Env) -> Expr:
    parts = [node.args.get(p) for p in ("this", "start", "length")]
    args = [bind(p, env) for p in parts if p is not None]
    return functions.build("substring", args, env.at(node))


def _trim(node: exp.Expr, env: Env) -> Expr:
    if node.args.get("expression") or node.args.get("collation"):
        raise refuse("UNSUPPORTED.SYNTAX", env.at(node), "TRIM of other characters than spaces")
    side = str(node.args.get("position") or "").upper()
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim")
    return functions.build(name, [bind(node.this, env)], env.at(node))


def _adjacent_texts(node: exp.Expr, env: Env) -> Expr:
    """`'a' 'b'` is one text."""
    parts = [bind(p, env) for p in node.expressions]
    if all(isinstance(p, Literal) and isinstance(p.value, str) for p in parts):
        return Literal("".join(str(p.value) for p in parts if isinstance(p, Literal)), STRING)
    return functions.build("concat", parts, env.at(node))


# ------------------------------------------------------------------------------- functions


def _function(node: exp.Expr, env: Env) -> Expr:
    assert isinstance(node, exp.Anonymous)
    name = node.name.lower()
    if name in AGGREGATE_NAMES:
        return _aggregate(node, None, env)
    if name not in functions.BUILDERS:
        known = {*functions.BUILDERS, *AGGREGATE_NAMES, "cast", "extract"}
        fix = similar(name, known, "functions")
        raise refuse("UNKNOWN.FUNCTION", env.at(node), name[:60].upper(), fix)
    return functions.build(name, [bind(a, env) for a in node.expressions], env.at(node))


def _filtered(node: exp.Expr, env: Env) -> Expr:
    """`sum(x) FILTER (WHERE p)` is `sum(CASE WHEN p THEN x END)`."""
    inner, where = node.this, node.args["expression"]
    if not isinstance(inner, exp.Anonymous) or inner.name.lower() not in AGGREGATE_NAMES:
        raise refuse("UNSUPPORTED.SYNTAX", env.at(node), "FILTER of something else than aggregates")
    return _aggregate(inner, where.this, env)


def _aggregate(node: exp.Anonymous, condition: exp.Expr | None, env: Env) -> Expr:
    name, at = AGGREGATE_NAMES[node.name.lower()], env.at(node)
    if env.in_aggregate:
        raise refuse("GROUP.NESTED_AGGREGATE", at)
    if env.aggregates is None:
        raise refuse("GROUP.AGGREGATE_HERE", at, env.clause)
    if len(node.expressions) != 1:
        raise refuse(
            "ARGUMENTS",
            at,
            f"{node.name.upper()} takes 1 argument, got {len(node.expressions)}",
            "write one aggregate for each",
        )
    inner = replace(env, aggregates=None, in_aggregate=True)
    argument = _argument(name, node.expressions[0], inner, at)
    if condition is not None:
        value = Literal(1, INT) if argument is None else argument
        argument = functions.conditional([bind(condition, inner), value], at)
    known = env.aggregates.get((name, argument))
    if known is None:
        type = aggregate_type(name, None if argument is None else argument.type)
        known = env.aggregates[name, argument] = Ref(f"#agg{len(env.aggregates)}", type)
    return known


def _argument(name: AggregateName, node: exp.Expr, env: Env, at: Position) -> Expr | None:
    if isinstance(node, exp.Distinct):
        raise refuse("UNSUPPORTED.AGGREGATE_DISTINCT", at)
    if isinstance(node, exp.Star):
        if name == "count":
            return None
        raise refuse("ARGUMENTS", at, f"{name.upper()}(*) means nothing", "name a column")
    value = bind(node, env)
    if name != "count":
        return functions.number(value, at)
    return None if isinstance(value, Literal) and value.value is not None else value


_PARTS = frozenset({"this", "expression", "expressions"})
_MORE_PARTS: Mapping[type[exp.Expr], tuple[str, ...]] = {
    exp.Column: ("table", "db", "catalog"),
    exp.Literal: ("is_string",),
    exp.Between: ("low", "high"),
    exp.In: ("query", "unnest", "field"),
    exp.Like: ("negate",),
    exp.Interval: ("unit",),
    exp.Case: ("ifs", "default"),
    exp.Cast: ("to", "_type"),
    exp.TryCast: ("to", "_type", "requires_string", "safe"),
    exp.Substring: ("start", "length"),
    exp.Trim: ("position",),
    exp.DPipe: ("safe",),
    exp.Div: ("typed", "safe"),
    exp.Concat: ("safe", "coalesce"),
}
_BINDERS: Mapping[type[exp.Expr], Callable[[exp.Expr, Env], Expr]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Null: lambda node, env: coerce.NULL,  # noqa: ARG005
    exp.Boolean: lambda node, env: Literal(bool(node.args["this"]), BOOLEAN),  # noqa: ARG005
    exp.Paren: _paren,
    exp.And: _connector("and"),
    exp.Or: _connector("or"),
    exp.Not: _not,
    exp.EQ: _comparison("="),
    exp.NEQ: _comparison("<>"),
    exp.LT: _comparison("<"),
    exp.LTE: _comparison("<="),
    exp.GT: _comparison(">"),
    exp.GTE: _comparison(">="),
    exp.NullSafeNEQ: _comparison("is_distinct"),
    exp.NullSafeEQ: _same_or_null,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.Escape: _like,
    exp.Is: _is,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    exp.Neg: _neg,
    exp.DPipe: _pipes,
    exp.Interval: _lone_interval,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.Extract: _extract,
    exp.Substring: _substring,
    exp.Trim: _trim,
    exp.Concat: _adjacent_texts,
    exp.Anonymous: _function,
    exp.Filter: _filtered,
}
