"""One SELECT -> plan nodes.

    SELECT k, sum(x) AS s FROM t JOIN u ON ... WHERE ... GROUP BY k HAVING ...

    Project  k, s          the select list, under its output names
      Filter  HAVING
        Group  k, sum(x)
          Filter  WHERE
            Join  on ON    each input: Scan, or Project(alias.column) over a sub-select or view

Names inside are `alias.column` with aliases unique in the whole view; the top has plain names.

Not here: scalar expressions (sql/expression), which joins have a plan (plan/rules/keyjoin).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from everview.expr import Call, Expr, Ref, call, conjunction
from everview.plan.names import apart, unique
from everview.plan.node import (
    Aggregate,
    Filter,
    Group,
    Join,
    Named,
    Node,
    Project,
    Scan,
    columns,
)  # fmt: skip
from everview.schema import Column, Schema
from everview.sql import coerce
from everview.sql.ddl import table_name
from everview.sql.dialect import MAX_DEPTH, Source, too_deep
from everview.sql.expression import Env, bind, predicate
from everview.sql.scope import Item, Scope, fold, meant
from everview.sql.subset import refuse, similar

MAX_INPUTS = 200
_ON_SUBQUERY = ("with_", "alias", "joins")


@dataclass(frozen=True, slots=True)
class Context:
    """What a SELECT may read, and the aliases already used in this view."""

    source: Source
    schema: Schema
    views: Mapping[str, Node]
    view: str = ""
    tables: Mapping[str, exp.CTE] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    depth: int = 0

    def inside(self, tables: Mapping[str, exp.CTE] | None = None) -> Context:
        """The context of a sub-select."""
        if self.depth >= MAX_DEPTH // 4:
            raise too_deep(self.source.first())
        return Context(
            self.source,
            self.schema,
            self.views,
            self.view,
            self.tables if tables is None else tables,
            self.aliases,
            self.depth + 1,
        )


def bind_query(tree: exp.Expr, context: Context) -> Node:
    """The plan of a query; its output columns have plain, unique names."""
    while isinstance(tree, exp.Subquery) and not any(tree.args.get(p) for p in _ON_SUBQUERY):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        at = context.source.position(tree)
        raise refuse("UNSUPPORTED.SYNTAX", at, "this around a SELECT")
    if tree.args.get("with_"):
        context = context.inside(_with(tree.args["with_"], context))
    scope, node = _from(tree, context)
    where = tree.args.get("where")
    if where is not None:
        node = Filter(node, predicate(where.this, Env(context.source, scope, "WHERE")))
    return _output(tree, scope, node, context)


def _with(tree: exp.With, context: Context) -> dict[str, exp.CTE]:
    """The named sub-selects; each is bound where it is used."""
    tables: dict[str, exp.CTE] = {}
    for cte in tree.expressions:
        name = fold(cte.args["alias"].this, context.source)
        if name in tables:
            at = context.source.position(cte.args["alias"])
            raise refuse("NAME.DUPLICATE", at, name, "rename one of them")
        tables[name] = cte
    return {**context.tables, **tables}


# ------------------------------------------------------------------------------------------- FROM


def _from(tree: exp.Select, context: Context) -> tuple[Scope, Node]:
    if not tree.args.get("from_"):
        raise refuse("UNSUPPORTED.NO_FROM", context.source.position(tree, "SELECT"))
    scope = Scope()
    first, *joined = _flat(tree.args["from_"].this)
    inputs = [_item(first, scope, context)]
    conditions: list[Expr] = []
    for join in (*joined, *(tree.args.get("joins") or [])):
        table, *inner = _flat(join.this)
        if inner:
            raise refuse("UNSUPPORTED.SYNTAX", context.source.position(join), "a join in a join")
        inputs.append(_item(table, scope, context))
        if join.args.get("on") is not None:
            conditions.append(predicate(join.args["on"], Env(context.source, scope, "ON")))
        for name in join.args.get("using") or []:
            conditions.append(_using(name, scope, context))
    if len(context.aliases) > MAX_INPUTS:
        raise refuse(
            "UNSUPPORTED.SYNTAX",
            context.source.first(),
            f"a view over more than {MAX_INPUTS} inputs",
        )
    if len(inputs) == 1:
        return scope, inputs[0]
    return scope, Join(tuple(inputs), conjunction(tuple(conditions)))


def _flat(tree: exp.Expr) -> list[exp.Expr]:
    """The first table, then the joins that hang on it: `(a JOIN b ON ...)` without an alias."""
    inner = tree.this if isinstance(tree, exp.Subquery) and not tree.alias else None
    if isinstance(inner, exp.Table) or (inner is not None and inner.args.get("alias")):
        return [*_flat(inner), *(tree.args.get("joins") or [])]
    return [tree, *(tree.args.get("joins") or [])]


def _using(identifier: exp.Expr, scope: Scope, context: Context) -> Expr:
    """The equality of one USING column, which from then on is one column."""
    at = context.source.position(identifier)
    name = fold(identifier, context.source)
    right = scope.items[-1]
    left = [(i, i.columns[name]) for i in scope.items[:-1] if name in i.columns]
    left = [(i, r) for i, r in left if (i.name, name) not in scope.merged]
    if name not in right.columns or not left:
        items = scope.items[:-1] if name in right.columns else [right]
        known = {n for i in items for n in i.columns}
        fix = similar(name, known, "columns on that side")
        raise refuse("UNKNOWN.COLUMN", at, f"{name} on both sides of USING", fix)
    if len(left) > 1:
        raise refuse("AMBIGUOUS.COLUMN", at, name, "write the condition with ON")
    scope.merged.add((right.name, name))
    return call("=", *coerce.comparable([left[0][1], right.columns[name]], at))


def _item(tree: exp.Expr, scope: Scope, context: Context) -> Node:
    """One input: bound, renamed to `alias.column`, and added to the scope."""
    source = context.source
    alias = tree.args.get("alias")
    if isinstance(tree, exp.Table):
        name = table_name(tree, source)
        node = _table(tree, name, context)
    elif isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Select | exp.Subquery):
        name, node = "", bind_query(tree.this, context.inside())
    else:
        raise refuse("UNSUPPORTED.SYNTAX", source.position(tree), "this in FROM")
    if alias is not None and alias.this is not None:
        name = fold(alias.this, source)
    if name and any(i.name == name for i in scope.items):
        fix = "give each input its own alias"
        raise refuse("NAME.DUPLICATE", source.position(tree), name, fix)
    inside = unique(name or "sub", context.aliases)
    if isinstance(node, Scan):
        node = Scan(node.relation, inside, node.columns, node.key, node.policy)
        plain = [c.name for c in node.columns]
    else:
        plain = [c.name for c in columns(node)]
        named = (Named(f"{inside}.{c.name}", Ref(c.name, c.type)) for c in columns(node))
        node = Project(node, tuple(named))
    shown = _column_names(plain, alias.args.get("columns") if alias else None, tree, source)
    refs = (Ref(c.name, c.type) for c in columns(node))
    scope.items.append(Item(name, dict(zip(shown, refs, strict=True))))
    return node


def _column_names(
    plain: list[str], listed: list[exp.Expr] | None, tree: exp.Expr, source: Source
) -> list[str]:
    """The names columns are seen under: their own, or those of `AS t (a, b)`."""
    if not listed:
        return plain
    if len(listed) != len(plain):
        what, fix = str(len(listed)), str(len(plain))
        raise refuse("COLUMN_LIST", source.position(tree), what, fix)
    return distinct_names([fold(c, source) for c in listed], tree, source)


def distinct_names(names: list[str], tree: exp.Expr, source: Source) -> list[str]:
    for i, name in enumerate(names):
        if name in names[:i]:
            fix = "give one of them another name with AS"
            raise refuse("NAME.DUPLICATE", source.position(tree), name, fix)
    return names


def _table(tree: exp.Table, name: str, context: Context) -> Node:
    """What a name in FROM stands for: a WITH sub-select, a view, or a relation."""
    known = (*context.tables, *context.views, *(r.name for r in context.schema.relations))
    name = meant(name, known)
    if name in context.tables:
        cte = context.tables[name]
        before = {n: c for n, c in context.tables.items() if n != name}
        node = bind_query(cte.this, context.inside(before))
        listed = cte.args["alias"].args.get("columns")
        return renamed(node, listed, cte, context.source) if listed else node
    if name == context.view:
        raise refuse("UNSUPPORTED.RECURSIVE", context.source.position(tree), f"view {name}")
    if name in context.views:
        return apart(context.views[name], context.aliases)
    if name in context.schema:
        relation = context.schema.relation(name)
        return Scan(relation.name, "", relation.columns, relation.key, relation.policy)
    fix = similar(name, known, "tables and views")
    raise refuse("UNKNOWN.TABLE", context.source.position(tree), name, fix)


def renamed(node: Node, listed: list[exp.Expr], tree: exp.Expr, source: Source) -> Node:
    """The node with other output names: `CREATE VIEW v (a, b) AS ...`, `WITH t (a, b) AS ...`."""
    old = columns(node)
    names = _column_names([c.name for c in old], listed, tree, source)
    pairs = zip(names, old, strict=True)
    return Project(node, tuple(Named(n, Ref(c.name, c.type)) for n, c in pairs))


# ------------------------------------------------------------------------------------ select list


@dataclass(frozen=True, slots=True)
class _Selected:
    """One item of the select list."""

    name: str
    value: Expr
    node: exp.Expr


def _output(tree: exp.Select, scope: Scope, node: Node, context: Context) -> Node:
    source = context.source
    aliases = _aliases(tree, source)
    env = Env(source, scope, "the select list", aggregates={})
    selected = _select_list(tree, env)
    group = tree.args.get("group")
    keys = [] if group is None else _keys(group, selected, scope, aliases, env)
    having = tree.args.get("having")
    condition = None
    if having is not None:
        having_env = Env(
            source, scope, "HAVING", env.aggregates, aliases, env.columns, keys=frozenset(keys)
        )
        condition = predicate(having.this, having_env)
    if group is None and not env.aggregates and condition is None:
        return Project(node, tuple(Named(s.name, s.value) for s in selected))
    return _grouped(node, selected, keys, condition, env)


def _aliases(tree: exp.Select, source: Source) -> dict[str, exp.Expr]:
    return {
        fold(e.args["alias"], source): e.this for e in tree.expressions if isinstance(e, exp.Alias)
    }


def _select_list(tree: exp.Select, env: Env) -> list[_Selected]:
    if not tree.expressions:
        at = env.source.position(tree, "SELECT")
        raise refuse("ARGUMENTS", at, "the select list is empty", "name at least one column")
    selected: list[_Selected] = []
    automatic: list[int] = []
    for item in tree.expressions:
        star = _star(item, env)
        if star is not None:
            selected += [_Selected(name, ref, item) for name, ref in star]
            continue
        if isinstance(item, exp.Alias):
            name, value = fold(item.args["alias"], env.source), item.this
        elif isinstance(item, exp.Column):
            name, value = fold(item.this, env.source), item
        else:
            automatic.append(len(selected))
            name, value = _automatic_name(item, len(selected) + 1), item
        selected.append(_Selected(name, bind(value, env), item))
    return _distinct(selected, automatic, env)


def _automatic_name(item: exp.Expr, number: int) -> str:
    if isinstance(item, exp.Anonymous) and item.name.isidentifier():
        return item.name.lower()
    return f"column{number}"


def _distinct(selected: list[_Selected], automatic: list[int], env: Env) -> list[_Selected]:
    """Names made up here give way to each other; names the user wrote must differ."""
    written = [s.name for i, s in enumerate(selected) if i not in automatic]
    taken = set(written)
    result = list(selected)
    for i in automatic:
        s = selected[i]
        result[i] = _Selected(unique(s.name, taken), s.value, s.node)
    for i, s in enumerate(result):
        if s.name in {r.name for r in result[:i]}:
            fix = "give one of them another name with AS"
            raise refuse("NAME.DUPLICATE", env.at(s.node), s.name, fix)
    return result


def _star(item: exp.Expr, env: Env) -> list[tuple[str, Ref]] | None:
    """The columns of `*` or `t.*`; None for anything else."""
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(star, exp.Star):
        return None
    if any(v for v in star.args.values()):
        raise refuse("UNSUPPORTED.SYNTAX", env.at(item), "* with EXCEPT, REPLACE or RENAME")
    table = fold(item.args["table"], env.source) if isinstance(item, exp.Column) else ""
    shown = env.scope.shown(table)
    if table and not shown:
        fix = similar(table, [i.name for i in env.scope.items if i.name], "names in FROM")
        raise refuse("UNKNOWN.TABLE", env.at(item), table, fix)
    for _, ref in shown:
        env.columns.setdefault(ref.name, item)
    return shown


# -------------------------------------------------------------------------------------- grouping


def _keys(
    group: exp.Group,
    selected: list[_Selected],
    scope: Scope,
    aliases: Mapping[str, exp.Expr],
    env: Env,
) -> list[Expr]:
    """The expressions of GROUP BY, each once: columns, select aliases, positions or formulas."""
    if not group.expressions:
        at = env.source.position(group, "GROUP")
        raise refuse("ARGUMENTS", at, "GROUP BY names nothing", "name at least one column")
    keys: dict[Expr, None] = {}
    group_env = Env(env.source, scope, "GROUP BY", None, aliases, env.columns)
    for item in group.expressions:
        if isinstance(item, exp.Literal) and not item.is_string and item.name.isdecimal():
            number = int(item.name) if len(item.name) < 6 else 0
            if not 1 <= number <= len(selected):
                what, fix = item.name[:60], str(len(selected))
                raise refuse("GROUP.POSITION", env.at(item), what, fix)
            value = selected[number - 1].value
            if any(r.name.startswith("#") for r in _refs(value)):
                raise refuse("GROUP.AGGREGATE_HERE", env.at(item), "GROUP BY")
        else:
            value = bind(item, group_env)
        keys[value] = None
    return list(keys)


def _refs(value: Expr) -> Iterable[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, Call):
        for a in value.args:
            yield from _refs(a)


def _grouped(
    node: Node, selected: list[_Selected], keys: list[Expr], condition: Expr | None, env: Env
) -> Node:
    """Group, then HAVING, then the select list over the names of the group."""
    assert env.aggregates is not None
    taken: set[str] = set()
    names: dict[Expr, Ref] = {}
    for key in keys:
        wanted = next((s.name for s in selected if s.value == key), "")
        if not wanted:
            wanted = key.name.partition(".")[2] if isinstance(key, Ref) else "key"
        names[key] = Ref(unique(wanted, taken), key.type)
    aggregates: list[Aggregate] = []
    for (function, argument), ref in env.aggregates.items():
        wanted = next((s.name for s in selected if s.value == ref), function)
        name = unique(wanted, taken)
        nullable = function != "count"
        names[ref] = Ref(name, ref.type)
        aggregates.append(Aggregate(name, function, argument, Column(name, ref.type, nullable)))
    grouped: Node = Group(node, tuple(Named(names[k].name, k) for k in keys), tuple(aggregates))
    if condition is not None:
        grouped = Filter(grouped, _over_group(condition, names, env))
    return Project(
        grouped, tuple(Named(s.name, _over_group(s.value, names, env)) for s in selected)
    )


def _over_group(value: Expr, names: Mapping[Expr, Ref], env: Env) -> Expr:
    """The expression over the group's columns: keys and aggregates by name, nothing else."""
    if value in names:
        return names[value]
    if isinstance(value, Call):
        return Call(value.op, tuple(_over_group(a, names, env) for a in value.args), value.type)
    if isinstance(value, Ref):
        node = env.columns.get(value.name)
        position = env.at(node) if node is not None else env.source.first()
        shown = node.name if node is not None and node.name != "*" else value.name
        raise refuse("GROUP.NOT_GROUPED", position, shown)
    return value
