"""A SQL script -> Schema and Plans: the front door of `sql`.

    CREATE TABLE ...;  CREATE VIEW v AS SELECT ...;  SELECT ...      ->  Script(schema, views)

Tables may be declared in any order; a view reads tables and the views before it. A lone SELECT
becomes the view `answer`. Whatever the text, the only error is an EverviewError.

Not here: optimisation (plan/rules), running anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from everview.errors import PlanError, SqlError
from everview.plan.check import check, too_deep
from everview.plan.node import Node, Plan
from everview.schema import Policy, Schema
from everview.sql import dialect
from everview.sql.ddl import Pending, read_table, resolve, table_name
from everview.sql.dialect import Statement, parse
from everview.sql.select import Context, bind_query, renamed
from everview.sql.subset import check as check_subset
from everview.sql.subset import refuse

ANSWER = "answer"
_DECLARATIONS = ("CREATE TABLE", "CREATE VIEW", "CREATE MATERIALIZED")
_NOTHING = Schema()


@dataclass(frozen=True)
class Script:
    """What a script declares: the whole schema, and its views in order (not those given)."""

    schema: Schema
    views: Mapping[str, Plan] = field(default_factory=dict)


def read_script(
    text: str,
    schema: Schema = _NOTHING,
    views: Mapping[str, Plan] | None = None,
    *,
    policy: Policy = "reject",
) -> Script:
    """The tables and views of a script, on top of those already there.

    `policy`: that of tables which name none.
    """
    statements = parse(text)
    if not statements:
        raise refuse("SCRIPT.EMPTY")
    given = dict(views or {})
    schema = _tables(statements, schema, given, policy)
    declared: dict[str, Plan] = {}
    for statement in statements:
        if isinstance(statement.tree, exp.Create) and _kind(statement) == "TABLE":
            continue
        plan = _view(statement, schema, {**given, **declared}, lone=len(_queries(statements)) == 1)
        if plan is not None:
            declared.pop(plan.name, None)
            declared[plan.name] = plan
    return Script(schema, declared)


def read_view(
    name: str,
    sql: str,
    schema: Schema,
    views: Mapping[str, Plan] | None = None,
) -> Plan:
    """The plan of one SELECT, under the given name."""
    statements = parse(sql)
    if not statements:
        raise refuse("SCRIPT.EMPTY")
    if len(statements) > 1 or not isinstance(statements[0].tree, exp.Query):
        position = statements[len(statements) > 1].source.first()
        raise refuse("UNSUPPORTED.STATEMENT", position, "this")
    return _plan(name.lower(), statements[0], statements[0].tree, None, schema, dict(views or {}))


def _kind(statement: Statement) -> str:
    return str(statement.tree.args.get("kind") or "").upper()


def _queries(statements: list[Statement]) -> list[Statement]:
    return [s for s in statements if not isinstance(s.tree, exp.Create)]


def _tables(
    statements: list[Statement], schema: Schema, views: Mapping[str, Plan], policy: Policy
) -> Schema:
    tables: dict[str, Pending] = {}
    for statement in statements:
        tree, source = statement.tree, statement.source
        if not isinstance(tree, exp.Create) or _kind(statement) != "TABLE":
            continue
        table = read_table(tree, source, policy)
        name = table.relation.name
        if name in schema or name in tables or name in views:
            if tree.args.get("exists"):
                continue
            fix = "rename one of them, or write CREATE TABLE IF NOT EXISTS"
            raise refuse("NAME.DUPLICATE", source.position(tree.this), name, fix)
        tables[name] = table
    return resolve(tables.values(), schema)


def _view(
    statement: Statement, schema: Schema, views: Mapping[str, Plan], *, lone: bool
) -> Plan | None:
    """The view a statement declares; None if it is there and IF NOT EXISTS was said."""
    tree, source = statement.tree, statement.source
    if isinstance(tree, exp.Query):
        if not lone or ANSWER in views:
            what = f"a lone SELECT becomes the view {ANSWER}, and there can be only one"
            raise refuse("SCRIPT.ONE_SELECT", source.first(), what)
        return _plan(ANSWER, statement, tree, None, schema, views)
    if not isinstance(tree, exp.Create) or _kind(statement) != "VIEW":
        words = _words(statement)
        code = "SYNTAX.DECLARATION" if words in _DECLARATIONS else "UNSUPPORTED.STATEMENT"
        raise refuse(code, source.first(), words)
    target, listed = tree.this, None
    if isinstance(target, exp.Schema):
        target, listed = target.this, target.expressions
    name = table_name(target, source)
    for item in _properties(tree):
        if not isinstance(item, exp.MaterializedProperty):
            what = type(item).__name__.removesuffix("Property").upper() + " of a view"
            raise refuse("UNSUPPORTED.SYNTAX", source.first(), what)
    if name in schema or (name in views and not tree.args.get("replace")):
        if tree.args.get("exists"):
            return None
        other = "" if name in schema else ", or write CREATE OR REPLACE VIEW"
        fix = f"rename one of them{other}"
        raise refuse("NAME.DUPLICATE", source.position(target), name, fix)
    query = tree.args.get("expression")
    if not isinstance(query, exp.Query):
        raise refuse("UNSUPPORTED.STATEMENT", source.first(), "CREATE VIEW without AS SELECT")
    return _plan(name, statement, query, listed, schema, views)


def _properties(tree: exp.Create) -> list[exp.Expr]:
    properties = tree.args.get("properties")
    return [] if properties is None else list(properties.expressions)


def _words(statement: Statement) -> str:
    """How the statement begins: its first word, or two for CREATE."""
    words = [t.text.upper() for t in statement.source.tokens[:2]]
    return " ".join(words if words[0] in ("CREATE", "DROP", "ALTER") else words[:1])[:60]


def _plan(
    name: str,
    statement: Statement,
    query: exp.Expr,
    listed: list[exp.Expr] | None,
    schema: Schema,
    views: Mapping[str, Plan],
) -> Plan:
    source = statement.source
    try:
        check_subset(query, source)
        roots: dict[str, Node] = {n: p.root for n, p in views.items() if n != name}
        root = bind_query(query, Context(source, schema, roots, name))
        if listed is not None:
            root = renamed(root, [_identifier(c) for c in listed], query, source)
        if too_deep(root):
            raise dialect.too_deep(source.first())
        text, begin = statement.query()
        plan = Plan(name, root, text, begin.line, begin.column)
        check(plan)
        return plan
    except PlanError as e:
        raise SqlError(e.code, e.message, fix=e.fix, position=source.first()) from None
    except RecursionError:
        raise dialect.too_deep(source.first()) from None


def _identifier(node: exp.Expr) -> exp.Expr:
    """The name of a column in the list of CREATE VIEW v (a, b)."""
    return node.this if isinstance(node, exp.ColumnDef | exp.Column) else node
